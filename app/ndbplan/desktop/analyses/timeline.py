"""Timelines of phases: one lane for each operation, one block for each phase, to scale."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QSizePolicy, QToolTip, QWidget

from ndbplan.base.units import format_duration
from ndbplan.desktop.analyses import time_axis
from ndbplan.desktop.analyses.day_behind import HEAD, STEP, Day, DayBehind, Scale
from ndbplan.desktop.analyses.lane_words import Row, Words, paint_line, paint_name, words
from ndbplan.desktop.analyses.lanes import PHASES, ROOM_BESIDE, Lane, length_s, scales
from ndbplan.desktop.analyses.panel import bring_into_view, seen_height
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.widgets.explain import Explanation, range_text

_LANE, _BLOCK, _BELOW = 38, 22, 16
NAME_WIDTH = 132
"""Of the names on the left."""
_WIDE_ENOUGH = 12
"""Pixels of a step from which on it has a whisker of its own."""
_NEAR_PX = 6.0
"""Within which a start that is dragged comes to rest at the best one."""
_DARKER = 45
"""Percent by which each further round of the colours is darker."""
_SHADES = 3
"""Rounds after which the colours begin anew."""
_STEPS = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}


class Timeline(QWidget):
    """The lanes over one time axis. Click a block or a total for its derivation; arrow keys walk.

    With the schedule of a load the axis is its clock and what is offered lies behind: drag the start, or move
    it with Shift and an arrow key; Home takes it to the best one.
    """

    moved = Signal(float)
    """They begin at another moment of the schedule."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._lanes: tuple[Lane, ...] = ()
        self._axis_s, self._shorter = scales(())
        self._day: Day | None = None
        self._start_s = 0.0
        self._whole = True
        self._held: tuple[float, float] | None = None
        """Where the pointer went down, and the start then."""
        self._is_dragged = False
        self._picked: tuple[int, int] | None = None
        self._numbers: dict[str, int] = {}
        """By which each phase has its colour."""
        self._rows: list[Row] | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        theme.theme().changed.connect(self.update)

    def show_lanes(self, lanes: Sequence[Lane]) -> None:
        """Draw other lanes."""
        self._lanes = tuple(lanes)
        self._axis_s, self._shorter = scales(self._lanes)
        names = dict.fromkeys(block.name for lane in self._lanes for block in lane.blocks)
        # Phases keep the number they have in the engine's list, so that a lane less changes no colour.
        known = {name: i for i, name in enumerate(PHASES)}
        more = [name for name in names if name not in known]
        self._numbers = {**known, **{name: len(known) + i for i, name in enumerate(more)}}
        self._picked = None
        self._lay_out()
        self._describe()

    def show_day(self, day: Day | None, start_s: float | None = None) -> None:
        """Lay a schedule behind, and begin at a moment of it; None: at the best one. No day: nothing."""
        self._day, self._start_s = day, 0.0
        if day is not None:
            self._start_s = day.windows.best.start_s if start_s is None else day.begin(start_s)
        self._lay_out()
        self._describe()

    def show_whole(self, whole: bool) -> None:
        """Whether the axis is all of the schedule, or as long as the operations."""
        self._whole = whole
        self._lay_out()
        self.update()

    @property
    def day(self) -> Day | None:
        """The schedule that lies behind."""
        return self._day

    @property
    def start_s(self) -> float:
        """When the operations begin, from the start of the schedule."""
        return self._start_s

    def move_to(self, start_s: float) -> None:
        """Let them begin at another moment of the schedule."""
        start_s = self._start_s if self._day is None else self._day.begin(start_s)
        if start_s != self._start_s:
            self._start_s, self._rows = start_s, None
            self._describe()
            self.moved.emit(start_s)

    def to_best(self) -> None:
        """Let them begin where least is offered."""
        if self._day is not None:
            self.move_to(self._day.windows.best.start_s)

    def _describe(self) -> None:
        told = [f"{lane.name} {format_duration(lane.duration_s.value)}" for lane in self._lanes]
        if self._day is not None:
            told += [self._day.in_words(self._day.windows.at(self._start_s)), self._day.proposed()]
        self.setAccessibleDescription("; ".join(told))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(500, max(round(self._laid_out()[-1].top), self._head + _LANE) + time_axis.HEIGHT)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        scale, high = self.scale(), self._foot
        behind = None if self._day is None else DayBehind(self._day, self._start_s, scale)
        if behind is not None:
            behind.paint_field(painter, high)
        time_axis.paint(painter, scale, self._head, high, self._day is not None)
        for row in range(self._lanes_seen()):
            self._paint_lane(painter, row, self._lanes[row])
        if behind is not None:
            behind.paint_head(painter, NAME_WIDTH - 10)

    def _paint_lane(self, painter: QPainter, row: int, lane: Lane) -> None:
        colours = theme.tokens()
        y = self._laid_out()[row].top
        painter.setFont(theme.font(12, 500))
        painter.setPen(QColor(colours.text))
        painter.drawText(QRectF(0, y, NAME_WIDTH - 8, 20), Qt.AlignmentFlag.AlignVCenter, lane.name)
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
        colours = theme.tokens()
        painter.setFont(theme.font(11))
        for column, block in enumerate(lane.blocks):
            picked = self._picked == (row, column)
            painter.setPen(QPen(QColor(colours.text_strong), 1.5) if picked else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.colour_of(block.name)))
            painter.drawRoundedRect(self._box(row, column), 3, 3)
        if not lane.blocks:
            return
        said, y = self._laid_out()[row].words, self._box(row, 0).center().y()
        for column in said.inside:
            paint_name(painter, self._box(row, column), lane.blocks[column].name)
        if self.shorter(row) > 1:
            x = self._beside(row)
            # The steps of so long an operation are many, and told when pointed at.
            shorter = f"{self.shorter(row):.0f}"
            texts = (f"drawn {shorter} times as short", f"1/{shorter} as long", f"÷ {shorter}")
            room = QRectF(x, y - 9, self.width() - x, 18)
            paint.fitting(painter, room, texts, colours.muted, 11)
            return
        names = [(block.name, self.colour_of(block.name)) for block in lane.blocks]
        paint_line(painter, said.beside, names, y)
        paint_line(painter, said.below, names, y + _LANE / 2 + 5)

    def _beside(self, row: int) -> float:
        """Where the words beside a lane begin."""
        lane = self._lanes[row]
        return max(sum(self._span(row, len(lane.blocks) - 1)), self._x_of(row, lane.duration_s.high)) + 10

    def _laid_out(self) -> list[Row]:
        """Where each lane begins and its names stand at this width; last of all where they end."""
        if self._rows is None:
            rows, top = list[Row](), float(self._head)
            for row, lane in enumerate(self._lanes):
                blocks = [(b.name, *self._span(row, column)) for column, b in enumerate(lane.blocks)]
                # On a whole day blocks are narrow and their names many, as are the steps of a lane that is
                # drawn shorter: those that do not fit are told when pointed at.
                is_crowded = self.shorter(row) > 1 or (self._day is not None and self._whole)
                beside = self._beside(row) if blocks else 0.0
                said = words(blocks, beside, 0.0 if is_crowded else float(self.width()))
                rows.append(Row(top, said))
                top += _LANE + (_BELOW if said.below else 0)
            self._rows = [*rows, Row(top, Words())]
        return self._rows

    def _lay_out(self) -> None:
        self._rows = None
        self.setFixedHeight(self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay_out()

    def _paint_whiskers(self, painter: QPainter, row: int, lane: Lane) -> None:
        """A thin line over the lane from the least to the most that it may take."""
        low, high = (self._x_of(row, end) for end in (lane.duration_s.low, lane.duration_s.high))
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

    def _x_of(self, row: int, at_s: float) -> float:
        """Where a moment of a lane after the start lies, at most at the edge."""
        scale = self.scale()
        width = scale.width * (ROOM_BESIDE if self.shorter(row) > 1 else 1.0)
        return min(scale.left + width, scale.x(self._start_s + at_s / self.shorter(row)))

    def colour_of(self, name: str) -> str:
        """The colour of a phase, the same in every lane."""
        tokens, number = theme.tokens(), self._numbers.get(name, 0)
        again, place = divmod(number, len(tokens.series))
        colour = QColor(tokens.series[place])
        # With more phases than colours the next ones are darker, so that no two near ones look the same; of
        # hundreds the last would be as dark as the ground.
        return colour.darker(100 + _DARKER * (again % _SHADES)).name()

    def shorter(self, row: int) -> float:
        """How many times as short a lane is drawn as the axis says: beside a load all share its clock."""
        return self._shorter[row] if self._day is None else 1.0

    @property
    def _foot(self) -> int:
        """Where the axis begins: below the lanes, or at the edge of what scrolls them."""
        return seen_height(self) - time_axis.HEIGHT

    def _lanes_seen(self) -> int:
        """How many lanes there is room for above the axis: half a lane tells half of a duration."""
        ends = [row.top for row in self._laid_out()[1:]]
        return max(min(1, len(ends)), bisect_right(ends, self._foot))

    @property
    def _head(self) -> int:
        return 0 if self._day is None else HEAD

    def scale(self) -> Scale:
        """The axis: a whole schedule and what goes on behind its end, or what is done from the start on."""
        longest_s, from_s = self._axis_s if self._day is None else length_s(self._lanes), self._start_s
        if self._day is not None and self._whole:
            longest_s, from_s = self._day.windows.schedule.length_s + longest_s, 0.0
        return Scale(float(NAME_WIDTH), max(10.0, self.width() - NAME_WIDTH - 4.0), from_s, longest_s)

    def _span(self, row: int, column: int) -> tuple[float, float]:
        """Where a block begins, and how wide it is."""
        axis = self.scale()
        lane = self._lanes[row]
        whole = sum(block.duration_s.value for block in lane.blocks)
        # Phases of lanes whose total is less than their sum overlap: they are drawn to the total's scale.
        scale = (
            axis.width / axis.span_s * (lane.duration_s.value / whole if whole else 1.0) / self.shorter(row)
        )
        start = sum(block.duration_s.value for block in lane.blocks[:column]) * scale
        size = max(1.0, lane.blocks[column].duration_s.value * scale - 1)
        return axis.x(self._start_s) + start, size

    def _box(self, row: int, column: int) -> QRectF:
        x, width = self._span(row, column)
        return QRectF(x, self._laid_out()[row].top + (_LANE - _BLOCK) / 2 - 1, width, _BLOCK)

    def _at(self, place: QPoint) -> tuple[int, int] | None:
        tops = [row.top for row in self._laid_out()]
        row = bisect_right(tops, place.y()) - 1
        if not 0 <= row < self._lanes_seen():
            return None
        if place.x() < NAME_WIDTH:
            return (row, -1)
        for column in range(len(self._lanes[row].blocks)):
            if self._box(row, column).contains(place):
                return (row, column)
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._held is None:
            self._pick(self._at(event.position().toPoint()))
            if self._picked is None and self._day is not None and x >= NAME_WIDTH:
                self.setCursor(Qt.CursorShape.SizeHorCursor)
            return
        pressed_x, begun_s = self._held
        if self._is_dragged or abs(x - pressed_x) >= QApplication.startDragDistance():
            self._is_dragged = True
            self._drag_to(begun_s + self.scale().span_s * (x - pressed_x) / self.scale().width)

    def _drag_to(self, start_s: float) -> None:
        """Begin there, or at the best start where that is near."""
        if self._day is None:
            return
        best_s = self._day.windows.best.start_s
        near_s = _NEAR_PX * self.scale().span_s / self.scale().width
        self.move_to(best_s if abs(start_s - best_s) <= near_s else start_s)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pick(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        # The press must not start anything in what lies behind.
        event.accept()
        x = event.position().x()
        if event.button() == Qt.MouseButton.LeftButton and self._day is not None and x >= NAME_WIDTH:
            self._held, self._is_dragged = (x, self._start_s), False

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        was_dragged, self._held, self._is_dragged = self._is_dragged, None, False
        if event.button() != Qt.MouseButton.LeftButton or was_dragged:
            return
        place, x = self._at(event.position().toPoint()), event.position().x()
        if place is not None:
            self._open(place)
        elif self._day is not None and self._whole and x >= NAME_WIDTH:
            self._drag_to(self.scale().moment(x))

    def _move_by_key(self, event: QKeyEvent) -> bool:
        if self._day is None:
            return False
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if event.key() == Qt.Key.Key_Home:
            self.to_best()
        elif steps and event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            schedule = self._day.windows.schedule
            to_s = self._start_s + steps * STEP * schedule.length_s
            self.move_to(to_s if schedule.repeats else max(0.0, to_s))
        else:
            return False
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._move_by_key(event):
            return
        places = [(r, c) for r, lane in enumerate(self._lanes) for c in range(-1, len(lane.blocks))]
        if not places:
            super().keyPressEvent(event)
            return
        at = places.index(self._picked) if self._picked in places else -1
        key = Qt.Key(event.key())
        if key in _STEPS:
            self._pick_in_sight(places[(at + _STEPS[key]) % len(places)])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._picked is not None:
            self._open(self._picked)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            place = self._at(event.pos())
            text = self.tip(place) if place else ""
            if not text and self._day is not None and event.pos().x() >= NAME_WIDTH:
                text = self._day.at(self.scale().moment(event.pos().x()))
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def tip(self, place: tuple[int, int]) -> str:
        """What there is to say about a block, or (column −1) a whole lane."""
        lane = self._lanes[place[0]]
        if place[1] < 0:
            text = f"{lane.name}: {format_duration(lane.duration_s.value)}, {range_text(lane.duration_s)}"
            times = self.shorter(place[0])
            return f"{text}\nDrawn {times:.0f} times as short as the axis says" if times > 1 else text
        block = lane.blocks[place[1]]
        text = f"{block.name}: {format_duration(block.duration_s.value)}, {range_text(block.duration_s)}"
        return f"{text}\n{block.note}" if block.note else text

    def _pick(self, place: tuple[int, int] | None) -> None:
        if place != self._picked:
            self._picked = place
            self.setCursor(Qt.CursorShape.PointingHandCursor if place else Qt.CursorShape.ArrowCursor)
            self.update()

    def _pick_in_sight(self, place: tuple[int, int]) -> bool:
        self._pick(place)
        return bring_into_view(
            self, round(self._laid_out()[place[0]].top) + _LANE // 2, 2 * _LANE + time_axis.HEIGHT
        )

    def bring(self, name: str) -> bool:
        """Bring a lane into view, with what follows it; false: it has no room yet."""
        rows = (row for row, lane in enumerate(self._lanes) if lane.name == name)
        return all(self._pick_in_sight((row, -1)) for row in rows)

    def _open(self, place: tuple[int, int]) -> None:
        lane = self._lanes[place[0]]
        quantity = lane.duration_s if place[1] < 0 else lane.blocks[place[1]].duration_s
        title = lane.name if place[1] < 0 else f"{lane.name}: {lane.blocks[place[1]].name}"
        x = 0 if place[1] < 0 else self._box(*place).left()
        how = "" if place[1] < 0 else lane.blocks[place[1]].text
        popover = Explanation(quantity, title, self, how, near_runs=lane.near_runs)
        popover.show_at(self.mapToGlobal(QPoint(round(x), round(self._laid_out()[place[0]].top) + _LANE - 6)))
