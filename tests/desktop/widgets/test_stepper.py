"""Steps of number fields: seen before they are done, one edit each, and none that the plan refuses."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QWidget

from ndbplan.desktop.widgets.fields import LineField
from ndbplan.desktop.widgets.preview_card import Looker
from ndbplan.desktop.widgets.stepper import Stepper
from ndbplan.edits import parts as edits
from ndbplan.edits.steps import next_down, next_up, share_down, share_up

_WAIT_MS = 240_000
_LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def window(shown: Any, qtbot: Any) -> Any:
    made = shown("starter", 1366, 768)
    made.selection.set(["host-a1"])
    qtbot.waitUntil(lambda: bool(_fields(made, "cores")), timeout=_WAIT_MS)
    return made


def _fields(window: Any, name: str) -> list[LineField]:
    return [f for f in window.panels.inspector.findChildren(LineField, name) if f.isVisible()]


def _stepper(window: Any, name: str) -> Stepper:
    found = _fields(window, name)[-1].findChild(Stepper)
    assert isinstance(found, Stepper)
    return found


def _enter(widget: QWidget) -> None:
    QApplication.sendEvent(widget, QEnterEvent(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2)))


@pytest.mark.parametrize(
    ("now", "up", "down"), [(1, 2, 0), (7, 8, 6), (8, 16, 4), (0, 1, -1), (2.5, 5.0, 1.25), (0.0, None, None)]
)
def test_small_whole_numbers_go_by_one_others_by_half_and_twice(now: Any, up: Any, down: Any) -> None:
    assert (next_up(now), next_down(now)) == (up, down)


@pytest.mark.parametrize(
    ("now", "up", "down"), [(0.0, 0.1, None), (0.1, 0.2, 0.05), (0.5, 0.75, 0.25), (0.75, 0.875, 0.5)]
)
def test_a_share_comes_nearer_to_the_whole_and_is_never_all_of_it(now: float, up: Any, down: Any) -> None:
    assert (share_up(now), share_down(now)) == (up, down)
    for _ in range(40):
        now = share_up(now)
    assert 0.9 < now < 1.0


def test_a_share_of_a_disk_steps_too(window: Any, qtbot: Any) -> None:
    window.selection.set(["host-a1-nvme0"])
    qtbot.waitUntil(lambda: bool(_fields(window, "other_load")), timeout=_WAIT_MS)
    stepper = _stepper(window, "other_load")
    stepper._do("up")
    assert window.document.plan.by_id["host-a1-nvme0"].other_load == 0.1
    assert stepper.next_value("down") == 0.05


def test_a_key_shows_what_the_next_value_would_do_and_enter_takes_it(window: Any, qtbot: Any) -> None:
    plan, history = window.document.plan, window.document.undo_stack
    field = _fields(window, "cores")[-1]
    field.line.setFocus()
    qtbot.keyClick(field.line, Qt.Key.Key_Up)
    looker = window.findChild(Looker)
    assert field.line.text() == "64"
    assert window.document.plan is plan, "nothing is done before somebody says so"
    looker.look_at_once()
    qtbot.waitUntil(lambda: not window.panels.estimates.previews.is_busy, timeout=_WAIT_MS)
    assert looker.card.isVisible()
    assert looker.card.title.text() == "Cores 64"
    assert "32 -> 64" in looker.card.changes.text()
    qtbot.keyClick(field.line, Qt.Key.Key_Escape)
    assert (field.line.text(), looker.card.isVisible()) == ("32", False)
    assert window.document.plan is plan
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        qtbot.keyClick(field.line, key)
    assert window.document.plan.host("host-a1").cores == 8
    assert not looker.card.isVisible()
    assert history.count() == 1
    history.undo()
    assert window.document.plan is plan


def test_an_arrow_is_one_edit_and_is_seen_before(window: Any, qtbot: Any) -> None:
    field, stepper = _fields(window, "memory_bytes")[-1], _stepper(window, "memory_bytes")
    assert all(arrow.isHidden() for arrow in stepper.arrows.values())
    _enter(field.line)
    field.line.setFocus()
    assert all(arrow.isVisible() for arrow in stepper.arrows.values())
    _enter(stepper.arrows["down"])
    looker = window.findChild(Looker)
    looker.look_at_once()
    assert looker.card.title.text() == "Memory 128 GiB"
    qtbot.mouseClick(stepper.arrows["down"], _LEFT)
    assert window.document.plan.host("host-a1").memory_bytes == 128 * 2**30
    assert field.line.text() == "128 GiB"
    assert window.focusWidget() is field.line
    QApplication.sendEvent(stepper.arrows["down"], QEvent(QEvent.Type.Leave))
    assert not looker.card.isVisible()
    window.document.undo_stack.undo()
    assert window.document.undo_stack.count() == 1


def test_what_the_plan_refuses_and_what_names_something_is_no_step(window: Any, qtbot: Any) -> None:
    window.document.edit("One core", lambda plan: edits.update(plan, "host-a1", cores=1, sockets=1))
    field, stepper = _fields(window, "cores")[-1], _stepper(window, "cores")
    field.line.setFocus()
    _enter(field.line)
    assert stepper.next_value("down") is None
    assert stepper.arrows["down"].isHidden()
    assert stepper.arrows["up"].isVisible()
    qtbot.keyClick(field.line, Qt.Key.Key_Down)
    assert field.line.text() == "1"
    window.selection.set([window.document.plan.data_nodes[0].id])
    qtbot.waitUntil(lambda: bool(_fields(window, "node_id")), timeout=_WAIT_MS)
    assert _fields(window, "node_id")[-1].findChild(Stepper) is None


def test_several_that_differ_have_no_step_and_equal_ones_go_together(window: Any, qtbot: Any) -> None:
    hosts = ["host-a1", "host-b1"]
    window.selection.set(hosts)
    qtbot.waitUntil(lambda: bool(_fields(window, "cores")), timeout=_WAIT_MS)
    qtbot.mouseClick(_stepper(window, "cores").arrows["up"], _LEFT)
    assert [window.document.plan.host(i).cores for i in hosts] == [64, 64]
    window.document.edit("Other", lambda plan: edits.update(plan, "host-a1", cores=5))
    assert _stepper(window, "cores").next_value("up") is None


def test_arrows_stand_beside_the_mark_of_an_assumed_value(window: Any, qtbot: Any) -> None:
    window.document.edit("Assume", lambda plan: edits.update(plan, "host-a1", assumed=("cores",)))
    field, stepper = _fields(window, "cores")[-1], _stepper(window, "cores")
    before = field.assumed.geometry()
    field.line.setFocus()
    _enter(field.line)
    assert field.assumed.geometry() == before, "the mark stays under the pointer"
    for arrow in stepper.arrows.values():
        assert arrow.isVisible()
        assert not arrow.geometry().intersects(before)
    assert not stepper.arrows["up"].geometry().intersects(stepper.arrows["down"].geometry())
    qtbot.mouseClick(stepper.arrows["up"], _LEFT)
    assert window.document.plan.host("host-a1").assumed == (), "what somebody chose is stated"


def test_arrows_hide_no_digit(window: Any) -> None:
    field, stepper = _fields(window, "cores")[-1], _stepper(window, "cores")
    field.line.setFixedWidth(field.line.fontMetrics().horizontalAdvance("32") + 24)
    _enter(field.line)
    field.line.setFocus()
    assert stepper.arrows["up"].isHidden()


def test_several_values_go_one_step_on_each_from_its_own(window: Any, qtbot: Any) -> None:
    plan, history = window.document.plan, window.document.undo_stack
    ids = ["host-a1", "app-a1"]
    before = [plan.host(one).cores for one in ids]
    assert before == [32, 16]
    window.selection.set(ids)
    qtbot.waitUntil(
        lambda: any(f.line.placeholderText() == "several values" for f in _fields(window, "cores")),
        timeout=_WAIT_MS,
    )
    field, stepper = _fields(window, "cores")[-1], _stepper(window, "cores")
    _enter(field.line)
    field.line.setFocus()
    assert all(arrow.isVisible() for arrow in stepper.arrows.values())
    _enter(stepper.arrows["up"])
    looker = window.findChild(Looker)
    looker.look_at_once()
    assert looker.card.title.text() == "Cores: each one step up"
    assert window.document.plan is plan
    qtbot.mouseClick(stepper.arrows["up"], _LEFT)
    assert [window.document.plan.host(one).cores for one in ids] == [64, 32]
    assert field.line.text() == ""
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down):
        qtbot.keyClick(field.line, key)
    assert [window.document.plan.host(one).cores for one in ids] == [16, 8]
    assert history.count() == 3
    while history.canUndo():
        history.undo()
    assert window.document.plan is plan
    qtbot.keyClicks(field.line, "5")
    qtbot.keyClick(field.line, Qt.Key.Key_Up)
    assert field.line.text() == "6", "what is typed is one value for all"
    qtbot.keyClick(field.line, Qt.Key.Key_Return)
    assert [window.document.plan.host(one).cores for one in ids] == [6, 6]


def test_of_several_values_one_that_has_no_next_is_no_step(window: Any, qtbot: Any) -> None:
    plan = edits.update(window.document.plan, "app-a1", cores=1)
    window.document.new(plan)
    window.selection.set(["host-a1", "app-a1"])
    qtbot.waitUntil(
        lambda: any(f.line.placeholderText() == "several values" for f in _fields(window, "cores")),
        timeout=_WAIT_MS,
    )
    stepper = _stepper(window, "cores")
    assert stepper.next_of_each("down") is None
    assert stepper.next_of_each("up") is not None
