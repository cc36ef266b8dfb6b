"""Nothing put on the canvas covers what stands there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ndbplan.desktop.layout.collision import free_place, settled
from ndbplan.desktop.layout.layout import Layouter
from ndbplan.desktop.look.rect import Rect
from ndbplan.edits import parts as edits
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

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
    grown = edits.add_node_group(plan)
    new = next(host for host in grown.hosts if host.id not in plan.by_id)
    slot = Layouter().layout(grown).hosts[new.id].rect
    placed = Host(id="placed", hostname="placed", memory_bytes=2**30, position=Point(x=slot.x + 40, y=slot.y))
    plan = settled(edits.add(plan, placed), ["placed"])
    done = settled(edits.add_node_group(plan), ())
    boxes = [box.rect for box in Layouter().layout(done).hosts.values()]
    assert not any(_covers(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert done.host("placed") is plan.host("placed")


def test_a_host_makes_room_for_a_location_that_grows() -> None:
    plan = sample_plan("starter")
    rack = Layouter().layout(plan).locations[plan.locations[0].id].rect
    below = Host(id="x", hostname="x", memory_bytes=2**30, position=Point(x=rack.x, y=rack.bottom + 24))
    plan = settled(edits.add(plan, below), ["x"])
    done = settled(edits.add_node_group(plan), ())
    layout = Layouter().layout(done)
    assert not any(_covers(box.rect, layout.hosts["x"].rect) for box in layout.locations.values())
    assert [place.position for place in done.locations] == [place.position for place in plan.locations]
