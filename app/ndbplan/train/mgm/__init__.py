"""The management client: lines that somebody types, and what it answers."""
