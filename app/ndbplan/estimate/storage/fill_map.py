"""What each place of a cluster holds of tables, and what chance alone would make of it.

    found = fill_map([distribution], "nodes", "rows")
    found.fill[lane, column], found.band            # a tenth too much is 0.1; (-0.002, 0.002) is chance

A place is an LDM thread of a data node, or the n-th fragment of a node group. Fill compares with an even
share of all places that hold anything; the band is where a place with an even share lies in 98 of 100 sets
of keys. `low` and `high` are the same around what the buckets of each place make one expect: what lies
outside is neither chance nor the hash map.

Source: `spread`, whose bands are those of the fullest partition too; the rest is arithmetic.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ndbplan.estimate.storage.fragments import TableDistribution, map_facts
from ndbplan.estimate.storage.lost_primaries import NOBODY, primaries_without
from ndbplan.estimate.storage.spread import ENDS, shares_at
from ndbplan.ndb.rows import PAGE_BYTES

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Places = Literal["nodes", "groups"]
Measure = Literal["rows", "primaries", "bytes"]


@dataclass(frozen=True)
class FillMap:
    """Arrays are [lane, column]."""

    places: Places
    measure: Measure
    columns: tuple[int, ...]
    """Node ids, or numbers of node groups."""
    lanes: tuple[int, ...]
    """LDM threads counted from 1, or fragments of a node group counted from 0."""
    exists: Array
    """Whether there is such a place; nodes may have fewer LDM threads than others."""
    fragments: Array
    """Fragments there: replicas of each on every node, or each once in its group."""
    held: Array
    """Rows or bytes there."""
    expected: Array
    """By the buckets of the hash maps."""
    low: Array
    high: Array
    even: float
    """What a place holds on average, of those that hold a fragment."""
    band: tuple[float, float]
    """Fill of a place with an even share, low and high."""
    lost: tuple[int, ...] = ()
    """Columns that are dead."""

    @cached_property
    def used(self) -> Array:
        """Whether any fragment is there."""
        found: Array = self.fragments > 0
        return found

    @cached_property
    def fill(self) -> Array:
        """What is there against an even share: 0 is the mean, 0.1 a tenth more; NaN where no fragment is."""
        import numpy as np

        share = self.held / self.even - 1 if self.even else np.zeros_like(self.held)
        return np.where(self.used, share, np.nan)

    @cached_property
    def is_outside(self) -> Array:
        """Whether it is more or less than chance makes of its buckets."""
        # Counts are whole: half a row is no deviation.
        outside: Array = self.used & ((self.held < self.low - 0.5) | (self.held > self.high + 0.5))
        return outside

    @cached_property
    def column_sums(self) -> Array:
        """What each column holds."""
        sums: Array = self.held.sum(axis=0)
        return sums

    @cached_property
    def lane_sums(self) -> Array:
        """What each lane holds."""
        sums: Array = self.held.sum(axis=1)
        return sums

    def arranged(self, order: Sequence[int]) -> FillMap:
        """The same with its columns in another order: places of `columns`."""
        at = list(order)
        return replace(
            self,
            columns=tuple(self.columns[i] for i in at),
            **{
                name: getattr(self, name)[:, at]
                for name in ("exists", "fragments", "held", "expected", "low", "high")
            },
        )


class _Cells(NamedTuple):
    """Where something of a table lies, one entry for each fragment there."""

    lane: Array
    column: Array
    fragment: Array
    counts: Array
    """1; 0: a fragment is there and nothing of it is measured, as of replicas that are not primary."""

    def added(self, of_fragment: Array, shape: tuple[int, ...], *, counted: bool = True) -> Array:
        """What fragments have, added up where they are; not `counted`: of replicas that do not count too."""
        import numpy as np

        sums: Array = np.zeros(shape)
        values = of_fragment[self.fragment] * (self.counts if counted else 1.0)
        np.add.at(sums, (self.lane, self.column), values)
        return sums


def fill_map(
    tables: Sequence[TableDistribution],
    places: Places = "nodes",
    measure: Measure = "rows",
    dead: Collection[int] = (),
) -> FillMap:
    """What each place holds of these tables of one cluster; without some nodes, when those are `dead`.

    With dead nodes the even share stays the one before their loss, so that what survivors take over shows.
    """
    import numpy as np

    columns, lanes, exists = _places(tables, places)
    fragments, used = np.zeros(exists.shape, dtype=np.int64), np.zeros(exists.shape, dtype=bool)
    held, expected, low, high = (np.zeros(exists.shape) for _ in range(4))
    whole = even = even_low = even_high = 0.0
    for table in tables:
        sizes, shares = _sizes(table, measure), _bucket_shares(table)
        total = float(sizes[: table.placement.partitions].sum())
        now = _cells(table, places, measure, columns, dead)
        own = now.added(np.ones(len(sizes)), exists.shape, counted=False).astype(np.int64)
        share = now.added(shares, exists.shape)
        # A part of a page is a whole one: fixed and variable pages of each fragment.
        rough = 2.0 * PAGE_BYTES * own if measure == "bytes" else 0.0
        fragments += own
        held += now.added(sizes, exists.shape)
        expected += total * share
        # Tables with one distribution key deviate together: bands add up, they do not level out.
        low += np.maximum(0.0, total * _likely(table, share, ENDS[0]) - rough)
        high += total * _likely(table, share, ENDS[1]) + rough
        before = _cells(table, places, measure, columns, ()) if dead else now
        in_use = before.added(np.ones(len(sizes)), exists.shape, counted=False) > 0
        one = before.added(shares, exists.shape).sum(keepdims=True) / max(1, int(in_use.sum()))
        used |= in_use
        whole += float(before.added(sizes, exists.shape).sum())
        even += total * float(one.item())
        even_low += total * float(_likely(table, one, ENDS[0]).item())
        even_high += total * float(_likely(table, one, ENDS[1]).item())
    return FillMap(
        places, measure, columns, lanes, exists, fragments, held, expected, low, high,
        even=whole / max(1, int(used.sum())),
        band=(even_low / even - 1, even_high / even - 1) if even else (0.0, 0.0),
        lost=tuple(node for node in columns if node in set(dead)) if places == "nodes" else (),
    )  # fmt: skip


def _places(
    tables: Sequence[TableDistribution], places: Places
) -> tuple[tuple[int, ...], tuple[int, ...], Array]:
    import numpy as np

    if places == "groups":
        groups = tables[0].group_ids
        counts = [np.bincount(t.placement.node_group, minlength=len(groups)) for t in tables]
        most = np.max(counts, axis=0)
        lanes = tuple(range(int(most.max(initial=1))))
        return groups, lanes, np.arange(len(lanes))[:, None] < most[None, :]
    nodes = sorted({int(node) for table in tables for node in np.unique(table.placement.nodes)})
    ldms = tables[0].placement.ldm_by_node[nodes]
    lanes = tuple(range(1, int(ldms.max(initial=1)) + 1))
    return tuple(nodes), lanes, np.array(lanes)[:, None] <= ldms[None, :]


def _cells(
    table: TableDistribution,
    places: Places,
    measure: Measure,
    columns: tuple[int, ...],
    dead: Collection[int],
) -> _Cells:
    import numpy as np

    placed = table.placement
    every = np.arange(placed.fragments)
    if places == "groups":
        turn = np.zeros(placed.fragments, dtype=np.int64)
        for group in np.unique(placed.node_group).tolist():
            own = placed.node_group == group
            turn[own] = np.arange(int(own.sum()))
        return _Cells(turn, placed.node_group, every, np.ones(placed.fragments))
    replicas = placed.nodes.shape[1]
    fragment = np.repeat(every, replicas)
    node, ldm = placed.nodes.ravel(), placed.ldm.ravel()
    # A group with too few members repeats one to fill its place.
    kept = np.unique(fragment * 1024 + node, return_index=True)[1]
    kept = kept[~np.isin(node[kept], list(dead))]
    fragment, node, ldm = fragment[kept], node[kept], ldm[kept]
    counts = np.ones(len(fragment))
    if measure == "primaries":
        primary = primaries_without(placed, dead)
        counts = ((primary[fragment] == node) & (primary[fragment] != NOBODY)).astype(float)
    place = np.zeros(max(columns) + 1, dtype=np.int64)
    place[list(columns)] = np.arange(len(columns))
    return _Cells(ldm - 1, place[node], fragment, counts)


def _sizes(table: TableDistribution, measure: Measure) -> Array:
    """Rows of each fragment, or bytes of one replica of it."""
    return table.fixed_bytes + table.variable_bytes if measure == "bytes" else table.rows


def _bucket_shares(table: TableDistribution) -> Array:
    """Share of the buckets of each fragment; those of a full copy are of one copy."""
    import numpy as np

    counts = map_facts(table.hash_map).counts
    copies = table.placement.fragments // max(1, table.placement.partitions)
    return np.tile(counts / counts.sum(), max(1, copies))


def _likely(table: TableDistribution, share: Array, deviation: float) -> Array:
    """Share that a place of an expected share has so many standard deviations away.

    Places that hold the whole table, or each row of it, leave nothing to chance.
    """
    import numpy as np

    if table.is_full_copy or table.placement.partitions < 2 or not table.values:
        return share
    likely = share.astype(float)
    open_ = (share > 0) & (share < 1)
    likely[open_] = shares_at(np.full(int(open_.sum()), deviation), table.values, share[open_])
    return likely
