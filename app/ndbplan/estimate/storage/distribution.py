"""Where the rows of each table lie, and which move when the cluster grows.

    distribute_rows(table, placement, around, keys).partitions[0].primary

Counts are exact for the given rows: without keys they are spread as the hash does on average, one row after
the other over the buckets of the table's map; counts per partition that were measured are taken as they are.
When the distribution key has few values, rows lie as the hash of these values says where they are known, else
as those of a typical set of so many values do (`spread`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.estimate.storage.fragments import MapFacts, TableDistribution, map_facts
from ndbplan.estimate.storage.key_values import KeyValues, distribution_key
from ndbplan.estimate.storage.rows import row_layout, unique_tables
from ndbplan.estimate.storage.spread import fullest, typical_ranks, typical_shares
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.consecutive import MOST_VALUES, consecutive_hashes, fits
from ndbplan.ndb.placement import hashmap
from ndbplan.ndb.placement.fragments import Placement
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
