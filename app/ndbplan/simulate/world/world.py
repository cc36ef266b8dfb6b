"""Laws and state as one `World`, and the history that the kernel writes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ndbplan.base.row_types import Floats, Ints, record, rows
from ndbplan.simulate.world.laws import Disk, FileDisk, Laws, Node, Place, Run
from ndbplan.simulate.world.state import Cluster, DiskWork, NodeState, Piece, State


class World(NamedTuple):
    """One moment of a simulation and the laws that hold in it: all that the kernel reads and changes."""

    laws: Laws
    state: State

    def copy(self) -> World:
        """A snapshot."""
        return World(self.laws.copy(), self.state.copy())


class History(NamedTuple):
    """What the kernel writes down, bucket by bucket; the first dimension of each array is the bucket."""

    totals: Floats
    """By `OfCluster`."""
    errors: Floats
    """Refused with each error since the start, at the end of each bucket."""
    low: Floats
    high: Floats
    last: Floats
    """Bytes in each redo buffer: least, most, and at the end."""
    log: Floats
    """Bytes of each log part that are in use, at the end."""
    disk: Floats
    """Bytes written to each disk, by `Purpose`."""
    busy: Floats
    """Of each disk: sum of the use of each step, and the highest use of a step."""
    node: Floats
    """Of each node, by `OfNode`."""

    def copy(self) -> History:
        """The same, to be written on apart."""
        return History._make(one.copy() for one in self)


def example() -> tuple[World, History]:
    """The smallest world and its history: their types are those of every other one."""

    def floats(dimensions: int) -> Floats:
        return np.zeros((1,) * dimensions)

    def ints(dimensions: int) -> Ints:
        return np.zeros((1,) * dimensions, dtype=np.int64)

    laws = Laws(
        record(Run()), rows(Node, 1), rows(Place, 1), ints(2), ints(1), floats(1), floats(2),
        floats(2), floats(2), rows(Disk, 1), ints(1), ints(1), floats(1),
        rows(FileDisk, 1), floats(2),
    )  # fmt: skip
    state = State(
        floats(3), rows(NodeState, 1), floats(2), floats(3), floats(2), record(Cluster()), floats(1),
        floats(1), floats(2), rows(DiskWork, 1), record(Piece()), floats(3), floats(3),
    )  # fmt: skip
    return World(laws, state), History(*(floats(2 if i in (0, 1) else 3) for i in range(9)))
