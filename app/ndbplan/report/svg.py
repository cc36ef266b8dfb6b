"""Pieces of drawings: the width that all have, and text in them with its address."""

from __future__ import annotations

from html import escape

WIDTH = 720


def words_at(x: float, y: float, words: str, kind: str, at: str = "") -> str:
    """Text as an element; `kind`: its classes, `at`: where it comes from."""
    source = f' data-at="{escape(at, quote=True)}"' if at else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}"{source}>{escape(words)}</text>'
