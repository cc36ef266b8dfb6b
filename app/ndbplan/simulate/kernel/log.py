# mypy: allow-untyped-defs
"""Kernel, part 1: log that transactions produce, what refuses it, and how it gets to disk.

Amounts of log are whole bytes (in float64), so what is written and what is held add up to the byte.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ndbplan.simulate.columns import (
    C_BLOCKED,
    E_BUFFER,
    E_FILE,
    E_LAG,
    E_LOG,
    I_GROUP,
    I_SLOT,
    N_ABORT_SHARE,
    N_BUFFER_LIMIT,
    N_FILE_BYTES,
    N_FILE_OPEN_AFTER,
    N_LAG_COUNT,
    N_LAG_LIMIT_S,
    N_LOG_LIMIT,
    P_BASE,
    P_CARRY,
    P_DRAINED,
    P_FILE_END,
    P_FILL,
    P_GRANT,
    P_LAG_S,
    P_LAGS,
    P_LIMIT,
    P_MADE,
    P_OPEN,
    P_SPEED,
    P_STOP,
    P_TAIL,
    P_WASTED,
    R_COVERAGE,
    R_DOOMED,
)

RUN_BYTES = 131072.0
"""Half of the 256 KiB that a log part collects before it writes: what a buffer holds on average."""
OPEN_ROUNDS = 8
SETTLED = 1e-6
"""Change of a share from one round to the next below which more rounds change nothing that counts."""
LAG_AFTER_EXIT_S = 1.0
LAG_NEAR = 0.9
"""Share of the lag that is refused from which on steps are taken in pieces."""
SHARE_ROUNDS = 8
DOOMED_LEAST = 0.3
"""Least root of the accepted share that counts for what undone transactions write [7.4.10]."""
DOOMED_AT_FILE_END = 0.27
"""What undone transactions write while a file change holds a part up, against other refusals [7.4.10]."""


@njit(cache=True, nogil=True)
def blame(errors, first, now_s, code, count, node):
    """Count refused transactions, and remember when and where the first one was."""
    if count > 0.0:
        if errors[code] == 0.0:
            first[code, 0] = now_s
            first[code, 1] = node
        errors[code] += count


@njit(cache=True, nogil=True)
def open_files(nodes, parts, n, p):
    """Move a part to its next log file when that is open, and find where it must stop."""
    end = parts[P_FILE_END, n, p]
    on_disk = parts[P_MADE, n, p] - parts[P_FILL, n, p]
    if on_disk >= end - nodes[n, N_FILE_BYTES] + nodes[n, N_FILE_OPEN_AFTER]:
        end += nodes[n, N_FILE_BYTES]
        parts[P_FILE_END, n, p] = end
    parts[P_STOP, n, p] = min(end, parts[P_TAIL, n, p] + nodes[n, N_LOG_LIMIT])


@njit(cache=True, nogil=True)
def _room(parts, n, p):
    """Bytes of log a part can take now."""
    if parts[P_LAGS, n, p] > 0.0:
        return 0.0
    room = parts[P_LIMIT, n, p] - parts[P_FILL, n, p]
    return max(0.0, min(room, parts[P_STOP, n, p] - parts[P_MADE, n, p]))


@njit(cache=True, nogil=True)
def _why_closed(nodes, parts, n, p):
    """Error of a part that takes no more work: what it has least room for.

    What the disk writes during the step makes room in the buffer: as much as in the step before.
    """
    if parts[P_LAGS, n, p] > 0.0:
        return E_LAG
    buffer = parts[P_LIMIT, n, p] - parts[P_FILL, n, p]
    file = parts[P_FILE_END, n, p] - parts[P_MADE, n, p]
    log = parts[P_TAIL, n, p] + nodes[n, N_LOG_LIMIT] - parts[P_MADE, n, p]
    if log <= buffer and log <= file:
        return E_LOG
    return E_FILE if file < buffer else E_BUFFER


@njit(cache=True, nogil=True)
def _reach(parts, slots, alive, group, slot, p):
    """Share of a part's work that reaches this replica: each replica is first in the chain equally often."""
    replicas = alive[group]
    reach = 1.0
    total = 1.0
    for back in range(1, replicas):
        before = slots[group, (slot - back) % replicas]
        reach *= parts[P_OPEN, before, p]
        total += reach
    return total / replicas


@njit(cache=True, nogil=True)
def _openness(nodes, index, slots, alive, load, parts, attempts, queue):
    """How much of its work each part can take in this step, as a share, into P_GRANT and P_OPEN.

    What reaches a replica depends on how open those before it in the chain are: found by some rounds, each
    half a step towards the next value.
    """
    count, log_parts = load.shape
    rounds = 1 if queue or slots.shape[1] < 2 else OPEN_ROUNDS
    for n in range(count):
        for p in range(log_parts):
            parts[P_GRANT, n, p] = 1.0
            if load[n, p] > 0.0:
                open_files(nodes, parts, n, p)
    for _ in range(rounds):
        for n in range(count):
            for p in range(log_parts):
                need = attempts * load[n, p]
                if need <= 0.0:
                    continue
                if rounds > 1:
                    need *= _reach(parts, slots, alive, index[n, I_GROUP], index[n, I_SLOT], p)
                room = _room(parts, n, p)
                parts[P_GRANT, n, p] = 1.0 if need <= room else room / need
        moved = 0.0
        for n in range(count):
            for p in range(log_parts):
                before = parts[P_OPEN, n, p]
                if rounds > 1 and parts[P_GRANT, n, p] > 0.0:
                    parts[P_OPEN, n, p] = 0.5 * (before + parts[P_GRANT, n, p])
                else:
                    parts[P_OPEN, n, p] = parts[P_GRANT, n, p]
                moved = max(moved, abs(parts[P_OPEN, n, p] - before))
        if moved <= SETTLED:
            break
    for n in range(count):
        for p in range(log_parts):
            need = attempts * load[n, p]
            parts[P_GRANT, n, p] = parts[P_OPEN, n, p]
            if rounds > 1 and need > 0.0:
                need *= _reach(parts, slots, alive, index[n, I_GROUP], index[n, I_SLOT], p)
                room = _room(parts, n, p)
                if need <= room:
                    parts[P_GRANT, n, p] = 1.0
                elif need * parts[P_GRANT, n, p] > room:
                    parts[P_GRANT, n, p] = room / need


@njit(cache=True, nogil=True)
def _accepted_share(run, slots, alive, group_count, share, parts, queue):
    """(share of transactions that find all their parts open, the same for those that meet every part).

    A transaction of one row meets one part, one of many rows meets all of them.
    """
    mean = 0.0
    known = 0.0
    lowest = 1.0
    together = 1.0
    for g in range(slots.shape[0]):
        for p in range(share.shape[1]):
            if share[g, p] <= 0.0:
                continue
            is_open = 1.0
            for r in range(alive[g]):
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
def _put(parts, n, p, amount):
    """Add log to a part, in whole bytes."""
    exact = amount + parts[P_CARRY, n, p]
    whole = np.floor(exact)
    parts[P_CARRY, n, p] = exact - whole
    parts[P_FILL, n, p] += whole
    parts[P_MADE, n, p] += whole


@njit(cache=True, nogil=True)
def produce_blocked(
    run, nodes, index, slots, alive, group_count, load, base, share,
    parts, cluster, errors, first, attempts, now_s, queue, step_part,
):  # fmt: skip
    """Production of a step in which at least one part cannot take all its work.

    Returns (accepted, refused at once) transactions. Without queueing a row is written by every replica
    before the one that refuses it, and a transaction of which one row is refused is undone everywhere: that
    log is wasted. With queueing work waits, except for 410, which always aborts.
    """
    count, log_parts = load.shape
    coverage = run[R_COVERAGE]
    _openness(nodes, index, slots, alive, load, parts, attempts, queue)
    accepted_share, together = _accepted_share(run, slots, alive, group_count, share, parts, queue)
    accepted = attempts * accepted_share
    blame_all = 0.0
    blame_log = 0.0
    all_open = True
    # The more is refused, the sooner a transaction meets its refusal.
    doomed = 1.0 - coverage * (1.0 - run[R_DOOMED] * max(DOOMED_LEAST, np.sqrt(accepted_share)))
    for n in range(count):
        for p in range(log_parts):
            if load[n, p] > 0.0 and parts[P_GRANT, n, p] < 1.0:
                all_open = False
                part = (1.0 - parts[P_GRANT, n, p]) * share[index[n, I_GROUP], p]
                blame_all += part
                why = _why_closed(nodes, parts, n, p)
                if why == E_LOG:
                    blame_log += part
                elif why == E_FILE and coverage > 0.0:
                    doomed = min(doomed, DOOMED_AT_FILE_END)
    refused = attempts - accepted
    if queue:
        refused = refused * blame_log / blame_all if blame_all > 0.0 else 0.0
    for n in range(count):
        group = index[n, I_GROUP]
        for p in range(log_parts):
            if load[n, p] <= 0.0:
                continue
            taken = parts[P_GRANT, n, p]
            if taken < 1.0 and refused > 0.0:
                why = _why_closed(nodes, parts, n, p)
                part = refused * (1.0 - taken) * share[group, p]
                if not queue:
                    blame(errors, first, now_s, why, part / blame_all, n)
                elif why == E_LOG:
                    blame(errors, first, now_s, why, part / blame_log, n)
            is_open = 1.0
            for r in range(alive[group]):
                one = parts[P_GRANT, slots[group, r], p]
                is_open = min(is_open, one) if queue else is_open * one
            useful = attempts * load[n, p] * ((1.0 - coverage) * is_open + coverage * together)
            amount = useful
            if not queue:
                reached = _reach(parts, slots, alive, group, index[n, I_SLOT], p)
                written = attempts * load[n, p] * reached * taken
                useful = min(useful, written)
                amount = useful + (written - useful) * nodes[n, N_ABORT_SHARE] * doomed
            _put(parts, n, p, amount)
            parts[P_WASTED, n, p] += amount - useful
    _copy_in_room(nodes, base, parts, step_part)
    cluster[C_BLOCKED] = 0.0 if all_open else 1.0
    return accepted, refused


@njit(cache=True, nogil=True)
def _copy_in_room(nodes, base, parts, step_part):
    """Log of copying waits when a part has no room; the workload goes first."""
    for n in range(base.shape[0]):
        for p in range(base.shape[1]):
            if base[n, p] > 0.0:
                open_files(nodes, parts, n, p)
                amount = min(base[n, p] * step_part, _room(parts, n, p))
                _put(parts, n, p, amount)
                parts[P_BASE, n, p] += amount


@njit(cache=True, nogil=True, inline="always")
def some_part_is_short(fill, made, stop, limit, lags, load, base, attempts, times):
    """Whether a part may be unable to take its work `times` over: buffer, file or log ends, or it lags."""
    short = False
    for i in range(fill.shape[0]):
        need = (attempts * load[i] + base[i]) * times
        short |= (fill[i] + need > limit[i]) | (made[i] + need > stop[i]) | (lags[i] > 0.0)
    return short


@njit(cache=True, nogil=True)
def has_room(nodes, load, base, parts, attempts, times, base_times):
    """The same looked at closely: next files are opened where they can be, idle parts do not count."""
    for n in range(load.shape[0]):
        for p in range(load.shape[1]):
            need = attempts * times * load[n, p] + base[n, p] * base_times
            if need > 0.0:
                open_files(nodes, parts, n, p)
                if need > _room(parts, n, p):
                    return False
    return True


@njit(cache=True, nogil=True)
def steps_with_room(nodes, load, base, parts, attempts):
    """For how many steps every part can surely take its work, if nothing is written."""
    steps = 1e6
    for n in range(load.shape[0]):
        for p in range(load.shape[1]):
            need = attempts * load[n, p] + base[n, p]
            if need > 0.0:
                room = nodes[n, N_BUFFER_LIMIT] - parts[P_FILL, n, p]
                steps = min(steps, min(room, parts[P_STOP, n, p] - parts[P_MADE, n, p]) / need)
    return steps


@njit(cache=True, nogil=True, inline="always")
def produce(fill, made, carry, load, base, attempts, step_part):
    """Production of a step in which every part takes all its work, in whole bytes."""
    for i in range(fill.shape[0]):
        exact = attempts * load[i] + base[i] * step_part + carry[i]
        whole = np.floor(exact)
        carry[i] = exact - whole
        fill[i] += whole
        made[i] += whole


@njit(cache=True, nogil=True)
def record_before_flush(fill, high):
    """Most a buffer held that is written now without having collected a whole run."""
    for i in range(fill.shape[0]):
        high[i] = max(high[i], min(fill[i], RUN_BYTES))


@njit(cache=True, nogil=True)
def drain_part_of(nodes, parts, members, begin, end, weights, capacity, hold, room_part):
    """Give a disk's capacity (bytes of log) to the parts of its nodes; returns what was written.

    Each part has one write under way and the disk serves them in turn, so each gets as much as the next
    until it has nothing left; `weights` is the unevenness between parts, by node and part. `room_part` is
    the shortest piece of a step against this one: what is written during it makes room while more comes.
    """
    log_parts = parts.shape[2]
    left = capacity
    for m in range(begin, end):
        for p in range(log_parts):
            parts[P_GRANT, members[m], p] = 0.0
    for _ in range(SHARE_ROUNDS):
        weight = 0.0
        for m in range(begin, end):
            n = members[m]
            for p in range(log_parts):
                if parts[P_FILL, n, p] - hold - parts[P_GRANT, n, p] >= 1.0:
                    weight += weights[n, p]
        if weight <= 0.0 or left < 1.0:
            break
        level = left / weight
        some_done = False
        for m in range(begin, end):
            n = members[m]
            for p in range(log_parts):
                waiting = parts[P_FILL, n, p] - hold - parts[P_GRANT, n, p]
                if waiting >= 1.0:
                    grant = level * weights[n, p]
                    if grant >= waiting:
                        grant = waiting
                        some_done = True
                    grant = np.floor(grant)
                    parts[P_GRANT, n, p] += grant
                    left -= grant
        if not some_done:
            break
    for m in range(begin, end):
        n = members[m]
        for p in range(log_parts):
            parts[P_FILL, n, p] -= parts[P_GRANT, n, p]
            parts[P_DRAINED, n, p] += parts[P_GRANT, n, p]
            parts[P_LIMIT, n, p] = nodes[n, N_BUFFER_LIMIT] + parts[P_GRANT, n, p] * room_part
    return capacity - left


@njit(cache=True, nogil=True)
def near_lag(nodes, parts):
    """Whether a part refuses because of lag, or may soon."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            held = parts[P_FILL, n, p]
            if parts[P_LAGS, n, p] > 0.0 or parts[P_LAG_S, n, p] > 0.0:
                return True
            if held > 4.0 * RUN_BYTES and held > LAG_NEAR * nodes[n, N_LAG_LIMIT_S] * parts[P_SPEED, n, p]:
                return True
    return False


@njit(cache=True, nogil=True)
def watch_lag(nodes, parts, n, p, step_s, lag_exit):
    """Refuse work of a part whose buffer takes too long to write (1234), and take it again."""
    limit = nodes[n, N_LAG_LIMIT_S]
    lag = parts[P_FILL, n, p] / max(parts[P_SPEED, n, p], 1.0)
    if parts[P_LAGS, n, p] > 0.0:
        if lag <= limit * lag_exit:
            parts[P_LAGS, n, p] = 0.0
            parts[P_LAG_S, n, p] = LAG_AFTER_EXIT_S
    elif lag > limit and parts[P_FILL, n, p] > 4.0 * RUN_BYTES:
        parts[P_LAG_S, n, p] += step_s
        if parts[P_LAG_S, n, p] >= nodes[n, N_LAG_COUNT] - 1e-6:
            parts[P_LAGS, n, p] = 1.0
    else:
        parts[P_LAG_S, n, p] = 0.0
