"""How full memory and disks get month by month: a small chart, with the month in which each is full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from ndbplan.base.units import format_count, format_percent
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.text import text_width
from ndbplan.plan.plan import Plan

_POINTS = 8
_SHORTEST_MONTHS, _LONGEST_MONTHS, _USUAL_MONTHS = 12, 240, 24
_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 12.0, 22.0, 18.0
_FRAMED, _LINE, _GAP = 5.0, 15.0, 16.0
"""Room inside of a frame, height of a line of names, and room between names in one line."""
_APART = 8.0
_TICK_PX = 66
"""What the name of a month takes."""


@dataclass(frozen=True)
class Line:
    """How full one thing gets: a share for each moment."""

    name: str
    colour: str
    """Token of its colour."""
    shares: tuple[float, ...]
    full_at_months: float | None = None
    full_at: float = 1.0
    """Share from which on it counts as full: MinFreePct keeps a part of DataMemory."""


@dataclass(frozen=True)
class GrowthPicture:
    """All that the chart shows."""

    months: tuple[float, ...]
    lines: tuple[Line, ...]


def growth_picture(plan: Plan) -> GrowthPicture | None:
    """Shares over months of DataMemory, the disk and the tablespace that fill first; None: nothing grows."""
    from ndbplan.configuration.settings import node_settings, usable_data_memory
    from ndbplan.estimate.estimation import chosen_workload
    from ndbplan.estimate.space.growth import fillings, first_of, grows, growth, memory_full

    if not grows(plan):
        return None
    memory = memory_full(plan)
    workload = chosen_workload(plan, None)
    full = fillings(plan, workload=workload)
    firsts = {kind: first_of(tuple(f for f in full if f.kind == kind)) for kind in ("disk", "tablespace")}
    times = [memory, *(first.months_until_full for first in firsts.values() if first is not None)]
    soonest = min((left.value for left in times if left is not None), default=float(_USUAL_MONTHS))
    horizon = int(min(max(1.25 * soonest + 1, _SHORTEST_MONTHS), _LONGEST_MONTHS))
    grown = growth(plan, horizon, max(1, -(-horizon // _POINTS)), workload=workload)
    lines = [
        Line(
            "DataMemory",
            "accent",
            tuple(max((node.fill for node in estimate.nodes), default=0.0) for estimate in grown.estimates),
            None if memory is None else memory.value,
            min((usable_data_memory(node_settings(plan, node)) for node in plan.data_nodes), default=1.0),
        )
    ]
    if grown.spaces and (fullest := grown.spaces[-1].fullest) is not None:
        chosen = firsts["disk"]
        disk_id = chosen.object_id if chosen is not None else fullest.disk_id
        shares = [space.of(disk_id) for space in grown.spaces]
        name = f"{fullest.host} {fullest.disk}" if chosen is None else f"{chosen.host} {chosen.name}"
        left = chosen.months_until_full if chosen is not None else None
        lines.append(
            Line(
                name,
                "violet",
                tuple(disk.fill.value if disk is not None else 0.0 for disk in shares),
                None if left is None else left.value,
            )
        )
    return GrowthPicture(tuple(float(month) for month in grown.months), tuple(lines))


class GrowthChart(QWidget):
    """Shares over months; a dashed line at 100 %, a dot where something is full."""

    def __init__(self, *, is_framed: bool = False) -> None:
        super().__init__()
        self._is_framed = is_framed
        self.picture: GrowthPicture | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(90)
        self.setAccessibleName("Growth of memory and disks")
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(320, 120)

    def show_picture(self, picture: GrowthPicture | None) -> None:
        """Show it; nothing hides the chart."""
        self.picture = picture
        self.setVisible(picture is not None)
        if picture is None:
            return
        told = [f"{line.name} {_when(line)}" for line in picture.lines]
        self.setAccessibleDescription("; ".join(told))
        self.setToolTip("\n".join(told))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        picture = self.picture
        if picture is None or len(picture.months) < 2:
            return
        t = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = _FRAMED if self._is_framed else 0.0
        if self._is_framed:
            paint.box(painter, QRectF(self.rect()), t.sunken, t.line, 6)
        whole = QRectF(self.rect()).adjusted(0, edge, -edge, -edge)
        names = self._names(picture, whole.width() - _LEFT - _RIGHT)
        lines = len(names) if self._are_stacked(names, whole.width() - _LEFT - _RIGHT) else 1
        area = whole.adjusted(_LEFT, _TOP + (lines - 1) * _LINE, -_RIGHT, -_BOTTOM)
        last = picture.months[-1]
        most = max(1.1, *(share for line in picture.lines for share in line.shares))

        def at(month: float, share: float) -> QPointF:
            return QPointF(
                area.x() + area.width() * month / last, area.bottom() - area.height() * share / most
            )

        painter.setPen(paint.pen(t.line_strong))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        dashed = QPen(paint.colour(t.error), 1, Qt.PenStyle.DashLine)
        painter.setPen(dashed)
        painter.drawLine(at(0, 1), at(last, 1))
        for share, words in ((0.0, "0"), (1.0, "100 %")):
            box = QRectF(0, at(0, share).y() - 8, _LEFT - 6, 16)
            paint.text(painter, box, words, t.muted, 11, 400, paint.RIGHT)
        ticks = _ticks(last, max(1, int(area.width() / _TICK_PX)))
        named = {month: at(month, 0).x() for month in ticks}
        for left, words in _names_below(named, area.x(), self.width() - 1 - edge):
            paint.text(painter, QRectF(left, area.bottom() + 2, 80, 15), words, t.muted, 11, 400)
        x, y = area.x() if lines == 1 else edge + 4, whole.y() + 2
        for line, words in zip(picture.lines, names, strict=True):
            ink = getattr(t, line.colour)
            painter.setPen(paint.pen(ink, 2))
            if line.full_at != 1.0:
                painter.setPen(QPen(paint.colour(ink), 1, Qt.PenStyle.DashLine))
                painter.drawLine(at(0, line.full_at), at(last, line.full_at))
                painter.setPen(paint.pen(ink, 2))
            points = [at(m, s) for m, s in zip(picture.months, line.shares, strict=True)]
            painter.drawPolyline(QPolygonF(points))
            if line.full_at_months is not None and line.full_at_months <= last:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(paint.brush(ink))
                painter.drawEllipse(_on_line(picture.months, points, line.full_at_months), 4, 4)
                painter.setBrush(Qt.BrushStyle.NoBrush)
            paint.text(painter, QRectF(x, y, area.right() - x, 16), words, ink, 11, 600)
            if lines == 1:
                x += text_width(words, 11, 600) + _GAP
            else:
                y += _LINE
        painter.end()

    @staticmethod
    def _names(picture: GrowthPicture, width: float) -> list[str]:
        """What stands above each line, as many words as there is room for."""
        long = [f"{line.name} {_when(line)}" for line in picture.lines]
        short = [f"{line.name} {_when_in_short(line.full_at_months)}" for line in picture.lines]
        if not GrowthChart._are_stacked(long, width):
            return long
        fits = all(text_width(words, 11, 600) <= width + _LEFT for words in long)
        return long if GrowthChart._are_stacked(short, width) and fits else short

    @staticmethod
    def _are_stacked(names: Sequence[str], width: float) -> bool:
        """Whether names stand below one another: side by side there is no room."""
        return sum(text_width(words, 11, 600) + _GAP for words in names) > width


def _on_line(months: Sequence[float], points: Sequence[QPointF], month: float) -> QPointF:
    """The point of a line at a month."""
    for i in range(1, len(months)):
        if month <= months[i]:
            part = (month - months[i - 1]) / max(1e-9, months[i] - months[i - 1])
            return points[i - 1] + (points[i] - points[i - 1]) * part
    return points[-1]


def _when(line: Line) -> str:
    months = line.full_at_months
    if months is None:
        return "is never full"
    at = "" if line.full_at == 1.0 else f", at {format_percent(line.full_at)}"
    return f"is full now{at}" if months == 0 else f"is full in {_in_months(months)}{at}"


def _when_in_short(months: float | None) -> str:
    return "never" if months is None else "full now" if months == 0 else _in_months(months)


def _in_months(months: float) -> str:
    """`1 030 months`: three digits, as far as that can be told at all."""
    return f"{format_count(float(f'{months:.3g}'))} months"


def _names_below(months: Mapping[int, float], first: float, last: float) -> list[tuple[float, str]]:
    """Where names of months begin that stand below these places, between two edges; none touches another."""
    placed: list[tuple[float, str]] = []
    free = last + _APART
    for month, x in sorted(months.items(), reverse=True):
        words = f"month {month}" if month else "now"
        width = text_width(words, 11, 400)
        left = max(first, min(x - width / 2, last - width)) if month else first
        if left + width + _APART <= free:
            placed.append((left, words))
            free = left
    return placed[::-1]


def _ticks(last: float, most: int) -> list[int]:
    step = next((s for s in (2, 3, 6, 12, 24, 60) if last / s <= min(6, most)), 120)
    return list(range(0, int(last) + 1, step))
