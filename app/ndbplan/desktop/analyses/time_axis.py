"""The axis of lanes of operations: how long they take, or the clock of a load's schedule."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from ndbplan.base.units import format_duration
from ndbplan.desktop.analyses.day_behind import Scale, clock
from ndbplan.desktop.analyses.lanes import STEPS_S
from ndbplan.desktop.look import theme

HEIGHT = 20
"""Pixels of its figures."""
_MOST_TICKS, _MOST_CLOCKS = 6, 9


def paint(painter: QPainter, scale: Scale, top: float, high: float, is_clock: bool) -> None:
    """Lines from `top` to `high`, and below them what they stand for."""
    colours, end = theme.tokens(), scale.left + scale.width + 4
    painter.setFont(theme.font(11))
    metrics, taken = QFontMetricsF(theme.font(11)), 0.0
    most = _MOST_CLOCKS if is_clock else _MOST_TICKS
    step = next((s for s in STEPS_S if scale.span_s / s <= most), scale.span_s / most)
    first = math.ceil(scale.from_s / step)
    for i in range(first, int((scale.from_s + scale.span_s) / step) + 1):
        x = scale.x(i * step)
        painter.setPen(QPen(QColor(colours.grid), 1))
        painter.drawLine(round(x), round(top), round(x), round(high))
        painter.setPen(QColor(colours.muted))
        text = clock(i * step, fine=step < 60) if is_clock else format_duration(i * step) if i else "0"
        wide = metrics.horizontalAdvance(text) + 2
        box = QRectF(max(scale.left, x - wide / 2), high + 3, wide, 16)
        box.moveRight(min(box.right(), end))
        if box.left() >= taken:
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft, text)
            taken = box.right() + 8
