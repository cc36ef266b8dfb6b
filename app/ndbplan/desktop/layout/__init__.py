"""Geometry of the canvas: sizes, places, what covers what. No widgets."""
