"""A partial checkpoint: the share of each table that changed while checkpoints wrote (RonDB 21,
Backup::calculate_*).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term
from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint_speed import SpeedLimits
from ndbplan.estimate.load.demand import TableLoad
from ndbplan.estimate.load.node_settings import KEPT_NODES
from ndbplan.estimate.load.turns import fragments_in_turn, lengthened, room_for_rows
from ndbplan.estimate.storage.node_data import NodeData, TablePart

ALL_PARTS_ABOVE = 0.7
"""Changed rows / rows, as they weigh, above which all parts are written: the others would save too little
(NDB 9.7, Backup::calculate_number_of_parts, rule 2)."""

PARTS = 2048
"""Parts of a fragment (NDB source, NDB_MAX_LCP_PARTS)."""

_APART = 0.1
"""By how much of itself what changed differs from one checkpoint, or fragment, to the next."""
_GROWS = 1e-3
"""Share by which rows grow while a checkpoint writes, below which the one before it was as long."""
_ROUNDS_BEFORE = 8
"""Rounds in which it is found how much shorter the one before was."""
_ROUNDS = 60
"""Halvings of the interval in which the answer lies: below the rounding of a float."""


@dataclass(frozen=True, slots=True)
class Change:
    """Changes of one table on one node, rows per second, and what the node holds of it."""

    part: TablePart
    inserts: float
    updates: float
    deletes: float


@kept_by_identity(size=48)
def loads_by_table(tables: tuple[TableLoad, ...]) -> dict[tuple[str, int | None], TableLoad]:
    return {(load.table.id, load.unique_index): load for load in tables}


@kept_by_identity(size=KEPT_NODES)
def changes_of(data: NodeData, tables: tuple[TableLoad, ...]) -> list[Change]:
    """Changes of every table on one node that the workload writes."""
    loads = loads_by_table(tables)
    changes = []
    for part in data.tables:
        load = loads.get((part.table.id, part.unique_index))
        if load is None or load.writes_per_s == 0:
            continue
        share = part.share if part.table.rows else 1.0
        changes.append(
            Change(part, share * load.inserts_per_s, share * load.updates_per_s, share * load.deletes_per_s)
        )
    return changes


def fragment_share(
    data: NodeData, changes: list[Change], loads: Mapping[tuple[str, int | None], TableLoad]
) -> float:
    """Share of an LDM thread's rows that a fragment of a changed table has; one without rows will be most."""
    touched = alone = spread = 0.0
    for one in changes:
        each = loads[one.part.table.id, one.part.unique_index].checkpoint_row_bytes
        bytes_per_s = each * (one.inserts + one.updates + one.deletes)
        touched += bytes_per_s
        alone += bytes_per_s / one.part.in_turn
        spread += bytes_per_s / one.part.in_turn * one.part.checkpoint_bytes
    if touched <= 0:
        return 1.0
    held = data.checkpoint_bytes
    return min(alone, spread / held) / touched if spread > 0 and held > 0 else alone / touched


def partial_fraction(change: float, fragment_share: float, recovery_work: float) -> float:
    """Share of a fragment's 2048 parts that a partial checkpoint writes in full.

    `change`: weighted changed rows / rows, at most 1; `fragment_share`: its memory / that of its LDM thread;
    `recovery_work`: RecoveryWork / 100. f = (1 + floor(2048 k / (k + p))) / 2048 with k = y + y/2 x share,
    here without whole parts (`whole_parts`); all of them above 0.7 (NDB 9.7, RonDB 21,
    Backup::calculate_number_of_parts).
    """
    if change <= 0:
        return 0.0
    if change > ALL_PARTS_ABOVE:
        return 1.0
    k = change + 0.5 * change * fragment_share
    return k / (k + recovery_work)


def whole_parts(fraction: float, touched: float = 1.0) -> float:
    """The same share in whole parts, one more than are full, of fragments that changed.

    `touched`: the share of the fragments with a change; the others write no row (NDB 9.7, RonDB 21,
    Backup::handle_idle_lcp). Checkpoints, and fragments, differ by chance, so it is a mean.
    """
    if fraction <= 0 or touched <= 0:
        return 0.0
    parts = PARTS * fraction / touched
    least, most = (1.0 - _APART) * parts, (1.0 + _APART) * parts
    full = (_floors(most) - _floors(least)) / (most - least)
    return min(1.0, touched * (1.0 + full) / PARTS)


def _floors(upto: float) -> float:
    """The integral of floor(x) from 0."""
    whole = math.floor(upto)
    return whole * (whole - 1) / 2 + whole * (upto - whole)


def written_bytes(held: float, changed: float, in_full: float) -> float:
    """What a partial checkpoint writes of rows: a share of its parts in full, of the others what changed."""
    return held * in_full + changed * (1.0 - in_full)


class Piled(NamedTuple):
    """What a partial checkpoint writes of changes that have piled up."""

    written: float
    """Bytes, were all fragments begun at once."""
    in_full: float
    """Bytes a second by which the parts that are written in full grow until a fragment's turn comes."""
    others: float
    """Bytes a second of rows that come to the other parts."""


def _piled_up(
    seconds: float,
    changes: list[Change],
    data: NodeData,
    work: float,
    insert: float,
    deleted: float,
    since_gcp_s: float = 0.0,
    rows_share: float = 1.0,
) -> Piled:
    """What a partial checkpoint writes of the changes of so many seconds.

    `insert`, `deleted`: how much of a change inserting and deleting a row count for. Rows that are updated
    twice count once; deleted ones are not written [8.4.8: within 1 % from 10 % of changes up]. Rows say
    after which global checkpoint they changed, so those of `since_gcp_s` before are written once more.
    `rows_share`: of the rows that the node has, those there are.
    """
    written = in_full = others = 0.0
    for change in changes:
        rows = change.part.rows * rows_share
        held = change.part.checkpoint_bytes * rows_share
        if rows <= 0:
            continue
        each = held / rows
        updated = rows * -math.expm1(-change.updates * seconds / rows)
        # No more rows were inserted than there are, where none is deleted.
        inserted = change.inserts * seconds
        if change.deletes <= 0:
            inserted = min(rows, inserted)
        weighted = updated + insert * inserted + deleted * change.deletes * seconds
        written_s = seconds + since_gcp_s
        again = rows * -math.expm1(-change.updates * written_s / rows)
        changed = min(held, each * (again + change.inserts * written_s))
        share = held / data.checkpoint_bytes / change.part.in_turn if data.checkpoint_bytes else 0.0
        each_s = (change.updates + change.inserts + change.deletes) / change.part.fragments
        f = partial_fraction(min(1.0, weighted / rows), share, work)
        f = whole_parts(f, -math.expm1(-each_s * written_s))
        written += written_bytes(held, changed, f)
        in_full += f * each * (change.inserts - change.deletes)
        others += (1.0 - f) * each * change.inserts
    return Piled(written, in_full, others)


def _settle(speed: Callable[[float], float], bytes_after: Callable[[float], float], limit: float) -> float:
    """The duration T with bytes_after(T) = speed(T) x T, at most `limit` seconds, within 0.1 %."""
    high = min(1.0, limit)
    low, below = 0.0, -bytes_after(0.0)
    above = speed(high) * high - bytes_after(high)
    while above < 0 and high < limit:
        low, below = high, above
        high = min(limit, 4 * high)
        above = speed(high) * high - bytes_after(high)
    if above <= 0:
        return high
    for _ in range(_ROUNDS):
        if high - low <= 1e-3 * high:
            break
        # Regula falsi of the Illinois kind: a few steps where halving takes twenty.
        middle = (low * above - high * below) / (above - below)
        if not low < middle < high:
            middle = (low + high) / 2
        could = speed(middle) * middle
        rest = could - bytes_after(middle)
        if abs(rest) <= 1e-3 * could:
            return middle
        if rest < 0:
            low, below, above = middle, rest, above / 2
        else:
            high, above, below = middle, rest, below / 2
    return high


def partial_checkpoint(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData,
    changes: list[Change],
    limits: SpeedLimits,
    every_s: float,
    speed_at: Callable[[SpeedLimits, float, float], float],
) -> tuple[Quantity, Quantity, Quantity]:
    """(bytes, speed, duration) of a partial checkpoint.

    `every_s`: from one to the next at least; `speed_at`: bytes a second within limits, by the duration of a
    checkpoint and the time from one to the next.
    """
    work = max(1, settings.number("RecoveryWork")) / 100
    insert = settings.number("InsertRecoveryWork") / 100
    pause = constants["lcp_pause_s"]
    headroom = constants["lcp_target_headroom"]
    deleted = constants["lcp_delete_weight"].value
    row = data.checkpoint_bytes / data.rows if data.rows else 0.0

    def speed_of(seconds: float) -> float:
        return speed_at(limits, seconds, max(every_s, seconds + pause.value))

    each = [c.part.checkpoint_bytes / c.part.rows if c.part.rows else row for c in changes]
    inserted = sum(c.inserts * bytes_ for c, bytes_ in zip(changes, each, strict=True))
    grows = sum((c.inserts - c.deletes) * bytes_ for c, bytes_ in zip(changes, each, strict=True))
    since_gcp_s = settings.number("TimeBetweenGlobalCheckpoints") / 2000

    turns = fragments_in_turn((c.part for c in changes), constants["lcp_fragments_in_turn"].value)

    def in_turn(bytes_: float, grows: float, target: float) -> float:
        return bytes_ * lengthened(grows / target, turns) if target > 0 else bytes_

    def bytes_since(seconds: float, shorter: float, target: float, rows_share: float = 1.0) -> float:
        """`shorter`: what the one before took of the time of this one; its fragments were sooner at turn."""
        found = _piled_up(seconds, changes, data, work, insert, deleted, since_gcp_s, rows_share)
        return in_turn(found.written, found.in_full + (1.0 - shorter) * found.others, target)

    def bytes_after(seconds: float) -> float:
        shorter, target = 1.0, speed_of(seconds)
        share = max(0.0, grows) / data.checkpoint_bytes if data.checkpoint_bytes else 0.0
        if share * seconds > _GROWS and target > 0:
            # Rows came before as well: the checkpoint before this one was of fewer, and as much shorter as
            # the one before that was shorter than it.
            for _ in range(_ROUNDS_BEFORE):
                rows = max(0.0, 1.0 - share * (shorter * seconds + pause.value))
                since_s = max(every_s, shorter * shorter * seconds + pause.value)
                shorter = min(1.0, bytes_since(since_s, shorter, target, rows) / (target * seconds))
        size = bytes_since(max(every_s, shorter * seconds + pause.value), shorter, target)
        return min(size, most_at(target))

    def most_at(target: float) -> float:
        return min(room, in_turn(data.checkpoint_bytes, grows, target))

    room, slowest = room_for_rows(settings, data.checkpoint_bytes), limits.ceiling
    limit = most_at(slowest) / slowest if slowest else 0.0
    seconds = _settle(speed_of, bytes_after, max(limit, 1e-3))
    written = bytes_after(seconds) if data.checkpoint_bytes else 0.0
    target = speed_of(seconds)
    most = most_at(target)
    raised = max(limits.raised, target)
    terms = (
        Term("rows of the node in a full checkpoint", data.checkpoint_bytes, "bytes", "formula"),
        Term("speed, which follows the changes under redo control", target, "bytes/s", "source: Backup.cpp"),
        Term("RecoveryWork", work, "fraction", "plan"),
        Term("InsertRecoveryWork", insert, "fraction", "plan"),
        *headroom.why,
        Term("speed at most, as far as the disk can", raised, "bytes/s", "plan"),
        Term("rows inserted meanwhile", inserted, "bytes/s", "plan"),
        Term(
            "fragments of an LDM thread, written in turn",
            turns,
            "count",
            "formula: each as large as it is then",
        ),
    )
    speed = Quantity.spanning(target, (limits.floor, raised), "bytes/s", terms)
    spread = constants["lcp_partial_bytes"]
    size = Quantity.exact(written, "bytes", terms) * spread
    size = size.within(most=room if grows > 0 else max(written, most))
    duration = size / speed
    return size, speed, Quantity.spanning(seconds, (duration.low, duration.high), "s", size.why)
