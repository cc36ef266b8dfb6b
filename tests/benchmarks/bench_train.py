"""How quickly a live cluster lets time pass, goes back to any second of two hours, and is shown.

Run with `python tests/benchmarks/bench_train.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from figures import Figure

from ndbplan.base.kept import keeping
from ndbplan.plan.samples import sample_plan
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster

HOURS = 2.0
SAMPLES = ("starter", "telecom-144")
MOST_TIMES = 1.0
"""Going back takes no longer than 100 ms, on a machine that needs so long for its walk."""
WALK = 2_500_000


SHOWN_S = 6.0
SPEED = 100.0
FRAMES_PER_S = 30.0


def main() -> list[Figure]:
    """Seconds of two hours, the slowest way back of twenty, and what the window needs to show one."""
    figures = _shown()
    for name in SAMPLES:
        with keeping():
            cluster = LiveCluster.begin(sample_plan(name).replace(ndb_version="8.4"), hours=HOURS)
            begin = time.process_time()
            for _ in range(72):
                cluster.advance(100.0)
            passed = time.process_time() - begin
            back = [_back_s(cluster, random.Random(seed)) for seed in range(20)]
            typed = _typed(LiveCluster.begin(sample_plan(name).replace(ndb_version="8.4"), hours=HOURS))
            typed_back = [_back_s(typed, random.Random(seed)) for seed in range(20)]
        figures.append(Figure(f"{name}: two hours pass", passed, "s"))
        figures.append(_slowest(f"{name}: back to any second of them", back))
        figures.append(_slowest(f"{name}: the same where much was done", typed_back))
    return figures


def _slowest(name: str, back_s: list[float]) -> Figure:
    return Figure(
        f"{name}, the slowest of {len(back_s)}",
        max(back_s),
        "s",
        baseline=f"a walk through {WALK} numbers",
        baseline_value=_walk_s(),
        most_times=MOST_TIMES,
    )


def _typed(cluster: LiveCluster) -> LiveCluster:
    """Two hours in which the load changes, data nodes are killed and started, and sessions lock rows."""
    consoles, nodes = Consoles(cluster), [node.node_id for node in cluster.plan.data_nodes]
    consoles.answer("mysql> create database two; create table two.x (id int primary key, k int) engine=ndb")
    consoles.answer(f"mysql> insert into two.x values {','.join(f'({i},{i})' for i in range(1000))}")
    for turn in range(72):
        consoles.answer(f"mysql> begin; update two.x set k = k + 1 where id = {turn}")
        consoles.answer(f"mysql2> update two.x set k = k + 1 where id = {turn}")
        consoles.answer("! wait 60s")
        consoles.answer("mysql> commit")
        consoles.answer(f"! load x{turn % 3 + 1}")
        if turn % 6 == 0:
            node_id = nodes[turn % len(nodes)]
            for line in (f"kill node:{node_id}", "wait 5s", f"start node:{node_id}"):
                consoles.answer(f"! {line}")
        consoles.answer("! wait 35s")
    return cluster


def _back_s(cluster: LiveCluster, rng: random.Random) -> float:
    other, to_s = cluster.branch(), rng.uniform(0.0, HOURS * 3600.0)
    begin = time.process_time()
    other.rewind(to_s)
    return time.process_time() - begin


def _shown() -> list[Figure]:
    """144 data nodes in the window at a hundred times the clock, the whole process on one core."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtCore import QEvent, QObject

    from ndbplan.desktop.document.preferences import Preferences
    from ndbplan.desktop.look import theme
    from ndbplan.desktop.main_window import MainWindow
    from ndbplan.desktop.start import make_application

    class Paints(QObject):
        """Counts how often the canvas is painted."""

        count = 0

        def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 — Qt's name
            self.count += event.type() == QEvent.Type.Paint
            return False

    app = make_application()
    theme.install(app, "dark")
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    with TemporaryDirectory() as folder, keeping():
        window = MainWindow(Preferences(Path(folder) / "preferences.json"), Path(folder))
        window.open_sample("telecom-144")
        window.resize(1680, 1050)
        window.show()
        window.finish_building()
        while not window.panels.estimates.is_fresh:
            app.processEvents()
        window.live.toggle()
        page = window.live.page
        assert page is not None
        while page.session.seat is None:
            app.processEvents()
        page.bar.speed.setCurrentIndex(page.bar.speed.findData(SPEED))
        # A node that starts and a disk at its end: chips and rings change all the time.
        for line in ("kill node:1", "wait 10s", "start node:1", "load x3"):
            page.session.ask("!", line)
        paints = Paints(window)
        page.canvas.viewport().installEventFilter(paints)
        frames = 0

        def count(_frame: object) -> None:
            nonlocal frames
            frames += 1

        page.session.framed.connect(count)
        begun, worked, from_s = time.monotonic(), time.process_time(), page.sight.at_s if page.sight else 0.0
        while time.monotonic() - begun < SHOWN_S:
            app.processEvents()
            time.sleep(0.001)  # As an event loop that has nothing to do; how long is the figure measured.
        passed, worked = time.monotonic() - begun, time.process_time() - worked
        assert page.sight is not None
        simulated = page.sight.at_s - from_s
        window.files.ask_unsaved = window.live.ask_unsaved = lambda: "discard"  # type: ignore[method-assign]
        window.close()
        window.deleteLater()
        app.processEvents()
    os.sched_setaffinity(0, cores)
    name = f"telecom-144 live at ×{SPEED:g}"
    return [
        # By the clock: as quick as what else runs on the machine allows.
        Figure(f"{name}: simulated seconds a second", simulated / passed, "s/s"),
        Figure(f"{name}: frames a second", frames / passed, "/s"),
        Figure(f"{name}: paints of the canvas a second", paints.count / passed, "/s"),
        Figure(f"{name}: frames in a second of one core", frames / worked, "/s", at_least=FRAMES_PER_S),
    ]


def _walk_s() -> float:
    begin, seen = time.process_time(), 0
    for number in range(WALK):
        seen += number
    return time.process_time() - begin


if __name__ == "__main__":
    from figures import show

    show(main())
