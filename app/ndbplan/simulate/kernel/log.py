"""Kernel, part 1: log that transactions produce, what refuses it, and how it gets to disk.

Amounts of log are whole bytes (in float64), so what is written and what is held add up to the byte.

Source: engine model 3.2 and 3.3 (Dblqh::logLqhkeyreqLab_problems, writeNextLog), and 15.1, measured.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled, inlined
from ndbplan.base.row_types import Floats, Ints, Rows
from ndbplan.simulate.world.indices import Error, Part
from ndbplan.simulate.world.laws import Node

RUN_BYTES = 131072.0
"""Half of the 256 KiB that a log part collects before it writes: what a buffer holds on average."""
LAG_BYTES = 4.0 * RUN_BYTES
"""What a buffer holds at least when its lag matters."""
SHARE_ROUNDS = 8
"""Rounds in which a disk's time is shared; what one part does not need goes to the others in the next."""


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
    begin = end + nodes[n].file_spare_bytes - nodes[n].file_bytes
    if on_disk >= begin + nodes[n].file_open_after_bytes:
        end += nodes[n].file_bytes
        parts[Part.FILE_END, n, p] = end
    parts[Part.STOP, n, p] = min(end, parts[Part.TAIL, n, p] + nodes[n].log_limit_bytes)


@compiled
def room_of(parts: Floats, n: int, p: int) -> float:
    """Bytes of log a part can take now."""
    if parts[Part.LAGS, n, p] > 0.0:
        return 0.0
    room: float = parts[Part.LIMIT, n, p] - parts[Part.FILL, n, p]
    room = min(room, parts[Part.STOP, n, p] - parts[Part.MADE, n, p])
    return max(0.0, room)


@compiled
def why_closed(nodes: Rows[Node], parts: Floats, n: int, p: int) -> Error:
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
                if need > room_of(parts, n, p):
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
