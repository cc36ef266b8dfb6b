"""Ports that several programs of one host would listen on."""

from __future__ import annotations

import pytest

from ndbplan.checks.run import check
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


def _together(node_id: int, with_id: int) -> Plan:
    """The starter with one node on the host of another."""
    plan = sample_plan("starter")
    ids = {process.node_id: process for process in plan.processes}
    host_id = ids[with_id].host_id
    assert host_id is not None
    return move_process(plan, ids[node_id].id, host_id)


def _told(plan: Plan) -> list[str]:
    return [problem.message.partition(";")[0] for problem in check(plan) if problem.rule == "ports-shared"]


@pytest.mark.parametrize(
    ("node_id", "with_id", "name", "port", "first"),
    [
        (2, 1, "ServerPort", 11860, "data node 1"),
        (1, 145, "ServerPort", 1186, "management node 145"),
        (1, 147, "ServerPort", 3306, "SQL node 147"),
        (1, 147, "ServerPort", 33060, "SQL node 147"),
        (145, 147, "PortNumber", 3306, "SQL node 147"),
    ],
)
def test_the_later_one_gets_a_free_port(node_id: int, with_id: int, name: str, port: int, first: str) -> None:
    plan = _together(node_id, with_id)
    ids = {process.node_id: process.id for process in plan.processes}
    for one in {node_id, *([with_id] if name == "ServerPort" and with_id == 1 else [])}:
        plan = set_parameter(plan, ids[one], name, port)
    (told,) = _told(plan)
    assert told.startswith(f"{first} and ")
    assert f"node {node_id} both listen on port {port} of " in told
    (found,) = [problem for problem in check(plan) if problem.rule == "ports-shared"]
    assert found.edit is not None
    assert _told(found.edit(plan)) == []
    assert _told(set_parameter(plan, ids[node_id], name, port + 2)) == []


def test_there_is_no_x_protocol_before_8_0() -> None:
    plan = set_parameter(_together(1, 147), "data_node", "ServerPort", 33060)
    assert _told(set_plan(plan, ndb_version="7.6")) == []


def test_nodes_of_different_hosts_may_have_the_same_port() -> None:
    assert _told(set_parameter(sample_plan("starter"), "data_node", "ServerPort", 1186)) == []


def test_several_of_a_host_get_ports_of_their_own() -> None:
    plan = set_parameter(_together(2, 1), "data_node", "ServerPort", 11860)
    first, second = plan.data_nodes
    more = tuple(
        second.model_copy(update={"id": f"more{number}", "node_id": number, "node_group": 1})
        for number in (5, 6)
    )
    plan = plan.replace(processes=(*plan.processes, *more))
    found = [problem for problem in check(plan) if problem.rule == "ports-shared"]
    assert [problem.fix for problem in found] == [
        f"give data node {number} ServerPort {port}" for number, port in ((2, 11861), (5, 11862), (6, 11863))
    ]
    assert _told(update(plan, first.id, parameters={"ServerPort": 1000}))[0].startswith(
        "data node 2 and data"
    )
