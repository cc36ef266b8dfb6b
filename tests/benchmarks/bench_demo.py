"""How long after a key press the chart of a demo's scene is there.

Run with `python tests/benchmarks/bench_demo.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import os
import time
from typing import Any

from figures import Figure

MOST_S = 2.0
"""From the key press to the first chart, on a machine that does nothing else."""


def main() -> list[Figure]:
    """The slowest scene with a chart of each demo, on the plan of today."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from ndbplan.demo.files import own
    from ndbplan.desktop.start import make_application

    app = make_application()
    figures = []
    for found in own():
        slowest_s = _slowest(app, found.value)
        figures.append(Figure(f"chart of a scene of {found.value.name}", slowest_s, "s", at_most=MOST_S))
    return figures


def _slowest(app: Any, demo: Any) -> float:
    from PySide6.QtCore import QEvent, QEventLoop

    from ndbplan.demo.files import project_of
    from ndbplan.desktop import start
    from ndbplan.desktop.demos import Prepared
    from ndbplan.desktop.windows import Windows

    begin_with = demo.starts[-1]
    prepared = Prepared(demo.worded(begin_with), project_of(demo, begin_with))
    windows = Windows(app, start.open_window)
    # The window from which it is asked for.
    windows.start(sample="starter").finish_building()
    app.processEvents()
    shown: list[bool] = []
    times = []
    begin = time.perf_counter()
    window = windows.play(prepared)
    player, panel = window.demos.player, window.demos.views.simulation
    panel.shown.connect(lambda: shown.append(True))
    for place, scene in enumerate(prepared.demo.scenes):
        if place:
            shown.clear()
            begin = time.perf_counter()
            player.step(1)
        while scene.panel == "Simulation" and not shown:
            # As a window that is waited for: the processor belongs to who simulates.
            app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        app.processEvents()
        if scene.panel == "Simulation":
            times.append(time.perf_counter() - begin)
    player.end()
    windows.quit()
    windows.end()
    app.processEvents()
    app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    return max(times, default=0.0)


if __name__ == "__main__":
    for figure in main():
        print(figure.name, f"{figure.value:.2f}", figure.unit)
