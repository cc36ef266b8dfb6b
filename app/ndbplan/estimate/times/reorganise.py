"""How long an online reorganisation takes after node groups were added, and what it needs meanwhile.

    reorganise(plan, groups=1).duration_s

Every old node passes over the rows whose primary it holds, one fragment after the other; rows that move are
written in place, copied and later deleted. That chain of work is on one thread at a time, so the busiest old
node decides, unless the cores of a host that several nodes share, or its disks, are too slow for all of it.
Work is counted on a core of 2008; fitted to the article of the sample add-nodes (2.33 GHz, 2009) and to a
running 7.4.10 cluster.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity, Term, rising, total
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_value
from ndbplan.configuration.node_groups import incomplete_node_group, node_groups
from ndbplan.configuration.settings import no_of_replicas, node_settings
from ndbplan.edits import parts as edits
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.cpu import CpuEstimate, cpu
from ndbplan.estimate.load.disk_data import tablespace_capacity_bytes, tablespace_use_by_node
from ndbplan.estimate.load.processors import core_speed
from ndbplan.estimate.storage.column_bytes import is_blob, row_payload_bytes
from ndbplan.estimate.storage.distribution import Redistribution
from ndbplan.estimate.storage.row_cost import ordered_indexes
from ndbplan.estimate.storage.rows import blob_parts
from ndbplan.estimate.stored import memory, redistribute
from ndbplan.estimate.times.disk_files import left_beside
from ndbplan.estimate.times.reorganise_limits import Work, disk_seconds, link_seconds
from ndbplan.estimate.times.restart import busy_disks
from ndbplan.estimate.times.speed_terms import change_term, spread_terms
from ndbplan.ndb.features import features
from ndbplan.ndb.speed_changes import speed_change
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Workload

_LARGEST_USEFUL_BATCH = 64
"""Larger batches gain nothing (running 8.4.8 cluster); a row costs as much with them as before 7.6.4."""
_LEAST_LEFT = 0.05
"""Share of a core or thread that a workload leaves at least."""


class ReorganiseError(UserError):
    """The cluster cannot grow online."""


@dataclass(frozen=True, slots=True)
class TableReorganise(Shape):
    """Reorganisation of one table."""

    JSON = (
        "table=redistribution.before.table partitions_before=redistribution.before.placement.partitions "
        "partitions_after=redistribution.after.placement.partitions rows_moved "
        "bytes_moved=redistribution.bytes_moved partitions=redistribution.partitions duration_s bound "
        "notes"
    )

    table: str
    redistribution: Redistribution
    rows_moved: int
    duration_s: Quantity
    bound: str
    """What decides the duration, in words."""
    moves: bool
    """False: the statement is refused or changes nothing."""
    notes: tuple[str, ...]
    """What stays behind or needs another statement."""


@dataclass(frozen=True, slots=True)
class NodePeak(Shape):
    """Most DataMemory a data node needs while and after the reorganisation, before OPTIMIZE TABLE."""

    JSON = "node_id is_new data_memory_bytes limit_bytes fits"

    node_id: int
    is_new: bool
    data_memory_bytes: Quantity
    limit_bytes: int

    @property
    def fits(self) -> bool:
        """Whether DataMemory is enough."""
        return self.data_memory_bytes.value <= self.limit_bytes


@dataclass(frozen=True, slots=True)
class TablespacePeak(Shape):
    """Most of a tablespace that a data node needs while and after the reorganisation."""

    JSON = "node_id is_new tablespace used_bytes capacity_bytes fits"

    node_id: int
    is_new: bool
    tablespace: str
    used_bytes: Quantity
    capacity_bytes: int

    @property
    def fits(self) -> bool:
        """Whether its data files are enough."""
        return self.used_bytes.value <= self.capacity_bytes


@dataclass(frozen=True)
class ReorganiseEstimate(Shape):
    """Reorganisation of every table, one after another."""

    JSON = "tables duration_s problems memory_peak_bytes nodes=node_peaks tablespaces"

    tables: tuple[TableReorganise, ...]
    duration_s: Quantity
    memory_peak_bytes: int
    """Pages of all fragments, one replica of each, before OPTIMIZE TABLE gives any back."""
    node_peaks: tuple[NodePeak, ...]
    plan_after: Plan
    """The plan with the new nodes and the tables as reorganised."""
    tablespaces: tuple[TablespacePeak, ...] = ()
    """Of every node that holds columns on disk."""

    @property
    def problems(self) -> tuple[str, ...]:
        """One line for each tablespace and each DataMemory that is too small for it."""
        short: dict[str, list[TablespacePeak]] = {}
        for peak in self.tablespaces:
            if not peak.fits:
                short.setdefault(peak.tablespace, []).append(peak)
        spaces = [
            f"error: tablespace {name} needs {format_value(max(p.used_bytes.value for p in peaks), 'bytes')} "
            f"on node{'s' if len(peaks) > 1 else ''} {', '.join(str(p.node_id) for p in peaks)} and has "
            f"{format_value(peaks[0].capacity_bytes, 'bytes')}: add data files before REORGANIZE"
            for name, peaks in short.items()
        ]
        memory_lines = [
            f"error: node {peak.node_id} needs {format_value(peak.data_memory_bytes.value, 'bytes')} of "
            f"DataMemory and has {format_value(peak.limit_bytes, 'bytes')}: raise it before REORGANIZE"
            for peak in self.node_peaks
            if not peak.fits
        ]
        return (*spaces, *memory_lines)


def _work(change: Redistribution) -> Work:
    before, after = change.before, change.after
    primary = before.placement.nodes[:, 0].tolist()
    scanned: dict[int, float] = {}
    for node_id, rows in zip(primary, before.rows.tolist(), strict=True):
        scanned[node_id] = scanned.get(node_id, 0.0) + rows
    moved: dict[int, float] = {}
    received: dict[int, float] = {}
    target = after.placement.nodes[:, 0].tolist()
    for (old, new), rows in change.moved_rows.items():
        moved[primary[old]] = moved.get(primary[old], 0.0) + rows
        received[target[new]] = received.get(target[new], 0.0) + rows
    return Work(scanned, moved, received)


@dataclass(frozen=True, slots=True)
class _RowCost:
    """Seconds of work of an old node on a core of 2008."""

    scan_s: float
    moved_s: float
    terms: tuple[Term, ...]


def _batch(plan: Plan, version: NdbVersion) -> int:
    """Rows of a batch that count: MaxReorgBuildBatchSize where there is one, at most the largest useful."""
    if not speed_change("reorganise_batches").is_in(version):
        return _LARGEST_USEFUL_BATCH
    batch = node_settings(plan).number("MaxReorgBuildBatchSize")
    return min(_LARGEST_USEFUL_BATCH, max(1, batch))


def _row_cost(plan: Plan, table: Table, version: NdbVersion) -> _RowCost:
    constants = constants_of(plan)
    scan, moved = constants["reorganise_scan_row_s"], constants["reorganise_moved_row_s"]
    index, byte = constants["reorganise_index_row_s"], constants["reorganise_byte_s"]
    others = tuple(c for c in table.columns if c.name not in table.primary_key and not is_blob(c))
    payload = row_payload_bytes(others, version).value
    extra = max(0, ordered_indexes(table) - 1)
    scan_s, moved_s = scan.value, moved.value + index.value * extra + byte.value * payload
    for part in blob_parts(table, version):
        if not features(version).blobs_are_reorganised:
            break
        # A parts table is reorganised like any other: its rows are those of the base table times the parts.
        size = min(float(part.part_bytes), part.layout.variable_bytes)
        scan_s += part.parts_per_row * scan.value
        moved_s += part.parts_per_row * (moved.value + byte.value * size)
    batch = _batch(plan, version)
    factor = 1.0
    terms = [
        *scan.why,
        *moved.why,
        Term("ordered indexes beyond the first", extra, "", "plan"),
        *index.why,
        Term("bytes of a row beside key and blobs", payload, "bytes", "plan"),
        *byte.why,
    ]
    if batch < _LARGEST_USEFUL_BATCH:
        exponent = constants["reorganise_batch_exponent"]
        factor = (_LARGEST_USEFUL_BATCH / batch) ** exponent.value
        terms += [Term("MaxReorgBuildBatchSize", batch, "rows", "plan"), *exponent.why]
    return _RowCost(scan_s * factor, moved_s * factor, tuple(terms))


def _spread(plan: Plan, version: NdbVersion) -> Quantity:
    """How far a duration beyond its fixed cost may be off."""
    constants = constants_of(plan)
    scale = constants["reorganise_scale"]
    low, high = scale.low / scale.value, scale.high / scale.value
    batch = _batch(plan, version)
    if batch < _LARGEST_USEFUL_BATCH and not constants.is_calibrated("reorganise_scale"):
        exponent = constants["reorganise_batch_exponent"]
        step = math.log(_LARGEST_USEFUL_BATCH / batch)
        ends = sorted(step * (e - exponent.value) for e in (exponent.low, exponent.high))
        # Independent uncertainties add up in quadrature on the scale of factors.
        low = math.exp(-math.hypot(math.log(low), min(0.0, ends[0])))
        high = math.exp(math.hypot(math.log(high), max(0.0, ends[1])))
    return Quantity(1.0, low, high, "factor", scale.why)


@dataclass(frozen=True, slots=True)
class _Left:
    """What a workload leaves of threads and hosts."""

    thread: Mapping[int, float]
    host: Mapping[str, float]
    busy: Mapping[str, float]
    """Share of the time of each disk that is taken."""

    @classmethod
    def of(cls, load: CpuEstimate, busy: Mapping[str, float]) -> _Left:
        thread = {n.node_id: max(_LEAST_LEFT, 1 - n.ldm_utilisation.value) for n in load.nodes}
        return cls(thread, {h.host_id: max(_LEAST_LEFT, 1 - h.utilisation.value) for h in load.hosts}, busy)

    def of_disk(self, disk: Disk) -> float:
        """Share of a disk that is left."""
        return left_beside(disk, self.busy.get(disk.id, 0.0))


def _cores_seconds(after: Plan, seconds_of: Mapping[int, float], left: _Left) -> tuple[float, str]:
    """Time that the cores of the busiest host need; `seconds_of`: work of each node on a core of 2008."""
    by_host: dict[str, float] = {}
    for node in after.data_nodes:
        by_host[node.host_id] = by_host.get(node.host_id, 0.0) + seconds_of.get(node.node_id, 0.0)
    worst, where = 0.0, ""
    for host_id, work in by_host.items():
        host = after.host(host_id)
        speed = core_speed(host, constants_of(after)).value * host.cores * left.host.get(host_id, 1.0)
        if work / speed > worst:
            worst, where = work / speed, f"the {host.cores} cores of {host.hostname}"
    return worst, where


def _table(plan: Plan, after: Plan, table: Table, left: _Left) -> TableReorganise:
    change = redistribute(plan, after, table)
    version = plan.version
    rows_moved = change.rows_moved
    refusal, notes = _what_stays(table, version)
    if refusal or (not rows_moved and table.rows):
        nothing = Quantity.exact(0.0, "s", (Term(refusal or "no row moves", 0.0, "s", "formula"),))
        reason = refusal or "no row moves"
        return TableReorganise(table.full_name, change, 0, nothing, reason, False, (reason, *notes))
    work = _work(change)
    cost = _row_cost(plan, table, version)
    seconds_of: dict[int, float] = {}
    chain, chain_at = 0.0, ""
    for node in plan.data_nodes:
        own = work.scanned.get(node.node_id, 0.0) * cost.scan_s
        own += work.moved.get(node.node_id, 0.0) * cost.moved_s
        seconds_of[node.node_id] = own
        speed = core_speed(plan.host(node.host_id), constants_of(plan)).value * left.thread.get(
            node.node_id, 1.0
        )
        if own / speed > chain:
            chain, chain_at = own / speed, f"the thread that passes over the rows of node {node.node_id}"
    share = constants_of(plan)["reorganise_new_node_share"]
    whole, arrived = sum(seconds_of.values()), max(1.0, sum(work.received.values()))
    for node_id, rows in work.received.items():
        seconds_of[node_id] = seconds_of.get(node_id, 0.0) + share.value * whole * rows / arrived
    threads = ((chain, chain_at), _cores_seconds(after, seconds_of, left))
    devices = (disk_seconds(plan, after, table, work, left.of_disk), link_seconds(plan, after, change))
    bound = max((*threads, *devices), key=lambda item: item[0])[1] or "the fixed steps of the statement"
    duration = _duration(plan, work, cost, threads, devices)
    return TableReorganise(table.full_name, change, rows_moved, duration, bound, True, notes)


Bound = tuple[float, str]
"""(seconds, what takes them)."""


def _duration(
    plan: Plan, work: Work, cost: _RowCost, threads: tuple[Bound, ...], devices: tuple[Bound, ...]
) -> Quantity:
    """`threads`: work that machines do faster or slower; `devices`: what disks and links take at least."""
    constants = constants_of(plan)
    fixed, spread = constants["reorganise_table_s"], _spread(plan, plan.version)
    seconds = max(value for value, _ in threads) * constants["reorganise_scale"].value
    least = max(value for value, _ in devices)
    limits = [(value, name) for value, name in (*threads, *devices) if name]
    decides = max(limits, default=(0.0, "the fixed steps of the statement"))
    terms = (
        *fixed.why,
        Term("rows scanned", sum(work.scanned.values()), "rows", "distribution"),
        Term("rows moved", sum(work.moved.values()), "rows", "distribution"),
        Term("work of a scanned row", cost.scan_s, "s", "formula", cost.terms),
        Term("work of a moved row", cost.moved_s, "s", "formula", cost.terms),
        *(Term(f"time by {name}", value, "s", "formula") for value, name in limits),
        *spread.why,
        change_term("blobs_are_reorganised", plan.version),
        change_term("reorganise_batches", plan.version),
        *spread_terms(plan.version),
        Term(f"limited by: {decides[1]}", decides[0], "s", "formula: the slowest decides"),
    )
    # No reorganisation is faster than its disks and links.
    slowest = rising(max, seconds * spread, least * constants["device_time"], unit="s")
    return (fixed + slowest).because(*terms)


def _what_stays(table: Table, version: NdbVersion) -> tuple[str, tuple[str, ...]]:
    """Why the statement is refused, if it is, and what stays behind all the same."""
    notes = []
    refusal = ""
    if table.partitions is not None:
        refusal = "made with PARTITIONS n: REORGANIZE PARTITION is refused (error 1511)"
    elif table.max_rows:
        notes.append("made with MAX_ROWS: ALTER TABLE … ALGORITHM=INPLACE, MAX_ROWS=… instead, else copied")
    if any(index.kind != "ordered" for index in table.indexes):
        notes.append("unique hash indexes stay on the old nodes")
    if not features(version).blobs_are_reorganised and blob_parts(table, version):
        notes.append("parts of BLOB and TEXT columns stay on the old nodes before 7.2.14")
    return refusal, tuple(notes)


def _after(plan: Plan, grown: Plan) -> Plan:
    """The grown plan with every table as the reorganisation leaves it."""
    tables = []
    for table in plan.tables:
        change = redistribute(plan, grown, table)
        if table.fully_replicated:
            # Each new group gets the same partitions once more; the map stays.
            tables.append(table)
            continue
        if change.rows_moved or change.after is not change.before:
            was = change.before.placement.partitions
            # Rows that were counted are split as their hash map says: worked out, and marked so. Where none
            # were, the map says where they lie, as before.
            counted = change.before.measured
            rows = tuple(int(r) for r in change.after.rows.tolist()) if counted else ()
            assumed = tuple(name for name in table.assumed if name != "partition_rows")
            table = edits.changed(
                table,
                grown_from=(*table.grown_from, was),
                partition_rows=rows,
                partition_variable_bytes=change.after.counted_variable_bytes if counted else (),
                assumed=(*assumed, "partition_rows") if counted else assumed,
            )
        tables.append(table)
    return grown.replace(tables=tuple(tables))


def _peaks(plan: Plan, after: Plan) -> tuple[NodePeak, ...]:
    """Old nodes keep what they have until OPTIMIZE; new nodes get their final share."""
    now = {node.node_id: node for node in memory(plan).nodes}
    then = {node.node_id: node for node in memory(after).nodes}
    peaks = []
    for node_id in sorted(then):
        is_new = node_id not in now
        node = then[node_id] if is_new else now[node_id]
        peaks.append(NodePeak(node_id, is_new, node.data_memory_bytes, node.data_memory_limit_bytes))
    return tuple(peaks)


def _tablespaces(plan: Plan, after: Plan) -> tuple[TablespacePeak, ...]:
    """Old nodes keep their extents, which are only used again; new nodes get their final share."""
    old = {node.node_id for group in node_groups(plan) for node in group}
    peaks = []
    for space in after.tablespaces:
        now, then = (tablespace_use_by_node(p, space) for p in (plan, after))
        capacity = tablespace_capacity_bytes(space)
        for node_id in sorted({*now, *then}):
            is_new = node_id not in old
            used = then.get(node_id, 0.0) if is_new else max(now.get(node_id, 0.0), then.get(node_id, 0.0))
            why = (Term("extents of its rows", used, "bytes", "full declared width"),)
            peaks.append(
                TablespacePeak(
                    node_id,
                    is_new,
                    space.name,
                    Quantity.exact(used, "bytes", why) * constants_of(plan)["tablespace_fill"],
                    capacity,
                )
            )
    return tuple(peaks)


def reorganise(plan: Plan, groups: int = 1, workload: Workload | None = None) -> ReorganiseEstimate:
    """What adding node groups and reorganising every table does, with or without a workload meanwhile.

    New nodes are like those of the last group, unless reserved nodes (NodeGroup 65536) are in the plan:
    those are taken first. Raises ReorganiseError when the version cannot add nodes online, EditError when the
    plan has no whole node group.
    """
    if not plan.features.add_nodes_online:
        raise ReorganiseError(
            f"NDB {plan.ndb_version} cannot add data nodes online (7.0 and later can)",
            fix="take a backup, start a larger cluster with --initial and restore into it",
        )
    if groups < 1:
        raise ReorganiseError(f"{groups} node groups cannot be added", fix="add one or more")
    odd = incomplete_node_group(plan)
    if odd is not None:
        raise ReorganiseError(odd, fix="give every node group NoOfReplicas members first")
    grown = grow(plan, groups)
    left = _Left.of(cpu(plan, workload), busy_disks(plan, workload))
    tables = tuple(_table(plan, grown, table, left) for table in plan.tables)
    duration = total(((t.table, t.duration_s) for t in tables if t.moves), "s")
    peak = sum(p.fixed_bytes + p.variable_bytes for t in tables for p in t.redistribution.partitions)
    after = _after(plan, grown)
    spaces = _tablespaces(plan, after)
    return ReorganiseEstimate(tables, duration, peak, _peaks(plan, after), after, spaces)


def grow(plan: Plan, groups: int) -> Plan:
    """The plan with so many more node groups: of reserved nodes first, then of new nodes on new hosts."""
    aside = [node for node in plan.data_nodes if node.node_group == 65536]
    replicas = no_of_replicas(plan)
    while groups and len(aside) >= replicas:
        taken, aside = aside[:replicas], aside[replicas:]
        number_of_group = len(node_groups(plan))
        for node in taken:
            plan = edits.update(plan, node.id, node_group=number_of_group)
        groups -= 1
    return edits.add_node_group(plan, groups) if groups else plan
