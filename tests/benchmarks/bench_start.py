"""From process start to a window that answers, and to the end of --help."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

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
print("ready", flush=True)
"""

_WINDOW = """
from ndbplan.desktop.start import make_application, open_window
app = make_application()
window = open_window(app, sample="add-nodes")
window.resize(1400, 900)
from PySide6.QtCore import QTimer
QTimer.singleShot(0, app.quit)
app.exec()
print("ready", flush=True)
"""


# Compiled modules are kept between runs, as for anybody who starts a program twice.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds_to_ready(*command: str) -> float:
    """From starting a process until it says that it is ready."""
    with tempfile.TemporaryDirectory() as home:
        environment = {
            **ENVIRONMENT,
            "QT_QPA_PLATFORM": "offscreen",
            **{f"XDG_{name}_HOME": f"{home}/{name}" for name in ("CONFIG", "STATE", "DATA")},
        }
        began = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, *command], stdout=subprocess.PIPE, env=environment, text=True
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        took = time.perf_counter() - began
        process.stdout.read()
        process.wait()
        assert line == "ready\n", f"the window did not come: {line!r}"
        return took


def seconds_of(*command: str) -> float:
    """From starting a process to its end."""
    began = time.perf_counter()
    subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True, env=ENVIRONMENT)
    return time.perf_counter() - began


def main() -> list[Figure]:
    """The quickest of several rounds, which alternate so that a busy machine hurts both alike."""
    bare, window, nothing, usage = [], [], [], []
    seconds_to_ready("-c", _BARE)
    seconds_to_ready("-c", _WINDOW)
    for _ in range(ROUNDS):
        bare.append(seconds_to_ready("-c", _BARE))
        window.append(seconds_to_ready("-c", _WINDOW))
        nothing.append(seconds_of("-c", "pass"))
        usage.append(seconds_of("-m", "ndbplan", "--help"))
    bare_ms, window_ms = min(bare) * 1000, min(window) * 1000
    nothing_ms, usage_ms = min(nothing) * 1000, min(usage) * 1000
    return [
        Figure(
            "window with the sample add-nodes", window_ms, "ms", 1.5 * bare_ms,
            baseline="bare QMainWindow importing QtWidgets and numpy", baseline_value=bare_ms,
        ),
        Figure(
            "ndbplan --help", usage_ms, "ms", nothing_ms + 150,
            baseline="python -c pass", baseline_value=nothing_ms,
        ),
    ]  # fmt: skip
