"""Work off the GUI thread: one result by a queued signal, progress, cancel, errors as data.

    tasks = Tasks(window)
    task = tasks.start(lambda task: count(task.cancelled, task.report), done=show, progress=bar.set)
    task.cancel()

`done` and `progress` run in the GUI thread. Nothing outlives the owner: closing or deleting it cancels
what runs and waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
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
        self.finished.emit(outcome)


class _Runnable(QRunnable):
    def __init__(self, task: Task) -> None:
        super().__init__()
        # Python owns it: Qt must not delete what Python still counts.
        self.setAutoDelete(False)
        self._task = task

    def run(self) -> None:
        self._task.run_here()


class Tasks(QObject):
    """A pool of threads that belongs to one owner and dies with it."""

    def __init__(self, parent: QObject | None = None, threads: int = 1) -> None:
        super().__init__(parent)
        self._pool = QThreadPool()
        self._pool.setMaxThreadCount(threads)
        self._running: dict[Task, _Runnable] = {}
        # The slot must not hold `self`: it runs when the QObject is already half gone.
        self.destroyed.connect(partial(_stop, self._pool, self._running))

    def start(
        self,
        work: Callable[[Task], Any],
        done: Callable[[Outcome], None],
        progress: Callable[[Progress], None] | None = None,
        on_partial_result: Callable[[Any], None] | None = None,
    ) -> Task:
        """Run `work(task)` in a thread; then `done(outcome)` in the GUI thread."""
        task = Task(work)
        if on_partial_result is not None:
            task.partial_result.connect(
                partial(_deliver, task, on_partial_result), Qt.ConnectionType.QueuedConnection
            )
        if progress is not None:
            task.progressed.connect(progress, Qt.ConnectionType.QueuedConnection)
        task.finished.connect(partial(self._ended, task, done), Qt.ConnectionType.QueuedConnection)
        runnable = _Runnable(task)
        self._running[task] = runnable
        self._pool.start(runnable)
        return task

    def _ended(self, task: Task, done: Callable[[Outcome], None], outcome: Outcome) -> None:
        if self._running.pop(task, None) is not None:
            # It may have been cancelled while its result was on the way.
            done(Outcome(cancelled=True) if task.cancelled() else outcome)

    @property
    def is_busy(self) -> bool:
        """Whether a task has not been delivered yet."""
        return bool(self._running)

    def close(self) -> None:
        """Cancel everything and wait until the threads are idle; no `done` is called afterwards."""
        _stop(self._pool, self._running)


def _deliver(task: Task, on_partial_result: Callable[[Any], None], value: object) -> None:
    if not task.cancelled():
        on_partial_result(value)


def _stop(pool: QThreadPool, running: dict[Task, _Runnable], _destroyed: object = None) -> None:
    for task in running:
        task.cancel()
    # At the end of the program Qt deletes the pool (and waits for it) before this slot is called.
    if shiboken6.isValid(pool):
        pool.clear()
        pool.waitForDone()
    running.clear()
