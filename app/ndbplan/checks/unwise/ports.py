"""Ports that several programs of one machine would listen on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.checks.parameters import setting
from ndbplan.checks.problem import Problem
from ndbplan.checks.refused.nodes_and_hosts import FIRST_FREE_PORT, PORTS
from ndbplan.checks.rule import error, rule
from ndbplan.configuration.deployment import management_port, sql_files
from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode


class _Listening(NamedTuple):
    node: ManagementNode | DataNode | SqlNode
    name: str
    parameter: str
    """What gives it another port; nothing: its place among the SQL nodes of its host does."""
    port: int

    @property
    def place(self) -> tuple[str, int]:
        return self.node.host_id, self.port


@rule("ports-shared", "Two programs of one host listen on one port")
def ports_shared(now: Estimation) -> Iterator[Problem]:
    listening = tuple(_listening(now.plan))
    taken = {one.place for one in listening}
    first: dict[tuple[str, int], _Listening] = {}
    for one in listening:
        other = first.setdefault(one.place, one)
        # Of two management nodes another rule tells, as servers look at them.
        if other is one or (isinstance(other.node, ManagementNode) and isinstance(one.node, ManagementNode)):
            continue
        host_id = one.node.host_id
        others = (*range(one.port + 1, PORTS), *range(FIRST_FREE_PORT, one.port))
        free = next(port for port in others if (host_id, port) not in taken)
        taken.add((host_id, free))
        yield error(
            one.name,
            f"{other.name} and {one.name} both listen on port {one.port} of "
            f"{now.plan.host(host_id).hostname}; the one that starts later does not come up",
            f"give {one.name} {one.parameter} {free}",
            [other.node.id, one.node.id],
            setting(one.node.id, one.parameter, free),
        )


def _listening(plan: Plan) -> Iterator[_Listening]:
    """SQL nodes first: their ports follow from the plan."""
    for mysqld in plan.sql_nodes:
        files, name = sql_files(plan, mysqld), f"SQL node {mysqld.node_id}"
        for port in (files.port, *((files.x_port,) if plan.features.x_plugin else ())):
            yield _Listening(mysqld, name, "", port)
    for manager in plan.management_nodes:
        name = f"management node {manager.node_id}"
        yield _Listening(manager, name, "PortNumber", management_port(plan, manager))
    for node in plan.data_nodes:
        port = node_settings(plan, node).value("ServerPort")
        if isinstance(port, int) and port:
            yield _Listening(node, f"data node {node.node_id}", "ServerPort", port)
