"""Fragments are checkpointed one after the other, each as large as it is when its turn comes.

So rows that come while a checkpoint runs are written with the fragments whose turn is still to come: 0.14 to
0.35 of them where an LDM thread has two fragments, and less of them where they come fast.

Source: running 7.4.10 and 8.4.8 clusters; of 27 partial checkpoints whose beginning is known half were within
3.5 % of this, 24 within a tenth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.storage.node_data import TablePart
from ndbplan.estimate.storage.shares import NodeShare

FEWEST_FRAGMENTS = 2.0
"""A single fragment is read in pieces too, so that rows inserted meanwhile are met."""

_MOST = 1e9
"""Times its rows that no checkpoint writes: one that grows faster than it is written never ends."""


def fragments_in_turn(parts: Iterable[TablePart | NodeShare], most: float) -> float:
    """Fragments of these tables that an LDM thread writes one after the other, `most` counted at most."""
    return min(most, max(FEWEST_FRAGMENTS, sum(part.in_turn for part in parts)))


def room_for_rows(settings: NodeSettings, checkpoint_bytes: float) -> float:
    """Bytes of rows that a checkpoint meets at most, however fast they come: DataMemory holds no more."""
    return max(checkpoint_bytes, float(settings.number("DataMemory")))


def lengthened(growth: float, fragments: float) -> float:
    """How much more a checkpoint writes than all its fragments would have when it began.

    `growth`: bytes by which what it writes grows while it writes one; `fragments`: written in turn.
    """
    if growth <= 0:
        return 1.0
    return (min(_MOST, math.pow(1.0 + growth / fragments, fragments)) - 1.0) / growth
