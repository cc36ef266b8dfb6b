"""How long after a key press the chart of a demo's scene is there: of the first one, the key that plays it.

Run with `python tests/benchmarks/bench_demo.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import os
import time
from typing import Any

from figures import Figure

_READ_MS = 500
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

    from ndbplan.desktop import start
    from ndbplan.desktop.windows import Windows

    windows = Windows(app, start.open_window)
    # The window from which it is asked for, which has simulated nothing.
    dialog = _asked_for(app, windows, demo)
    shown: list[bool] = []
    times = []
    begin = time.perf_counter()
    dialog.play()
    window = windows.open_windows[-1]
    player, panel = window.demos.player, window.demos.views.simulation
    panel.shown.connect(lambda: shown.append(True))
    for place, scene in enumerate(dialog.chosen[0].scenes):
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


def _asked_for(app: Any, windows: Any, demo: Any) -> Any:
    """The dialog with a demo on the plan of today chosen, once somebody has read its title."""
    from PySide6.QtCore import QDeadlineTimer

    from ndbplan.desktop.dialogs.demos_dialog import DemosDialog

    window = windows.start()
    window.finish_building()
    window.demos.open()
    dialog = window.findChild(DemosDialog)
    (*_, row) = (place for place in range(dialog.which.count())
                 if (ready := dialog.which.itemData(place)) and ready[0].name == demo.name)  # fmt: skip
    dialog.which.setCurrentIndex(row)
    until = QDeadlineTimer(_READ_MS)
    while not until.hasExpired() or dialog.tasks.is_busy:
        app.processEvents()
        time.sleep(0.001)
    return dialog


if __name__ == "__main__":
    for figure in main():
        print(figure.name, f"{figure.value:.2f}", figure.unit)
