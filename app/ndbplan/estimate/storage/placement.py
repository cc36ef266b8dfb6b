"""Threads and fragment placement of a plan: the part of it that decides where fragments go."""

from __future__ import annotations

from functools import lru_cache

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.memo import memo_by_identity
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import node_settings, redo_log_parts
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.features import features
from ndbplan.ndb.placement.fragment_counts import Cluster, TableShape
from ndbplan.ndb.placement.fragments import Placement, place_all
from ndbplan.ndb.threads.layout import ThreadCounts, is_automatic, thread_counts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Table

_THREAD_PARAMETERS = ("MaxNoOfExecutionThreads", "ThreadConfig", "AutomaticThreadConfig", "NumCPUs")


@memo_by_identity(16)
def _thread_counts_by_node(plan: Plan) -> dict[int, ThreadCounts]:
    counts: dict[int, ThreadCounts] = {}
    for node in plan.data_nodes:
        settings = node_settings(plan, node)
        parameters = tuple((name, settings.value(name)) for name in _THREAD_PARAMETERS)
        counts[node.node_id] = _threads(plan.version, parameters, plan.host(node.host_id).cores)
    return counts


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
        version, {"AutomaticThreadConfig": node_settings(plan).value("AutomaticThreadConfig")}
    )
    classic = not plan.features.automatic_threads or (
        not automatic and node_settings(plan).number("ClassicFragmentation") != 0
    )
    return Cluster(
        version=version,
        groups=tuple(tuple(node.node_id for node in group) for group in node_groups(plan)),
        ldm=FrozenMap({node.node_id: ldm_threads(plan, node) for node in plan.data_nodes}),
        log_parts=redo_log_parts(node_settings(plan)),
        classic=classic,
        partitions_per_node=max(1, node_settings(plan).number("PartitionsPerNode")),
    )


def table_shape(table: Table) -> TableShape:
    """What of a table decides its fragments."""
    return TableShape(
        balance=table.partition_balance,
        partitions=table.partitions,
        max_rows=table.max_rows,
        fully_replicated=table.fully_replicated,
        grown_from=table.grown_from,
    )


_OLD_UNIQUE_INDEX_SHAPE = TableShape()


def _hidden(table: Table, own: TableShape, version: NdbVersion) -> tuple[int, list[TableShape]]:
    """How many tables of blob parts a table has, and the shapes of its unique indexes.

    All of them have fragments of their own; blob parts are created before the indexes. From 7.4 on a unique
    index inherits the count of fragments, balance and copies of its table
    (`Dbdict::createIndex_toCreateTable`). It stays where it is when its table is reorganised.
    """
    blobs = sum([COLUMN_TYPES[column.type].has_parts for column in table.columns])
    uniques = sum([index.kind != "ordered" for index in table.indexes])
    if not uniques:
        return blobs, []
    unique = (
        own._replace(is_reorganised=False)
        if features(version).unique_index_follows_table
        else _OLD_UNIQUE_INDEX_SHAPE
    )
    return blobs, [unique] * uniques


@lru_cache(maxsize=8)
def _placements(cluster: Cluster, shapes: tuple[TableShape, ...]) -> tuple[Placement, ...]:
    return place_all(cluster, shapes)


@memo_by_identity(16)
def placements(plan: Plan) -> dict[str, tuple[Placement, ...]]:
    """Placement of each table, by table id, followed by those of its unique indexes."""
    version = plan.version
    shapes: list[TableShape] = []
    places: list[tuple[int, int, int]] = []
    for table in plan.tables:
        own = table_shape(table)
        blobs, uniques = _hidden(table, own, version)
        first_unique = len(shapes) + 1 + blobs
        places.append((len(shapes), first_unique, first_unique + len(uniques)))
        shapes += [own] * (1 + blobs) + uniques
    placed = _placements(cluster_of(plan), tuple(shapes))
    return {
        table.id: (placed[at], *placed[first:end])
        for table, (at, first, end) in zip(plan.tables, places, strict=True)
    }
