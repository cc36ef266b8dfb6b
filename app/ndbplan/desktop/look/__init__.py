"""Colours, fonts, and how things are painted."""
