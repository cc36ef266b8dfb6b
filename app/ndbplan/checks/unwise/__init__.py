"""Rules about what works, but not as the designer will want."""
