"""Zoom, pan, fit, minimap, menu, empty canvas."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from ndbplan.desktop.canvas.empty import EmptyCanvas
from ndbplan.desktop.canvas.first_steps import FirstSteps
from ndbplan.desktop.canvas.input import menus
from ndbplan.desktop.canvas.input.rename import RenameField
from ndbplan.desktop.canvas.legend import Legend
from ndbplan.desktop.canvas.minimap import Minimap
from ndbplan.desktop.canvas.stage import MAX_ZOOM, MIN_ZOOM
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan


def _wheel(view, at: QPointF, degrees: int, held=Qt.KeyboardModifier.NoModifier) -> None:
    port = view.viewport()
    event = QWheelEvent(
        at, port.mapToGlobal(at), QPoint(0, 0), QPoint(0, degrees * 8), Qt.MouseButton.NoButton, held,
        Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(port, event)


def test_the_wheel_zooms_and_holds_what_is_under_the_pointer(hands) -> None:
    view = hands.view
    at = QPointF(400, 300)
    before = view.mapToScene(at.toPoint())
    _wheel(view, at, 45)
    assert view.zoom > 1.3
    shift = view.mapToScene(at.toPoint()) - before
    assert abs(shift.x()) < 2
    assert abs(shift.y()) < 2


def test_zoom_stays_within_bounds(hands) -> None:
    hands.view.set_zoom(1e9)
    assert hands.view.zoom == MAX_ZOOM
    hands.view.set_zoom(1e-9)
    assert hands.view.zoom == MIN_ZOOM


def test_fit_shows_everything_and_keeps_doing_so_when_the_window_changes(hands_on, qtbot) -> None:
    hands = hands_on(sample_plan("telecom-144"))
    hands.view.fit()
    assert hands.view.visible_rect().contains(hands.scene.content_rect())
    hands.view.resize(700, 500)
    assert hands.view.visible_rect().contains(hands.scene.content_rect())
    hands.view.set_zoom(1.0)
    hands.view.resize(800, 600)
    assert hands.view.zoom == 1.0


def test_large_letters_of_the_legend_lie_over_no_host(hands_on) -> None:
    hands = hands_on(sample_plan("redo-overload"))
    hands.view.resize(900, 370)
    hands.view.fit()
    legend = Legend(hands.view)
    legend.follow()
    before = hands.view.zoom
    legend.setStyleSheet("QToolButton { font-size: 24px; padding: 12px; }")
    legend.follow()
    hands.view.resize(901, 370)
    lowest = hands.view.mapFromScene(hands.scene.content_rect().bottomLeft()).y()
    assert lowest <= legend.y()
    assert hands.view.zoom < before


def test_a_new_object_out_of_sight_is_brought_into_view(hands) -> None:
    hands.view.set_zoom(2.5)
    hands.view.centerOn(hands.grip("host-a1"))
    assert not hands.view.visible_rect().contains(hands.centre("app-b1"))
    hands.view.bring_into_view(("app-b1",))
    assert hands.view.visible_rect().contains(hands.centre("app-b1"))


def test_what_is_added_out_of_sight_is_announced_and_the_view_stays(hands_on) -> None:
    hands = hands_on(sample_plan("add-nodes"), zoom=1.5)
    told: list[tuple[str, ...]] = []
    hands.view.out_of_sight.connect(told.append)
    hands.view.pan_by(QPoint(-9000, -9000))
    seen = hands.view.visible_rect()
    assert hands.view.editor.add_offer("host-small")
    assert told == [hands.selection.ids]
    assert hands.view.visible_rect() == seen
    hands.view.bring_into_view(told[0])
    assert hands.view.visible_rect().contains(hands.scene.item_of(told[0][0]).rect_in_scene())


def test_a_new_node_group_under_the_first_steps_is_announced_and_brought_out_from_under_them(
    hands_on,
) -> None:
    """Its hosts lay under the row, and nothing was said: they were inside the window."""
    hands = hands_on(sample_plan("add-nodes").replace(workloads=()), zoom=0.8)
    view, before = hands.view, {host.id for host in hands.plan.hosts}
    row = FirstSteps(view)
    assert row.isVisibleTo(view)
    # So that what comes below everything else comes where the row lies.
    lowest = hands.scene.content_rect().bottomLeft()
    view.pan_by(QPoint(60, row.y() - 30) - view.mapFromScene(lowest))
    told: list[tuple[str, ...]] = []
    view.out_of_sight.connect(told.append)
    seen = view.visible_rect()
    assert view.editor.add_node_group()
    new = [host.id for host in hands.plan.hosts if host.id not in before]
    under = [i for i in new if view.mapFromScene(hands.centre(i)).y() > row.y()]
    assert under, "no new host lies under the row"
    assert told == [tuple(under)]
    assert view.visible_rect() == seen
    view.bring_into_view(told[0])
    for host_id in under:
        place = view.mapFromScene(hands.scene.item_of(host_id).rect_in_scene()).boundingRect()
        assert view.viewport().rect().contains(place)
        assert not place.intersects(row.geometry())


def test_the_minimap_goes_where_it_is_clicked(hands_on) -> None:
    hands = hands_on(sample_plan("telecom-144"), zoom=1.0)
    minimap = Minimap(hands.view)
    minimap._follow()
    assert minimap.isVisibleTo(hands.view)
    minimap._go(QPointF(minimap.width() - 12, minimap.height() / 2))
    right = hands.scene.content_rect().right()
    assert hands.view.visible_rect().right() > right - 400
    hands.view.fit()
    assert not minimap.isVisibleTo(hands.view)


def test_the_menu_of_a_disk_ticks_and_toggles_its_roles(hands) -> None:
    node = hands.plan.data_nodes[0]
    disk = node.disk_roles.redo
    menu = menus.canvas_menu(hands.view, hands.scene.item_of(disk), hands.view.start_rename)
    ticked = {a.text().split("\t")[0] for a in menu.actions() if a.isChecked()}
    assert "REDO" in ticked
    next(a for a in menu.actions() if a.text().startswith("REDO")).trigger()
    assert hands.plan.by_id[node.id].disk_roles.disk_of(DiskRole.REDO) is None
    menu.close()
    menu.deleteLater()


def test_every_kind_of_object_has_a_menu(hands) -> None:
    for object_id in (hands.plan.locations[0].id, "host-a1", hands.plan.data_nodes[0].id):
        menu = menus.canvas_menu(hands.view, hands.scene.item_of(object_id), hands.view.start_rename)
        assert any(a.text().startswith("Delete") for a in menu.actions())
        menu.deleteLater()
    empty = menus.canvas_menu(hands.view, None, hands.view.start_rename)
    assert any(a.text().startswith("Select all") for a in empty.actions())
    empty.deleteLater()


def test_an_empty_canvas_says_how_to_begin_until_there_is_something(hands_on) -> None:
    hands = hands_on(EMPTY_PLAN)
    hint = EmptyCanvas(hands.view)
    assert hint.isVisibleTo(hands.view)
    hands.view.editor.add_offer("host-small")
    assert not hint.isVisibleTo(hands.view)
    hands.document.undo_stack.undo()
    assert hint.isVisibleTo(hands.view)


def test_hovering_survives_the_removal_of_what_is_hovered(hands) -> None:
    hands.move(hands.grip("host-a1"))
    assert hands.scene.item_of("host-a1").is_hovered
    hands.selection.set(["host-a1"])
    hands.view.editor.delete()
    hands.move(hands.grip("host-b1"))
    assert hands.scene.item_of("host-b1").is_hovered
    QApplication.sendEvent(hands.view, QEvent(QEvent.Type.Leave))
    assert not hands.scene.item_of("host-b1").is_hovered


def test_a_name_that_is_typed_stays_over_its_object_and_goes_with_it(hands_on, qtbot) -> None:
    hands = hands_on(EMPTY_PLAN)
    view = hands.view
    host = view.editor.add_offer("host-small")
    assert host
    (host,) = (one.id for one in view.document.plan.hosts)
    view.start_rename(host)
    field = view.findChild(RenameField)
    qtbot.keyClicks(field, "other")
    view.pan_by(QPoint(40, 30))
    corner = view.mapFromScene(view.canvas_scene.item_of(host).rect_in_scene().topLeft())
    assert field.pos() == corner + QPoint(6, 5)
    view.document.undo_stack.undo()
    assert not view.is_renaming
    assert field.isHidden()
    view.document.undo_stack.redo()
    assert [one.hostname for one in view.document.plan.hosts] != ["other"]
