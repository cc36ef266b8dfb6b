"""The inspector: editors of what is selected, and what the engine says about it."""

from ndbplan.desktop.inspector.inspector import Inspector

__all__ = ["Inspector"]
