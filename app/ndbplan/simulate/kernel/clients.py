"""Kernel, part 4: what clients send, what of it passes, what is refused at once, and what waits.

Laws and constants: measurements on a running 7.4.10 cluster whose disks were limited, and the NDB source.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled, inlined
from ndbplan.base.row_types import Floats, Rows
from ndbplan.simulate.kernel.log import count_error
from ndbplan.simulate.world.indices import Error
from ndbplan.simulate.world.laws import Laws, Node, Run
from ndbplan.simulate.world.state import Cluster, NodeState, Piece, State


@inlined
def send(run: Run, cluster: Cluster, piece: Piece, offered: float) -> None:
    """What clients send in this piece of a step, and what they try again.

    In a closed loop each client sends when its last transaction is answered; whoever waits sends nothing.
    """
    wanted = offered * piece.share
    if run.cycle_s > 0.0:
        wanted = max(0.0, run.clients - cluster.waiting) * piece.length_s / run.cycle_s
    if run.job_transactions > 0.0:
        wanted = min(wanted, max(0.0, run.job_transactions - cluster.accepted - cluster.waiting))
    arrived = wanted
    if run.stands_still:
        # Clients wait for their answers and send nothing; an open load has nowhere to go.
        wanted = wanted if run.cycle_s <= 0.0 else 0.0
        arrived = 0.0
    elif run.retry_share > 0.0:
        again = cluster.retrying * min(1.0, piece.length_s / run.retry_s)
        cluster.retrying -= again
        arrived += again
    piece.wanted = wanted
    piece.arrived = arrived


@inlined
def get_through(laws: Laws, state: State) -> None:
    """What links, processors, disk reads and buffers of disk data let through, and what links refuse."""
    run, cluster, piece = laws.run, state.cluster, state.piece
    service = run.service_per_s * piece.length_s
    piece.refused = 0.0
    if (run.send_buffered > 0.0 or cluster.sending > 0.0) and not run.stands_still:
        through_link(run, cluster, piece, state.errors, state.first, service)
    elif service > 0.0:
        piece.arrived = min(piece.arrived, service)
    if run.disk_data_share > 0.0:
        served = served_by_buffers(laws.nodes, state.node_state, piece.arrived + cluster.waiting)
        piece.arrived = min(piece.arrived, piece.refused + served)
    # Retries of a closed loop are part of what its clients send.
    piece.attempts = piece.arrived + cluster.waiting if not run.stands_still else 0.0


@compiled
def through_link(
    run: Run, cluster: Cluster, piece: Piece, errors: Floats, first: Floats, service: float
) -> None:
    """The slowest link carries `service` transactions.

    What it cannot carry waits in send buffers; when these are full, work is refused. Clients that wait for
    an answer send nothing, so they never hold more than one transaction each.
    """
    wanting = piece.arrived + cluster.sending
    passed = min(service, wanting) if service > 0.0 else wanting
    left = wanting - passed
    refused = 0.0
    if run.send_buffered <= 0.0:
        # A link that was slow is whole again: what its buffers hold goes first.
        left = min(left, cluster.sending)
    elif run.clients > 0.0 and run.clients < run.send_buffered:
        left = min(left, run.clients)
    elif left > run.send_buffered:
        refused = left - run.send_buffered
        left = run.send_buffered
        count_error(errors, first, piece.now_s, Error.SEND, refused, -1)
    cluster.sending = left
    piece.arrived = passed + refused
    piece.refused = refused


@compiled
def served_by_buffers(nodes: Rows[Node], node_state: Rows[NodeState], attempts: float) -> float:
    """Transactions that the page buffer and the undo buffer have room for; others wait at the client."""
    for n in range(nodes.shape[0]):
        if node_state[n].is_dead:
            continue
        if nodes[n].dirty_bytes > 0.0:
            attempts = min(
                attempts, (nodes[n].dirty_limit_bytes - node_state[n].dirty_bytes) / nodes[n].dirty_bytes
            )
        if nodes[n].undo_bytes > 0.0:
            room = nodes[n].undo_buffer_bytes - node_state[n].undo_held_bytes
            attempts = min(attempts, room / nodes[n].undo_bytes)
    return max(0.0, attempts)


@inlined
def turn_away(laws: Laws, state: State) -> None:
    """What is refused before it makes any log: cut off, no room for rows, no operation records."""
    run, cluster, piece = laws.run, state.cluster, state.piece
    overloaded = piece.refused
    if run.cut_off_share > 0.0:
        cut_off = (piece.attempts - overloaded) * run.cut_off_share
        count_error(state.errors, state.first, piece.now_s, Error.DOWN, cut_off, -1)
        piece.refused += cut_off
    if cluster.is_full:
        piece.refused += without_room(
            run, laws.nodes, state.node_state, state.errors, state.first, piece.now_s,
            piece.attempts - piece.refused,
        )  # fmt: skip
    held_pieces = run.held_s / piece.length_s
    pool = run.pool if run.pool > 0.0 else np.inf
    short = cluster.waiting + piece.arrived * held_pieces > pool or run.too_large_share > 0.0
    if short and piece.refused < piece.attempts:
        refused = without_records(
            run, cluster, state.errors, state.first, piece.now_s, piece.arrived - overloaded, held_pieces
        )
        piece.refused += min(piece.attempts - piece.refused, refused)


@compiled
def without_room(
    run: Run,
    nodes: Rows[Node],
    node_state: Rows[NodeState],
    errors: Floats,
    first: Floats,
    now_s: float,
    attempts: float,
) -> float:
    """Transactions refused because memory, undo log or tablespace of a node is full."""
    for n in range(nodes.shape[0]):
        if node_state[n].is_dead:
            continue
        if nodes[n].memory_bytes > 0.0 and node_state[n].memory_bytes >= nodes[n].memory_limit_bytes:
            refused = attempts * run.insert_share
            count_error(errors, first, now_s, Error.MEMORY, refused, n)
            return refused
        if nodes[n].index_bytes > 0.0 and node_state[n].index_bytes >= nodes[n].index_limit_bytes:
            refused = attempts * run.insert_share
            count_error(errors, first, now_s, Error.INDEX, refused, n)
            return refused
        if run.disk_data_share > 0.0:
            refused = attempts * run.disk_data_share
            if nodes[n].space_bytes > 0.0 and node_state[n].space_bytes >= nodes[n].space_limit_bytes:
                count_error(errors, first, now_s, Error.SPACE, refused, n)
                return refused
            if nodes[n].undo_bytes > 0.0 and node_state[n].undo_used_bytes >= nodes[n].undo_limit_bytes:
                count_error(errors, first, now_s, Error.UNDO, refused, n)
                return refused
    return 0.0


@compiled
def without_records(
    run: Run,
    cluster: Cluster,
    errors: Floats,
    first: Floats,
    now_s: float,
    arrived: float,
    held_pieces: float,
) -> float:
    """Transactions refused because there are no operation records for them.

    Records are held while a transaction is under way (`held_pieces` pieces of a step), and while it waits
    for redo.
    """
    too_large = arrived * run.too_large_share
    count_error(errors, first, now_s, run.too_large_error, too_large, -1)
    held_pieces = max(1e-6, held_pieces)
    held = cluster.waiting + (arrived - too_large) * held_pieces
    if held <= run.pool:
        return too_large
    refused = min(arrived - too_large, (held - run.pool) / held_pieces)
    count_error(errors, first, now_s, run.pool_error, refused, -1)
    return too_large + refused


@inlined
def wait(run: Run, state: State) -> None:
    """What was neither accepted nor refused waits for redo, until its time is out."""
    cluster, piece = state.cluster, state.piece
    if cluster.waiting > 0.0 or piece.accepted + piece.refused < piece.attempts:
        left = piece.attempts - piece.accepted - piece.refused
        if run.clients > 0.0 and left > run.clients:
            # All clients wait: what they would have sent is not sent.
            unsent = min(piece.arrived, left - run.clients)
            piece.arrived -= unsent
            piece.attempts -= unsent
            left -= unsent
        done = piece.accepted + piece.refused
        late = serve_queue(state.waiting, cluster, piece.slot, piece.arrived, done, max(0.0, left))
        if late > 0.0:
            count_error(state.errors, state.first, piece.now_s, Error.TIMEOUT, late, -1)
            piece.refused += late
        cluster.waiting = max(0.0, piece.attempts - piece.accepted - piece.refused)


@compiled
def serve_queue(
    waiting: Floats, cluster: Cluster, slot: int, arrived: float, done: float, waiting_now: float
) -> float:
    """First in, first out: the oldest are served first. Returns who has waited longer than the time-out.

    `slot` counts the pieces of steps since the start; slots before `cluster.oldest_slot` are empty.
    """
    slots = waiting.shape[0]
    oldest = max(cluster.oldest_slot, 0)
    late = 0.0
    while oldest <= slot - slots:
        late += waiting[oldest % slots]
        waiting[oldest % slots] = 0.0
        oldest += 1
    taken = min(late, done)
    late -= taken
    done -= taken
    waiting[slot % slots] += arrived
    while oldest <= slot:
        taken = min(waiting[oldest % slots], done)
        waiting[oldest % slots] -= taken
        done -= taken
        if waiting[oldest % slots] > 1e-9:
            break
        waiting[oldest % slots] = 0.0
        oldest += 1
    cluster.oldest_slot = oldest
    return min(late, waiting_now) if late > 1e-9 else 0.0


@compiled
def refuse_all(
    run: Run, cluster: Cluster, piece: Piece, errors: Floats, first: Floats, offered: float
) -> None:
    """A cluster that stopped: what is offered, and what waited or was to be tried again, is refused."""
    wanted = offered
    if run.cycle_s > 0.0:
        wanted = run.clients * run.step_s / run.cycle_s
    arrived = wanted + cluster.sending
    cluster.sending = 0.0
    if run.retry_share > 0.0:
        again = cluster.retrying * min(1.0, run.step_s / run.retry_s)
        cluster.retrying -= again
        arrived += again
    refused = arrived + cluster.waiting
    cluster.waiting = 0.0
    count_error(errors, first, piece.now_s, Error.DOWN, refused, -1)
    if run.retry_share > 0.0:
        cluster.retrying += refused * run.retry_share
    piece.wanted, piece.arrived, piece.refused = wanted, arrived, refused
    cluster.offered += wanted
    cluster.attempted += arrived
    cluster.refused += refused


@inlined
def count(run: Run, cluster: Cluster, piece: Piece) -> None:
    """Add what became of a piece of a step to the totals."""
    if run.retry_share > 0.0:
        cluster.retrying += piece.refused * run.retry_share
    cluster.offered += piece.wanted
    cluster.attempted += piece.arrived
    cluster.accepted += piece.accepted
    cluster.accepted_last = piece.accepted
    cluster.refused += piece.refused
