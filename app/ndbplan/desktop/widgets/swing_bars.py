"""How far each input of a sweep alone moves the figure, the widest on top: a tornado.

A bar reaches from the least to the most of the figure, with the values of the input that give them at its
ends; the upright line is where all inputs stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ndbplan.base.units import format_value
from ndbplan.desktop.look import paint, theme

if TYPE_CHECKING:
    from ndbplan.advise.swings import Swing

_NAME, _BAR, _SIDE, _TOP = 16.0, 12.0, 84.0, 22.0
_ROW = _NAME + _BAR + 6.0


class SwingBars(QWidget):
    """Draws swings; nothing where there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("How far each input alone moves the figure")
        self.swings: tuple[Swing, ...] = ()
        self._unit = ""
        self.hide()

    def show_swings(self, swings: Sequence[Swing], unit: str) -> None:
        """The bars, and the unit of the figure."""
        self.swings, self._unit = tuple(swings), unit
        self.setFixedHeight(self.sizeHint().height())
        self.setVisible(bool(swings))
        self.setAccessibleDescription("; ".join(self._words(one) for one in self.swings))
        self.update()

    def _words(self, swing: Swing) -> str:
        if swing.low == swing.high:
            return f"{swing.address}: {format_value(swing.low, self._unit)} with every value"
        ends = ((swing.low, swing.at_low), (swing.high, swing.at_high))
        return f"{swing.address}: " + " … ".join(
            f"{format_value(value, self._unit)} with {at}" for value, at in ends
        )

    def sizeHint(self) -> QSize:
        return QSize(300, int(_TOP + _ROW * len(self.swings)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        if not self.swings:
            return
        painter, t = QPainter(self), theme.tokens()
        field = QRectF(self.rect()).adjusted(_SIDE, _TOP, -_SIDE, 0)
        paint.text(painter, QRectF(0, 2, self.width(), _NAME), "Each input alone", t.text, 11, 500)
        low, high = min(one.low for one in self.swings), max(one.high for one in self.swings)
        per_pixel = (high - low or 1.0) / max(1.0, field.width())
        for number, one in enumerate(self.swings):
            top = field.top() + number * _ROW
            paint.text(painter, QRectF(0, top, self.width(), _NAME), self._words(one), t.muted, 11, 400)
            left, right = (field.left() + (value - low) / per_pixel for value in (one.low, one.high))
            bar = QRectF(left, top + _NAME, max(2.0, right - left), _BAR)
            painter.fillRect(bar, QColor(t.accent))
        at = field.left() + (self.swings[0].now - low) / per_pixel
        painter.setPen(QPen(QColor(t.text), 1))
        for number in range(len(self.swings)):
            # Across the bars alone: words of the next input begin below.
            top = field.top() + number * _ROW + _NAME
            painter.drawLine(QPointF(at, top - 1), QPointF(at, top + _BAR + 1))
