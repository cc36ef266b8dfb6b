"""Locations inside locations: what fails, leaves, is told and comes along with the outer one."""

from __future__ import annotations

import json

import pytest

from ndbplan.advise.survival import survive
from ndbplan.base.errors import UserError
from ndbplan.checks.run import check
from ndbplan.configuration.failing_parts import Part, parts
from ndbplan.configuration.failures import Failures
from ndbplan.configuration.sections import sections
from ndbplan.describe.losses import ids_of, part_of
from ndbplan.edits import clipboard
from ndbplan.edits import parts as edits
from ndbplan.edits.additions import add
from ndbplan.edits.arrange import put_inside
from ndbplan.edits.assign import assign
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import uplinks
from ndbplan.estimate.times.copy_links import crossings
from ndbplan.plan.events import LocationFailure
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.hardware import Location
from ndbplan.plan.places import MOST_LEVELS, chain, inside, may_hold
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

FLAT = sample_plan("starter")


def nested(plan: Plan = FLAT) -> Plan:
    """Racks A and B in a room of one site, rack C in another site."""
    outer = (
        Location(id="site", name="Site 1"),
        Location(id="room", name="Room 1", parent_id="site"),
        Location(id="far", name="Site 2"),
    )
    plan = put_inside(edits.add(plan, *outer), ["rack-a", "rack-b"], "room")
    return put_inside(plan, ["rack-c"], "far")


NEST = nested()


def test_the_chain_is_followed_up_and_down() -> None:
    assert [place.id for place in chain(NEST.locations, "rack-a")] == ["rack-a", "room", "site"]
    assert inside(NEST.locations, ["site"]) == {"site", "room", "rack-a", "rack-b"}
    assert {p.id for p in may_hold(NEST.locations, "room")} == {"site", "far", "rack-c"}
    assert chain(NEST.locations, None) == ()


def test_a_location_never_lies_in_itself_nor_too_deep() -> None:
    with pytest.raises(UserError, match=r"in a circle: .*'Site 1' in 'Rack A'"):
        edits.update(NEST, "site", parent_id="rack-a")
    with pytest.raises(UserError, match="in a circle: 'Site 1' in 'Site 1'"):
        edits.update(NEST, "site", parent_id="site")
    with pytest.raises(UserError, match="no location 'nowhere'"):
        edits.update(NEST, "site", parent_id="nowhere")
    deep, last = FLAT, "rack-a"
    for i in range(MOST_LEVELS - 1):
        deep = edits.update(edits.add(deep, Location(id=f"l{i}", name=f"Level {i}")), last, parent_id=f"l{i}")
        last = f"l{i}"
    assert may_hold(deep.locations, last) == ()
    with pytest.raises(UserError, match=f"'Rack A' in 'Level 0' is {MOST_LEVELS + 1} deep"):
        edits.update(deep, last, parent_id="rack-b")
    circle = json.loads(dumps(NEST))
    next(p for p in circle["locations"] if p["id"] == "site")["parent_id"] = "room"
    with pytest.raises(UserError, match="in a circle"):
        loads(json.dumps(circle))


def test_a_nest_is_written_and_read_and_a_flat_plan_is_as_it_was() -> None:
    assert loads(dumps(NEST)) == NEST
    assert "parent_id" not in dumps(FLAT)


def test_around_everything_nothing_changes() -> None:
    """A nest without domains and uplinks says of racks, hosts and nodes what the flat plan says."""
    flat, nest = (survive(Estimation(plan, plan.workloads[0])) for plan in (FLAT, NEST))
    of_nest = {f.dead: f.to_json() for f in nest.failures}
    assert all(of_nest[f.dead] == f.to_json() for f in flat.failures)
    flat_problems, nest_problems = (
        [(p.rule, p.message) for p in check(plan) if p.rule != "what-may-fail"] for plan in (FLAT, NEST)
    )
    assert flat_problems == nest_problems
    for asked in ("network", "disks", "cpu"):
        one, other = (getattr(Estimation(p, p.workloads[0]), asked) for p in (FLAT, NEST))
        assert one == other
    assert Estimation(FLAT).restart("rolling").to_json() == Estimation(NEST).restart("rolling").to_json()


def test_losing_the_outer_one_is_losing_all_in_it_together() -> None:
    failures = Failures(NEST)
    racks = [Part("rack", "Rack A"), Part("rack", "Rack B")]
    for outer in ("Room 1", "Site 1"):
        assert failures.judge([Part("rack", outer)]) == failures.judge(racks)
    assert {str(p) for p in parts(NEST)} - {str(p) for p in parts(FLAT)} == {
        f"{kind}:{name}" for kind in ("rack", "switch") for name in ("Site 1", "Room 1", "Site 2")
    }


def test_a_site_falls_silent_with_its_racks_and_comes_back() -> None:
    workload = NEST.workloads[0].id
    event = LocationFailure(at_s=5, object_id="site", back_after_s=10)
    result = simulate(estimation_of(NEST, workload), duration_s=30, events=[event])
    down = {spell.object_id for spell in result.down}
    assert {"site", "room", "rack-a", "rack-b"} <= down
    assert not down & {"far", "rack-c"}
    racks = [LocationFailure(at_s=5, object_id=i, back_after_s=10) for i in ("rack-a", "rack-b")]
    flat = simulate(estimation_of(FLAT, workload), duration_s=30, events=racks)
    assert (result.accepted_per_s, result.errors) == (flat.accepted_per_s, flat.errors)


@pytest.mark.parametrize(("stated", "told"), [({"site": 3}, "3"), ({"site": 3, "rack-a": 5}, "5")])
def test_the_nearest_domain_up_the_chain_counts(stated: dict[str, int], told: str) -> None:
    plan = edits.update(NEST, "rack-a", location_domain_id=None)
    for place_id, domain in stated.items():
        plan = edits.update(plan, place_id, location_domain_id=domain)
    entries = {
        entry.value
        for section in sections(plan)
        for entry in section.entries
        if entry.name == "LocationDomainId"
        and any(e.name == "HostName" and e.value == "host-a1" for e in section.entries)
    }
    assert entries == {told}


def test_each_uplink_limits_what_leaves_its_own_location() -> None:
    plan = move_process(NEST, NEST.sql_nodes[0].id, NEST.hosts_in(["rack-c"])[0].id)
    for place_id in ("rack-a", "room", "site"):
        plan = edits.update(plan, place_id, uplink_bytes_per_s=1e9)
    of = {use.location_id: use for use in uplinks(plan, plan.workloads[0])}
    # What goes from rack A to rack B leaves the rack and not the room; room and site send the same.
    assert of["rack-a"].out_bytes_per_s.value > of["room"].out_bytes_per_s.value > 0
    assert of["room"].utilisation.value == of["site"].utilisation.value
    a, b, c = (plan.hosts_in([rack])[0] for rack in ("rack-a", "rack-b", "rack-c"))
    crossed = {key for key in crossings(plan.locations, [(a, b, 1.0)]) if key[0] == "location"}
    assert crossed == {("location", "rack-a", True)}
    crossed = {key for key in crossings(plan.locations, [(c, a, 1.0)]) if key[0] == "location"}
    assert crossed == {("location", place, False) for place in ("rack-a", "room", "site")}


def test_what_is_taken_away_leaves_its_content_to_what_is_around() -> None:
    plan = edits.remove(NEST, ["room"])
    assert plan.by_id["rack-a"].parent_id == "site"
    assert edits.remove(plan, ["rack-a", "site"]).host("host-a1").location_id is None
    assert edits.remove(NEST, ["rack-a"]).host("host-a1").location_id == "room"
    assert edits.update(NEST, "site", id="s1").by_id["room"].parent_id == "s1"


def test_a_copy_of_the_outer_one_has_all_in_it() -> None:
    plan, new = clipboard.paste(NEST, clipboard.copy(NEST, ["site"]))
    assert len(plan.locations) == len(NEST.locations) + 4
    (site,) = (p.id for p in plan.locations if p.id in new and p.parent_id is None)
    assert plan.by_id[site].name not in {p.name for p in NEST.locations}
    assert len(plan.hosts_in([site])) == len(NEST.hosts_in(["site"]))
    plan, new = clipboard.paste(NEST, clipboard.copy(NEST, ["rack-a"]))
    assert plan.by_id[new[0]].parent_id == "room"
    plan, new = clipboard.paste(FLAT, clipboard.copy(NEST, ["rack-a"]))
    assert plan.by_id[new[0]].parent_id is None


def test_the_command_line_nests_by_name() -> None:
    plan = add(FLAT, "room", ["Room 9"]).plan
    plan = add(plan, "rack", ["Rack Z", "inside=Room 9"]).plan
    room = next(p for p in plan.locations if p.name == "Room 9")
    assert plan.locations[-1].parent_id == room.id
    plan, _ = assign(plan, f"locations[rack-a].parent_id={room.id}")
    plan, _ = assign(plan, "locations[rack-b].inside=Room 9")
    assert {p.id for p in plan.locations if p.parent_id == room.id} >= {"rack-a", "rack-b"}
    plan, _ = assign(plan, "locations[rack-a].parent_id=")
    assert plan.by_id["rack-a"].parent_id is None


def test_racks_of_one_name_in_two_rooms_fail_apart() -> None:
    plan = edits.update(NEST, "rack-c", name="Rack A")
    told = {str(part): part for part in parts(plan) if part.kind == "rack"}
    assert {"rack:Site 1/Room 1/Rack A", "rack:Site 2/Rack A"} <= told.keys()
    assert "rack:Rack A" not in told
    failures = Failures(plan)
    here, there = told["rack:Site 1/Room 1/Rack A"], told["rack:Site 2/Rack A"]
    assert failures.nodes_of(here) == Failures(NEST).nodes_of(Part("rack", "Rack A"))
    assert not failures.nodes_of(here) & failures.nodes_of(there)
    assert [part_of(plan, i) for i in ids_of(plan, here)] == [here]


def test_a_site_with_all_data_nodes_wants_another_one() -> None:
    (found,) = (p for p in check(NEST) if p.rule == "what-may-fail")
    assert "everything in Site 1 alone stops the cluster" in found.message
    assert found.fix == (
        "add a location with hosts for a member of every node group, and a third one for a management node"
    )
    assert {"site", "ndb1", "ndb2"} <= set(found.object_ids)
