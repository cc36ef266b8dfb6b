"""What a plan stores: its threads and fragments, where rows lie, and what they take on every data node.

    distribute(plan, table).partitions[0].primary
    memory(plan).nodes[0].data_memory_bytes

Here the plan is taken apart for `storage/`, whose functions get tables, settings, rows and constants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import how_many
from ndbplan.configuration.directories import disks_of_node, path_parameters
from ndbplan.configuration.link_buffers import LinkBuffers, link_buffers
from ndbplan.configuration.node_groups import groups_by_number, node_group_ids, node_groups
from ndbplan.configuration.settings import (
    NodeSettings,
    is_diskless,
    node_settings,
    redo_log_parts,
    settings_by_node,
)
from ndbplan.configuration.space_files import ON_ONE_DISK, folders_of_files, shares_of_files
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.checkpoint_speed import has_small_files
from ndbplan.estimate.load.processors import against_timed
from ndbplan.estimate.storage import distribution as rows_in_partitions
from ndbplan.estimate.storage.dictionary import DictionaryRoom, room_in_dictionary
from ndbplan.estimate.storage.distribution import Surroundings, surroundings
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.estimate.storage.key_values import key_values
from ndbplan.estimate.storage.machines import Machine, Machines, is_nowhere, nowhere
from ndbplan.estimate.storage.memory import (
    MemoryEstimate,
    NodeMemory,
    NodeToFill,
    memories_of_nodes,
    memory_of_nodes,
)
from ndbplan.estimate.storage.node_data import NodeData, held_by_nodes
from ndbplan.estimate.storage.node_memory import computed_values, ram_bytes
from ndbplan.estimate.storage.placement import cluster_with, place
from ndbplan.estimate.storage.real_keys import KeyCount, distribution_columns, keys_in_partitions
from ndbplan.estimate.storage.redistribution import Redistribution, redistribute_rows
from ndbplan.estimate.storage.shares import Shares, shares
from ndbplan.estimate.storage.table_memory import Rules, TableSizes, rules_with, table_memory
from ndbplan.ndb.keys.hash import distribution_hash
from ndbplan.ndb.nearness import Nearness, Situation, nearness
from ndbplan.ndb.placement.fragment_counts import Cluster
from ndbplan.ndb.placement.fragments import Placement
from ndbplan.ndb.placement.hashmap import is_exact
from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.tables import Table

# Threads and fragments.


_OF_NODES = tuple(name for name in Plan.model_fields if name not in ("tables", "workloads"))


@kept_by_identity(64)
def without_rows(plan: Plan) -> Plan:
    """The plan without tables and loads: one object for all plans that agree in the rest, such as one that
    grows month by month, so that what is known of their nodes stays known."""
    return _without_rows(*(getattr(plan, name) for name in _OF_NODES))


@kept_by_identity(48)
def _without_rows(*values: Any) -> Plan:
    return Plan.model_construct(**dict(zip(_OF_NODES, values, strict=True)), tables=(), workloads=())


@kept_by_identity(64)
def machines_of(plan: Plan) -> Machines:
    """The data nodes and what they run on."""
    return _machines_of(without_rows(plan))


@kept_by_identity(48)
def _machines_of(plan: Plan) -> Machines:
    settings, paths, constants = settings_by_node(plan), path_parameters(plan), constants_of(plan)
    folders = folders_of_files(plan.logfile_groups, plan.tablespaces)
    by_id = {}
    for node in plan.data_nodes:
        host = plan.host(node.host_id)
        disks = disks_of_node(node, host.disks, paths)
        shares = shares_of_files(folders, host.disks, disks) if folders else ON_ONE_DISK
        if is_diskless(settings[node.node_id]):
            disks, shares = {role: disk and nowhere(disk) for role, disk in disks.items()}, ON_ONE_DISK
        own = settings[node.node_id]
        by_id[node.node_id] = Machine(node, host, own, disks, shares, has_small_files(own, constants))
    groups = tuple(tuple(by_id[node.node_id] for node in group) for group in node_groups(plan))
    return Machines(constants, node_settings(plan), by_id, groups, plan.locations)


def threads_of(plan: Plan, node: DataNode) -> ThreadCounts:
    """Threads of a data node. Raises ThreadConfigError for a ThreadConfig the node would refuse."""
    return machines_of(plan).by_id[node.node_id].threads


def ldm_threads(plan: Plan, node: DataNode) -> int:
    """LDM instances of a data node; one even when no thread is set apart for it."""
    return threads_of(plan, node).ldm_instances


def cluster_of(plan: Plan) -> Cluster:
    """What decides placement: node groups, LDM instances, log parts, kind of fragmentation."""
    return _cluster_of(machines_of(plan))


@kept_by_identity(48)
def _cluster_of(machines: Machines) -> Cluster:
    groups = tuple(tuple(node.node_id for node in group) for group in machines.groups)
    return cluster_with(machines.settings, groups, {i: m.ldm_threads for i, m in machines.by_id.items()})


def placements(plan: Plan) -> dict[str, tuple[Placement, ...]]:
    """Placement of each table, by table id, followed by those of its unique indexes."""
    return _placed(plan.tables, cluster_of(plan))


@kept_by_identity(48)
def _placed(tables: tuple[Table, ...], cluster: Cluster) -> dict[str, tuple[Placement, ...]]:
    return place(tables, cluster)


def most_in_one_ldm(plan: Plan, table: Table) -> int:
    """Fragments of a table, or of one of its unique indexes, in the LDM instance that has most of them."""
    return max((placed.most_in_one_ldm for placed in placements(plan)[table.id]), default=0)


def has_too_many_fragments(plan: Plan, table: Table) -> bool:
    """Whether CREATE TABLE fails with 1224 because an LDM instance would have too many fragments of it."""
    return most_in_one_ldm(plan, table) > plan.features.fragments_of_table_in_ldm


def dictionary_of(plan: Plan, settings: NodeSettings) -> tuple[DictionaryRoom, ...]:
    """What the tables of a plan take of the dictionary of data nodes with these settings."""
    return room_in_dictionary(plan.tables, placements(plan), cluster_of(plan), settings)


def has_partitions(plan: Plan) -> bool:
    """Whether the plan has a complete enough set of data nodes to hold a table."""
    return bool(node_groups(plan))


def needs_partitions(plan: Plan, where: str = "") -> None:
    """Raises UserError for a plan without a complete node group: no row of it lies anywhere."""
    if not has_partitions(plan):
        raise UserError(
            f"the plan has {how_many(len(plan.data_nodes), 'data node')} and no complete node group",
            where=where,
            fix="add as many data nodes as NoOfReplicas",
        )


# Rows.


def around(plan: Plan) -> Surroundings:
    """What the distribution of every table depends on, beside its placement."""
    return _around(without_rows(plan))


@kept_by_identity(48)
def _around(plan: Plan) -> Surroundings:
    return surroundings(plan.version, tuple(groups_by_number(plan)), redo_log_parts(node_settings(plan)))


class Lying(NamedTuple):
    """Where all rows of a cluster lie: of each table, by its id, first its own, then the entries of each of
    its unique indexes."""

    rows: Mapping[str, tuple[TableDistribution, ...]]
    shares: Mapping[str, tuple[Shares, ...]]
    """What of them each data node holds."""


def lying(plan: Plan) -> Lying | None:
    """Where the rows of a plan lie: one object for all plans that agree in it. None without a node group."""
    return _lying(plan.tables, cluster_of(plan), around(plan)) if has_partitions(plan) else None


@kept_by_identity(48)
def _lying(tables: tuple[Table, ...], cluster: Cluster, surrounded: Surroundings) -> Lying:
    rows, placed = {}, _placed(tables, cluster)
    for table in tables:
        own, *unique = placed[table.id]
        rows[table.id] = (
            rows_in_partitions.distribute_rows(table, own, surrounded, key_values(tables, table)),
            *(
                rows_in_partitions.distribute_entries(table, at, one, surrounded)
                for at, one in enumerate(unique)
            ),
        )
    held = {table.id: tuple(shares(one, table) for one in rows[table.id]) for table in tables}
    return Lying(rows, held)


def distribute(plan: Plan, table: Table) -> TableDistribution:
    """Where the rows of a table of the plan lie. UserError when no data node is in a node group."""
    needs_partitions(plan)
    found = lying(plan)
    assert found is not None
    return found.rows[table.id][0]


def redistribute(
    plan_before: Plan,
    plan_after: Plan,
    table: Table | str,
    commits_before: Mapping[int, int] | None = None,
) -> Redistribution:
    """What reorganising the table does when the cluster grows from one plan to the other.

    `commits_before`: commits by partition; default: one per row.
    """
    name = table if isinstance(table, str) else table.id
    old, new = plan_before.table(name), plan_after.table(name)
    return redistribute_rows(
        distribute(plan_before, old), old, new, cluster_of(plan_after), around(plan_after), commits_before
    )


def count_keys(
    plan: Plan, table: Table, stream: BinaryIO, cancelled: Callable[[], bool] = lambda: False
) -> KeyCount:
    """Where the keys of a CSV fall in a table of the plan: exactly, or on average and saying so."""
    partitions = placements(plan)[table.id][0].partitions
    return keys_in_partitions(table, partitions, plan.version, stream, cancelled)


class KeyPlace(NamedTuple):
    """Where the rows of one key lie."""

    hash: int
    bucket: int
    """Of the table's hash map."""
    partition: int
    node_group: int
    node_ids: tuple[int, ...]
    """The primary replica's first."""
    ldms: tuple[int, ...]
    """LDM thread on each of these nodes, from 1."""
    log_part: int
    rows: int
    """Rows of its partition."""


def place_of_key(plan: Plan, table: Table, values: Sequence[str]) -> KeyPlace:
    """Where a key lies, exactly as the cluster places it; one text for each column of the distribution key.

    Raises UserError for a value that a column cannot hold, a key nobody can hash, and no data nodes.
    """
    columns = distribution_columns(table)
    try:
        distribution = distribute(plan, table)
    except ValueError as error:
        raise UserError(str(error), fix="add data nodes") from None
    placed, owners = distribution.placement, distribution.hash_map
    if not is_exact(plan.version, placed.partitions):
        raise UserError(
            f"keys over {placed.partitions} partitions are not supported exactly in {plan.version}",
            fix="use 1, 2, 4, 8 or 16 partitions, or version 7.0 or later",
        )
    hashed = distribution_hash(columns, values, plan.version)
    bucket = hashed % len(owners)
    partition = owners[bucket]
    return KeyPlace(
        hashed,
        bucket,
        partition,
        distribution.group_ids[int(placed.node_group[partition])],
        tuple(int(node) for node in placed.nodes[partition]),
        tuple(int(ldm) for ldm in placed.ldm[partition]),
        int(placed.log_part[partition]),
        int(distribution.rows[partition]),
    )


# What each data node holds.


def stored_shares_of(plan: Plan, table: Table) -> tuple[Shares, ...]:
    """Share of the rows of a table, then of the entries of each of its unique indexes."""
    found = lying(plan)
    if found is None:
        return ({}, *({} for index in table.indexes if index.kind != "ordered"))
    return found.shares[table.id]


@kept_by_identity(size=96)
def node_data(plan: Plan) -> tuple[NodeData, ...]:
    """What every data node holds of the plan's tables, by node id; nodes without a partition are left out."""
    found = lying(plan)
    return () if found is None else _held(plan.tables, plan.version, found)


@kept_by_identity(size=96)
def _held(tables: tuple[Table, ...], version: NdbVersion, lying: Lying) -> tuple[NodeData, ...]:
    return held_by_nodes(tables, version, *(one for shares in lying.shares.values() for one in shares))


def node_data_by_id(plan: Plan) -> dict[int, NodeData]:
    """The same by node id."""
    return _by_node_id(node_data(plan))


def node_data_by_logging(plan: Plan, logging: bool) -> dict[int, NodeData]:
    """The same of the tables with logging, or of those without."""
    found = lying(plan)
    return {} if found is None else _held_by_logging(plan.tables, plan.version, found, logging)


@kept_by_identity(size=96)
def _held_by_logging(
    tables: tuple[Table, ...], version: NdbVersion, lying: Lying, logging: bool
) -> dict[int, NodeData]:
    some = tuple(table for table in tables if table.logging == logging)
    shares = (one for table in some for one in lying.shares[table.id])
    return {data.node_id: data for data in held_by_nodes(some, version, *shares)}


@kept_by_identity(size=96)
def _by_node_id(held: tuple[NodeData, ...]) -> dict[int, NodeData]:
    return {data.node_id: data for data in held}


# Memory.


@kept_by_identity(48)
def _ram_by_node(plan: Plan) -> dict[int, Quantity]:
    """What data nodes allocate, by node id; those with the same settings, threads, links share one answer."""
    links, constants = link_buffers(plan), constants_of(plan)
    known: dict[tuple[int, int, LinkBuffers], Quantity] = {}
    ram: dict[int, Quantity] = {}
    for node_id, machine in machines_of(plan).by_id.items():
        key = id(machine.settings), id(machine.threads), links[node_id]
        if key not in known:
            known[key] = ram_bytes(machine.settings, machine.threads, links[node_id], constants)
        ram[node_id] = known[key]
    return ram


@kept_by_identity(size=48)
def computed_values_of(plan: Plan, node: DataNode) -> dict[str, int]:
    """What a data node takes for parameters that are not stated, where that follows from others of them."""
    one = machines_of(plan).by_id[node.node_id]
    return computed_values(one.settings, one.threads, link_buffers(plan)[node.node_id], constants_of(plan))


@kept_by_identity(size=48)
def memory(plan: Plan) -> MemoryEstimate:
    """Memory of the plan's tables and data nodes; without node groups there are no tables to count.

    Raises ThreadConfigError for a ThreadConfig that a node would refuse.
    """
    return memory_of_nodes(table_sizes(plan), _to_fill(plan), reach(plan, "storage"))


@kept_by_identity(size=24)
def node_memories(plan: Plan) -> tuple[NodeMemory, ...]:
    """Memory of the data nodes alone, as `memory` has it."""
    return memories_of_nodes(table_sizes(plan), _to_fill(plan), reach(plan, "storage"))


def _to_fill(plan: Plan) -> tuple[NodeToFill, ...]:
    return _nodes_to_fill(without_rows(plan))


@kept_by_identity(48)
def _nodes_to_fill(plan: Plan) -> tuple[NodeToFill, ...]:
    groups, ram = node_group_ids(plan), _ram_by_node(plan)
    return tuple(
        NodeToFill(one.node, groups[node_id], one.settings, one.host, one.ldm_threads, ram[node_id])
        for node_id, one in machines_of(plan).by_id.items()
    )


def table_sizes(plan: Plan) -> tuple[TableSizes, ...]:
    """Memory of each table of the plan by node group; nothing without node groups."""
    found = lying(plan)
    if found is None:
        return ()
    return _sizes(plan.tables, found, placements(plan), rules_with(plan.version, constants_of(plan)))


@kept_by_identity(size=48)
def _sizes(
    tables: tuple[Table, ...], lying: Lying, placed: dict[str, tuple[Placement, ...]], rules: Rules
) -> tuple[TableSizes, ...]:
    return tuple(
        table_memory([(table, lying.rows[table.id][0], rules, *placed[table.id][1:]) for table in tables])
    )


@kept_by_identity(size=48)
def _slowest(machines: Machines) -> tuple[int, float, float]:
    """Most LDM threads of a data node, its slowest disk in bytes a second, and its slowest core."""
    constants = machines.constants
    disks = [machine.disks[DiskRole.LCP] for machine in machines.nodes]
    no_limit = constants["unlimited_disk_bytes_per_s"].value
    speeds = [
        no_limit if is_nowhere(disk) else disk.sequential_write_bytes_per_s
        for disk in disks
        if disk is not None
    ]
    ldm = max((machine.ldm_threads for machine in machines.nodes), default=1)
    speed = min(speeds, default=constants["unknown_disk_bytes_per_s"].value)
    cores = (against_timed(machine.host, constants).value for machine in machines.nodes)
    return ldm, speed, min(cores, default=1.0)


@kept_by_identity(size=48)
def situation(plan: Plan) -> Situation:
    """What of a plan decides which measured runs it is like."""
    held = node_data(plan)
    rows = max((data.rows for data in held), default=0.0)
    size = sum(data.row_bytes for data in held) / max(1.0, sum(data.rows for data in held))
    machines = machines_of(plan)
    ldm, speed, core = _slowest(machines)
    parts = redo_log_parts(node_settings(plan))
    return Situation(plan.version, len(machines.members), ldm, rows, size, speed, parts, core)


@kept_by_identity(size=64)
def reach(plan: Plan, kind: str) -> Nearness:
    """How near figures of a kind lie to runs that were measured."""
    return nearness(kind, situation(plan))
