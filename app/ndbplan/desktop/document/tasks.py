"""Work off the GUI thread: one result by a queued signal, progress, cancel, errors as data.

    tasks = Tasks(window)
    task = tasks.start(lambda task: count(task.cancelled, task.report), done=show, progress=bar.set)
    task.cancel()

`done` and `progress` run in the GUI thread. Closing or deleting the owner tells what runs to stop and waits
for nothing: a thread that has not noticed yet ends by itself, with its objects kept until it has.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any

import shiboken6
from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal

from ndbplan.base.errors import Cancelled, UserError


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended: with a value, with an error, or cancelled."""

    value: Any = None
    error: str = ""
    """One line for people; empty when the work was done."""
    details: str = ""
    """Traceback of an error nobody foresaw; for a bug report, not for the window."""
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a task is: 0 to 1, or None when it cannot tell, and what it does now."""

    fraction: float | None
    text: str = ""


class Task(QObject):
    """One piece of work in a thread of the pool; lives in the GUI thread."""

    finished = Signal(object)
    """The Outcome, once."""
    progressed = Signal(object)
    """A Progress; the last one before `finished` need not say 1."""
    partial_result = Signal(object)
    """What the work has so far, as often as it likes."""

    def __init__(self, work: Callable[[Task], Any]) -> None:
        # Without a parent: it may outlive its owner, and is deleted when its thread is done with it.
        super().__init__()
        self._work = work
        self._cancelled = False

    def cancel(self) -> None:
        """Ask the work to stop; its value is thrown away even when it does not listen."""
        self._cancelled = True

    def cancelled(self) -> bool:
        """Whether somebody asked it to stop; the work polls this at least every 100 ms."""
        return self._cancelled

    def report(self, fraction: float | None, text: str = "") -> None:
        """Called by the work: how far it is."""
        self.progressed.emit(Progress(fraction, text))

    def show_partial_result(self, value: object) -> None:
        """Called by the work: what it has so far."""
        if not self._cancelled:
            self.partial_result.emit(value)

    def run_here(self) -> None:
        """Do the work in the calling thread and announce the outcome."""
        try:
            outcome = Outcome(self._work(self))
        except Cancelled:
            outcome = Outcome(cancelled=True)
        except UserError as error:
            outcome = Outcome(error=error.line)
        except Exception as error:
            import logging
            import traceback

            if not self._cancelled:
                logging.getLogger(__name__).exception("a background task failed")
            outcome = Outcome(
                error=f"this is a fault of the program: {type(error).__name__}: {error}",
                details=traceback.format_exc(),
            )
        if self._cancelled:
            outcome = Outcome(cancelled=True)
        # A window that was closed meanwhile took its tasks along: nobody waits for the outcome.
        if shiboken6.isValid(self):
            self.finished.emit(outcome)


class _Runnable(QRunnable):
    def __init__(self, task: Task) -> None:
        super().__init__()
        # Python owns it: Qt must not delete what Python still counts.
        self.setAutoDelete(False)
        self._task = task
        # With it goes who keeps the answers.
        self._context = copy_context()

    def run(self) -> None:
        self._context.run(self._task.run_here)


@dataclass(slots=True)
class _Threads:
    """Threads, and what they work on or have just done: nothing of it may go while one still holds it."""

    pool: QThreadPool
    running: dict[Task, _Runnable]
    over: list[tuple[Task, _Runnable]]

    def is_idle(self) -> bool:
        """Whether no thread works; then what is over goes, in the GUI thread."""
        # At the end of the program Qt deletes the pool (and waits for it) before anybody asks.
        if shiboken6.isValid(self.pool) and self.pool.activeThreadCount():
            return False
        while self.over:
            task, _ = self.over.pop()
            if shiboken6.isValid(task):
                task.deleteLater()
        return True


_leaving: list[_Threads] = []
"""Threads whose owner is gone and that have not stopped yet."""


def still_leaving() -> bool:
    """Whether threads that were told to stop still work. Asked in the GUI thread."""
    _leaving[:] = [threads for threads in _leaving if not threads.is_idle()]
    return bool(_leaving)


def wait_for_leaving(most_ms: int) -> bool:
    """Wait so long for threads that were told to stop; whether all have. Not while a window is open."""
    for threads in _leaving:
        threads.pool.waitForDone(most_ms)
    return not still_leaving()


class Tasks(QObject):
    """A pool of threads that belongs to one owner and dies with it."""

    def __init__(self, parent: QObject | None = None, threads: int = 1) -> None:
        super().__init__(parent)
        self._threads = _Threads(QThreadPool(self), {}, [])
        self._threads.pool.setMaxThreadCount(threads)
        # The slot must not hold `self`: it runs when the QObject is already half gone.
        self.destroyed.connect(partial(_stop, self._threads))

    def start(
        self,
        work: Callable[[Task], Any],
        done: Callable[[Outcome], None],
        progress: Callable[[Progress], None] | None = None,
        on_partial_result: Callable[[Any], None] | None = None,
    ) -> Task:
        """Run `work(task)` in a thread; then `done(outcome)` in the GUI thread."""
        self._threads.is_idle()
        task = Task(work)
        if on_partial_result is not None:
            task.partial_result.connect(
                partial(_deliver, task, on_partial_result), Qt.ConnectionType.QueuedConnection
            )
        if progress is not None:
            task.progressed.connect(partial(_deliver, task, progress), Qt.ConnectionType.QueuedConnection)
        task.finished.connect(partial(self._ended, task, done), Qt.ConnectionType.QueuedConnection)
        runnable = _Runnable(task)
        self._threads.running[task] = runnable
        self._threads.pool.start(runnable)
        return task

    def _ended(self, task: Task, done: Callable[[Outcome], None], outcome: Outcome) -> None:
        runnable = self._threads.running.pop(task, None)
        if runnable is not None:
            # Its thread may be on the last step still.
            self._threads.over.append((task, runnable))
            # It may have been cancelled while its result was on the way.
            done(Outcome(cancelled=True) if task.cancelled() else outcome)

    @property
    def is_busy(self) -> bool:
        """Whether a task has not been delivered yet."""
        return bool(self._threads.running)

    def close(self) -> None:
        """Tell everything to stop; no `done` is called afterwards."""
        _stop(self._threads)


def _deliver(task: Task, take: Callable[[Any], None], value: object) -> None:
    if not task.cancelled():
        take(value)


def _stop(threads: _Threads, _destroyed: object = None) -> None:
    for task in threads.running:
        task.cancel()
    if shiboken6.isValid(threads.pool):
        threads.pool.clear()
    left = _Threads(threads.pool, {}, [*threads.over, *threads.running.items()])
    threads.running.clear()
    threads.over.clear()
    if left.is_idle():
        return
    # What a thread works with lives on without the owner.
    left.pool.setParent(None)
    _leaving.append(left)
