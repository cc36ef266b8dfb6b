"""What a pointer does on the canvas: each drag is one undoable step; undo gives the identical plan back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QToolTip

from ndbplan.desktop.canvas.input.drops import Drop
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan

SHIFT = Qt.KeyboardModifier.ShiftModifier


def test_a_host_dragged_onto_one_of_another_rack_takes_the_next_free_place(hands) -> None:
    before = hands.plan
    host_b1 = hands.scene.item_of("host-b1").rect_in_scene()
    hands.drag(hands.grip("app-a1"), QPointF(host_b1.center().x(), host_b1.top() + 10))
    rack_b = before.host("host-b1").location_id
    assert hands.plan.host("app-a1").location_id == rack_b
    assert [h.id for h in hands.plan.hosts if h.location_id == rack_b] == ["host-b1", "app-b1", "app-a1"]
    assert hands.document.undo_stack.undoText() == "Move app-a1 to Rack B"
    hands.document.undo_stack.undo()
    assert hands.plan is before


def test_a_host_is_dragged_onto_the_free_canvas_and_stays_on_the_grid(hands) -> None:
    start = hands.grip("app-a1")
    bottom = max(hands.scene.item_of(rack.id).rect_in_scene().bottom() for rack in hands.plan.locations)
    hands.drag(start, QPointF(start.x(), bottom + 150))
    host = hands.plan.host("app-a1")
    assert host.location_id is None
    assert host.position is not None
    assert host.position.x % 8 == 0
    assert host.position.y % 8 == 0
    box = hands.scene.layout.hosts["app-a1"]
    assert (box.x, box.y) == (host.position.x, host.position.y)


def test_a_host_dropped_where_it_was_changes_nothing(hands) -> None:
    plan = hands.plan
    start = hands.grip("host-a1")
    hands.drag(start, start + QPointF(14, 3))
    assert hands.plan is plan
    item = hands.scene.item_of("host-a1")
    assert (item.x(), item.y()) == (
        hands.scene.layout.hosts["host-a1"].x,
        hands.scene.layout.hosts["host-a1"].y,
    )
    assert item.opacity() == 1.0


def test_escape_gives_a_drag_up(hands) -> None:
    plan = hands.plan
    start = hands.grip("host-a1")
    hands.press(start)
    hands.move(start + QPointF(500, 200))
    assert hands.view.is_busy
    assert hands.scene.item_of("host-a1").x() > hands.scene.layout.hosts["host-a1"].x
    hands.key(Qt.Key.Key_Escape)
    assert not hands.view.is_busy
    assert hands.scene.item_of("host-a1").x() == hands.scene.layout.hosts["host-a1"].x
    hands.release(start + QPointF(500, 200))
    assert hands.plan is plan
    assert not hands.document.undo_stack.canUndo()


def test_a_rack_is_dragged_with_everything_inside(hands) -> None:
    rack = hands.plan.locations[0].id
    chip = hands.centre(hands.plan.data_nodes[0].id)
    hands.drag(hands.grip(rack), hands.grip(rack) + QPointF(-160, -80))
    assert hands.plan.by_id[rack].position is not None
    moved = hands.centre(hands.plan.data_nodes[0].id) - chip
    assert abs(moved.x() + 160) <= 8
    assert abs(moved.y() + 80) <= 8
    hands.document.undo_stack.undo()
    assert hands.centre(hands.plan.data_nodes[0].id) == chip


def test_a_data_node_is_dragged_to_another_host_and_its_roles_follow(hands) -> None:
    before = hands.plan
    node = before.data_nodes[0]
    redo_disk = before.by_id[node.disk_roles.redo].name
    hands.drag(hands.centre(node.id), hands.grip("host-b1"))
    moved = hands.plan.by_id[node.id]
    assert moved.host_id == "host-b1"
    disk = hands.plan.by_id[moved.disk_roles.redo]
    assert disk.name == redo_disk
    assert hands.plan.host_of_disk[disk.id].id == "host-b1"
    assert hands.scene.host_of(node.id) == "host-b1"
    hands.document.undo_stack.undo()
    assert hands.plan is before
    assert hands.scene.host_of(node.id) == node.host_id


def test_what_one_disk_takes_is_dragged_to_another_disk_of_the_host(hands) -> None:
    node = hands.plan.data_nodes[0]
    first, second = hands.plan.host(node.host_id).disks[:2]
    assert node.disk_roles.redo == first.id
    hands.drag(hands.centre(first.id), hands.centre(second.id))
    assert hands.plan.by_id[node.id].disk_roles.disk_of(DiskRole.REDO) == second.id


def test_a_disk_is_dragged_to_another_host_and_its_roles_are_taken_up_there(hands) -> None:
    before = hands.plan
    one, other = before.data_nodes[:2]
    disk = before.host(one.host_id).disks[0]
    roles = [role for role in DiskRole if one.disk_roles.disk_of(role) == disk.id]
    assert roles
    hands.drag(hands.centre(disk.id), hands.grip(other.host_id))
    plan = hands.plan
    assert plan.host_of_disk[disk.id].id == other.host_id
    names = [each.name for each in plan.host(other.host_id).disks]
    assert len(names) == len(set(names))
    assert all(plan.by_id[other.id].disk_roles.disk_of(role) == disk.id for role in roles)
    assert all(plan.by_id[one.id].disk_roles.disk_of(role) is None for role in roles)
    assert loads(dumps(plan), name="moved") == plan
    hands.document.undo_stack.undo()
    assert hands.plan is before


@pytest.mark.parametrize("what", ["disk", "node"])
def test_a_drag_that_leads_nowhere_says_why_at_the_pointer(hands, what) -> None:
    plan = hands.plan
    node = plan.data_nodes[0]
    start = hands.centre(plan.host(node.host_id).disks[0].id if what == "disk" else node.id)
    hands.drag(start, hands.scene.content_rect().topLeft() - QPointF(60, 60))
    assert hands.plan is plan
    assert "drop it on one" in QToolTip.text()
    QToolTip.hideText()


def test_a_marquee_selects_the_hosts_it_touches(hands) -> None:
    area = hands.scene.content_rect()
    hands.drag(area.topLeft() - QPointF(20, 20), hands.centre("host-a1"))
    assert "host-a1" in hands.selection.ids
    assert "host-b1" not in hands.selection.ids
    hands.click(area.topLeft() - QPointF(20, 20))
    assert hands.selection.ids == ()


def test_shift_adds_to_the_selection_and_takes_away(hands) -> None:
    hands.click(hands.grip("host-a1"))
    hands.click(hands.grip("host-b1"), held=SHIFT)
    assert hands.selection.ids == ("host-a1", "host-b1")
    hands.click(hands.grip("host-a1"), held=SHIFT)
    assert hands.selection.ids == ("host-b1",)


def test_several_selected_hosts_move_together_as_one_step(hands) -> None:
    before = hands.plan
    hands.click(hands.grip("host-a1"))
    hands.click(hands.grip("app-a1"), held=SHIFT)
    rack_b = before.host("host-b1").location_id
    target = hands.scene.item_of(rack_b).rect_in_scene()
    hands.drag(hands.grip("app-a1"), QPointF(target.center().x(), target.bottom() - 4))
    inside = [h.id for h in hands.plan.hosts if h.location_id == rack_b]
    assert inside == ["host-b1", "app-b1", "host-a1", "app-a1"]
    assert hands.document.undo_stack.count() == 1
    hands.document.undo_stack.undo()
    assert hands.plan is before


def test_the_name_of_a_node_group_selects_its_members(hands) -> None:
    ribbon = hands.scene._ribbons[0]
    hands.click(ribbon._pill.center())
    assert hands.selection.ids == hands.scene.layout.groups[0]


def test_the_middle_button_pans(hands) -> None:
    before = hands.view.visible_rect().topLeft()
    hands.drag(QPointF(0, 0), QPointF(60, 30), button=Qt.MouseButton.MiddleButton)
    moved = hands.view.visible_rect().topLeft() - before
    assert (round(moved.x()), round(moved.y())) != (0, 0)
    assert not hands.document.undo_stack.canUndo()


def test_an_edit_from_elsewhere_ends_a_drag(hands) -> None:
    start = hands.grip("host-a1")
    hands.press(start)
    hands.move(start + QPointF(100, 100))
    hands.view.editor.add_offer("host-small")
    assert not hands.view.is_busy
    hands.release(start + QPointF(100, 100))
    assert hands.document.undo_stack.count() == 1


def test_a_drag_that_rests_at_the_edge_takes_the_view_along_and_stops_with_the_drag(hands, qtbot) -> None:
    view = hands.view
    start = hands.grip("host-a1")
    hands.press(start)
    hands.move(view.mapToScene(view.viewport().rect().center()))
    edge = view.mapToScene(view.viewport().width() - 4, view.viewport().height() // 2)
    hands.move(edge)
    before = view.visible_rect().left()
    qtbot.waitUntil(lambda: view.visible_rect().left() > before + 60, timeout=5000)
    assert hands.scene.item_of("host-a1").x() > hands.scene.layout.hosts["host-a1"].x + 60
    hands.key(Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not view._edges._timer.isActive(), timeout=5000)


def test_escape_during_a_marquee_keeps_the_selection_of_before(hands) -> None:
    hands.selection.set(["app-b1"])
    corner = hands.scene.content_rect().topLeft() - QPointF(20, 20)
    hands.press(corner)
    hands.move(hands.centre("host-a1"))
    assert hands.scene.item_of("host-a1").is_selected
    assert not hands.scene.item_of("app-b1").is_selected
    hands.key(Qt.Key.Key_Escape)
    hands.release(corner)
    assert hands.selection.ids == ("app-b1",)
    assert hands.scene.item_of("app-b1").is_selected
    assert not hands.scene.item_of("host-a1").is_selected


def test_from_far_the_pointer_says_that_a_mark_goes_with_its_host(hands_on, monkeypatch) -> None:
    """A disk is drawn as a box of its own there, and a drag of it took the host without a word."""
    hands = hands_on(sample_plan("starter"), zoom=0.3)
    said: list[str] = []
    monkeypatch.setattr(hands.view, "say_at", lambda point, text: said.append(text))
    assert hands.scene.look.is_far
    assert not hands.scene.look.shows_tiles
    host = hands.plan.host("host-a1")
    box = hands.scene.layout.hosts[host.id]
    chip, tile = box.card.chips[0], box.card.tiles[0]
    for mark, name in ((chip, chip.text), (tile, tile.disk.name)):
        at = QPointF(box.x + mark.rect.x + 20, box.y + mark.rect.y + 10)
        hands.press(at)
        hands.move(at + QPointF(200, 0))
        hands.key(Qt.Key.Key_Escape)
        assert said == [f"From so far a drag takes host-a1: zoom in for {name}."]
        said.clear()
    hands.press(QPointF(box.x + 20, box.y + 12))
    hands.move(QPointF(box.x + 220, box.y + 12))
    hands.key(Qt.Key.Key_Escape)
    assert said == []
    role = Drop(hands.view, "redo")
    role.move(hands.centre("host-a1"))
    assert role.refusal == "REDO goes onto a disk: zoom in, and drop it on one."
    role.cancel()
