"""Kernel, part 8: a step in which some log part cannot take all its work: what is refused, what is wasted.

A part that is full at a moment refuses all that meets it then, on each of its replicas alike; different
parts do so at moments that have nothing to do with one another. A transaction of many rows meets every part:
it passes when all are open, and when one is not, its rows in the others are logged all the same, most of
them before the refusal is known. Measured on 7.4.10 (two parts) and 8.4.8 (four): accepted share and log of
refused rows for errors 1220, 1221 and 1234 alike.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled
from ndbplan.base.row_types import Floats, Rows
from ndbplan.simulate.kernel.log import count_error, open_files, room_of, why_closed
from ndbplan.simulate.world.indices import Error, Part
from ndbplan.simulate.world.laws import Laws, Node
from ndbplan.simulate.world.state import State

ROUNDED = 1e-6
"""Shares that come to more than 1 by this are 1, summed."""


@compiled
def produce_blocked(laws: Laws, state: State, attempts: float) -> None:
    """Production of a step in which at least one part cannot take all its work.

    Without queueing a transaction of which one row is refused is undone everywhere: what it logged is wasted.
    With queueing work waits, except for 410, which always aborts.
    """
    parts, piece, queue = state.parts, state.piece, laws.run.queue_slots > 0
    _open(laws, parts, attempts)
    share, together = _accepted_share(laws, parts, queue)
    closed, closed_by_log, met, some = _closed(laws, parts)
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
                _make_log(laws, parts, attempts, together, met, queue, n, p)
    _copy_in_room(laws.nodes, laws.base, parts, piece.share)
    state.cluster.is_blocked = some


@compiled
def _open(laws: Laws, parts: Floats, attempts: float) -> None:
    """How much of its work each part can take in this step, as a share, into Part.GRANT and Part.OPEN."""
    for n in range(laws.load.shape[0]):
        for p in range(laws.load.shape[1]):
            share = 1.0
            need = attempts * laws.load[n, p]
            if need > 0.0:
                open_files(laws.nodes, parts, n, p)
                room = room_of(parts, n, p)
                share = 1.0 if need <= room else room / need
            parts[Part.GRANT, n, p] = share
            parts[Part.OPEN, n, p] = share


@compiled
def _is_open(laws: Laws, parts: Floats, group: int, p: int, apart: bool) -> float:
    """Share of its work that a part takes on all replicas of a group; `apart`: each closes by itself."""
    found = 1.0
    for r in range(laws.alive[group]):
        one = parts[Part.GRANT, laws.slots[group, r], p]
        found = found * one if apart else min(found, one)
    return found


@compiled
def _taken(laws: Laws, parts: Floats, n: int, p: int, apart: bool) -> float:
    """Share of a part's work that a replica logs: what those before it in the chain let through and it takes.

    Each replica is first equally often.
    """
    place = laws.places[n]
    replicas = laws.alive[place.group]
    own = parts[Part.GRANT, n, p]
    through = own
    total: float = own
    for back in range(1, replicas):
        before = parts[Part.GRANT, laws.slots[place.group, (place.slot - back) % replicas], p]
        through = through * before if apart else min(through, before)
        total += through
    share: float = total / replicas
    return share


@compiled
def _accepted_share(laws: Laws, parts: Floats, queue: bool) -> tuple[float, float]:
    """(share of transactions that find all their parts open, the same for those that meet every part).

    A transaction of one row meets one part, one of many rows meets all of them. A row of a fully replicated
    table meets one in every node group, so that shares come to more than 1: the worst group decides.
    """
    mean = known = worst = 0.0
    lowest = together = 1.0
    apart = laws.run.replicas_apart and not queue
    for g in range(laws.slots.shape[0]):
        closed = 0.0
        for p in range(laws.share.shape[1]):
            if laws.share[g, p] <= 0.0:
                continue
            is_open = _is_open(laws, parts, g, p, apart)
            closed += laws.share[g, p] * (1.0 - is_open)
            known += laws.share[g, p]
            mean += laws.share[g, p] * is_open
            is_open = _is_open(laws, parts, g, p, False)
            together *= is_open ** laws.group_count[g]
            lowest = min(lowest, is_open)
        worst = max(worst, closed / laws.group_count[g])
    mean += max(0.0, 1.0 - known)
    if known > 1.0 + ROUNDED:
        mean = min(mean / known, max(0.0, 1.0 - worst))
    together = lowest if queue else together
    return (1.0 - laws.run.coverage) * mean + laws.run.coverage * together, together


@compiled
def _closed(laws: Laws, parts: Floats) -> tuple[float, float, float, bool]:
    """(share of the rows that parts do not take, of those whose log is full, share of what is undone that
    open parts log, whether there is such a part)."""
    closed = by_log = 0.0
    met = laws.run.aborted_log
    some = False
    for n in range(laws.load.shape[0]):
        for p in range(laws.load.shape[1]):
            if laws.load[n, p] > 0.0 and parts[Part.GRANT, n, p] < 1.0:
                part = (1.0 - parts[Part.GRANT, n, p]) * laws.share[laws.places[n].group, p]
                closed += part
                some = True
                why = why_closed(laws.nodes, parts, n, p)
                if why == Error.LOG:
                    by_log += part
                elif why == Error.FILE:
                    met = min(met, laws.run.aborted_log_at_file_end)
    return closed, by_log, met, some


@compiled
def _count_refused(laws: Laws, state: State, refused: float, closed: float, queue: bool) -> None:
    """Each part that does not take all its work refuses its part; in a queue only those whose log is full."""
    parts = state.parts
    for n in range(laws.load.shape[0]):
        for p in range(laws.load.shape[1]):
            if laws.load[n, p] > 0.0 and parts[Part.GRANT, n, p] < 1.0:
                why = why_closed(laws.nodes, parts, n, p)
                part = refused * (1.0 - parts[Part.GRANT, n, p]) * laws.share[laws.places[n].group, p]
                if not queue or why == Error.LOG:
                    count_error(state.errors, state.first, state.piece.now_s, why, part / closed, n)


@compiled
def _make_log(
    laws: Laws, parts: Floats, attempts: float, together: float, met: float, queue: bool, n: int, p: int
) -> None:
    """What a part writes: log of what is accepted, and of what is undone."""
    run = laws.run
    apart = run.replicas_apart and not queue
    alone = _is_open(laws, parts, laws.places[n].group, p, apart)
    single = alone * (1.0 - run.coverage)
    useful = single + together * run.coverage
    wasted = 0.0
    if not queue:
        taken = (1.0 - run.coverage) * (_taken(laws, parts, n, p, apart) - alone)
        vain = run.coverage * met * (_taken(laws, parts, n, p, False) - together)
        wasted = laws.nodes[n].abort_share * max(0.0, taken + vain)
    work = attempts * laws.load[n, p]
    _put(parts, n, p, work * (useful + wasted))
    parts[Part.WASTED, n, p] += work * wasted


@compiled
def _put(parts: Floats, n: int, p: int, amount: float) -> None:
    """Add log to a part, in whole bytes."""
    exact = amount + parts[Part.CARRY, n, p]
    whole = np.floor(exact)
    parts[Part.CARRY, n, p] = exact - whole
    parts[Part.FILL, n, p] += whole
    parts[Part.MADE, n, p] += whole


@compiled
def _copy_in_room(nodes: Rows[Node], base: Floats, parts: Floats, step_part: float) -> None:
    """Log of copying waits when a part has no room; the workload goes first."""
    for n in range(base.shape[0]):
        for p in range(base.shape[1]):
            if base[n, p] > 0.0:
                open_files(nodes, parts, n, p)
                amount = min(base[n, p] * step_part, room_of(parts, n, p))
                _put(parts, n, p, amount)
                parts[Part.BASE, n, p] += amount
