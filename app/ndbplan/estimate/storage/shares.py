"""Share of each table that each data node holds, by replica, log part and LDM thread.

    shares(distribution, table)[2].fullest_ldm.value         # of the table's rows, on node 2

Shares follow the rows of each partition: by the values of the distribution key where those are few or known.

Source: engine model 1.2 to 1.4; the rest is arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.estimate.storage.fragments import TableDistribution, map_facts
from ndbplan.estimate.storage.spread import Fullest, fullest
from ndbplan.plan.tables import Table

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class Chance(NamedTuple):
    """How many values a hash spreads, and the buckets it spreads them over."""

    values: int
    log_parts: Array
    """Share of the buckets in each log part of the node."""
    ldms: Array
    """Share of the buckets in each LDM thread."""


@dataclass(frozen=True, slots=True)
class NodeShare:
    """Share of a table that one data node holds."""

    replicas: float
    """Share of the table's rows of which the node has a copy."""
    primaries: float
    """Share of the rows whose primary replica it has; each copy of a fully replicated table has one."""
    by_log_part: tuple[tuple[int, float], ...]
    """Share of `replicas` by log part."""
    by_ldm: tuple[tuple[int, float], ...]
    """Share of `replicas` by LDM instance."""
    primaries_by_ldm: tuple[tuple[int, float], ...] = ()
    """Share of `primaries` by LDM instance."""
    fragments: int = 0
    """Copies of the table's fragments that the node has."""
    copies: int = 1
    """Whole copies in the cluster of a table that is fully replicated: all `primaries` add up to them."""
    saved: float = 0.0
    """Share of the rows that the node writes into a backup, which has each once: those whose primary replica
    it has, of a fully replicated table in the first of its copies."""
    saved_by_ldm: tuple[tuple[int, float], ...] = ()
    """Share of `saved` by LDM instance."""
    at_once: float = 0.0
    """Values that a loader is at, at any moment, all its work going where these are; 0: no loader."""
    chance: Chance | None = None
    """What is a matter of chance; None: nothing, as rows were counted or the values are known."""

    @property
    def in_turn(self) -> float:
        """Fragments of the table that an LDM thread has, and checkpoints one after the other."""
        return max(1.0, self.fragments / max(1, len(self.by_ldm)))

    @property
    def reads(self) -> float:
        """Share of all reads that come to the node: a row is read in one of its copies."""
        return self.primaries / self.copies

    @property
    def reads_by_ldm(self) -> tuple[tuple[int, float], ...]:
        """Share of `reads` by LDM instance."""
        if self.copies == 1:
            return self.primaries_by_ldm
        return tuple((ldm, share / self.copies) for ldm, share in self.primaries_by_ldm)

    @property
    def fullest_reading_ldm(self) -> Fullest:
        """Of reads of primary replicas, what the busiest LDM thread gets."""
        if self.at_once:
            return _busiest(self.reads_by_ldm, self.at_once)
        return _fullest(self.reads_by_ldm, None, None)

    @property
    def fullest_log_part(self) -> Fullest:
        """Share of the table's rows that the node's fullest log part has a copy of, with the range that
        chance gives it when the values of the distribution key are not known."""
        if self.at_once:
            return _busiest(self.by_log_part, self.at_once)
        return _fullest(self.by_log_part, self.chance and self.chance.log_parts, self.chance)

    @property
    def fullest_ldm(self) -> Fullest:
        """The same of the fullest LDM thread; of a loader, where it is at a moment."""
        if self.at_once:
            return _busiest(self.by_ldm, self.at_once)
        return _fullest(self.by_ldm, self.chance and self.chance.ldms, self.chance)


Shares = dict[int, NodeShare]
"""By node id; nodes with equal shares have the same object."""


@kept_by_identity(size=4096)
def shares(distribution: TableDistribution, table: Table) -> Shares:
    """Share of a table on each data node: by rows, or by partitions when it has no rows yet."""
    import numpy as np

    placed = distribution.placement
    rows = distribution.rows.astype(float)
    if not rows.sum():
        rows = distribution.weights if distribution.weights is not None else np.ones(placed.fragments)
    return spread_shares(distribution, rows)


def spread_shares(distribution: TableDistribution, weights: Array) -> Shares:
    """Share on each data node when the fragments of a table have these weights."""
    import numpy as np

    placed = distribution.placement
    # A fully replicated table is whole in every node group: shares are of one copy.
    copies = max(1, placed.fragments // max(1, placed.partitions))
    weights = weights * copies / weights.sum()
    limit = int(placed.nodes.max()) + 1
    log_parts, ldms_there = int(placed.log_part.max()) + 1, int(placed.ldm.max()) + 1

    def on_nodes(of_fragments: Array, where: Array, width: int, chosen: slice = slice(None)) -> Array:
        """The weights of the chosen replicas added up by node and place; `where`: places of fragments."""
        at = placed.nodes[:, chosen] * width + where
        each = np.broadcast_to(of_fragments[:, None], at.shape)
        # Replica by replica, so that sums are the same wherever they are made.
        total = np.bincount(at.T.ravel(), weights=each.T.ravel(), minlength=limit * width)
        return total.reshape(limit, width)

    log_part = placed.log_part[:, None]
    parts = on_nodes(weights, log_part, log_parts)
    ldms = on_nodes(weights, placed.ldm, ldms_there)
    values = distribution.values if distribution.is_by_chance else 0
    of_chance: tuple[Array, ...] = ()
    if values:
        even = np.tile(map_facts(distribution.hash_map).counts / distribution.buckets, copies)
        of_chance = on_nodes(even, log_part, log_parts), on_nodes(even, placed.ldm, ldms_there)
    primary = slice(0, 1)
    own = on_nodes(weights, placed.ldm[:, primary], ldms_there, primary)
    primaries = np.bincount(placed.nodes[:, 0], weights=weights, minlength=limit)
    replicas = parts.sum(axis=1)
    # Scans, and so a backup, go over the partitions of the first copy (Dbdih::execDIH_SCAN_TAB_REQ).
    saved = own
    if copies > 1:
        of_first_copy = np.where(np.arange(placed.fragments) < placed.partitions, weights, 0.0)
        saved = on_nodes(of_first_copy, placed.ldm[:, primary], ldms_there, primary)
    fragments = np.bincount(placed.nodes.ravel(), minlength=limit)
    every = np.column_stack((primaries, parts, ldms, own, *of_chance, saved, fragments))
    alike: dict[bytes, NodeShare] = {}
    by_node: Shares = {}
    for node_id in np.flatnonzero(fragments).tolist():
        key = every[node_id].tobytes()
        share = alike.get(key)
        if share is None:
            own_by_ldm = _those_with_rows(own[node_id])
            share = alike[key] = NodeShare(
                replicas=float(replicas[node_id]),
                primaries=float(primaries[node_id]),
                by_log_part=_those_with_rows(parts[node_id]),
                by_ldm=_those_with_rows(ldms[node_id]),
                # Copies: a row of an array keeps all of it.
                chance=Chance(values, *[one[node_id].copy() for one in of_chance]) if values else None,
                primaries_by_ldm=own_by_ldm,
                fragments=int(fragments[node_id]),
                copies=copies,
                saved=float(saved[node_id].sum()),
                saved_by_ldm=own_by_ldm if saved is own else _those_with_rows(saved[node_id]),
            )
        by_node[node_id] = share
    return by_node


def _those_with_rows(shares: Array) -> tuple[tuple[int, float], ...]:
    return tuple([(number, share) for number, share in enumerate(shares.tolist()) if share])


def alike(held: Sequence[Shares]) -> list[tuple[tuple[NodeShare | None, ...], list[int]]]:
    """What nodes hold of each table, and the ids of the nodes that hold it; None: nothing of that table.

    Of many nodes most hold the same, which then need one answer. A node without any share is left out.
    """
    every = sorted({node_id for by_node in held for node_id in by_node})
    same: dict[tuple[int, ...], tuple[tuple[NodeShare | None, ...], list[int]]] = {}
    for node_id in every:
        own = tuple([by_node.get(node_id) for by_node in held])
        same.setdefault(tuple(map(id, own)), (own, []))[1].append(node_id)
    return [(own, nodes) for own, nodes in same.values()]


def _fullest(held: tuple[tuple[int, float], ...], even: Array | None, chance: Chance | None) -> Fullest:
    """The fullest of some places, and what chance makes of it."""
    value = max((share for _, share in held), default=0.0)
    if even is None or chance is None or value <= 0.0:
        return Fullest(value, value, value)
    full = fullest(chance.values, even)
    return Fullest(value, min(value, full.low), max(value, full.high))


def _busiest(held: tuple[tuple[int, float], ...], at_once: float) -> Fullest:
    """Share of a loader's work that the fullest place gets while so many values are at work at once.

    Over time each place gets its own share of the values, so that the fullest is never taken for less.
    """
    import numpy as np

    if not held:
        return Fullest(0.0, 0.0, 0.0)
    own = min(1.0, max(share for _, share in held))
    busy = fullest(at_once, np.array([min(1.0, share) for _, share in held]))
    return Fullest(max(own, busy.value), busy.low, max(own, busy.high))
