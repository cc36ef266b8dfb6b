"""How long an online reorganisation takes after node groups were added, and what it needs meanwhile.

    reorganise_table(change, table, machines, after, left).duration_s

Every old node passes over the rows whose primary it holds, one fragment after the other; rows that move are
written in place, copied and later deleted. That chain of work is on one thread at a time, so the busiest old
node decides, unless the cores of a host that several nodes share, or its disks, are too slow for all of it.
Work is counted on a core of 2008; fitted to the article of the sample add-nodes (2.33 GHz, 2009) and to a
running 7.4.10 cluster.

Source: engine model 7.2, 7.3 and 15.5.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ndbplan.base.quantity import Quantity, Term, rising
from ndbplan.base.shapes import Shape
from ndbplan.base.units import how_many
from ndbplan.configuration.settings import NodeSettings
from ndbplan.configuration.table_options import has_own_balance
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.cpu import CpuEstimate
from ndbplan.estimate.load.disk_data import tablespace_capacity_bytes
from ndbplan.estimate.load.processors import core_speed
from ndbplan.estimate.storage.column_bytes import is_blob, row_payload_bytes
from ndbplan.estimate.storage.machines import Machines
from ndbplan.estimate.storage.memory import MemoryEstimate
from ndbplan.estimate.storage.redistribution import Redistribution
from ndbplan.estimate.storage.row_cost import ordered_indexes
from ndbplan.estimate.storage.rows import blob_parts
from ndbplan.estimate.times.disk_files import left_beside
from ndbplan.estimate.times.reorganise_limits import Work, disk_seconds, link_seconds
from ndbplan.estimate.times.speed_terms import change_term, spread_terms
from ndbplan.ndb.features import features
from ndbplan.ndb.reorganise_cpu import thread_shares
from ndbplan.ndb.speed_changes import speed_change
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk
from ndbplan.plan.tables import Table, Tablespace

_LARGEST_USEFUL_BATCH = 64
"""Larger batches gain nothing (running 8.4.8 cluster); a row costs as much with them as before 7.6.4."""
_LEAST_LEFT = 0.05
"""Share of a core or thread that a workload leaves at least."""


@dataclass(frozen=True, slots=True)
class ThreadWork(Shape):
    """What threads of one kind do of the work of some nodes."""

    JSON = "thread cpu_s"

    thread: str
    cpu_s: Quantity


@dataclass(frozen=True, slots=True)
class NodesWork(Shape):
    """Processor time that a reorganisation takes of the old nodes together, or of the new ones."""

    JSON = "nodes cpu_s threads"

    nodes: str
    """`old nodes` or `new nodes`."""
    cpu_s: Quantity
    threads: tuple[ThreadWork, ...]


@dataclass(frozen=True, slots=True)
class TableReorganise(Shape):
    """Reorganisation of one table."""

    JSON = (
        "table=redistribution.before.table partitions_before=redistribution.before.placement.partitions "
        "partitions_after=redistribution.after.placement.partitions rows_moved "
        "bytes_moved=redistribution.bytes_moved partitions=redistribution.partitions duration_s bound "
        "notes cpu"
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
    cpu: tuple[NodesWork, ...] = ()
    """Processor time, on old and on new nodes; empty: nothing moves."""
    rounds: int = 0
    """Tables that the statement goes through, hidden ones too; 0: nothing moves."""


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


def _batch(settings: NodeSettings) -> int:
    """Rows of a batch that count: MaxReorgBuildBatchSize where there is one, at most the largest useful."""
    if not speed_change("reorganise_batches").is_in(settings.version):
        return _LARGEST_USEFUL_BATCH
    batch = settings.number("MaxReorgBuildBatchSize")
    return min(_LARGEST_USEFUL_BATCH, max(1, batch))


def _row_cost(settings: NodeSettings, constants: Constants, table: Table) -> _RowCost:
    version = settings.version
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
    batch = _batch(settings)
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


def _spread(settings: NodeSettings, constants: Constants) -> Quantity:
    """How far a duration beyond its fixed cost may be off."""
    scale = constants["reorganise_scale"]
    low, high = scale.low / scale.value, scale.high / scale.value
    batch = _batch(settings)
    if batch < _LARGEST_USEFUL_BATCH and not constants.is_calibrated("reorganise_scale"):
        exponent = constants["reorganise_batch_exponent"]
        step = math.log(_LARGEST_USEFUL_BATCH / batch)
        ends = sorted(step * (e - exponent.value) for e in (exponent.low, exponent.high))
        # Independent uncertainties add up in quadrature on the scale of factors.
        low = math.exp(-math.hypot(math.log(low), min(0.0, ends[0])))
        high = math.exp(math.hypot(math.log(high), max(0.0, ends[1])))
    return Quantity(1.0, low, high, "factor", scale.why)


@dataclass(frozen=True, slots=True)
class Left:
    """What a workload leaves of threads and hosts."""

    thread: Mapping[int, float]
    host: Mapping[str, float]
    busy: Mapping[str, float]
    """Share of the time of each disk that is taken."""

    @classmethod
    def of(cls, load: CpuEstimate, busy: Mapping[str, float]) -> Left:
        thread = {n.node_id: max(_LEAST_LEFT, 1 - n.ldm_utilisation.value) for n in load.nodes}
        return cls(thread, {h.host_id: max(_LEAST_LEFT, 1 - h.work.value) for h in load.hosts}, busy)

    def of_disk(self, disk: Disk) -> float:
        """Share of a disk that is left."""
        return left_beside(disk, self.busy.get(disk.id, 0.0))


def _cores_seconds(after: Machines, seconds_of: Mapping[int, float], left: Left) -> tuple[float, str]:
    """Time that the cores of the busiest host need; `seconds_of`: work of each node on a core of 2008."""
    by_host: dict[str, float] = {}
    hosts = {}
    for node in after.nodes:
        host_id = node.host.id
        hosts[host_id] = node.host
        by_host[host_id] = by_host.get(host_id, 0.0) + seconds_of.get(node.node_id, 0.0)
    worst, where = 0.0, ""
    for host_id, work in by_host.items():
        host = hosts[host_id]
        speed = core_speed(host, after.constants).value * host.cores * left.host.get(host_id, 1.0)
        if work / speed > worst:
            worst, where = work / speed, f"the {how_many(host.cores, 'core')} of {host.hostname}"
    return worst, where


def reorganise_table(
    change: Redistribution, table: Table, before: Machines, after: Machines, left: Left
) -> TableReorganise:
    """What moving the rows of a table to a larger cluster takes, beside what a workload leaves."""
    version, settings, constants = before.version, before.settings, before.constants
    rows_moved = change.rows_moved
    refusal, notes = _what_stays(table, version)
    stays = change.after.placement.partitions <= change.before.placement.partitions
    if refusal or (not rows_moved and table.rows and stays):
        nothing = Quantity.exact(0.0, "s", (Term(refusal or "no row moves", 0.0, "s", "formula"),))
        reason = refusal or "no row moves"
        return TableReorganise(table.full_name, change, 0, nothing, reason, False, (reason, *notes))
    work = _work(change)
    cost = _row_cost(settings, constants, table)
    seconds_of: dict[int, float] = {}
    chain, chain_at = 0.0, ""
    for node in before.nodes:
        own = work.scanned.get(node.node_id, 0.0) * cost.scan_s
        own += work.moved.get(node.node_id, 0.0) * cost.moved_s
        seconds_of[node.node_id] = own
        speed = core_speed(node.host, constants).value * left.thread.get(node.node_id, 1.0)
        if own / speed > chain:
            chain, chain_at = own / speed, f"the thread that passes over the rows of node {node.node_id}"
    share = constants["reorganise_new_node_share"]
    whole, arrived = sum(seconds_of.values()), max(1.0, sum(work.received.values()))
    cpu = _cpu(constants, before, whole, share)
    for node_id, rows in work.received.items():
        seconds_of[node_id] = seconds_of.get(node_id, 0.0) + share.value * whole * rows / arrived
    threads = ((chain, chain_at), _cores_seconds(after, seconds_of, left))
    devices = (disk_seconds(after, table, work, left.of_disk), link_seconds(after, change))
    bound = max((*threads, *devices), key=lambda item: item[0])[1] or "the fixed steps of the statement"
    rounds = _rounds(table, version)
    duration = _duration(settings, constants, work, cost, threads, devices, rounds)
    locks = ("rows are locked one after the other: scans and COUNT(*) of the table may wait for them",)
    said = (*notes, *locks)
    return TableReorganise(table.full_name, change, rows_moved, duration, bound, True, said, cpu, rounds)


def _rounds(table: Table, version: NdbVersion) -> int:
    """Tables that the statement goes through: the table, its unique indexes, and blob parts where they move.

    Measured on 8.4.8 and 7.4.10: each of them waits for its own global checkpoints, rows or not.
    """
    unique = sum(index.kind != "ordered" for index in table.indexes)
    blobs = len(blob_parts(table, version)) if features(version).blobs_are_reorganised else 0
    return 1 + unique + blobs


def _cpu(
    constants: Constants, before: Machines, old_nodes_s: float, new_share: Quantity
) -> tuple[NodesWork, ...]:
    """Processor time on the cores that there are; `old_nodes_s`: on a core of 2008."""
    speeds = [core_speed(node.host, constants).value for node in before.members]
    speed = sum(speeds) / max(1, len(speeds))
    why = (Term("work of all rows on a core of 2008", old_nodes_s, "s", "formula"),)
    old = Quantity.exact(old_nodes_s / speed, "s", why) * constants["reorganise_cpu_share"]
    shares = thread_shares()
    return tuple(
        NodesWork(
            nodes,
            cpu_s,
            tuple(ThreadWork(thread, cpu_s.scaled(part)) for thread, part in shares[nodes].items()),
        )
        for nodes, cpu_s in (("old nodes", old), ("new nodes", old * new_share))
    )


Bound = tuple[float, str]
"""(seconds, what takes them)."""


def _duration(
    settings: NodeSettings,
    constants: Constants,
    work: Work,
    cost: _RowCost,
    threads: tuple[Bound, ...],
    devices: tuple[Bound, ...],
    rounds: int,
) -> Quantity:
    """`threads`: work that machines do faster or slower; `devices`: what disks and links take at least."""
    fixed, spread = constants["reorganise_table_s"] * rounds, _spread(settings, constants)
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
        change_term("blobs_are_reorganised", settings.version),
        change_term("reorganise_batches", settings.version),
        *spread_terms(settings.version),
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
    elif table.max_rows and has_own_balance(table, version):
        refusal = "made with MAX_ROWS beside PARTITION_BALANCE or FULLY_REPLICATED: REORGANIZE is refused"
    elif table.max_rows:
        notes.append("made with MAX_ROWS: ALTER TABLE … ALGORITHM=INPLACE, MAX_ROWS=… instead, else copied")
    if any(index.kind != "ordered" for index in table.indexes):
        notes.append("unique hash indexes stay on the old nodes")
    if not features(version).blobs_are_reorganised and blob_parts(table, version):
        notes.append("parts of BLOB and TEXT columns stay on the old nodes before 7.2.14")
    return refusal, tuple(notes)


def node_peaks(before: MemoryEstimate, after: MemoryEstimate, held: Collection[int]) -> tuple[NodePeak, ...]:
    """Old nodes keep what they have until OPTIMIZE; new nodes get their final share.

    `held`: ids of the nodes that are in a node group before; others may run already, without a row.
    """
    now = {node.node_id: node for node in before.nodes}
    then = {node.node_id: node for node in after.nodes}
    peaks = []
    for node_id in sorted(then):
        is_new = node_id not in held
        node = then[node_id] if is_new else now[node_id]
        peaks.append(NodePeak(node_id, is_new, node.data_memory_bytes, node.data_memory_limit_bytes))
    return tuple(peaks)


def tablespace_peaks(
    space: Tablespace,
    old: Collection[int],
    before: Mapping[int, float],
    after: Mapping[int, float],
    constants: Constants,
) -> list[TablespacePeak]:
    """Old nodes keep their extents, which are only used again; new nodes get their final share.

    `old`: node ids; `before`, `after`: bytes of extents on each node.
    """
    peaks = []
    capacity = tablespace_capacity_bytes(space)
    for node_id in sorted({*before, *after}):
        is_new, used = node_id not in old, after.get(node_id, 0.0)
        if not is_new:
            used = max(before.get(node_id, 0.0), used)
        why = (Term("extents of its rows", used, "bytes", "full declared width"),)
        filled = Quantity.exact(used, "bytes", why) * constants["tablespace_fill"]
        peaks.append(TablespacePeak(node_id, is_new, space.name, filled, capacity))
    return peaks
