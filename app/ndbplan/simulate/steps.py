# mypy: allow-untyped-defs
"""The time-stepping kernel: redo buffers and logs, shared disks, checkpoints. Imported by `kernel` only.

Amounts of log are whole bytes (in float64), so what is written and what is held add up to the byte. Laws and
constants: measurements on a running 7.4.10 cluster whose disks were limited, and the NDB source, as named
where they are used.
"""

from __future__ import annotations

import numpy as np
from numba import float64, int64, njit

from ndbplan.simulate.columns import (
    C_ACCEPTED,
    C_ALERT,
    C_ATTEMPTED,
    C_BLOCKED,
    C_CHANGED_ANY,
    C_LCP_NUMBER,
    C_LCP_PHASE,
    C_LCP_STAGE,
    C_LCP_STAGE_S,
    C_OFFERED,
    C_RANDOM,
    C_REFUSED,
    C_TIME_STEPS,
    C_WAITING,
    E_BUFFER,
    E_FILE,
    E_LAG,
    E_LOG,
    E_TIMEOUT,
    I_GROUP,
    I_LCP_DISK,
    I_ON_LCP_DISK,
    I_ON_REDO_DISK,
    I_REDO_DISK,
    I_SLOT,
    N_ABORT_SHARE,
    N_ADAPTIVE,
    N_BUFFER_LIMIT,
    N_CHANGED,
    N_DEVICE_FACTOR,
    N_FILE_BYTES,
    N_FILE_OPEN_AFTER,
    N_FRAGMENTS,
    N_INSERTED,
    N_LAG_COUNT,
    N_LAG_LIMIT_S,
    N_LCP_FACTOR,
    N_LCP_MAX,
    N_LCP_MAX_OTHER,
    N_LCP_MAX_OWN,
    N_LCP_MIN,
    N_LDMS,
    N_LOG_BYTES,
    N_LOG_LIMIT,
    N_PARTIAL,
    N_RECOVERY_WORK,
    N_REDO_CONTROL,
    O_ACCEPTED,
    O_ATTEMPTED,
    O_LCP,
    O_OFFERED,
    O_REFUSED,
    O_WAITING,
    P_CARRY,
    P_DRAINED,
    P_DURABLE,
    P_DURABLE_BEFORE,
    P_FILE_END,
    P_FILL,
    P_FLAG,
    P_GRANT,
    P_LAG_S,
    P_LCP_NEXT,
    P_LCP_START,
    P_MADE,
    P_MARK,
    P_OPEN,
    P_SPEED,
    P_STOP,
    P_TAIL,
    P_WASTED,
    R_CLIENTS,
    R_COVERAGE,
    R_CYCLE_S,
    R_DOOMED,
    R_GROWS,
    R_LCP_THRESHOLD,
    R_QUEUE_STEPS,
    R_SPAN_MORE,
    R_STEP_S,
    R_STEPS_PER_BUCKET,
    R_STEPS_PER_GCP,
    R_STEPS_PER_SECOND,
    R_UNEVEN,
    S_CHANGED,
    S_DATA,
    S_LCP_CHANGED,
    S_LCP_FRAGMENTS,
    S_LCP_LEFT,
    S_LCP_TARGET,
    S_LCP_WRITTEN,
    W_LCP,
    W_REDO,
)  # fmt: skip

RUN_BYTES = 131072.0
"""Half of the 256 KiB that a log part collects before it writes: what a buffer holds on average."""
SHARE_REDO_ALONE = 0.99
LCP_STAGES = 5.0
"""Flushes of the log that follow one another between two checkpoints (measured: 2 s + 4.3 flushes)."""
LCP_STAGE_S = 0.5
OPEN_ROUNDS = 8
LAG_EXIT = 1.18
"""Speed of a good second against the mean: what ends a refusal because of lag."""
LAG_AFTER_EXIT_S = 1.0
LAG_TARGET_S = 2.0
ALERT_LOW, ALERT_HIGH, ALERT_CRITICAL = 0.25, 0.40, 0.60
LCP_PARTS = 2048.0


@njit(cache=True, nogil=True, inline="always")
def _random(cluster):
    """Next number in [0, 1) of the run's generator (xorshift32, kept as a float)."""
    x = np.uint32(cluster[C_RANDOM])
    x ^= np.uint32(x << np.uint32(13))
    x ^= np.uint32(x >> np.uint32(17))
    x ^= np.uint32(x << np.uint32(5))
    cluster[C_RANDOM] = float(x)
    return float(x) / 4294967296.0


@njit(cache=True, nogil=True)
def _normal(cluster):
    """A number that is nearly normal: twelve uniform ones added."""
    total = -6.0
    for _ in range(12):
        total += _random(cluster)
    return total


@njit(cache=True, nogil=True)
def _blame(errors, first, now_s, code, count, node):
    if count <= 0.0:
        return
    if errors[code] == 0.0:
        first[code, 0] = now_s
        first[code, 1] = node
    errors[code] += count


@njit(cache=True, nogil=True)
def _open_files(nodes, parts, n, p):
    """Move a part to its next log file when that is open, and find where it must stop."""
    made = parts[P_MADE, n, p]
    end = parts[P_FILE_END, n, p]
    on_disk = made - parts[P_FILL, n, p]
    if on_disk >= end - nodes[n, N_FILE_BYTES] + nodes[n, N_FILE_OPEN_AFTER]:
        end += nodes[n, N_FILE_BYTES]
        parts[P_FILE_END, n, p] = end
    log_end = parts[P_TAIL, n, p] + nodes[n, N_LOG_LIMIT]
    parts[P_STOP, n, p] = min(end, log_end)


@njit(cache=True, nogil=True)
def _why_closed(nodes, parts, n, p):
    """Error of a part that takes no more work: what it has least room for."""
    if parts[P_FLAG, n, p] > 0.0:
        return E_LAG
    buffer = nodes[n, N_BUFFER_LIMIT] - parts[P_FILL, n, p]
    file = parts[P_FILE_END, n, p] - parts[P_MADE, n, p]
    log = parts[P_TAIL, n, p] + nodes[n, N_LOG_LIMIT] - parts[P_MADE, n, p]
    if log <= buffer and log <= file:
        return E_LOG
    return E_FILE if file < buffer else E_BUFFER


@njit(cache=True, nogil=True)
def _reach(parts, slots, group, slot, replicas, p):
    """Share of a part's work that reaches this replica: each replica is first in the chain equally often."""
    reach = 1.0
    total = 1.0
    for back in range(1, replicas):
        before = slots[group, (slot - back) % replicas]
        reach *= parts[P_OPEN, before, p]
        total += reach
    return total / replicas


@njit(cache=True, nogil=True)
def _openness(nodes, index, slots, load, parts, attempts, queue):
    """How much of its work each part can take in this step, as a share, into P_GRANT and P_OPEN.

    What reaches a replica depends on how open those before it in the chain are: found by some rounds, each
    half a step towards the next value.
    """
    count, log_parts = load.shape
    replicas = slots.shape[1]
    for n in range(count):
        for p in range(log_parts):
            parts[P_GRANT, n, p] = 1.0
            if load[n, p] > 0.0:
                _open_files(nodes, parts, n, p)
    rounds = OPEN_ROUNDS if replicas > 1 and not queue else 1
    for _ in range(rounds):
        for n in range(count):
            limit = nodes[n, N_BUFFER_LIMIT]
            for p in range(log_parts):
                need = attempts * load[n, p]
                if need <= 0.0:
                    continue
                room = min(limit - parts[P_FILL, n, p], parts[P_STOP, n, p] - parts[P_MADE, n, p])
                if parts[P_FLAG, n, p] > 0.0 or room <= 0.0:
                    parts[P_GRANT, n, p] = 0.0
                    continue
                if rounds > 1:
                    need *= _reach(parts, slots, index[n, I_GROUP], index[n, I_SLOT], replicas, p)
                parts[P_GRANT, n, p] = min(1.0, room / need) if need > 0.0 else 1.0
        for n in range(count):
            for p in range(log_parts):
                if rounds > 1 and parts[P_GRANT, n, p] > 0.0:
                    parts[P_OPEN, n, p] = 0.5 * (parts[P_OPEN, n, p] + parts[P_GRANT, n, p])
                else:
                    parts[P_OPEN, n, p] = parts[P_GRANT, n, p]
    for n in range(count):
        for p in range(log_parts):
            parts[P_GRANT, n, p] = parts[P_OPEN, n, p]
            need = attempts * load[n, p]
            if rounds > 1 and need > 0.0:
                need *= _reach(parts, slots, index[n, I_GROUP], index[n, I_SLOT], replicas, p)
                room = nodes[n, N_BUFFER_LIMIT] - parts[P_FILL, n, p]
                room = max(0.0, min(room, parts[P_STOP, n, p] - parts[P_MADE, n, p]))
                if need * parts[P_GRANT, n, p] > room:
                    parts[P_GRANT, n, p] = room / need


@njit(cache=True, nogil=True)
def _accepted_share(run, slots, group_count, share, parts, queue):
    """(share of transactions that find all their parts open, the same for those that meet every part).

    A transaction of one row meets one part, one of many rows meets all of them.
    """
    replicas = slots.shape[1]
    mean = 0.0
    known = 0.0
    lowest = 1.0
    together = 1.0
    for g in range(slots.shape[0]):
        for p in range(share.shape[1]):
            if share[g, p] <= 0.0:
                continue
            is_open = 1.0
            for r in range(replicas):
                one = parts[P_GRANT, slots[g, r], p]
                is_open = min(is_open, one) if queue else is_open * one
            known += share[g, p]
            mean += share[g, p] * is_open
            together *= is_open ** group_count[g]
            lowest = min(lowest, is_open)
    mean += max(0.0, 1.0 - known)
    coverage = run[R_COVERAGE]
    together = lowest if queue else together
    return (1.0 - coverage) * mean + coverage * together, together


@njit(cache=True, nogil=True)
def _produce_blocked(
    run, nodes, index, slots, group_count, load, share, parts, cluster, errors, first, attempts, now_s, queue
):
    """Production of a step in which at least one part cannot take all its work.

    Returns (accepted, refused at once) transactions. Without queueing a row is written by every replica
    before the one that refuses it, and a transaction of which one row is refused is undone everywhere: that
    log is wasted. With queueing work waits, except for 410, which always aborts.
    """
    count, log_parts = load.shape
    replicas = slots.shape[1]
    _openness(nodes, index, slots, load, parts, attempts, queue)
    accepted_share, together = _accepted_share(run, slots, group_count, share, parts, queue)
    accepted = attempts * accepted_share
    coverage = run[R_COVERAGE]
    blame_all = 0.0
    blame_log = 0.0
    all_open = True
    for n in range(count):
        for p in range(log_parts):
            if load[n, p] <= 0.0:
                continue
            taken = parts[P_GRANT, n, p]
            if taken < 1.0:
                all_open = False
                blame = (1.0 - taken) * share[index[n, I_GROUP], p]
                blame_all += blame
                if _why_closed(nodes, parts, n, p) == E_LOG:
                    blame_log += blame
    refused = attempts - accepted
    if queue:
        refused = refused * blame_log / blame_all if blame_all > 0.0 else 0.0
    for n in range(count):
        for p in range(log_parts):
            if load[n, p] <= 0.0:
                continue
            taken = parts[P_GRANT, n, p]
            why = _why_closed(nodes, parts, n, p)
            if taken < 1.0 and refused > 0.0:
                blame = (1.0 - taken) * share[index[n, I_GROUP], p]
                if not queue:
                    _blame(errors, first, now_s, why, refused * blame / blame_all, n)
                elif why == E_LOG:
                    _blame(errors, first, now_s, why, refused * blame / blame_log, n)
            if queue:
                least = taken
                for r in range(replicas):
                    least = min(least, parts[P_GRANT, slots[index[n, I_GROUP], r], p])
                amount = attempts * load[n, p] * ((1.0 - coverage) * least + coverage * together)
                useful = amount
            else:
                reached = _reach(parts, slots, index[n, I_GROUP], index[n, I_SLOT], replicas, p)
                written = attempts * load[n, p] * reached * taken
                is_open = 1.0
                for r in range(replicas):
                    is_open *= parts[P_GRANT, slots[index[n, I_GROUP], r], p]
                useful = attempts * load[n, p] * ((1.0 - coverage) * is_open + coverage * together)
                useful = min(useful, written)
                amount = useful + (written - useful) * nodes[n, N_ABORT_SHARE] * run[R_DOOMED]
            exact = amount + parts[P_CARRY, n, p]
            whole = np.floor(exact)
            parts[P_CARRY, n, p] = exact - whole
            parts[P_FILL, n, p] += whole
            parts[P_MADE, n, p] += whole
            parts[P_WASTED, n, p] += amount - useful
            cluster[C_CHANGED_ANY] += whole
    cluster[C_BLOCKED] = 0.0 if all_open else 1.0
    return accepted, refused


@njit(cache=True, nogil=True)
def _produce(nodes, load, parts, cluster, attempts):
    """Production of a step in which every part takes all its work. Returns False when one cannot."""
    count, log_parts = load.shape
    for n in range(count):
        limit = nodes[n, N_BUFFER_LIMIT]
        for p in range(log_parts):
            need = attempts * load[n, p]
            if need > 0.0 and (
                parts[P_FILL, n, p] + need > limit
                or parts[P_MADE, n, p] + need > parts[P_STOP, n, p]
                or parts[P_FLAG, n, p] > 0.0
            ):
                _open_files(nodes, parts, n, p)
                if (
                    parts[P_FILL, n, p] + need > limit
                    or parts[P_MADE, n, p] + need > parts[P_STOP, n, p]
                    or parts[P_FLAG, n, p] > 0.0
                ):
                    return False
    total = 0.0
    for n in range(count):
        for p in range(log_parts):
            exact = attempts * load[n, p] + parts[P_CARRY, n, p]
            whole = np.floor(exact)
            parts[P_CARRY, n, p] = exact - whole
            parts[P_FILL, n, p] += whole
            parts[P_MADE, n, p] += whole
            total += whole
    cluster[C_CHANGED_ANY] += total
    return True


@njit(cache=True, nogil=True)
def _drain(parts, index, weights, capacity, disk, hold):
    """Give a disk's capacity (bytes of log) to the parts that wait for it; returns what was written.

    Each part has one write under way and the disk serves them in turn, so each gets as much as the next
    until it has nothing left; `weights` is the small unevenness between parts.
    """
    count, log_parts = parts.shape[1], parts.shape[2]
    left = capacity
    for n in range(count):
        if index[n, I_REDO_DISK] == disk:
            for p in range(log_parts):
                parts[P_GRANT, n, p] = 0.0
    for _ in range(8):
        weight = 0.0
        for n in range(count):
            if index[n, I_REDO_DISK] == disk:
                for p in range(log_parts):
                    if parts[P_FILL, n, p] - hold - parts[P_GRANT, n, p] >= 1.0:
                        weight += weights[p] * index[n, I_ON_REDO_DISK]
        if weight <= 0.0 or left < 1.0:
            break
        level = left / weight
        some_done = False
        for n in range(count):
            if index[n, I_REDO_DISK] == disk:
                for p in range(log_parts):
                    waiting = parts[P_FILL, n, p] - hold - parts[P_GRANT, n, p]
                    if waiting >= 1.0:
                        grant = level * weights[p]
                        if grant >= waiting:
                            grant = waiting
                            some_done = True
                        grant = np.floor(grant)
                        parts[P_GRANT, n, p] += grant
                        left -= grant * index[n, I_ON_REDO_DISK]
        if not some_done:
            break
    for n in range(count):
        if index[n, I_REDO_DISK] == disk:
            for p in range(log_parts):
                parts[P_FILL, n, p] -= parts[P_GRANT, n, p]
                parts[P_DRAINED, n, p] += parts[P_GRANT, n, p]
    return capacity - left


@njit(cache=True, nogil=True)
def _drain_all(parts, index, disk, hold):
    """Write everything the parts on a disk hold beyond `hold`."""
    for n in range(parts.shape[1]):
        if index[n, I_REDO_DISK] == disk:
            for p in range(parts.shape[2]):
                waiting = parts[P_FILL, n, p] - hold
                if waiting > 0.0:
                    parts[P_FILL, n, p] = hold
                    parts[P_DRAINED, n, p] += waiting


@njit(cache=True, nogil=True)
def _next_fragments(nodes, node_state, n):
    """Begin the next fragment of every LDM thread: it is written as large as it is now.

    Rows inserted before a fragment's turn are written with it, later ones are not (7.4.10: bytes of
    checkpoints during inserts). Size: full, or partial from 7.6 (manual, NDB source).
    """
    data = node_state[S_DATA, n]
    if nodes[n, N_PARTIAL] > 0.0 and data > 0.0:
        changed = min(1.0, node_state[S_LCP_CHANGED, n] / data)
        k = 1.5 * changed
        full = min(1.0, (1.0 + np.floor(LCP_PARTS * k / (k + nodes[n, N_RECOVERY_WORK]))) / LCP_PARTS)
        data = data * full + min(data, node_state[S_LCP_CHANGED, n]) * (1.0 - full)
    node_state[S_LCP_LEFT, n] = np.floor(data * nodes[n, N_LCP_FACTOR] / nodes[n, N_FRAGMENTS])
    node_state[S_LCP_FRAGMENTS, n] -= 1.0


@njit(cache=True, nogil=True)
def _checkpoint(run, nodes, parts, node_state, cluster):
    """Start, pause and end of checkpoints, one for the whole cluster at a time."""
    count, log_parts = parts.shape[1], parts.shape[2]
    if cluster[C_LCP_PHASE] > 0.0:
        running = False
        for n in range(count):
            while node_state[S_LCP_LEFT, n] <= 0.0 and node_state[S_LCP_FRAGMENTS, n] > 0.0:
                _next_fragments(nodes, node_state, n)
            running = running or node_state[S_LCP_LEFT, n] > 0.0
        if running:
            return
        cluster[C_LCP_PHASE] = 0.0
        cluster[C_LCP_STAGE] = LCP_STAGES
        cluster[C_LCP_STAGE_S] = LCP_STAGE_S
        for n in range(count):
            for p in range(log_parts):
                parts[P_MARK, n, p] = parts[P_MADE, n, p]
        return
    cluster[C_LCP_STAGE_S] -= run[R_STEP_S]
    if cluster[C_LCP_STAGE_S] > 1e-9:
        return
    if cluster[C_LCP_STAGE] > 0.0:
        for n in range(count):
            for p in range(log_parts):
                if parts[P_MADE, n, p] - parts[P_FILL, n, p] + RUN_BYTES < parts[P_MARK, n, p]:
                    return
        cluster[C_LCP_STAGE] -= 1.0
        cluster[C_LCP_STAGE_S] = LCP_STAGE_S
        if cluster[C_LCP_STAGE] > 0.0:
            for n in range(count):
                for p in range(log_parts):
                    parts[P_MARK, n, p] = parts[P_MADE, n, p]
            return
        # The log that the checkpoint just completed makes superfluous is free now.
        for n in range(count):
            for p in range(log_parts):
                parts[P_TAIL, n, p] = max(parts[P_TAIL, n, p], parts[P_LCP_START, n, p])
                _open_files(nodes, parts, n, p)
    if cluster[C_CHANGED_ANY] < run[R_LCP_THRESHOLD] and cluster[C_LCP_NUMBER] > 0.0:
        return
    cluster[C_CHANGED_ANY] = 0.0
    cluster[C_LCP_NUMBER] += 1.0
    cluster[C_LCP_PHASE] = 1.0
    for n in range(count):
        node_state[S_LCP_CHANGED, n] = node_state[S_CHANGED, n]
        node_state[S_CHANGED, n] = 0.0
        node_state[S_LCP_FRAGMENTS, n] = nodes[n, N_FRAGMENTS]
        _next_fragments(nodes, node_state, n)
        for p in range(log_parts):
            if run[R_SPAN_MORE] > 0.0:
                parts[P_LCP_START, n, p] = parts[P_LCP_NEXT, n, p]
                parts[P_LCP_NEXT, n, p] = parts[P_DURABLE_BEFORE, n, p]
            else:
                parts[P_LCP_START, n, p] = parts[P_DURABLE_BEFORE, n, p]


@njit(cache=True, nogil=True)
def _each_second(run, nodes, ldm_of, weights, load, parts, node_state, targets, cluster, elapsed_s):
    """What the product looks at once a second: lag of the log, speed of checkpoints, alert level."""
    count, log_parts = parts.shape[1], parts.shape[2]
    worst = 0.0
    for n in range(count):
        ldms = int(nodes[n, N_LDMS])
        for p in range(log_parts):
            parts[P_SPEED, n, p] = parts[P_DRAINED, n, p] / elapsed_s
            parts[P_DRAINED, n, p] = 0.0
            if load[n, p] > 0.0:
                worst = max(worst, (parts[P_MADE, n, p] - parts[P_TAIL, n, p]) / nodes[n, N_LOG_BYTES])
        low = nodes[n, N_LCP_MIN]
        high = nodes[n, N_LCP_MAX]
        if nodes[n, N_REDO_CONTROL] > 0.0:
            if cluster[C_ALERT] >= 3.0:
                low = nodes[n, N_LCP_MAX_OWN]
                high = low
            elif cluster[C_ALERT] >= 2.0:
                high = nodes[n, N_LCP_MAX_OTHER]
                low = min(high, 2.0 * low)
        total = 0.0
        for ldm in range(ldms):
            held = 0.0
            speed = 0.0
            for p in range(log_parts):
                if ldm_of[n, p] == ldm:
                    held += parts[P_FILL, n, p]
                    speed += parts[P_SPEED, n, p]
            target = targets[n, ldm]
            if nodes[n, N_ADAPTIVE] > 0.0:
                if held > RUN_BYTES * 2.0 and held >= LAG_TARGET_S * speed:
                    target -= (high - low) / (7.0 * ldms) * elapsed_s
                else:
                    target += (high - low) / (12.0 * ldms) * elapsed_s
                target = min(high / ldms, max(low / ldms, target))
            else:
                target = high / ldms
            targets[n, ldm] = target
            total += target
        node_state[S_LCP_TARGET, n] = total
    level = 0.0
    if worst > ALERT_CRITICAL:
        level = 3.0
    elif worst > ALERT_HIGH:
        level = 2.0
    elif worst > ALERT_LOW:
        level = 1.0
    cluster[C_ALERT] = level
    if run[R_UNEVEN] > 0.0:
        keep = 0.95
        for p in range(log_parts):
            drift = keep * (weights[p] - 1.0) + np.sqrt(1.0 - keep * keep) * run[R_UNEVEN] * _normal(cluster)
            weights[p] = min(1.5, max(0.5, 1.0 + drift))


@njit(cache=True, nogil=True)
def _lag(nodes, parts, n, p, step_s):
    """Refuse work of a part whose buffer takes too long to write (1234), and take it again."""
    limit = nodes[n, N_LAG_LIMIT_S]
    speed = max(parts[P_SPEED, n, p], 1.0)
    lag = parts[P_FILL, n, p] / speed
    if parts[P_FLAG, n, p] > 0.0:
        if lag <= limit * LAG_EXIT:
            parts[P_FLAG, n, p] = 0.0
            parts[P_LAG_S, n, p] = LAG_AFTER_EXIT_S
    elif lag > limit and parts[P_FILL, n, p] > 4.0 * RUN_BYTES:
        parts[P_LAG_S, n, p] += step_s
        if parts[P_LAG_S, n, p] >= nodes[n, N_LAG_COUNT]:
            parts[P_FLAG, n, p] = 1.0
    else:
        parts[P_LAG_S, n, p] = 0.0


@njit(cache=True, nogil=True)
def advance(
    begin, end, run, nodes, index, slots, group_count, ldm_of, load, share, disks, offered,
    parts, node_state, targets, weights, cluster, waiting, errors, first,
    out, out_errors, out_low, out_high, out_last, out_log, out_disk, out_busy,
):  # fmt: skip
    """Run the steps begin..end of a scenario; state arrays are changed, buckets are filled."""
    count, log_parts = load.shape
    disk_count = disks.shape[0]
    step_s = run[R_STEP_S]
    per_second = int(run[R_STEPS_PER_SECOND])
    per_gcp = int(run[R_STEPS_PER_GCP])
    per_bucket = int(run[R_STEPS_PER_BUCKET])
    queue_steps = int(run[R_QUEUE_STEPS])
    queue = queue_steps > 0
    clients = run[R_CLIENTS]
    cycle_s = run[R_CYCLE_S]
    lag_watched = nodes[0, N_LAG_LIMIT_S] > 0.0
    for step in range(begin, end):
        now_s = step * step_s
        bucket = step // per_bucket
        attempts = offered[step] if cycle_s <= 0.0 else clients * step_s / cycle_s
        wanted = attempts
        if queue and cycle_s > 0.0:
            # Whoever waits sends nothing.
            attempts = max(0.0, clients - cluster[C_WAITING]) * step_s / cycle_s
        arrived = attempts
        attempts += cluster[C_WAITING]
        accepted = attempts
        refused = 0.0
        if not _produce(nodes, load, parts, cluster, attempts):
            accepted, refused = _produce_blocked(
                run,
                nodes,
                index,
                slots,
                group_count,
                load,
                share,
                parts,
                cluster,
                errors,
                first,
                attempts,
                now_s,
                queue,
            )
        elif cluster[C_BLOCKED] > 0.0:
            parts[P_OPEN, :, :] = 1.0
            cluster[C_BLOCKED] = 0.0
        if queue and clients > 0.0 and attempts - accepted - refused > clients:
            # All clients wait: what they would have sent is not sent.
            unsent = min(arrived, attempts - accepted - refused - clients)
            arrived -= unsent
            attempts -= unsent
        if queue:
            # First in, first out: the oldest are served first; who waits longer than the time-out fails.
            done = accepted + refused
            slot = step % queue_steps
            late = waiting[slot]
            oldest = min(late, done)
            late -= oldest
            waiting[slot] = arrived
            done -= oldest
            if done > 0.0:
                for back in range(1, queue_steps + 1):
                    at = (slot + back) % queue_steps
                    taken = min(waiting[at], done)
                    waiting[at] -= taken
                    done -= taken
                    if done <= 0.0:
                        break
            if late > 1e-9:
                _blame(errors, first, now_s, E_TIMEOUT, late, -1)
                refused += late
            cluster[C_WAITING] = max(0.0, attempts - accepted - refused)
        cluster[C_OFFERED] += wanted
        cluster[C_ATTEMPTED] += arrived
        cluster[C_ACCEPTED] += accepted
        cluster[C_REFUSED] += refused
        # Disks.
        gcp = (step + 1) % per_gcp == 0
        hold = 0.0 if gcp else RUN_BYTES
        writing = cluster[C_LCP_PHASE] > 0.0
        for disk in range(disk_count):
            capacity = disks[disk, 0] * step_s
            demand = 0.0
            factor = 1.0
            for n in range(count):
                if index[n, I_REDO_DISK] == disk:
                    factor = nodes[n, N_DEVICE_FACTOR]
                    waits = 0.0
                    for p in range(log_parts):
                        over = parts[P_FILL, n, p] - hold
                        if over > 0.0:
                            waits += over
                    demand += waits * index[n, I_ON_REDO_DISK]
            demand *= factor
            heavy = 0.0
            if writing:
                for n in range(count):
                    if index[n, I_LCP_DISK] == disk and node_state[S_LCP_LEFT, n] > 0.0:
                        one = min(node_state[S_LCP_TARGET, n] * step_s, node_state[S_LCP_LEFT, n])
                        heavy += one * index[n, I_ON_LCP_DISK]
            usable = SHARE_REDO_ALONE * capacity
            if demand + heavy <= usable:
                if demand > 0.0:
                    _drain_all(parts, index, disk, hold)
                redo = demand
                lcp = heavy
            else:
                lcp = min(heavy, disks[disk, 1] * capacity)
                redo = min(demand, usable - lcp)
                lcp = min(heavy, usable - redo)
                if redo > 0.0:
                    redo = _drain(parts, index, weights, redo / factor, disk, hold) * factor
            if heavy > 0.0:
                fraction = lcp / heavy
                for n in range(count):
                    if index[n, I_LCP_DISK] == disk and node_state[S_LCP_LEFT, n] > 0.0:
                        one = min(node_state[S_LCP_TARGET, n] * step_s, node_state[S_LCP_LEFT, n])
                        one = min(node_state[S_LCP_LEFT, n], np.ceil(one * fraction))
                        node_state[S_LCP_LEFT, n] -= one
                        node_state[S_LCP_WRITTEN, n] += one
            out_disk[bucket, disk, W_REDO] += redo
            out_disk[bucket, disk, W_LCP] += lcp
            busy = (redo + lcp) / capacity
            if busy > out_busy[bucket, disk]:
                out_busy[bucket, disk] = busy
        # Rows.
        for n in range(count):
            grown = run[R_GROWS] * accepted * nodes[n, N_INSERTED]
            node_state[S_DATA, n] = max(0.0, node_state[S_DATA, n] + grown)
            node_state[S_CHANGED, n] += accepted * nodes[n, N_CHANGED]
        if gcp:
            for n in range(count):
                for p in range(log_parts):
                    parts[P_DURABLE_BEFORE, n, p] = parts[P_DURABLE, n, p]
                    parts[P_DURABLE, n, p] = parts[P_MADE, n, p] - parts[P_FILL, n, p]
        _checkpoint(run, nodes, parts, node_state, cluster)
        if lag_watched:
            for n in range(count):
                for p in range(log_parts):
                    if parts[P_FILL, n, p] > 4.0 * RUN_BYTES or parts[P_FLAG, n, p] > 0.0:
                        _lag(nodes, parts, n, p, step_s)
        if (step + 1) % per_second == 0:
            _each_second(
                run, nodes, ldm_of, weights, load, parts, node_state, targets, cluster, per_second * step_s
            )
        # Record.
        out[bucket, O_OFFERED] += wanted
        out[bucket, O_ATTEMPTED] += arrived
        out[bucket, O_ACCEPTED] += accepted
        out[bucket, O_REFUSED] += refused
        out[bucket, O_WAITING] = cluster[C_WAITING]
        if writing:
            out[bucket, O_LCP] += step_s
        for n in range(count):
            for p in range(log_parts):
                fill = parts[P_FILL, n, p]
                if fill < out_low[bucket, n, p]:
                    out_low[bucket, n, p] = fill
                if fill > out_high[bucket, n, p]:
                    out_high[bucket, n, p] = fill
        if (step + 1) % per_bucket == 0 or step + 1 == end:
            for code in range(errors.shape[0]):
                out_errors[bucket, code] = errors[code]
            for n in range(count):
                for p in range(log_parts):
                    out_last[bucket, n, p] = parts[P_FILL, n, p]
                    out_log[bucket, n, p] = parts[P_MADE, n, p] - parts[P_TAIL, n, p]
    cluster[C_TIME_STEPS] = end


_A1, _A2, _A3 = float64[::1], float64[:, ::1], float64[:, :, ::1]
_I2 = int64[:, ::1]
SIGNATURE = (
    int64, int64, _A1, _A2, _I2, _I2, _A1, _I2, _A2, _A2, _A2, _A1,
    _A3, _A2, _A2, _A1, _A1, _A1, _A1, _A2,
    _A2, _A2, _A3, _A3, _A3, _A3, _A3, _A2,
)  # fmt: skip
"""Types of `advance`'s arguments: one version is compiled, and kept on disk."""
