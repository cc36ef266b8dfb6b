"""How a map of places is painted: cells, sums of columns and lanes, names, what moved, the legend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPainterPath, QPen

from ndbplan.base.units import format_count, format_percent
from ndbplan.desktop.analyses.fill_map_picture import MapPicture, signed
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.heat import heat, ink_on
from ndbplan.desktop.look.text import text_width

_LANE_NAME = 14.0
"""Height that the name of a lane takes."""
_EDGE, _GUTTER, _SUMS = 10.0, 44.0, 92.0
_STRIP, _NAMES, _LEGEND = 44.0, 16.0, 24.0
_LOW = 210
"""Height below which the strip of sums is thinner."""
_MOST_ARCS = 8
_FINE = 12.0
"""Columns narrower than this are painted on whole pixels, as one field of colour."""
_ROOM_FOR_FIGURES = (50.0, 15.0)
"""Width and height of a cell from which on its fill is written in it."""
_WIDE_BAR = 70.0
"""Width of a column from which on its sum is written in it."""
_SCALE, _SIGN, _APART, _LINE = 120.0, 15.0, 18.0, 15.0
"""Of the legend: width of the scale of colours, of a sign, between parts; height of a line more."""


@dataclass(frozen=True)
class Frame:
    """Where everything of a map is, in a widget of some size."""

    picture: MapPicture
    width: float
    height: float

    @property
    def is_low(self) -> bool:
        """Whether there is room for the cells only where the rest takes little."""
        return self.height < _LOW

    @property
    def shows_numbers(self) -> bool:
        """Whether columns are named; where it is low their racks alone are."""
        return not (self.is_low and self.brackets)

    @cached_property
    def area(self) -> QRectF:
        """The cells."""
        strip = _STRIP / 2 if self.is_low else _STRIP
        names = _NAMES * (self.shows_numbers + bool(self.brackets))
        bottom = names + _LEGEND + _LINE * (len(self.legend) - 1)
        return QRectF(
            _EDGE + _GUTTER,
            strip + 10,
            max(10.0, self.width - 2 * _EDGE - _GUTTER - _SUMS),
            max(10.0, self.height - strip - 10 - bottom - 2),
        )

    @cached_property
    def cell(self) -> tuple[float, float]:
        """Width and height of a cell."""
        lanes, columns = self.picture.found.held.shape
        return self.area.width() / max(1, columns), self.area.height() / max(1, lanes)

    @cached_property
    def brackets(self) -> list[tuple[str, int, int]]:
        """Runs of neighbouring columns in one rack: name, first and behind the last."""
        runs: list[tuple[str, int, int]] = []
        for name, run in groupby(enumerate(self.picture.columns), key=lambda pair: pair[1].bracket):
            places = [i for i, _ in run]
            runs.append((name, places[0], places[-1] + 1))
        return runs if any(name for name, _, _ in runs) else []

    @cached_property
    def legend(self) -> list[list[tuple[str, str, float]]]:
        """Signs, words, and where they begin: behind the scale, then in as many lines as that takes."""
        room, first = self.width - _EDGE, _EDGE + _GUTTER + _SCALE + 6
        lines: list[list[tuple[str, str, float]]] = [[]]
        x = first
        for sign, text in self._signs():
            wide = (_SIGN if sign else 0.0) + text_width(text, 11, 400)
            if self.is_low and x + wide > room:
                # What is left out the tips say.
                break
            if (lines[-1] or x == first) and x + wide > room:
                lines.append([])
                x = _EDGE + _GUTTER
            lines[-1].append((sign, text, x))
            x += wide + _APART
        return lines

    def _signs(self) -> Iterator[tuple[str, str]]:
        """What tells things apart first, where there may be no room for all."""
        found, reach = self.picture.found, format_percent(self.picture.reach)
        yield "", f"+{reach}" if self.is_low else f"+{reach} of an even share"
        chance = ("band", f"by chance {signed(found.band[0])} to {signed(found.band[1])}")
        if found.band[1] and not self.is_low:
            yield chance
        if found.lost:
            yield from (("cross", "lost"), ("took", "took over"), ("line", "before"))
        elif bool(found.is_outside.any()):
            yield "dot", "beyond chance and hash map"
        if bool((found.exists & ~found.used).any()):
            yield "empty", "holds nothing of it"
        if found.band[1] and self.is_low:
            yield chance

    def rect(self, lane: int, column: int, columns: int = 1) -> QRectF:
        """Where a cell is, or a run of them in one lane."""
        width, height = self.cell
        return QRectF(self.area.x() + column * width, self.area.y() + lane * height, width * columns, height)

    def middle(self, column: float) -> float:
        """The middle of a column."""
        return self.area.x() + (column + 0.5) * self.cell[0]

    def at(self, place: QPointF) -> tuple[int, int] | None:
        """Lane and column of the cell at a place."""
        lanes, columns = self.picture.found.held.shape
        if not self.area.contains(place):
            return None
        width, height = self.cell
        lane = int((place.y() - self.area.y()) / height)
        return min(lane, lanes - 1), min(int((place.x() - self.area.x()) / width), columns - 1)

    def tip(self, place: QPointF) -> str:
        """What there is to say about a place: a cell, the sum of a column or of a lane."""
        cell, area = self.at(place), self.area
        if cell is not None:
            return self.picture.cell(*cell)
        lanes, columns = self.picture.found.held.shape
        if not area.y() <= place.y() <= area.bottom():
            column = int((place.x() - area.x()) // self.cell[0])
            near = place.y() < area.bottom() + _NAMES
            return self.picture.column_line(column) if 0 <= column < columns and near else ""
        lane = int((place.y() - area.y()) // self.cell[1])
        return self.picture.lane_line(lane) if 0 <= lane < lanes else ""

    def lost_runs(self) -> Iterator[tuple[int, int]]:
        """First and behind the last of neighbouring columns that are lost."""
        lost, numbers = set(self.picture.found.lost), self.picture.found.columns
        for is_lost, run in groupby(range(len(numbers)), key=lambda i: numbers[i] in lost):
            places = list(run)
            if is_lost:
                yield places[0], places[-1] + 1


def paint_map(painter: QPainter, frame: Frame) -> None:
    """All of a map but what the pointer and the selection add."""
    _cells(painter, frame)
    _strip(painter, frame)
    _lanes(painter, frame)
    _names(painter, frame)
    _legend(painter, frame)


def _cells(painter: QPainter, frame: Frame) -> None:
    colours, found, width = theme.tokens(), frame.picture.found, frame.cell[0]
    is_fine = width < _FINE
    gap = 1.0 if min(frame.cell) > 4 else 0.0
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, not is_fine)
    lost = set(found.lost)
    for lane, row in enumerate(found.fill.tolist()):
        for column, fill in enumerate(row):
            rect = frame.rect(lane, column)
            if is_fine:
                # Whole pixels: neighbours neither overlap nor leave a gap between them.
                left, right, top, bottom = map(round, (rect.x(), rect.right(), rect.y(), rect.bottom()))
                rect = QRectF(left, top, right - left, bottom - top)
            rect.adjust(0, 0, -gap, -gap)
            if found.columns[column] in lost:
                painter.fillRect(rect, paint.brush(colours.error, 56))
            elif found.used[lane, column]:
                _cell(painter, frame, rect, fill, outside=bool(found.is_outside[lane, column]))
            elif found.exists[lane, column]:
                painter.fillRect(rect, paint.brush(colours.line, 90))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    for first, behind in frame.lost_runs():
        whole = frame.rect(0, first, behind - first)
        whole.setBottom(frame.area.bottom())
        painter.setPen(paint.pen(colours.error, 1.6))
        painter.drawLine(whole.topLeft(), whole.bottomRight())
        painter.drawLine(whole.topRight(), whole.bottomLeft())


def _cell(painter: QPainter, frame: Frame, rect: QRectF, fill: float, *, outside: bool) -> None:
    ground = heat(theme.tokens(), frame.picture.value(fill))
    painter.fillRect(rect, ground)
    if outside and not frame.picture.found.lost:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink_on(ground))
        side = max(1.5, min(3.5, rect.width() / 3))
        painter.drawEllipse(rect.topRight() + QPointF(-side - 1.5, side + 1.5), side, side)
    if rect.width() >= _ROOM_FOR_FIGURES[0] and rect.height() >= _ROOM_FOR_FIGURES[1]:
        paint.text(painter, rect, signed(fill), ink_on(ground).name(), 11, 600, paint.CENTRE)


def _strip(painter: QPainter, frame: Frame) -> None:
    """Sums of the columns above them; a line where they were before a loss."""
    colours, picture, area = theme.tokens(), frame.picture, frame.area
    sums = picture.found.column_sums.tolist()
    top = max([*sums, *picture.sums_before], default=0.0) or 1.0
    width, floor, room = frame.cell[0], area.y() - 5, area.y() - 15
    paint.text(painter, QRectF(_EDGE, floor - room, _GUTTER - 6, room), "sum", colours.muted, 11, 400,
               paint.RIGHT)  # fmt: skip
    gap = 1.0 if width > 4 else 0.0
    heirs = {heir for _, heir in picture.moved}
    for i, size in enumerate(sums):
        bar = QRectF(area.x() + i * width, floor - room * size / top, width - gap, room * size / top)
        took = QColor(colours.warning_fill)
        ink = took if i in heirs else heat(colours, picture.value(picture.column_fill[i]))
        painter.fillRect(bar, ink)
        if picture.sums_before and picture.sums_before[i] != size:
            y = floor - room * picture.sums_before[i] / top
            painter.setPen(paint.pen(colours.text_strong, 1.2))
            painter.drawLine(QPointF(bar.x(), y), QPointF(bar.right(), y))
        if width >= _WIDE_BAR and bar.height() >= 14:
            # Clear of the line at what was there before.
            place = QRectF(bar.x(), bar.y() + 2, bar.width(), 14) if picture.sums_before else bar
            paint.text(painter, place, picture.size(size), ink_on(ink).name(), 11, 600, paint.CENTRE)
    _arcs(painter, frame, floor, room)


def _arcs(painter: QPainter, frame: Frame, floor: float, room: float) -> None:
    """From what is lost to who takes over; of many, one from rack to rack with the rows on it."""
    colours, moved = theme.tokens(), frame.picture.moved
    ways: dict[tuple[float, float], int] = {}
    if len(moved) <= _MOST_ARCS:
        ways = {(float(lost), float(heir)): rows for (lost, heir), rows in moved.items()}
    else:
        for (lost, heir), rows in moved.items():
            ends = [
                next(((a + b - 1) / 2 for _, a, b in frame.brackets if a <= i < b), None)
                for i in (lost, heir)
            ]
            if ends[0] is not None and ends[1] is not None and ends[0] != ends[1]:
                way = (ends[0], ends[1])
                ways[way] = ways.get(way, 0) + rows
        if len(ways) > _MOST_ARCS:
            return
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for (source, target), rows in ways.items():
        # Beside the figure in the middle of a wide bar.
        aside = 0.3 * frame.cell[0] if frame.cell[0] >= _WIDE_BAR else 0.0
        x = frame.middle(target) + (aside if source > target else -aside)
        start, end = QPointF(frame.middle(source), floor), QPointF(x, floor - room * 0.2)
        path = QPainterPath(start)
        path.cubicTo(QPointF(start.x(), floor - room * 1.2), QPointF(end.x(), floor - room * 1.3), end)
        shade = QLinearGradient(start, end)
        shade.setColorAt(0, QColor(colours.error))
        shade.setColorAt(1, QColor(colours.text_strong))
        painter.setPen(QPen(QColor(colours.sunken), 4))
        painter.drawPath(path)
        painter.setPen(QPen(shade, 2))
        painter.drawPath(path)
        point = QPainterPath(end + QPointF(-4, -6))
        point.lineTo(end + QPointF(4, -6))
        point.lineTo(end + QPointF(0, 1))
        painter.fillPath(point, QColor(colours.text_strong))
        words = f"{format_count(rows)} rows"
        wide = text_width(words, 11, 600) + 10
        box = QRectF(start.x() - wide / 2, floor - 18, wide, 16)
        if room >= 24 and (wide < frame.cell[0] * 2 or len(moved) > _MOST_ARCS):
            paint.box(painter, box, colours.panel, colours.error, 4)
            paint.text(painter, box, words, colours.text_strong, 11, 600, paint.CENTRE)


def _lanes(painter: QPainter, frame: Frame) -> None:
    """Names of the lanes on the left, their sums on the right."""
    colours, picture, area, height = theme.tokens(), frame.picture, frame.area, frame.cell[1]
    sums = picture.found.lane_sums.tolist()
    top = max(sums, default=0.0) or 1.0
    every = max(1, round(_LANE_NAME / max(0.1, height) + 0.49))
    tall = max(height, _LANE_NAME)
    for lane, (number, size) in enumerate(zip(picture.found.lanes, sums, strict=True)):
        if lane % every:
            continue
        y, shown = area.y() + lane * height, number + (picture.found.places == "groups")
        # Where lanes are lower than a text, it stands at the middle of its own and every few have one.
        above = y - (tall - height) / 2
        box = QRectF(_EDGE, above, _GUTTER - 6, tall)
        paint.text(painter, box, f"{picture.lane_name} {shown}", colours.muted, 11, 400, paint.RIGHT)
        is_high = height >= 26
        if is_high:
            track = QRectF(area.right() + 10, y + height / 2 + 6, _SUMS - 10, 3)
            paint.box(painter, track, colours.line, None, 1.5)
            filled = QRectF(track.x(), track.y(), track.width() * size / top, 3)
            paint.box(painter, filled, colours.accent, None, 1.5)
        box = QRectF(area.right() + 10, above - (5 if is_high else 0), _SUMS - 10, tall)
        paint.text(painter, box, picture.size(size), colours.text if size else colours.faint, 11, 500)


def _names(painter: QPainter, frame: Frame) -> None:
    """Names of the columns, as many as there is room for, and of the racks below them."""
    colours, area, width = theme.tokens(), frame.area, frame.cell[0]
    lost = set(frame.picture.found.lost)
    every = next((n for n in (1, 2, 5, 10, 20, 50) if n * width >= 24), 50)
    for i, column in enumerate(frame.picture.columns if frame.shows_numbers else ()):
        if i % every == 0:
            ink = colours.error if frame.picture.found.columns[i] in lost else colours.muted
            words = column.name if text_width(column.name, 11, 400) + 8 <= width else column.short
            span = max(width, 30.0)
            box = QRectF(frame.middle(i) - span / 2, area.bottom() + 1, span, _NAMES)
            paint.text(painter, box, words, ink, 11, 400, paint.CENTRE)
    for name, first, behind in frame.brackets:
        left, right = area.x() + first * width, area.x() + behind * width
        y = area.bottom() + 1 + (_NAMES if frame.shows_numbers else 0.0)
        painter.fillRect(QRectF(left + 1, y, right - left - 2, 2), paint.brush(colours.line_strong))
        paint.text(painter, QRectF(left, y + 2, right - left, _NAMES - 3), name, colours.text, 11, 500,
                   paint.CENTRE)  # fmt: skip


def _legend(painter: QPainter, frame: Frame) -> None:
    """The scale of colours with what chance makes, and the signs."""
    colours, picture, x = theme.tokens(), frame.picture, frame.area.x()
    top = frame.height - _LEGEND - _LINE * (len(frame.legend) - 1) + 4
    low = f"−{format_percent(picture.reach)}"
    paint.text(painter, QRectF(x - 60, top, 54, 14), low, colours.muted, 11, 400, paint.RIGHT)
    steps = 60
    for i in range(steps):
        ground = heat(colours, picture.value(((2 * i + 1) / steps - 1) * picture.reach))
        painter.fillRect(QRectF(x + _SCALE / steps * i, top + 3, _SCALE / steps, 8), ground)
    painter.setPen(paint.pen(colours.text, 1))
    for end in {max(-1.0, min(1.0, edge / picture.reach)) for edge in picture.found.band}:
        # The band of chance, in the middle of the scale.
        at = x + _SCALE * (end + 1) / 2
        painter.drawLine(QPointF(at, top + 1), QPointF(at, top + 13))
    for line, shown in enumerate(frame.legend):
        y = top + _LINE * line
        for sign, text, begin in shown:
            if sign:
                _sign(painter, sign, QRectF(begin, y + 2, 10, 10))
            words = QRectF(begin + (_SIGN if sign else 0.0), y, frame.width - _EDGE - begin, 14)
            paint.text(painter, words, text, colours.muted, 11)


def _sign(painter: QPainter, sign: str, rect: QRectF) -> None:
    """A sign of the legend."""
    colours = theme.tokens()
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if sign == "cross":
        painter.setPen(paint.pen(colours.error, 1.2))
        painter.drawLine(rect.topLeft(), rect.bottomRight())
        painter.drawLine(rect.topRight(), rect.bottomLeft())
    elif sign == "took":
        painter.fillRect(rect.adjusted(1, 0, -1, 0), paint.brush(colours.warning_fill))
    elif sign == "line":
        painter.setPen(paint.pen(colours.text_strong, 1.2))
        painter.drawLine(QPointF(rect.x(), rect.center().y()), QPointF(rect.right(), rect.center().y()))
    elif sign == "band":
        painter.setPen(paint.pen(colours.text, 1))
        for x in (rect.x() + 2, rect.right() - 2):
            painter.drawLine(QPointF(x, rect.y()), QPointF(x, rect.bottom()))
    elif sign == "dot":
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.brush(colours.text_strong))
        painter.drawEllipse(rect.center(), 3, 3)
    else:
        painter.fillRect(rect, paint.brush(colours.line, 90))
