"""What the user designs: an immutable Plan, pure edits on it, and its file."""
