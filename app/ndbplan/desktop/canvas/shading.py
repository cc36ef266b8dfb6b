"""How a shade of a colouring is painted: its colour in a theme, the ground of what has it, hatching, pills.

A pattern of the painter keeps its size at every zoom, so that a host far away is hatched as it is near.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter

from ndbplan.describe.colouring import HATCHED, Entry, Shade, Tone
from ndbplan.desktop.look import paint
from ndbplan.desktop.look.text import text_width
from ndbplan.desktop.look.theme import Tokens

_GROUND, _TILE = 0.16, 0.5
"""Share of a shade's colour in the ground of a card, and in a tile or a pill."""
_STEPS = {Tone.LOW: 0.28, Tone.SOME: 0.55, Tone.LEAST: 0.25, Tone.LITTLE: 0.5, Tone.MORE: 0.75}
"""Share of the full colour that the lower steps of a scale have."""
_LINES = 80
"""Alpha of hatching: text stands on it."""
_PATTERNS = {1: Qt.BrushStyle.BDiagPattern, 2: Qt.BrushStyle.DiagCrossPattern}


@lru_cache(maxsize=512)
def mixed(ground: str, colour: str, share: float) -> str:
    """A colour between two."""
    one, other = QColor(ground), QColor(colour)
    parts = (
        (one.red(), other.red()),
        (one.green(), other.green()),
        (one.blue(), other.blue()),
    )
    return QColor(*(round(a + share * (b - a)) for a, b in parts)).name()


def ink(shade: Shade | Entry, t: Tokens) -> str:
    """The colour of a shade in a theme."""
    tone = shade.tone
    if tone is Tone.GROUP:
        return t.group(shade.number)
    full = {
        Tone.NEAR: t.warning_fill, Tone.OVER: t.error, Tone.PLAIN: t.line_strong, Tone.NOTE: t.info,
        Tone.CHANGED: t.info, Tone.ADDED: t.violet,
        **dict.fromkeys((Tone.LEAST, Tone.LITTLE, Tone.MORE, Tone.MOST), t.violet),
    }.get(tone, t.good)  # fmt: skip
    return mixed(t.card, full, _STEPS[tone]) if tone in _STEPS else full


def tint(shade: Shade | None, ground: str, t: Tokens, share: float = _GROUND) -> str:
    """The ground of what has a shade."""
    return ground if shade is None else mixed(ground, ink(shade, t), share)


def hatch(painter: QPainter, rect: QRectF, shade: Shade | Entry, t: Tokens, radius: float) -> None:
    """Hatch what is near a limit, at it, changed or new."""
    pattern = _PATTERNS.get(HATCHED.get(shade.tone, 0))
    if pattern is not None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(paint.colour(ink(shade, t), _LINES), pattern))
        painter.drawRoundedRect(rect, radius, radius)


def block(painter: QPainter, rect: QRectF, shade: Shade | Entry, t: Tokens, radius: float) -> None:
    """An area in a shade, on which text can be read."""
    colour = ink(shade, t)
    paint.box(painter, rect, mixed(t.card, colour, _TILE), None, radius)
    hatch(painter, rect, shade, t, radius)


def pill(painter: QPainter, room: QRectF, title: str, shade: Shade, t: Tokens, px: int = 12) -> None:
    """`CPU 46 %`, on the right of the room that there is; where that is little, the value alone."""
    words = f"{title}  {shade.text}".strip()
    if px and text_width(words, px, 600) + 22 > room.width():
        words = shade.text
    width = min(room.width(), text_width(words, px or 12, 600) + 22)
    rect = QRectF(room.right() - width, room.y(), width, room.height())
    block(painter, rect, shade, t, rect.height() / 2)
    paint.text(painter, rect.adjusted(8, 0, -8, 0), words, t.text_strong, px, 600, paint.CENTRE)


def swatch(painter: QPainter, rect: QRectF, entry: Entry, t: Tokens) -> None:
    """The square of a legend."""
    block(painter, rect, entry, t, 3)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(paint.pen(ink(entry, t), 1.5))
    painter.drawRoundedRect(rect.adjusted(0.75, 0.75, -0.75, -0.75), 3, 3)
