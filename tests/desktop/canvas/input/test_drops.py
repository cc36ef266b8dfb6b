"""What the palette drags in lands where the pointer is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPointF, QUrl
from PySide6.QtGui import QCursor, QDragLeaveEvent
from PySide6.QtWidgets import QApplication, QToolTip, QWidget

from ndbplan.desktop.canvas.input.drops import key_in, mime_of
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.processes import DiskRole


def test_a_host_dropped_onto_one_of_a_rack_takes_the_next_free_place(hands) -> None:
    before = hands.plan
    rect = hands.scene.item_of("app-a1").rect_in_scene()
    hands.drop(mime_of("host-small"), QPointF(rect.center().x(), rect.top() + 5))
    new = [h for h in hands.plan.hosts if h.id not in before.by_id]
    assert len(new) == 1
    rack_a = before.host("app-a1").location_id
    assert [h.id for h in hands.plan.hosts if h.location_id == rack_a] == ["host-a1", "app-a1", new[0].id]
    assert hands.selection.ids == (new[0].id,)
    hands.document.undo_stack.undo()
    assert hands.plan is before


def test_a_host_on_free_canvas_stands_where_it_fell(hands) -> None:
    area = hands.scene.content_rect()
    point = area.bottomRight() + QPointF(30, 60)
    hands.drop(mime_of("host-large"), point)
    host = hands.plan.hosts[-1]
    assert host.position is not None
    assert abs(host.position.x + 220 - point.x()) <= 8


def test_a_disk_lands_on_the_host(hands) -> None:
    hands.drop(mime_of("nvme"), hands.grip("host-a1"))
    disk = hands.plan.host("host-a1").disks[-1]
    assert disk.id not in [d.id for d in hands.plan.host("host-b1").disks]
    assert len({d.mount_point for d in hands.plan.host("host-a1").disks}) == len(
        hands.plan.host("host-a1").disks
    )
    assert "sequential_write_bytes_per_s" in disk.assumed


@pytest.mark.parametrize("kind", ["management", "data", "sql", "api"])
def test_a_process_lands_on_the_host_with_a_free_node_id(hands, kind) -> None:
    used = {p.node_id for p in hands.plan.processes}
    hands.drop(mime_of(kind), hands.grip("app-b1"))
    process = hands.plan.processes[-1]
    assert process.kind == kind
    assert process.host_id == "app-b1"
    assert process.node_id not in used


def test_a_data_node_on_an_empty_canvas_brings_its_host(hands_on) -> None:
    hands = hands_on(EMPTY_PLAN)
    hands.drop(mime_of("data"), QPointF(300, 200))
    assert len(hands.plan.hosts) == 1
    assert hands.plan.data_nodes[0].host_id == hands.plan.hosts[0].id
    hands.document.undo_stack.undo()
    assert hands.plan is EMPTY_PLAN


def test_a_role_lands_on_a_disk_for_every_data_node_of_the_host(hands) -> None:
    before = hands.plan
    node = before.data_nodes[0]
    disk = before.host(node.host_id).disks[1]
    hands.drop(mime_of("redo"), hands.centre(disk.id))
    assert hands.plan.by_id[node.id].disk_roles.disk_of(DiskRole.REDO) == disk.id
    assert hands.plan.data_nodes[1] is before.data_nodes[1]
    hands.document.undo_stack.undo()
    assert hands.plan is before


def test_a_role_on_a_disk_without_data_nodes_says_why_not(hands) -> None:
    plan = hands.plan
    hands.drop(mime_of("redo"), hands.centre(plan.host("app-a1").disks[0].id))
    assert hands.plan is plan
    assert len(hands.errors) == 1
    assert "app-a1 has no data node" in hands.errors[0]


def test_a_disk_is_not_accepted_beside_a_host(hands) -> None:
    ground = hands.scene.content_rect().topLeft() - QPointF(30, 30)
    data = mime_of("nvme")
    hands.enter(data, ground)
    assert not hands.hover(data, ground)
    assert hands.hover(data, hands.grip("host-a1"))


def test_why_a_drop_is_refused_goes_along_with_the_pointer_and_stays_where_it_was_let_go(
    hands, qtbot, monkeypatch
) -> None:
    """The words stayed where the drag came onto the canvas, and went with the mouse button."""
    data, ground = mime_of("nvme"), hands.scene.content_rect().topLeft() - QPointF(60, 30)

    def tips() -> list[QWidget]:
        return [w for w in QApplication.topLevelWidgets() if w.inherits("QTipLabel") and w.isVisible()]

    hands.enter(data, ground)
    hands.hover(data, ground)
    before = tips()[0].pos()
    assert "goes onto a host" in QToolTip.text()
    hands.hover(data, ground + QPointF(50, 20))
    assert tips()[0].pos() != before
    at = hands.view.viewport().mapToGlobal(hands.view.mapFromScene(ground + QPointF(50, 20)))
    monkeypatch.setattr(QCursor, "pos", staticmethod(lambda: at))
    hands.view.dragLeaveEvent(QDragLeaveEvent())
    # As the mouse button does.
    tips()[0].close()
    assert not tips()
    qtbot.waitUntil(lambda: bool(tips()))
    assert "goes onto a host" in QToolTip.text()
    tips()[0].close()


def test_a_foreign_or_unknown_drag_is_left_alone(hands) -> None:
    data = QMimeData()
    data.setText("hello")
    assert key_in(data) is None
    data.setData("application/x-ndbplan-offer", b"\xff no such thing")
    assert key_in(data) is None
    hands.enter(data, QPointF(0, 0))
    assert not hands.view.is_busy


def test_files_are_left_to_the_window(hands, tmp_path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.ndbplan"))])
    assert not hands.hover(data, QPointF(0, 0))
