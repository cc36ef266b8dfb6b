"""Kernel, part 5: what accepted transactions leave in memory, checkpoints and disk data.

Source: engine model 2.1, 4.3 and 5.2; what a transaction takes is that of the estimates.
"""

from __future__ import annotations

from ndbplan.base.compiled import compiled
from ndbplan.base.row_types import Rows
from ndbplan.simulate.world.laws import Node, Run
from ndbplan.simulate.world.state import NodeState


@compiled
def leave_rows(run: Run, nodes: Rows[Node], node_state: Rows[NodeState], accepted: float) -> bool:
    """What accepted transactions leave on each node. True: something is full."""
    full = False
    for n in range(nodes.shape[0]):
        if node_state[n].is_dead:
            continue
        updated = accepted * nodes[n].updated_bytes
        deleted = accepted * nodes[n].deleted_bytes
        new = accepted * nodes[n].new_bytes
        node_state[n].updated_bytes += updated
        node_state[n].deleted_bytes += deleted
        node_state[n].new_bytes += new
        if run.grows:
            full |= grow(nodes[n], node_state[n], accepted)
        if run.disk_data_share > 0.0:
            full |= make_undo(nodes[n], node_state[n], accepted)
    return full


@compiled
def rows_at_global_checkpoint(node_state: Rows[NodeState]) -> None:
    """Remember what has changed so far: the next checkpoint of a fragment writes what changes from now on."""
    for n in range(node_state.shape[0]):
        state = node_state[n]
        state.updated_before_gcp_bytes = state.updated_at_gcp_bytes
        state.updated_at_gcp_bytes = state.updated_bytes
        state.new_before_gcp_bytes = state.new_at_gcp_bytes
        state.new_at_gcp_bytes = state.new_bytes


@compiled
def grow(node: Node, state: NodeState, accepted: float) -> bool:
    """Rows that are inserted take memory and tablespace, and make checkpoints larger. True: one is full."""
    state.rows_bytes = max(0.0, state.rows_bytes + accepted * node.inserted_bytes)
    state.memory_bytes = max(0.0, state.memory_bytes + accepted * node.memory_bytes)
    state.space_bytes += accepted * node.space_bytes
    full = state.memory_bytes >= node.memory_limit_bytes
    if node.index_bytes != 0.0:
        state.index_bytes = max(0.0, state.index_bytes + accepted * node.index_bytes)
        full |= state.index_bytes >= node.index_limit_bytes
    full |= state.space_bytes >= node.space_limit_bytes
    return full


@compiled
def make_undo(node: Node, state: NodeState, accepted: float) -> bool:
    """Changed disk data makes pages dirty and leaves undo log. True: that is full."""
    undo = accepted * node.undo_bytes
    state.undo_held_bytes += undo
    state.undo_made_bytes += undo
    state.undo_used_bytes = state.undo_made_bytes - state.undo_tail_bytes
    state.dirty_bytes += accepted * node.dirty_bytes
    return state.undo_used_bytes >= node.undo_limit_bytes
