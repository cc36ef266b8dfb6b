"""A live cluster in the window: its clock, its canvas, its consoles, its log, and lessons on it."""
