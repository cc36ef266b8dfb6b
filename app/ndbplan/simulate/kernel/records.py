"""Kernel, part 6: what is written down of each bucket of steps."""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled, inlined
from ndbplan.base.row_types import Floats, Rows
from ndbplan.simulate.kernel.log import LAG_BYTES
from ndbplan.simulate.world.indices import OfCluster, OfNode, Part
from ndbplan.simulate.world.state import NodeState, Piece, State
from ndbplan.simulate.world.world import History


@inlined
def record_clients(totals: Floats, piece: Piece) -> None:
    """What clients sent in a piece of a step, and what became of it."""
    totals[piece.bucket, OfCluster.OFFERED] += piece.wanted
    totals[piece.bucket, OfCluster.ATTEMPTED] += piece.arrived
    totals[piece.bucket, OfCluster.ACCEPTED] += piece.accepted
    totals[piece.bucket, OfCluster.REFUSED] += piece.refused
    if piece.writes_lcp:
        totals[piece.bucket, OfCluster.LCP_S] += piece.length_s


@compiled
def record_refusal(totals: Floats, piece: Piece) -> None:
    """The same of a cluster that stopped."""
    totals[piece.bucket, OfCluster.OFFERED] += piece.wanted
    totals[piece.bucket, OfCluster.ATTEMPTED] += piece.arrived
    totals[piece.bucket, OfCluster.REFUSED] += piece.refused
    totals[piece.bucket, OfCluster.WAITING] = 0.0


@inlined
def record_fill(fill: Floats, lags: Floats, low: Floats, high: Floats) -> bool:
    """Keep least and most of each buffer; whether one holds so much that its lag matters."""
    # These of numpy become instructions for several parts at once; those of Python do not.
    for i in range(fill.shape[0]):
        low[i] = np.minimum(low[i], fill[i])
        high[i] = np.maximum(high[i], fill[i])
    some = 0
    for i in range(fill.shape[0]):
        some += (fill[i] > LAG_BYTES) | (lags[i] > 0.0)
    return some > 0


@compiled
def end_bucket(state: State, history: History, bucket: int) -> None:
    """What is recorded of the end of a bucket."""
    parts = state.parts
    for code in range(state.errors.shape[0]):
        history.errors[bucket, code] = state.errors[code]
    for n in range(parts.shape[1]):
        record_node(state.node_state, history.node, n, bucket)
        total = 0.0
        for p in range(parts.shape[2]):
            history.last[bucket, n, p] = parts[Part.FILL, n, p]
            history.log[bucket, n, p] = parts[Part.MADE, n, p] - parts[Part.TAIL, n, p]
            total += parts[Part.MADE, n, p] - parts[Part.FILL, n, p]
        history.node[bucket, n, OfNode.REDO_WRITTEN] = total


@compiled
def record_node(node_state: Rows[NodeState], of_node: Floats, n: int, bucket: int) -> None:
    """How a node is."""
    of_node[bucket, n, OfNode.LCP_TARGET] = node_state[n].lcp_target_bytes_per_s
    of_node[bucket, n, OfNode.MEMORY] = node_state[n].memory_bytes
    of_node[bucket, n, OfNode.UNDO_USED] = node_state[n].undo_used_bytes
    of_node[bucket, n, OfNode.SPACE] = node_state[n].space_bytes
    of_node[bucket, n, OfNode.DIRTY] = node_state[n].dirty_bytes
    of_node[bucket, n, OfNode.BACKUP_LEFT] = node_state[n].backup_left_bytes
    of_node[bucket, n, OfNode.DEAD] = node_state[n].is_dead
