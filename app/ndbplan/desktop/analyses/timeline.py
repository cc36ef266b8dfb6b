"""Timelines of phases: one lane for each operation, one block for each phase, to scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_duration
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.explain import Explanation, range_text

_LANE, _BLOCK, _AXIS = 38, 22, 20
NAME_WIDTH = 132
"""Of the names on the left."""
_MOST_TICKS = 6
_WIDE_ENOUGH = 12
"""Pixels of a step from which on it has a whisker of its own."""
_DARKER = 45
"""Percent by which each further round of the colours is darker."""
_SHADES = 3
"""Rounds after which the colours begin anew."""
STEPS_S = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 604_800,
)  # fmt: skip


PHASES = (
    "allocate memory", "start permission and metadata", "restore from local checkpoint", "execute redo log",
    "rebuild ordered indexes", "copy fragments", "wait for local checkpoint", "wait for subscriptions",
    "create redo log files", "execute undo log", "first local checkpoint", "stop",
)  # fmt: skip
"""Phases of restarts, so that each has the same colour whatever else is shown."""


@dataclass(frozen=True)
class Block:
    """One phase."""

    name: str
    duration_s: Quantity
    note: str = ""
    text: str = ""
    """How it is done, as Markdown; nothing: nobody does it by hand."""


@dataclass(frozen=True)
class Lane:
    """One operation with its phases, one after the other."""

    name: str
    duration_s: Quantity
    blocks: tuple[Block, ...]


class Timeline(QWidget):
    """The lanes over one time axis. Click a block or a total for its derivation; arrow keys walk."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._lanes: tuple[Lane, ...] = ()
        self._behind: tuple[tuple[float, float], ...] = ()
        self._picked: tuple[int, int] | None = None
        self._numbers: dict[str, int] = {}
        """By which each phase has its colour."""
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        theme.theme().changed.connect(self.update)

    def show_lanes(self, lanes: Sequence[Lane]) -> None:
        """Draw other lanes."""
        self._lanes = tuple(lanes)
        names = dict.fromkeys(block.name for lane in self._lanes for block in lane.blocks)
        # Phases keep the number they have in the engine's list, so that a lane less changes no colour.
        known = {name: i for i, name in enumerate(PHASES)}
        more = [name for name in names if name not in known]
        self._numbers = {**known, **{name: len(known) + i for i, name in enumerate(more)}}
        self._picked = None
        self.setFixedHeight(self.sizeHint().height())
        self.setAccessibleDescription(
            "; ".join(f"{lane.name} {format_duration(lane.duration_s.value)}" for lane in self._lanes)
        )
        self.update()

    def show_behind(self, curve: Sequence[tuple[float, float]]) -> None:
        """What is offered meanwhile, behind the lanes: seconds from their start, share of a peak."""
        self._behind = tuple(curve)
        self.update()

    @property
    def longest_s(self) -> float:
        """Time that the axis shows."""
        return self._longest_s()

    def sizeHint(self) -> QSize:
        return QSize(500, _LANE * max(1, len(self._lanes)) + _AXIS)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, width = self._scale_box()
        longest = self._longest_s()
        self._paint_behind(painter, left, width)
        painter.setFont(theme.font(11))
        step = next((s for s in STEPS_S if longest / s <= _MOST_TICKS), longest / _MOST_TICKS)
        for i in range(int(longest / step) + 1):
            x = left + width * i * step / longest
            painter.setPen(QPen(QColor(colours.grid), 1))
            painter.drawLine(round(x), 0, round(x), self.height() - _AXIS)
            painter.setPen(QColor(colours.muted))
            text = format_duration(i * step) if i else "0"
            box = QRectF(x - (0 if i == 0 else 60), self.height() - _AXIS + 3, 120, 16)
            box.moveRight(min(box.right(), float(self.width())))
            side = Qt.AlignmentFlag.AlignLeft if i == 0 else Qt.AlignmentFlag.AlignHCenter
            painter.drawText(box, side, text)
        for row, lane in enumerate(self._lanes):
            self._paint_lane(painter, row, lane)

    def _paint_behind(self, painter: QPainter, left: float, width: float) -> None:
        if not self._behind:
            return
        high, longest, colours = self.height() - _AXIS, self._longest_s(), theme.tokens()
        line = [QPointF(left + width * at / longest, high * (1 - share)) for at, share in self._behind]
        area = QPolygonF([*line, QPointF(line[-1].x(), high), QPointF(line[0].x(), high)])
        fill = QColor(colours.info)
        fill.setAlpha(26)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(area)
        fill.setAlpha(110)
        painter.setPen(QPen(fill, 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(line))

    def _paint_lane(self, painter: QPainter, row: int, lane: Lane) -> None:
        colours = theme.tokens()
        y = row * _LANE
        painter.setFont(theme.font(12, 500))
        painter.setPen(QColor(colours.text))
        painter.drawText(
            QRectF(0, y, NAME_WIDTH - 8, 20),
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            lane.name,
        )
        painter.setFont(theme.font(12, 600))
        picked_total = self._picked == (row, -1)
        painter.setPen(QColor(colours.accent if picked_total else colours.text_strong))
        painter.drawText(
            QRectF(0, y + 17, NAME_WIDTH - 8, 18),
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            format_duration(lane.duration_s.value),
        )
        self._paint_blocks(painter, row, lane)
        self._paint_step_whiskers(painter, row, lane)
        self._paint_whiskers(painter, row, lane)

    def _paint_blocks(self, painter: QPainter, row: int, lane: Lane) -> None:
        colours, metrics = theme.tokens(), QFontMetricsF(theme.font(11))
        painter.setFont(theme.font(11))
        left_out: list[str] = []
        for column, block in enumerate(lane.blocks):
            box = self._box(row, column)
            picked = self._picked == (row, column)
            painter.setPen(QPen(QColor(colours.text_strong), 1.5) if picked else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.colour_of(block.name)))
            painter.drawRoundedRect(box, 3, 3)
            if metrics.horizontalAdvance(block.name) <= box.width() - 8:
                painter.setPen(QColor("#0d1017" if colours.is_dark else "#ffffff"))
                painter.drawText(box.adjusted(5, 0, -3, 0), Qt.AlignmentFlag.AlignVCenter, block.name)
            else:
                left_out.append(block.name)
        if not lane.blocks or not left_out:
            return
        # What does not fit into its block stands beside the lane, the longest first.
        times = {block.name: block.duration_s.value for block in lane.blocks}
        left_out.sort(key=lambda name: -times[name])
        x = max(self._box(row, len(lane.blocks) - 1).right(), self._x_of(lane.duration_s.high)) + 10
        y = self._box(row, 0).center().y()
        for name in left_out:
            width = metrics.horizontalAdvance(name)
            if x + width + 14 > self.width():
                break
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.colour_of(name)))
            painter.drawRoundedRect(QRectF(x, y - 4, 8, 8), 2, 2)
            painter.setPen(QColor(colours.muted))
            painter.drawText(QRectF(x + 12, y - 9, width + 4, 18), Qt.AlignmentFlag.AlignVCenter, name)
            x += width + 28

    def _paint_whiskers(self, painter: QPainter, row: int, lane: Lane) -> None:
        """A thin line over the lane from the least to the most that it may take."""
        low, high = self._x_of(lane.duration_s.low), self._x_of(lane.duration_s.high)
        if not lane.blocks or high - low < 2:
            return
        box = self._box(row, 0)
        y = box.bottom() + 3
        painter.setPen(QPen(QColor(theme.tokens().muted), 1.2))
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        for x in (low, high):
            painter.drawLine(QPointF(x, y - 3), QPointF(x, y + 3))

    def _paint_step_whiskers(self, painter: QPainter, row: int, lane: Lane) -> None:
        """Over each step how early and how late it may end, if it begins when it is drawn to begin."""
        painter.setPen(QPen(QColor(theme.tokens().text), 1.0))
        for column, block in enumerate(lane.blocks):
            box, time = self._box(row, column), block.duration_s
            if box.width() < _WIDE_ENOUGH or time.value <= 0:
                continue
            low, high = (box.x() + box.width() * end / time.value for end in (time.low, time.high))
            if high - low < 3:
                continue
            # Neighbours stand on lines of their own: one reaches into the other.
            y, high = box.top() - (2.5 if column % 2 else 5.0), min(high, float(self.width()) - 2)
            painter.drawLine(QPointF(low, y), QPointF(high, y))
            for x in (low, high):
                painter.drawLine(QPointF(x, y - 1.8), QPointF(x, y + 1.8))

    def _x_of(self, at_s: float) -> float:
        left, width = self._scale_box()
        return left + width * min(1.0, at_s / self._longest_s())

    def colour_of(self, name: str) -> str:
        """The colour of a phase, the same in every lane."""
        tokens, number = theme.tokens(), self._numbers.get(name, 0)
        again, place = divmod(number, len(tokens.series))
        colour = QColor(tokens.series[place])
        # With more phases than colours the next ones are darker, so that no two near ones look the same; of
        # hundreds the last would be as dark as the ground.
        return colour.darker(100 + _DARKER * (again % _SHADES)).name()

    def _longest_s(self) -> float:
        longest = max((lane.duration_s.value for lane in self._lanes), default=0.0)
        # Whiskers may go on a little further; what is uncertain by far ends at the edge.
        highest = max((lane.duration_s.high for lane in self._lanes), default=0.0)
        return min(highest, 1.35 * longest) or 1.0

    def _scale_box(self) -> tuple[float, float]:
        return float(NAME_WIDTH), max(10.0, self.width() - NAME_WIDTH - 4.0)

    def _box(self, row: int, column: int) -> QRectF:
        left, width = self._scale_box()
        longest = self._longest_s()
        lane = self._lanes[row]
        whole = sum(block.duration_s.value for block in lane.blocks)
        # Phases of lanes whose total is less than their sum overlap: they are drawn to the total's scale.
        scale = width / longest * (lane.duration_s.value / whole if whole else 1.0)
        start = sum(block.duration_s.value for block in lane.blocks[:column]) * scale
        size = max(1.0, lane.blocks[column].duration_s.value * scale - 1)
        return QRectF(left + start, row * _LANE + (_LANE - _BLOCK) / 2 - 1, size, _BLOCK)

    def _at(self, place: QPoint) -> tuple[int, int] | None:
        row = place.y() // _LANE
        if not 0 <= row < len(self._lanes):
            return None
        if place.x() < NAME_WIDTH:
            return (row, -1)
        for column in range(len(self._lanes[row].blocks)):
            if self._box(row, column).contains(place):
                return (row, column)
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._pick(self._at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pick(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The press must not start anything in what lies behind.
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        place = self._at(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and place is not None:
            self._open(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        places = [(r, c) for r, lane in enumerate(self._lanes) for c in range(-1, len(lane.blocks))]
        if not places:
            super().keyPressEvent(event)
            return
        at = places.index(self._picked) if self._picked in places else -1
        key = Qt.Key(event.key())
        if key in (Qt.Key.Key_Right, Qt.Key.Key_Down):
            self._pick(places[(at + 1) % len(places)])
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Up):
            self._pick(places[(at - 1) % len(places)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._picked is not None:
            self._open(self._picked)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self._at(event.pos())
            QToolTip.showText(event.globalPos(), self.tip(place) if place else "", self)
            return True
        return super().event(event)

    def tip(self, place: tuple[int, int]) -> str:
        """What there is to say about a block, or (column −1) a whole lane."""
        lane = self._lanes[place[0]]
        if place[1] < 0:
            return f"{lane.name}: {format_duration(lane.duration_s.value)}, {range_text(lane.duration_s)}"
        block = lane.blocks[place[1]]
        text = f"{block.name}: {format_duration(block.duration_s.value)}, {range_text(block.duration_s)}"
        return f"{text}\n{block.note}" if block.note else text

    def _pick(self, place: tuple[int, int] | None) -> None:
        if place != self._picked:
            self._picked = place
            self.setCursor(Qt.CursorShape.PointingHandCursor if place else Qt.CursorShape.ArrowCursor)
            self.update()

    def _open(self, place: tuple[int, int]) -> None:
        lane = self._lanes[place[0]]
        quantity = lane.duration_s if place[1] < 0 else lane.blocks[place[1]].duration_s
        title = lane.name if place[1] < 0 else f"{lane.name}: {lane.blocks[place[1]].name}"
        x = 0 if place[1] < 0 else self._box(*place).left()
        how = "" if place[1] < 0 else lane.blocks[place[1]].text
        popover = Explanation(quantity, title, self, how)
        popover.show_at(self.mapToGlobal(QPoint(round(x), place[0] * _LANE + _LANE - 6)))
