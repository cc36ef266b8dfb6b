"""Rules about hosts, node groups and arbitration."""

from __future__ import annotations

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.run import check
from ndbplan.edits.parts import move_process, remove, set_parameter, set_plan, update
from ndbplan.plan import file
from ndbplan.plan.plan import Plan


@pytest.fixture
def starter() -> Plan:
    return file.load(resource_path("samples/starter.ndbplan"))


def found(plan: Plan, rule: str) -> list[Problem]:
    return [problem for problem in check(plan) if problem.rule == rule]


def test_a_group_with_a_member_missing(starter: Plan) -> None:
    one = remove(starter, [starter.data_nodes[0].id])
    (problem,) = found(one, "node-group-size")
    assert problem.severity is Severity.ERROR
    assert "1 data nodes are not a multiple of NoOfReplicas 2" in problem.message


def test_uneven_groups(starter: Plan) -> None:
    uneven = update(starter, starter.data_nodes[1].id, node_group=1)
    problems = found(uneven, "node-group-size")
    assert [p.where for p in problems] == ["node group 0", "node group 1"]


def test_one_copy(starter: Plan) -> None:
    single = set_parameter(starter, "data_node", "NoOfReplicas", 1)
    (problem,) = found(single, "number-of-replicas")
    assert "NoOfReplicas is 1" in problem.message


def test_three_copies_before_8_0(starter: Plan) -> None:
    three = set_plan(set_parameter(starter, "data_node", "NoOfReplicas", 3), ndb_version="7.4")
    assert "hardly tested" in found(three, "number-of-replicas")[0].message


def test_management_nodes(starter: Plan) -> None:
    first, second = starter.management_nodes
    assert (
        "there is one management node" in found(remove(starter, [second.id]), "management-nodes")[0].message
    )
    together = move_process(starter, second.id, first.host_id)
    assert "they fail together" in found(together, "management-nodes")[0].message


def test_few_sql_nodes_and_slots(starter: Plan) -> None:
    few = remove(starter, [starter.sql_nodes[0].id])
    assert "there is one SQL or API node" in found(few, "sql-nodes")[0].message
    assert not found(starter, "sql-nodes")
    none = remove(starter, [slot.id for slot in starter.api_slots])
    assert found(none, "spare-api-slots")[0].message.startswith("0 API slots")


def test_no_room_behind_the_data_nodes(starter: Plan) -> None:
    close = update(starter, starter.management_nodes[0].id, node_id=3)
    assert "node ids 3" in found(close, "node-id-room")[0].message
    assert not found(starter, "node-id-room")
