"""What several items draw: rounded boxes, load bars, rings, text — in the colours of a theme."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from ndbplan.desktop.look.rect import Rect
from ndbplan.desktop.look.text import elided, text_width
from ndbplan.desktop.look.theme import Tokens, font

BASELINE = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
CENTRE = Qt.AlignmentFlag.AlignCenter


@lru_cache(maxsize=256)
def colour(name: str, alpha: int = 255) -> QColor:
    """A colour by #rrggbb; shared, so never change it."""
    made = QColor(name)
    made.setAlpha(alpha)
    return made


@lru_cache(maxsize=256)
def pen(name: str, width: float = 1.0, alpha: int = 255) -> QPen:
    """A pen by colour and width; shared."""
    made = QPen(colour(name, alpha), width)
    made.setCapStyle(Qt.PenCapStyle.RoundCap)
    return made


@lru_cache(maxsize=256)
def brush(name: str, alpha: int = 255) -> QBrush:
    """A brush by colour; shared."""
    return QBrush(colour(name, alpha))


def qrect(rect: Rect) -> QRectF:
    """A layout rectangle for Qt."""
    return QRectF(rect.x, rect.y, rect.width, rect.height)


def box(
    painter: QPainter, rect: QRectF, fill: str, border: str | None, radius: float, width: float = 1.0
) -> None:
    """A filled rounded box; the border lies inside of `rect`."""
    painter.setBrush(brush(fill))
    if border is None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawRoundedRect(rect, radius, radius)
    else:
        painter.setPen(pen(border, width))
        inset = width / 2
        painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius)


def crossed(painter: QPainter, rect: QRectF, tokens: Tokens, radius: float, width: float) -> None:
    """What does not run: grey, with a cross from corner to corner."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(brush(tokens.canvas, 140))
    painter.drawRoundedRect(rect, radius, radius)
    inset = width / 2
    inner = rect.adjusted(inset, inset, -inset, -inset)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen(tokens.error, width, 150))
    painter.drawRoundedRect(inner, radius, radius)
    painter.setPen(pen(tokens.error, width, 70))
    corner = radius * 0.3
    inner = inner.adjusted(corner, corner, -corner, -corner)
    painter.drawLine(inner.topLeft(), inner.bottomRight())
    painter.drawLine(inner.bottomLeft(), inner.topRight())


def progress(painter: QPainter, rect: QRectF, done: float, ink: str, tokens: Tokens) -> None:
    """A bar in one colour that says how far something is, not how loaded."""
    radius = rect.height() / 2
    box(painter, rect, tokens.sunken, None, radius)
    if done > 0:
        width = max(rect.height(), rect.width() * min(done, 1.0))
        box(painter, QRectF(rect.x(), rect.y(), width, rect.height()), ink, None, radius)


def text(
    painter: QPainter,
    rect: QRectF,
    words: str,
    ink: str,
    size_px: int = 13,
    weight: int = 400,
    align: Qt.AlignmentFlag = BASELINE,
) -> None:
    """One line of text, cut with an ellipsis when it is too wide for `rect`; of no size: nothing."""
    if not size_px:
        return
    painter.setFont(font(size_px, weight))
    painter.setPen(pen(ink))
    # Letters of the least size that can be read are higher than a row seen from afar: whole all the same.
    painter.drawText(rect, align | Qt.TextFlag.TextDontClip, elided(words, size_px, weight, rect.width()))


def fitting(
    painter: QPainter,
    rect: QRectF,
    words: Sequence[str],
    ink: str,
    size_px: int = 13,
    weight: int = 400,
    align: Qt.AlignmentFlag = BASELINE,
) -> None:
    """The first of some texts that is not too wide; none: the last one, cut."""
    wide = (one for one in words if not size_px or text_width(one, size_px, weight) <= rect.width())
    text(painter, rect, next(wide, words[-1]), ink, size_px, weight, align)


def bar(painter: QPainter, rect: QRectF, fraction: float, tokens: Tokens) -> None:
    """A horizontal load bar."""
    radius = rect.height() / 2
    box(painter, rect, tokens.sunken, None, radius)
    if fraction > 0:
        width = max(rect.height(), rect.width() * min(fraction, 1.0))
        box(painter, QRectF(rect.x(), rect.y(), width, rect.height()), tokens.load(fraction), None, radius)


def ring(
    painter: QPainter,
    centre: QPointF,
    radius: float,
    fraction: float | None,
    tokens: Tokens,
    thickness: float = 5.0,
) -> None:
    """A ring filled to a fraction; None draws the empty track."""
    inner = radius - thickness / 2
    rect = QRectF(centre.x() - inner, centre.y() - inner, 2 * inner, 2 * inner)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen(tokens.sunken if tokens.is_dark else tokens.line, thickness))
    painter.drawEllipse(rect)
    if fraction is not None and fraction > 0.004:
        made = QPen(colour(tokens.load(fraction)), thickness)
        made.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(made)
        painter.drawArc(rect, 90 * 16, -round(min(fraction, 1.0) * 360 * 16))
