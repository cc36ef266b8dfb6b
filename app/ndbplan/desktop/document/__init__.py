"""The plan in a window: history, selection, estimates, files."""
