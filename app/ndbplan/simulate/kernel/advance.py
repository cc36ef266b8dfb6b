# mypy: allow-untyped-defs
"""Kernel, part 4: the loop over steps — load, rows, records.

Laws and constants: measurements on a running 7.4.10 cluster whose disks were limited, and the NDB source.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit

from ndbplan.simulate.columns import (
    B_BACKUP_LEFT,
    B_DEAD,
    B_DIRTY,
    B_LCP_TARGET,
    B_MEMORY,
    B_REDO_WRITTEN,
    B_SPACE,
    B_UNDO_USED,
    C_ACCEPTED,
    C_ALERT,
    C_ATTEMPTED,
    C_BLOCKED,
    C_CLOSED,
    C_GCP_S,
    C_LCP_PHASE,
    C_LCP_STAGE_S,
    C_OFFERED,
    C_OLDEST,
    C_REFUSED,
    C_RETRY,
    C_SEND,
    C_WAITING,
    E_DOWN,
    E_INDEX,
    E_LOG,
    E_MEMORY,
    E_SEND,
    E_SPACE,
    E_TIMEOUT,
    E_UNDO,
    N_CHANGED,
    N_DATA,
    N_DIRTY_LIMIT,
    N_INDEX,
    N_INDEX_LIMIT,
    N_INSERTED,
    N_LAG_LIMIT_S,
    N_MEMORY,
    N_MEMORY_LIMIT,
    N_RECOVERY_WORK,
    N_SPACE,
    N_SPACE_LIMIT,
    N_TOUCHED,
    N_UNDO,
    N_UNDO_BUFFER,
    N_UNDO_LIMIT,
    O_ACCEPTED,
    O_ATTEMPTED,
    O_LCP,
    O_OFFERED,
    O_REFUSED,
    O_WAITING,
    P_BASE,
    P_CARRY,
    P_DRAINED,
    P_DURABLE,
    P_DURABLE_BEFORE,
    P_FILL,
    P_LAGS,
    P_LIMIT,
    P_MADE,
    P_OPEN,
    P_STOP,
    P_TAIL,
    R_CLIENTS,
    R_COPIES,
    R_CYCLE_S,
    R_DISK_DATA,
    R_DOWN,
    R_FINE,
    R_GROWS,
    R_HELD_S,
    R_INSERT_SHARE,
    R_LAG_EXIT,
    R_POOL,
    R_POOL_ERROR,
    R_QUEUE_SLOTS,
    R_RETRY_S,
    R_RETRY_SHARE,
    R_SEND,
    R_SERVICE,
    R_STANDS,
    R_STEP_S,
    R_STEPS_PER_BUCKET,
    R_STEPS_PER_GCP,
    R_STEPS_PER_SECOND,
    R_STOPPED,
    R_TOO_LARGE,
    R_TOTAL,
    S_BACKUP_LEFT,
    S_CHANGED,
    S_DATA,
    S_DEAD,
    S_DIRTY,
    S_INDEX,
    S_LCP_TARGET,
    S_MEMORY,
    S_NEEDED,
    S_SPACE,
    S_TOUCHED,
    S_UNDO_HELD,
    S_UNDO_MADE,
    S_UNDO_TAIL,
    S_UNDO_USED,
)
from ndbplan.simulate.kernel.checkpoint import checkpoint, each_second, near_checkpoint
from ndbplan.simulate.kernel.disks import demand, share_disks, write
from ndbplan.simulate.kernel.log import (
    RUN_BYTES,
    blame,
    has_room,
    near_lag,
    produce,
    produce_blocked,
    record_before_flush,
    some_part_is_short,
    steps_with_room,
    watch_lag,
)

AHEAD_S = 0.2
"""A step is taken in pieces when something may run out in so much time."""
FLUSH_S = 0.1
"""Time before a global checkpoint in which all log is written, not only whole runs of pages."""


@njit(cache=True, nogil=True)
def _gate(run, nodes, node_state, errors, first, now_s, attempts):
    """Transactions refused because memory, undo log or tablespace of a node is full."""
    for n in range(nodes.shape[0]):
        if node_state[S_DEAD, n] > 0.0:
            continue
        if nodes[n, N_MEMORY] > 0.0 and node_state[S_MEMORY, n] >= nodes[n, N_MEMORY_LIMIT]:
            refused = attempts * run[R_INSERT_SHARE]
            blame(errors, first, now_s, E_MEMORY, refused, n)
            return refused
        if nodes[n, N_INDEX] > 0.0 and node_state[S_INDEX, n] >= nodes[n, N_INDEX_LIMIT]:
            refused = attempts * run[R_INSERT_SHARE]
            blame(errors, first, now_s, E_INDEX, refused, n)
            return refused
        if run[R_DISK_DATA] > 0.0:
            refused = attempts * run[R_DISK_DATA]
            if nodes[n, N_SPACE] > 0.0 and node_state[S_SPACE, n] >= nodes[n, N_SPACE_LIMIT]:
                blame(errors, first, now_s, E_SPACE, refused, n)
                return refused
            if nodes[n, N_UNDO] > 0.0 and node_state[S_UNDO_USED, n] >= nodes[n, N_UNDO_LIMIT]:
                blame(errors, first, now_s, E_UNDO, refused, n)
                return refused
    return 0.0


@njit(cache=True, nogil=True)
def _without_records(run, cluster, errors, first, now_s, arrived, held_pieces):
    """Transactions refused because there are no operation records for them.

    Records are held while a transaction is under way (`held_pieces` pieces of a step), and while it waits
    for redo.
    """
    refused = arrived * run[R_TOO_LARGE]
    held_pieces = max(1e-6, held_pieces)
    held = cluster[C_WAITING] + (arrived - refused) * held_pieces
    if held > run[R_POOL]:
        refused = min(arrived, refused + (held - run[R_POOL]) / held_pieces)
    blame(errors, first, now_s, int(run[R_POOL_ERROR]), refused, -1)
    return refused


@njit(cache=True, nogil=True)
def _through_link(run, cluster, errors, first, now_s, arrived, service, clients):
    """(transactions that arrive or are refused, refused): the slowest link carries `service` of them.

    What it cannot carry waits in send buffers; when these are full, work is refused. Clients that wait for
    an answer send nothing, so they never hold more than one transaction each.
    """
    wanting = arrived + cluster[C_SEND]
    passed = min(service, wanting)
    left = wanting - passed
    refused = 0.0
    if clients > 0.0 and clients < run[R_SEND]:
        left = min(left, clients)
    elif left > run[R_SEND]:
        refused = left - run[R_SEND]
        left = run[R_SEND]
        blame(errors, first, now_s, E_SEND, refused, -1)
    cluster[C_SEND] = left
    return passed + refused, refused


@njit(cache=True, nogil=True)
def _served(nodes, node_state, attempts):
    """Transactions that the page buffer and the undo buffer have room for; others wait at the client."""
    for n in range(nodes.shape[0]):
        if node_state[S_DEAD, n] > 0.0:
            continue
        if nodes[n, N_DATA] > 0.0:
            attempts = min(attempts, (nodes[n, N_DIRTY_LIMIT] - node_state[S_DIRTY, n]) / nodes[n, N_DATA])
        if nodes[n, N_UNDO] > 0.0:
            room = nodes[n, N_UNDO_BUFFER] - node_state[S_UNDO_HELD, n]
            attempts = min(attempts, room / nodes[n, N_UNDO])
    return max(0.0, attempts)


@njit(cache=True, nogil=True)
def _serve_queue(waiting, cluster, slot, arrived, done, waiting_now):
    """First in, first out: the oldest are served first. Returns who has waited longer than the time-out.

    `slot` counts the pieces of steps since the start; slots before C_OLDEST are empty.
    """
    slots = waiting.shape[0]
    oldest = max(int(cluster[C_OLDEST]), 0)
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
    cluster[C_OLDEST] = oldest
    return min(late, waiting_now) if late > 1e-9 else 0.0


@njit(cache=True, nogil=True, inline="always")
def _record_fill(fill, lags, low, high):
    """Keep least and most of each buffer; whether one holds so much that its lag matters."""
    some = False
    for i in range(fill.shape[0]):
        low[i] = min(low[i], fill[i])
        high[i] = max(high[i], fill[i])
        some |= (fill[i] > 4.0 * RUN_BYTES) | (lags[i] > 0.0)
    return some


@njit(cache=True, nogil=True)
def _rows(run, nodes, node_state, accepted):
    """What accepted transactions leave in memory, checkpoints and disk data. True: something is full."""
    full = False
    for n in range(nodes.shape[0]):
        if node_state[S_DEAD, n] > 0.0:
            continue
        changed = accepted * nodes[n, N_CHANGED]
        touched = accepted * nodes[n, N_TOUCHED]
        node_state[S_CHANGED, n] += changed
        node_state[S_TOUCHED, n] += touched
        node_state[S_NEEDED, n] += touched + changed / nodes[n, N_RECOVERY_WORK]
        if run[R_GROWS] > 0.0:
            node_state[S_DATA, n] = max(0.0, node_state[S_DATA, n] + accepted * nodes[n, N_INSERTED])
            node_state[S_MEMORY, n] = max(0.0, node_state[S_MEMORY, n] + accepted * nodes[n, N_MEMORY])
            node_state[S_SPACE, n] += accepted * nodes[n, N_SPACE]
            full |= node_state[S_MEMORY, n] >= nodes[n, N_MEMORY_LIMIT]
            if nodes[n, N_INDEX] != 0.0:
                node_state[S_INDEX, n] = max(0.0, node_state[S_INDEX, n] + accepted * nodes[n, N_INDEX])
                full |= node_state[S_INDEX, n] >= nodes[n, N_INDEX_LIMIT]
            full |= node_state[S_SPACE, n] >= nodes[n, N_SPACE_LIMIT]
        if run[R_DISK_DATA] > 0.0:
            undo = accepted * nodes[n, N_UNDO]
            node_state[S_UNDO_HELD, n] += undo
            node_state[S_UNDO_MADE, n] += undo
            node_state[S_UNDO_USED, n] = node_state[S_UNDO_MADE, n] - node_state[S_UNDO_TAIL, n]
            full |= node_state[S_UNDO_USED, n] >= nodes[n, N_UNDO_LIMIT]
            node_state[S_DIRTY, n] += accepted * nodes[n, N_DATA]
    return full


@njit(cache=True, nogil=True)
def _refuse_all(run, cluster, errors, first, now_s, wanted):
    """A cluster that stopped: what is offered, and what waited or was to be tried again, is refused.

    Returns (transactions that arrive, refused).
    """
    arrived = wanted + cluster[C_SEND]
    cluster[C_SEND] = 0.0
    if run[R_RETRY_SHARE] > 0.0:
        again = cluster[C_RETRY] * min(1.0, run[R_STEP_S] / run[R_RETRY_S])
        cluster[C_RETRY] -= again
        arrived += again
    refused = arrived + cluster[C_WAITING]
    cluster[C_WAITING] = 0.0
    blame(errors, first, now_s, E_DOWN, refused, -1)
    if run[R_RETRY_SHARE] > 0.0:
        cluster[C_RETRY] += refused * run[R_RETRY_SHARE]
    return arrived, refused


@njit(cache=True, nogil=True)
def _end_bucket(parts, node_state, errors, bucket, out_errors, out_last, out_log, out_node):
    for code in range(errors.shape[0]):
        out_errors[bucket, code] = errors[code]
    for n in range(parts.shape[1]):
        out_node[bucket, n, B_LCP_TARGET] = node_state[S_LCP_TARGET, n]
        out_node[bucket, n, B_MEMORY] = node_state[S_MEMORY, n]
        out_node[bucket, n, B_UNDO_USED] = node_state[S_UNDO_USED, n]
        out_node[bucket, n, B_SPACE] = node_state[S_SPACE, n]
        out_node[bucket, n, B_DIRTY] = node_state[S_DIRTY, n]
        out_node[bucket, n, B_BACKUP_LEFT] = node_state[S_BACKUP_LEFT, n]
        out_node[bucket, n, B_DEAD] = node_state[S_DEAD, n]
        total = 0.0
        for p in range(parts.shape[2]):
            out_last[bucket, n, p] = parts[P_FILL, n, p]
            out_log[bucket, n, p] = parts[P_MADE, n, p] - parts[P_TAIL, n, p]
            total += parts[P_MADE, n, p] - parts[P_FILL, n, p]
        out_node[bucket, n, B_REDO_WRITTEN] = total


@njit(cache=True, nogil=True)
def advance(
    begin, end, run, nodes, index, slots, alive, group_count, ldm_of, load, base, share,
    disks, disk_start, disk_member, offered,
    parts, node_state, targets, weights, cluster, waiting, errors, first, work,
    out, out_errors, out_low, out_high, out_last, out_log, out_disk, out_busy, out_node,
):  # fmt: skip
    """Run the steps begin..end of a scenario; state arrays are changed, buckets are filled."""
    count, log_parts = load.shape
    step_s = run[R_STEP_S]
    per_second = int(run[R_STEPS_PER_SECOND])
    per_gcp = int(run[R_STEPS_PER_GCP])
    per_bucket = int(run[R_STEPS_PER_BUCKET])
    fine = max(1, int(run[R_FINE]))
    queue = run[R_QUEUE_SLOTS] > 0.0
    clients = run[R_CLIENTS]
    cycle_s = run[R_CYCLE_S]
    pool = run[R_POOL] if run[R_POOL] > 0.0 else np.inf
    too_large = run[R_TOO_LARGE] > 0.0
    lag_watched = nodes[0, N_LAG_LIMIT_S] > 0.0
    flat = parts.reshape(parts.shape[0], count * log_parts)
    fill, made, stop, limit = flat[P_FILL], flat[P_MADE], flat[P_STOP], flat[P_LIMIT]
    carry, lags, drained = flat[P_CARRY], flat[P_LAGS], flat[P_DRAINED]
    flat_load, flat_base = load.reshape(count * log_parts), base.reshape(count * log_parts)
    all_low = out_low.reshape(out_low.shape[0], count * log_parts)
    all_high = out_high.reshape(out_high.shape[0], count * log_parts)
    recorded = begin // per_bucket
    low, high = all_low[recorded], all_high[recorded]
    full = True
    backlog = True
    accepted = 0.0
    safe_steps = safe_most = 0.0
    all_clients = clients * step_s / cycle_s if cycle_s > 0.0 else 0.0
    passes = run[R_SERVICE] * step_s if run[R_SERVICE] > 0.0 and run[R_SEND] <= 0.0 else np.inf
    ahead = 1.0 + AHEAD_S / step_s
    for step in range(begin, end):
        bucket = step // per_bucket
        if bucket != recorded:
            low, high = all_low[bucket], all_high[bucket]
            recorded = bucket
        if run[R_STOPPED] > 0.0:
            wanted = offered[step] if cycle_s <= 0.0 else all_clients
            arrived, refused = _refuse_all(run, cluster, errors, first, step * step_s, wanted)
            cluster[C_OFFERED] += wanted
            cluster[C_ATTEMPTED] += arrived
            cluster[C_REFUSED] += refused
            out[bucket, O_OFFERED] += wanted
            out[bucket, O_ATTEMPTED] += arrived
            out[bucket, O_REFUSED] += refused
            out[bucket, O_WAITING] = 0.0
            if (step + 1) % per_bucket == 0 or step + 1 == end:
                _end_bucket(parts, node_state, errors, bucket, out_errors, out_last, out_log, out_node)
            continue
        most = offered[step] if cycle_s <= 0.0 else all_clients
        most = min(passes, most + cluster[C_RETRY] + cluster[C_SEND]) + cluster[C_WAITING]
        safe_steps -= 1.0
        short = False
        if safe_steps < 0.0 or most > safe_most:
            short = some_part_is_short(fill, made, stop, limit, lags, flat_load, flat_base, most, ahead)
            short = short and not has_room(nodes, load, base, parts, most, ahead, ahead)
            safe_steps = 0.0 if short else steps_with_room(nodes, load, base, parts, most) - ahead
            safe_most = most
        # In the first second buffers begin to fill. While the log or memory is full everything is refused.
        critical = (
            step < per_second
            or (short and cluster[C_CLOSED] <= 0.0)
            or cluster[C_WAITING] > 0.0
            or (backlog and lag_watched and near_lag(nodes, parts))
            or (
                (backlog or cluster[C_ALERT] > 0.0 or errors[E_LOG] > 0.0)
                and (accepted > 0.0 or not full)
                and near_checkpoint(node_state, cluster, step_s)
            )
        )
        pieces = fine if critical else 1
        gcp_steps = per_gcp - step % per_gcp
        flushes = (gcp_steps - 1) * step_s < FLUSH_S - 1e-9
        hold = 0.0 if flushes else RUN_BYTES
        step_part = 1.0 / pieces
        dt = step_s * step_part
        service = run[R_SERVICE] * dt
        held_pieces = run[R_HELD_S] / dt
        again_part = min(1.0, dt / run[R_RETRY_S]) if run[R_RETRY_SHARE] > 0.0 else 0.0
        for piece in range(pieces):
            now_s = step * step_s + piece * dt
            wanted = offered[step] * step_part if cycle_s <= 0.0 else 0.0
            if cycle_s > 0.0:
                # Each client sends when its last transaction is answered; whoever waits sends nothing.
                wanted = max(0.0, clients - cluster[C_WAITING]) * dt / cycle_s
            if run[R_TOTAL] > 0.0:
                wanted = min(wanted, max(0.0, run[R_TOTAL] - cluster[C_ACCEPTED] - cluster[C_WAITING]))
            arrived = wanted
            if run[R_STANDS] > 0.0:
                # Clients wait for their answers and send nothing; an open load has nowhere to go.
                wanted = wanted if cycle_s <= 0.0 else 0.0
                arrived = 0.0
            elif again_part > 0.0:
                again = cluster[C_RETRY] * again_part
                cluster[C_RETRY] -= again
                arrived += again
            overloaded = 0.0
            if run[R_SEND] > 0.0 and run[R_STANDS] <= 0.0:
                arrived, overloaded = _through_link(
                    run, cluster, errors, first, now_s, arrived, service, clients
                )
            elif service > 0.0:
                arrived = min(arrived, service)
            if run[R_DISK_DATA] > 0.0:
                arrived = min(arrived, overloaded + _served(nodes, node_state, arrived + cluster[C_WAITING]))
            # Retries of a closed loop are part of what its clients send.
            attempts = arrived + cluster[C_WAITING] if run[R_STANDS] <= 0.0 else 0.0
            gated = overloaded
            if run[R_DOWN] > 0.0:
                cut_off = (attempts - gated) * run[R_DOWN]
                blame(errors, first, now_s, E_DOWN, cut_off, -1)
                gated += cut_off
            if full:
                gated += _gate(run, nodes, node_state, errors, first, now_s, attempts - gated)
            if (cluster[C_WAITING] + arrived * held_pieces > pool or too_large) and gated < attempts:
                gated += min(
                    attempts - gated,
                    _without_records(run, cluster, errors, first, now_s, arrived - overloaded, held_pieces),
                )
            open_attempts = attempts - gated
            accepted = open_attempts
            refused = gated
            if (critical or short) and not has_room(nodes, load, base, parts, open_attempts, 1.0, step_part):
                accepted, at_once = produce_blocked(
                    run, nodes, index, slots, alive, group_count, load, base, share,
                    parts, cluster, errors, first, open_attempts, now_s, queue, step_part,
                )  # fmt: skip
                refused += at_once
            else:
                produce(fill, made, carry, flat_load, flat_base, open_attempts, step_part)
                if run[R_COPIES] > 0.0:
                    parts[P_BASE] += base * step_part
                if cluster[C_BLOCKED] > 0.0:
                    parts[P_OPEN, :, :] = 1.0
                    cluster[C_BLOCKED] = 0.0
            if queue and run[R_STANDS] <= 0.0 and (cluster[C_WAITING] > 0.0 or accepted + refused < attempts):
                left = attempts - accepted - refused
                if clients > 0.0 and left > clients:
                    # All clients wait: what they would have sent is not sent.
                    unsent = min(arrived, left - clients)
                    arrived -= unsent
                    attempts -= unsent
                    left -= unsent
                slot = step * fine + piece * (fine // pieces)
                late = _serve_queue(waiting, cluster, slot, arrived, accepted + refused, max(0.0, left))
                if late > 0.0:
                    blame(errors, first, now_s, E_TIMEOUT, late, -1)
                    refused += late
                cluster[C_WAITING] = max(0.0, attempts - accepted - refused)
            if run[R_RETRY_SHARE] > 0.0:
                cluster[C_RETRY] += refused * run[R_RETRY_SHARE]
            cluster[C_OFFERED] += wanted
            cluster[C_ATTEMPTED] += arrived
            cluster[C_ACCEPTED] += accepted
            cluster[C_REFUSED] += refused
            full = _rows(run, nodes, node_state, accepted)
            if flushes:
                record_before_flush(fill, high)
            writing = cluster[C_LCP_PHASE] > 0.0
            demand(run, nodes, index, parts, node_state, work, attempts, hold, writing, dt)
            share_disks(disks, work, dt)
            ended = write(
                run, nodes, index, disk_start, disk_member, disks, weights, parts, fill, drained, limit,
                node_state, cluster, work, hold, writing, dt, bucket, out_disk, out_busy, out_node,
            )  # fmt: skip
            if gcp_steps == 1 and piece == pieces - 1:
                cluster[C_GCP_S] = 0.0
                for n in range(count):
                    for p in range(log_parts):
                        parts[P_DURABLE_BEFORE, n, p] = parts[P_DURABLE, n, p]
                        parts[P_DURABLE, n, p] = parts[P_MADE, n, p] - parts[P_FILL, n, p]
            else:
                cluster[C_GCP_S] += dt
            if not writing:
                cluster[C_LCP_STAGE_S] -= dt
            if ended or (not writing and cluster[C_LCP_STAGE_S] <= 1e-9):
                checkpoint(run, nodes, parts, node_state, cluster)
            out[bucket, O_OFFERED] += wanted
            out[bucket, O_ATTEMPTED] += arrived
            out[bucket, O_ACCEPTED] += accepted
            out[bucket, O_REFUSED] += refused
            if writing:
                out[bucket, O_LCP] += dt
            backlog = _record_fill(fill, lags, low, high)
            if backlog and lag_watched:
                for n in range(count):
                    for p in range(log_parts):
                        watch_lag(nodes, parts, n, p, dt, run[R_LAG_EXIT])
        cluster[C_CLOSED] = 1.0 if accepted <= 0.0 and not backlog else 0.0
        out[bucket, O_WAITING] = cluster[C_WAITING]
        if (step + 1) % per_second == 0:
            each_second(
                run, nodes, ldm_of, weights, load, parts, node_state, targets, cluster, per_second * step_s
            )
        if (step + 1) % per_bucket == 0 or step + 1 == end:
            _end_bucket(parts, node_state, errors, bucket, out_errors, out_last, out_log, out_node)


_A1, _A2, _A3 = float64[::1], float64[:, ::1], float64[:, :, ::1]
_I1, _I2 = int64[::1], int64[:, ::1]
SIGNATURE = (
    int64, int64, _A1, _A2, _I2, _I2, _I1, _A1, _I2, _A2, _A2, _A2,
    _A2, _I1, _I1, _A1,
    _A3, _A2, _A2, _A2, _A1, _A1, _A1, _A2, _A2,
    _A2, _A2, _A3, _A3, _A3, _A3, _A3, _A3, _A3,
)  # fmt: skip
"""Types of `advance`'s arguments: one version is compiled, and kept on disk."""
