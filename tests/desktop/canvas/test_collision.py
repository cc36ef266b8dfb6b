"""Nothing put on the canvas covers what stands there."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.desktop.layout.collision import covered, free_place, settled, standing
from ndbplan.desktop.layout.layout import Layouter
from ndbplan.desktop.look.rect import Rect
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

pytestmark = pytest.mark.usefixtures("qapp")  # texts are measured
_numbers = st.integers(-600, 600).map(float)
_rects = st.builds(Rect, _numbers, _numbers, st.just(372.0), st.integers(80, 300).map(float))


def _covers(one: Rect, other: Rect) -> bool:
    return one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom


@given(wish=_rects, taken=st.lists(_rects, max_size=12))
def test_a_place_covers_nothing_and_keeps_its_size(wish: Rect, taken: list[Rect]) -> None:
    place = free_place(wish, taken)
    assert not any(_covers(place, other) for other in taken)
    assert (place.width, place.height) == (wish.width, wish.height)
    if not any(_covers(wish, other) for other in taken):
        assert place == wish


def test_a_host_dropped_onto_another_goes_beside_it() -> None:
    def host(name: str, x: float, y: float) -> Host:
        return Host(id=name, hostname=name, memory_bytes=2**30, position=Point(x=x, y=y))

    plan = edits.add(EMPTY_PLAN, host("a", 0, 0), host("b", 16, 24))
    done = settled(plan, ["b"])
    boxes = Layouter().layout(done).hosts
    assert not _covers(boxes["a"].rect, boxes["b"].rect)
    assert done.host("a") is plan.host("a")
    assert settled(done, ["a", "b"]) is done


def test_what_flows_under_something_that_was_placed_goes_beside_it() -> None:
    """A node group is added, and the next slot of the flow lies under a host that a person has put there."""
    plan = sample_plan("add-nodes")
    grown = add_node_group(plan)
    new = next(host for host in grown.hosts if host.id not in plan.by_id)
    slot = Layouter().layout(grown).hosts[new.id].rect
    placed = Host(id="placed", hostname="placed", memory_bytes=2**30, position=Point(x=slot.x + 40, y=slot.y))
    plan = edits.add(plan, placed)
    grown = add_node_group(plan)
    done = settled(grown, [host.id for host in grown.hosts if host.id not in plan.by_id])
    boxes = [box.rect for box in Layouter().layout(done).hosts.values()]
    assert not any(_covers(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert done.host("placed") is plan.host("placed")


def test_a_location_that_grows_over_a_host_is_named_and_moves_nothing() -> None:
    rack = Location(id="r", name="r", position=Point(x=0, y=0))
    inside = Host(id="a", hostname="a", location_id="r", memory_bytes=2**30)
    below = Host(id="x", hostname="x", memory_bytes=2**30, position=Point(x=0, y=300))
    plan = edits.add(EMPTY_PLAN, rack, inside, below)
    assert covered(Layouter().layout(plan)) == ()
    grown = edits.add(plan, *(inside.model_copy(update={"id": i, "hostname": i}) for i in "bc"))
    layout = Layouter().layout(grown)
    assert [set(pair) for pair in covered(layout)] == [{"r", "x"}]
    assert (layout.hosts["x"].x, layout.hosts["x"].y) == (0, 300)
    assert covered(Layouter().layout(settled(grown, ["x"]))) == ()


@given(st.lists(st.tuples(st.integers(0, 900), st.integers(0, 700)), max_size=9))
def test_what_covers_what_is_what_every_pair_says(places: list[tuple[int, int]]) -> None:
    hosts = [
        Host(id=f"h{i}", hostname=f"h{i}", memory_bytes=2**30, position=Point(x=x, y=y))
        for i, (x, y) in enumerate(places)
    ]
    layout = Layouter().layout(edits.add(EMPTY_PLAN, *hosts))
    rects = standing(layout)
    every = {frozenset((a, b)) for a in rects for b in rects if a < b and _covers(rects[a], rects[b])}
    assert {frozenset(pair) for pair in covered(layout)} == every


@pytest.mark.parametrize("seed", [3, 7, 8])
def test_what_was_put_last_goes_and_nothing_covers_anything_after_it(hands, seed: int) -> None:
    """Wherever things are put: those that stood there before stay."""
    choose = random.Random(seed)
    before = standing(hands.scene.layout)
    for kind in choose.choices(("rack", "host-small"), k=2):
        place = Point(x=choose.uniform(-200, 900), y=choose.uniform(-100, 600))
        hands.view.editor.add_offer(kind, position=place)
    assert hands.scene.overlaps.pairs
    hands.selection.set(["app-a1"])
    hands.view.move_apart()
    assert hands.scene.overlaps.pairs == ()
    after = standing(hands.scene.layout)
    assert {i: rect for i, rect in after.items() if i in before} == before
