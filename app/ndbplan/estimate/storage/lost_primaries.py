"""Which replicas are primary when data nodes are lost, and how many rows the survivors are then primary for.

    loss_of_primaries(distribution, {3}).moved          # {(3, 4): 1_500_000}

The primary of a fragment that loses it is the next replica in the fragment's order that lives. With two
replicas only one is left; of three or four, that it is the next one is an assumption: no cluster was seen
to do it.

Source: order of replicas of engine model 1.4; which of them follows is the assumption above.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.shapes import Shape
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.ndb.placement.fragments import Placement

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

NOBODY = 0
"""In place of a node id, where no replica lives."""


def primaries_without(placement: Placement, dead: Collection[int]) -> Array:
    """Node id of the primary of each fragment without these nodes; `NOBODY` where no replica lives."""
    import numpy as np

    lives = ~np.isin(placement.nodes, list(dead))
    first = lives.argmax(axis=1)
    heirs: Array = np.where(lives.any(axis=1), placement.nodes[np.arange(placement.fragments), first], NOBODY)
    return heirs


@dataclass(frozen=True)
class Move(Shape):
    """Rows whose primary replica goes from a lost node to a survivor."""

    JSON = "lost_node node primary_rows"

    lost_node: int
    node: int
    primary_rows: int


@dataclass(frozen=True)
class PrimariesAfter(Shape):
    """Where primary replicas are after a loss, of one table or of several."""

    JSON = "lost_nodes moves rows_without_replica fragments_without_replica loaded_node factor"

    lost_nodes: tuple[int, ...]
    moved: FrozenMap[tuple[int, int], int]
    """Rows by (lost node, node that takes over)."""
    rows_by_node: FrozenMap[int, int]
    """Rows that each node is primary for afterwards; the lost ones have none."""
    rows_without_replica: int
    fragments_without_replica: int
    mean_rows: float
    """Of primary replicas per node before the loss."""

    @property
    def moves(self) -> tuple[Move, ...]:
        """What goes where, by lost node."""
        return tuple(Move(lost, node, rows) for (lost, node), rows in sorted(self.moved.items()))

    @property
    def loaded_node(self) -> int | None:
        """The node that is primary for most rows afterwards; None: there is none."""
        return max(self.rows_by_node, key=lambda node: (self.rows_by_node[node], -node), default=None)

    @property
    def factor(self) -> float:
        """Rows of the most loaded node against the mean of all nodes before."""
        node = self.loaded_node
        return self.rows_by_node[node] / self.mean_rows if node is not None and self.mean_rows else 0.0


def loss_of_primaries(
    distributions: TableDistribution | Sequence[TableDistribution], dead: Collection[int]
) -> PrimariesAfter:
    """Where the primaries of a table, or of several, are when these data nodes are lost."""
    tables = [distributions] if isinstance(distributions, TableDistribution) else list(distributions)
    moved: dict[tuple[int, int], int] = {}
    after: dict[int, int] = {}
    members: set[int] = set()
    gone_rows = gone_fragments = total = 0
    for table in tables:
        placed, rows = table.placement, table.rows.tolist()
        members.update(placed.nodes.ravel().tolist())
        total += sum(rows)
        heirs = primaries_without(placed, dead).tolist()
        for was, now, count in zip(placed.primary.tolist(), heirs, rows, strict=True):
            if now == NOBODY:
                gone_rows += count
                gone_fragments += 1
                continue
            after[now] = after.get(now, 0) + count
            if now != was:
                moved[was, now] = moved.get((was, now), 0) + count
    alive: Mapping[int, int] = {node: after.get(node, 0) for node in sorted(members - set(dead))}
    return PrimariesAfter(
        lost_nodes=tuple(sorted(members & set(dead))),
        moved=FrozenMap(moved),
        rows_by_node=FrozenMap(alive),
        rows_without_replica=gone_rows,
        fragments_without_replica=gone_fragments,
        mean_rows=total / max(1, len(members)),
    )
