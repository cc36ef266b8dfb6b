"""Texts as they are shown, and how wide they are in the program's font."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QFontMetricsF

from ndbplan.base.letters import beyond_inter, spelt
from ndbplan.desktop.look.theme import font, load_fonts, load_scripts


def drawable(text: str) -> str:
    """A text as the bundled fonts draw it, which are made known: a picture looks alike on every machine."""
    # A width in the font that stands in for one of them would be kept.
    load_fonts()
    if not beyond_inter(text):
        return text
    load_scripts()
    return spelt(text)


_A_NAME = re.compile(r"[\w-]*(?:[0-9]|[._/]\w)|(?:mysqld|ndbd|ndbmtd|systemd)\b")
"""Begins with what is written in one way only: a table, a file, a host with its number, a program."""


def sentence(text: str, names: Iterable[str] = ()) -> str:
    """With a capital, unless it begins with a name, such as one of these; a number keeps its %."""
    begins = _A_NAME.match(text) or any(re.match(rf"{re.escape(name)}(?![\w-])", text) for name in names)
    first = text[:1] if begins else text[:1].upper()
    return first + text[1:].replace(" %", "\N{NO-BREAK SPACE}%")


def as_it_is(name: str) -> str:
    """A name as buttons and menus show it: to them a single `&` says which letter is a key."""
    return name.replace("&", "&&")


@lru_cache(maxsize=4096)
def text_width(text: str, size_px: int, weight: int) -> float:
    """Width of a text in the program's font."""
    words = drawable(text)
    return QFontMetricsF(font(size_px, weight)).horizontalAdvance(words)


@lru_cache(maxsize=4096)
def elided(
    text: str,
    size_px: int,
    weight: int,
    width: float,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> str:
    """The text, cut with an ellipsis when it is wider than `width`."""
    return QFontMetricsF(font(size_px, weight)).elidedText(drawable(text), mode, width)


def between_words(text: str, metrics: QFontMetrics, width: int) -> str:
    """The beginning of a text that has room, cut between two words where there is more than one."""
    begun = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width).removesuffix("…")
    if begun != text[: len(begun)] or text[len(begun) : len(begun) + 1] == " ":
        return f"{begun}…"
    whole = begun.rpartition(" ")[0] or begun
    return f"{whole.rstrip(' ·,;:')}…"
