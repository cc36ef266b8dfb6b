"""Locations in locations on the canvas: drawn around, moved together, dropped in and taken out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication

from ndbplan.desktop.canvas.input.drops import mime_of
from ndbplan.desktop.layout.collision import GRID, covered
from ndbplan.desktop.layout.layout import Layout, Layouter
from ndbplan.desktop.look.rect import Rect
from ndbplan.edits import parts as edits
from ndbplan.edits.arrange import put_inside
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

from .test_stillness import _KINDS, _act


def _nested() -> Plan:
    outer = (Location(id="site", name="Site 1"), Location(id="room", name="Room 1", parent_id="site"))
    return put_inside(edits.add(sample_plan("starter"), *outer), ["rack-a", "rack-b"], "room")


def _corners(layout: Layout) -> dict[str, tuple[float, float]]:
    """Where all stands that no frame follows: innermost locations and hosts."""
    corners = {i: (box.rect.x, box.rect.y) for i, box in layout.locations.items() if not box.children}
    return corners | {i: (box.x, box.y) for i, box in layout.hosts.items()}


def _standing(layout: Layout) -> dict[str, tuple[float, float]]:
    """The same without hosts that stand in the slots of a location, but from where those begin."""
    held = [box for box in layout.locations.values() if box.hosts]
    slots = {host_id for box in held for host_id in box.hosts}
    corners = {i: at for i, at in _corners(layout).items() if i not in slots}
    return corners | {f"hosts of {box.location.id}": (box.origin.x, box.origin.y) for box in held}


def _holds(outer: Rect, inner: Rect) -> bool:
    return (
        outer.x < inner.x and outer.y < inner.y and outer.right > inner.right and outer.bottom > inner.bottom
    )


def _frames_hold(layout: Layout) -> bool:
    boxes = layout.locations
    inner = [(box, boxes[i].rect) for box in boxes.values() for i in box.children]
    inner += [(box, layout.hosts[i].rect) for box in boxes.values() for i in box.hosts]
    return all(_holds(box.rect, rect) for box, rect in inner)


def test_a_frame_is_around_all_that_is_in_it(qapp: object) -> None:
    layout = Layouter().layout(_nested())
    assert _frames_hold(layout)
    assert [layout.locations[i].depth for i in ("site", "room", "rack-a", "rack-c")] == [0, 1, 2, 0]
    assert covered(layout) == ()
    mixed = edits.update(_nested(), _nested().hosts_in(["rack-c"])[0].id, location_id="room")
    assert _frames_hold(Layouter().layout(mixed))
    assert covered(Layouter().layout(mixed)) == ()


@pytest.mark.parametrize("outer", ["site", "room"])
def test_the_outer_one_takes_all_in_it_along_and_nothing_else(hands_on: Any, outer: str) -> None:
    hands = hands_on(_nested(), zoom=0.5)
    plan, before = hands.plan, _corners(hands.scene.layout)
    hands.drag(hands.grip(outer), hands.grip(outer) + QPointF(-160, 240))
    after = _corners(hands.scene.layout)
    moved = {i: (after[i][0] - x, after[i][1] - y) for i, (x, y) in before.items()}
    along = {"rack-a", "rack-b", *(h.id for h in plan.hosts_in([outer]))}
    assert {i for i, by in moved.items() if by != (0.0, 0.0)} == along
    ((dx, dy),) = {moved[i] for i in along}
    assert (abs(dx + 160) <= GRID, abs(dy - 240) <= GRID) == (True, True)
    assert hands.plan.by_id["room"].parent_id == "site"
    hands.document.undo_stack.undo()
    assert hands.plan is plan


def test_a_location_is_dropped_into_another_and_taken_out_again(hands_on: Any) -> None:
    hands = hands_on(_nested(), zoom=0.5)
    plan, before = hands.plan, _corners(hands.scene.layout)
    room = hands.scene.item_of("room").rect_in_scene()
    free = QPointF(hands.scene.item_of("rack-a").rect_in_scene().right() + 40, room.center().y())
    start = hands.grip("rack-c")
    hands.drag(start, free)
    assert hands.plan.by_id["rack-c"].parent_id == "room"
    assert abs(hands.grip("rack-c").x() - free.x()) <= 8
    after = _corners(hands.scene.layout)
    inside = {"rack-c", *(h.id for h in plan.hosts_in(["rack-c"]))}
    assert {i: after[i] for i in after.keys() - inside} == {i: before[i] for i in before.keys() - inside}
    assert _frames_hold(hands.scene.layout)
    out = hands.scene.item_of("site").rect_in_scene().bottomLeft() + QPointF(300, 200)
    hands.drag(hands.grip("rack-c"), out)
    assert hands.plan.by_id["rack-c"].parent_id is None
    # The site is never put into its own room.
    hands.drag(hands.grip("site"), hands.grip("room"))
    assert hands.plan.by_id["site"].parent_id is None
    while hands.document.undo_stack.canUndo():
        hands.document.undo_stack.undo()
    assert hands.plan is plan


def test_the_palette_drops_a_rack_into_a_room_and_copies_keep_what_is_in_them(hands_on: Any) -> None:
    hands = hands_on(_nested(), zoom=0.5)
    known = set(hands.plan.by_id)
    hands.drop(mime_of("rack"), hands.grip("room"))
    (new,) = (p for p in hands.plan.locations if p.id not in known)
    assert new.parent_id == "room"
    hands.selection.set(["room"])
    hands.view.editor.duplicate()
    (copy,) = (p for p in hands.plan.locations if p.id not in {*known, new.id} and p.parent_id == "site")
    assert len(hands.plan.hosts_in([copy.id])) == len(hands.plan.hosts_in(["room"]))
    assert copy.parent_id == "site"


def test_keys_move_a_room_with_all_in_it_and_a_host_comes_below_its_racks(hands_on: Any) -> None:
    hands = hands_on(_nested(), zoom=0.5)
    before = _corners(hands.scene.layout)
    hands.selection.set(["room"])
    hands.key(Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    after = _corners(hands.scene.layout)
    along = {"rack-a", "rack-b", *(h.id for h in hands.plan.hosts_in(["room"]))}
    assert {i for i in before if after[i] != before[i]} == along
    assert {(after[i][0] - before[i][0], after[i][1] - before[i][1]) for i in along} == {(GRID, 0.0)}
    hands.drop(mime_of("host-small"), hands.grip("room"))
    new = next(h for h in hands.plan.hosts if h.location_id == "room")
    stands = hands.scene.layout.hosts[new.id].rect
    assert stands.y > hands.scene.layout.locations["rack-a"].rect.bottom
    settled = _corners(hands.scene.layout)
    assert {i: settled[i] for i in after} == after
    assert _frames_hold(hands.scene.layout)
    assert hands.scene.overlaps.pairs == ()


def test_a_frame_keeps_its_corner_whatever_comes_into_it_and_goes(hands_on: Any) -> None:
    alone = Location(id="site", name="Site 1", position=Point(x=0.0, y=700.0))
    hands = hands_on(edits.add(sample_plan("starter"), alone), zoom=0.5)

    def corner() -> tuple[float, float]:
        rect = hands.scene.layout.locations["site"].rect
        return rect.x, rect.y

    stood = corner()
    hands.drag(hands.grip("rack-c"), hands.grip("site") + QPointF(210, 70))
    assert hands.plan.by_id["rack-c"].parent_id == "site"
    assert corner() == stood
    assert _frames_hold(hands.scene.layout)
    hands.drop(mime_of("host-small"), hands.grip("site"))
    assert [h.location_id for h in hands.plan.hosts].count("site") == 1
    assert corner() == stood
    assert _frames_hold(hands.scene.layout)
    assert hands.scene.overlaps.pairs == ()
    hands.drag(hands.grip("rack-c"), hands.grip("site") + QPointF(1500, 300))
    assert hands.plan.by_id["rack-c"].parent_id is None
    assert corner() == stood


@given(st.lists(st.sampled_from(_KINDS), min_size=2, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_what_nobody_moves_stands_still_in_a_nest(hands_on: Any, kinds: list[str], choose: Any) -> None:
    QGuiApplication.clipboard().clear()
    hands = hands_on(_nested(), zoom=0.5)
    for kind in kinds:
        before = _standing(hands.scene.layout)
        _act(hands, kind, choose)
        after = _standing(hands.scene.layout)
        if kind in ("undo", "redo"):
            continue
        same = before.keys() & after.keys()
        assert {i: after[i] for i in same} == {i: before[i] for i in same}, kind
        assert _frames_hold(hands.scene.layout)
