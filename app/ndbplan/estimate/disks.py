"""What each disk has to write and read under a workload, by purpose, and how busy that keeps it.

disk_demand(plan, workload).of("host1-nvme0").utilisation
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ndbplan.estimate.checkpoint import CheckpointEstimate, checkpoint
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.disk_data import DiskDataEstimate, disk_data
from ndbplan.estimate.quantity import Quantity, Term, total
from ndbplan.estimate.redo import RedoEstimate, redo
from ndbplan.plan.hardware import Disk, DiskKind, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import Workload

_NONE = Quantity.exact(0.0, "bytes/s")
_NO_IO = Quantity.exact(0.0, "per s")


def disk_of_role(plan: Plan, node: DataNode, role: DiskRole) -> Disk | None:
    """The disk of a role: the one given to it, else the first of the node's host; None without disks."""
    disk_id = node.disk_roles.disk_of(role)
    host = plan.host(node.host_id)
    for disk in host.disks:
        if disk.id == disk_id:
            return disk
    return host.disks[0] if host.disks else None


@dataclass(frozen=True, slots=True)
class Stream:
    """What one data node asks of one disk for one purpose."""

    node_id: int
    purpose: DiskRole
    write_bytes_per_s: Quantity
    random_reads_per_s: Quantity = _NO_IO
    random_writes_per_s: Quantity = _NO_IO

    @property
    def name(self) -> str:
        """`redo of node 3`."""
        return f"{self.purpose.value.replace('_', ' ')} of node {self.node_id}"

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One stream."""
        return {
            "node_id": self.node_id,
            "purpose": self.purpose.value,
            "write_bytes_per_s": self.write_bytes_per_s.to_json(why=why),
            "random_reads_per_s": self.random_reads_per_s.to_json(why=why),
            "random_writes_per_s": self.random_writes_per_s.to_json(why=why),
        }


@dataclass(frozen=True, slots=True)
class DiskDemand:
    """All that is asked of one disk."""

    host_id: str
    disk_id: str
    host: str
    disk: str
    streams: tuple[Stream, ...]
    write_bytes_per_s: Quantity
    by_purpose: tuple[tuple[DiskRole, float], ...]
    """Bytes per second written for each purpose, largest first."""
    utilisation: Quantity
    """Share of time the disk is busy; above 1 it cannot keep up."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One disk."""
        return {
            "host": self.host,
            "disk": self.disk,
            "write_bytes_per_s": self.write_bytes_per_s.to_json(why=why),
            "utilisation": self.utilisation.to_json(why=why),
            "streams": [stream.to_json(why) for stream in self.streams],
        }


@dataclass(frozen=True, slots=True)
class DisksEstimate:
    """Every disk of the plan's data node hosts."""

    disks: tuple[DiskDemand, ...]

    def of(self, disk_id: str) -> DiskDemand | None:
        """The demand on one disk; None when no data node uses it."""
        return next((demand for demand in self.disks if demand.disk_id == disk_id), None)

    @property
    def busiest(self) -> DiskDemand | None:
        """The disk with the highest utilisation."""
        return max(self.disks, key=lambda d: d.utilisation.value, default=None)

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape the command line prints."""
        return {"disks": [demand.to_json(why) for demand in self.disks]}


def sequential_write_bytes_per_s(plan: Plan, disk: Disk, streams: int) -> Quantity:
    """Speed of a disk that takes so many sequential streams at once."""
    speed = disk.sequential_write_bytes_per_s
    stated = Term(f"sequential writing of {disk.name}", speed, "bytes/s", "plan")
    if disk.kind is not DiskKind.HDD or streams < 2:
        return Quantity.exact(speed, "bytes/s", (stated,))
    shared = constant_for(plan, "hdd_shared_stream_factor")
    return Quantity(
        speed * shared.value, speed * shared.low, speed * shared.high, "bytes/s", (stated, term_of(shared))
    )


def _streams(
    plan: Plan, node: DataNode, logs: RedoEstimate, checkpoints: CheckpointEstimate, pages: DiskDataEstimate
) -> list[tuple[Disk, Stream]]:
    found: list[tuple[Disk, Stream]] = []

    def put(role: DiskRole, writes: Quantity, reads: Quantity = _NO_IO, random: Quantity = _NO_IO) -> None:
        disk = disk_of_role(plan, node, role)
        if disk is not None and (writes.value or reads.value or random.value):
            found.append((disk, Stream(node.node_id, role, writes, reads, random)))

    log = logs.node(node.node_id)
    if log is not None:
        put(DiskRole.REDO, log.device_bytes_per_s)
    lcp = checkpoints.node(node.node_id)
    if lcp is not None:
        put(DiskRole.LCP, lcp.write_bytes_per_s)
    data = pages.node(node.node_id)
    if data is not None:
        put(DiskRole.UNDO, data.undo_bytes_per_s)
        put(
            DiskRole.DATA_FILES,
            data.page_write_bytes_per_s,
            data.random_reads_per_s,
            data.random_writes_per_s,
        )
    return found


def _demand(plan: Plan, host: Host, disk: Disk, streams: tuple[Stream, ...]) -> DiskDemand:
    written = total(((s.name, s.write_bytes_per_s) for s in streams), "bytes/s")
    reads = total(((s.name, s.random_reads_per_s) for s in streams if s.random_reads_per_s.value), "per s")
    writes = total(((s.name, s.random_writes_per_s) for s in streams if s.random_writes_per_s.value), "per s")
    speed = sequential_write_bytes_per_s(plan, disk, sum(1 for s in streams if s.write_bytes_per_s.value))

    def busy(write: float, by: float, read: float, random: float) -> float:
        return write / by + read / disk.random_read_iops + random / disk.random_write_iops + disk.other_load

    terms = [written.as_term("writing"), speed.as_term("speed of the disk", "plan")]
    if reads.value:
        terms.append(reads.as_term("random reads"))
        terms.append(Term("random reads the disk can do", disk.random_read_iops, "per s", "plan"))
    if writes.value:
        terms.append(writes.as_term("random writes"))
        terms.append(Term("random writes the disk can do", disk.random_write_iops, "per s", "plan"))
    if disk.other_load:
        terms.append(Term("taken by other programs", disk.other_load, "fraction", "plan"))
    utilisation = Quantity(
        busy(written.value, speed.value, reads.value, writes.value),
        busy(written.low, speed.high, reads.low, writes.low),
        busy(written.high, speed.low, reads.high, writes.high),
        "fraction",
        tuple(terms),
    )
    purposes: dict[DiskRole, float] = {}
    for stream in streams:
        purposes[stream.purpose] = purposes.get(stream.purpose, 0.0) + stream.write_bytes_per_s.value
    by_purpose = tuple(sorted(purposes.items(), key=lambda item: -item[1]))
    return DiskDemand(host.id, disk.id, host.hostname, disk.name, streams, written, by_purpose, utilisation)


def demand_of(
    plan: Plan, logs: RedoEstimate, checkpoints: CheckpointEstimate, pages: DiskDataEstimate
) -> DisksEstimate:
    """The demand on every disk that data nodes use, from estimates that are known already."""
    used: dict[str, tuple[Disk, list[Stream]]] = {}
    for node in plan.data_nodes:
        for role in DiskRole:
            disk = disk_of_role(plan, node, role)
            if disk is not None:
                used.setdefault(disk.id, (disk, []))
        for disk, stream in _streams(plan, node, logs, checkpoints, pages):
            used[disk.id][1].append(stream)
    return DisksEstimate(
        tuple(
            _demand(plan, plan.host_of_disk[disk_id], disk, tuple(streams))
            for disk_id, (disk, streams) in used.items()
        )
    )


def disk_demand(plan: Plan, workload: Workload | None) -> DisksEstimate:
    """What a workload asks of every disk that data nodes use; a disk without traffic is listed as idle."""
    return demand_of(plan, redo(plan, workload), checkpoint(plan, workload), disk_data(plan, workload))
