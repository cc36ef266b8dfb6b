"""Searches over plans: the highest load a plan sustains, and which change helps most."""
