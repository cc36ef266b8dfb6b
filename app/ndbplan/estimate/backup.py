"""How long a backup, a restore and the creation of disk data files take.

backup(plan).duration_s
restore_backup(plan).duration_s
create_disk_data(plan).duration_s
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ndbplan.base.units import MIB
from ndbplan.estimate.checkpoint import ADAPTIVE_SPEED_SINCE, speed_limits
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.load import node_loads
from ndbplan.estimate.log_records import operation_redo
from ndbplan.estimate.node_data import NodeData, node_data
from ndbplan.estimate.parameters import number, version_of
from ndbplan.estimate.processors import core_speed
from ndbplan.estimate.quantity import Quantity, Term, largest, total
from ndbplan.estimate.restart import busy_threads
from ndbplan.estimate.restart_phases import Phase
from ndbplan.estimate.shares import shares_of
from ndbplan.estimate.topology import ldm_threads
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk
from ndbplan.plan.paths import disk_for
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.settings import no_of_replicas
from ndbplan.plan.workloads import OperationKind, Workload

ALL_LDM_SINCE = (8, 0, 16)
"""Before, one LDM thread wrote the whole backup of a node."""


@dataclass(frozen=True, slots=True)
class NodeBackup:
    """Backup of one data node: the fragments whose primary replica it holds."""

    node_id: int
    written_bytes: Quantity
    speed_bytes_per_s: Quantity
    duration_s: Quantity
    bound: str
    log_bytes: Quantity
    """Changes that the backup's log takes up meanwhile."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One node."""
        return {
            "node_id": self.node_id,
            "written_bytes": self.written_bytes.to_json(why=why),
            "speed_bytes_per_s": self.speed_bytes_per_s.to_json(why=why),
            "duration_s": self.duration_s.to_json(why=why),
            "bound": self.bound,
            "log_bytes": self.log_bytes.to_json(why=why),
        }


@dataclass(frozen=True, slots=True)
class BackupEstimate:
    """Backup of the whole cluster: all nodes at the same time, the slowest counts."""

    nodes: tuple[NodeBackup, ...]
    duration_s: Quantity
    notes: tuple[str, ...]

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape the command line prints."""
        return {
            "nodes": [node.to_json(why) for node in self.nodes],
            "duration_s": self.duration_s.to_json(why=why),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class PhasedEstimate:
    """Something that takes several phases."""

    phases: tuple[Phase, ...]
    duration_s: Quantity
    """Sum of the phases."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape the command line prints."""
        return {
            "phases": [phase.to_json(why) for phase in self.phases],
            "duration_s": self.duration_s.to_json(why=why),
        }


def _phased(found: list[Phase]) -> PhasedEstimate:
    return PhasedEstimate(tuple(found), total(((p.name, p.duration_s) for p in found), "s"))


def _speed(plan: Plan, node: DataNode) -> tuple[Quantity, str]:
    """Bytes per second that the node writes of a backup, and what limits it."""
    share = constant_for(plan, "backup_speed_share")
    limits = speed_limits(plan, node)
    part = 1.0
    if plan.version >= ADAPTIVE_SPEED_SINCE:
        part = max(1, number(plan, node, "BackupDiskWriteSpeedPct", round(100 * share.value))) / 100
    throttle = limits.ceiling * part
    threads = ldm_threads(plan, node) if plan.version >= ALL_LDM_SINCE else 1
    scan = constant_for(plan, "backup_scan_ldm_bytes_per_s")
    bounds = [
        ("MaxDiskWriteSpeed × BackupDiskWriteSpeedPct", throttle, throttle, throttle),
        ("LDM threads that scan", threads * scan.value, threads * scan.low, threads * scan.high),
    ]
    disk = disk_for(plan, node, DiskRole.BACKUP)
    if disk is not None:
        left = disk.sequential_write_bytes_per_s * max(0.05, 1 - disk.other_load)
        bounds.append((f"disk {disk.name}", left, left, left))
    name, value, *_ = min(bounds, key=lambda bound: bound[1])
    held = constant_for(plan, "backup_speed_held")
    low, high = held.low * min(b[2] for b in bounds), held.high * min(b[3] for b in bounds)
    why = (
        Term("MaxDiskWriteSpeed", limits.ceiling, "bytes/s", "plan"),
        Term("share that a backup gets", part, "fraction", "BackupDiskWriteSpeedPct"),
        Term("LDM threads that take part", threads, "", "all from 8.0.16 on, before that one"),
        term_of(scan),
        term_of(held),
    )
    return Quantity(held.value * value, low, high, "bytes/s", why), name


def _node(plan: Plan, node: DataNode, data: NodeData, change_bytes_per_s: float) -> NodeBackup:
    head = constant_for(plan, "backup_row_overhead_bytes")
    packed = constant_for(plan, "lcp_compressed_factor")
    compressed = bool(number(plan, node, "CompressedBackup", 0))
    factor = (packed.value, packed.low, packed.high) if compressed else (1.0, 1.0, 1.0)
    why = (
        Term("rows whose primary is here", data.primary_row_bytes, "bytes", "distribution"),
        Term("rows", data.primary_rows, "rows", "distribution"),
        term_of(head),
    )
    size = Quantity(
        (data.primary_row_bytes + data.primary_rows * head.value) * factor[0],
        (data.primary_row_bytes + data.primary_rows * head.low) * factor[1],
        (data.primary_row_bytes + data.primary_rows * head.high) * factor[2],
        "bytes",
        why,
    )
    speed, bound = _speed(plan, node)
    fixed = constant_for(plan, "backup_fixed_s")
    duration = Quantity(
        fixed.value + size.value / speed.value,
        fixed.low + size.low / speed.high,
        fixed.high + size.high / speed.low,
        "s",
        (term_of(fixed), size.as_term("bytes"), speed.as_term("speed")),
    )
    log = duration.scaled(
        change_bytes_per_s,
        "bytes",
        (duration.as_term("duration"), Term("changes", change_bytes_per_s, "bytes/s", "workload")),
    )
    return NodeBackup(node.node_id, size, speed, duration, bound, log)


def backup(plan: Plan, workload: Workload | None = None) -> BackupEstimate:
    """START BACKUP: every node writes the fragments whose primary it holds, under a workload or idle."""
    loads = {load.node_id: load for load in node_loads(plan, workload)} if workload else {}
    by_id = {node.node_id: node for node in plan.data_nodes}
    nodes = []
    notes = []
    for data in node_data(plan):
        load = loads.get(data.node_id)
        changes = load.changed_row_bytes_per_s / no_of_replicas(plan) if load is not None else 0.0
        nodes.append(_node(plan, by_id[data.node_id], data, changes))
        buffer = number(plan, by_id[data.node_id], "BackupLogBufferSize", 16 * MIB)
        if changes and changes > nodes[-1].speed_bytes_per_s.value:
            notes.append(
                f"node {data.node_id}: changes come faster than the backup writes; its log buffer of "
                f"{buffer // MIB} MiB overruns and the backup fails"
            )
    if number(plan, None, "Diskless", 0):
        notes.append("a diskless cluster makes no backup")
    slowest = largest(((f"node {n.node_id}", n.duration_s) for n in nodes), "s")
    return BackupEstimate(tuple(nodes), slowest, tuple(notes))


def restore_backup(plan: Plan) -> PhasedEstimate:
    """ndb_restore of all rows at insert speed, then the ordered indexes."""
    found = node_data(plan)
    by_id = {node.node_id: node for node in plan.data_nodes}
    rate = constant_for(plan, "restore_client_rows_per_s")
    version = version_of(plan)
    rows = Quantity.exact(0.0, "s")
    bound = "LDM threads"
    threads = 0.0
    for data in found:
        node = by_id[data.node_id]
        speed = core_speed(plan, plan.host(node.host_id)).value
        reference = constant_for(plan, "core_gain_per_clock").value
        together = sum(1 for other in by_id.values() if other.host_id == node.host_id)
        busy = busy_threads(plan, node, together=together)
        threads += busy * speed / reference / no_of_replicas(plan)
    whole = sum(data.rows for data in found) / no_of_replicas(plan)
    if threads:
        why = (
            Term("rows of one replica set", whole, "rows", "plan"),
            Term("LDM threads by core speed, for each replica", threads, "", "plan"),
            term_of(rate),
        )
        value, low, high = (whole / threads / r for r in (rate.value, rate.high, rate.low))
        rows = Quantity(value, low, high, "s", why)
    disk_s, where = _restore_disk_seconds(plan, version)
    if disk_s > rows.value:
        log = Term(f"redo log of all rows on {where}", disk_s, "s", "formula")
        rows = Quantity(disk_s, disk_s, max(disk_s, rows.high), "s", (log,))
        bound = where
    entries = max((d.index_entries / ldm_threads(plan, by_id[d.node_id]) for d in found), default=0.0)
    build = constant_for(plan, "index_build_ldm_rows_per_s")
    built = (Term("index entries of an LDM thread", entries, "rows", "distribution"), term_of(build))
    value, low, high = (entries / r for r in (build.value, build.high, build.low))
    indexes = Quantity(value, low, high, "s", built)
    faster = "more LDM threads; a faster redo disk; several ndb_restore at once"
    return _phased(
        [
            Phase("restore rows", rows, bound, faster),
            Phase("rebuild indexes", indexes, "LDM threads", "more LDM threads"),
        ]
    )


def _restore_disk_seconds(plan: Plan, version: NdbVersion) -> tuple[float, str]:
    """Time that the slowest redo disk needs for the log of all inserts."""
    overhead = constant_for(plan, "redo_page_overhead").value
    overhead *= constant_for(plan, "device_write_factor").value
    log: dict[int, float] = {}
    for table in plan.tables:
        each = operation_redo(table, OperationKind.INSERT, version).value * table.rows * overhead
        for node_id, share in shares_of(plan, table).items():
            log[node_id] = log.get(node_id, 0.0) + each * share.replicas
    worst, where = 0.0, ""
    for node in plan.data_nodes:
        disk = disk_for(plan, node, DiskRole.REDO)
        if disk is not None and log.get(node.node_id, 0.0) / disk.sequential_write_bytes_per_s > worst:
            worst = log[node.node_id] / disk.sequential_write_bytes_per_s
            where = f"disk {disk.name} of node {node.node_id}"
    return worst, where


def create_file(plan: Plan, disk: Disk, size_bytes: int) -> Quantity:
    """Time to create one data or undo file: it is written in full, on all data nodes at once."""
    fixed, margin = constant_for(plan, "create_file_fixed_s"), constant_for(plan, "file_create_margin")
    seconds = size_bytes / disk.sequential_write_bytes_per_s
    why = (
        Term("size", size_bytes, "bytes", "plan"),
        Term(f"sequential writing of {disk.name}", disk.sequential_write_bytes_per_s, "bytes/s", "plan"),
        term_of(fixed),
        term_of(margin),
    )
    return Quantity(
        fixed.value + seconds, fixed.low + seconds * margin.low, fixed.high + seconds * margin.high, "s", why
    )


def create_disk_data(plan: Plan) -> PhasedEstimate:
    """Creating every undo file and data file of the plan, one after the other; the slowest disk counts."""
    found = []
    undo = [disk_for(plan, node, DiskRole.UNDO) for node in plan.data_nodes]
    data = [disk_for(plan, node, DiskRole.DATA_FILES) for node in plan.data_nodes]
    jobs = [
        *((f"undo files of {g.name}", f, undo) for g in plan.logfile_groups for f in g.undo_files),
        *((f"data files of {t.name}", f, data) for t in plan.tablespaces for f in t.data_files),
    ]
    for name, file, disks in jobs:
        slowest = min(
            (d for d in disks if d is not None), key=lambda d: d.sequential_write_bytes_per_s, default=None
        )
        if slowest is None:
            continue
        one = create_file(plan, slowest, file.size_bytes)
        times = Term("files", file.count, "", "plan")
        time = one.scaled(file.count, "s", (one.as_term("one file"), times)) if file.count > 1 else one
        found.append(Phase(name, time, f"disk {slowest.name}", "smaller or fewer files; a faster disk"))
    return _phased(found)
