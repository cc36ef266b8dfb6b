"""Local checkpoints under a workload: bytes, speed, duration, how much redo log they make necessary.

    checkpoint(machines, held, loads, tables).nodes[0].duration_s

Full checkpoints up to 7.5: all rows at the set speed. Partial ones from 7.6.4: the changed share of each
table, found as the time T at which speed x T has written what changed in T (RonDB 21, Backup::calculate_*).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.configuration.settings import NodeSettings, redo_buffer_bytes
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.demand import NodeLoad, TableLoad
from ndbplan.estimate.load.log_full import HORIZON_S, Checkpoints, full_after_s
from ndbplan.estimate.load.node_settings import KEPT_NODES, NODE_SETTINGS
from ndbplan.estimate.load.redo import log_bytes_per_part, log_reserve
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.estimate.storage.node_data import NodeData, TablePart
from ndbplan.plan.processes import DiskRole

REDO_ALERTS = ("redo_alert_low", "redo_alert_high", "redo_alert_critical")
"""Shares of the log in use at which redo control writes checkpoints faster: names of constants."""
FRAGMENTS_IN_TURN = 2.0
"""Fragments of a table that an LDM thread has, about: one that is primary, one that is backup."""
_ROUNDS = 60
_LEAST_RATE = 1e-3
"""Slower log or growth, per second, never fills anything."""


@dataclass(frozen=True, slots=True)
class SpeedLimits:
    """Write speed of checkpoints of one node, bytes per second."""

    floor: float
    """MinDiskWriteSpeed: never slower, however busy the disk."""
    ceiling: float
    """MaxDiskWriteSpeed in normal operation."""
    other_restart: float
    """MaxDiskWriteSpeedOtherNodeRestart."""
    own_restart: float
    """MaxDiskWriteSpeedOwnRestart."""
    redo_control: bool
    """EnableRedoControl: the speed follows the rate of changes, up to `own_restart` in need."""


def speed_limits(settings: NodeSettings) -> SpeedLimits:
    """Speed limits of a node by its version's parameters; before 7.4 one speed, faster in a restart."""
    if not settings.features.checkpoint_speed_by_parameters:
        speed = settings.number("DiskCheckpointSpeed")
        restart = settings.number("DiskCheckpointSpeedInRestart")
        return SpeedLimits(speed, speed, speed, restart, redo_control=False)
    known = settings.features
    floor = settings.number("MinDiskWriteSpeed")
    ceiling = max(floor, settings.number("MaxDiskWriteSpeed"))
    return SpeedLimits(
        floor=floor,
        ceiling=ceiling,
        other_restart=max(ceiling, settings.number("MaxDiskWriteSpeedOtherNodeRestart")),
        own_restart=max(ceiling, settings.number("MaxDiskWriteSpeedOwnRestart")),
        redo_control=known.redo_control and bool(settings.number("EnableRedoControl")),
    )


def is_partial(settings: NodeSettings) -> bool:
    """Whether checkpoints write only what changed."""
    return settings.features.partial_checkpoints and bool(settings.number("EnablePartialLcp"))


def has_small_files(settings: NodeSettings, constants: Constants) -> bool:
    """Whether redo log files are so small that changing from one to the next costs disk time."""
    file_bytes = settings.number("FragmentLogFileSize")
    return file_bytes < max(redo_buffer_bytes(settings), constants["redo_small_file_bytes"].value)


def checkpoint_share(settings: NodeSettings, constants: Constants, ldms: int, log_parts: int) -> Quantity:
    """Share of a busy disk that checkpoints of so many LDM threads take from so many log parts in use.

    Each has its writes under way and the disk serves them in turn: an LDM thread weighs as much as
    `lcp_thread_weight` log parts (two threads: 0.73 of the disk beside two parts, 0.57 beside four).
    """
    whole = constants["lcp_device_share"]
    if constants.is_calibrated("lcp_device_share"):
        return whole
    if not log_parts:
        return Quantity.stated("share of a checkpoint", 1.0, "fraction", "no log is written beside it")
    weight = constants["lcp_thread_weight"]
    low, value, high = (max(1, ldms) * w for w in (weight.low, weight.value, weight.high))
    ends = (low / (low + log_parts), high / (high + log_parts))
    share = Quantity.spanning(value / (value + log_parts), ends, "fraction", weight.why)
    names = []
    if has_small_files(settings, constants):
        names.append("lcp_device_share_small_files")
    if settings.features.lcp_share_of_buffered_writes and not settings.number("ODirect"):
        names.append("lcp_device_share_buffered")
    least = min((constants[name] for name in names), key=lambda one: one.value, default=whole)
    return share.scaled(min(1.0, least.value / whole.value))


@dataclass(frozen=True, slots=True)
class NodeCheckpoint(Shape):
    """Local checkpoints of one data node."""

    JSON = (
        "node_id full_bytes written_bytes speed_bytes_per_s duration_s write_bytes_per_s "
        "redo_needed_bytes redo_fill redo_log_bytes overflow_after_s"
    )

    node_id: int
    full_bytes: Quantity
    """All rows of the node, as a full checkpoint writes them."""
    written_bytes: Quantity
    """What one checkpoint writes under the workload."""
    speed_bytes_per_s: Quantity
    duration_s: Quantity
    write_bytes_per_s: Quantity
    """Mean over time, pauses included; 0 without writes."""
    redo_needed_bytes: Quantity
    """Log of the hottest part that must fit until checkpoints have made it superfluous."""
    redo_log_bytes: int
    redo_fill: Quantity
    """`redo_needed_bytes` as a share of the log; above 1 error 410 follows."""
    overflow_after_s: Quantity | None
    """Until the log is full (error 410) though checkpoints run, at this load and with the rows it adds; None:
    it never is. How long the log lasts without any checkpoint is `RedoEstimate.time_to_full_s`."""


@dataclass(frozen=True, slots=True)
class CheckpointEstimate(Shape):
    """Local checkpoints of the cluster."""

    JSON = "partial nodes"

    partial: bool
    nodes: tuple[NodeCheckpoint, ...]

    def node(self, node_id: int) -> NodeCheckpoint | None:
        """The node's figures; None when it holds no rows."""
        return next((node for node in self.nodes if node.node_id == node_id), None)


@dataclass(frozen=True, slots=True)
class _Change:
    """Changes of one table on one node, rows per second, and what the node holds of it."""

    part: TablePart
    inserts: float
    updates: float
    deletes: float


@kept_by_identity(size=16)
def _by_table(tables: tuple[TableLoad, ...]) -> dict[tuple[str, int | None], TableLoad]:
    return {(load.table.id, load.unique_index): load for load in tables}


@kept_by_identity(size=KEPT_NODES)
def _changes(data: NodeData, tables: tuple[TableLoad, ...]) -> list[_Change]:
    """Changes of every table on one node that the workload writes."""
    loads = _by_table(tables)
    changes = []
    for part in data.tables:
        load = loads.get((part.table.id, part.unique_index))
        if load is None or load.writes_per_s == 0:
            continue
        share = part.share if part.table.rows else 1.0
        changes.append(
            _Change(part, share * load.inserts_per_s, share * load.updates_per_s, share * load.deletes_per_s)
        )
    return changes


def partial_fraction(change: float, fragment_share: float, recovery_work: float) -> float:
    """Share of a fragment's 2048 parts that a partial checkpoint writes in full.

    `change`: weighted changed rows / rows, at most 1; `fragment_share`: its memory / that of its LDM thread;
    `recovery_work`: RecoveryWork / 100. f = (1 + floor(2048 k / (k + p))) / 2048 with k = y + y/2 x share,
    taken as continuous (RonDB 21, Backup::calculate_min_parts).
    """
    if change <= 0:
        return 0.0
    k = change + 0.5 * change * fragment_share
    return min(1.0, k / (k + recovery_work))


def _partial_bytes(
    seconds: float, changes: list[_Change], data: NodeData, work: float, insert: float, deleted: float
) -> float:
    """Bytes that a partial checkpoint writes when the changes of so many seconds have piled up.

    `insert`, `deleted`: how much of a change inserting and deleting a row count for. Rows that are updated
    twice count once; deleted ones are not written [8.4.8: within 1 % from 10 % of changes up].
    """
    written = 0.0
    for change in changes:
        rows = change.part.rows
        held = change.part.checkpoint_bytes
        if rows <= 0:
            continue
        each = held / rows
        updated = rows * -math.expm1(-change.updates * seconds / rows)
        weighted = updated + (insert * change.inserts + deleted * change.deletes) * seconds
        changed = min(held, each * (updated + change.inserts * seconds))
        share = held / data.checkpoint_bytes / FRAGMENTS_IN_TURN if data.checkpoint_bytes else 0.0
        f = partial_fraction(min(1.0, weighted / rows), share, work)
        written += held * f + changed * (1.0 - f)
    return written


def _settle(speed: float, bytes_after: Callable[[float], float], limit: float) -> float:
    """The duration T with bytes_after(T) = speed x T, at most `limit` seconds, within 0.1 %."""
    high = min(1.0, limit)
    low, below = 0.0, -bytes_after(0.0)
    above = speed * high - bytes_after(high)
    while above < 0 and high < limit:
        low, below = high, above
        high = min(limit, 4 * high)
        above = speed * high - bytes_after(high)
    if above <= 0:
        return high
    for _ in range(_ROUNDS):
        if high - low <= 1e-3 * high:
            break
        # Regula falsi of the Illinois kind: a few steps where halving takes twenty.
        middle = (low * above - high * below) / (above - below)
        if not low < middle < high:
            middle = (low + high) / 2
        rest = speed * middle - bytes_after(middle)
        if abs(rest) <= 1e-3 * speed * middle:
            return middle
        if rest < 0:
            low, below, above = middle, rest, above / 2
        else:
            high, above, below = middle, rest, below / 2
    return high


def _partial(
    settings: NodeSettings, constants: Constants, data: NodeData, changes: list[_Change], limits: SpeedLimits
) -> tuple[Quantity, Quantity, Quantity]:
    """(bytes, speed, duration) of a partial checkpoint."""
    work = max(1, settings.number("RecoveryWork")) / 100
    insert = settings.number("InsertRecoveryWork") / 100
    pause = constants["lcp_pause_s"]
    headroom = constants["lcp_target_headroom"]
    deleted = constants["lcp_delete_weight"].value
    row = data.checkpoint_bytes / data.rows if data.rows else 0.0
    needed = sum(
        (c.updates * (1 + 1 / work) + c.inserts * (1 + insert / work) + c.deletes * deleted / work)
        * (c.part.checkpoint_bytes / c.part.rows if c.part.rows else row)
        for c in changes
    )
    target = limits.ceiling
    if limits.redo_control:
        target = max(limits.ceiling, min(needed * headroom.value, limits.own_restart))
    longest = data.checkpoint_bytes / target if target else 0.0

    meanwhile = constants["lcp_insert_share_partial"]
    inserted = sum(
        c.inserts * (c.part.checkpoint_bytes / c.part.rows if c.part.rows else row) for c in changes
    )

    def bytes_after(seconds: float) -> float:
        piled_up = _partial_bytes(seconds + pause.value, changes, data, work, insert, deleted)
        return piled_up + meanwhile.value * inserted * seconds

    seconds = _settle(target, bytes_after, max(longest, 1e-3))
    written = min(bytes_after(seconds), data.checkpoint_bytes) if data.checkpoint_bytes else 0.0
    terms = (
        Term("rows of the node in a full checkpoint", data.checkpoint_bytes, "bytes", "formula"),
        Term(
            "writing needed to keep up with small changes", needed, "bytes/s", "formula: 1 + w / RecoveryWork"
        ),
        Term("RecoveryWork", work, "fraction", "plan"),
        Term("InsertRecoveryWork", insert, "fraction", "plan"),
        *headroom.why,
        Term("rows inserted meanwhile", inserted, "bytes/s", "plan"),
        *meanwhile.why,
    )
    speed = Quantity.spanning(target, (limits.floor, limits.own_restart), "bytes/s", terms)
    spread = constants["lcp_partial_bytes"]
    size = (Quantity.exact(written, "bytes", terms) * spread).within(most=max(written, data.checkpoint_bytes))
    duration = size / speed
    return size, speed, Quantity.spanning(seconds, (duration.low, duration.high), "s", size.why)


def _full(
    constants: Constants, data: NodeData, load: NodeLoad | None, limits: SpeedLimits, factor: float
) -> tuple[Quantity, Quantity, Quantity]:
    """(bytes, speed, duration) of a full checkpoint."""
    during = constants["lcp_insert_share"]
    least_left = constants["lcp_least_left"].value
    inserted = load.inserted_checkpoint_bytes_per_s if load is not None else 0.0
    speed = Quantity(
        limits.ceiling,
        limits.floor,
        limits.ceiling,
        "bytes/s",
        (
            Term("MaxDiskWriteSpeed", limits.ceiling, "bytes/s", "plan"),
            Term("MinDiskWriteSpeed, when redo falls behind", limits.floor, "bytes/s", "plan"),
        ),
    )

    def seconds(rate: float, share: float) -> float:
        left = max(rate - share * inserted * factor, least_left * rate)
        return data.checkpoint_bytes * factor / left if left > 0 else 0.0

    terms = (
        Term("rows of the node in a checkpoint", data.checkpoint_bytes * factor, "bytes", "formula"),
        Term("rows inserted meanwhile", inserted, "bytes/s", "plan"),
        *during.why,
        speed.as_term("write speed", "plan"),
    )
    ends = (seconds(speed.high, during.low), seconds(speed.low, during.high))
    duration = Quantity.spanning(seconds(speed.value, during.value), ends, "s", terms)
    ends = (duration.low * speed.high, duration.high * speed.low)
    size = Quantity.spanning(duration.value * speed.value, ends, "bytes", terms)
    return size, speed, duration


@kept_by_identity(size=KEPT_NODES)
def _all_rows(data: NodeData) -> Quantity:
    """Bytes of all rows of a node in a full checkpoint, by its tables."""
    terms = tuple(
        Term(f"{p.name}: {p.rows:.0f} rows", p.checkpoint_bytes, "bytes", "4 + row bytes, measured")
        for p in data.tables
    )
    return Quantity.exact(data.checkpoint_bytes, "bytes", terms)


@kept_by_identity(size=KEPT_NODES)
def _node(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData,
    load: NodeLoad | None,
    tables: tuple[TableLoad, ...],
    room: float,
) -> NodeCheckpoint:
    """Checkpoints of the nodes with these settings, data and load.

    `room`: bytes a second that their disk leaves for a checkpoint.
    """
    node = _without_growth(settings, constants, data, load, tables)
    return node if load is None else _with_log_full(node, settings, constants, data, load, tables, room)


def _without_growth(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData,
    load: NodeLoad | None,
    tables: tuple[TableLoad, ...],
) -> NodeCheckpoint:
    limits = speed_limits(settings)
    partial = is_partial(settings)
    factor = constants["lcp_compressed_factor"].value if settings.number("CompressedLCP") else 1.0
    full = _all_rows(data) * constants["lcp_all_rows"] * factor
    changes = _changes(data, tables)
    writes = load is not None and load.writes_per_s > 0
    if partial and writes:
        size, speed, duration = _partial(settings, constants, data, changes, limits)
        if factor != 1.0:
            size, duration = size.scaled(factor), duration.scaled(factor)
    else:
        size, speed, duration = _full(constants, data, load, limits, factor)
    pause = constants["lcp_pause_s"]
    interval = duration.value + pause.value
    if writes:
        mean = size.value / interval if interval else 0.0
        why = (size.as_term("one checkpoint"), duration.as_term("its duration"), *pause.why)
        if partial:
            rate = Quantity.exact(mean, "bytes/s", why) * constants["lcp_partial_mean"]
            rate = rate.within(most=max(mean, speed.high))
        else:
            ends = (limits.floor * duration.value / interval, speed.high)
            rate = Quantity.spanning(mean, ends, "bytes/s", why)
    else:
        rate = Quantity.exact(0.0, "bytes/s", (Term("nothing is written", 0.0, "bytes/s", "plan"),))
    log_bytes = log_bytes_per_part(settings)
    needed, fill = _redo_span(constants, log_bytes, load, duration, partial)
    return NodeCheckpoint(data.node_id, full, size, speed, duration, rate, needed, log_bytes, fill, None)


def _redo_span(
    constants: Constants, log_bytes: int, load: NodeLoad | None, duration: Quantity, partial: bool
) -> tuple[Quantity, Quantity]:
    """(log that must fit until checkpoints have made it superfluous, as a share of the log) of one part."""
    span = constants["redo_span_partial_lcp" if partial else "redo_span_full_lcp"]
    part, rate = load.hottest_log_part if load is not None else (0, 0.0)
    every = duration.named("duration of a checkpoint") + constants["lcp_pause_s"]
    log = Quantity.stated(f"log records of part {part}", rate, "bytes/s", "workload")
    needed = (span * every * log * constants["redo_page_overhead"]).in_unit("bytes")
    size = Term("log of one part", log_bytes, "bytes", "NoOfFragmentLogFiles × FragmentLogFileSize")
    fill = needed.scaled(1 / log_bytes if log_bytes else 0.0, "fraction", (needed.as_term("needed"), size))
    return needed, fill


def _room(node: Machine, load: NodeLoad | None, constants: Constants) -> float:
    """Bytes a second that a checkpoint of the node can write beside the redo log."""
    disk = node.disks[DiskRole.LCP]
    if disk is None or load is None:
        return math.inf
    whole = disk.sequential_write_bytes_per_s * (1.0 - disk.other_load)
    if node.disks[DiskRole.REDO] is not disk:
        return whole
    page = constants["redo_page_overhead"]
    parts = sum(rate > 0 for _, rate in load.redo_by_log_part)
    share = checkpoint_share(node.settings, constants, node.ldm_threads, parts).value
    return max(share * whole, whole - load.redo_bytes_per_s.value * page.value)


@dataclass(frozen=True, slots=True)
class _Speed:
    """Bytes a second that a checkpoint writes while so large a share of the log is in use."""

    limits: SpeedLimits
    steady: float
    """Without redo control."""
    room: float
    """What the disk leaves."""
    follows: float | None
    """The rate of changes that redo control follows; None: full checkpoints."""
    alerts: tuple[float, ...]
    """Shares of the log in use at which it is written faster."""
    headroom: float
    """By how much more the speed follows at each of them."""

    def __call__(self, used: float) -> float:
        limits = self.limits
        if not limits.redo_control:
            return self.steady
        alert = 0
        for level in self.alerts:
            alert += used > level
        high = (limits.ceiling, limits.ceiling, limits.other_restart, limits.own_restart)[alert]
        follows = (self.follows or 0.0) * (1 + self.headroom * alert)
        return min(self.room, max(high, min(follows, limits.own_restart)))


def _with_log_full(
    node: NodeCheckpoint,
    settings: NodeSettings,
    constants: Constants,
    data: NodeData,
    load: NodeLoad,
    tables: tuple[TableLoad, ...],
    room: float,
) -> NodeCheckpoint:
    """The node's checkpoints with the moment at which the growing rows make the log too small for them."""
    part, rate = load.hottest_log_part
    page = constants["redo_page_overhead"]
    usable = node.redo_log_bytes - log_reserve(settings.features, constants).value
    if rate < _LEAST_RATE or usable <= 0:
        return node
    limits = speed_limits(settings)
    factor = constants["lcp_compressed_factor"].value if settings.number("CompressedLCP") else 1.0
    weight = settings.number("InsertRecoveryWork") / 100
    deleted = constants["lcp_delete_weight"].value
    growth = changed = touched = spread = 0.0
    by_table = _by_table(tables)
    for one in _changes(data, tables):
        each = factor * by_table[one.part.table.id, one.part.unique_index].checkpoint_row_bytes
        growth += each * (one.inserts - one.deletes)
        changed += each * (one.updates + weight * one.inserts + deleted * one.deletes)
        touched += each * (one.updates + one.inserts)
        spread += each * (one.updates + one.inserts) * one.part.checkpoint_bytes
    work = max(1, settings.number("RecoveryWork")) / 100 if is_partial(settings) else None
    needed = touched + changed / (work or 1.0)
    whole = touched * data.checkpoint_bytes
    share = (min(1.0, spread / whole) if whole > 0 and spread > 0 else 1.0) / FRAGMENTS_IN_TURN
    fragments = min(constants["lcp_fragments_in_turn"].value, max(1.0, FRAGMENTS_IN_TURN * len(tables)))
    follows = needed * constants["lcp_target_headroom"].value

    alerts = tuple(constants[name].value for name in REDO_ALERTS)
    headroom = constants["lcp_alert_headroom"].value

    def seconds(most: float, pause: float, per_s: float) -> float | None:
        checkpoints = Checkpoints(
            factor * data.checkpoint_bytes, growth, changed, touched, work, share,
            _Speed(limits, min(most, room), room, None if work is None else follows, alerts, headroom), pause,
            fragments, not settings.features.redo_spans_two_lcps,
        )  # fmt: skip
        return full_after_s(checkpoints, per_s, usable)

    pause = constants["lcp_pause_s"]
    model = constants["simulated_rate"]
    value = seconds(limits.ceiling, pause.value, rate * page.value)
    if value is None:
        return node
    soon = seconds(limits.floor, pause.high, rate * page.high * model.high)
    late = seconds(limits.ceiling, pause.low, rate * page.low * model.low)
    terms = (
        Term("log of one part that can be used", usable, "bytes", "plan"),
        Term(f"log records of part {part}", rate, "bytes/s", "workload"),
        *page.why,
        Term("checkpoint speed at most", min(limits.ceiling, room), "bytes/s", "plan"),
        Term("checkpoint speed at least", limits.floor, "bytes/s", "plan"),
        Term("growth of a checkpoint", growth, "bytes/s", "workload"),
        *pause.why,
        *model.why,
    )
    ends = (value if soon is None else soon, HORIZON_S if late is None else late)
    return replace(node, overflow_after_s=Quantity.spanning(value, ends, "s", terms))


@kept_by_identity(size=KEPT_NODES)
def _of(node: NodeCheckpoint, node_id: int) -> NodeCheckpoint:
    return node if node.node_id == node_id else replace(node, node_id=node_id)


def checkpoint(
    machines: Machines,
    held: Mapping[int, NodeData],
    loads: Mapping[int, NodeLoad],
    tables: tuple[TableLoad, ...],
) -> CheckpointEstimate:
    """Checkpoints of every data node that holds rows.

    `held`, `loads`: by node id; `tables`: what is done to each table and unique index; nothing when idle.
    """
    constants = machines.constants
    nodes = []
    for node_id, node in machines.by_id.items():
        if node_id not in held:
            continue
        data, load = held[node_id], loads.get(node_id)
        own = load.alike if load is not None else None
        used = node.settings.only(NODE_SETTINGS)
        one = _node(used, constants, data.alike, own, tables, _room(node, own, constants))
        nodes.append(_of(one, node_id))
    return CheckpointEstimate(is_partial(machines.settings), tuple(nodes))
