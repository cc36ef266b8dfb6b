"""Node groups, threads and fragment placement of a plan: the part of it that decides where fragments go."""

from __future__ import annotations

from functools import lru_cache

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.memo import memo_by_identity
from ndbplan.ndb.placement import Cluster, Placement, TableShape, place_all
from ndbplan.ndb.threads import ThreadCounts, is_automatic, thread_counts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode
from ndbplan.plan.settings import data_node_number, data_node_text, no_of_replicas, redo_log_parts
from ndbplan.plan.tables import Table

_THREAD_PARAMETERS = ("MaxNoOfExecutionThreads", "ThreadConfig", "AutomaticThreadConfig", "NumCPUs")


@memo_by_identity(16)
def node_group_ids(plan: Plan) -> dict[int, int]:
    """Node group of each data node, by node id; 65536: kept aside.

    Nodes without a stated group fill the groups in node-id order, each the lowest group with room.
    """
    replicas = no_of_replicas(plan)
    members: dict[int, int] = {}
    for node in plan.data_nodes:
        if node.node_group is not None and node.node_group != NODE_GROUP_NONE:
            members[node.node_group] = members.get(node.node_group, 0) + 1
    found: dict[int, int] = {}
    lowest = 0
    for node in plan.data_nodes:
        group = node.node_group
        if group is None:
            while members.get(lowest, 0) >= replicas:
                lowest += 1
            group = lowest
            members[group] = members.get(group, 0) + 1
        found[node.node_id] = group
    return found


@memo_by_identity(16)
def groups_by_number(plan: Plan) -> dict[int, tuple[DataNode, ...]]:
    ids = node_group_ids(plan)
    groups: dict[int, list[DataNode]] = {}
    for node in plan.data_nodes:
        if ids[node.node_id] != NODE_GROUP_NONE:
            groups.setdefault(ids[node.node_id], []).append(node)
    return {group: tuple(groups[group]) for group in sorted(groups)}


def node_groups(plan: Plan) -> tuple[tuple[DataNode, ...], ...]:
    """The node groups in order of their number, nodes by node id; nodes kept aside (65536) are in none."""
    return tuple(groups_by_number(plan).values())


def odd_group(plan: Plan) -> str | None:
    """What is wrong with the first node group that has not NoOfReplicas members; None: all have."""
    replicas = no_of_replicas(plan)
    for number, members in groups_by_number(plan).items():
        if len(members) != replicas:
            nodes = ", ".join(str(node.node_id) for node in members)
            return f"node group {number} has {len(members)} of {replicas} members (data node {nodes})"
    return None


@memo_by_identity(16)
def _thread_counts_by_node(plan: Plan) -> dict[int, ThreadCounts]:
    shared = {name: data_node_text(plan, None, name) for name in _THREAD_PARAMETERS}
    found: dict[int, ThreadCounts] = {}
    for node in plan.data_nodes:
        own = {name: node.parameters[name] for name in _THREAD_PARAMETERS if name in node.parameters}
        parameters = {**shared, **own}
        cores = plan.host(node.host_id).cores
        found[node.node_id] = _threads(plan.version, tuple(parameters.items()), cores)
    return found


@lru_cache(maxsize=256)
def _threads(
    version: NdbVersion, parameters: tuple[tuple[str, int | str | None], ...], cores: int
) -> ThreadCounts:
    return thread_counts(version, dict(parameters), cores)


def threads_of(plan: Plan, node: DataNode) -> ThreadCounts:
    """Threads of a data node. Raises ThreadConfigError for a ThreadConfig the node would refuse."""
    return _thread_counts_by_node(plan)[node.node_id]


def ldm_threads(plan: Plan, node: DataNode) -> int:
    """LDM instances of a data node; one even when no thread is set apart for it."""
    return threads_of(plan, node).ldm_instances


@memo_by_identity(16)
def cluster_of(plan: Plan) -> Cluster:
    """What decides placement: node groups, LDM instances, log parts, kind of fragmentation."""
    version = plan.version
    automatic = is_automatic(
        version, {"AutomaticThreadConfig": data_node_text(plan, None, "AutomaticThreadConfig")}
    )
    classic = version < (8, 0, 23) or (
        not automatic and data_node_number(plan, None, "ClassicFragmentation") != 0
    )
    return Cluster(
        version=version,
        groups=tuple(tuple(node.node_id for node in group) for group in node_groups(plan)),
        ldm=FrozenMap({node.node_id: ldm_threads(plan, node) for node in plan.data_nodes}),
        log_parts=redo_log_parts(plan, None),
        classic=classic,
        partitions_per_node=max(1, data_node_number(plan, None, "PartitionsPerNode")),
    )


def table_shape(table: Table) -> TableShape:
    """What of a table decides its fragments."""
    return TableShape(
        balance=table.partition_balance.value,
        partitions=table.partitions,
        max_rows=table.max_rows,
        fully_replicated=table.fully_replicated,
        grown_from=table.grown_from,
    )


_UNIQUE_INDEX_SHAPE = TableShape()


@memo_by_identity(4096)
def _shapes(table: Table) -> tuple[TableShape, ...]:
    # A unique index is a hidden table, created with its table but with fragments of its own.
    unique = sum(index.kind != "ordered" for index in table.indexes)
    return (table_shape(table), *([_UNIQUE_INDEX_SHAPE] * unique))


@lru_cache(maxsize=8)
def _placements(cluster: Cluster, shapes: tuple[TableShape, ...]) -> tuple[Placement, ...]:
    return place_all(cluster, shapes)


@memo_by_identity(16)
def placements(plan: Plan) -> dict[str, tuple[Placement, ...]]:
    """Placement of each table, by table id, followed by those of its unique indexes."""
    shapes = [_shapes(table) for table in plan.tables]
    placed = iter(_placements(cluster_of(plan), tuple(shape for group in shapes for shape in group)))
    return {
        table.id: tuple(next(placed) for _ in group) for table, group in zip(plan.tables, shapes, strict=True)
    }
