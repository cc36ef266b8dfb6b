"""What a sweep found: a line with its ranges for one input, squares for two; a click chooses a cell.

The first line names the figure, the last one the input that changes across; that which changes down stands
above its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from ndbplan.base.units import format_value
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.heat import ink_on, mixed
from ndbplan.desktop.look.text import text_width
from ndbplan.desktop.widgets.axes import round_values

_LEFT, _TOP, _RIGHT, _BOTTOM = 84, 40, 16, 48
_LINE = 16.0
"""Height of a line with the name of an axis."""
_DOT = 4.0
_NEAR = 18.0
_TEXT, _APART = 13.0, 8.0
"""Height of a name, and what stands between two of them side by side."""
_RANGES = "Upright lines: where it likely lies"
_PALEST, _DARKEST = 0.11, 0.9
"""Strength of the colour of the lowest and of the highest value."""


class Dot(NamedTuple):
    """One cell: the places of its values among those of the inputs, and its number with its range."""

    place: tuple[int, ...]
    value: float | None
    low: float = 0.0
    high: float = 0.0


class SweepChart(QWidget):
    """Draws the cells that are known; more may come."""

    chosen = Signal(int)
    """Number of the cell that was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("What the sweep found")
        self.setMinimumSize(QSize(300, 180))
        self._axes: tuple[tuple[str, ...], ...] = ()
        self._names: tuple[str, ...] = ()
        self._figure = ""
        self._unit = ""
        self.dots: dict[int, Dot] = {}

    def show_axes(self, axes: Mapping[str, Sequence[str]], figure: str, unit: str) -> None:
        """Begin anew: the values of each input by its name, the last one changing fastest, and the figure."""
        self._axes, self._names = tuple(tuple(axis) for axis in axes.values()), tuple(axes)
        self._figure, self._unit, self.dots = figure, unit, {}
        self.update()

    def add(self, number: int, dot: Dot) -> None:
        """One more cell is known."""
        self.dots[number] = dot
        self.update()

    def _known(self) -> list[Dot]:
        return [dot for dot in self.dots.values() if dot.value is not None]

    def _span(self) -> tuple[float, float]:
        known = self._known()
        if len(self._axes) == 1:
            ends = [end for dot in known for end in (dot.low, dot.high)]
        else:
            # A square has the colour of its value alone.
            ends = [dot.value for dot in known if dot.value is not None]
        low, high = min(ends, default=0.0), max(ends, default=1.0)
        return (low, high) if high > low else (low - 0.5, low + 0.5)

    def _field(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)

    def _cell(self, place: tuple[int, ...]) -> QRectF:
        """Where a cell of two inputs is drawn: the second one across, the first one down."""
        field = self._field()
        wide, tall = field.width() / len(self._axes[1]), field.height() / len(self._axes[0])
        return QRectF(field.left() + place[1] * wide, field.top() + place[0] * tall, wide, tall)

    def _point(self, dot: Dot, value: float) -> QPointF:
        field, (low, high) = self._field(), self._span()
        step = field.width() / max(1, len(self._axes[0]))
        x = field.left() + (dot.place[0] + 0.5) * step
        return QPointF(x, field.bottom() - (value - low) / (high - low) * field.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._axes:
            return
        self._paint_names(painter)
        if len(self._axes) == 1:
            self._paint_line(painter)
        else:
            self._paint_squares(painter)

    def _paint_names(self, painter: QPainter) -> None:
        """What the figure and the inputs are called; the units stand with the values."""
        ink, field, width = theme.tokens().muted, self._field(), float(self.width()) - _RIGHT
        paint.text(painter, QRectF(0, 2, width, _LINE), self._figure, theme.tokens().text, 11, 500)
        below = QRectF(field.left(), self.height() - _LINE - 4, field.width(), _LINE)
        paint.text(painter, below, self._names[-1], ink, 11, 500, paint.CENTRE)
        above = QRectF(0, field.top() - _LINE - 4, width, _LINE)
        ranges = any(dot.high > dot.low for dot in self._known())
        beside = self._names[0] if len(self._names) == 2 else _RANGES if ranges else ""
        paint.text(painter, above, beside, ink, 11, 500 if len(self._names) == 2 else 400)

    def _paint_line(self, painter: QPainter) -> None:
        t, field, (low, high) = theme.tokens(), self._field(), self._span()
        for value in round_values(low, high, self._unit):
            y = field.bottom() - (value - low) / (high - low) * field.height()
            painter.setPen(QPen(QColor(t.line), 1))
            painter.drawLine(QPointF(field.left(), y), QPointF(field.right(), y))
            said = QRectF(0, y - 8, _LEFT - 8, 16)
            paint.text(painter, said, format_value(value, self._unit), t.muted, 11, 400, _END)
        known = sorted(self._known())
        painter.setPen(QPen(QColor(t.accent), 1.5))
        points = [self._point(dot, dot.value or 0.0) for dot in known]
        for dot, point in zip(known, points, strict=True):
            if dot.high > dot.low:
                painter.setPen(QPen(QColor(t.line_strong), 1))
                painter.drawLine(self._point(dot, dot.low), self._point(dot, dot.high))
            painter.setPen(QPen(QColor(t.accent), 1.5))
            painter.setBrush(QColor(t.accent))
            painter.drawEllipse(point, _DOT, _DOT)
        for one, two in pairwise(points):
            painter.drawLine(one, two)
        self._paint_values(painter, self._axes[0])

    def _paint_squares(self, painter: QPainter) -> None:
        t, (low, high) = theme.tokens(), self._span()
        for dot in self._known():
            cell = self._cell(dot.place).adjusted(1, 1, -1, -1)
            share = ((dot.value or 0.0) - low) / (high - low)
            colour = mixed(t.panel, t.accent, _PALEST + share * (_DARKEST - _PALEST))
            painter.fillRect(cell, colour)
            ink, words = ink_on(colour).name(), format_value(dot.value or 0.0, self._unit)
            # A number that is cut is another one.
            if text_width(words, 11, 500) <= cell.width() and cell.height() >= _TEXT:
                paint.text(painter, cell, words, ink, 11, 500, paint.CENTRE)
        for row, value in enumerate(self._axes[0]):
            cell = self._cell((row, 0))
            if row % self._every(cell.height(), _TEXT) == 0:
                said = QRectF(0, cell.center().y() - _TEXT, _LEFT - 8, 2 * _TEXT)
                paint.text(painter, said, value, t.muted, 11, 400, _END)
        self._paint_values(painter, self._axes[1])

    @staticmethod
    def _every(step: float, wanted: float) -> int:
        """One of how many values is named, where each has a step and a name wants so many pixels."""
        return max(1, ceil(wanted / max(1.0, step)))

    def _paint_values(self, painter: QPainter, values: Sequence[str]) -> None:
        t, field = theme.tokens(), self._field()
        step = field.width() / len(values)
        every = self._every(step, max(text_width(value, 11, 400) for value in values) + _APART)
        for n, value in enumerate(values):
            if n % every == 0:
                said = QRectF(field.left() + (n + 0.5) * step - 60, field.bottom() + 6, 120, 16)
                paint.text(painter, said, value, t.muted, 11, 400, paint.CENTRE)

    def number_at(self, at: QPointF) -> int | None:
        """The cell at a place of the widget."""
        for number, dot in self.dots.items():
            if len(self._axes) == 2 and self._cell(dot.place).contains(at):
                return number
            if len(self._axes) == 1 and dot.value is not None:
                away = self._point(dot, dot.value) - at
                if abs(away.x()) < _NEAR and abs(away.y()) < _NEAR:
                    return number
        return None

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        number = self.number_at(event.position())
        if event.button() == Qt.MouseButton.LeftButton and number is not None:
            self.chosen.emit(number)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            number = self.number_at(QPointF(event.pos()))
            if number is not None and self.dots[number].value is not None:
                dot = self.dots[number]
                ends = " … ".join(format_value(end, self._unit) for end in (dot.low, dot.high))
                QToolTip.showText(event.globalPos(), ends, self)
            return True
        return super().event(event)


_END = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
