"""Online reorganisation of a table as its buckets move: which, when in turn, and what is where meanwhile.

    moves = bucket_moves(redistribution)
    moves.at(0.5).rows              # rows of every partition when half of the first pass is done

Every old data node passes over the fragments whose primary it has, one after the other, all nodes at once:
rows that move are copied (first pass), and deleted where they were once all are copied (second pass). The
nodes go at one pace here, so that a node with fewer rows is done before the others; within a fragment the
product goes by pages, and here one bucket follows the other.

Source: engine model 1.5 and 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.estimate.storage.redistribution import Redistribution

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class Moment(NamedTuple):
    """What is where while buckets move."""

    done: Array
    """Part of each bucket that is copied: 0 to 1; of a bucket that stays always 0."""
    rows: Array
    """Rows of each partition, each row once: where it is now, or where its copy is."""
    waiting: Array
    """Rows of each partition that are copied and not deleted yet."""


@dataclass(frozen=True)
class BucketMoves:
    """All buckets of the new hash map, with their rows."""

    old: Array
    """Partition of each bucket before."""
    new: Array
    """Partition of each bucket after."""
    rows: Array
    """Rows of each bucket."""
    start: Array
    """When a bucket begins to move, as a part of the pass."""
    end: Array
    partitions: int
    """Partitions afterwards."""

    @property
    def moving(self) -> Array:
        """Whether each bucket moves."""
        moves: Array = self.old != self.new
        return moves

    def at(self, copied: float, deleted: float = 0.0) -> Moment:
        """After so much of the first pass, and of the second one, each from 0 to 1."""
        import numpy as np

        done, gone = self._part(copied), self._part(deleted)
        left = np.round(self.rows * done).astype(np.int64)
        rows = np.bincount(self.old, self.rows - left, self.partitions)
        rows += np.bincount(self.new, left, self.partitions)
        # A row is deleted only after it was copied.
        still = np.maximum(0, left - np.round(self.rows * gone).astype(np.int64))
        waiting = np.bincount(self.old, np.where(self.moving, still, 0), self.partitions)
        return Moment(done, rows.astype(np.int64), waiting.astype(np.int64))

    def _part(self, passed: float) -> Array:
        import numpy as np

        length = self.end - self.start
        # What takes no time, a bucket without rows, is there as soon as it is its turn.
        at_once = (passed > self.start).astype(float)
        part = np.divide(passed - self.start, length, out=at_once, where=length > 0)
        found: Array = np.where(self.moving, 1.0 if passed >= 1.0 else np.clip(part, 0.0, 1.0), 0.0)
        return found


def bucket_moves(change: Redistribution) -> BucketMoves | None:
    """The buckets of a reorganisation; None where none moves, as of tables that stay or are copied whole."""
    import numpy as np

    before, after = change.before, change.after
    if not change.moved_rows or before.is_full_copy or before.hash_map is after.hash_map:
        return None
    new = np.array(after.hash_map, dtype=np.int64)
    old = np.array(before.hash_map, dtype=np.int64)[np.arange(len(new)) % len(before.hash_map)]
    rows = _rows_of_buckets(change, old, new)
    start, end = _times(change, old, new)
    return BucketMoves(old, new, rows, start, end, len(after.rows))


def _rows_of_buckets(change: Redistribution, old: Array, new: Array) -> Array:
    """Rows of each bucket: what goes from one partition to another lies evenly in the buckets that go."""
    import numpy as np

    stays = dict(enumerate(change.before.rows.tolist()))
    for (source, _), count in change.moved_rows.items():
        stays[source] -= count
    flows = {**{(p, p): rows for p, rows in stays.items()}, **dict(change.moved_rows)}
    rows = np.zeros(len(new), dtype=np.int64)
    pair = old * (int(new.max()) + 1) + new
    order = np.argsort(pair, kind="stable")
    found, first, counts = np.unique(pair[order], return_index=True, return_counts=True)
    for which, at, count in zip(found.tolist(), first.tolist(), counts.tolist(), strict=True):
        whole = flows.get(divmod(which, int(new.max()) + 1), 0)
        upto = whole * np.arange(count + 1) // count
        rows[order[at : at + count]] = np.diff(upto)
    return rows


def _times(change: Redistribution, old: Array, new: Array) -> tuple[Array, Array]:
    """Begin and end of each bucket that moves, as parts of a pass."""
    import numpy as np

    before = change.before
    # Where there are no rows yet, buckets tell how long a fragment takes.
    sizes = before.rows.astype(float) if before.rows.sum() else np.bincount(old).astype(float)
    begins = np.zeros(len(sizes))
    for node in np.unique(before.placement.primary).tolist():
        own = np.flatnonzero(before.placement.primary == node)
        begins[own] = np.cumsum(sizes[own]) - sizes[own]
    whole = float((begins + sizes).max())
    start, end = np.zeros(len(old)), np.zeros(len(old))
    for fragment in range(len(sizes)):
        own = np.flatnonzero((old == fragment) & (new != old))
        edges = begins[fragment] + sizes[fragment] * np.arange(len(own) + 1) / max(1, len(own))
        start[own], end[own] = edges[:-1] / whole, edges[1:] / whole
    return start, end
