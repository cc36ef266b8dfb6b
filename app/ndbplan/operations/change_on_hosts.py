"""What a change does on hosts before anything stops: programs, directories, files of new nodes, units."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from ndbplan.base.quantity import Quantity, total
from ndbplan.configuration.deployment import SqlFiles, management_directory, sql_files
from ndbplan.configuration.needs import Needs
from ndbplan.configuration.own_options import has_own_options
from ndbplan.configuration.services import Service, service_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE
from ndbplan.estimate.times.restart_phases import STOP
from ndbplan.operations.commands import Command
from ndbplan.operations.files import (
    copy_my_cnf,
    directories_that_come,
    install_services,
    management_directories,
    node_directories,
    option_folders_that_come,
    sql_data_directories,
)
from ndbplan.operations.operation import Step
from ndbplan.operations.programs import install_missing_programs
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, SqlNode

Served = ManagementNode | DataNode | SqlNode
AnyProcess = Served | ApiSlot


def served(plan: Plan) -> Iterator[Served]:
    """Every node that has a service."""
    yield from plan.management_nodes
    yield from plan.data_nodes
    yield from plan.sql_nodes


def sql_files_elsewhere(before: Plan, plan: Plan, added: Collection[AnyProcess]) -> dict[int, SqlFiles]:
    """Where the files of SQL nodes are that have them elsewhere afterwards on the same host, by id."""
    old = {node.node_id: sql_files(before, node) for node in before.sql_nodes}
    return {
        node.node_id: old[node.node_id]
        for node in plan.sql_nodes
        if node not in added and old[node.node_id].data_dir != sql_files(plan, node).data_dir
    }


def with_ids(all_of: Iterable[AnyProcess], node_ids: Collection[int]) -> list[AnyProcess]:
    """The processes of some ids."""
    return [process for process in all_of if process.node_id in node_ids]


def data_nodes_elsewhere(before: Plan, plan: Plan) -> list[DataNode]:
    """Data nodes on another host than before."""
    hosts = {node.node_id: before.host(node.host_id).hostname for node in before.data_nodes}
    return [
        node
        for node in plan.data_nodes
        if hosts.get(node.node_id, "") not in ("", plan.host(node.host_id).hostname)
    ]


def in_order_of_ports(before: Plan, plan: Plan, nodes: Collection[SqlNode]) -> list[SqlNode]:
    """SQL nodes that were there, each behind the one of its host whose port it gets.

    Ports follow the order of the nodes of a host, so they all move up behind one that comes, and down behind
    one that goes.
    """
    ports = {node.node_id: sql_files(before, node).port for node in before.sql_nodes}
    up = [node for node in nodes if sql_files(plan, node).port > ports[node.node_id]]
    return [*reversed(up), *(node for node in nodes if node not in up)]


def serving_meanwhile(before: Plan, plan: Plan, added: Collection[AnyProcess]) -> list[SqlNode]:
    """SQL nodes that serve while those restart that were there; not one that comes and waits for a port."""
    return [n for n in plan.sql_nodes if n not in added or not _waits_for_a_port(before, plan, n)]


def _waits_for_a_port(before: Plan, plan: Plan, node: SqlNode) -> bool:
    """Whether an SQL node that comes gets the port of one that was on its host and stays there."""
    stay = {other.node_id for other in plan.sql_nodes if other.host_id == node.host_id}
    host = plan.host(node.host_id).hostname
    return any(
        other.node_id in stay
        and before.host(other.host_id).hostname == host
        and sql_files(before, other).port == sql_files(plan, node).port
        for other in before.sql_nodes
    )


def prepare(
    before: Plan, plan: Plan, needed: Needs, added: Collection[AnyProcess], moved: Collection[DataNode]
) -> Iterator[Step]:
    """All of it. `added`: nodes that come; `moved`: data nodes that go to another host."""
    old = {node.node_id: node for node in before.management_nodes}
    management = [
        node
        for node in plan.management_nodes
        if node in added
        or management_directory(plan, node) != management_directory(before, old[node.node_id])
    ]
    sql = [node for node in added if isinstance(node, SqlNode)]
    commands: list[Command] = [] if needed.programs else [*install_missing_programs(plan, before)]
    commands += management_directories(plan, management)
    if needed.kind != "initial_system":
        commands += node_directories(plan, [node for node in added if isinstance(node, DataNode)])
        commands += _of_those_that_stay(before, plan, {*needed.elsewhere, *_ids(added), *_ids(moved)})
    commands += copy_my_cnf(plan, [*sql, *_including(before, plan)])
    commands += sql_data_directories(plan, sql)
    runs = {node.node_id: node for node in before.sql_nodes}
    for node in plan.sql_nodes:
        if node not in added:
            commands += option_folders_that_come(plan, node, before, runs[node.node_id])
    if commands:
        yield Step(
            "directories",
            "Programs, directories and files that are new on hosts",
            "Programs of the old hosts' release, where they are not there yet, come from --programs.",
            tuple(commands),
        )
    units = tuple(install_services(plan, _changed_services(before, plan, needed)))
    if units:
        yield Step(
            "services",
            "Copy the units",
            "A unit that changes counts from the next start of its node on.",
            units,
        )


def _including(before: Plan, plan: Plan) -> Iterator[SqlNode]:
    """SQL nodes whose my.cnf leaves options to their host now: a data node there reads it as it starts."""
    old = {node.node_id: before.host(node.host_id) for node in before.sql_nodes}
    for node in plan.sql_nodes:
        was = old.get(node.node_id)
        asks = was is not None and not has_own_options(before, was)
        if asks and has_own_options(plan, plan.host(node.host_id)):
            yield node


def _ids(nodes: Collection[AnyProcess]) -> Iterator[int]:
    yield from (node.node_id for node in nodes)


def _of_those_that_stay(before: Plan, plan: Plan, others: Collection[int]) -> Iterator[Command]:
    """Directories that data nodes did not have. `others`: nodes that come, or whose files lie elsewhere."""
    old = {node.node_id: node for node in before.data_nodes}
    for node in plan.data_nodes:
        if node.node_id not in others:
            yield from directories_that_come(plan, node, before, old[node.node_id])


def _changed_services(before: Plan, plan: Plan, needed: Needs) -> list[Served]:
    old = {(type(node), node.node_id): _unit(before, node) for node in served(before)}
    moved = {i for one in needed.difference.parameters if one.name == "HostName" for i in one.node_ids}
    return [
        node
        for node in served(plan)
        if old.get((type(node), node.node_id)) != _unit(plan, node) or node.node_id in moved
    ]


def _unit(plan: Plan, node: Served) -> Service:
    """What the unit of a node says, but for the name of the plan."""
    return replace(service_of(plan, node), description="")


def leaving(before: Estimation, nodes: Iterable[SqlNode | DataNode]) -> Quantity | None:
    """How long nodes that run take to stop, one after the other; None for none."""
    parts: list[tuple[str, Quantity]] = []
    for node in nodes:
        if isinstance(node, SqlNode):
            parts.append((f"SQL node {node.node_id}", before.constants["sql_stop_s"]))
        else:
            phases = before.restart("node", node.node_id, IDLE).phases
            parts += ((f"data node {node.node_id}", one.duration_s) for one in phases if one.name == STOP)
    return total(parts, "s") if parts else None
