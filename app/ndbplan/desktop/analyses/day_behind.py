"""The schedule of a workload behind the lanes of operations: what is offered, when to begin, when not to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QFontMetricsF, QPainter, QPen, QPolygonF

from ndbplan.base.units import format_count, format_duration, format_percent
from ndbplan.desktop.look import paint, theme
from ndbplan.estimate.load.maintenance_window import Window, Windows

HEAD = 36
"""Height above the lanes, of the operation that is dragged and the best start."""
_HANDLE, _LEAST_PX, _CURVE_PX = 16, 6.0, 2.0
_DAY_S = 86_400.0
_FINE_BELOW_S = 6 * 3600.0
"""Schedules shorter than this are told with seconds."""
STEP = 1 / 96
"""Of a schedule, by which a key moves the start: a quarter of an hour of a day."""


class Scale(NamedTuple):
    """A stretch of time across the screen."""

    left: float
    width: float
    from_s: float
    span_s: float

    def x(self, at_s: float) -> float:
        """Where a moment lies."""
        return self.left + self.width * (at_s - self.from_s) / self.span_s

    def moment(self, x: float) -> float:
        """The moment at a place."""
        return self.from_s + self.span_s * (x - self.left) / self.width

    def between(self, from_s: float, to_s: float) -> tuple[float, float] | None:
        """Both ends of a stretch, as far as it is seen; None: it is not."""
        left, right = max(self.left, self.x(from_s)), min(self.left + self.width, self.x(to_s))
        return (left, right) if right > left else None


@dataclass(frozen=True)
class Day:
    """An operation on the schedule of a workload."""

    name: str
    windows: Windows
    traffic_factor: float = 1.0

    def clock(self, at_s: float) -> str:
        """A moment as exact as the schedule is worth it."""
        return clock(at_s, fine=self.windows.schedule.length_s < _FINE_BELOW_S)

    def begin(self, at_s: float) -> float:
        """The moment of the schedule that a start is at: it comes round again, or ends."""
        return self.windows.at(at_s).start_s

    def rate(self, per_s: float) -> str:
        """A rate of the schedule as it is asked for."""
        return f"{format_count(round(per_s * self.traffic_factor))} tx/s"

    def in_words(self, window: Window) -> str:
        """When it begins and ends and what is offered meanwhile."""
        end_s = window.start_s + window.duration_s
        most = self.rate(window.highest_per_s)
        text = f"{self.clock(window.start_s)} to {self.clock(end_s)}: at most {most}"
        text += f", {format_percent(window.quiet)} of the peak" if window.peak_per_s else ""
        met = () if window.keeps_clear else (why for *_, why in self.kept_out(window.start_s, end_s))
        return text + "".join(f"; {why}" for why in dict.fromkeys(met))

    def proposed(self) -> str:
        """The best start, in words."""
        best = self.windows.best
        return f"best {self.clock(best.start_s)}: at most {self.rate(best.highest_per_s)}"

    def at(self, at_s: float) -> str:
        """What is offered at a moment, and what speaks against beginning then."""
        rate = self.windows.schedule.between(at_s, 0.0, 1)[0][1]
        met = [why for *_, why in self.kept_out(at_s, at_s)]
        return "\n".join([f"{self.clock(at_s)}: {self.rate(rate)}", *dict.fromkeys(met)])

    def kept_out(self, from_s: float, to_s: float) -> Iterator[tuple[float, float, str]]:
        """What to keep out of in a stretch, in every round of the schedule that it meets."""
        length_s = self.windows.schedule.length_s
        # What began in the round before may go on.
        rounds = range(-1, int(to_s // length_s) + 1) if self.windows.schedule.repeats else (0,)
        for one in self.windows.kept_out:
            for begin_s in (one.from_s + length_s * number for number in rounds):
                end_s = begin_s + one.to_s - one.from_s
                if begin_s <= to_s and end_s >= from_s:
                    yield begin_s, end_s, one.why


def clock(at_s: float, *, fine: bool = False) -> str:
    """`02:15`, at the end of a day `24:00`, of later days `1 d 02:15`; `fine`: with seconds."""
    if not fine:
        at_s = 60.0 * round(at_s / 60)
    days, rest = divmod(round(at_s), int(_DAY_S))
    if days == 1 and not rest:
        return "24:00"
    text = f"{rest // 3600:02d}:{rest // 60 % 60:02d}" + (f":{rest % 60:02d}" if fine else "")
    return f"{days} d {text}" if days else text


class DayBehind:
    """Paints a day under lanes that begin at a moment of it."""

    def __init__(self, day: Day, start_s: float, scale: Scale) -> None:
        self._day, self._start_s, self._scale = day, start_s, scale
        self._end_s = start_s + day.windows.duration_s

    def paint_field(self, painter: QPainter, high: float) -> None:
        """What is offered and when nothing is to be done, as high as the lanes; the best window over both."""
        t, scale = theme.tokens(), self._scale
        painter.save()
        painter.setClipRect(QRectF(scale.left, 0, scale.width, high))
        self._paint_curve(painter, high)
        for from_s, to_s, _ in self._day.kept_out(scale.from_s, scale.from_s + scale.span_s):
            if ends := scale.between(from_s, to_s):
                area = QRectF(ends[0], HEAD, max(2.0, ends[1] - ends[0]), high - HEAD)
                painter.fillRect(area, QBrush(paint.colour(t.error, 14)))
                painter.fillRect(area, QBrush(paint.colour(t.error, 70), Qt.BrushStyle.BDiagPattern))
        best = self._day.windows.best
        edges = [(best.start_s + shift, t.good, Qt.PenStyle.DashLine) for shift in (0.0, best.duration_s)]
        edges += [(at_s, self._ink, Qt.PenStyle.SolidLine) for at_s in (self._start_s, self._end_s)]
        for at_s, ink, style in edges:
            painter.setPen(QPen(paint.colour(ink, 150), 1.0, style))
            x = scale.x(at_s)
            painter.drawLine(QPointF(x, HEAD - 12), QPointF(x, high))
        painter.restore()

    def paint_head(self, painter: QPainter, room: float) -> None:
        """The operation as a handle with its start, and the best window; `room`: width of the names."""
        day, t, scale = self._day, theme.tokens(), self._scale
        peak = f"peak {day.rate(day.windows.schedule.peak_per_s)}"
        start = f"Start {day.clock(self._start_s)}"
        paint.text(painter, QRectF(0, 1, room, 18), start, t.text_strong, 12, 600)
        paint.text(painter, QRectF(0, 17, room, 16), peak, t.muted, 11)
        painter.save()
        painter.setClipRect(QRectF(scale.left - 2, 0, scale.width + 4, HEAD))
        best = day.windows.best
        self._paint_stretch(painter, best.start_s, best.start_s + best.duration_s, t.good, dashed=True)
        self._paint_stretch(painter, self._start_s, self._end_s, self._ink, dashed=False)
        words = f"best {day.clock(best.start_s)}"
        width = QFontMetricsF(theme.font(11, 500)).horizontalAdvance(words)
        x = scale.x(best.start_s) + 4
        if scale.left <= x <= scale.left + scale.width - 8:
            x = min(x, scale.left + scale.width - width)
            paint.text(painter, QRectF(x, _HANDLE + 3, width + 4, 16), words, t.good, 11, 500)
        painter.restore()

    @property
    def _ink(self) -> str:
        t = theme.tokens()
        return t.accent if self._day.windows.at(self._start_s).keeps_clear else t.error

    def _paint_curve(self, painter: QPainter, high: float) -> None:
        t, scale, schedule = theme.tokens(), self._scale, self._day.windows.schedule
        count = max(2, round(scale.width / _CURVE_PX))
        rates = schedule.between(scale.from_s, scale.span_s, count)
        tall = (high - HEAD) / (schedule.peak_per_s or 1.0)
        line = [QPointF(scale.x(scale.from_s + since_s), high - tall * rate) for since_s, rate in rates]
        area = [*line, QPointF(line[-1].x(), high), QPointF(line[0].x(), high)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.brush(t.info, 26))
        painter.drawPolygon(QPolygonF(area))
        painter.setPen(paint.pen(t.info, 1.2, 110))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(line))

    def _paint_stretch(
        self, painter: QPainter, from_s: float, to_s: float, ink: str, *, dashed: bool
    ) -> None:
        left, right = self._scale.x(from_s), self._scale.x(to_s)
        area = QRectF(left, 3, max(_LEAST_PX, right - left), _HANDLE)
        style = Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine
        painter.setPen(QPen(paint.colour(ink), 1.2 if dashed else 1.8, style))
        painter.setBrush(paint.brush(ink, 24 if dashed else 80))
        painter.drawRoundedRect(area, 3, 3)


def lasts(day: Day) -> str:
    """`Add groups takes 37 min`, for the line above the lanes."""
    return f"{day.name} takes {format_duration(day.windows.duration_s)}"
