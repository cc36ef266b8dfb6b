"""The events of the workload over the time of the run: dragged to another moment, removed, opened.

Events after the end of a shorter run share an arrow at the right edge, from which they are dragged into it.
It draws and asks; who shows it turns what was asked for into edits of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPolygonF,
)
from PySide6.QtWidgets import QApplication, QMenu, QSizePolicy, QToolTip, QWidget

from ndbplan.base.units import format_clock
from ndbplan.desktop.look import paint, theme
from ndbplan.desktop.look.text import elided, text_width
from ndbplan.desktop.widgets.menu_heading import heading

HEIGHT = 16
EDGE = 7
"""Room at both ends, as half a handle of the slider below takes: both have a moment at the same place."""
_REACH = 7
"""Pixels beside a mark at which the pointer takes hold of it."""
_TEXT_PX = 11
_FINE_BELOW_S = 60.0
_BESIDE, _LEAST_WORDS = 9, 40
"""Pixels from the middle of a mark to its words, and those that a text is worth being cut to."""


class Shown(NamedTuple):
    """One event as the track shows it."""

    at_s: float
    text: str


class EventTrack(QWidget):
    """A lane with a mark for each event."""

    moved = Signal(int, float)
    """An event was dragged, or moved with a key, to a moment: its number and the moment in seconds."""
    removed = Signal(int)
    opened = Signal(int)
    """Somebody wants to see all of an event."""
    wanted_at = Signal(float, QPoint)
    """Somebody wants a new event at this moment; place of the screen."""

    def __init__(self) -> None:
        super().__init__()
        self._events: tuple[Shown, ...] = ()
        self._length_s = 0.0
        self._current = -1
        self._held = -1
        self._held_at_s = 0.0
        self._pressed_x = 0.0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Events of the workload")
        theme.theme().changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)

    def show_events(self, events: Sequence[Shown], length_s: float) -> None:
        """Show these events of a run of this length."""
        self._events, self._length_s = tuple(events), length_s
        self._held = -1
        self._current = min(self._current, len(self._events) - 1)
        self._describe()
        self.update()

    @property
    def events(self) -> tuple[Shown, ...]:
        """What it shows."""
        return self._events

    @property
    def current(self) -> int:
        """Number of the event that keys act on; -1: none."""
        return self._current

    def x_of(self, at_s: float) -> float:
        """Where a moment lies, in pixels."""
        share = at_s / self._length_s if self._length_s > 0 else 0.0
        return EDGE + min(1.0, share) * (self.width() - 2 * EDGE)

    def moment_at(self, x: float) -> float:
        """The moment at a place: whole seconds, tenths in a short run."""
        share = max(0.0, min(1.0, (x - EDGE) / max(1, self.width() - 2 * EDGE)))
        return self.rounded(share * self._length_s)

    def before_end(self, at_s: float) -> float:
        """The same moment; of the end, after which nothing would come of an event, the middle."""
        rounded_s = self.rounded(at_s)
        return rounded_s if rounded_s < self._length_s else self.rounded(self._length_s / 2)

    def rounded(self, at_s: float) -> float:
        """A moment as a person would say it: whole seconds, tenths in a short run."""
        return round(at_s, 1 if self._length_s < _FINE_BELOW_S else 0)

    def event_at(self, x: float) -> int:
        """Number of the event whose mark is nearest to a place; -1: none is near.

        Of those after the end, which share a mark, it is the chosen one, else the next to come.
        """
        near = [
            (abs(self.x_of(event.at_s) - x), self.is_late(i), i != self._current, event.at_s, i)
            for i, event in enumerate(self._events)
        ]
        distance, *_, number = min(near, default=(_REACH + 1.0, -1))
        return number if distance <= _REACH else -1

    def is_late(self, number: int) -> bool:
        """Whether an event comes after the end of the run."""
        return self._moment(number) > self._length_s

    # Pointer

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._pressed_x = event.position().x()
        self._held = self.event_at(self._pressed_x)
        if self._held >= 0:
            self._held_at_s = self._events[self._held].at_s
        self._choose(self._held)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        x = event.position().x()
        if self._held < 0:
            over = self.event_at(x) >= 0
            self.setCursor(Qt.CursorShape.SizeHorCursor if over else Qt.CursorShape.ArrowCursor)
            return
        if abs(x - self._pressed_x) < QApplication.startDragDistance() and not self._is_moved:
            return
        self._held_at_s = self.moment_at(x)
        self._say(self._held, self._held_at_s, event.globalPosition().toPoint())
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        held, moved = self._held, self._is_moved
        self._held = -1
        self.update()
        if held >= 0 and moved:
            self.moved.emit(held, self._held_at_s)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._held = -1
        number = self.event_at(event.position().x())
        if number >= 0:
            self.opened.emit(number)
        else:
            self.wanted_at.emit(self.moment_at(event.position().x()), event.globalPosition().toPoint())

    @property
    def _is_moved(self) -> bool:
        return self._held >= 0 and self._held_at_s != self._events[self._held].at_s

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        number = self._current if keyboard else self.event_at(event.pos().x())
        at_s = self._events[number].at_s if number >= 0 else self.moment_at(event.pos().x())
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if number >= 0:
            self._choose(number)
            heading(menu, self._events[number].text)
            menu.addAction(theme.icon("pencil"), "Edit", partial(self.opened.emit, number))
            menu.addAction(theme.icon("trash-2"), "Remove\tDel", partial(self.removed.emit, number))
        menu.addAction(
            theme.icon("plus"),
            f"Add an event at {format_clock(at_s)}…",
            partial(self.wanted_at.emit, at_s, event.globalPos()),
        )
        menu.popup(event.globalPos())

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, current = event.key(), self._current
        count = len(self._events)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and count:
            in_time = sorted(range(count), key=lambda i: self._events[i].at_s)
            at = in_time.index(current) if current >= 0 else -1
            self._choose(in_time[(at + (1 if key == Qt.Key.Key_Down else -1)) % count])
        elif current < 0 or count == 0:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            step_s = max(self._length_s / 100, 0.1)
            if key == Qt.Key.Key_Left:
                at_s = max(0.0, min(self._events[current].at_s, self._length_s) - step_s)
                self.moved.emit(current, self.rounded(at_s))
            elif not self.is_late(current):
                at_s = min(self._length_s, self._events[current].at_s + step_s)
                self.moved.emit(current, self.rounded(at_s))
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit(current)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(current)
        else:
            super().keyPressEvent(event)

    def _choose(self, number: int) -> None:
        self._current = number
        self._describe()
        self.update()

    def _describe(self) -> None:
        if self._current >= 0:
            self.setAccessibleDescription(self._in_words(self._current))
        else:
            self.setAccessibleDescription(f"{len(self._events)} events")

    # Looks

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            number = self.event_at(event.pos().x())
            if number >= 0:
                self._say(number, self._events[number].at_s, event.globalPos())
            else:
                QToolTip.showText(event.globalPos(), "Events of the workload: double click adds one", self)
            return True
        return super().event(event)

    def _say(self, number: int, at_s: float, where: QPoint) -> None:
        late = self._late() if self.is_late(number) else []
        lines = [self._in_words(i) for i in late] or [f"{self._events[number].text} · {format_clock(at_s)}"]
        QToolTip.showText(where, "\n".join(lines), self)

    def _late(self) -> list[int]:
        """Numbers of the events after the end, in time."""
        late = [i for i in range(len(self._events)) if self.is_late(i)]
        return sorted(late, key=lambda i: self._events[i].at_s)

    def _in_words(self, number: int) -> str:
        late = ", after the end of this run" if self.is_late(number) else ""
        return f"{self._events[number].text} at {format_clock(self._moment(number))}{late}"

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours, middle = theme.tokens(), self.height() / 2
        painter.setPen(paint.pen(colours.line, 1.0))
        painter.drawLine(EDGE, round(middle), self.width() - EDGE, round(middle))
        for number in range(len(self._events)):
            if not self.is_late(number):
                self._paint_mark(painter, number)
        late = self._late()
        if late:
            self._paint_mark(painter, self._current if self._current in late else late[0])
        for room, words in self.words():
            painter.fillRect(room.adjusted(-2, 4, 2, -4), paint.brush(colours.panel))
            paint.text(painter, room, words, colours.muted, _TEXT_PX, 500)

    def words(self) -> list[tuple[QRectF, str]]:
        """What stands beside the marks, where it has room: a place and its text each."""
        shown = [(self.x_of(self._moment(i)), i) for i in range(len(self._events)) if not self.is_late(i)]
        marks: list[tuple[float, tuple[str, ...]]] = [(x, (self._events[i].text,)) for x, i in sorted(shown)]
        late = self._late()
        if late:
            marks.append((self.x_of(self._length_s), self._said_of_late(late)))
        placed: list[tuple[QRectF, str]] = []
        end = float(self.width())
        for nth, (x, texts) in reversed(list(enumerate(marks))):
            widths = [text_width(text, _TEXT_PX, 500) for text in texts]
            left, right, text = x + _BESIDE, end, texts[0]
            if right - left < min(widths[0], _LEAST_WORDS) and nth + 1 == len(marks):
                room = x - (marks[nth - 1][0] if nth else 0.0) - 2 * _BESIDE
                fits = next((one for one in zip(widths, texts, strict=True) if one[0] < room), None)
                if fits is not None:
                    left, right, text = x - _BESIDE - fits[0], x - _BESIDE, fits[1]
            width = text_width(text, _TEXT_PX, 500)
            if right - left >= min(width, _LEAST_WORDS):
                room = min(width + 4, right - left)
                # Whom it befalls stands at its begin, and what at its end: `host-a1 …1 at 20 %`.
                said = elided(text, _TEXT_PX, 500, room, Qt.TextElideMode.ElideMiddle)
                placed.append((QRectF(left, 0, room, self.height()), said))
            end = min(x, left) - 8
        return placed

    def _said_of_late(self, late: list[int]) -> tuple[str, ...]:
        """What is said beside the mark of events after the end, and in less room."""
        one, tail = self._events[late[0]], "after the end"
        if len(late) > 1:
            return f"{len(late)} events {tail}", f"{len(late)} {tail}"
        at = f"at {format_clock(one.at_s)}, {tail}"
        return f"{one.text} {at}", at, tail

    def _moment(self, number: int) -> float:
        return self._held_at_s if number == self._held else self._events[number].at_s

    def _paint_mark(self, painter: QPainter, number: int) -> None:
        """A diamond at its moment; of one after the end an arrow that points there."""
        x, middle, colours = self.x_of(self._moment(number)), self.height() / 2, theme.tokens()
        size = 5.5 if number in (self._held, self._current) else 4.5
        chosen = number == self._current and self.hasFocus()
        ink = colours.accent if chosen or number == self._held else colours.info
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(paint.brush(ink))
        corners = [(x, middle - size), (x + size, middle), (x, middle + size)]
        if not self.is_late(number):
            corners.append((x - size, middle))
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))
