"""What tests of the window share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from ndbplan.base.kept import Kept, keeping
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow

Shown = Callable[[str, int, int], MainWindow]


@pytest.fixture
def shown(qtbot: Any, qapp: QApplication, tmp_path: Path) -> Iterator[Shown]:
    """Shows a complete window with a sample, in the dark theme; it is gone after the test."""
    made: list[MainWindow] = []

    def show(sample: str, width: int, height: int) -> MainWindow:
        theme.install(qapp, "dark")
        window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
        made.append(window)
        window.files.ask_unsaved = window.live.ask_unsaved = lambda: "discard"
        window.open_sample(sample)
        window.resize(width, height)
        window.show()
        window.finish_building()
        return window

    yield show
    for window in made:
        window.files.ask_unsaved = window.live.ask_unsaved = lambda: "discard"
        window.close()
        window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


_ANSWERS = Kept()
"""About samples that one window after the other opens."""


@pytest.fixture(autouse=True)
def shared_answers(own_answers: None) -> Iterator[None]:
    """What is worked out about a sample is kept for the windows of further tests: most open one because they
    need a window, and are not about its figures.
    """
    with keeping(_ANSWERS):
        yield
