"""Single changes planted into the program, to see whether a test notices."""
