"""Panels beside the canvas: outline and palette."""
