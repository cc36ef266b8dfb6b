"""An open window has the simulation engine compiled, by a process that ends with it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from ndbplan.base.compiled import CompiledCode
from ndbplan.desktop.compiler import Compiler
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.main_window import MainWindow
from ndbplan.simulate import prepare
from ndbplan.simulate.kernel import ready as kernel


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MainWindow:
    """On a machine on which nothing has been compiled, where compiling takes very long."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(tmp_path / "compiled"))
    code = CompiledCode("kernel", [])
    monkeypatch.setattr(kernel, "code", lambda: code)
    monkeypatch.setattr(kernel, "_advance", None)
    monkeypatch.setattr(kernel, "_is_known_ready", False)
    slow = [sys.executable, "-c", "import time; time.sleep(600)"]
    monkeypatch.setattr(kernel, "in_a_process", lambda *options: (slow, {"OPTIONS": " ".join(options)}))
    made = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    while made.build_next():
        pass
    return made


def test_the_engine_is_compiled_apart_and_not_beyond_the_windows_end(
    qtbot: QtBot, window: MainWindow
) -> None:
    compiler = Compiler(window)
    qtbot.waitUntil(lambda: compiler.process is not None)
    process = compiler.process
    assert process is not None
    assert process.poll() is None
    window.close()
    window.deleteLater()
    qtbot.waitUntil(lambda: process.poll() is not None)


def test_nothing_is_started_when_the_engine_is_ready(
    qtbot: QtBot, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare, "is_complete", lambda: True)
    monkeypatch.setattr(kernel, "in_a_process", lambda *_: pytest.fail("it is ready"))
    compiler = Compiler(window)
    qtbot.waitUntil(lambda: not window.tasks.is_busy)
    assert compiler.process is None
    window.close()
    window.deleteLater()
