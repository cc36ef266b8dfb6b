"""A live cluster beside the window: time flows with the clock, lines are answered, frames come back.

    session = LiveSession(parent)
    session.framed.connect(show)          # a Frame, thirty times a second while time flows
    session.answered.connect(print_it)    # an Answered
    session.begin(lambda: Seat(Consoles(LiveCluster.begin(plan))))
    session.set_speed(100)
    session.play(True)
    session.ask("ndb_mgm>", "SHOW")

All of the simulation happens in one thread, one thing after the other; the window gets values only.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, Signal

from ndbplan.desktop.document.kernel import prepare_kernel
from ndbplan.desktop.document.tasks import Outcome, Progress, Task, Tasks

if TYPE_CHECKING:
    from ndbplan.simulate.simulation import Simulation
    from ndbplan.train.lessons.progress import Progress as LessonProgress
    from ndbplan.train.seat import Seat
    from ndbplan.train.sight import Sight

SPEEDS = (1, 2, 5, 10, 30, 60, 100, 300, 1000)
FRAME_MS = 33
_WORK_S = 0.028
"""The longest that time flows for one frame: what it does not reach then is late."""
_LATE_S = 0.3
"""By the clock; what is later than that is given up: the cluster runs as quickly as it can."""
_LESSON_EVERY_S = 0.25
MOST_LINES = 2000
"""Of the log that come with one frame."""


class Frame(NamedTuple):
    """What there is to show, of one moment."""

    sight: Sight
    lines: tuple[str, ...]
    """New lines of the cluster log."""
    is_other_log: bool
    """What was shown of the log has not happened: time went back, or it is another branch."""
    lesson: LessonProgress | None
    """How far a lesson is; None: there is none, or it was told just now."""
    said: str
    """What of a lesson came true."""
    stopped_by: str
    """The breakpoint that time was stopped by."""
    breakpoints: tuple[str, ...]
    news: tuple[tuple[str, str], ...]
    """Prompts of shells that follow a log, and its new lines."""
    branches: tuple[str, ...]
    place: int
    is_over: bool


class Answered(NamedTuple):
    """A line and its answer."""

    source: str
    """The console that it was typed at: its prompt."""
    line: str
    """With the prompt of the console that it was for."""
    text: str


class LiveSession(QObject):
    """One session of a window."""

    begun = Signal()
    framed = Signal(object)
    """A `Frame`."""
    answered = Signal(object)
    """An `Answered`."""
    failed = Signal(str)
    """Why something was not done, in one line."""
    progressed = Signal(str)
    """What is waited for before it begins."""
    played = Signal(bool)
    """Whether time flows now."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = Tasks(self)
        self._seat: Seat | None = None
        self._eye = _Eye()
        self._speed = 1.0
        self._owed_s = 0.0
        """Simulated time that the clock has passed and the cluster has not."""
        self._flows = False
        """A flow of time is under way."""
        self._is_due = False
        """The clock ticked while time flowed: the next flow begins as soon as this one is over."""
        self._asked = 0
        """Lines and the like that are not answered yet."""
        self._clock = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._tick)

    # Coming and going.

    def begin(self, make: Callable[[], Seat]) -> None:
        """Begin; `make` is called in the thread of the session."""

        def work(task: Task) -> tuple[Seat, Frame]:
            prepare_kernel(task)
            task.report(None, "The cluster is started…")
            seat = make()
            return seat, self._eye.frame(seat)

        self._tasks.start(work, self._begun, self._tell)

    def _begun(self, outcome: Outcome) -> None:
        if outcome.error:
            self.failed.emit(outcome.error)
        elif not outcome.cancelled:
            self._seat, frame = outcome.value
            self.begun.emit()
            self.framed.emit(frame)

    def _tell(self, progress: Progress) -> None:
        self.progressed.emit(progress.text)

    def close(self) -> None:
        """The end; what is under way is told to stop, and nothing of it is delivered."""
        self._timer.stop()
        self._tasks.close()
        self._seat = None

    @property
    def seat(self) -> Seat | None:
        """For looking at while nothing is under way (`is_busy`); None: not begun."""
        return self._seat

    @property
    def is_busy(self) -> bool:
        """Whether something is under way."""
        return self._tasks.is_busy

    # Time.

    @property
    def plays(self) -> bool:
        """Whether time flows with the clock."""
        return self._timer.isActive()

    def play(self, on: bool) -> None:
        """Let time flow with the clock, or stand still."""
        if on == self.plays or self._seat is None:
            return
        self._owed_s = 0.0
        if on:
            self._clock.start()
            self._timer.start()
        else:
            self._timer.stop()
            self._tell_lesson()
        self.played.emit(on)

    def _tell_lesson(self) -> None:
        """A lesson is told now and then while time flows: what it is as time stands still.

        What passes meanwhile is waited for: `_flowed` asks again.
        """
        if self._seat is not None and self._seat.play is not None and not self._flows:
            self._do(lambda _seat: None)

    def set_speed(self, times: float) -> None:
        """How many times as quickly as the clock."""
        self._speed = times

    def flow(self, seconds: float) -> None:
        """Let so much simulated time pass at once; what is asked for meanwhile comes after it."""
        self._pass(seconds, lambda: True)

    def _tick(self) -> None:
        passed_s = self._clock.restart() / 1000.0
        if self._asked or not self.plays:
            # A line that is answered passes its own time; a tick behind a frame may come after the stop.
            return
        self._owed_s = min(self._owed_s + passed_s * self._speed, max(1.0, self._speed * _LATE_S))
        # Importing it here keeps the simulation out of a window that has no live cluster.
        from ndbplan.train.seat import STEP_S

        self._is_due = self._flows
        if self._flows or self._owed_s < STEP_S:
            return
        until_s = time.monotonic() + _WORK_S
        self._pass(self._owed_s - self._owed_s % STEP_S, lambda: time.monotonic() < until_s)

    def _pass(self, seconds: float, in_time: Callable[[], bool]) -> None:
        seat, eye = self._seat, self._eye
        if seat is None:
            return

        def work(task: Task) -> tuple[float, Frame]:
            passed_s = seat.flow(seconds, lambda: in_time() and not task.cancelled())
            return passed_s, eye.frame(seat)

        self._flows = True
        self._tasks.start(work, self._flowed)

    def _flowed(self, outcome: Outcome) -> None:
        self._flows = False
        if not self._delivered(outcome):
            self.play(False)
            return
        passed_s, frame = outcome.value
        self._owed_s = max(0.0, self._owed_s - passed_s)
        if frame.stopped_by or frame.is_over:
            self.play(False)
        self.framed.emit(frame)
        if frame.lesson is None and not self.plays:
            self._tell_lesson()
        if self._is_due and self.plays:
            # Behind what is painted of this frame.
            QTimer.singleShot(0, self, self._tick)

    def _delivered(self, outcome: Outcome) -> bool:
        if outcome.error:
            self.failed.emit(outcome.error)
        return not outcome.error and not outcome.cancelled

    # What is asked for.

    def ask(self, source: str, text: str) -> None:
        """Answer a line that was typed at a console, or names another one; nothing for an empty one."""
        from ndbplan.train.consoles import addressed

        found = addressed(text)
        line = text.strip() if found is not None else f"{source} {text.strip()}"
        if not text.strip() or (found is not None and not found.text):
            return
        self._do(lambda seat: seat.answer(line), lambda said: Answered(source, line, said))

    def befall(self, line: str, done: Callable[[object], None]) -> None:
        """A deed of a trainer; `done` gets what came of it."""
        self._do(lambda seat: seat.befall(line), None, done)

    def stop_when(self, text: str) -> None:
        """Stop time when something begins to be so."""
        self._do(lambda seat: seat.stop_when(text))

    def forget(self, text: str) -> None:
        """Take a breakpoint away."""
        self._do(lambda seat: seat.forget(text))

    def branch(self) -> None:
        """Go on in a branch."""
        self._do(lambda seat: seat.branch())

    def go_to(self, place: int) -> None:
        """Bring another branch to the front."""
        self._do(lambda seat: seat.go_to(place))

    def do(self, work: Callable[[Seat], object], done: Callable[[object], None]) -> None:
        """Anything else, in turn."""
        self._do(work, None, done)

    def _do(
        self,
        act: Callable[[Seat], object],
        answered: Callable[[str], Answered] | None = None,
        done: Callable[[object], None] | None = None,
    ) -> None:
        seat, eye = self._seat, self._eye
        if seat is None:
            return

        def work(task: Task) -> tuple[object, Frame]:
            with eye.watching(seat, task):
                found = act(seat)
            return found, eye.frame(seat, every=True)

        def finish(outcome: Outcome) -> None:
            self._asked -= 1
            if not self._delivered(outcome):
                return
            found, frame = outcome.value
            if answered is not None:
                self.answered.emit(answered(str(found)))
            if frame.stopped_by:
                self.play(False)
            self.framed.emit(frame)
            if done is not None:
                done(found)

        self._asked += 1
        self._owed_s = 0.0
        self._tasks.start(work, finish, on_partial_result=self.framed.emit)


class _Eye:
    """Takes frames; used in the thread of the session alone."""

    def __init__(self) -> None:
        self._seen: Simulation | None = None
        self._told = 0
        """Lines of the log that were shown."""
        self._lesson_s = 0.0
        """When the lesson was looked at, by the clock."""

    def frame(self, seat: Seat, *, every: bool = False) -> Frame:
        """What there is to show now; `every`: with the lesson, however short ago it was told."""
        from ndbplan.train.sight import sight

        cluster = seat.cluster
        sim, log = cluster.session.simulation, cluster.state.log
        is_other = self._seen is not sim or len(log) < self._told
        begin = max(0 if is_other else self._told, len(log) - MOST_LINES)
        self._seen, self._told = sim, len(log)
        said, seat.said = "".join(seat.said), []
        stopped_by, seat.stopped_by = seat.stopped_by, ""
        lesson = self._lesson(seat, every or bool(said or stopped_by) or seat.is_over)
        return Frame(
            sight(cluster), tuple(cluster.log_lines(begin)), is_other, lesson, said, stopped_by,
            tuple(one.text for one in seat.breakpoints), tuple(seat.played.news()), seat.branches, seat.place,
            seat.is_over,
        )  # fmt: skip

    def _lesson(self, seat: Seat, every: bool) -> LessonProgress | None:
        now_s = time.monotonic()
        if seat.play is None or not (every or now_s - self._lesson_s >= _LESSON_EVERY_S):
            return None
        from ndbplan.train.lessons.progress import progress

        self._lesson_s = now_s
        return progress(seat.play)

    def watching(self, seat: Seat, task: Task) -> _Watching:
        """Frames while a line is answered, which may be told to stop."""
        return _Watching(self, seat, task)


class _Watching:
    def __init__(self, eye: _Eye, seat: Seat, task: Task) -> None:
        self._eye, self._seat, self._task = eye, seat, task
        self._shown_s = time.monotonic()

    def __enter__(self) -> None:
        from ndbplan.simulate.steps import Watch

        self._cluster = self._seat.cluster
        self._cluster.watch = Watch(self._show, self._task.cancelled)

    def __exit__(self, *_: object) -> None:
        self._cluster.watch = None

    def _show(self, _share: float) -> None:
        now_s = time.monotonic()
        if now_s - self._shown_s >= FRAME_MS / 1000.0:
            self._shown_s = now_s
            self._task.show_partial_result(self._eye.frame(self._seat))
