"""Ctrl and a drag: what is carried stays, a copy lands."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt

from ndbplan.desktop.look import theme
from ndbplan.plan.processes import DataNode, DiskRole

_CTRL = Qt.KeyboardModifier.ControlModifier


def _new(hands, before) -> list:
    return [part for part in hands.plan.objects() if part.id not in before.by_id]


def test_a_host_is_copied_into_another_rack_with_what_stands_on_it(hands) -> None:
    before = hands.plan
    target = hands.centre("app-b1") + QPointF(0, 30)
    hands.drag(hands.grip("host-a1"), target, held=_CTRL)
    host = hands.plan.hosts[-1] if hands.plan.hosts[-1].id not in before.by_id else None
    copy = host or next(h for h in hands.plan.hosts if h.id not in before.by_id)
    assert copy.location_id == before.host("app-b1").location_id
    assert hands.plan.host("host-a1") is before.host("host-a1")
    original = before.processes_of_host["host-a1"]
    assert [p.kind for p in hands.plan.processes_of_host[copy.id]] == [p.kind for p in original]
    assert hands.document.undo_stack.undoText() == "Copy host-a1 to Rack B"
    assert hands.selection.ids == (copy.id,)
    hands.document.undo_stack.undo()
    assert hands.plan is before


def test_a_host_is_copied_onto_the_free_canvas_where_it_is_dropped(hands) -> None:
    before = hands.plan
    grip = hands.grip("host-a1")
    box = hands.scene.layout.hosts["host-a1"]
    hands.drag(grip, grip + QPointF(0, 800), held=_CTRL)
    (copy,) = (h for h in hands.plan.hosts if h.id not in before.by_id)
    assert copy.location_id is None
    assert abs(copy.position.x - box.x) <= 8
    assert abs(copy.position.y - box.y - 800) <= 8


def test_a_rack_is_copied_with_everything_inside(hands) -> None:
    before = hands.plan
    rack = before.locations[0]
    grip = hands.scene.item_of(rack.id).rect_in_scene().topLeft() + QPointF(200, 12)
    hands.drag(grip, grip + QPointF(0, 900), held=_CTRL)
    (copy,) = (p for p in hands.plan.locations if p.id not in before.by_id)
    inside = [h for h in hands.plan.hosts if h.location_id == copy.id]
    assert len(inside) == len([h for h in before.hosts if h.location_id == rack.id])
    assert hands.plan.by_id[rack.id] is rack
    assert copy.position.y > 500


def test_a_data_node_is_copied_with_its_roles_to_disks_of_the_same_names(hands) -> None:
    before = hands.plan
    node = next(p for p in before.processes if isinstance(p, DataNode) and p.host_id == "host-a1")
    hands.drag(hands.centre(node.id), hands.grip("host-b1"), held=_CTRL)
    (copy,) = (p for p in hands.plan.processes if p.id not in before.by_id)
    assert (copy.host_id, copy.kind) == ("host-b1", "data")
    assert copy.node_id != node.node_id
    for role in DiskRole:
        was, now = node.disk_roles.disk_of(role), copy.disk_roles.disk_of(role)
        assert (was is None) == (now is None)
        if was is not None:
            assert before.by_id[was].name == hands.plan.by_id[now].name
            assert hands.plan.host_of_disk[now].id == "host-b1"


def test_a_disk_is_copied_into_another_host_or_its_own(hands) -> None:
    before = hands.plan
    disk = before.host("host-a1").disks[0]
    for host_id, place in (("app-a1", "app-a1"), ("host-a1", "host-a1")):
        count = len(hands.plan.host(host_id).disks)
        hands.drag(hands.centre(disk.id), hands.grip(place), held=_CTRL)
        added = hands.plan.host(host_id).disks[-1]
        assert len(hands.plan.host(host_id).disks) == count + 1
        assert added.capacity_bytes == disk.capacity_bytes
    names = [d.name for d in hands.plan.host("host-a1").disks]
    assert len(set(names)) == len(names)


def test_ctrl_and_a_click_still_adds_to_the_selection(hands) -> None:
    hands.click(hands.grip("host-a1"))
    hands.click(hands.grip("host-b1"), held=_CTRL)
    assert set(hands.selection.ids) == {"host-a1", "host-b1"}
    hands.click(hands.grip("host-a1"), held=_CTRL)
    assert hands.selection.ids == ("host-b1",)


def test_ctrl_held_or_let_go_during_a_drag_decides_at_the_drop(hands) -> None:
    before = hands.plan
    grip = hands.grip("host-a1")
    hands.press(grip)
    hands.move(grip + QPointF(0, 400))
    hands.key_down(Qt.Key.Key_Control)
    assert hands.view._gesture.copies
    hands.key_up(Qt.Key.Key_Control)
    assert not hands.view._gesture.copies
    hands.move(grip + QPointF(0, 800), held=_CTRL)
    hands.release(grip + QPointF(0, 800))
    assert len(hands.plan.hosts) == len(before.hosts)
    assert hands.plan.host("host-a1").location_id is None


@pytest.mark.parametrize("end", ["escape", "drop"])
def test_the_original_is_seen_where_it_stays_and_no_picture_of_it_is_left(hands, end) -> None:
    things = len(hands.scene.items())
    rect = hands.scene.item_of("host-a1").rect_in_scene()
    spot = QPointF(rect.right() - 60, rect.top() + 25)
    grip = hands.grip("host-a1")
    hands.press(grip, held=_CTRL)
    hands.move(grip + QPointF(0, 400), held=_CTRL)
    hands.move(grip + QPointF(0, 800), held=_CTRL)
    shown = hands.view.viewport().grab().toImage().pixelColor(hands.view.mapFromScene(spot)).name()
    assert shown == theme.tokens().card
    if end == "escape":
        hands.key(Qt.Key.Key_Escape)
        assert len(hands.scene.items()) == things
    else:
        hands.release(grip + QPointF(0, 800), held=_CTRL)
        hands.document.undo_stack.undo()
        assert len(hands.scene.items()) == things
    assert hands.scene.item_of("host-a1").rect_in_scene() == rect
