"""Background tasks: where their callbacks run, how they end, and that they end."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import shiboken6
from PySide6.QtCore import QObject, Qt
from pytestqt.qtbot import QtBot

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.tasks import Outcome, Progress, Task, Tasks, still_leaving, wait_for_leaving


class _Seen:
    """Collects what a task delivers, with the thread it came in."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.progress: list[Progress] = []
        self.threads: list[int] = []

    def done(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.threads.append(threading.get_ident())

    def progressed(self, progress: Progress) -> None:
        self.progress.append(progress)
        self.threads.append(threading.get_ident())


def _until_cancelled(started: threading.Event) -> Any:
    def work(task: Task) -> str:
        started.set()
        while not task.cancelled():
            threading.Event().wait(0.005)
        return "never seen"

    return work


def test_the_work_runs_in_a_thread_and_its_value_comes_back_to_the_gui_thread(qtbot: QtBot) -> None:
    tasks, seen = Tasks(), _Seen()

    def work(task: Task) -> int:
        task.report(0.5, "half way")
        return threading.get_ident()

    tasks.start(work, seen.done, seen.progressed)
    qtbot.waitUntil(lambda: bool(seen.outcomes))
    assert seen.outcomes[0].value != threading.get_ident()
    assert seen.progress == [Progress(0.5, "half way")]
    assert set(seen.threads) == {threading.get_ident()}
    assert not tasks.is_busy
    tasks.close()


def test_an_error_for_people_comes_back_as_one_line(qtbot: QtBot) -> None:
    tasks, seen = Tasks(), _Seen()

    def work(task: Task) -> None:
        raise UserError("0 cores", where="hosts[0]", fix="give it one")

    tasks.start(work, seen.done)
    qtbot.waitUntil(lambda: bool(seen.outcomes))
    assert seen.outcomes == [Outcome(error="hosts[0]: 0 cores — give it one")]
    tasks.close()


def test_a_fault_of_the_program_comes_back_with_its_traceback(
    qtbot: QtBot, caplog: pytest.LogCaptureFixture
) -> None:
    tasks, seen = Tasks(), _Seen()
    tasks.start(lambda task: 1 // 0, seen.done)
    qtbot.waitUntil(lambda: bool(seen.outcomes))
    assert "ZeroDivisionError" in seen.outcomes[0].error
    assert "Traceback" in seen.outcomes[0].details
    assert "a background task failed" in caplog.text
    tasks.close()


def test_cancel_ends_a_task_and_its_value_is_not_seen(qtbot: QtBot) -> None:
    tasks, seen, started = Tasks(), _Seen(), threading.Event()
    task = tasks.start(_until_cancelled(started), seen.done)
    assert started.wait(5)
    task.cancel()
    qtbot.waitUntil(lambda: bool(seen.outcomes))
    assert seen.outcomes == [Outcome(cancelled=True)]
    tasks.close()


def test_closing_stops_running_and_waiting_tasks_and_calls_nobody(qtbot: QtBot) -> None:
    tasks, seen, started = Tasks(), _Seen(), threading.Event()
    tasks.start(_until_cancelled(started), seen.done)
    tasks.start(lambda task: 1, seen.done)
    assert started.wait(5)
    tasks.close()
    assert not tasks.is_busy
    fence = Tasks()
    fence_seen = _Seen()
    fence.start(lambda task: 1, fence_seen.done)
    qtbot.waitUntil(lambda: bool(fence_seen.outcomes))
    assert seen.outcomes == []
    fence.close()


def test_deleting_the_owner_stops_the_tasks(qtbot: QtBot) -> None:
    import shiboken6

    owner, seen, started, ended = QObject(), _Seen(), threading.Event(), threading.Event()

    def work(task: Task) -> None:
        started.set()
        while not task.cancelled():
            threading.Event().wait(0.005)
        ended.set()

    Tasks(owner).start(work, seen.done)
    assert started.wait(5)
    shiboken6.delete(owner)
    assert ended.wait(5)


def test_a_result_on_its_way_is_not_seen_after_cancel(qtbot: QtBot) -> None:
    tasks, seen, ended = Tasks(), _Seen(), threading.Event()

    def work(task: Task) -> str:
        ended.set()
        return "too late"

    task = tasks.start(work, seen.done)
    assert ended.wait(5)
    tasks._threads.pool.waitForDone()
    task.cancel()
    qtbot.waitUntil(lambda: bool(seen.outcomes))
    assert seen.outcomes == [Outcome(cancelled=True)]
    tasks.close()


@pytest.mark.parametrize("end", ["close", "delete"])
def test_nobody_waits_for_a_thread_that_does_not_listen(qtbot: QtBot, end: str) -> None:
    import shiboken6

    owner, seen, started, go_on = QObject(), _Seen(), threading.Event(), threading.Event()
    deleted_in: list[int] = []

    def work(task: Task) -> None:
        started.set()
        go_on.wait(60)
        task.report(0.5, "nobody is told")

    tasks = Tasks(owner)
    task = tasks.start(work, seen.done, seen.progressed)
    task.destroyed.connect(
        lambda: deleted_in.append(threading.get_ident()), Qt.ConnectionType.DirectConnection
    )
    assert started.wait(5)
    # It would wait a minute for it.
    tasks.close() if end == "close" else shiboken6.delete(owner)
    assert not go_on.is_set()
    assert still_leaving()
    go_on.set()
    assert wait_for_leaving(5000)
    qtbot.waitUntil(lambda: bool(deleted_in))
    assert deleted_in == [threading.get_ident()], "a QObject goes in its own thread"
    assert (seen.outcomes, seen.progress) == ([], [])


def test_a_task_that_its_window_took_along_ends_in_silence(qapp: Any) -> None:
    done = []
    task = Task(lambda _task: done.append(1))
    shiboken6.delete(task)
    task.run_here()
    assert done == [1]
