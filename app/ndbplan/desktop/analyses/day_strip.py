"""The schedule of a workload with an operation on it: dragged along, hatched where it is to be kept out."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ndbplan.base.units import format_count, format_duration, format_percent
from ndbplan.desktop.analyses.timeline import NAME_WIDTH, STEPS_S
from ndbplan.desktop.look import paint, theme
from ndbplan.estimate.load.maintenance_window import Window, Windows

_HEIGHT, _AXIS, _LEAST_PX = 84, 18, 6.0
_MOST_CORNERS = 4000
_MOST_TICKS = 9
_STEPS = 96
"""Steps of an arrow key over the whole schedule: a quarter of an hour of a day."""
_DAY_S = 86_400.0
_FINE_BELOW_S = 6 * 3600.0
"""Schedules shorter than this are told with seconds."""


@dataclass(frozen=True)
class Day:
    """An operation on the schedule of a workload."""

    name: str
    windows: Windows
    traffic_factor: float = 1.0

    @property
    def shown_s(self) -> float:
        """Time that is shown: one round, or the schedule and what the operation lasts beyond it."""
        schedule = self.windows.schedule
        return schedule.length_s + (0.0 if schedule.repeats else self.windows.duration_s)

    def clock(self, at_s: float) -> str:
        """A moment as exact as the schedule is worth it."""
        return clock(at_s, fine=self.shown_s < _FINE_BELOW_S)

    def corners(self) -> list[tuple[float, float]]:
        """The curve, thinned out so far that it can be drawn."""
        schedule = self.windows.schedule
        found = schedule.curve()
        found = found[:: max(1, len(found) // _MOST_CORNERS)]
        return found if schedule.repeats else [*found, (self.shown_s, found[-1][1])]

    def in_words(self, window: Window) -> str:
        """When it begins and ends and what is offered meanwhile."""
        end_s = window.start_s + window.duration_s
        rate = format_count(round(window.highest_per_s * self.traffic_factor))
        text = f"{self.clock(window.start_s)} to {self.clock(end_s)}: at most {rate} tx/s"
        text += f", {format_percent(window.quiet)} of the peak" if window.peak_per_s else ""
        met = [one.why for one in self.windows.kept_out if self._meets(window, one.from_s, one.to_s)]
        return text + "".join(f"; {why}" for why in dict.fromkeys(met))

    def _meets(self, window: Window, from_s: float, to_s: float) -> bool:
        rounds = (-1, 0, 1) if self.windows.schedule.repeats else (0,)
        length_s = self.windows.schedule.length_s
        end_s = window.start_s + window.duration_s
        return not window.keeps_clear and any(
            window.start_s < to_s + n * length_s and end_s > from_s + n * length_s for n in rounds
        )


def clock(at_s: float, *, fine: bool = False) -> str:
    """`02:15`, at the end of a day `24:00`, of later days `1 d 02:15`; `fine`: with seconds."""
    if not fine:
        at_s = 60.0 * round(at_s / 60)
    days, rest = divmod(round(at_s), int(_DAY_S))
    if days == 1 and not rest:
        return "24:00"
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}" + (f":{rest % 60:02d}" if fine else "")
    return f"{days} d {text}" if days else text


class DayStrip(QWidget):
    """Drag the operation, or move it with the arrow keys; Home takes it to the best start."""

    moved = Signal(float)
    """It begins at another moment of the schedule."""

    def __init__(self) -> None:
        super().__init__()
        self._day: Day | None = None
        self._corners: list[tuple[float, float]] = []
        self._start_s = 0.0
        self._held_px: float | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(_HEIGHT)
        self.setMouseTracking(True)
        self.setAccessibleName("Start of the operation on the schedule of the load")
        theme.theme().changed.connect(self.update)
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(500, _HEIGHT)

    @property
    def day(self) -> Day | None:
        """What it shows."""
        return self._day

    @property
    def start_s(self) -> float:
        """When the operation begins, from the start of the schedule."""
        return self._start_s

    def show_day(self, day: Day | None, start_s: float | None = None) -> None:
        """Show an operation that begins at a moment; None: at the best one. No day: nothing."""
        self._day = day
        self._corners = day.corners() if day is not None else []
        self.setVisible(day is not None)
        if day is not None:
            self._start_s = day.windows.best.start_s if start_s is None else day.windows.at(start_s).start_s
            self._describe()
        self.update()

    def move_to(self, start_s: float) -> None:
        """Let it begin at another moment."""
        if self._day is None:
            return
        start_s = self._day.windows.at(start_s).start_s
        if start_s != self._start_s:
            self._start_s = start_s
            self._describe()
            self.update()
            self.moved.emit(start_s)

    def to_best(self) -> None:
        """Let it begin where least is offered."""
        if self._day is not None:
            self.move_to(self._day.windows.best.start_s)

    def _describe(self) -> None:
        if self._day is not None:
            self.setAccessibleDescription(self._day.in_words(self._day.windows.at(self._start_s)))

    # Places

    def _field(self) -> QRectF:
        return QRectF(NAME_WIDTH, 4, max(10.0, self.width() - NAME_WIDTH - 4.0), self.height() - _AXIS - 6)

    def x_of(self, at_s: float) -> float:
        """Where a moment of the schedule lies."""
        day, field = self._day, self._field()
        return field.x() + field.width() * (at_s / day.shown_s if day is not None else 0.0)

    def moment_at(self, x: float) -> float:
        """The moment at a place."""
        day, field = self._day, self._field()
        share = (x - field.x()) / field.width()
        return 0.0 if day is None else max(0.0, min(1.0, share)) * day.shown_s

    def _spans(self, from_s: float, to_s: float) -> list[tuple[float, float]]:
        """A stretch in pixels; one that goes on behind the end of a round begins again at its start."""
        day = self._day
        if day is None:
            return []
        shown_s = day.shown_s
        if to_s - from_s >= shown_s:
            return [(self.x_of(0), self.x_of(shown_s))]
        if not day.windows.schedule.repeats:
            return [(self.x_of(min(from_s, shown_s)), self.x_of(min(to_s, shown_s)))]
        begin = from_s % shown_s
        end = begin + to_s - from_s
        if end <= shown_s:
            return [(self.x_of(begin), self.x_of(end))]
        return [(self.x_of(begin), self.x_of(shown_s)), (self.x_of(0), self.x_of(end - shown_s))]

    # Pointer and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._day is None or event.button() != Qt.MouseButton.LeftButton:
            return
        x = event.position().x()
        if x < NAME_WIDTH:
            return
        inside = any(a - 4 <= x <= b + 4 for a, b in self._spans(self._start_s, self._end_s()))
        self._held_px = x - self.x_of(self._start_s) if inside else 0.0
        self.move_to(self.moment_at(x - self._held_px))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._held_px is not None:
            self.move_to(self.moment_at(x - self._held_px))
        self.setCursor(Qt.CursorShape.SizeHorCursor if x >= NAME_WIDTH else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._held_px = None

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._day is None:
            super().keyPressEvent(event)
            return
        step_s = self._day.shown_s / _STEPS
        key = event.key()
        if key == Qt.Key.Key_Home:
            self.to_best()
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            to_s = self._start_s + (step_s if key == Qt.Key.Key_Right else -step_s)
            self.move_to(to_s if self._day.windows.schedule.repeats else max(0.0, to_s))
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._day is not None:
            at_s = self.moment_at(event.pos().x())
            met = [one.why for one in self._day.windows.kept_out if one.from_s <= at_s <= one.to_s]
            QToolTip.showText(event.globalPos(), "\n".join([self._day.clock(at_s), *met]), self)
            return True
        return super().event(event)

    def _end_s(self) -> float:
        return self._start_s + (self._day.windows.duration_s if self._day is not None else 0.0)

    # Looks

    def paintEvent(self, event: QPaintEvent) -> None:
        day, t = self._day, theme.tokens()
        if day is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        field = self._field()
        paint.box(painter, field, t.sunken, t.accent if self.hasFocus() else t.line, 6)
        self._paint_words(painter, day)
        self._paint_ticks(painter, day, field)
        painter.save()
        painter.setClipRect(field.adjusted(1, 1, -1, -1))
        self._paint_curve(painter, day, field)
        for one in day.windows.kept_out:
            for left, right in self._spans(one.from_s, one.to_s):
                area = QRectF(left, field.y(), max(2.0, right - left), field.height())
                painter.fillRect(area, QBrush(paint.colour(t.error, 26)))
                painter.fillRect(area, QBrush(paint.colour(t.error, 120), Qt.BrushStyle.BDiagPattern))
        painter.restore()
        best = day.windows.best
        self._paint_stretch(painter, field, best.start_s, best.start_s + best.duration_s, t.good, dashed=True)
        ink = t.accent if day.windows.at(self._start_s).keeps_clear else t.error
        self._paint_stretch(painter, field, self._start_s, self._end_s(), ink, dashed=False)

    def _paint_words(self, painter: QPainter, day: Day) -> None:
        t, room = theme.tokens(), NAME_WIDTH - 10
        paint.text(painter, QRectF(0, 6, room, 18), "Start", t.text, 12, 500)
        paint.text(painter, QRectF(0, 24, room, 18), day.clock(self._start_s), t.text_strong, 13, 600)
        best = f"best {day.clock(day.windows.best.start_s)}"
        paint.text(painter, QRectF(0, 42, room, 18), best, t.good, 12, 500)
        peak = f"peak {format_count(round(day.windows.schedule.peak_per_s * day.traffic_factor))} tx/s"
        paint.text(painter, QRectF(0, 60, room, 18), peak, t.muted, 11)

    def _paint_ticks(self, painter: QPainter, day: Day, field: QRectF) -> None:
        t = theme.tokens()
        step = next((s for s in STEPS_S if day.shown_s / s <= _MOST_TICKS), day.shown_s / _MOST_TICKS)
        for number in range(int(day.shown_s / step) + 1):
            x = self.x_of(number * step)
            if number:
                painter.setPen(QPen(QColor(t.grid), 1))
                painter.drawLine(QPointF(x, field.y() + 1), QPointF(x, field.bottom() - 1))
            box = QRectF(x - 40, field.bottom() + 2, 80, 16)
            box.moveLeft(max(field.x(), min(box.left(), field.right() - 80)))
            side = paint.BASELINE if box.left() == field.x() else paint.CENTRE
            side = paint.RIGHT if box.right() >= field.right() else side
            paint.text(painter, box, day.clock(number * step), t.muted, 11, 400, side)

    def _paint_curve(self, painter: QPainter, day: Day, field: QRectF) -> None:
        t, peak = theme.tokens(), day.windows.schedule.peak_per_s or 1.0
        top, high = field.y() + 6, field.height() - 7
        line = QPolygonF([QPointF(self.x_of(s), top + high * (1 - r / peak)) for s, r in self._corners])
        area = QPolygonF(line)
        area.append(QPointF(field.right(), field.bottom()))
        area.append(QPointF(field.x(), field.bottom()))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.brush(t.info, 46))
        painter.drawPolygon(area)
        painter.setPen(QPen(QColor(t.info), 1.5))
        painter.drawPolyline(line)

    def _paint_stretch(
        self, painter: QPainter, field: QRectF, from_s: float, to_s: float, ink: str, *, dashed: bool
    ) -> None:
        for left, right in self._spans(from_s, to_s):
            width = max(_LEAST_PX, right - left)
            area = QRectF(min(left, field.right() - width), field.y() + 1, width, field.height() - 2)
            style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
            painter.setPen(QPen(QColor(ink), 1.4 if dashed else 2.0, style))
            painter.setBrush(Qt.BrushStyle.NoBrush if dashed else paint.brush(ink, 70))
            painter.drawRoundedRect(area, 3, 3)


def lasts(day: Day) -> str:
    """`Add groups takes 37 min`, for the line beside the strip."""
    return f"{day.name} takes {format_duration(day.windows.duration_s)}"
