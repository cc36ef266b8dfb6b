"""Nothing moves unless a person moves it: neither what an edit leaves alone, nor the view."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
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

_KINDS = ("drop", "copy", "paste", "duplicate", "delete", "grow", "disk", "undo", "redo")
_TOP = (QPointF(0, 0), QPointF(640, 360))


def _places(hands: Any) -> dict[str, tuple[float, float]]:
    layout = hands.scene.layout
    places = {i: (rect.x, rect.y) for i, rect in standing(layout).items()}
    # The frame of a location goes around what is dropped into it.
    around = {i: (box.origin.x, box.origin.y) for i, box in layout.locations.items() if i in places}
    return places | around


def _view(hands: Any) -> list[QPointF]:
    return [hands.view.mapToScene(point.toPoint()) for point in _TOP]


def _act(hands: Any, kind: str, choose: Any) -> None:
    editor, stack = hands.view.editor, hands.document.undo_stack
    seen = hands.view.visible_rect().adjusted(60, 60, -60, -60)
    somewhere = QPointF(choose.uniform(seen.left(), seen.right()), choose.uniform(seen.top(), seen.bottom()))
    if kind == "drop":
        hands.drop(mime_of(choose.choice(offers()).key), somewhere)
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


@given(st.lists(st.sampled_from(_KINDS), min_size=2, max_size=10), st.randoms(use_true_random=False))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_what_nobody_moves_stands_still(hands_on: Any, kinds: list[str], choose: Any) -> None:
    QGuiApplication.clipboard().clear()
    hands = hands_on(sample_plan(choose.choice(("starter", "add-nodes"))), zoom=choose.choice((0.5, 0.9)))
    stood: dict[int, dict[str, tuple[float, float]]] = {id(hands.plan): _places(hands)}
    plans = [hands.plan]
    for kind in kinds:
        before, seen = _places(hands), _view(hands)
        _act(hands, kind, choose)
        after = _places(hands)
        assert _view(hands) == seen, kind
        if kind in ("undo", "redo"):
            assert after == stood[id(hands.plan)]
        else:
            assert {i: after[i] for i in before.keys() & after.keys()} == {
                i: before[i] for i in before.keys() & after.keys()
            }, kind
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
