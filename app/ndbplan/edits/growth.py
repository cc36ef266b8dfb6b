"""More and fewer nodes: free node ids, node groups like the last one, hosts that go with what ran on them."""

from __future__ import annotations

from collections.abc import Collection

from ndbplan.base.units import how_many
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits.ids import NewIds
from ndbplan.edits.names import next_hostname
from ndbplan.edits.parts import add, remove, update
from ndbplan.edits.roles import move_process
from ndbplan.edits.validated import EditError
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, process_node_ids


def free_node_id(plan: Plan, kind: str, taken: Collection[int] = ()) -> int:
    """The next free node id: data nodes from 1 up, the others behind the highest possible data node."""
    used = {n for process in plan.processes for n in process_node_ids(process)} | set(taken)
    top = plan.features.data_nodes_most
    if kind == "data":
        last = max((n.node_id for n in plan.data_nodes), default=0)
        pool: list[int] = [*range(last + 1, top + 1), *range(1, last)]
    else:
        pool = [*range(top + 1, 256), *range(top, 0, -1)]
    for node_id in pool:
        if node_id not in used:
            return node_id
    most = f"{top} data nodes in NDB {plan.version}" if kind == "data" else "255 nodes"
    raise EditError(f"no node id is free: a cluster has at most {most}", fix="remove a node first")


def add_node_group(plan: Plan, groups: int = 1) -> Plan:
    """Add node groups: per group as many hosts and data nodes as NoOfReplicas, like the last group's.

    The new nodes get the next node ids, the next group number when the plan numbers its groups, hosts with
    the same hardware and disks, and the same roles on them.
    """
    replicas = no_of_replicas(plan)
    if len(plan.data_nodes) < replicas:
        raise EditError(
            f"the plan has {how_many(len(plan.data_nodes), 'data node')}; a node group needs {replicas}",
            fix="add data nodes first: a new group copies the last one",
        )
    for _ in range(groups):
        stated = {node.node_group is not None for node in plan.data_nodes}
        if len(stated) > 1 or free_node_id(plan, "data") < plan.data_nodes[-1].node_id:
            plan = _numbered(plan, replicas)
        models = plan.data_nodes[-replicas:]
        numbers = [n.node_group for n in plan.data_nodes if n.node_group is not None]
        group = max((n for n in numbers if n < 65536), default=-1) + 1 if numbers else None
        hosts: dict[str, str] = {}
        for model in models:
            if model.host_id not in hosts:
                plan, hosts[model.host_id] = twin_host(plan, plan.host(model.host_id))
            plan = twin_node(plan, model, hosts[model.host_id], group)
    return plan


def without_nodes(plan: Plan, node_ids: Collection[str]) -> Plan:
    """Remove nodes, and the hosts on which nothing else runs."""
    hosts = [host.id for host in plan.hosts if plan.processes_of_host[host.id]]
    idle = (one for one in hosts if all(node.id in node_ids for node in plan.processes_of_host[one]))
    return remove(plan, (*node_ids, *idle))


def _numbered(plan: Plan, replicas: int) -> Plan:
    """The plan with every node group stated that the product would form, so that new nodes keep out of them.

    Nodes without a number fill, in node-id order, the lowest group that has room.
    """
    members: dict[int, int] = {}
    for node in plan.data_nodes:
        if node.node_group is not None:
            members[node.node_group] = members.get(node.node_group, 0) + 1
    group = 0
    for node in plan.data_nodes:
        if node.node_group is None:
            while members.get(group, 0) >= replicas:
                group += 1
            members[group] = members.get(group, 0) + 1
            plan = update(plan, node.id, node_group=group)
    return plan


def twin_host(plan: Plan, model: Host) -> tuple[Plan, str]:
    """The plan with a host of the same hardware and disks under the next free name, and its id."""
    taken = {host.hostname for host in plan.hosts}
    hostname = next_hostname(model.hostname, taken)
    ids = NewIds(plan)
    disks = tuple(disk.model_copy(update={"id": ids.of(Disk)}) for disk in model.disks)
    twin = model.model_copy(
        update={"id": ids.of(Host), "hostname": hostname, "disks": disks, "position": None, "slot": None}
    )
    return add(plan, twin), twin.id


def twin_node(plan: Plan, model: DataNode, host_id: str, group: int | None) -> Plan:
    """The plan with a data node of the same settings on another host, with the same roles on its disks."""
    node_id = free_node_id(plan, "data")
    twin = model.model_copy(
        update={"id": NewIds(plan).of_node("data", node_id), "node_id": node_id, "node_group": group}
    )
    plan = add(plan, twin.model_copy(update={"host_id": model.host_id}))
    return move_process(plan, twin.id, host_id)
