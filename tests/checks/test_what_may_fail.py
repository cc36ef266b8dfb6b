"""The rule about single failures: held against the search for them, and its fixes against what they claim."""

from __future__ import annotations

from typing import Any

import pytest

from failing_plans import small
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import RETIRED, check, check_all
from ndbplan.configuration.killers import Search
from ndbplan.plan.edits import move_process, set_parameter, update
from ndbplan.plan.plan import ClusterParameters, Plan, Waiver
from ndbplan.plan.processes import ManagementNode
from ndbplan.plan.samples import sample_names, sample_plan


def found(plan: Plan, rule: str = "what-may-fail") -> list[Problem]:
    return [problem for problem in check(plan) if problem.rule == rule]


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


@pytest.mark.parametrize("retired", sorted(RETIRED))
def test_waivers_of_rules_that_are_gone_still_hold(retired: str) -> None:
    plan = two_managers("a1", "b1")
    waived = plan.replace(waivers=(Waiver(rule=retired, reason="the third room comes in May"),))
    assert not found(waived)
    kept: list[Any] = [problem for problem in check_all(waived) if problem.rule == "what-may-fail"]
    assert [problem.waived for problem in kept] == ["the third room comes in May"]
    assert retired not in RULES
