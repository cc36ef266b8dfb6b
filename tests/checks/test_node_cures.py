"""Nodes that are missing: every rule about them offers where they could run, and each way mends."""

from __future__ import annotations

import pytest

from ndbplan.checks.node_cures import another_node
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.run import check
from ndbplan.edits.offers import make_host, make_process
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import add, remove
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan
from one_rule import of_rule


def found(plan: Plan, rule: str, words: str = "") -> Problem | None:
    return next((p for p in of_rule(plan, rule) if words in p.message), None)


def without(kind: str, keep: int) -> Plan:
    plan = sample_plan("starter")
    nodes = [process.id for process in plan.processes if process.kind == kind]
    return remove(plan, nodes[keep:])


@pytest.mark.parametrize(
    ("kind", "keep", "rule"),
    [
        ("management", 0, "node-kinds"),
        ("management", 1, "management-nodes"),
        ("sql", 1, "sql-nodes"),
        ("data", 3, "node-group-size"),
    ],
)
def test_what_is_missing_is_added_by_any_of_its_ways(kind: str, keep: int, rule: str) -> None:
    plan = without(kind, keep)
    if sum(process.kind == kind for process in plan.processes) % 2 == 0 and kind == "data":
        plan = remove(plan, [plan.data_nodes[-1].id])
    problem = found(plan, rule)
    assert problem is not None
    assert problem.solutions
    for way in problem.solutions:
        after = way.edit(plan)
        assert found(after, rule) is None or rule == "node-kinds"
        assert way.buys is (len(after.hosts) > len(plan.hosts))
        new = [process for process in after.processes if process.id not in plan.by_id]
        assert {process.kind for process in new} == {kind}
        beside = [p.kind for one in new for p in after.processes_of_host[one.host_id] if p.id != one.id]
        assert "data" not in beside, "not beside a data node"


def test_a_host_that_is_there_comes_before_a_new_one() -> None:
    plan = without("management", 1)
    problem = found(plan, "management-nodes")
    assert problem is not None
    assert [way.buys for way in problem.solutions] == [False, True]


def test_of_hosts_that_are_there_the_first_three_are_tried() -> None:
    plan = without("management", 1)
    for host_id in ("x1", "x2", "x3", "x4", "x5"):
        plan = add(
            plan, make_host(plan, "host-small").model_copy(update={"id": host_id, "hostname": host_id})
        )
    looked_at: list[Plan] = []

    def nothing_helps(tried: Plan) -> list[Problem]:
        looked_at.append(tried)
        return [Problem("management-nodes", Severity.WARNING, "cluster", "one is missing")]

    found = another_node("management", "management-nodes", Estimation(plan), nothing_helps)
    assert found.solutions == ()
    hosts = [p.host_id for tried in looked_at if tried is not plan for p in tried.management_nodes[1:]]
    assert len(set(hosts) & plan.by_id.keys()) == 3


def test_from_an_empty_plan_the_ways_lead_to_a_cluster_without_errors() -> None:
    plan = EMPTY_PLAN
    for _ in range(6):
        problem = next((p for p in check(plan) if p.severity == "error" and p.solutions), None)
        if problem is None:
            break
        plan = problem.solutions[0].edit(plan)
    assert not [p for p in check(plan) if p.severity == "error"]
    assert len(plan.data_nodes) == 2
    assert plan.parameters.data_node["AutomaticThreadConfig"] == 1
    assert len(plan.hosts) >= 3


def test_a_group_that_lacks_a_node_gets_one_like_the_last() -> None:
    host = make_host(EMPTY_PLAN, "host-large")
    plan = add(EMPTY_PLAN, host)
    plan = add(plan, make_process(plan, "data", host.id))
    plan = set_parameter(plan, "data_node", "NoOfReplicas", 3)
    problem = found(plan, "node-group-size")
    assert problem is not None
    (way,) = problem.solutions
    after = way.edit(plan)
    assert len(after.data_nodes) == 3
    assert {host.cores for host in after.hosts} == {32}


def test_a_group_that_lacks_a_node_is_not_filled_with_reserved_ones() -> None:
    plan = sample_plan("add-nodes-8.4")
    reserved = plan.data_nodes[-1].model_copy(update={"id": "kept", "node_id": 40, "node_group": 65536})
    plan = set_parameter(add(plan, reserved), "data_node", "NoOfReplicas", 3)
    problem = found(plan, "node-group-size")
    assert problem is not None
    (way,) = problem.solutions
    assert sorted(str(node.node_group) for node in way.edit(plan).data_nodes) == [
        "65536",
        "None",
        "None",
        "None",
    ]
