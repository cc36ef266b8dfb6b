"""Several numbers of several things side by side: lines across upright axes, on which limits are drawn.

    axes = BrushAxes("Clusters by their figures")
    axes.show_rows([Axis("Cost", "EUR"), Axis("Restart", "s")], [(20e3, 890.0), (28e3, 410.0)])
    axes.brushed.connect(lambda rows: …)          # numbers of the lines within all limits

A drag along an axis keeps what it passes over, a click on the axis takes the limit away, a click on a line
chooses it. By keys: Left and Right go from axis to axis, Up and Down move the upper limit from line to line,
with Shift the lower one, Delete takes both away.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ndbplan.base.units import format_value
from ndbplan.desktop.look import paint, theme

_SIDE, _TOP, _BOTTOM = 62, 38, 22
_NEAR = 24.0
"""Pixels beside an axis that still are it."""
_DRAGGED = 4.0
_LINE = 6.0
_FAINT = 70
_BRUSH_PX = 12.0


class Axis(NamedTuple):
    """One number of each thing."""

    name: str
    unit: str


class BrushAxes(QWidget):
    """Draws the lines; which of them are within what was brushed is told, and drawn."""

    brushed = Signal(object)
    """frozenset of the numbers of the lines within all limits."""
    chosen = Signal(int)
    """Number of the line that was clicked."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setToolTip("Drag along an axis to keep what lies there; click the axis to take the limit away")
        self._axes: tuple[Axis, ...] = ()
        self._rows: tuple[tuple[float | None, ...], ...] = ()
        self.limits: dict[int, tuple[float, float]] = {}
        """Lowest and highest value that are kept, by axis."""
        self._chosen: int | None = None
        self._pressed: tuple[int, float] | None = None
        self._at = 0

    def sizeHint(self) -> QSize:
        """As wide as its axes' names ask for."""
        return QSize(96 * max(3, len(self._axes)), 168)

    def show_rows(self, axes: Sequence[Axis], rows: Sequence[Sequence[float | None]]) -> None:
        """Begin anew, without limits. A line may lack a value: it has a gap, and is within no limit there."""
        self._axes, self._rows = tuple(axes), tuple(map(tuple, rows))
        self.limits, self._chosen, self._at = {}, None, 0
        self._tell()

    def show_chosen(self, row: int | None) -> None:
        """Draw one line above the others."""
        self._chosen = row
        self.update()

    def within(self) -> frozenset[int]:
        """Numbers of the lines that lie within all limits."""
        return frozenset(number for number, row in enumerate(self._rows) if self._is_within(row))

    def limit(self, axis: int, low: float, high: float) -> None:
        """Keep what lies from one value to the other on an axis."""
        self.limits[axis] = (min(low, high), max(low, high))
        self._tell()

    def free(self, axis: int) -> None:
        """Take the limit of an axis away."""
        self.limits.pop(axis, None)
        self._tell()

    def _is_within(self, row: tuple[float | None, ...]) -> bool:
        return all(
            (value := row[axis]) is not None and low <= value <= high
            for axis, (low, high) in self.limits.items()
        )

    def _tell(self) -> None:
        kept = self.within()
        words = [
            f"{self._axes[axis].name} {self._shown(axis, low)} to {self._shown(axis, high)}"
            for axis, (low, high) in sorted(self.limits.items())
        ]
        self.setAccessibleDescription(
            f"{len(kept)} of {len(self._rows)} kept: {', '.join(words) or 'no limit'}"
        )
        self.update()
        self.brushed.emit(kept)

    # Places

    def _shown(self, axis: int, value: float) -> str:
        return format_value(value, self._axes[axis].unit)

    def _span(self, axis: int) -> tuple[float, float]:
        known = [value for row in self._rows if (value := row[axis]) is not None]
        low, high = min(known, default=0.0), max(known, default=1.0)
        return (low, high) if high > low else (low - 0.5, high + 0.5)

    def _x(self, axis: int) -> float:
        return _SIDE + axis * (self.width() - 2 * _SIDE) / max(1, len(self._axes) - 1)

    def _y(self, axis: int, value: float) -> float:
        low, high = self._span(axis)
        tall = self.height() - _TOP - _BOTTOM
        return self.height() - _BOTTOM - (value - low) / (high - low) * tall

    def _value_at(self, axis: int, y: float) -> float:
        low, high = self._span(axis)
        tall = max(1.0, self.height() - _TOP - _BOTTOM)
        share = (self.height() - _BOTTOM - y) / tall
        return low + min(1.0, max(0.0, share)) * (high - low)

    def axis_at(self, x: float) -> int | None:
        """The axis at a place across; None: none is near."""
        near = min(range(len(self._axes)), key=lambda axis: abs(self._x(axis) - x), default=None)
        return near if near is not None and abs(self._x(near) - x) <= _NEAR else None

    def place_of(self, row: int, axis: int) -> QPointF | None:
        """Where a line meets an axis; None: its value is missing."""
        value = self._rows[row][axis]
        return None if value is None else QPointF(self._x(axis), self._y(axis, value))

    def line_at(self, at: QPointF) -> int | None:
        """The line that passes nearest to a place; None: none is near."""
        away: dict[int, float] = {}
        for row in range(len(self._rows)):
            for one, two in pairwise(self.place_of(row, axis) for axis in range(len(self._axes))):
                if one is not None and two is not None and one.x() <= at.x() <= two.x():
                    share = (at.x() - one.x()) / (two.x() - one.x())
                    away[row] = abs(one.y() + share * (two.y() - one.y()) - at.y())
        near = min(away, key=lambda row: away[row], default=None)
        return near if near is not None and away[near] <= _LINE else None

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        kept = self.within()
        for row in sorted(range(len(self._rows)), key=lambda row: (row == self._chosen, row in kept)):
            self._paint_line(painter, row, row in kept)
        for axis in range(len(self._axes)):
            self._paint_axis(painter, axis)

    def _paint_line(self, painter: QPainter, row: int, is_kept: bool) -> None:
        t, path, is_new = theme.tokens(), QPainterPath(), True
        for axis in range(len(self._axes)):
            place = self.place_of(row, axis)
            if place is None:
                is_new = True
                continue
            path.moveTo(place) if is_new else path.lineTo(place)
            is_new = False
        ink, alpha = (t.accent, 255) if row == self._chosen else (t.text, 170)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(paint.pen(ink, 2.2 if row == self._chosen else 1.3, alpha if is_kept else _FAINT))
        painter.drawPath(path)

    def _paint_axis(self, painter: QPainter, axis: int) -> None:
        t, x = theme.tokens(), self._x(axis)
        top, bottom = float(_TOP), float(self.height() - _BOTTOM)
        is_here = self.hasFocus() and axis == self._at
        painter.setPen(paint.pen(t.accent if is_here else t.line_strong, 1.6 if is_here else 1.0))
        painter.drawLine(QPointF(x, top), QPointF(x, bottom))
        limit = self.limits.get(axis)
        if limit is not None:
            high, low = (self._y(axis, value) for value in reversed(limit))
            place = QRectF(x - _BRUSH_PX / 2, high - 2, _BRUSH_PX, low - high + 4)
            painter.setPen(paint.pen(t.accent, 1.0))
            painter.setBrush(paint.brush(t.accent, 60))
            painter.drawRoundedRect(place, 3, 3)
        wide = 2 * _SIDE - 6.0
        ink = t.text_strong if limit is not None else t.text
        paint.text(
            painter, QRectF(x - wide / 2, 2, wide, 16), self._axes[axis].name, ink, 11, 500, paint.CENTRE
        )
        known = [value for row in self._rows if (value := row[axis]) is not None]
        ends = {max(known, default=0.0): top - 17.0, min(known, default=0.0): bottom + 4.0}
        for value, y in ends.items():
            said = QRectF(x - wide / 2, y, wide, 14)
            paint.text(painter, said, self._shown(axis, value), t.muted, 10, 400, paint.CENTRE)

    # Mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        axis = self.axis_at(event.position().x())
        self._pressed = None if axis is None else (axis, event.position().y())
        if axis is not None:
            self._at = axis

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        axis, began = self._pressed
        if abs(event.position().y() - began) >= _DRAGGED:
            self.limit(axis, self._value_at(axis, began), self._value_at(axis, event.position().y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        pressed, self._pressed = self._pressed, None
        if pressed is not None and abs(event.position().y() - pressed[1]) >= _DRAGGED:
            return
        line = self.line_at(event.position())
        if line is not None:
            self.chosen.emit(line)
        elif pressed is not None:
            self.free(pressed[0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if not self._axes or key not in _KEYS:
            super().keyPressEvent(event)
            return
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._at = min(len(self._axes) - 1, max(0, self._at + (1 if key == Qt.Key.Key_Right else -1)))
            self.update()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.free(self._at)
        else:
            is_low = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._move(self._at, is_low, 1 if key == Qt.Key.Key_Up else -1)

    def _move(self, axis: int, is_low: bool, step: int) -> None:
        """Move an end of a limit to the next value that a line has."""
        values = sorted({value for row in self._rows if (value := row[axis]) is not None})
        if not values:
            return
        low, high = self.limits.get(axis, (values[0], values[-1]))
        now = low if is_low else high
        beyond = [value for value in (values if step > 0 else values[::-1]) if (value - now) * step > 0]
        new = beyond[0] if beyond else now
        ends = (min(new, high), high) if is_low else (low, max(new, low))
        self.limit(axis, *ends)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()


_KEYS = {
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down,
    Qt.Key.Key_Delete, Qt.Key.Key_Backspace,
}  # fmt: skip
