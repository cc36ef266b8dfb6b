"""How long after a key press the chart of a demo's scene is there.

Run with `python tests/benchmarks/bench_demo.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
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
    from PySide6.QtCore import QEventLoop

    from ndbplan.demo.files import project_of
    from ndbplan.desktop.demos import Prepared, play_alone
    from ndbplan.desktop.document.preferences import Preferences
    from ndbplan.desktop.main_window import MainWindow

    start = demo.starts[-1]
    with tempfile.TemporaryDirectory() as folder:
        window = MainWindow(Preferences(Path(folder) / "preferences.json"), Path(folder) / "journals")
        window.resize(1366, 768)
        window.show()
        window.finish_building()
        prepared = Prepared(demo.worded(start), project_of(demo, start))
        player, panel = window.demos.player, window.demos.views.simulation
        shown: list[bool] = []
        panel.shown.connect(lambda: shown.append(True))
        times = [0.0]
        for place, scene in enumerate(prepared.demo.scenes):
            shown.clear()
            begin = time.perf_counter()
            if place:
                player.step(1)
            else:
                play_alone(window.demos, prepared, window.document.new, lambda: None)
            while scene.panel == "Simulation" and not shown:
                # As a window that is waited for: the processor belongs to who simulates.
                app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            app.processEvents()
            # What is loaded with the first scene is loaded before a key is pressed.
            if scene.panel == "Simulation" and place:
                times.append(time.perf_counter() - begin)
        player.end()
        window.close()
        window.deleteLater()
        app.processEvents()
    return max(times)


if __name__ == "__main__":
    for figure in main():
        print(figure.name, f"{figure.value:.2f}", figure.unit)
