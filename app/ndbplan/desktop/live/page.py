"""The page of a live cluster: its canvas, the clock over it, and consoles, log and lesson as docks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFileDialog,
    QMainWindow,
    QMenu,
    QPushButton,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.describe.overlay import NO_LOADS, Loads
from ndbplan.desktop.live.acts import menu_of
from ndbplan.desktop.live.canvas import LiveCanvas
from ndbplan.desktop.live.clock_bar import ClockBar
from ndbplan.desktop.live.console import Console, Log, type_into
from ndbplan.desktop.live.docks import enter, title_bar
from ndbplan.desktop.live.lesson_panel import LessonPanel
from ndbplan.desktop.live.session import Answered, Frame, LiveSession
from ndbplan.desktop.live.transcript import ask_file, save_transcript, write_transcript
from ndbplan.train.completion import Offered, offered
from ndbplan.train.consoles import LESSON, MGM, WORLD
from ndbplan.train.prompts import SESSIONS, SQL, sql_prompt
from ndbplan.train.sight import Sight

if TYPE_CHECKING:
    from ndbplan.train.lessons.files import Read
    from ndbplan.train.lessons.inbox import Inbox
    from ndbplan.train.seat import Seat

_NAMES = {MGM: MGM, SQL: SQL, WORLD: "! what happens"}
_LOG, _LESSON = "Cluster log", "Lesson"
_BOTTOM, _RIGHT = Qt.DockWidgetArea.BottomDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea
_CAME_TRUE = "[lesson] "
"""What a lesson says of itself in an answer."""
_HEARS_MS = 1000
_DOCKS_PX, _DOCKS_SHARE = 300, 0.34
"""Height of consoles and log at first: at most, and of the page."""
PAGE_FILTER = "Pages (*.html)"


class LivePage(QMainWindow):
    """One live cluster, with all that belongs to it; a widget inside of the window."""

    told = Signal(str, str)
    """A level and one line for the message bar."""
    begun = Signal()
    not_begun = Signal(str)
    """Why, in one line."""
    end_wanted = Signal()
    lessons_wanted = Signal()
    guide_wanted = Signal(str)
    scored = Signal(str, float)
    """A lesson that was finished, and its points."""

    def __init__(self, title: str, source: Read | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setAccessibleName("Live cluster")
        self.title = title
        self.source = source
        """The lesson that is played; None: there is none."""
        self.saved = True
        """What a trainee did is in a page, and what was typed without a lesson in a transcript."""
        self.sight: Sight | None = None
        self.consoles: dict[str, Console] = {}
        self._docks: dict[str, QDockWidget] = {}
        self._floated: list[QDockWidget] = []
        self._finished = False
        self._at_rest: Loads = NO_LOADS
        self._found: dict[str, Any] = {}
        """What came of a lesson that is finished."""
        self._inbox: Inbox | None = None
        self._ear = QTimer(self)
        self._ear.setInterval(_HEARS_MS)
        self._ear.timeout.connect(self._hear)
        self.session = LiveSession(self)
        self.canvas = LiveCanvas()
        self.bar = ClockBar()
        self.log = Log()
        self.lesson = LessonPanel() if source is not None else None
        self._build()
        self._connect()

    # Building.

    def _build(self) -> None:
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bar)
        column.addWidget(self.canvas, 1)
        self.setCentralWidget(middle)
        self.setDockOptions(QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        self._more = QPushButton("Consoles")
        self._more.setMenu(QMenu(self._more))
        self._more.menu().aboutToShow.connect(self._fill_consoles)
        self.bar.extra.addWidget(self._more)
        lessons = QPushButton("Lessons…")
        lessons.clicked.connect(self.lessons_wanted)
        end = QPushButton("End")
        end.setToolTip("End the live cluster; the plan is as it was")
        end.clicked.connect(self.end_wanted)
        self.bar.extra.addWidget(lessons)
        self.bar.extra.addWidget(end)
        self._add_console(MGM)
        log = self._dock(_LOG, self.log, _BOTTOM)
        # Before others are tabs of the first: beside a group of tabs it would become one of them.
        self.splitDockWidget(self._docks[MGM], log, Qt.Orientation.Horizontal)
        for prompt in (SQL, WORLD):
            self._add_console(prompt)
        self._docks[MGM].raise_()
        self.tabifiedDockWidgetActivated.connect(type_into)
        self.resizeDocks([self._docks[MGM], log], [620, 480], Qt.Orientation.Horizontal)
        if self.lesson is not None:
            lesson = self._dock(_LESSON, self.lesson, _RIGHT)
            self.resizeDocks([lesson], [380], Qt.Orientation.Horizontal)
            self.bar.branch.hide()
            self.bar.course.setToolTip("Drag back to any second and try again: each time costs points")

    def _dock(self, name: str, content: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(name, self)
        dock.setObjectName(name)
        dock.setWidget(content)
        dock.setAccessibleName(name)
        self.addDockWidget(area, dock)
        self._docks[name] = dock
        return dock

    def _add_console(self, prompt: str) -> Console:
        console = Console(prompt, partial(self._offered, prompt))
        console.entered.connect(self.session.ask)
        self.consoles[prompt] = console
        dock = self._dock(_NAMES.get(prompt, prompt), console, _BOTTOM)
        self._docks[prompt] = self._docks.pop(dock.objectName())
        # The tab says what it is; a window of its own needs a title to be moved by.
        dock.setTitleBarWidget(QWidget(dock))
        dock.topLevelChanged.connect(partial(title_bar, dock))
        if MGM in self._docks and prompt != MGM:
            self.tabifyDockWidget(self._docks[MGM], dock)
        return console

    def _connect(self) -> None:
        session, bar = self.session, self.bar
        session.framed.connect(self._show)
        session.answered.connect(self._answered)
        session.failed.connect(self._failed)
        session.progressed.connect(lambda text: self.canvas.banner.say(text, "info"))
        session.begun.connect(self._begun)
        session.played.connect(bar.show_plays)
        bar.play_wanted.connect(session.play)
        bar.step_wanted.connect(lambda: session.flow(1.0))
        bar.speed_chosen.connect(session.set_speed)
        bar.moment_wanted.connect(self.go_to)
        bar.branch_wanted.connect(session.branch)
        bar.branch_chosen.connect(session.go_to)
        bar.breakpoint_typed.connect(session.stop_when)
        bar.breakpoint_dropped.connect(session.forget)
        self.canvas.menu_wanted.connect(self._open_menu)
        self.canvas.opened.connect(lambda object_id: self._open_menu((object_id,), None))
        if self.lesson is not None:
            self.lesson.said.connect(partial(self.say, LESSON))
            self.lesson.save_wanted.connect(self.save)
            self.lesson.page_wanted.connect(self.guide_wanted)
            self.lesson.had_wanted.connect(self.play_again)

    # Coming and going.

    def begin(self, make: Callable[[], tuple[Seat, Loads]]) -> None:
        """Begin; `make` is called in the session's thread: the seat, and what its plan is at rest."""

        def made() -> Seat:
            seat, self._at_rest = make()
            return seat

        self.session.begin(made)

    def _begun(self) -> None:
        seat = self.session.seat
        assert seat is not None
        self.canvas.show_cluster(seat.cluster.plan, self._at_rest)
        self.canvas.fit()
        self.session.play(True)
        self.consoles[MGM].setFocus()
        if seat.play is not None:
            self.saved = False
            self._listen(seat.play.lesson.name, seat.play.trainee)
        self.begun.emit()

    def _failed(self, line: str) -> None:
        if self.session.seat is None:
            self.not_begun.emit(line)
        else:
            self.told.emit("error", line)

    def _listen(self, lesson: str, trainee: str) -> None:
        """Hear what a trainer on this machine sends."""
        from ndbplan.train.lessons.inbox import Inbox

        try:
            self._inbox = Inbox.opened(lesson, trainee)
        except UserError as error:
            self.told.emit("warning", error.line)
            return
        self._ear.start()

    def _hear(self) -> None:
        inbox = self._inbox
        if inbox is not None:
            for line in inbox.lines():
                self.session.befall(line, partial(inbox.tell, line))

    def close_session(self) -> None:
        """The end: nothing is shown or answered any more."""
        self.session.close()
        self._ear.stop()
        if self._inbox is not None:
            self._inbox.__exit__(None, None, None)
            self._inbox = None
        for dock in self._docks.values():
            dock.hide()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.session.play(False)
        # Those that float are windows of their own, which would stay.
        self._floated = [dock for dock in self._docks.values() if dock.isFloating() and dock.isVisible()]
        for dock in self._floated:
            dock.hide()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for dock in self._floated:
            dock.show()
        if self.sight is None:
            height = min(_DOCKS_PX, round(self.height() * _DOCKS_SHARE))
            self.resizeDocks([self._docks[MGM]], [height], Qt.Orientation.Vertical)

    # What comes from the session.

    def _show(self, frame: Frame) -> None:
        self.sight = frame.sight
        self.canvas.show_sight(frame.sight)
        self.bar.show_frame(frame)
        if frame.lines or frame.is_other_log:
            self.log.take(frame.lines, is_other=frame.is_other_log)
        for prompt, text in frame.news:
            (self.consoles.get(prompt) or self._add_console(prompt)).say(text)
        if frame.stopped_by:
            self.told.emit("info", f"Time stands still: {frame.stopped_by}")
        if frame.is_over and self.lesson is None:
            self.told.emit("info", "The time of this session is over: go back, or end it.")
        if self.lesson is not None and frame.lesson is not None:
            self.lesson.show_progress(frame.lesson)
            if frame.said:
                self.lesson.say(frame.said.replace(_CAME_TRUE, ""))
            if frame.lesson.is_finished and not self._finished:
                self._finished = True
                self.session.play(False)
                self.session.do(self._outcome, self._debrief)

    def _answered(self, answered: Answered) -> None:
        self.saved &= self.source is not None
        lesson, shown = self.lesson, self.consoles.get(answered.source)
        if answered.source == LESSON and lesson is not None:
            lesson.say(answered.text.replace(_CAME_TRUE, ""), is_error=answered.text.startswith("ndbplan: "))
        elif lesson is not None:
            came_true = [one for one in answered.text.splitlines() if one.startswith(_CAME_TRUE)]
            if came_true:
                lesson.say("\n".join(one.removeprefix(_CAME_TRUE) for one in came_true))
        if shown is not None:
            prefix = answered.source if answered.line.startswith(answered.source) else ""
            typed = answered.line if prefix else f"{answered.source} {answered.line}"
            shown.show_answer(typed, answered.text)
        refused = answered.text.startswith("ndbplan: ")
        if answered.source == WORLD and refused and not self._is_in_front(WORLD):
            self.told.emit("warning", answered.text.removeprefix("ndbplan: ").strip())

    def _is_in_front(self, name: str) -> bool:
        return not self._docks[name].widget().visibleRegion().isEmpty()

    # What somebody does.

    def say(self, prompt: str, line: str) -> None:
        """Say a line at a console; nothing to say: bring the console to the front."""
        if prompt != LESSON and (prompt not in self.consoles or not line):
            self.open_console(prompt)
        if line:
            if prompt == MGM:
                self.open_console(prompt)
            self.session.ask(prompt, line)

    def go_to(self, at_s: float) -> None:
        """Go back to a moment of the session, or let the time until a later one pass."""
        now_s = self.sight.at_s if self.sight is not None else 0.0
        line = f"rewind to {at_s:g}s" if at_s < now_s else f"wait {round(at_s - now_s, 1):g}s"
        self.session.ask(WORLD, line)

    def open_console(self, prompt: str) -> Console:
        """Bring a console to the front, with the line to type."""
        console = self.consoles.get(prompt) or self._add_console(prompt)
        dock = self._docks[prompt]
        dock.show()
        dock.raise_()
        console.setFocus(Qt.FocusReason.OtherFocusReason)
        return console

    def _offered(self, prompt: str, text: str) -> Offered:
        plan = self.sight.plan if self.sight is not None else self.canvas.document.plan
        return offered(text, prompt, plan)

    def _open_menu(self, ids: tuple[str, ...], where: QPoint | None) -> None:
        if self.sight is not None:
            at = where or self.canvas.mapToGlobal(self.canvas.rect().center())
            allows = None if self.source is None else self.source.value.allows
            menu_of(self.canvas, ids, self.sight, self.say, at, allows).popup(at)

    def _fill_consoles(self) -> None:
        menu = self._more.menu()
        menu.clear()
        sessions = [sql_prompt(number) for number in range(1, SESSIONS + 1)]
        for prompt in (MGM, *(one for one in sessions if one in self.consoles), WORLD):
            menu.addAction(_NAMES.get(prompt, prompt), partial(self.open_console, prompt))
        another = next((one for one in sessions if one not in self.consoles), "")
        if another:
            menu.addAction(f"Another session: {another}", partial(self.open_console, another))
        hosts = menu.addMenu("Shell of a host")
        for host in self.canvas.document.plan.hosts:
            hosts.addAction(f"{host.hostname}$", partial(self.open_console, f"{host.hostname}$"))
        menu.addSeparator()
        for name in (_LOG, _LESSON):
            if name in self._docks:
                menu.addAction(self._docks[name].toggleViewAction())
        if self.source is None:
            menu.addSeparator()
            menu.addAction("Save transcript…", self._save_transcript)

    def focus_next(self) -> None:
        """Go on to the next part of the page: canvas, clock, the consoles in front, log, lesson."""
        from ndbplan.desktop.widgets.focus_ring import focus_next

        focus_next([(part, partial(enter, part)) for part in self._parts()])

    def _parts(self) -> tuple[QWidget, ...]:
        # Of docks in tabs only the one in front is to be seen, and all count as visible.
        docks = [
            content
            for dock in dict.fromkeys(self._docks.values())
            if dock.isVisible() and not (content := dock.widget()).visibleRegion().isEmpty()
        ]
        return (self.canvas, self.bar, *docks)

    def stay_in(self, lost: QWidget) -> None:
        """Give the focus of what was hidden or switched off to the part that it is in."""
        enter(next((part for part in self._parts() if part.isAncestorOf(lost)), self.canvas))

    # The page of a lesson, or what was typed without one.

    @property
    def can_save(self) -> bool:
        """Whether there is something to save: a transcript, or the page to hand in once a lesson is over."""
        return self.source is None or bool(self._found)

    def _save_transcript(self) -> None:
        def written() -> None:
            self.saved = True

        save_transcript(self, self.session, self.told.emit, written)

    def ask_page(self) -> Path | None:
        """Which file the page to hand in is written to."""
        start = Path.home() / f"{self.source.value.name if self.source else 'lesson'}.html"
        name, _ = QFileDialog.getSaveFileName(self, "Save the page to hand in", str(start), PAGE_FILTER)
        return Path(name) if name else None

    def _outcome(self, seat: Seat) -> dict[str, Any]:
        from ndbplan.train.lessons.result import outcome

        assert seat.play is not None
        assert self.source is not None
        return outcome(seat.play, self.source.source)

    def _debrief(self, found: Any) -> None:
        from ndbplan.train.lessons.result import lines

        self._found = found
        self.scored.emit(found["lesson"], found["score"])
        if self.lesson is not None:
            self.lesson.show_debriefing(list(lines(found)))

    def play_again(self, text: str) -> None:
        """Play the lesson once more with a line more at a moment, and show both ends."""
        from ndbplan.train.lessons.debrief import Had, asked, compared, had

        lesson, source, found = self.lesson, self.source, self._found
        if lesson is None or source is None or not found or not text:
            return

        def show(both: object) -> None:
            if isinstance(both, Had):
                lesson.debriefing.show_had(both.answer, compared(both))
                lesson.say("")
            else:
                lesson.say(str(both), is_error=True)

        def work(_seat: Seat) -> object:
            try:
                return had(found, source, *asked(text, source.value.clock))
            except UserError as error:
                return error.line

        lesson.say("It is played again…")
        self.session.do(work, show)

    def save(self) -> bool:
        """Write the page to hand in, or the transcript; False: it was not written."""
        if self.source is None:
            file, seat = ask_file(self), self.session.seat
            self.saved = bool(file and seat and write_transcript(file, seat.transcript(), self.told.emit))
            return self.saved
        from ndbplan.base.files import write_atomically
        from ndbplan.train.lessons.result import page

        path = self.ask_page()
        if path is None:
            return False
        try:
            write_atomically(path, page(self._found))
        except (OSError, UserError) as error:
            line = error.line if isinstance(error, UserError) else f"{path} was not written: {error.strerror}"
            self.told.emit("error", line)
            return False
        self.saved = True
        self.told.emit("done", f"Saved {path}")
        return True
