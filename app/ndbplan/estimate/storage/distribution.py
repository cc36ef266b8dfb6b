"""Where the rows of each table lie, and which move when the cluster grows.

    distribute_rows(table, placement, around, keys).partitions[0].primary

Counts are exact for the given rows: without keys they are spread as the hash does on average, one row after
the other over the buckets of the table's map; counts per partition that were measured are taken as they are.
When the distribution key has few values, rows lie as the hash of these values says where they are known, else
as those of a typical set of so many values do (`spread`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.base.shapes import Shape
from ndbplan.estimate.storage.fragments import MapFacts, TableDistribution, map_facts
from ndbplan.estimate.storage.key_values import KeyValues, distribution_key
from ndbplan.estimate.storage.placement import table_shape
from ndbplan.estimate.storage.row_cost import disk_row_bytes
from ndbplan.estimate.storage.rows import RowLayout, blob_parts, row_layout, unique_tables
from ndbplan.estimate.storage.spread import fullest, typical_ranks, typical_shares
from ndbplan.ndb.features import features
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.consecutive import MOST_VALUES, consecutive_hashes, fits
from ndbplan.ndb.placement import hashmap
from ndbplan.ndb.placement.fragment_counts import Cluster, fragment_count
from ndbplan.ndb.placement.fragments import Placement, extend
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


@kept_by_value(64)
def _facts(partitions: int, buckets: int, grown_from: tuple[int, ...], default: int) -> MapFacts:
    current = hashmap.default_map(grown_from[0] if grown_from else partitions, buckets)
    for count in (*grown_from[1:], partitions) if grown_from else ():
        current = hashmap.reorganised_map(current, count, default)
    return map_facts(current)


def hash_map_of(table: Table, partitions: int, version: NdbVersion) -> tuple[int, ...]:
    """The table's hash map: default, or the outcome of its reorganisations."""
    return _facts_of(table, partitions, version).hash_map


def _facts_of(table: Table, partitions: int, version: NdbVersion) -> MapFacts:
    default = hashmap.default_buckets(version, partitions)
    # A fully replicated table gets more copies of its partitions, never more partitions.
    grown_from = () if table.fully_replicated else table.grown_from
    created = grown_from[0] if grown_from else partitions
    # A map has a bucket for every partition at least, whatever was typed.
    buckets = max(created, table.hash_map_buckets or hashmap.default_buckets(version, created))
    return _facts(partitions, buckets, grown_from, default)


def spread_rows(rows: int, hash_map: tuple[int, ...]) -> Array:
    """Rows of each partition when they fall into the buckets one after the other.

    Sums to `rows`, and no partition loses a row when the table grows.
    """
    return _spread(rows, map_facts(hash_map))


def _spread(rows: int, facts: MapFacts) -> Array:
    import numpy as np

    rounds, rest = divmod(rows, len(facts.owners))
    if not facts.is_default:
        return facts.counts * rounds + np.bincount(facts.owners[:rest], minlength=facts.partitions)
    # The last round goes over the partitions in turn: no need to count.
    each, more = divmod(rest, facts.partitions)
    spread: Array = facts.counts * rounds + each
    spread[:more] += 1
    return spread


def _partition_rows(table: Table, facts: MapFacts, weights: Array | None) -> Array:
    import numpy as np

    measured = table.partition_rows
    if len(measured) != facts.partitions or not sum(measured):
        if weights is None:
            return _spread(table.rows, facts)
        upto_share = np.append(0.0, np.cumsum(weights) / weights.sum())
        upto_rows = np.round(upto_share * table.rows).astype(np.int64)
        upto_rows[-1] = table.rows
        return np.diff(upto_rows)
    known = np.array(measured, dtype=np.int64)
    if sum(measured) == table.rows:
        return known
    # The table has grown or shrunk since: each partition keeps its share.
    upto = [0]
    for count in measured:
        upto.append(upto[-1] + count)
    scaled = [table.rows * count // upto[-1] for count in upto]
    return np.diff(np.array(scaled, dtype=np.int64))


def value_hashes(table: Table, keys: KeyValues, version: NdbVersion, partitions: int) -> Array | None:
    """The hash of every value of the distribution key; None when it is not known which they are."""
    columns = [column for column in table.columns if column.name in distribution_key(table)]
    if keys.first is None or len(columns) != 1 or not 0 < keys.count <= MOST_VALUES:
        return None
    column = KeyColumn(columns[0].name, columns[0].type, unsigned=columns[0].unsigned)
    if not fits(column, keys.first, keys.count) or not hashmap.is_exact(version, partitions):
        return None
    return consecutive_hashes(column, keys.first, keys.count)


COUNTS_AS_EVEN = 0.02
"""When the fullest partition of a typical set of values has so little more than its share, rows count as
even: less than anything else that is known of a plan, and nodes stay alike. The band tells it anyway."""


@kept_by_identity(256)
def _typical_order(placement: Placement) -> Array:
    """Partitions of a table by how full they are taken to be while nobody knows the values of the key."""
    ldms = placement.node_group * 4096 + placement.ldm[:, 0]
    return typical_ranks(placement.partitions, placement.node_group, ldms)


def _weights(
    table: Table, facts: MapFacts, keys: KeyValues, version: NdbVersion, placement: Placement
) -> tuple[Array | None, bool]:
    """(share of each partition, whether it is exact); None: even, as far as the map allows."""
    import numpy as np

    if table.fully_replicated or facts.partitions < 2:
        return None, False
    hashes = value_hashes(table, keys, version, facts.partitions)
    if hashes is not None:
        owners = facts.owners[hashes % len(facts.owners)]
        return np.bincount(owners, minlength=facts.partitions) / keys.count, True
    if keys.is_unique or not keys.count:
        return None, False
    expected = facts.counts / facts.counts.sum()
    if fullest(keys.count, expected).value < (1 + COUNTS_AS_EVEN) * expected.max():
        return None, False
    return typical_shares(keys.count, expected, _typical_order(placement)), False


class Surroundings(NamedTuple):
    """What the distribution of every table of a cluster depends on, beside its placement."""

    version: NdbVersion
    group_ids: tuple[int, ...]
    log_parts: int


@kept_by_value(16)
def surroundings(version: NdbVersion, group_ids: tuple[int, ...], log_parts: int) -> Surroundings:
    """One object for all clusters that agree in it, so that results can be kept by identity."""
    return Surroundings(version, group_ids, log_parts)


@kept_by_identity(4096)
def distribute_rows(
    table: Table, placement: Placement, around: Surroundings, keys: KeyValues
) -> TableDistribution:
    """Where the rows of a table lie. ValueError when no data node is in a node group."""
    if placement.fragments == 0:
        raise ValueError("a plan without data nodes in node groups distributes nothing")
    import numpy as np

    facts = _facts_of(table, placement.partitions, around.version)
    weights, exact = _weights(table, facts, keys, around.version, placement)
    rows = _partition_rows(table, facts, weights)
    copies = placement.fragments // max(1, placement.partitions)
    known = len(table.partition_rows) == len(rows) and sum(table.partition_rows) == table.rows > 0
    counted = table.partition_variable_bytes if known else ()
    return TableDistribution(
        table=table.full_name,
        hash_map=facts.hash_map,
        hash_map_name=facts.name_after(table.grown_from),
        placement=placement,
        group_ids=around.group_ids,
        rows=np.concatenate([rows] * copies) if copies > 1 else rows,
        layout=row_layout(table, around.version),
        log_parts=around.log_parts,
        # What a reorganisation will make of counted rows is worked out, not counted.
        measured=known and "partition_rows" not in table.assumed,
        keys=keys,
        exact_keys=exact,
        is_full_copy=table.fully_replicated,
        weights=weights,
        counted_variable_bytes=counted * copies if len(counted) == len(rows) else (),
        rows_before=_rows_before(table, rows, around.version) if copies == 1 else None,
    )


def _rows_before(table: Table, rows: Array, version: NdbVersion) -> Array | None:
    """The most rows of each partition, were all of today's there when the table grew last.

    Rows that moved away leave their fixed pages and the nodes of ordered indexes behind, even after OPTIMIZE
    (running 7.4.10 and 8.4.8 clusters).
    """
    import numpy as np

    if not table.grown_from:
        return None
    *earlier, partitions = table.grown_from
    was = table.model_copy(update={"grown_from": tuple(earlier)})
    before = _spread(table.rows, _facts_of(was, partitions, version))
    most = rows.copy()
    most[:partitions] = np.maximum(most[:partitions], before[: len(most)])
    return most


@kept_by_identity(4096)
def distribute_entries(
    table: Table, at: int, placement: Placement, around: Surroundings
) -> TableDistribution:
    """Where the entries of a unique index of a table lie, a hidden table with a key of its own; `at`: which.

    Each entry has its own value, whatever decides where the row itself is. Such a table keeps the map it was
    made with when its table is reorganised.
    """
    import numpy as np

    hidden = unique_tables(table, around.version)[at]
    facts = _facts_of(not_grown(table), placement.partitions, around.version)
    rows = _spread(round(table.rows * hidden.rows_fraction), facts)
    return TableDistribution(
        table=f"unique index {hidden.index.name} of {table.full_name}",
        hash_map=facts.hash_map,
        hash_map_name=facts.name_after(()),
        placement=placement,
        group_ids=around.group_ids,
        rows=np.tile(rows, placement.fragments // max(1, placement.partitions)),
        layout=hidden.layout,
        log_parts=around.log_parts,
        is_full_copy=table.fully_replicated,
    )


def not_grown(table: Table) -> Table:
    """A table whose map is the default one: what a hidden unique index table has."""
    return table if not table.grown_from else table.model_copy(update={"grown_from": ()})


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


def redistribute_rows(
    before: TableDistribution,
    old_table: Table,
    new_table: Table,
    cluster: Cluster,
    around: Surroundings,
    commits_before: Mapping[int, int] | None = None,
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
