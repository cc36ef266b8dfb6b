"""Kernel, part 7: the loop over steps, and the order in which the laws of a step hold.

Source: the order within a step is judgement; each law names its own where it stands.
"""

from __future__ import annotations

from ndbplan.base.compiled import compiled, inlined
from ndbplan.base.row_types import Floats
from ndbplan.simulate.kernel.checkpoint import checkpoint, each_second, near_checkpoint
from ndbplan.simulate.kernel.clients import count, get_through, refuse_all, send, turn_away, wait
from ndbplan.simulate.kernel.disks import demand, share_disks, write
from ndbplan.simulate.kernel.lag import look_at_lags, measure_logs, near_lag
from ndbplan.simulate.kernel.log import (
    RUN_BYTES,
    count_copied,
    global_checkpoint,
    has_room,
    produce,
    record_before_flush,
    some_part_is_short,
    steps_with_room,
)
from ndbplan.simulate.kernel.records import end_bucket, record_clients, record_fill, record_refusal
from ndbplan.simulate.kernel.refused import produce_blocked
from ndbplan.simulate.kernel.rows import leave_rows, rows_at_global_checkpoint
from ndbplan.simulate.world.indices import Error, OfCluster, Part
from ndbplan.simulate.world.laws import Laws
from ndbplan.simulate.world.state import State
from ndbplan.simulate.world.world import History, World

AHEAD_S = 0.2
"""A step is taken in pieces when something may run out in so much time."""
FLUSH_S = 0.1
"""Time before a global checkpoint in which all log is written, not only whole runs of pages."""


@compiled
def advance(world: World, history: History, begin: int, end: int) -> None:
    """Run the steps begin..end of a scenario; the world is changed, buckets of the history are filled."""
    laws, state = world.laws, world.state
    run, piece = laws.run, state.piece
    shape = state.parts.shape
    flat = state.parts.reshape(shape[0], shape[1] * shape[2])
    low = history.low.reshape(history.low.shape[0], shape[1] * shape[2])
    high = history.high.reshape(history.high.shape[0], shape[1] * shape[2])
    load, base = laws.load.reshape(flat.shape[1]), laws.base.reshape(flat.shape[1])
    for step in range(begin, end):
        offered = laws.offered[step] if run.cycle_s <= 0.0 else 0.0
        piece.bucket = step // run.steps_per_bucket
        if run.stopped:
            piece.now_s = step * run.step_s
            refuse_all(run, state.cluster, piece, state.errors, state.first, offered)
            record_refusal(history.totals, piece)
        else:
            look_ahead(laws, state, flat, load, base, offered, step)
            pieces = max(1, run.pieces) if piece.is_critical else 1
            begin_step(laws, state, step, pieces)
            for at in range(pieces):
                begin_piece(laws, state, step, at, pieces)
                let_clients_work(laws, state, flat, load, base, offered)
                let_disks_write(laws, state, history, flat, high[piece.bucket])
                record_piece(laws, state, history, flat, low[piece.bucket], high[piece.bucket])
            end_step(laws, state, history, step)
        if (step + 1) % run.steps_per_bucket == 0 or step + 1 == end:
            end_bucket(state, history, piece.bucket)


@inlined
def look_ahead(
    laws: Laws, state: State, flat: Floats, load: Floats, base: Floats, offered: float, step: int
) -> None:
    """Whether a part may be unable to take its work soon, and whether anything may run out in this step."""
    run, cluster, piece = laws.run, state.cluster, state.piece
    clients = run.clients * run.step_s / run.cycle_s if run.cycle_s > 0.0 else offered
    most = clients + cluster.retrying + cluster.sending
    if run.service_per_s > 0.0 and run.send_buffered <= 0.0:
        most = min(run.service_per_s * run.step_s, most)
    most += cluster.waiting
    ahead = 1.0 + AHEAD_S / run.step_s
    cluster.safe_steps -= 1.0
    short = False
    if cluster.safe_steps < 0.0 or most > cluster.safe_transactions:
        short = some_part_is_short(flat, load, base, most, ahead)
        short = short and not has_room(laws.nodes, laws.load, laws.base, state.parts, most, ahead, ahead)
        steps = 0.0
        if not short:
            steps = steps_with_room(laws.nodes, laws.load, laws.base, state.parts, most) - ahead
        cluster.safe_steps, cluster.safe_transactions = steps, most
    piece.is_short = short
    # In the first second buffers begin to fill. While the log or memory is full everything is refused.
    backlog = cluster.has_backlog
    piece.is_critical = (
        step < run.steps_per_second
        or (short and not cluster.is_closed)
        or cluster.waiting > 0.0
        or (backlog and laws.nodes[0].lag_limit_s > 0.0 and near_lag(laws.nodes, state.parts))
        or (
            (backlog or cluster.alert_level > 0.0 or state.errors[Error.LOG] > 0.0)
            and (cluster.accepted_last > 0.0 or not cluster.is_full)
            and near_checkpoint(state.node_state, cluster, run.step_s)
        )
    )


@inlined
def begin_step(laws: Laws, state: State, step: int, pieces: int) -> None:
    """How long pieces are, and whether the log is flushed for a global checkpoint that comes."""
    run, piece = laws.run, state.piece
    left = run.steps_per_gcp - step % run.steps_per_gcp
    piece.flushes = (left - 1) * run.step_s < FLUSH_S - 1e-9
    piece.hold_bytes = 0.0 if piece.flushes else RUN_BYTES
    piece.share = 1.0 / pieces
    piece.length_s = run.step_s * piece.share


@inlined
def begin_piece(laws: Laws, state: State, step: int, at: int, pieces: int) -> None:
    """Where in its step a piece is."""
    piece = state.piece
    piece.now_s = step * laws.run.step_s + at * piece.length_s
    fine = max(1, laws.run.pieces)
    piece.slot = step * fine + at * (fine // pieces)
    piece.is_last = at == pieces - 1 and (step + 1) % laws.run.steps_per_gcp == 0


@inlined
def let_clients_work(
    laws: Laws, state: State, flat: Floats, load: Floats, base: Floats, offered: float
) -> None:
    """Clients send; what is not refused at once makes log, as far as log parts take it, and leaves rows."""
    run, cluster, piece = laws.run, state.cluster, state.piece
    send(run, cluster, piece, offered)
    get_through(laws, state)
    turn_away(laws, state)
    going = piece.attempts - piece.refused
    piece.accepted = going
    watched = piece.is_critical or piece.is_short
    if watched and not has_room(laws.nodes, laws.load, laws.base, state.parts, going, 1.0, piece.share):
        produce_blocked(laws, state, going)
    else:
        produce(flat[Part.FILL], flat[Part.MADE], flat[Part.CARRY], load, base, going, piece.share)
        if run.copies:
            count_copied(flat[Part.BASE], base, piece.share)
        if cluster.is_blocked:
            state.parts[Part.OPEN, :, :] = 1.0
            cluster.is_blocked = False
    if run.queue_slots > 0 and not run.stands_still:
        wait(run, state)
    count(run, cluster, piece)
    cluster.is_full = leave_rows(run, laws.nodes, state.node_state, piece.accepted)


@inlined
def let_disks_write(laws: Laws, state: State, history: History, flat: Floats, high: Floats) -> None:
    """Disks write what they can of log, checkpoint and disk data; checkpoints begin and end."""
    cluster, piece = state.cluster, state.piece
    if piece.flushes:
        record_before_flush(flat[Part.FILL], high)
    piece.writes_lcp = cluster.lcp_writes
    demand(laws.run, laws.nodes, laws.places, laws.files, state.parts, state.node_state, state.work, piece)
    share_disks(laws.disks, state.work, piece.length_s)
    ended = write(laws, state, history, flat)
    if piece.is_last:
        cluster.gcp_age_s = 0.0
        global_checkpoint(state.parts)
        rows_at_global_checkpoint(state.node_state)
    else:
        cluster.gcp_age_s += piece.length_s
    if not piece.writes_lcp:
        cluster.lcp_stage_left_s -= piece.length_s
    if ended or (not piece.writes_lcp and cluster.lcp_stage_left_s <= 1e-9):
        checkpoint(laws, state)


@inlined
def record_piece(laws: Laws, state: State, history: History, flat: Floats, low: Floats, high: Floats) -> None:
    """Write down what became of a piece of a step."""
    record_clients(history.totals, state.piece)
    state.cluster.has_backlog = record_fill(flat[Part.FILL], flat[Part.LAGS], low, high)


@inlined
def end_step(laws: Laws, state: State, history: History, step: int) -> None:
    """What is looked at after each step, and after each second."""
    run, cluster = laws.run, state.cluster
    cluster.is_closed = cluster.accepted_last <= 0.0 and not cluster.has_backlog
    history.totals[state.piece.bucket, OfCluster.WAITING] = cluster.waiting
    if (step + 1) % run.steps_per_second == 0:
        elapsed_s = run.steps_per_second * run.step_s
        measure_logs(state.parts, elapsed_s)
        look_at_lags(run, laws.nodes, state.parts, state.wrote, cluster)
        each_second(laws, state, (step + 1) * run.step_s, elapsed_s)
