"""From process start to a window that answers, and to the end of --help."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

from figures import Figure

ROUNDS = 9

_BARE = """
import numpy
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.resize(1400, 900)
window.show()
QTimer.singleShot(0, app.quit)
app.exec()
import os
os._exit(0)
"""

_BARE_USAGE = """
import click
@click.group()
def main(): pass
@main.command()
def one(): pass
main()
"""

_WINDOW = """
from ndbplan.desktop.start import make_application, open_window
app = make_application()
window = open_window(app, sample="add-nodes")
window.resize(1400, 900)
from PySide6.QtCore import QTimer
QTimer.singleShot(0, app.quit)
app.exec()
import os
os._exit(0)
"""


# Compiled modules are kept between runs, as for anybody who starts a program twice.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Cost(NamedTuple):
    """What a process took, in milliseconds."""

    wall_ms: float
    cpu_ms: float


def cost_of(*command: str) -> Cost:
    """From starting a process to its end, and the time it computed in the program and the system."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **ENVIRONMENT,
            "QT_QPA_PLATFORM": "offscreen",
            **{f"XDG_{name}_HOME": f"{home}/{name}" for name in ("CONFIG", "STATE", "DATA")},
        }
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True, env=environment)
        wall_s = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall_s * 1000, cpu_s * 1000)


def main() -> list[Figure]:
    """The middle one of several pairs by their ratio: a busy machine hurts both of a pair alike.

    A window with a sample may take 1.8 times what a bare one takes: 1.7 is what plain imports of Qt, pydantic
    and the plan's classes cost. It was 1.5 as long as parts of pydantic and PySide were replaced while they
    loaded, which gained 74 ms and would have broken with their next versions.
    """
    windows, usages = [], []
    cost_of("-c", _BARE)
    cost_of("-c", _WINDOW)
    for _ in range(ROUNDS):
        windows.append((cost_of("-c", _BARE), cost_of("-c", _WINDOW)))
        usages.append((cost_of("-c", _BARE_USAGE, "--help"), cost_of("-m", "ndbplan", "--help")))
    figures = []
    for kind, field in (("wall", 0), ("processor", 1)):
        pairs = sorted(
            ((one[field], other[field]) for one, other in windows), key=lambda pair: pair[1] / pair[0]
        )
        bare, window = pairs[len(pairs) // 2]
        figures.append(
            Figure(
                f"window with the sample add-nodes, {kind} time", window, "ms", most_times=1.8,
                baseline="bare QMainWindow importing QtWidgets and numpy", baseline_value=bare,
            )
        )  # fmt: skip
    bare_usage, usage = min(one.cpu_ms for one, _ in usages), min(other.cpu_ms for _, other in usages)
    figures.append(
        Figure(
            "ndbplan --help", usage, "ms", baseline="--help of a click program with one command",
            baseline_value=bare_usage, most_times=1.8,
        )
    )  # fmt: skip
    return figures
