"""The canvas without a pointer."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from ndbplan.plan.processes import DiskRole

ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


def test_arrows_go_to_the_neighbour_of_the_same_kind(hands) -> None:
    hands.selection.set(["host-a1"])
    hands.key(Qt.Key.Key_Right)
    assert hands.selection.ids == ("host-b1",)
    hands.key(Qt.Key.Key_Down)
    assert hands.selection.ids == ("app-b1",)
    hands.key(Qt.Key.Key_Left)
    assert hands.selection.ids == ("app-a1",)
    hands.key(Qt.Key.Key_Left)
    assert hands.selection.ids == ("app-a1",)


def test_an_arrow_with_nothing_selected_selects_the_first_object(hands) -> None:
    hands.key(Qt.Key.Key_Down)
    assert hands.selection.ids == (hands.plan.locations[0].id,)


def test_shift_and_arrow_select_more(hands) -> None:
    hands.selection.set(["host-a1"])
    hands.key(Qt.Key.Key_Right, SHIFT)
    assert hands.selection.ids == ("host-a1", "host-b1")


def test_enter_goes_in_and_backspace_out(hands) -> None:
    rack = hands.plan.host("host-a1").location_id
    hands.selection.set([rack])
    hands.key(Qt.Key.Key_Return)
    assert hands.selection.ids == ("host-a1",)
    hands.key(Qt.Key.Key_Return)
    assert hands.plan.by_id[hands.selection.current].host_id == "host-a1"
    hands.key(Qt.Key.Key_Backspace)
    assert hands.selection.ids == ("host-a1",)
    hands.key(Qt.Key.Key_Backspace)
    assert hands.selection.ids == (rack,)
    hands.key(Qt.Key.Key_Backspace)
    assert hands.selection.ids == ()


def test_enter_on_a_leaf_opens_it(hands, qtbot) -> None:
    node = hands.plan.data_nodes[0].id
    hands.selection.set([node])
    with qtbot.waitSignal(hands.view.opened) as opened:
        hands.key(Qt.Key.Key_Return)
    assert opened.args == [node]


def test_tab_visits_every_object_once_and_then_leaves(hands) -> None:
    seen = []
    while hands.view.focusNextPrevChild(True):
        seen.append(hands.scene.item_of(hands.selection.current).object_id)
        if len(seen) > 200:
            break
    shown = [item.object_id for item in hands.scene.in_order()]
    assert seen == shown
    assert len(set(seen)) == len(seen) > 15


def test_alt_and_arrows_move_a_host_through_its_rack(hands) -> None:
    before = hands.plan
    rack = before.host("host-a1").location_id
    order = [h.id for h in before.hosts if h.location_id == rack]
    hands.selection.set(["host-a1"])
    hands.key(Qt.Key.Key_Down, ALT)
    assert [h.id for h in hands.plan.hosts if h.location_id == rack] == [order[1], order[0], *order[2:]]
    hands.key(Qt.Key.Key_Up, ALT)
    assert [h.id for h in hands.plan.hosts if h.location_id == rack] == order
    hands.document.undo_stack.undo()
    hands.document.undo_stack.undo()
    assert hands.plan is before


def test_steps_of_a_free_object_become_one_undo_step(hands) -> None:
    before = hands.plan
    rack = before.locations[0].id
    left = hands.scene.layout.locations[rack].rect.x
    hands.selection.set([rack])
    for _ in range(3):
        hands.key(Qt.Key.Key_Right, ALT)
    assert hands.plan.by_id[rack].position.x == left + 24
    assert hands.document.undo_stack.count() == 1
    hands.document.undo_stack.undo()
    assert hands.plan is before


def test_letters_give_the_selected_disk_a_role_and_take_it_back(hands) -> None:
    node = hands.plan.data_nodes[0]
    disk = hands.plan.host(node.host_id).disks[1].id
    hands.selection.set([disk])
    hands.key(Qt.Key.Key_R)
    assert hands.plan.by_id[node.id].disk_roles.disk_of(DiskRole.REDO) == disk
    hands.key(Qt.Key.Key_R)
    assert hands.plan.by_id[node.id].disk_roles.disk_of(DiskRole.REDO) is None


def test_renaming_on_the_canvas(hands) -> None:
    hands.view.start_rename("host-a1")
    field = hands.view.viewport().findChild(object, "renameField")
    field.setText("db-one")
    field.finish(commit=True)
    assert hands.plan.host("host-a1").hostname == "db-one"
    hands.view.start_rename("host-a1")
    field = hands.view._rename
    field.setText("two words")
    field.finish(commit=True)
    assert hands.plan.host("host-a1").hostname == "db-one"
    assert len(hands.errors) == 1
    hands.view.start_rename("host-a1")
    hands.view._rename.setText("never")
    hands.key(Qt.Key.Key_Escape)
    assert hands.plan.host("host-a1").hostname == "db-one"
    QApplication.sendPostedEvents(None, 52)


def test_the_current_object_has_a_name_for_screen_readers(hands) -> None:
    hands.selection.set(["host-a1"])
    assert "host-a1" in hands.view.accessibleDescription()
    disk = hands.plan.host("host-a1").disks[0]
    hands.selection.set([disk.id])
    assert disk.name in hands.view.accessibleDescription()
    assert "REDO" in hands.view.accessibleDescription()
