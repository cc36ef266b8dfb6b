"""Searches for garbage: in the GUI thread only, and those through everything when nobody does anything."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from ndbplan.desktop import garbage
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.garbage import Collector
from ndbplan.desktop.main_window import MainWindow


class _Gc:
    """Counts of new, younger and older objects as a test states them, and what was searched."""

    def __init__(self) -> None:
        self.counts = (0, 0, 0)
        self.old: list[object] = []
        self.searched: list[int] = []

    def collect(self, generation: int = 2) -> None:
        self.searched.append(generation)

    def __getattr__(self, name: str) -> Any:
        stated = {"get_count": lambda: self.counts, "get_objects": lambda generation: self.old}
        return stated.get(name) or getattr(gc, name)


@pytest.fixture
def collector(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    qtbot.addWidget(window)
    made = Collector(window)
    made._timer.stop()
    monkeypatch.setattr(garbage, "gc", _Gc())
    yield made
    window.document.undo_stack.setClean()


def _searched(collector: Collector, *counts: int) -> list[int]:
    watched: Any = garbage.gc
    watched.counts, watched.searched = counts, []
    collector.look()
    return watched.searched


def test_everything_is_searched_only_some_time_after_the_last_step(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(garbage.time, "monotonic", lambda: now)
    collector._stepped()
    now += 1.4
    assert _searched(collector, 0, 0, 9) == []
    now += 0.2
    assert _searched(collector, 0, 0, 9) == [2]
    assert _searched(collector, 0, 0, 0) == [], "there is nothing new to look for"


def test_a_search_that_would_be_felt_waits_until_somebody_is_away(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(garbage.time, "monotonic", lambda: now)
    watched: Any = garbage.gc
    watched.old = [None] * (garbage._FELT + 1)
    collector._stepped()
    now += 59
    assert _searched(collector, 0, 0, 9) == []
    assert _searched(collector, 0, 0, garbage._LONG_PUT_OFF) == [2], "it does not wait for ever"
    now += 1
    assert _searched(collector, 0, 0, 9) == [2]
    collector._stepped()
    now += 2
    watched.old = [None] * garbage._FELT
    assert _searched(collector, 0, 0, 10) == [2]


def test_new_objects_are_searched_at_once_and_only_those(collector: Collector) -> None:
    collector._stepped()
    enough_new, enough_young = garbage._ENOUGH_NEW, garbage._ENOUGH_YOUNG
    assert _searched(collector, enough_new, enough_young, 0) == []
    assert _searched(collector, enough_new + 1, 0, 9) == [0]
    assert _searched(collector, enough_new + 1, enough_young + 1, 9) == [1]


def test_pointer_and_keys_are_steps_wherever_they_go(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    qtbot.addWidget(window)
    window.show()
    collector = Collector(window)
    for act in (
        lambda: QTest.mouseMove(window.windowHandle(), QPoint(50, 300)),
        lambda: QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=QPoint(60, 300)),
        lambda: QTest.keyClick(window.windowHandle(), Qt.Key.Key_Shift),
    ):
        collector._last_step_s = 0.0
        act()
        assert collector._last_step_s > 0.0


def test_it_waits_while_something_is_computed(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = True
    monkeypatch.setattr(type(collector.parent().panels), "is_busy", property(lambda _panels: busy))
    collector._last_step_s -= 100
    assert _searched(collector, 0, 0, 9) == []
    busy = False
    assert _searched(collector, 0, 0, 9) == [], "the end of it is a step"
    collector._last_step_s -= 100
    assert _searched(collector, 0, 0, 9) == [2]


class _Ring:
    """Holds itself, as a widget and the slots it is connected to do."""

    ended_in: list[Thread]

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        import threading

        self.ended_in.append(threading.current_thread())


def test_a_thread_that_makes_many_objects_deletes_none_of_the_windows(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    qtbot.addWidget(window)
    gc.enable()
    collector = Collector(window)
    _Ring.ended_in = []
    _Ring()
    thread = Thread(target=lambda: [[] for _ in range(100_000)])
    thread.start()
    thread.join()
    assert _Ring.ended_in == []
    gc.collect(1)
    assert collector is not None
    assert _Ring.ended_in
    assert thread not in _Ring.ended_in


def test_python_searches_itself_again_when_the_window_is_gone(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    gc.enable()
    Collector(window)
    assert not gc.isenabled()
    window.close()
    window.deleteLater()
    qtbot.waitUntil(gc.isenabled)
