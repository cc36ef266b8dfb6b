"""Kernel, part 4: the loop over steps — load, rows, records.

Laws and constants: measurements on a running 7.4.10 cluster whose disks were limited, and the NDB source.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled, inlined
from ndbplan.simulate.kernel.checkpoint import checkpoint, each_second, near_checkpoint
from ndbplan.simulate.kernel.disks import demand, share_disks, write
from ndbplan.simulate.kernel.log import (
    RUN_BYTES,
    count_error,
    has_room,
    near_lag,
    produce,
    produce_blocked,
    record_before_flush,
    some_part_is_short,
    steps_with_room,
    watch_lag,
)
from ndbplan.simulate.world import (
    Cluster,
    Error,
    Floats,
    History,
    Node,
    NodeState,
    OfCluster,
    OfNode,
    Part,
    Rows,
    Run,
    World,
)

AHEAD_S = 0.2
"""A step is taken in pieces when something may run out in so much time."""
FLUSH_S = 0.1
"""Time before a global checkpoint in which all log is written, not only whole runs of pages."""


@compiled
def _gate(
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
def _without_records(
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
    refused = arrived * run.too_large_share
    held_pieces = max(1e-6, held_pieces)
    held = cluster.waiting + (arrived - refused) * held_pieces
    if held > run.pool:
        refused = min(arrived, refused + (held - run.pool) / held_pieces)
    count_error(errors, first, now_s, run.pool_error, refused, -1)
    return refused


@compiled
def _through_link(
    run: Run,
    cluster: Cluster,
    errors: Floats,
    first: Floats,
    now_s: float,
    arrived: float,
    service: float,
    clients: float,
) -> tuple[float, float]:
    """(transactions that arrive or are refused, refused): the slowest link carries `service` of them.

    What it cannot carry waits in send buffers; when these are full, work is refused. Clients that wait for
    an answer send nothing, so they never hold more than one transaction each.
    """
    wanting = arrived + cluster.sending
    passed = min(service, wanting)
    left = wanting - passed
    refused = 0.0
    if clients > 0.0 and clients < run.send_buffered:
        left = min(left, clients)
    elif left > run.send_buffered:
        refused = left - run.send_buffered
        left = run.send_buffered
        count_error(errors, first, now_s, Error.SEND, refused, -1)
    cluster.sending = left
    return passed + refused, refused


@compiled
def _served(nodes: Rows[Node], node_state: Rows[NodeState], attempts: float) -> float:
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


@compiled
def _serve_queue(
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


@inlined
def _record_fill(fill: Floats, lags: Floats, low: Floats, high: Floats) -> bool:
    """Keep least and most of each buffer; whether one holds so much that its lag matters."""
    some = False
    for i in range(fill.shape[0]):
        low[i] = min(low[i], fill[i])
        high[i] = max(high[i], fill[i])
        some |= (fill[i] > 4.0 * RUN_BYTES) | (lags[i] > 0.0)
    return some


@compiled
def _rows(run: Run, nodes: Rows[Node], node_state: Rows[NodeState], accepted: float) -> bool:
    """What accepted transactions leave in memory, checkpoints and disk data. True: something is full."""
    full = False
    for n in range(nodes.shape[0]):
        if node_state[n].is_dead:
            continue
        changed = accepted * nodes[n].changed_bytes
        touched = accepted * nodes[n].touched_bytes
        node_state[n].changed_bytes += changed
        node_state[n].touched_bytes += touched
        node_state[n].needed_bytes += touched + changed / nodes[n].recovery_work
        if run.grows:
            node_state[n].rows_bytes = max(0.0, node_state[n].rows_bytes + accepted * nodes[n].inserted_bytes)
            node_state[n].memory_bytes = max(
                0.0, node_state[n].memory_bytes + accepted * nodes[n].memory_bytes
            )
            node_state[n].space_bytes += accepted * nodes[n].space_bytes
            full |= node_state[n].memory_bytes >= nodes[n].memory_limit_bytes
            if nodes[n].index_bytes != 0.0:
                node_state[n].index_bytes = max(
                    0.0, node_state[n].index_bytes + accepted * nodes[n].index_bytes
                )
                full |= node_state[n].index_bytes >= nodes[n].index_limit_bytes
            full |= node_state[n].space_bytes >= nodes[n].space_limit_bytes
        if run.disk_data_share > 0.0:
            undo = accepted * nodes[n].undo_bytes
            node_state[n].undo_held_bytes += undo
            node_state[n].undo_made_bytes += undo
            node_state[n].undo_used_bytes = node_state[n].undo_made_bytes - node_state[n].undo_tail_bytes
            full |= node_state[n].undo_used_bytes >= nodes[n].undo_limit_bytes
            node_state[n].dirty_bytes += accepted * nodes[n].dirty_bytes
    return full


@compiled
def _refuse_all(
    run: Run, cluster: Cluster, errors: Floats, first: Floats, now_s: float, wanted: float
) -> tuple[float, float]:
    """A cluster that stopped: what is offered, and what waited or was to be tried again, is refused.

    Returns (transactions that arrive, refused).
    """
    arrived = wanted + cluster.sending
    cluster.sending = 0.0
    if run.retry_share > 0.0:
        again = cluster.retrying * min(1.0, run.step_s / run.retry_s)
        cluster.retrying -= again
        arrived += again
    refused = arrived + cluster.waiting
    cluster.waiting = 0.0
    count_error(errors, first, now_s, Error.DOWN, refused, -1)
    if run.retry_share > 0.0:
        cluster.retrying += refused * run.retry_share
    return arrived, refused


@compiled
def _end_bucket(
    parts: Floats,
    node_state: Rows[NodeState],
    errors: Floats,
    bucket: int,
    out_errors: Floats,
    out_last: Floats,
    out_log: Floats,
    out_node: Floats,
) -> None:
    for code in range(errors.shape[0]):
        out_errors[bucket, code] = errors[code]
    for n in range(parts.shape[1]):
        out_node[bucket, n, OfNode.LCP_TARGET] = node_state[n].lcp_target_bytes_per_s
        out_node[bucket, n, OfNode.MEMORY] = node_state[n].memory_bytes
        out_node[bucket, n, OfNode.UNDO_USED] = node_state[n].undo_used_bytes
        out_node[bucket, n, OfNode.SPACE] = node_state[n].space_bytes
        out_node[bucket, n, OfNode.DIRTY] = node_state[n].dirty_bytes
        out_node[bucket, n, OfNode.BACKUP_LEFT] = node_state[n].backup_left_bytes
        out_node[bucket, n, OfNode.DEAD] = node_state[n].is_dead
        total = 0.0
        for p in range(parts.shape[2]):
            out_last[bucket, n, p] = parts[Part.FILL, n, p]
            out_log[bucket, n, p] = parts[Part.MADE, n, p] - parts[Part.TAIL, n, p]
            total += parts[Part.MADE, n, p] - parts[Part.FILL, n, p]
        out_node[bucket, n, OfNode.REDO_WRITTEN] = total


@compiled
def advance(world: World, history: History, begin: int, end: int) -> None:
    """Run the steps begin..end of a scenario; the world is changed, buckets of the history are filled."""
    # Tuples of arrays are taken apart here: passed on to small functions they cost more than these do.
    (
        run, nodes, places, slots, alive, group_count, ldm_of, load, base, share, disks, disk_start,
        disk_member, offered,
    ) = world.laws  # fmt: skip
    parts, node_state, targets, weights, cluster, waiting, errors, first, work = world.state
    out, out_errors, out_low, out_high, out_last, out_log, out_disk, out_busy, out_node = history
    count, log_parts = load.shape
    step_s = run.step_s
    per_second = run.steps_per_second
    per_gcp = run.steps_per_gcp
    per_bucket = run.steps_per_bucket
    fine = max(1, run.pieces)
    queue = run.queue_slots > 0
    clients = run.clients
    cycle_s = run.cycle_s
    pool = run.pool if run.pool > 0.0 else np.inf
    too_large = run.too_large_share > 0.0
    lag_watched = nodes[0].lag_limit_s > 0.0
    flat = parts.reshape(parts.shape[0], count * log_parts)
    fill, made, stop, limit = flat[Part.FILL], flat[Part.MADE], flat[Part.STOP], flat[Part.LIMIT]
    carry, lags, drained = flat[Part.CARRY], flat[Part.LAGS], flat[Part.DRAINED]
    flat_load, flat_base = load.reshape(count * log_parts), base.reshape(count * log_parts)
    all_low = out_low.reshape(out_low.shape[0], count * log_parts)
    all_high = out_high.reshape(out_high.shape[0], count * log_parts)
    recorded = begin // per_bucket
    low, high = all_low[recorded], all_high[recorded]
    all_clients = clients * step_s / cycle_s if cycle_s > 0.0 else 0.0
    passes = run.service_per_s * step_s if run.service_per_s > 0.0 and run.send_buffered <= 0.0 else np.inf
    ahead = 1.0 + AHEAD_S / step_s
    for step in range(begin, end):
        bucket = step // per_bucket
        if bucket != recorded:
            low, high = all_low[bucket], all_high[bucket]
            recorded = bucket
        if run.stopped:
            wanted = offered[step] if cycle_s <= 0.0 else all_clients
            arrived, refused = _refuse_all(run, cluster, errors, first, step * step_s, wanted)
            cluster.offered += wanted
            cluster.attempted += arrived
            cluster.refused += refused
            out[bucket, OfCluster.OFFERED] += wanted
            out[bucket, OfCluster.ATTEMPTED] += arrived
            out[bucket, OfCluster.REFUSED] += refused
            out[bucket, OfCluster.WAITING] = 0.0
            if (step + 1) % per_bucket == 0 or step + 1 == end:
                _end_bucket(parts, node_state, errors, bucket, out_errors, out_last, out_log, out_node)
            continue
        most = offered[step] if cycle_s <= 0.0 else all_clients
        most = min(passes, most + cluster.retrying + cluster.sending) + cluster.waiting
        cluster.safe_steps -= 1.0
        short = False
        if cluster.safe_steps < 0.0 or most > cluster.safe_transactions:
            short = some_part_is_short(fill, made, stop, limit, lags, flat_load, flat_base, most, ahead)
            short = short and not has_room(nodes, load, base, parts, most, ahead, ahead)
            safe_steps = 0.0 if short else steps_with_room(nodes, load, base, parts, most) - ahead
            cluster.safe_steps, cluster.safe_transactions = safe_steps, most
        # In the first second buffers begin to fill. While the log or memory is full everything is refused.
        critical = (
            step < per_second
            or (short and not cluster.is_closed)
            or cluster.waiting > 0.0
            or (cluster.has_backlog and lag_watched and near_lag(nodes, parts))
            or (
                (cluster.has_backlog or cluster.alert_level > 0.0 or errors[Error.LOG] > 0.0)
                and (cluster.accepted_last > 0.0 or not cluster.is_full)
                and near_checkpoint(node_state, cluster, step_s)
            )
        )
        pieces = fine if critical else 1
        gcp_steps = per_gcp - step % per_gcp
        flushes = (gcp_steps - 1) * step_s < FLUSH_S - 1e-9
        hold = 0.0 if flushes else RUN_BYTES
        step_part = 1.0 / pieces
        dt = step_s * step_part
        service = run.service_per_s * dt
        held_pieces = run.held_s / dt
        again_part = min(1.0, dt / run.retry_s) if run.retry_share > 0.0 else 0.0
        for piece in range(pieces):
            now_s = step * step_s + piece * dt
            wanted = offered[step] * step_part if cycle_s <= 0.0 else 0.0
            if cycle_s > 0.0:
                # Each client sends when its last transaction is answered; whoever waits sends nothing.
                wanted = max(0.0, clients - cluster.waiting) * dt / cycle_s
            if run.job_transactions > 0.0:
                wanted = min(wanted, max(0.0, run.job_transactions - cluster.accepted - cluster.waiting))
            arrived = wanted
            if run.stands_still:
                # Clients wait for their answers and send nothing; an open load has nowhere to go.
                wanted = wanted if cycle_s <= 0.0 else 0.0
                arrived = 0.0
            elif again_part > 0.0:
                again = cluster.retrying * again_part
                cluster.retrying -= again
                arrived += again
            overloaded = 0.0
            if run.send_buffered > 0.0 and not run.stands_still:
                arrived, overloaded = _through_link(
                    run, cluster, errors, first, now_s, arrived, service, clients
                )
            elif service > 0.0:
                arrived = min(arrived, service)
            if run.disk_data_share > 0.0:
                arrived = min(arrived, overloaded + _served(nodes, node_state, arrived + cluster.waiting))
            # Retries of a closed loop are part of what its clients send.
            attempts = arrived + cluster.waiting if not run.stands_still else 0.0
            gated = overloaded
            if run.cut_off_share > 0.0:
                cut_off = (attempts - gated) * run.cut_off_share
                count_error(errors, first, now_s, Error.DOWN, cut_off, -1)
                gated += cut_off
            if cluster.is_full:
                gated += _gate(run, nodes, node_state, errors, first, now_s, attempts - gated)
            if (cluster.waiting + arrived * held_pieces > pool or too_large) and gated < attempts:
                gated += min(
                    attempts - gated,
                    _without_records(run, cluster, errors, first, now_s, arrived - overloaded, held_pieces),
                )
            open_attempts = attempts - gated
            accepted = open_attempts
            refused = gated
            if (critical or short) and not has_room(nodes, load, base, parts, open_attempts, 1.0, step_part):
                accepted, at_once = produce_blocked(
                    run, nodes, places, slots, alive, group_count, load, base, share,
                    parts, cluster, errors, first, open_attempts, now_s, queue, step_part,
                )  # fmt: skip
                refused += at_once
            else:
                produce(fill, made, carry, flat_load, flat_base, open_attempts, step_part)
                if run.copies:
                    parts[Part.BASE] += base * step_part
                if cluster.is_blocked:
                    parts[Part.OPEN, :, :] = 1.0
                    cluster.is_blocked = False
            if queue and not run.stands_still and (cluster.waiting > 0.0 or accepted + refused < attempts):
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
                    count_error(errors, first, now_s, Error.TIMEOUT, late, -1)
                    refused += late
                cluster.waiting = max(0.0, attempts - accepted - refused)
            if run.retry_share > 0.0:
                cluster.retrying += refused * run.retry_share
            cluster.offered += wanted
            cluster.attempted += arrived
            cluster.accepted += accepted
            cluster.accepted_last = accepted
            cluster.refused += refused
            cluster.is_full = _rows(run, nodes, node_state, accepted)
            if flushes:
                record_before_flush(fill, high)
            writing = cluster.lcp_writes
            demand(run, nodes, places, parts, node_state, work, attempts, hold, writing, dt)
            share_disks(disks, work, dt)
            ended = write(
                run, nodes, places, disk_start, disk_member, disks, weights, parts, fill, drained, limit,
                node_state, cluster, work, hold, writing, dt, bucket, out_disk, out_busy, out_node,
            )  # fmt: skip
            if gcp_steps == 1 and piece == pieces - 1:
                cluster.gcp_age_s = 0.0
                for n in range(count):
                    for p in range(log_parts):
                        parts[Part.DURABLE_BEFORE, n, p] = parts[Part.DURABLE, n, p]
                        parts[Part.DURABLE, n, p] = parts[Part.MADE, n, p] - parts[Part.FILL, n, p]
            else:
                cluster.gcp_age_s += dt
            if not writing:
                cluster.lcp_stage_left_s -= dt
            if ended or (not writing and cluster.lcp_stage_left_s <= 1e-9):
                checkpoint(run, nodes, parts, node_state, cluster)
            out[bucket, OfCluster.OFFERED] += wanted
            out[bucket, OfCluster.ATTEMPTED] += arrived
            out[bucket, OfCluster.ACCEPTED] += accepted
            out[bucket, OfCluster.REFUSED] += refused
            if writing:
                out[bucket, OfCluster.LCP_S] += dt
            cluster.has_backlog = backlog = _record_fill(fill, lags, low, high)
            if backlog and lag_watched:
                for n in range(count):
                    for p in range(log_parts):
                        watch_lag(nodes, parts, n, p, dt, run.lag_exit)
        cluster.is_closed = cluster.accepted_last <= 0.0 and not cluster.has_backlog
        out[bucket, OfCluster.WAITING] = cluster.waiting
        if (step + 1) % per_second == 0:
            each_second(
                run, nodes, ldm_of, weights, load, parts, node_state, targets, cluster, per_second * step_s
            )
        if (step + 1) % per_bucket == 0 or step + 1 == end:
            _end_bucket(parts, node_state, errors, bucket, out_errors, out_last, out_log, out_node)
