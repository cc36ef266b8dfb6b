"""Searches for garbage wait until nobody does anything."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from ndbplan.desktop import garbage
from ndbplan.desktop.garbage import QuietCollector
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.preferences import Preferences
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def collector(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[QuietCollector]:
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    qtbot.addWidget(window)
    made = QuietCollector(window)
    made._timer.stop()
    made.done = []
    monkeypatch.setattr(made, "collect", lambda: made.done.append(1))
    monkeypatch.setattr(garbage, "_ENOUGH", 0)
    yield made
    window.document.undo_stack.setClean()


def test_it_waits_until_the_last_step_is_some_time_ago(
    collector: QuietCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(garbage.time, "monotonic", lambda: now)
    window = collector.parent()
    window.document.new(sample_plan("starter"))
    now += 1.0
    collector.look()
    assert not collector.done
    window.selection.set([window.document.plan.hosts[0].id])
    now += 1.0
    collector.look()
    assert not collector.done, "the selection was a step too"
    now += 1.0
    collector.look()
    assert collector.done


def test_pointer_and_keys_are_steps_wherever_they_go(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    qtbot.addWidget(window)
    window.show()
    collector = QuietCollector(window)
    for act in (
        lambda: QTest.mouseMove(window.windowHandle(), QPoint(50, 300)),
        lambda: QTest.mouseClick(window.windowHandle(), Qt.MouseButton.LeftButton, pos=QPoint(60, 300)),
        lambda: QTest.keyClick(window.windowHandle(), Qt.Key.Key_Shift),
    ):
        collector._last_step_s = 0.0
        act()
        assert collector._last_step_s > 0.0


def test_it_waits_while_something_is_computed(
    collector: QuietCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = True
    monkeypatch.setattr(type(collector.parent().panels), "is_busy", property(lambda _panels: busy))
    collector._last_step_s -= 100
    collector.look()
    assert not collector.done
    busy = False
    collector.look()
    assert not collector.done, "the end of it is a step"
    collector._last_step_s -= 100
    collector.look()
    assert collector.done


def test_without_new_objects_there_is_nothing_to_look_for(
    collector: QuietCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "_ENOUGH", 10**9)
    collector._last_step_s -= 100
    collector.look()
    assert not collector.done


def test_thresholds_are_as_before_when_the_window_is_gone(qtbot: QtBot, tmp_path: Path) -> None:
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    QuietCollector(window)
    assert gc.get_threshold()[2] > garbage.USUAL[2]
    window.close()
    window.deleteLater()
    qtbot.waitUntil(lambda: gc.get_threshold() == garbage.USUAL)
