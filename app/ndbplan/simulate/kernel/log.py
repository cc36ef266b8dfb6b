"""Kernel, part 1: log that transactions produce, what refuses it, and how it gets to disk.

Amounts of log are whole bytes (in float64), so what is written and what is held add up to the byte.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled, inlined
from ndbplan.simulate.world import Cluster, Error, Floats, Ints, Node, Part, Place, Rows, Run

RUN_BYTES = 131072.0
"""Half of the 256 KiB that a log part collects before it writes: what a buffer holds on average."""
OPEN_ROUNDS = 8
SETTLED = 1e-6
"""Change of a share from one round to the next below which more rounds change nothing that counts."""
LAG_AFTER_EXIT_S = 1.0
LAG_NEAR = 0.9
"""Share of the lag that is refused from which on steps are taken in pieces."""
SHARE_ROUNDS = 8
ABORTED_LEAST = 0.3
"""Least root of the accepted share that counts for what undone transactions write [7.4.10]."""
ABORTED_AT_FILE_END = 0.27
"""What undone transactions write while a file change holds a part up, against other refusals [7.4.10]."""


@compiled
def count_error(errors: Floats, first: Floats, now_s: float, code: int, count: float, node: int) -> None:
    """Count refused transactions, and remember when and where the first one was."""
    if count > 0.0:
        if errors[code] == 0.0:
            first[code, 0] = now_s
            first[code, 1] = node
        errors[code] += count


@compiled
def open_files(nodes: Rows[Node], parts: Floats, n: int, p: int) -> None:
    """Move a part to its next log file when that is open, and find where it must stop."""
    end = parts[Part.FILE_END, n, p]
    on_disk = parts[Part.MADE, n, p] - parts[Part.FILL, n, p]
    if on_disk >= end - nodes[n].file_bytes + nodes[n].file_open_after_bytes:
        end += nodes[n].file_bytes
        parts[Part.FILE_END, n, p] = end
    parts[Part.STOP, n, p] = min(end, parts[Part.TAIL, n, p] + nodes[n].log_limit_bytes)


@compiled
def _room(parts: Floats, n: int, p: int) -> float:
    """Bytes of log a part can take now."""
    if parts[Part.LAGS, n, p] > 0.0:
        return 0.0
    room: float = parts[Part.LIMIT, n, p] - parts[Part.FILL, n, p]
    room = min(room, parts[Part.STOP, n, p] - parts[Part.MADE, n, p])
    return max(0.0, room)


@compiled
def _why_closed(nodes: Rows[Node], parts: Floats, n: int, p: int) -> Error:
    """Error of a part that takes no more work: what it has least room for.

    What the disk writes during the step makes room in the buffer: as much as in the step before.
    """
    if parts[Part.LAGS, n, p] > 0.0:
        return Error.LAG
    buffer = parts[Part.LIMIT, n, p] - parts[Part.FILL, n, p]
    file = parts[Part.FILE_END, n, p] - parts[Part.MADE, n, p]
    log = parts[Part.TAIL, n, p] + nodes[n].log_limit_bytes - parts[Part.MADE, n, p]
    if log <= buffer and log <= file:
        return Error.LOG
    return Error.FILE if file < buffer else Error.BUFFER


@compiled
def _reach(parts: Floats, slots: Ints, alive: Ints, group: int, slot: int, p: int) -> float:
    """Share of a part's work that reaches this replica: each replica is first in the chain equally often."""
    replicas = alive[group]
    reach = 1.0
    total: float = 1.0
    for back in range(1, replicas):
        before = slots[group, (slot - back) % replicas]
        reach *= parts[Part.OPEN, before, p]
        total += reach
    share: float = total / replicas
    return share


@compiled
def _openness(
    nodes: Rows[Node],
    places: Rows[Place],
    slots: Ints,
    alive: Ints,
    load: Floats,
    parts: Floats,
    attempts: float,
    queue: bool,
) -> None:
    """How much of its work each part can take in this step, as a share, into Part.GRANT and Part.OPEN.

    What reaches a replica depends on how open those before it in the chain are: found by some rounds, each
    half a step towards the next value.
    """
    count, log_parts = load.shape
    rounds = 1 if queue or slots.shape[1] < 2 else OPEN_ROUNDS
    for n in range(count):
        for p in range(log_parts):
            parts[Part.GRANT, n, p] = 1.0
            if load[n, p] > 0.0:
                open_files(nodes, parts, n, p)
    for _ in range(rounds):
        for n in range(count):
            for p in range(log_parts):
                need = attempts * load[n, p]
                if need <= 0.0:
                    continue
                if rounds > 1:
                    need *= _reach(parts, slots, alive, places[n].group, places[n].slot, p)
                room = _room(parts, n, p)
                parts[Part.GRANT, n, p] = 1.0 if need <= room else room / need
        moved = 0.0
        for n in range(count):
            for p in range(log_parts):
                before = parts[Part.OPEN, n, p]
                if rounds > 1 and parts[Part.GRANT, n, p] > 0.0:
                    parts[Part.OPEN, n, p] = 0.5 * (before + parts[Part.GRANT, n, p])
                else:
                    parts[Part.OPEN, n, p] = parts[Part.GRANT, n, p]
                moved = max(moved, abs(parts[Part.OPEN, n, p] - before))
        if moved <= SETTLED:
            break
    for n in range(count):
        for p in range(log_parts):
            need = attempts * load[n, p]
            parts[Part.GRANT, n, p] = parts[Part.OPEN, n, p]
            if rounds > 1 and need > 0.0:
                need *= _reach(parts, slots, alive, places[n].group, places[n].slot, p)
                room = _room(parts, n, p)
                if need <= room:
                    parts[Part.GRANT, n, p] = 1.0
                elif need * parts[Part.GRANT, n, p] > room:
                    parts[Part.GRANT, n, p] = room / need


@compiled
def _accepted_share(
    run: Run, slots: Ints, alive: Ints, group_count: Floats, share: Floats, parts: Floats, queue: bool
) -> tuple[float, float]:
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
                one = parts[Part.GRANT, slots[g, r], p]
                is_open = min(is_open, one) if queue else is_open * one
            known += share[g, p]
            mean += share[g, p] * is_open
            together *= is_open ** group_count[g]
            lowest = min(lowest, is_open)
    mean += max(0.0, 1.0 - known)
    coverage = run.coverage
    together = lowest if queue else together
    return (1.0 - coverage) * mean + coverage * together, together


@compiled
def _put(parts: Floats, n: int, p: int, amount: float) -> None:
    """Add log to a part, in whole bytes."""
    exact = amount + parts[Part.CARRY, n, p]
    whole = np.floor(exact)
    parts[Part.CARRY, n, p] = exact - whole
    parts[Part.FILL, n, p] += whole
    parts[Part.MADE, n, p] += whole


@compiled
def produce_blocked(
    run: Run,
    nodes: Rows[Node],
    places: Rows[Place],
    slots: Ints,
    alive: Ints,
    group_count: Floats,
    load: Floats,
    base: Floats,
    share: Floats,
    parts: Floats,
    cluster: Cluster,
    errors: Floats,
    first: Floats,
    attempts: float,
    now_s: float,
    queue: bool,
    step_part: float,
) -> tuple[float, float]:
    """Production of a step in which at least one part cannot take all its work.

    Returns (accepted, refused at once) transactions. Without queueing a row is written by every replica
    before the one that refuses it, and a transaction of which one row is refused is undone everywhere: that
    log is wasted. With queueing work waits, except for 410, which always aborts.
    """
    count, log_parts = load.shape
    coverage = run.coverage
    _openness(nodes, places, slots, alive, load, parts, attempts, queue)
    accepted_share, together = _accepted_share(run, slots, alive, group_count, share, parts, queue)
    accepted = attempts * accepted_share
    blame_all = 0.0
    blame_log = 0.0
    all_open = True
    # The more is refused, the sooner a transaction meets its refusal.
    aborted = 1.0 - coverage * (1.0 - run.aborted_log * max(ABORTED_LEAST, np.sqrt(accepted_share)))
    for n in range(count):
        for p in range(log_parts):
            if load[n, p] > 0.0 and parts[Part.GRANT, n, p] < 1.0:
                all_open = False
                part = (1.0 - parts[Part.GRANT, n, p]) * share[places[n].group, p]
                blame_all += part
                why = _why_closed(nodes, parts, n, p)
                if why == Error.LOG:
                    blame_log += part
                elif why == Error.FILE and coverage > 0.0:
                    aborted = min(aborted, ABORTED_AT_FILE_END)
    refused = attempts - accepted
    if queue:
        refused = refused * blame_log / blame_all if blame_all > 0.0 else 0.0
    for n in range(count):
        group = places[n].group
        for p in range(log_parts):
            if load[n, p] <= 0.0:
                continue
            taken = parts[Part.GRANT, n, p]
            if taken < 1.0 and refused > 0.0:
                why = _why_closed(nodes, parts, n, p)
                part = refused * (1.0 - taken) * share[group, p]
                if not queue:
                    count_error(errors, first, now_s, why, part / blame_all, n)
                elif why == Error.LOG:
                    count_error(errors, first, now_s, why, part / blame_log, n)
            is_open = 1.0
            for r in range(alive[group]):
                one = parts[Part.GRANT, slots[group, r], p]
                is_open = min(is_open, one) if queue else is_open * one
            useful = attempts * load[n, p] * ((1.0 - coverage) * is_open + coverage * together)
            amount = useful
            if not queue:
                reached = _reach(parts, slots, alive, group, places[n].slot, p)
                written = attempts * load[n, p] * reached * taken
                useful = min(useful, written)
                amount = useful + (written - useful) * nodes[n].abort_share * aborted
            _put(parts, n, p, amount)
            parts[Part.WASTED, n, p] += amount - useful
    _copy_in_room(nodes, base, parts, step_part)
    cluster.is_blocked = not all_open
    return accepted, refused


@compiled
def _copy_in_room(nodes: Rows[Node], base: Floats, parts: Floats, step_part: float) -> None:
    """Log of copying waits when a part has no room; the workload goes first."""
    for n in range(base.shape[0]):
        for p in range(base.shape[1]):
            if base[n, p] > 0.0:
                open_files(nodes, parts, n, p)
                amount = min(base[n, p] * step_part, _room(parts, n, p))
                _put(parts, n, p, amount)
                parts[Part.BASE, n, p] += amount


@inlined
def some_part_is_short(
    fill: Floats,
    made: Floats,
    stop: Floats,
    limit: Floats,
    lags: Floats,
    load: Floats,
    base: Floats,
    attempts: float,
    times: float,
) -> bool:
    """Whether a part may be unable to take its work `times` over: buffer, file or log ends, or it lags."""
    short = False
    for i in range(fill.shape[0]):
        need = (attempts * load[i] + base[i]) * times
        short |= (fill[i] + need > limit[i]) | (made[i] + need > stop[i]) | (lags[i] > 0.0)
    return short


@compiled
def has_room(
    nodes: Rows[Node],
    load: Floats,
    base: Floats,
    parts: Floats,
    attempts: float,
    times: float,
    base_times: float,
) -> bool:
    """The same looked at closely: next files are opened where they can be, idle parts do not count."""
    for n in range(load.shape[0]):
        for p in range(load.shape[1]):
            need = attempts * times * load[n, p] + base[n, p] * base_times
            if need > 0.0:
                open_files(nodes, parts, n, p)
                if need > _room(parts, n, p):
                    return False
    return True


@compiled
def steps_with_room(nodes: Rows[Node], load: Floats, base: Floats, parts: Floats, attempts: float) -> float:
    """For how many steps every part can surely take its work, if nothing is written."""
    steps = 1e6
    for n in range(load.shape[0]):
        for p in range(load.shape[1]):
            need = attempts * load[n, p] + base[n, p]
            if need > 0.0:
                room = nodes[n].buffer_limit_bytes - parts[Part.FILL, n, p]
                steps = min(steps, min(room, parts[Part.STOP, n, p] - parts[Part.MADE, n, p]) / need)
    return steps


@inlined
def produce(
    fill: Floats, made: Floats, carry: Floats, load: Floats, base: Floats, attempts: float, step_part: float
) -> None:
    """Production of a step in which every part takes all its work, in whole bytes."""
    for i in range(fill.shape[0]):
        exact = attempts * load[i] + base[i] * step_part + carry[i]
        whole = np.floor(exact)
        carry[i] = exact - whole
        fill[i] += whole
        made[i] += whole


@compiled
def record_before_flush(fill: Floats, high: Floats) -> None:
    """Most a buffer held that is written now without having collected a whole run."""
    for i in range(fill.shape[0]):
        high[i] = max(high[i], min(fill[i], RUN_BYTES))


@compiled
def drain_part_of(
    nodes: Rows[Node],
    parts: Floats,
    members: Ints,
    begin: int,
    end: int,
    weights: Floats,
    capacity: float,
    hold: float,
    room_part: float,
) -> float:
    """Give a disk's capacity (bytes of log) to the parts of its nodes; returns what was written.

    Each part has one write under way and the disk serves them in turn, so each gets as much as the next
    until it has nothing left; `weights` is the unevenness between parts, by node and part. `room_part` is
    the shortest piece of a step against this one: what is written during it makes room while more comes.
    """
    log_parts = parts.shape[2]
    left = capacity
    for m in range(begin, end):
        for p in range(log_parts):
            parts[Part.GRANT, members[m], p] = 0.0
    for _ in range(SHARE_ROUNDS):
        weight = 0.0
        for m in range(begin, end):
            n = members[m]
            for p in range(log_parts):
                if parts[Part.FILL, n, p] - hold - parts[Part.GRANT, n, p] >= 1.0:
                    weight += weights[n, p]
        if weight <= 0.0 or left < 1.0:
            break
        level = left / weight
        some_done = False
        for m in range(begin, end):
            n = members[m]
            for p in range(log_parts):
                waiting = parts[Part.FILL, n, p] - hold - parts[Part.GRANT, n, p]
                if waiting >= 1.0:
                    grant = level * weights[n, p]
                    if grant >= waiting:
                        grant = waiting
                        some_done = True
                    grant = np.floor(grant)
                    parts[Part.GRANT, n, p] += grant
                    left -= grant
        if not some_done:
            break
    for m in range(begin, end):
        n = members[m]
        for p in range(log_parts):
            parts[Part.FILL, n, p] -= parts[Part.GRANT, n, p]
            parts[Part.DRAINED, n, p] += parts[Part.GRANT, n, p]
            parts[Part.LIMIT, n, p] = nodes[n].buffer_limit_bytes + parts[Part.GRANT, n, p] * room_part
    return capacity - left


@compiled
def near_lag(nodes: Rows[Node], parts: Floats) -> bool:
    """Whether a part refuses because of lag, or may soon."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            held = parts[Part.FILL, n, p]
            if parts[Part.LAGS, n, p] > 0.0 or parts[Part.LAG_S, n, p] > 0.0:
                return True
            if held > 4.0 * RUN_BYTES and held > LAG_NEAR * nodes[n].lag_limit_s * parts[Part.SPEED, n, p]:
                return True
    return False


@compiled
def watch_lag(nodes: Rows[Node], parts: Floats, n: int, p: int, step_s: float, lag_exit: float) -> None:
    """Refuse work of a part whose buffer takes too long to write (1234), and take it again."""
    limit = nodes[n].lag_limit_s
    lag = parts[Part.FILL, n, p] / max(parts[Part.SPEED, n, p], 1.0)
    if parts[Part.LAGS, n, p] > 0.0:
        if lag <= limit * lag_exit:
            parts[Part.LAGS, n, p] = 0.0
            parts[Part.LAG_S, n, p] = LAG_AFTER_EXIT_S
    elif lag > limit and parts[Part.FILL, n, p] > 4.0 * RUN_BYTES:
        parts[Part.LAG_S, n, p] += step_s
        if parts[Part.LAG_S, n, p] >= nodes[n].lag_count - 1e-6:
            parts[Part.LAGS, n, p] = 1.0
    else:
        parts[Part.LAG_S, n, p] = 0.0
