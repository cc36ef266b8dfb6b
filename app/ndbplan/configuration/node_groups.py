"""Which data nodes form which node group: as stated, or as the management server would fill them."""

from __future__ import annotations

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.settings import is_diskless, no_of_replicas, node_settings
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode


def stated_group(plan: Plan, node: DataNode) -> int | None:
    """The node group that config.ini states for a data node; None where the version has no NodeGroup."""
    return node.node_group if _may_state_groups(plan) else None


def _may_state_groups(plan: Plan) -> bool:
    return catalogue.knows("DB", "Nodegroup", plan.version)


def counted_nodes(plan: Plan) -> tuple[DataNode, ...]:
    """The data nodes that ndb_mgmd looks at when it fills and counts node groups.

    Before 8.0 those in front of the first reserved node only: check_node_vs_replicas in ConfigInfo.cpp left
    its loop there.
    """
    nodes = plan.data_nodes
    if plan.features.reserved_nodes_counted:
        return nodes
    first = next(
        (i for i, node in enumerate(nodes) if stated_group(plan, node) == NODE_GROUP_NONE), len(nodes)
    )
    return nodes[:first]


@kept_by_identity(16)
def node_group_ids(plan: Plan) -> dict[int, int]:
    """Node group of each data node, by node id; 65536: reserved, or left without one by an older ndb_mgmd.

    Nodes without a stated group fill the groups in node-id order, each the lowest group with room.
    """
    replicas, counted = no_of_replicas(plan), counted_nodes(plan)
    may_state = _may_state_groups(plan)
    stated = [node.node_group if may_state else None for node in plan.data_nodes]
    members: dict[int, int] = {}
    for group in stated[: len(counted)]:
        if group is not None and group != NODE_GROUP_NONE:
            members[group] = members.get(group, 0) + 1
    groups: dict[int, int] = {}
    lowest = 0
    for node, group in zip(counted, stated, strict=False):
        if group is None:
            while members.get(lowest, 0) >= replicas:
                lowest += 1
            group = lowest
            members[group] = members.get(group, 0) + 1
        groups[node.node_id] = group
    for node, group in list(zip(plan.data_nodes, stated, strict=True))[len(counted) :]:
        groups[node.node_id] = NODE_GROUP_NONE if group is None else group
    return groups


@kept_by_identity(16)
def groups_by_number(plan: Plan) -> dict[int, tuple[DataNode, ...]]:
    ids = node_group_ids(plan)
    groups: dict[int, list[DataNode]] = {}
    for node in plan.data_nodes:
        if ids[node.node_id] != NODE_GROUP_NONE:
            groups.setdefault(ids[node.node_id], []).append(node)
    return {group: tuple(groups[group]) for group in sorted(groups)}


def node_groups(plan: Plan) -> tuple[tuple[DataNode, ...], ...]:
    """The node groups in order of their number, nodes by node id; nodes reserved (65536) are in none."""
    return tuple(groups_by_number(plan).values())


def reserved_nodes(plan: Plan) -> tuple[DataNode, ...]:
    """The data nodes without a node group (NodeGroup 65536), which wait for a CREATE NODEGROUP."""
    ids = node_group_ids(plan)
    return tuple(node for node in plan.data_nodes if ids[node.node_id] == NODE_GROUP_NONE)


def groups_without_files(plan: Plan) -> tuple[int, ...]:
    """Node groups of which no node writes files (Diskless): their rows live as long as one of them runs."""
    return tuple(
        number
        for number, members in groups_by_number(plan).items()
        if all(is_diskless(node_settings(plan, node)) for node in members)
    )


def loses_every_row(plan: Plan) -> bool:
    """Whether every row is gone when all data nodes stop: files of other groups do not start without one."""
    return bool(groups_without_files(plan))


def incomplete_node_group(plan: Plan) -> str | None:
    """What is wrong with the first node group that has not NoOfReplicas members; None: all have."""
    replicas = no_of_replicas(plan)
    for number, members in groups_by_number(plan).items():
        if len(members) != replicas:
            nodes = ", ".join(str(node.node_id) for node in members)
            return f"node group {number} has {len(members)} of {replicas} members (data node {nodes})"
    return None
