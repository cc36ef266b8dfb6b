"""The same for millions of keys at once, compiled."""
