"""Rules about hosts, node groups and arbitration."""

from __future__ import annotations

import pytest

from ndbplan.base.resources import resource_path
from ndbplan.checks.problem import Problem, Severity
from ndbplan.configuration.node_groups import node_group_ids
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.plan import file
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from one_rule import of_rule


@pytest.fixture
def starter() -> Plan:
    return file.load(resource_path("samples/starter.ndbplan"))


def found(plan: Plan, rule: str) -> list[Problem]:
    return of_rule(plan, rule)


def test_a_group_with_a_member_missing(starter: Plan) -> None:
    one = remove(starter, [starter.data_nodes[0].id])
    (problem,) = found(one, "node-group-size")
    assert problem.severity is Severity.ERROR
    assert "1 data node is not a multiple of NoOfReplicas 2" in problem.message


def test_uneven_groups(starter: Plan) -> None:
    uneven = update(starter, starter.data_nodes[1].id, node_group=1)
    problems = found(uneven, "node-group-size")
    assert [p.where for p in problems] == ["node group 0", "node group 1"]


def test_a_cluster_of_reserved_nodes_alone_holds_nothing(starter: Plan) -> None:
    one, other = starter.data_nodes
    aside = update(update(starter, one.id, node_group=65536), other.id, node_group=65536)
    (problem,) = found(aside, "no-node-group")
    assert problem.severity is Severity.ERROR
    (way,) = problem.solutions
    assert [node.node_group for node in way.edit(aside).data_nodes] == [None, None]
    assert not found(update(starter, one.id, node_group=65536), "no-node-group")


def test_where_reserved_nodes_fill_no_group_the_fix_is_words() -> None:
    (alone,) = found(_groups(65536), "no-node-group")
    assert not alone.solutions
    assert "leave NodeGroup out of 2 data nodes" in (alone.fix or "")
    assert not found(_groups(None, None, 65536), "no-node-group")


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


def _groups(*groups: int | None, version: str = "7.4") -> Plan:
    hosts = tuple(
        Host(id=f"h{i}", hostname=f"10.0.0.{i}", memory_bytes=2**36) for i in range(1, len(groups) + 1)
    )
    nodes = tuple(
        DataNode(id=f"ndb{i}", node_id=i, host_id=f"h{i}", node_group=group)
        for i, group in enumerate(groups, 1)
    )
    return Plan(ndb_version=version, hosts=hosts, processes=nodes)


def test_counting_stops_at_the_first_reserved_node() -> None:
    plan = _groups(0, 65536, 0)
    (problem,) = found(plan, "node-group-size")
    assert problem.severity is Severity.ERROR
    assert "behind data node 2, which is reserved (NodeGroup 65536)" in problem.message
    assert "node group 0 has 1 member (1), NoOfReplicas is 2" in problem.message
    assert "multiple" not in problem.message
    assert problem.fix is not None
    assert "give data node 2 the node id 4" in problem.fix
    assert "add" not in problem.fix
    assert problem.edit is not None
    assert not found(problem.edit(plan), "node-group-size")
    assert not found(_groups(0, 65536, 0, version="8.0"), "node-group-size")


def test_where_the_groups_are_wrong_without_the_reserved_node_the_fix_says_what_else() -> None:
    (problem,) = found(_groups(0, 65536, 0, 1), "node-group-size")
    assert problem.severity is Severity.ERROR
    assert problem.edit is None
    assert problem.fix is not None
    assert "give data node 2 the node id 5; then add 1 data node" in problem.fix


def test_nodes_behind_a_reserved_one_have_no_group_where_the_others_are_whole() -> None:
    plan = _groups(0, 0, 65536, 65536, 1, 1)
    (problem,) = found(plan, "node-group-size")
    assert problem.severity is Severity.WARNING
    assert "data nodes 5 and 6 stand behind data node 3" in problem.message
    assert problem.edit is not None
    mended = problem.edit(plan)
    assert not found(mended, "node-group-size")
    assert [node.node_group for node in mended.data_nodes] == [0, 0, 1, 1, 65536, 65536]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (
            (0, 0, 65536, None, 1),
            "gives data node 4 no node group; data node 5 keeps the NodeGroup it states",
        ),
        ((0, 0, 65536, 1, 1), "and data nodes 4 and 5 keep the NodeGroup they state, which nothing checks"),
        ((0, 0, 65536, None, None), "and gives data nodes 4 and 5 no node group"),
    ],
)
def test_what_is_said_of_uncounted_nodes_is_where_they_are(groups: tuple[int | None, ...], said: str) -> None:
    plan = _groups(*groups)
    (problem,) = found(plan, "node-group-size")
    assert problem.message.endswith(said) or said in problem.message
    placed = node_group_ids(plan)
    for node in plan.data_nodes[2:]:
        assert placed[node.node_id] == (65536 if node.node_group is None else node.node_group)


def test_without_a_free_node_id_the_fix_is_words_only() -> None:
    plan = _groups(*(0, 65536, 0), *(each for group in range(1, 23) for each in (group, group)), 23)
    assert plan.data_nodes[-1].node_id == plan.features.data_nodes_most
    (problem,) = found(plan, "node-group-size")
    assert problem.edit is None
    assert "2 behind 48" in (problem.fix or "")
