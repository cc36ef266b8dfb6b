"""Where the rows of a table go when node groups are added: fragments before and after, and what moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.kept import kept_by_identity
from ndbplan.base.shapes import Shape
from ndbplan.estimate.storage.distribution import Surroundings, value_hashes
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.estimate.storage.placement import table_shape
from ndbplan.estimate.storage.row_cost import disk_row_bytes
from ndbplan.estimate.storage.rows import RowLayout, blob_parts
from ndbplan.ndb.features import features
from ndbplan.ndb.placement import hashmap
from ndbplan.ndb.placement.fragment_counts import Cluster, fragment_count
from ndbplan.ndb.placement.fragments import Placement, extend
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class RedistributedPartition(Shape):
    """One partition after a reorganisation, as `ndb_desc -p` shows it."""

    JSON = "partition rows commits fixed_bytes var_bytes=variable_bytes"

    partition: int
    rows: int
    commits: int
    fixed_bytes: int
    """An old partition keeps the pages its peak needed."""
    variable_bytes: int


@dataclass(frozen=True)
class Redistribution(Shape):
    """What an online reorganisation of one table does."""

    JSON = (
        "table=before.table partitions_before=before.placement.partitions "
        "partitions_after=after.placement.partitions rows_moved bytes_moved partitions"
    )

    before: TableDistribution
    after: TableDistribution
    moved_rows: FrozenMap[tuple[int, int], int]
    """Rows that move, by (old partition, new partition)."""
    partitions: tuple[RedistributedPartition, ...]
    rows_moved: int
    bytes_moved: int
    """Bytes of the moved rows, columns on disk and blob parts included, once per row."""


@kept_by_identity(size=256)
def redistribute_rows(
    before: TableDistribution,
    old_table: Table,
    new_table: Table,
    cluster: Cluster,
    around: Surroundings,
    commits_before: Mapping[int, int] | None,
) -> Redistribution:
    """What reorganising the table does when the cluster grows. `cluster`, `around`: as they are then.

    Old partitions stay where they are; rows move from old to new partitions only. A moved row costs two
    commits in its old partition (written in place, later deleted) and one in the new; a row that stays costs
    none. Old partitions keep their pages until OPTIMIZE. Tables with PARTITIONS n or balanced so that their
    partitions do not grow stay as they are; fully replicated ones are copied to the new
    groups. `commits_before`: commits by partition; default: one per row.

    Source: engine model 1.5, 1.6 and 7.4, exact on the published reorganisation of 3 million rows.
    """
    shape = table_shape(new_table)
    wanted = fragment_count(cluster, shape) if new_table.partitions is None else 0
    if shape.fully_replicated:
        # The same partitions once more in every new group.
        wanted = before.placement.partitions * len(around.group_ids)
    if wanted <= before.placement.fragments:
        return _unchanged(before, commits_before)
    placement = extend(
        cluster,
        _in_groups_of(before, around.group_ids),
        wanted,
        fully_replicated=shape.fully_replicated,
    )
    if shape.fully_replicated:
        new_map, flows, after_rows = before.hash_map, _copies(before, wanted), _repeated(before, wanted)
    else:
        new_map = hashmap.reorganised_map(
            before.hash_map, wanted, hashmap.default_buckets(around.version, wanted)
        )
        hashes = value_hashes(old_table, before.keys, around.version, wanted) if before.keys else None
        flows, after_rows = _flows(before, new_map, new_table, hashes)
    after = TableDistribution(
        table=before.table,
        hash_map=new_map,
        hash_map_name=hashmap.map_name(new_map, before.placement.partitions),
        placement=placement,
        group_ids=around.group_ids,
        rows=after_rows,
        layout=before.layout,
        log_parts=around.log_parts,
        keys=before.keys,
        exact_keys=before.exact_keys,
        is_full_copy=before.is_full_copy,
        counted_variable_bytes=_as_dense(before, after_rows),
    )
    return Redistribution(
        before=before,
        after=after,
        moved_rows=flows,
        partitions=_described(before, after, {} if shape.fully_replicated else flows, commits_before),
        rows_moved=sum(flows.values()),
        bytes_moved=round(sum(flows.values()) * _row_bytes(old_table, before.layout, around.version)),
    )


def _as_dense(before: TableDistribution, rows: Array) -> tuple[int, ...]:
    """Variable pages for so many rows when they fill pages as the table's do; empty: nothing was counted."""
    held, filled = int(before.rows.sum()), sum(before.counted_variable_bytes)
    if not held or not filled:
        return ()
    return tuple(-(-count * filled // (held * PAGE_BYTES)) * PAGE_BYTES for count in rows.tolist())


def _row_bytes(table: Table, layout: RowLayout, version: NdbVersion) -> float:
    """Mean bytes of a row that a reorganisation carries over: on disk too, from 7.2.14 on blob parts."""
    parts = blob_parts(table, version) if features(version).blobs_are_reorganised else ()
    return (
        layout.fixed_bytes
        + layout.variable_bytes
        + disk_row_bytes(layout)
        + sum(
            p.parts_per_row * (p.layout.fixed_bytes + p.layout.variable_bytes + disk_row_bytes(p.layout))
            for p in parts
        )
    )


def _copies(before: TableDistribution, fragments: int) -> FrozenMap[tuple[int, int], int]:
    """Rows copied into each new fragment of a fully replicated table."""
    rows, partitions = before.rows.tolist(), before.placement.partitions
    return FrozenMap(
        {(f % partitions, f): rows[f % partitions] for f in range(before.placement.fragments, fragments)}
    )


def _repeated(before: TableDistribution, fragments: int) -> Array:
    import numpy as np

    partitions = before.placement.partitions
    return np.tile(before.rows[:partitions], fragments // partitions)


def _in_groups_of(before: TableDistribution, group_ids: tuple[int, ...]) -> Placement:
    """The old placement with groups numbered as in the new cluster."""
    import numpy as np

    order = {group: i for i, group in enumerate(group_ids)}
    places = np.array([order.get(group, i) for i, group in enumerate(before.group_ids)], dtype=np.int64)
    return replace(before.placement, node_group=places[before.placement.node_group])


def _unchanged(before: TableDistribution, commits_before: Mapping[int, int] | None) -> Redistribution:
    none: FrozenMap[tuple[int, int], int] = FrozenMap()
    return Redistribution(before, before, none, _described(before, before, none, commits_before), 0, 0)


def _flows(
    before: TableDistribution, new_map: tuple[int, ...], table: Table, hashes: Array | None
) -> tuple[FrozenMap[tuple[int, int], int], Array]:
    """Rows from each old to each new partition, and rows of every partition afterwards."""
    import numpy as np

    old_count = before.placement.partitions
    old_rows = before.rows.tolist()
    weights: dict[int, dict[int, int]] = {p: {} for p in range(old_count)}
    if hashes is None:
        # Buckets of the larger map refine those of the smaller one.
        ways: Iterable[tuple[int, int]] = (
            (before.hash_map[i % len(before.hash_map)], owner) for i, owner in enumerate(new_map)
        )
    else:
        # The values are known: each goes where its hash says.
        old, new = np.array(before.hash_map), np.array(new_map)
        ways = zip(old[hashes % len(old)].tolist(), new[hashes % len(new)].tolist(), strict=True)
    for source, owner in ways:
        weights[source][owner] = weights[source].get(owner, 0) + 1
    measured = table.partition_rows if len(table.partition_rows) == max(new_map) + 1 else ()
    flows: dict[tuple[int, int], int] = {}
    after = [0] * (max(new_map) + 1)
    for source, targets in weights.items():
        left = old_rows[source]
        moving = {t: w for t, w in targets.items() if t != source}
        if len(moving) == 1 and measured:
            counts = {next(iter(moving)): measured[next(iter(moving))]}
        else:
            whole = sum(targets.values())
            counts = {t: round(old_rows[source] * w / whole) for t, w in moving.items()}
        for target, count in sorted(counts.items()):
            taken = min(count, left)
            left -= taken
            after[target] += taken
            flows[source, target] = taken
        after[source] += left
    return FrozenMap(flows), np.array(after, dtype=np.int64)


def _described(
    before: TableDistribution,
    after: TableDistribution,
    flows: Mapping[tuple[int, int], int],
    commits_before: Mapping[int, int] | None,
) -> tuple[RedistributedPartition, ...]:
    old_count = before.placement.fragments
    leaving: dict[int, int] = {}
    for (source, _), count in flows.items():
        leaving[source] = leaving.get(source, 0) + count
    rows_before = before.rows.tolist()
    fixed_before, variable_before = before.fixed_bytes.tolist(), before.variable_bytes.tolist()
    fixed, variable = after.fixed_bytes.tolist(), after.variable_bytes.tolist()
    commits = {p: rows_before[p] for p in range(old_count)} | dict(commits_before or {})
    return tuple(
        RedistributedPartition(
            partition=p,
            rows=rows,
            commits=commits[p] + 2 * leaving.get(p, 0) if p < old_count else rows,
            fixed_bytes=max(fixed_before[p], fixed[p]) if p < old_count else fixed[p],
            variable_bytes=max(variable_before[p], variable[p]) if p < old_count else variable[p],
        )
        for p, rows in enumerate(after.rows.tolist())
    )
