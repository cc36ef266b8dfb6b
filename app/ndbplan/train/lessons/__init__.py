"""Lessons on a live cluster: what is to be seen and done, who judges it, and what is handed in."""
