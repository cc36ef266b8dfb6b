"""Parts that panels are made of."""
