"""What crosses the uplinks of locations."""

from __future__ import annotations

import pytest

from ndbplan.advise.max_load import max_load
from ndbplan.edits import parts as edits
from ndbplan.estimate.loaded import uplinks
from ndbplan.plan.hardware import Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

BIG = "blobs-5k"


def in_racks(plan: Plan, data_1: str, data_2: str, sql: str, uplink: float | None) -> Plan:
    """The plan with its hosts in two racks, `a` and `b`; `a` has an uplink."""
    racks = (Location(id="a", name="a", uplink_bytes_per_s=uplink), Location(id="b", name="b"))
    homes = dict(zip([node.host_id for node in plan.data_nodes], (data_1, data_2), strict=True))
    hosts = tuple(host.model_copy(update={"location_id": homes.get(host.id, sql)}) for host in plan.hosts)
    return plan.replace(locations=racks, hosts=hosts)


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Two data nodes and one SQL node."""
    return sample_plan("redo-overload")


def test_nothing_crosses_within_a_rack(plan: Plan) -> None:
    inside = in_racks(plan, "a", "a", "a", 1e9)
    (use,) = uplinks(inside, inside.workload(BIG))
    assert use.out_bytes_per_s.value == use.in_bytes_per_s.value == 0
    assert uplinks(in_racks(plan, "a", "b", "b", None), plan.workload(BIG)) == ()


def test_a_replica_in_each_rack_sends_every_row_once(plan: Plan) -> None:
    apart = in_racks(plan, "a", "b", "b", 1e9)
    (use,) = uplinks(apart, apart.workload(BIG))
    payload = 4320 * (2 * 5120 + 4)
    # Half of the rows have their primary here and go to the other rack; a quarter each crosses between
    # coordinator and primary, both ways; half comes from the clients.
    values = next(term.value for term in use.out_bytes_per_s.why if term.term == "values of rows")
    assert values == pytest.approx(payload * 0.75, rel=0.05)
    values = next(term.value for term in use.in_bytes_per_s.why if term.term == "values of rows")
    assert values == pytest.approx(payload * 1.25, rel=0.05)


def test_a_slow_uplink_limits_the_load_and_a_faster_one_helps(plan: Plan) -> None:
    slow = in_racks(plan, "a", "b", "b", 10e6)
    found = max_load(estimation_of(slow, BIG), duration_s=20, with_next=False)
    assert found.limited_by.resource == "network"
    assert found.limited_by.where == "uplink of a"
    twice = max_load(estimation_of(in_racks(plan, "a", "b", "b", 20e6), BIG), duration_s=20, with_next=False)
    assert twice.max_per_s.value == pytest.approx(2 * found.max_per_s.value, rel=0.02)
    result = simulate(estimation_of(slow, BIG), duration_s=20)
    assert result.bottleneck.where == "uplink of a"
    assert result.accepted_per_s.value < found.max_per_s.value * 1.05


def test_it_is_kept_and_can_be_taken_away(plan: Plan) -> None:
    apart = in_racks(plan, "a", "b", "b", 1e9)
    again = edits.update(apart, "a", uplink_bytes_per_s=None)
    assert uplinks(again, again.workload(BIG)) == ()
