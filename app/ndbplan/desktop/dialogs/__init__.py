"""Windows that ask for something."""
