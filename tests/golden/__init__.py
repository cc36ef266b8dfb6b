"""What every command says to every kept plan, as text that a person can compare."""
