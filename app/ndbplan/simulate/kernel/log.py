"""Kernel, part 1: log that transactions produce, what refuses it, and how it gets to disk.

Amounts of log are whole bytes (in float64), so what is written and what is held add up to the byte.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled, inlined
from ndbplan.simulate.world import Error, Floats, Ints, Laws, Node, Part, Rows, State

RUN_BYTES = 131072.0
"""Half of the 256 KiB that a log part collects before it writes: what a buffer holds on average."""
LAG_BYTES = 4.0 * RUN_BYTES
"""What a buffer holds at least when its lag matters."""
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
def _need(laws: Laws, parts: Floats, attempts: float, n: int, p: int, in_chain: bool) -> float:
    """Log of a part in this step; `in_chain`: of what those before it in the chain let through."""
    need: float = attempts * laws.load[n, p]
    if in_chain and need > 0.0:
        place = laws.places[n]
        need *= _reach(parts, laws.slots, laws.alive, place.group, place.slot, p)
    return need


@compiled
def _open(laws: Laws, parts: Floats, attempts: float, queue: bool) -> None:
    """How much of its work each part can take in this step, as a share, into Part.GRANT and Part.OPEN.

    What reaches a replica depends on how open those before it in the chain are: found by some rounds, each
    half a step towards the next value.
    """
    in_chain = not queue and laws.slots.shape[1] > 1
    for n in range(laws.load.shape[0]):
        for p in range(laws.load.shape[1]):
            parts[Part.GRANT, n, p] = 1.0
            if laws.load[n, p] > 0.0:
                open_files(laws.nodes, parts, n, p)
    for _ in range(OPEN_ROUNDS if in_chain else 1):
        for n in range(laws.load.shape[0]):
            for p in range(laws.load.shape[1]):
                need = _need(laws, parts, attempts, n, p, in_chain)
                if need > 0.0:
                    room = _room(parts, n, p)
                    parts[Part.GRANT, n, p] = 1.0 if need <= room else room / need
        if _moved(parts, in_chain) <= SETTLED:
            break
    for n in range(laws.load.shape[0]):
        for p in range(laws.load.shape[1]):
            parts[Part.GRANT, n, p] = parts[Part.OPEN, n, p]
            need = _need(laws, parts, attempts, n, p, in_chain)
            if in_chain and need > 0.0:
                _fit(parts, n, p, need)


@compiled
def _moved(parts: Floats, half: bool) -> float:
    """Take the shares of a round over, or go half way to them; by how much the one that moved most did."""
    moved = 0.0
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            before = parts[Part.OPEN, n, p]
            if half and parts[Part.GRANT, n, p] > 0.0:
                parts[Part.OPEN, n, p] = 0.5 * (before + parts[Part.GRANT, n, p])
            else:
                parts[Part.OPEN, n, p] = parts[Part.GRANT, n, p]
            moved = max(moved, abs(parts[Part.OPEN, n, p] - before))
    return moved


@compiled
def _fit(parts: Floats, n: int, p: int, need: float) -> None:
    """No part takes more than it has room for, or less while it has."""
    room = _room(parts, n, p)
    if need <= room:
        parts[Part.GRANT, n, p] = 1.0
    elif need * parts[Part.GRANT, n, p] > room:
        parts[Part.GRANT, n, p] = room / need


ROUNDED = 1e-6
"""Shares that come to more than 1 by this are 1, summed."""


@compiled
def _is_open(laws: Laws, parts: Floats, group: int, p: int, queue: bool) -> float:
    """Share of its work that a part takes on all replicas of a group."""
    found = 1.0
    for r in range(laws.alive[group]):
        one = parts[Part.GRANT, laws.slots[group, r], p]
        found = min(found, one) if queue else found * one
    return found


@compiled
def _accepted_share(laws: Laws, parts: Floats, queue: bool) -> tuple[float, float]:
    """(share of transactions that find all their parts open, the same for those that meet every part).

    A transaction of one row meets one part, one of many rows meets all of them. A row of a fully replicated
    table meets one in every node group, so that shares come to more than 1: the worst group decides.
    """
    mean = 0.0
    known = 0.0
    worst = 0.0
    lowest = 1.0
    together = 1.0
    for g in range(laws.slots.shape[0]):
        closed = 0.0
        for p in range(laws.share.shape[1]):
            if laws.share[g, p] <= 0.0:
                continue
            is_open = _is_open(laws, parts, g, p, queue)
            closed += laws.share[g, p] * (1.0 - is_open)
            known += laws.share[g, p]
            mean += laws.share[g, p] * is_open
            together *= is_open ** laws.group_count[g]
            lowest = min(lowest, is_open)
        worst = max(worst, closed / laws.group_count[g])
    mean += max(0.0, 1.0 - known)
    if known > 1.0 + ROUNDED:
        mean = min(mean / known, max(0.0, 1.0 - worst))
    coverage = laws.run.coverage
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
def produce_blocked(laws: Laws, state: State, attempts: float) -> None:
    """Production of a step in which at least one part cannot take all its work.

    Without queueing a row is written by every replica before the one that refuses it, and a transaction of
    which one row is refused is undone everywhere: that log is wasted. With queueing work waits, except for
    410, which always aborts.
    """
    parts, piece, queue = state.parts, state.piece, laws.run.queue_slots > 0
    _open(laws, parts, attempts, queue)
    share, together = _accepted_share(laws, parts, queue)
    closed, closed_by_log, aborted, some = _closed(laws, parts, share)
    piece.accepted = attempts * share
    refused = attempts - piece.accepted
    if queue:
        refused = refused * closed_by_log / closed if closed > 0.0 else 0.0
    if refused > 0.0:
        _count_refused(laws, state, refused, closed_by_log if queue else closed, queue)
    piece.refused += refused
    for n in range(laws.load.shape[0]):
        for p in range(laws.load.shape[1]):
            if laws.load[n, p] > 0.0:
                _make_log(laws, parts, attempts, together, aborted, queue, n, p)
    _copy_in_room(laws.nodes, laws.base, parts, piece.share)
    state.cluster.is_blocked = some


@compiled
def _closed(laws: Laws, parts: Floats, accepted_share: float) -> tuple[float, float, float, bool]:
    """(share of the rows that parts do not take, of those whose log is full, what undone work writes, whether
    there is such a part)."""
    run = laws.run
    closed = by_log = 0.0
    some = False
    # The more is refused, the sooner a transaction meets its refusal.
    aborted = 1.0 - run.coverage * (1.0 - run.aborted_log * max(ABORTED_LEAST, np.sqrt(accepted_share)))
    for n in range(laws.load.shape[0]):
        for p in range(laws.load.shape[1]):
            if laws.load[n, p] > 0.0 and parts[Part.GRANT, n, p] < 1.0:
                part = (1.0 - parts[Part.GRANT, n, p]) * laws.share[laws.places[n].group, p]
                closed += part
                some = True
                why = _why_closed(laws.nodes, parts, n, p)
                if why == Error.LOG:
                    by_log += part
                elif why == Error.FILE and run.coverage > 0.0:
                    aborted = min(aborted, ABORTED_AT_FILE_END)
    return closed, by_log, aborted, some


@compiled
def _count_refused(laws: Laws, state: State, refused: float, closed: float, queue: bool) -> None:
    """Each part that does not take all its work refuses its part; in a queue only those whose log is full."""
    parts = state.parts
    for n in range(laws.load.shape[0]):
        for p in range(laws.load.shape[1]):
            if laws.load[n, p] > 0.0 and parts[Part.GRANT, n, p] < 1.0:
                why = _why_closed(laws.nodes, parts, n, p)
                part = refused * (1.0 - parts[Part.GRANT, n, p]) * laws.share[laws.places[n].group, p]
                if not queue or why == Error.LOG:
                    count_error(state.errors, state.first, state.piece.now_s, why, part / closed, n)


@compiled
def _make_log(
    laws: Laws,
    parts: Floats,
    attempts: float,
    together: float,
    aborted: float,
    queue: bool,
    n: int,
    p: int,
) -> None:
    """What a part writes: log of what is accepted, and of what is undone."""
    place, coverage = laws.places[n], laws.run.coverage
    is_open = _is_open(laws, parts, place.group, p, queue)
    useful = attempts * laws.load[n, p] * ((1.0 - coverage) * is_open + coverage * together)
    amount = useful
    if not queue:
        reached = _reach(parts, laws.slots, laws.alive, place.group, place.slot, p)
        written = attempts * laws.load[n, p] * reached * parts[Part.GRANT, n, p]
        useful = min(useful, written)
        amount = useful + (written - useful) * laws.nodes[n].abort_share * aborted
    _put(parts, n, p, amount)
    parts[Part.WASTED, n, p] += amount - useful


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
def some_part_is_short(parts: Floats, load: Floats, base: Floats, attempts: float, times: float) -> bool:
    """Whether a part may be unable to take its work `times` over: buffer, file or log ends, or it lags."""
    fill, made, stop = parts[Part.FILL], parts[Part.MADE], parts[Part.STOP]
    limit, lags = parts[Part.LIMIT], parts[Part.LAGS]
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


@inlined
def count_copied(copied: Floats, base: Floats, step_part: float) -> None:
    """Log of copying that every part could take."""
    for i in range(copied.shape[0]):
        copied[i] += base[i] * step_part


@compiled
def record_before_flush(fill: Floats, high: Floats) -> None:
    """Most a buffer held that is written now without having collected a whole run."""
    for i in range(fill.shape[0]):
        high[i] = max(high[i], min(fill[i], RUN_BYTES))


@compiled
def global_checkpoint(parts: Floats) -> None:
    """All that is on disk now is durable."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            parts[Part.DURABLE_BEFORE, n, p] = parts[Part.DURABLE, n, p]
            parts[Part.DURABLE, n, p] = parts[Part.MADE, n, p] - parts[Part.FILL, n, p]


@compiled
def drain_part_of(
    nodes: Rows[Node],
    parts: Floats,
    members: Ints,
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
    left = capacity
    for n in members:
        for p in range(parts.shape[2]):
            parts[Part.GRANT, n, p] = 0.0
    for _ in range(SHARE_ROUNDS):
        weight = _waiting_weight(parts, members, weights, hold)
        if weight <= 0.0 or left < 1.0:
            break
        left, some_done = _give(parts, members, weights, left / weight, left, hold)
        if not some_done:
            break
    for n in members:
        for p in range(parts.shape[2]):
            parts[Part.FILL, n, p] -= parts[Part.GRANT, n, p]
            parts[Part.DRAINED, n, p] += parts[Part.GRANT, n, p]
            parts[Part.LIMIT, n, p] = nodes[n].buffer_limit_bytes + parts[Part.GRANT, n, p] * room_part
    return capacity - left


@compiled
def _waiting_weight(parts: Floats, members: Ints, weights: Floats, hold: float) -> float:
    """Weight of the parts that have something left to write."""
    weight = 0.0
    for n in members:
        for p in range(parts.shape[2]):
            if parts[Part.FILL, n, p] - hold - parts[Part.GRANT, n, p] >= 1.0:
                weight += weights[n, p]
    return weight


@compiled
def _give(
    parts: Floats, members: Ints, weights: Floats, level: float, left: float, hold: float
) -> tuple[float, bool]:
    """One round: to each part as much as to the next. (what is left, whether a part has all it wanted)."""
    some_done = False
    for n in members:
        for p in range(parts.shape[2]):
            waiting = parts[Part.FILL, n, p] - hold - parts[Part.GRANT, n, p]
            if waiting >= 1.0:
                grant = level * weights[n, p]
                if grant >= waiting:
                    grant = waiting
                    some_done = True
                grant = np.floor(grant)
                parts[Part.GRANT, n, p] += grant
                left -= grant
    return left, some_done


@compiled
def near_lag(nodes: Rows[Node], parts: Floats) -> bool:
    """Whether a part refuses because of lag, or may soon."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            held = parts[Part.FILL, n, p]
            if parts[Part.LAGS, n, p] > 0.0 or parts[Part.LAG_S, n, p] > 0.0:
                return True
            if held > LAG_BYTES and held > LAG_NEAR * nodes[n].lag_limit_s * parts[Part.SPEED, n, p]:
                return True
    return False


@compiled
def watch_lags(nodes: Rows[Node], parts: Floats, step_s: float, lag_exit: float) -> None:
    """Look at every part's lag."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            watch_lag(nodes, parts, n, p, step_s, lag_exit)


@compiled
def watch_lag(nodes: Rows[Node], parts: Floats, n: int, p: int, step_s: float, lag_exit: float) -> None:
    """Refuse work of a part whose buffer takes too long to write (1234), and take it again."""
    limit = nodes[n].lag_limit_s
    lag = parts[Part.FILL, n, p] / max(parts[Part.SPEED, n, p], 1.0)
    if parts[Part.LAGS, n, p] > 0.0:
        if lag <= limit * lag_exit:
            parts[Part.LAGS, n, p] = 0.0
            parts[Part.LAG_S, n, p] = LAG_AFTER_EXIT_S
    elif lag > limit and parts[Part.FILL, n, p] > LAG_BYTES:
        parts[Part.LAG_S, n, p] += step_s
        if parts[Part.LAG_S, n, p] >= nodes[n].lag_count - 1e-6:
            parts[Part.LAGS, n, p] = 1.0
    else:
        parts[Part.LAG_S, n, p] = 0.0
