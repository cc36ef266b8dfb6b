"""How wide texts are in the program's font."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtGui import QFontMetricsF

from ndbplan.desktop.look.theme import font, load_fonts


@lru_cache(maxsize=4096)
def text_width(text: str, size_px: int, weight: int) -> float:
    """Width of a text in the program's font."""
    # A width in the font that stands in for it would be kept.
    load_fonts()
    return QFontMetricsF(font(size_px, weight)).horizontalAdvance(text)


@lru_cache(maxsize=4096)
def elided(text: str, size_px: int, weight: int, width: float) -> str:
    """The text, cut with an ellipsis when it is wider than `width`."""
    from PySide6.QtCore import Qt

    load_fonts()
    return QFontMetricsF(font(size_px, weight)).elidedText(text, Qt.TextElideMode.ElideRight, width)
