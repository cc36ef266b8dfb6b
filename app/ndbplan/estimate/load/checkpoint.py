"""Local checkpoints under a workload: bytes, speed, duration, how much redo log they make necessary.

    checkpoint(machines, held, loads, tables).nodes[0].duration_s

Full checkpoints up to 7.5: all rows at the set speed. Partial ones from 7.6.4: the changed share of each
table, found as the time T at which speed x T has written what changed in T (RonDB 21, Backup::calculate_*).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.base.later import Later
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.configuration.settings import NodeSettings, replicas_of
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint_files import bytes_beside_rows
from ndbplan.estimate.load.checkpoint_interval import least_interval_s, redo_span
from ndbplan.estimate.load.checkpoint_room import NO_UNDO_LOGS, Room, UndoLogs, rooms, writing
from ndbplan.estimate.load.checkpoint_speed import (
    AlertedSpeed,
    SpeedLimits,
    is_partial,
    redo_alerts,
    speed_limits,
    start_bytes,
)
from ndbplan.estimate.load.checkpoint_threads import Writers, writers_of_changes, writers_of_rows
from ndbplan.estimate.load.demand import NodeLoad, TableLoad
from ndbplan.estimate.load.log_full import HORIZON_S, Checkpoints, full_after_s
from ndbplan.estimate.load.new_rows import at_least, new_bytes_per_s
from ndbplan.estimate.load.node_settings import KEPT_NODES, NODE_SETTINGS
from ndbplan.estimate.load.partial_checkpoint import (
    changes_of,
    fragment_share,
    loads_by_table,
    partial_checkpoint,
)
from ndbplan.estimate.load.redo import log_bytes_per_part, log_reserve
from ndbplan.estimate.load.redo_control import NOT_ASKED, Reckoned, reckoned
from ndbplan.estimate.load.turns import fragments_in_turn, lengthened, room_for_rows
from ndbplan.estimate.storage.machines import Machines
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.ndb.nearness import Nearness

_LEAST_RATE = 1e-3
"""Slower log or growth, per second, never fills anything."""
_NEVER: Later[Quantity | None] = Later(lambda: None)
"""Nothing is written, so no log overflows."""
_UNCERTAIN = (
    "full_bytes", "written_bytes", "speed_bytes_per_s", "duration_s", "write_bytes_per_s",
    "redo_needed_bytes", "redo_fill",
)  # fmt: skip
"""Whose ranges are the wider the further a plan lies from measured loads; the moment of overflow too."""


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
    """Mean over time, pauses included, while rows grow as the workload adds them; 0 without writes."""
    redo_needed_bytes: Quantity
    """Log of the hottest part that must fit until checkpoints have made it superfluous."""
    redo_log_bytes: int
    redo_fill: Quantity
    """`redo_needed_bytes` as a share of the log; above 1 error 410 follows."""
    threads: int
    """LDM threads that write."""
    waits_s: float
    """Between two of them beside the pause, until enough is written for the next."""
    overflow: Later[Quantity | None]

    @property
    def overflow_after_s(self) -> Quantity | None:
        """Until the log is full (error 410) though checkpoints run, at this load and with the rows it adds;
        None: it never is. How long the log lasts without any checkpoint is `RedoEstimate.time_to_full_s`."""
        return self.overflow()


@dataclass(frozen=True)
class CheckpointEstimate(Shape):
    """Local checkpoints of the cluster."""

    JSON = "partial nodes"

    partial: bool
    nodes: tuple[NodeCheckpoint, ...]

    def node(self, node_id: int) -> NodeCheckpoint | None:
        """The node's figures; None when it holds no rows."""
        return self._by_id.get(node_id)

    @cached_property
    def _by_id(self) -> dict[int, NodeCheckpoint]:
        return {node.node_id: node for node in self.nodes}


def _full(
    constants: Constants,
    data: NodeData,
    load: NodeLoad | None,
    limits: SpeedLimits,
    factor: float,
    room: float,
    beside: Quantity,
) -> tuple[Quantity, Quantity, Quantity]:
    """(bytes, speed, duration) of a full checkpoint, which meets `room` bytes of rows at most.

    `beside`: bytes of its files beside rows.
    """
    inserted = load.inserted_checkpoint_bytes_per_s if load is not None else 0.0
    turns = fragments_in_turn(data.tables, constants["lcp_fragments_in_turn"].value)
    bounds = (
        Term("MaxDiskWriteSpeed, as far as the disk can", limits.ceiling, "bytes/s", "plan"),
        Term("MinDiskWriteSpeed, when redo falls behind", limits.floor, "bytes/s", "plan"),
    )
    speed = Quantity(limits.ceiling, limits.floor, limits.highest, "bytes/s", bounds)

    def seconds(rate: float) -> float:
        if rate <= 0:
            return 0.0
        grown = data.checkpoint_bytes * factor * lengthened(inserted * factor / rate, turns)
        return (min(room, grown) + beside.value) / rate

    terms = (
        Term("rows of the node in a checkpoint", data.checkpoint_bytes * factor, "bytes", "formula"),
        beside.as_term("files of its fragments beside rows", "formula"),
        Term("rows inserted meanwhile", inserted, "bytes/s", "plan"),
        Term(
            "fragments of an LDM thread, written in turn",
            turns,
            "count",
            "formula: each as large as it is then",
        ),
        speed.as_term("write speed", "plan"),
    )
    duration = Quantity.spanning(seconds(speed.value), (seconds(speed.high), seconds(speed.low)), "s", terms)
    ends = (duration.low * speed.high, duration.high * speed.low)
    size = Quantity.spanning(duration.value * speed.value, ends, "bytes", terms)
    if inserted > 0:
        off = constants["lcp_bytes_drawn"]
        size, duration = (size * off).within(most=room + beside.value), duration * off
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
    writers: Writers,
    begin_s: float,
    in_memory: float,
    *left: float,
) -> NodeCheckpoint:
    """Checkpoints of the nodes with these settings, data and load.

    `begin_s`: until enough was written for the next one; `in_memory`: bytes of DataMemory in use; `left`:
    figures of a `Room`.
    """
    room = Room(*left)
    scanned = constants["backup_scan_ldm_bytes_per_s"].value * writers.threads / writers.speed_share
    whole = speed_limits(settings, scanned).by_threads(writers.speed_share)
    limits = whole.on_disk(room.least, room.likely, room.most)
    every_s = least_interval_s(settings, constants, load, begin_s)
    control = reckoned(settings, constants, data, tables, load, in_memory)
    node = _without_growth(settings, constants, data, load, tables, limits, writers.threads, every_s, control)
    if load is None:
        return node
    # Checkpoint after checkpoint is looked at: only where somebody asks.
    lasts_s = node.duration_s.value
    asked = control.asked(lasts_s, max(every_s, lasts_s + constants["lcp_pause_s"].value))
    full = partial(
        _log_full, node.redo_log_bytes, settings, constants, data, load, tables, whole, room, every_s, asked
    )
    return replace(node, overflow=Later(full))


def _without_growth(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData,
    load: NodeLoad | None,
    tables: tuple[TableLoad, ...],
    limits: SpeedLimits,
    threads: int,
    every_s: float,
    control: Reckoned,
) -> NodeCheckpoint:
    in_parts = is_partial(settings)
    factor = constants["lcp_compressed_factor"].value if settings.number("CompressedLCP") else 1.0
    full = _all_rows(data) * constants["lcp_all_rows"] * factor
    changes = changes_of(data, tables)
    writes = load is not None and load.writes_per_s > 0
    if in_parts and writes:
        size, speed, duration = partial_checkpoint(
            settings, constants, data, changes, limits, every_s, control.speed
        )
        if factor != 1.0:
            size, duration = size.scaled(factor), duration.scaled(factor)
    else:
        room = room_for_rows(settings, data.checkpoint_bytes) * factor
        beside = bytes_beside_rows(settings, constants, data, threads)
        size, speed, duration = _full(constants, data, load, limits, factor, room, beside)
    pause = constants["lcp_pause_s"]
    waits_s = max(0.0, every_s - duration.value - pause.value)
    interval = duration.value + pause.value + waits_s
    if writes:
        mean = size.value / interval if interval else 0.0
        why = (size.as_term("one checkpoint"), duration.as_term("its duration"), *pause.why)
        if in_parts:
            rate = Quantity.exact(mean, "bytes/s", why) * constants["lcp_partial_mean"]
            rate = rate.within(most=max(mean, speed.high))
        else:
            ends = (limits.floor * duration.value / interval, speed.high)
            ends = (size.low / interval, size.high / interval) if waits_s else ends
            rate = Quantity.spanning(mean, ends, "bytes/s", why)
        rate = at_least(rate, factor * new_bytes_per_s(changes, tables), speed)
    else:
        rate = Quantity.exact(0.0, "bytes/s", (Term("nothing is written", 0.0, "bytes/s", "plan"),))
    log_bytes = log_bytes_per_part(settings)
    needed, fill = redo_span(constants, log_bytes, load, duration, in_parts, waits_s)
    return NodeCheckpoint(
        data.node_id, full, size, speed, duration, rate, needed, log_bytes, fill, threads, waits_s, _NEVER
    )


def _log_full(
    redo_log_bytes: int,
    settings: NodeSettings,
    constants: Constants,
    data: NodeData,
    load: NodeLoad,
    tables: tuple[TableLoad, ...],
    limits: SpeedLimits,
    room: Room,
    every_s: float,
    asked: float,
) -> Quantity | None:
    """When the growing rows have made the log of a part too small for a node's checkpoints; None: never.

    `asked`: bytes a second that redo control has checkpoints write without an alert.
    """
    part, rate = load.hottest_log_part
    page = constants["redo_page_overhead"]
    usable = redo_log_bytes - log_reserve(settings.features, constants).value
    if rate < _LEAST_RATE or usable <= 0:
        return None
    factor = constants["lcp_compressed_factor"].value if settings.number("CompressedLCP") else 1.0
    weight = settings.number("InsertRecoveryWork") / 100
    deleted = constants["lcp_delete_weight"].value
    growth = updated = new = weighted = 0.0
    by_table, changes = loads_by_table(tables), changes_of(data, tables)
    for one in changes:
        each = factor * by_table[one.part.table.id, one.part.unique_index].checkpoint_row_bytes
        growth += each * (one.inserts - one.deletes)
        updated += each * one.updates
        new += each * one.inserts
        weighted += each * (weight * one.inserts + deleted * one.deletes)
    work = max(1, settings.number("RecoveryWork")) / 100 if is_partial(settings) else None
    most = constants["lcp_fragments_in_turn"].value
    fragments = fragments_in_turn((p.part for p in changes) if work else data.tables, most)
    share = fragment_share(data, changes, by_table)
    alerts = redo_alerts(constants)

    def seconds(most: float, room: float, pause: float, per_s: float) -> float | None:
        checkpoints = Checkpoints(
            factor * data.checkpoint_bytes, growth, updated, new, weighted, work, share,
            AlertedSpeed(limits, min(most, room), room, None if work is None else asked, alerts), pause,
            fragments, not settings.features.redo_spans_two_lcps, every_s,
        )  # fmt: skip
        return full_after_s(checkpoints, per_s, usable)

    pause = constants["lcp_pause_s"]
    model = constants["simulated_rate"]
    value = seconds(limits.ceiling, room.lasting, pause.value, rate * page.value)
    if value is None:
        return None
    soon = seconds(limits.floor, room.lasting, pause.high, rate * page.high * model.high)
    late = seconds(limits.ceiling, room.likely, pause.low, rate * page.low * model.low)
    terms = (
        Term("log of one part that can be used", usable, "bytes", "plan"),
        Term(f"log records of part {part}", rate, "bytes/s", "workload"),
        *page.why,
        Term("checkpoint speed at most", min(limits.ceiling, room.lasting), "bytes/s", "plan"),
        Term("checkpoint speed at least", limits.floor, "bytes/s", "plan"),
        Term("growth of a checkpoint", growth, "bytes/s", "workload"),
        *pause.why,
        *model.why,
    )
    ends = (value if soon is None else soon, HORIZON_S if late is None else late)
    return Quantity.spanning(value, ends, "s", terms)


@kept_by_identity(size=KEPT_NODES)
def _writers(
    settings: NodeSettings, data: NodeData, tables: tuple[TableLoad, ...], ldm_threads: int
) -> Writers:
    changes = changes_of(data, tables)
    if changes and (is_partial(settings) or not data.rows):
        return writers_of_changes(settings, changes, ldm_threads)
    return writers_of_rows(settings, data, ldm_threads)


def checkpoint_writers(
    machines: Machines, held: Mapping[int, NodeData], tables: tuple[TableLoad, ...]
) -> dict[int, Writers]:
    """LDM threads that write checkpoints on every data node that holds rows: from 7.6 those with changes."""
    alike: dict[tuple[int, int, int], Writers] = {}
    found = {}
    for node_id, node in machines.by_id.items():
        if node_id in held:
            data = held[node_id].alike
            key = id(node.settings), id(data), node.ldm_threads
            if key not in alike:
                alike[key] = _writers(node.settings.only(NODE_SETTINGS), data, tables, node.ldm_threads)
            found[node_id] = alike[key]
    return found


@kept_by_identity(size=KEPT_NODES)
def _less_certain(near: Nearness, node: NodeCheckpoint) -> NodeCheckpoint:
    widened = near.widened_in(node, _UNCERTAIN)

    def overflow() -> Quantity | None:
        found = node.overflow()
        return None if found is None else near.widened(found)

    return node if widened is node else replace(widened, overflow=Later(overflow))


@kept_by_identity(size=KEPT_NODES)
def _of(node: NodeCheckpoint, node_id: int) -> NodeCheckpoint:
    return node if node.node_id == node_id else replace(node, node_id=node_id)


@kept_by_identity(size=48)
def checkpoint(
    machines: Machines,
    held: Mapping[int, NodeData],
    loads: Mapping[int, NodeLoad],
    tables: tuple[TableLoad, ...],
    near: Nearness,
    undo: UndoLogs = NO_UNDO_LOGS,
    in_memory: Mapping[int, float] = NOT_ASKED,
) -> CheckpointEstimate:
    """Checkpoints of every data node that holds rows.

    `held`, `loads`: by node id; `tables`: what is done to each table and unique index; nothing when idle;
    `near`: how near the plan lies to measured loads; `undo`: what is written of undo log; `in_memory`: by
    node id, bytes of DataMemory in use, of which redo control asks for a part at least.
    """
    constants, nodes = machines.constants, []
    logged = sum(load.redo_bytes_per_s.value for load in loads.values()) / replicas_of(machines.settings)
    begin_s = start_bytes(machines.settings) / logged if logged > 0 else 0.0
    writers = checkpoint_writers(machines, held, tables)
    threads = writing(*((node_id, one.threads) for node_id, one in writers.items()))
    room = rooms(machines, loads, threads, undo=undo)
    alike: dict[object, NodeCheckpoint] = {}
    for node_id, node in machines.by_id.items():
        if node_id not in held:
            continue
        data, load = held[node_id].alike, loads.get(node_id)
        own = load.alike if load is not None else None
        used_bytes = in_memory.get(node_id, 0.0)
        key = id(node.settings), id(data), id(own), id(writers[node_id]), room[node_id], used_bytes
        one = alike.get(key)
        if one is None:
            used = node.settings.only(NODE_SETTINGS)
            one = _node(
                used, constants, data, own, tables, writers[node_id], begin_s, used_bytes, *room[node_id]
            )
            one = alike[key] = _less_certain(near, one)
        nodes.append(_of(one, node_id))
    return CheckpointEstimate(is_partial(machines.settings), tuple(nodes))


MemoryEnds = tuple[tuple[int, float], ...]
"""(node id, seconds until its memory is full) of data nodes whose rows grow."""


@kept_by_value(96)
def memory_ends(*of_nodes: tuple[int, float]) -> MemoryEnds:
    """The same object for all that are equal, so that results can be kept by identity."""
    return of_nodes


@kept_by_identity(size=48)
def until_memory_is_full(estimate: CheckpointEstimate, ends: MemoryEnds) -> CheckpointEstimate:
    """The same where a log that would be full later is not: from when a node's memory is full, on all nodes
    no row is added.
    """
    end_s = min((seconds for _, seconds in ends), default=math.inf)
    if end_s == math.inf:
        return estimate
    return replace(estimate, nodes=tuple(_until(node, end_s) for node in estimate.nodes))


@kept_by_identity(size=KEPT_NODES)
def _until(node: NodeCheckpoint, end_s: float) -> NodeCheckpoint:
    def overflow() -> Quantity | None:
        found = node.overflow()
        return None if found is None or found.value > end_s else found

    return replace(node, overflow=Later(overflow))
