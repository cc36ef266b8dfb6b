"""Where the names of a lane's blocks stand: in them, beside the lane, or on a line below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from ndbplan.desktop.look import theme

LEAST_PX = 48
"""Pixels of a block from which on the beginning of its name says something."""
_PX, _PAD, _SIGN, _APART = 11, 8, 12, 16


class Words(NamedTuple):
    """Numbers of the blocks, and for those with a sign of their colour before their name where it begins."""

    inside: tuple[int, ...] = ()
    beside: tuple[tuple[int, float], ...] = ()
    below: tuple[tuple[int, float], ...] = ()


class Row(NamedTuple):
    """Where a lane begins from above, and the names in it."""

    top: float
    words: Words


def words(blocks: Sequence[tuple[str, float, float]], beside: float, edge: float) -> Words:
    """Where names stand, of blocks with their names, where they begin and how wide they are.

    Those that their blocks do not hold stand beside the lane, the widest first, while there is room before
    the edge. Below, from its beginning, stands what is left where a block is wide enough to be asked for its
    name; what finds no room there either has the beginning of its name in its block. Without an edge only
    those stand that their blocks hold.
    """
    names, widths = [name for name, _, _ in blocks], [width for _, _, width in blocks]
    wanted = [QFontMetricsF(theme.font(_PX)).horizontalAdvance(name) for name in names]
    inside = [n for n in range(len(names)) if wanted[n] <= widths[n] - _PAD]
    left = sorted((n for n in range(len(names)) if n not in inside), key=lambda n: -widths[n])
    stand, left = _in_line(left, wanted, beside, edge)
    lower: list[tuple[int, float]] = []
    if edge and any(widths[n] >= LEAST_PX for n in left):
        lower, left = _in_line(left, wanted, blocks[0][1], edge)
    inside += [n for n in left if edge and widths[n] >= LEAST_PX]
    return Words(tuple(inside), tuple(stand), tuple(lower))


def paint_line(
    painter: QPainter, line: Sequence[tuple[int, float]], names: Sequence[tuple[str, str]], y: float
) -> None:
    """Names of blocks, each with a sign of its colour before it, on one line around a height."""
    metrics = QFontMetricsF(theme.font(_PX))
    for number, x in line:
        name, colour = names[number]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        painter.drawRoundedRect(QRectF(x, y - 4, 8, 8), 2, 2)
        painter.setPen(QColor(theme.tokens().muted))
        room = QRectF(x + _SIGN, y - 9, metrics.horizontalAdvance(name) + 4, 18)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, name)


def _in_line(
    numbers: Sequence[int], wanted: Sequence[float], x: float, edge: float
) -> tuple[list[tuple[int, float]], list[int]]:
    placed: list[tuple[int, float]] = []
    for at, number in enumerate(numbers):
        if x + _SIGN + wanted[number] > edge:
            return placed, list(numbers[at:])
        placed.append((number, x))
        x += _SIGN + wanted[number] + _APART
    return placed, []


def paint_name(painter: QPainter, box: QRectF, name: str) -> None:
    """The name of a block in it, or its beginning."""
    inner = box.adjusted(5, 0, -3, 0)
    shown = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, round(inner.width()))
    painter.setPen(QColor("#0d1017" if theme.tokens().is_dark else "#ffffff"))
    painter.drawText(inner, Qt.AlignmentFlag.AlignVCenter, shown)
