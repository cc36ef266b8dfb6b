"""Where hosts stand: order inside a location, places outside."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ndbplan.edits import arrange
from ndbplan.edits import parts as edits
from ndbplan.plan.fields import Point
from ndbplan.plan.references import first_broken
from ndbplan.plan.samples import sample_plan

PLAN = sample_plan("starter")
HOSTS = [h.id for h in PLAN.hosts]
RACKS = [p.id for p in PLAN.locations]


@given(
    st.lists(st.sampled_from(HOSTS), min_size=1, max_size=3, unique=True),
    st.sampled_from(RACKS),
    st.one_of(st.none(), st.sampled_from(HOSTS)),
)
def test_hosts_end_up_in_the_location_before_the_named_one(moved, rack, before) -> None:
    inside = [h.id for h in PLAN.hosts if h.location_id == rack and h.id not in moved]
    if before is not None and before not in inside:
        before = None
    plan = arrange.put_into_location(PLAN, moved, rack, before)
    assert sorted(h.id for h in plan.hosts) == sorted(HOSTS)
    assert first_broken(plan) is None
    order = [h.id for h in plan.hosts if h.location_id == rack]
    at = inside.index(before) if before is not None else len(inside)
    assert order == [*inside[:at], *moved, *inside[at:]]
    rest = [h for h in PLAN.hosts if h.id not in moved]
    assert [h for h in plan.hosts if h.id not in moved] == rest
    assert all(any(h is kept for kept in plan.hosts) for h in rest)


def test_what_stands_there_already_is_no_change() -> None:
    last = [h.id for h in PLAN.hosts if h.location_id == RACKS[0]][-1]
    assert arrange.put_into_location(PLAN, [last], RACKS[0]) is PLAN
    free = arrange.put_on_canvas(PLAN, {last: Point(x=8, y=8)})
    assert arrange.put_on_canvas(free, {last: Point(x=8, y=8)}) is free


def test_a_host_put_on_the_canvas_leaves_its_location() -> None:
    plan = arrange.put_on_canvas(PLAN, {"host-a1": Point(x=1, y=2)})
    assert plan.host("host-a1").location_id is None
    assert plan.host("host-a1").position == Point(x=1, y=2)
    assert plan.hosts[1:] == PLAN.hosts[1:]


def test_tidy_frees_all_or_the_named() -> None:
    plan = edits.move(PLAN, {RACKS[0]: Point(x=1, y=1), RACKS[1]: Point(x=2, y=2)})
    assert arrange.tidy(plan, [RACKS[0]]).by_id[RACKS[1]].position == Point(x=2, y=2)
    assert arrange.tidy(plan).by_id[RACKS[1]].position is None
    assert arrange.tidy(PLAN) is PLAN
