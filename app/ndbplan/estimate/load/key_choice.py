"""Where the work of an operation goes that does not choose the values of a distribution key evenly.

    hot_key(6000, 1.0).share               # of all accesses, that of the most frequent value: 0.107
    chosen_shares(distribution, table, operation.choice, rows_per_s)

A power law is a static, uneven share: its hottest value lies in one partition, the others spread as so many
values of unequal weight do. A loader that takes values in turn works, at any moment, in as many partitions as
it has threads at most; over time its rows lie as the values do.

Source: arithmetic of probability; how unevenly keys are chosen is the plan's to say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.estimate.storage.fragments import TableDistribution, map_facts
from ndbplan.estimate.storage.shares import NodeShare, Shares, shares, spread_shares
from ndbplan.estimate.storage.spread import as_shares, typical_shares
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import KeyChoice

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

WINDOW_S = 1.0
"""What lasts shorter than this is evened out by queues and buffers: values that a loader takes within this
time share its work."""
_SUMMED = 100_000
"""Terms of a power law that are summed one by one; the rest by its integral."""


class HotKey(NamedTuple):
    """The most frequent value under a power law, and how the others spread."""

    share: float
    """Share of all accesses."""
    more: float
    """What it has beyond its even share, of what is left for the others."""
    others: float
    """So many values of equal weight spread as unevenly as the rest does."""


def power_sum(count: int, exponent: float) -> float:
    """Sum of r ** -exponent for r from 1 to count; the tail by the Euler-Maclaurin formula."""
    import numpy as np

    upto = min(count, _SUMMED)
    total = float((np.arange(1, upto + 1, dtype=np.float64) ** -exponent).sum())
    if count > upto:
        a, b = float(upto), float(count)
        whole = (
            np.log(b / a)
            if abs(exponent - 1) < 1e-9
            else (b ** (1 - exponent) - a ** (1 - exponent)) / (1 - exponent)
        )
        total += float(whole) + (b**-exponent - a**-exponent) / 2
    return total


@kept_by_value(256)
def hot_key(values: int, exponent: float) -> HotKey:
    """The hottest of so many values whose frequencies follow a power law."""
    if values < 2 or exponent <= 0:
        return HotKey(1.0 / max(1, values), 0.0, float(max(1, values)))
    total = power_sum(values, exponent)
    share, even = 1.0 / total, 1.0 / values
    more = max(0.0, (share - even) / (1 - even))
    squares = power_sum(values, 2 * exponent) / total**2 - share**2 + (share - more) ** 2
    left = 1.0 - more
    others = (
        min(float(values), max(1.0, left * left / squares)) if squares > 0 and left > 0 else float(values)
    )
    return HotKey(share, more, others)


def partition_shares(distribution: TableDistribution) -> Array:
    """Share of each partition of a table's rows, or of what it will have."""
    counts = map_facts(distribution.hash_map).counts
    rows = distribution.rows[: len(counts)].astype(float)
    if rows.sum():
        return as_shares(rows)
    return as_shares(counts if distribution.weights is None else distribution.weights)


def power_law_shares(distribution: TableDistribution, exponent: float) -> Array:
    """Share of each partition of accesses that choose values by a power law.

    Which value is the hottest is not known. It is taken to lie where it does most harm: in a partition of the
    fullest node group, LDM thread and log part, so that a power law never comes out better than even choice.
    """
    import numpy as np

    even = partition_shares(distribution)
    values, count = distribution.values, len(even)
    if values < 2 or count < 2:
        return even
    hot = hot_key(values, exponent)
    places = _places(distribution, count)
    first = _worst_place(even, hot.more, places)
    order = np.empty(count, dtype=np.int64)
    order[np.argsort(-even, kind="stable")] = np.arange(count)
    order[order < order[first]] += 1
    order[first] = 0
    rest = even
    more_spread = 1.0 / hot.others - 1.0 / values
    if more_spread > 0:
        expected = as_shares(map_facts(distribution.hash_map).counts)
        moved = np.maximum(0.0, even + typical_shares(1.0 / more_spread, expected, order) - expected)
        moved = as_shares(moved)
        kept = all(
            np.bincount(place, weights=moved)[place[first]] >= np.bincount(place, weights=even)[place[first]]
            for place in places
        )
        rest = moved if kept else even
    chosen = (1.0 - hot.more) * rest
    chosen[first] += hot.more
    return np.asarray(chosen)


def _places(distribution: TableDistribution, count: int) -> list[Array]:
    """Of each partition: itself, its LDM thread, its log part and its node group, as whole numbers from 0."""
    import numpy as np

    placed = distribution.placement
    group = placed.node_group[:count].astype(np.int64)
    inside = (group * 4096 + one for one in (placed.ldm[:count, 0], placed.log_part[:count]))
    return [np.arange(count), *(np.unique(one, return_inverse=True)[1] for one in inside), group]


def _worst_place(even: Array, more: float, places: list[Array]) -> int:
    """The partition in which so much more work lifts the fullest of each kind of place the most.

    Where no partition lies in the fullest place of each kind, the one that relieves none of them much.
    """
    import numpy as np

    worst = np.full(len(even), np.inf)
    lifted = np.zeros(len(even))
    for place in places:
        filled = np.bincount(place, weights=even)
        fullest = filled.max()
        most = np.maximum((1.0 - more) * filled[place] + more, (1.0 - more) * fullest) / fullest
        worst = np.minimum(worst, most)
        lifted += filled[place] / fullest
    return int(np.lexsort((lifted, worst))[-1])


@kept_by_identity(size=1024)
def _power_law(distribution: TableDistribution, exponent: float) -> Shares:
    import numpy as np

    weights = power_law_shares(distribution, exponent)
    copies = max(1, distribution.placement.fragments // max(1, distribution.placement.partitions))
    by_node = spread_shares(distribution, np.tile(weights, copies))
    # The hottest value is taken to be where it hurts most: chance could only make it better.
    return _with(by_node, chance=None)


@kept_by_identity(size=1024)
def _in_turn(distribution: TableDistribution, table: Table, at_once: float) -> Shares:
    return _with(shares(distribution, table), at_once=at_once)


def _with(by_node: Shares, **fields: Any) -> Shares:
    """The same shares with some fields of each changed; nodes with equal shares keep one object."""
    changed = {id(share): replace(share, **fields) for share in by_node.values()}
    return {node_id: changed[id(share)] for node_id, share in by_node.items()}


def run_rows(distribution: TableDistribution, choice: KeyChoice, rows_per_s: float) -> float:
    """Rows of one value that a loader writes before it takes the next one.

    As stated, else the rows of the table over its values; for a table without rows as many as one of its
    threads writes within a second, so that values do not even out.
    """
    if choice.run_rows is not None:
        return choice.run_rows
    rows = float(distribution.rows[: distribution.placement.partitions].sum())
    if rows and distribution.values:
        return max(1.0, rows / distribution.values)
    return max(1.0, rows_per_s * WINDOW_S / choice.threads)


def values_at_once(distribution: TableDistribution, choice: KeyChoice, rows_per_s: float) -> float:
    """Values that share the work of a loader: one for each thread, and those it takes within a moment."""
    taken = rows_per_s * WINDOW_S / run_rows(distribution, choice, rows_per_s)
    return max(1.0, float(choice.threads), taken)


def chosen_shares(
    distribution: TableDistribution, table: Table, choice: KeyChoice, rows_per_s: float
) -> Shares:
    """Share of each data node of the work of operations that choose keys so."""
    if choice.kind == "power_law":
        return _power_law(distribution, choice.exponent)
    if choice.kind == "in_turn":
        return _in_turn(distribution, table, values_at_once(distribution, choice, rows_per_s))
    return shares(distribution, table)


__all__ = ["HotKey", "NodeShare", "chosen_shares", "hot_key", "power_law_shares", "power_sum", "run_rows"]
