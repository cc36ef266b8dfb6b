"""Where two runs part: the first second in which they differ, and why."""
