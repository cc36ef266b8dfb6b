"""Threads and fragment placement: which settings and tables decide where fragments go.

Source: engine model 1.3 and 1.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.configuration.settings import NodeSettings, redo_log_parts
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.features import features
from ndbplan.ndb.placement.fragment_counts import Cluster, TableShape
from ndbplan.ndb.placement.fragments import Placement, place_all
from ndbplan.ndb.threads.layout import THREAD_PARAMETERS, ThreadCounts, is_automatic, thread_counts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table


@kept_by_identity(256)
def threads_with(settings: NodeSettings, cores: int) -> ThreadCounts:
    """Threads of a data node on a host of so many cores. ThreadConfigError for a ThreadConfig it refuses."""
    parameters = tuple((name, settings.value(name)) for name in THREAD_PARAMETERS)
    return _threads(settings.version, parameters, cores)


@kept_by_value(256)
def _threads(
    version: NdbVersion, parameters: tuple[tuple[str, int | str | None], ...], cores: int
) -> ThreadCounts:
    return thread_counts(version, dict(parameters), cores)


def is_classic(settings: NodeSettings) -> bool:
    """Whether fragments follow the LDM threads, a thread being log part modulo threads; else by table."""
    stated = {"AutomaticThreadConfig": settings.value("AutomaticThreadConfig")}
    if not settings.features.automatic_threads:
        return True
    return not is_automatic(settings.version, stated) and settings.number("ClassicFragmentation") != 0


def cluster_with(
    settings: NodeSettings, groups: tuple[tuple[int, ...], ...], ldm: Mapping[int, int]
) -> Cluster:
    """What decides placement: node groups by node ids, LDM instances, log parts, kind of fragmentation.

    `settings`: of data nodes that state nothing of their own.
    """
    per_node = max(1, settings.number("PartitionsPerNode"))
    classic = is_classic(settings)
    return _cluster(settings.version, groups, FrozenMap(ldm), redo_log_parts(settings), classic, per_node)


@kept_by_value(16)
def _cluster(
    version: NdbVersion,
    groups: tuple[tuple[int, ...], ...],
    ldm: FrozenMap[int, int],
    log_parts: int,
    classic: bool,
    partitions_per_node: int,
) -> Cluster:
    """One object for all plans that agree in it, so that results can be kept by identity."""
    return Cluster(version, groups, ldm, log_parts, classic, partitions_per_node)


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


@kept_by_value(8)
def _placements(cluster: Cluster, shapes: tuple[TableShape, ...]) -> tuple[Placement, ...]:
    return place_all(cluster, shapes)


def place(tables: Sequence[Table], cluster: Cluster) -> dict[str, tuple[Placement, ...]]:
    """Placement of each table, by table id, followed by those of its unique indexes."""
    shapes: list[TableShape] = []
    places: list[tuple[int, int, int]] = []
    for table in tables:
        own = table_shape(table)
        blobs, uniques = _hidden(table, own, cluster.version)
        first_unique = len(shapes) + 1 + blobs
        places.append((len(shapes), first_unique, first_unique + len(uniques)))
        shapes += [own] * (1 + blobs) + uniques
    placed = _placements(cluster, tuple(shapes))
    return {
        table.id: (placed[at], *placed[first:end])
        for table, (at, first, end) in zip(tables, places, strict=True)
    }
