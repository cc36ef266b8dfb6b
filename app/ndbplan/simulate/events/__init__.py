"""What happens in a run: one file for each kind."""
