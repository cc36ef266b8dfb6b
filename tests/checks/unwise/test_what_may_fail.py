"""The rule about single failures: held against the search for them, and its fixes against what they claim."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from failing_plans import small
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import RETIRED, check_all
from ndbplan.configuration.killers import Search
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.edits.roles import move_process
from ndbplan.plan.hardware import Location
from ndbplan.plan.plan import ClusterParameters, Plan, Waiver
from ndbplan.plan.processes import DataNode, ManagementNode
from ndbplan.plan.samples import sample_names, sample_plan
from one_rule import of_rule


def found(plan: Plan, rule: str = "what-may-fail") -> list[Problem]:
    return of_rule(plan, rule)


def two_managers(first: str, second: str) -> Plan:
    """Two groups over racks A and B with two management nodes, the lower id on the first host."""
    kept = tuple(p for p in small().processes if p.id != "m")
    return small(
        processes=(
            *kept,
            ManagementNode(id="m", node_id=51, host_id=first),
            ManagementNode(id="m2", node_id=52, host_id=second),
        )
    )


def test_a_sound_placement_draws_nothing() -> None:
    assert not found(small())


def test_the_elected_arbitrator_beside_half_of_the_data_nodes_is_an_error_with_three_locations() -> None:
    plan = two_managers("a1", "b1")
    problems = found(plan)
    assert [problem.where for problem in problems] == ["location Rack A"]
    (problem,) = problems
    assert problem.severity is Severity.ERROR
    assert "node 51, elected before, failed with it" in problem.message
    assert problem.fix == "move management node 51 to c1.example"
    assert problem.edit is not None
    assert not found(problem.edit(plan))
    assert not found(two_managers("c1", "b1"))  # the one that is not elected may stand anywhere


def test_without_a_third_location_no_placement_survives() -> None:
    plan = two_managers("a1", "b1")
    plan = plan.replace(
        hosts=tuple(host for host in plan.hosts if host.id != "c1"),
        locations=plan.locations[:2],
        processes=tuple(p for p in plan.processes if p.host_id != "c1"),
    )
    (problem,) = found(plan)
    assert problem.severity is Severity.WARNING
    assert problem.edit is None
    assert "No placement" in problem.message


def test_groups_inside_one_rack_are_dealt_out_anew() -> None:
    plan = small()
    for node_id, group in (("n1", 0), ("n3", 0), ("n2", 1), ("n4", 1)):
        plan = update(plan, node_id, node_group=group)
    problems = found(plan)
    assert {problem.where for problem in problems} >= {"location Rack A", "location Rack B"}
    for problem in problems:
        assert problem.severity is Severity.ERROR
        assert problem.edit is not None
        assert not found(problem.edit(plan))


def test_both_members_on_one_host_are_moved_apart() -> None:
    plan = small()
    plan = plan.replace(processes=tuple(p for p in plan.processes if p.id not in ("n3", "n4")))
    same = move_process(plan, "n2", "a1")
    problems = found(same)
    assert "host a1.example" in {problem.where for problem in problems}
    assert all(problem.severity is Severity.ERROR for problem in problems)
    host = next(problem for problem in problems if problem.where.startswith("host"))
    assert host.edit is not None
    assert not [p for p in found(host.edit(same)) if p.where.startswith("host")]


def test_whole_groups_left_ask_nobody() -> None:
    assert not found(sample_plan("telecom-144"))  # three of its management nodes share hosts with data nodes


@pytest.mark.parametrize("name", sample_names())
def test_no_sample_has_a_single_killer_that_another_placement_survives(name: str) -> None:
    assert not [problem for problem in found(sample_plan(name)) if problem.severity is Severity.ERROR]


@pytest.mark.parametrize("version", ["7.4", "7.6", "8.4"])
@pytest.mark.parametrize("hosts", [("a1", "b1"), ("b2", "a2"), ("c1", "a1"), ("a1", "a2"), ("a1", "c1")])
def test_every_fix_cures_and_makes_nothing_else(hosts: tuple[str, str], version: str) -> None:
    plan = two_managers(*hosts).replace(ndb_version=version)
    killers = set(Search(plan).single_killers)
    problems = found(plan)
    assert bool(problems) == bool(killers)
    for problem in problems:
        if problem.edit is not None:
            after = problem.edit(plan)
            assert set(Search(after).single_killers) < killers
            assert problem.message not in {one.message for one in found(after)}


def test_nobody_arbitrates() -> None:
    off = small(parameters=ClusterParameters(data_node={"Arbitration": "Disabled"}))
    (problem,) = found(off, "nobody-arbitrates")
    assert problem.severity is Severity.WARNING
    assert "both halves live" in problem.message
    ranks = set_parameter(small(), "management", "ArbitrationRank", 0)
    assert "every ArbitrationRank is 0" in found(ranks, "nobody-arbitrates")[0].message
    assert not found(small(), "nobody-arbitrates")


def test_a_side_that_waits_for_an_external_program_goes_on_without_one() -> None:
    """A real 7.4.10 waited ArbitrationTimeout (10.09 s of 10 s), and then both sides went on."""
    waiting = {"Arbitration": "WaitExternal", "ArbitrationTimeout": 10_000}
    plan = small(parameters=ClusterParameters(data_node=waiting))
    (problem,) = found(plan, "nobody-arbitrates")
    assert problem.severity is Severity.HINT
    assert "(10 s)" in problem.message
    assert problem.edit is not None
    assert not found(problem.edit(plan), "nobody-arbitrates")


@pytest.mark.parametrize("retired", sorted(old for old, new in RETIRED.items() if new == "what-may-fail"))
def test_waivers_of_rules_that_are_gone_still_hold(retired: str) -> None:
    plan = two_managers("a1", "b1")
    waived = plan.replace(waivers=(Waiver(rule=retired, reason="the third room comes in May"),))
    assert not found(waived)
    kept: list[Any] = [problem for problem in check_all(waived) if problem.rule == "what-may-fail"]
    assert [problem.waived for problem in kept] == ["the third room comes in May"]
    assert retired not in RULES


def _on_hosts(version: str, racks: dict[str, str | None], places: dict[int, str], replicas: int = 2) -> Plan:
    """Data nodes up to 50 and management nodes from 51 on, on hosts in racks; one node group."""
    model = small().hosts[0]
    hosts = [
        model.model_copy(
            update={
                "id": name,
                "hostname": name,
                "location_id": rack,
                "disks": tuple(d.model_copy(update={"id": f"{name}-{d.name}"}) for d in model.disks),
            }
        )
        for name, rack in racks.items()
    ]
    kind: dict[bool, type[DataNode] | type[ManagementNode]] = {False: DataNode, True: ManagementNode}
    processes = [
        kind[node_id > 50](id=f"p{node_id}", node_id=node_id, host_id=host)
        for node_id, host in places.items()
    ]
    return Plan(
        ndb_version=version,
        locations=tuple(Location(id=rack, name=rack) for rack in sorted({r for r in racks.values() if r})),
        hosts=tuple(hosts),
        processes=tuple(processes),
        parameters=ClusterParameters(data_node={"NoOfReplicas": replicas, "DataMemory": "1G"}),
    )


PLACES = [
    # A third place that the moves of one management node do not reach.
    _on_hosts("7.6", {"a": "A", "b": "B", "c": "B", "d": "C", "e": "C"},
              {1: "d", 2: "b", 3: "c", 51: "a", 52: "e"}, replicas=3),
    _on_hosts("7.4", {"a": None, "b": None, "c": None}, {1: "c", 2: "a", 3: "b", 51: "a"}, replicas=3),
    _on_hosts("7.4", {"a": "A", "b": "B", "c": "A", "d": "D"}, {1: "a", 2: "b", 51: "b", 52: "d"}),
    _on_hosts("8.4", {"a": "A", "b": "A", "c": "B", "d": "C"}, {1: "a", 2: "b", 51: "c"}),
    # Two places are not enough, wherever things stand.
    _on_hosts("8.4", {"a": "A", "b": "B"}, {1: "a", 2: "b", 51: "a"}),
    _on_hosts("8.4", {"a": "A", "b": "B", "c": "A"}, {1: "a", 2: "b", 51: "c"}),
    _on_hosts("8.4", {"a": None}, {1: "a", 2: "a", 51: "a"}),
]  # fmt: skip


@pytest.mark.parametrize("plan", PLACES)
def test_an_error_wherever_another_placement_survives_and_only_there(plan: Plan) -> None:
    """Held against every placement of its nodes on its hosts."""
    hosts = [host.id for host in plan.hosts]
    survives = any(
        not Search(
            plan.replace(
                processes=tuple(
                    p.model_copy(update={"host_id": host})
                    for p, host in zip(plan.processes, chosen, strict=True)
                )
            )
        ).single_killers
        for chosen in product(hosts, repeat=len(plan.processes))
    )
    problems = found(plan)
    assert problems
    assert any(one.severity is Severity.ERROR for one in problems) == survives
    cured = plan
    for _ in range(3):
        edits = [one.edit for one in found(cured) if one.edit is not None]
        if not edits:
            break
        cured = edits[0](cured)
    assert bool(Search(cured).single_killers) != survives
