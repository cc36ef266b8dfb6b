"""Answers to files that no cluster has, and how soon a background task ends when it is told to."""

from __future__ import annotations

import configparser
import contextlib
import os
import statistics
import threading
import time
from typing import Any

from figures import Figure

os.environ["QT_QPA_PLATFORM"] = "offscreen"
_MOST_TIMES = 6
"""A file that nobody has may take so many times what configparser takes for one of as many lines."""

BIG = {
    "99 000 parameters of one section": b"[ndbd default]\n"
    + b"".join(b"P%d=%d\n" % (i, i) for i in range(99_000)),
    "99 000 sections": b"[ndbd]\n" * 99_000,
    "33 000 computers": b"".join(b"[computer]\nId=c%d\nHostName=h%d\n" % (i, i) for i in range(33_000)),
    "33 000 links": b"[ndbd]\nNodeId=1\n[ndbd]\nNodeId=2\n" + b"[tcp]\nNodeId1=1\nNodeId2=2\n" * 33_000,
    "99 000 comments": b"[ndbd]\n" + b"# nothing\n" * 99_000,
    "one line of 10 MB": b"[mysqld]\n" + b"x" * 10_000_000,
    "100 MB": b"[ndbd]\nDataMemory=80M\n" * 4_500_000,
}


def main() -> list[Figure]:
    """Each file once, after a small one that loads the modules; then cancels of a task."""
    from ndbplan.base.errors import UserError
    from ndbplan.base.kept import Kept, keeping
    from ndbplan.importing.config.plan import import_config

    import_config(b"[ndbd]\nHostName=a\n")
    figures, plain_ms = [], _configparser_ms()
    for name, content in BIG.items():
        began = time.process_time()
        with contextlib.suppress(UserError), keeping(Kept()):
            import_config(content)
        took_ms = (time.process_time() - began) * 1000
        figures.append(
            Figure(
                f"import {name}", took_ms, "ms", baseline="configparser, 99 000 parameters",
                baseline_value=plain_ms, most_times=_MOST_TIMES,
            )
        )  # fmt: skip
    figures.append(
        Figure(
            "cancel a task, until the window is told", _cancel_ms(), "ms", baseline="a bare thread is told",
            baseline_value=_plain_thread_ms(), most_times=5,
        )
    )  # fmt: skip
    return figures


def _configparser_ms() -> float:
    text = BIG["99 000 parameters of one section"].decode()
    began = time.process_time()
    configparser.ConfigParser(strict=False, interpolation=None).read_string(text)
    return (time.process_time() - began) * 1000


def _cancel_ms() -> float:
    """From the cancel of a task until the window is told."""
    from PySide6.QtCore import QCoreApplication

    from ndbplan.desktop.document.tasks import Outcome, Task, Tasks

    app = QCoreApplication.instance() or QCoreApplication([])
    tasks, times = Tasks(), []
    for _ in range(20):
        started, outcomes = threading.Event(), list[Outcome]()

        def work(task: Task, started: threading.Event = started) -> Any:
            started.set()
            while not task.cancelled():
                sum(range(1000))

        task = tasks.start(work, outcomes.append)
        started.wait(5)
        began = time.perf_counter()
        task.cancel()
        while not outcomes:
            app.processEvents()
        times.append((time.perf_counter() - began) * 1000)
    tasks.close()
    return statistics.median(times)


def _plain_thread_ms() -> float:
    """The same with a bare thread and two events."""
    times = []
    for _ in range(20):
        started, told, heard = threading.Event(), threading.Event(), threading.Event()

        def work(started: Any = started, told: Any = told, heard: Any = heard) -> None:
            started.set()
            while not told.is_set():
                sum(range(1000))
            heard.set()

        thread = threading.Thread(target=work)
        thread.start()
        started.wait(5)
        began = time.perf_counter()
        told.set()
        while not heard.is_set():
            sum(range(10))
        times.append((time.perf_counter() - began) * 1000)
        thread.join()
    return statistics.median(times)


if __name__ == "__main__":
    for figure in main():
        print(figure)
