"""Measured facts and what the engine says to them."""
