"""The panel that simulates: run, charts, summary, playback."""
