"""Answers to files that no cluster has, and how soon a background task ends when it is told to."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import Any

from figures import Figure

os.environ["QT_QPA_PLATFORM"] = "offscreen"
_LIMIT_MS = 2000

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
    from ndbplan.importing.config.plan import import_config

    import_config(b"[ndbd]\nHostName=a\n")
    figures = []
    for name, content in BIG.items():
        began = time.perf_counter()
        with contextlib.suppress(UserError):
            import_config(content)
        figures.append(Figure(f"import {name}", (time.perf_counter() - began) * 1000, "ms", _LIMIT_MS))
    return [*figures, Figure("cancel a task, until it is told", _cancel_ms(), "ms", 100)]


def _cancel_ms() -> float:
    from PySide6.QtCore import QCoreApplication

    from ndbplan.desktop.document.tasks import Outcome, Task, Tasks

    app = QCoreApplication.instance() or QCoreApplication([])
    tasks, worst = Tasks(), 0.0
    for _ in range(5):
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
        worst = max(worst, (time.perf_counter() - began) * 1000)
    tasks.close()
    return worst


if __name__ == "__main__":
    for figure in main():
        print(figure)
