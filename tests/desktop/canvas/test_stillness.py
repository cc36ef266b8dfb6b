"""Nothing moves unless a person moves it: neither what an edit leaves alone, nor the view."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QGuiApplication

from ndbplan.desktop.canvas.input.drops import mime_of
from ndbplan.desktop.canvas.legend import Legend
from ndbplan.desktop.layout.collision import GRID, covered, overlap, standing
from ndbplan.desktop.layout.layout import Layouter
from ndbplan.edits import parts as edits
from ndbplan.edits.palette import offers
from ndbplan.plan.fields import Point
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

_KINDS = (
    "drop",
    "into",
    "move",
    "out",
    "copy",
    "paste",
    "duplicate",
    "delete",
    "grow",
    "disk",
    "undo",
    "redo",
)
_TOP = (QPointF(0, 0), QPointF(640, 360))


def _places(hands: Any) -> dict[str, tuple[float, float]]:
    layout = hands.scene.layout
    places = {i: (rect.x, rect.y) for i, rect in standing(layout).items()}
    # The frame of a location goes around what is dropped into it.
    around = {i: (box.origin.x, box.origin.y) for i, box in layout.locations.items() if i in places}
    hosts = {i: (box.x, box.y) for i, box in layout.hosts.items()}
    return places | around | hosts


def _view(hands: Any) -> list[QPointF]:
    return [hands.view.mapToScene(point.toPoint()) for point in _TOP]


def _in_a_rack(hands: Any, choose: Any) -> QPointF:
    rects = [hands.scene.item_of(place.id).rect_in_scene() for place in hands.plan.locations]
    rect = choose.choice(rects) if rects else QRectF(0, 0, 400, 300)
    return QPointF(choose.uniform(rect.left(), rect.right()), choose.uniform(rect.top(), rect.bottom()))


def _act(hands: Any, kind: str, choose: Any) -> tuple[str, ...]:
    """What a person does; answers the ids of what they move with it."""
    editor, stack = hands.view.editor, hands.document.undo_stack
    seen = hands.view.visible_rect().adjusted(60, 60, -60, -60)
    somewhere = QPointF(choose.uniform(seen.left(), seen.right()), choose.uniform(seen.top(), seen.bottom()))
    if kind == "drop":
        hands.drop(mime_of(choose.choice(offers()).key), somewhere)
    elif kind in ("move", "out") and hands.plan.hosts:
        hands.selection.set(())
        to = _in_a_rack(hands, choose) if kind == "move" else somewhere
        grip = hands.grip(choose.choice(hands.plan.hosts).id)
        # What lies upon it is what the hand gets hold of.
        moved = hands.scene.item_at(grip, "host").object_id
        hands.drag(grip, to)
        return (moved,)
    elif kind == "into":
        hands.drop(mime_of(choose.choice(("host-small", "host-large"))), _in_a_rack(hands, choose))
    elif kind == "copy" and hands.plan.hosts:
        held = Qt.KeyboardModifier.ControlModifier
        hands.drag(hands.grip(choose.choice(hands.plan.hosts).id), somewhere, held=held)
    elif kind in ("paste", "duplicate", "delete"):
        if hands.plan.hosts:
            hands.selection.set([choose.choice([*hands.plan.hosts, *hands.plan.locations]).id])
        editor.copy()
        getattr(editor, kind)()
    elif kind == "grow":
        editor.add_node_group()
    elif kind == "disk" and hands.plan.hosts:
        editor.add_offer("nvme", onto=choose.choice(hands.plan.hosts).id)
    elif kind in ("undo", "redo"):
        getattr(stack, kind)()
    return ()


@given(st.lists(st.sampled_from(_KINDS), min_size=2, max_size=10), st.randoms(use_true_random=False))
@settings(max_examples=14, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_what_nobody_moves_stands_still(hands_on: Any, kinds: list[str], choose: Any) -> None:
    QGuiApplication.clipboard().clear()
    hands = hands_on(
        sample_plan(choose.choice(("starter", "add-nodes", "disk-data-8.4"))), zoom=choose.choice((0.5, 0.9))
    )
    stood: dict[int, dict[str, tuple[float, float]]] = {id(hands.plan): _places(hands)}
    plans = [hands.plan]
    for kind in kinds:
        before, seen = _places(hands), _view(hands)
        moved = _act(hands, kind, choose)
        after = _places(hands)
        assert _view(hands) == seen, kind
        if kind in ("undo", "redo"):
            assert after == stood[id(hands.plan)]
        else:
            still = before.keys() & after.keys() - {*moved}
            assert {i: after[i] for i in still} == {i: before[i] for i in still}, kind
        stood[id(hands.plan)] = after
        plans.append(hands.plan)


def test_a_drop_lands_under_the_pointer_also_the_first_one(hands_on: Any) -> None:
    hands = hands_on(EMPTY_PLAN, zoom=1.0)
    point = hands.view.mapToScene(320, 150)
    hands.drop(mime_of("host-small"), point)
    (host,) = hands.plan.hosts
    rect = hands.scene.item_of(host.id).rect_in_scene()
    assert rect.contains(point)
    assert abs(rect.center().x() - point.x()) <= GRID
    rack = hands.view.mapToScene(300, 170)
    hands.drop(mime_of("rack"), rack)
    (place,) = hands.plan.locations
    assert hands.scene.item_of(place.id).rect_in_scene().contains(rack)
    assert hands.scene.item_of(host.id).rect_in_scene() == rect
    assert [set(pair) for pair in hands.scene.overlaps.pairs] == [{host.id, place.id}]
    assert hands.view.editor.move_apart(hands.scene.overlaps.pairs)
    assert hands.scene.overlaps.pairs == ()


def test_the_legend_that_comes_with_the_first_host_leaves_the_view(hands_on: Any) -> None:
    hands = hands_on(EMPTY_PLAN)
    legend = Legend(hands.view)
    hands.view.fit()
    seen = _view(hands)
    hands.drop(mime_of("data"), hands.view.mapToScene(320, 150))
    assert not legend.isHidden()
    assert hands.view.legend_px > 0
    assert _view(hands) == seen


def test_a_card_that_grows_pushes_nothing_on(qapp: Any) -> None:
    layouter = Layouter()
    plan = sample_plan("add-nodes")
    before = standing(layouter.layout(plan))
    from ndbplan.desktop.layout.stillness import Stillness

    grown = plan
    for _ in range(6):
        host = grown.hosts[0]
        disk = host.disks[0].model_copy(update={"id": f"d{len(host.disks)}", "name": f"d{len(host.disks)}"})
        grown = Stillness(layouter).held(grown, edits.add_disk(grown, host.id, disk))
    after = standing(layouter.layout(grown))
    assert {i: (r.x, r.y) for i, r in after.items()} == {i: (r.x, r.y) for i, r in before.items()}


def test_what_is_added_by_command_covers_nothing(hands_on: Any) -> None:
    """Hosts that stand where they stood leave a place in the flow, which is not free."""
    hands = hands_on(EMPTY_PLAN)
    for key in ("host-small", "host-small", "data", "host-large", "rack", "host-small", "sql", "host-small"):
        hands.selection.set(())
        if key in ("data", "sql"):
            hands.selection.set([hands.plan.hosts[-1].id])
        assert hands.view.editor.add_beside_selection(key), key
        assert covered(hands.scene.layout) == (), key
    hands.selection.set([hands.plan.hosts[0].id])
    assert hands.view.editor.add_beside_selection("host-small")
    assert covered(hands.scene.layout) == ()


def test_hosts_that_come_together_stand_together_beside_those_that_were_placed(hands_on: Any) -> None:
    plan = sample_plan("add-nodes")
    hands = hands_on(edits.move(plan, {plan.hosts[0].id: Point(x=24.0, y=-400.0)}))
    for _ in range(3):
        before = standing(hands.scene.layout)
        assert hands.view.editor.add_node_group()
        after = standing(hands.scene.layout)
        assert {i: after[i] for i in before} == before
        one, other = (rect for i, rect in after.items() if i not in before)
        assert one.x == other.x or one.y == other.y
        assert covered(hands.scene.layout) == ()


def test_the_card_of_api_slots_covers_nothing_when_it_comes_and_is_moved_by_hand(
    hands_on: Any,
) -> None:
    plan = sample_plan("add-nodes")
    plan = edits.remove(plan, [p.id for p in plan.processes if p.kind == "api"])
    hands = hands_on(edits.move(plan, {plan.hosts[0].id: Point(x=40.0, y=-70.0)}))
    hands.selection.set([])
    hands.view.editor.add_offer("api")
    card = hands.scene.layout.loose.rect
    others = [rect for i, rect in standing(hands.scene.layout).items() if i]
    assert not any(overlap(card, other, 0.0) for other in others)
    slot = next(p for p in hands.plan.processes if p.kind == "api" and p.host_id is None)
    hands.drag(hands.grip(slot.id), QPointF(card.x + 20, card.y - 300))
    put = hands.scene.layout.loose.rect
    assert (put.x, put.y) != (card.x, card.y)
    assert put.x <= card.x + 20 <= put.right
    assert put.y <= card.y - 300 <= put.bottom
    hands.document.undo_stack.undo()
    assert hands.scene.layout.loose.rect == card


def _rack_of(layout: Any, place_id: str) -> dict[str, tuple[float, float]]:
    return {i: (layout.hosts[i].x, layout.hosts[i].y) for i in layout.locations[place_id].hosts}


def test_a_host_that_leaves_a_rack_leaves_a_gap_that_the_next_one_takes(hands_on: Any) -> None:
    plan = sample_plan("telecom-144")
    rack = plan.locations[0].id
    gone = [h for h in plan.hosts if h.location_id == rack][1]
    hands = hands_on(plan, zoom=0.5)
    stood = _rack_of(hands.scene.layout, rack)
    hands.selection.set([gone.id])
    hands.view.editor.delete()
    left = {i: place for i, place in stood.items() if i != gone.id}
    assert _rack_of(hands.scene.layout, rack) == left
    hands.selection.set([rack])
    assert hands.view.editor.add_beside_selection("host-small")
    (new,) = {h.id for h in hands.plan.hosts} - {h.id for h in plan.hosts}
    assert _rack_of(hands.scene.layout, rack) == left | {new: stood[gone.id]}
    hands.view.editor.arrange_all()
    assert all(h.slot is None for h in hands.plan.hosts)
    for _ in range(3):
        hands.document.undo_stack.undo()
    assert hands.plan is plan


def test_hosts_stay_where_their_rack_stood_and_one_from_elsewhere_brings_no_slot(hands_on: Any) -> None:
    hands = hands_on(sample_plan("starter"))
    rack, other = (place.id for place in hands.plan.locations[:2])
    top, below = (h.id for h in hands.plan.hosts if h.location_id == rack)
    stood = _rack_of(hands.scene.layout, rack)
    hands.document.edit("Move", lambda plan: edits.update(plan, top, location_id=other))
    there = _rack_of(hands.scene.layout, other)
    assert hands.plan.host(below).slot is not None
    assert _rack_of(hands.scene.layout, rack) == {below: stood[below]}
    hands.document.edit("Back", lambda plan: edits.update(plan, below, location_id=other))
    assert {i: place for i, place in _rack_of(hands.scene.layout, other).items() if i != below} == there
    assert hands.scene.overlaps.pairs == ()
    there = _rack_of(hands.scene.layout, other)
    hands.document.edit("Remove", lambda plan: edits.remove(plan, [other]))
    boxes = hands.scene.layout.hosts
    kept = {i: (boxes[i].x, boxes[i].y) for i in there if i in boxes}
    assert kept == {i: there[i] for i in kept}


def test_a_card_that_grows_in_a_rack_is_said_to_cover_the_next_which_goes_aside(hands_on: Any) -> None:
    hands = hands_on(sample_plan("starter"))
    rack = hands.plan.locations[0].id
    top, below = (h.id for h in hands.plan.hosts if h.location_id == rack)
    stood = _rack_of(hands.scene.layout, rack)
    while not hands.scene.overlaps.pairs:
        assert hands.view.editor.add_offer("nvme", onto=top)
        assert _rack_of(hands.scene.layout, rack) == stood
    assert [set(pair) for pair in hands.scene.overlaps.pairs] == [{top, below}]
    assert hands.view.editor.move_apart(hands.scene.overlaps.pairs)
    # The rack is longer now, and may reach another one.
    assert not {top, below} & {i for pair in hands.scene.overlaps.pairs for i in pair}
    assert sum(_rack_of(hands.scene.layout, rack)[i] == stood[i] for i in stood) == 1
