"""What each disk has to write and read under a workload, by purpose, and how busy that keeps it.

demand_of(machines, logs, checkpoints, pages).of("host1-nvme0").utilisation

Source: engine model 5.3, 8.1 and 15.1; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, total
from ndbplan.base.shapes import Shape
from ndbplan.configuration.space_files import FileShares
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint import CheckpointEstimate, NodeCheckpoint
from ndbplan.estimate.load.checkpoint_room import sequential_write_bytes_per_s
from ndbplan.estimate.load.disk_data import DiskDataEstimate, NodeDiskData
from ndbplan.estimate.load.node_settings import KEPT_NODES
from ndbplan.estimate.load.redo import NodeRedo, RedoEstimate
from ndbplan.estimate.storage.machines import Machines, is_nowhere
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.processes import DataNode, DiskRole

_NO_IO = Quantity.exact(0.0, "per s")


@dataclass(frozen=True, slots=True)
class Stream(Shape):
    """What one data node asks of one disk for one purpose."""

    JSON = "node_id purpose write_bytes_per_s random_reads_per_s random_writes_per_s"

    node_id: int
    purpose: DiskRole
    write_bytes_per_s: Quantity
    random_reads_per_s: Quantity = _NO_IO
    random_writes_per_s: Quantity = _NO_IO

    @property
    def name(self) -> str:
        """`redo of node 3`."""
        return f"{self.purpose.value.replace('_', ' ')} of node {self.node_id}"


@dataclass(frozen=True)
class DiskDemand(Shape):
    """All that is asked of one disk; sums are made when they are asked for."""

    JSON = "host disk write_bytes_per_s utilisation streams"

    host_id: str
    disk_id: str
    host: str
    disk: str
    device: Disk
    constants: Constants
    streams: tuple[Stream, ...]

    @cached_property
    def write_bytes_per_s(self) -> Quantity:
        """Written in order, for whatever purpose."""
        return total(((s.name, s.write_bytes_per_s) for s in self.streams), "bytes/s")

    @property
    def by_purpose(self) -> tuple[tuple[DiskRole, float], ...]:
        """Bytes per second written for each purpose, largest first."""
        purposes: dict[DiskRole, float] = {}
        for stream in self.streams:
            purposes[stream.purpose] = purposes.get(stream.purpose, 0.0) + stream.write_bytes_per_s.value
        return tuple(sorted(purposes.items(), key=lambda item: -item[1]))

    def busy(self, starting: Collection[int] = ()) -> float | None:
        """Share of its time that traffic of nodes which do not start takes; None: there is none."""
        disk, taken, asked = self.device, 0.0, False
        for stream in self.streams:
            if stream.node_id not in starting:
                asked = True
                taken = (
                    taken
                    + stream.write_bytes_per_s.value / disk.sequential_write_bytes_per_s
                    + stream.random_reads_per_s.value / disk.random_read_iops
                    + stream.random_writes_per_s.value / disk.random_write_iops
                )
        return taken if asked else None

    @cached_property
    def busy_whole(self) -> float | None:
        """The same of all nodes."""
        return self.busy()

    @cached_property
    def utilisation(self) -> Quantity:
        """Share of time the disk is busy; above 1 it cannot keep up."""
        disk, streams, written = self.device, self.streams, self.write_bytes_per_s
        reading = ((s.name, s.random_reads_per_s) for s in streams if s.random_reads_per_s.value)
        writing = ((s.name, s.random_writes_per_s) for s in streams if s.random_writes_per_s.value)
        reads, writes = total(reading, "per s"), total(writing, "per s")
        together = sum(1 for stream in streams if stream.write_bytes_per_s.value)
        speed = sequential_write_bytes_per_s(disk, together, self.constants)
        busy = written.named("writing") / speed.named("speed of the disk", "plan")
        if reads.value:
            able = Quantity.stated("random reads the disk can do", disk.random_read_iops, "per s")
            busy += reads.named("random reads") / able
        if writes.value:
            able = Quantity.stated("random writes the disk can do", disk.random_write_iops, "per s")
            busy += writes.named("random writes") / able
        if disk.other_load:
            other = Quantity.stated("taken by other programs", disk.other_load, "fraction")
            busy += other.in_unit(busy.unit)
        return busy.in_unit("fraction")


@dataclass(frozen=True)
class DisksEstimate(Shape):
    """Every disk of the plan's data node hosts."""

    JSON = "disks"

    disks: tuple[DiskDemand, ...]

    def of(self, disk_id: str) -> DiskDemand | None:
        """The demand on one disk; None when no data node uses it."""
        return self._by_id.get(disk_id)

    @cached_property
    def _by_id(self) -> dict[str, DiskDemand]:
        return {demand.disk_id: demand for demand in self.disks}

    def busy(self, starting: Collection[int] = ()) -> dict[str, float]:
        """Share of the time of each disk that the traffic of nodes which do not start takes, by disk id."""
        busy = dict(self._busy)
        for disk_id in {disk_id for node_id in starting for disk_id in self._of_node.get(node_id, ())}:
            left = self._by_id[disk_id].busy(starting)
            if left is None:
                del busy[disk_id]
            else:
                busy[disk_id] = left
        return busy

    @cached_property
    def _busy(self) -> dict[str, float]:
        whole = ((demand.disk_id, demand.busy_whole) for demand in self.disks)
        return {disk_id: taken for disk_id, taken in whole if taken is not None}

    @cached_property
    def _of_node(self) -> dict[int, set[str]]:
        """Ids of the disks that a node asks something of, by node id."""
        asked: dict[int, set[str]] = {}
        for demand in self.disks:
            for stream in demand.streams:
                asked.setdefault(stream.node_id, set()).add(demand.disk_id)
        return asked

    @property
    def busiest(self) -> DiskDemand | None:
        """The disk with the highest utilisation."""
        return max(self.disks, key=lambda d: d.utilisation.value, default=None)


def _part(asked: Quantity, share: float, disk: Disk) -> Quantity:
    """What one of several disks has of a stream: by its files' bytes; nothing at least, all of it at most.

    Which file a page lies in is chance, and the undo log fills one file after the other.
    """
    if not asked.value:
        return asked
    low, high = (0.0, 1 / share) if share < 1 else (1.0, 1.0)
    of_files = Quantity.spanning(share, (share * low, share * high), "fraction")
    return (asked * of_files.named(f"files on {disk.name}")).in_unit(asked.unit)


@kept_by_identity(size=KEPT_NODES)
def _streams(
    node: DataNode,
    disk_of: Mapping[DiskRole, Disk | None],
    file_shares: FileShares,
    log: NodeRedo | None,
    lcp: NodeCheckpoint | None,
    data: NodeDiskData | None,
) -> tuple[tuple[Disk, Stream], ...]:
    """What one node asks of its host's disks."""
    streams: list[tuple[Disk, Stream]] = []
    if any(disk is not None and is_nowhere(disk) for disk in disk_of.values()):
        return ()

    def put(role: DiskRole, writes: Quantity, reads: Quantity = _NO_IO, random: Quantity = _NO_IO) -> None:
        if not (writes.value or reads.value or random.value):
            return
        disk = disk_of[role]
        if role in file_shares:
            for disk, share in file_shares[role]:
                part = (_part(asked, share, disk) for asked in (writes, reads, random))
                streams.append((disk, Stream(node.node_id, role, *part)))
        elif disk is not None:
            streams.append((disk, Stream(node.node_id, role, writes, reads, random)))

    if log is not None:
        put(DiskRole.REDO, log.device_bytes_per_s)
    if lcp is not None:
        put(DiskRole.LCP, lcp.write_bytes_per_s)
    if data is not None:
        put(DiskRole.UNDO, data.undo_bytes_per_s)
        put(
            DiskRole.DATA_FILES,
            data.page_write_bytes_per_s,
            data.random_reads_per_s,
            data.random_writes_per_s,
        )
    return tuple(streams)


@kept_by_identity(size=3 * KEPT_NODES)
def _demand(constants: Constants, host: Host, disk: Disk, *streams: Stream) -> DiskDemand:
    return DiskDemand(host.id, disk.id, host.hostname, disk.name, disk, constants, streams)


@kept_by_identity(size=48)
def demand_of(
    machines: Machines, logs: RedoEstimate, checkpoints: CheckpointEstimate, pages: DiskDataEstimate
) -> DisksEstimate:
    """What is asked of every disk that data nodes use; a disk without traffic is listed as idle."""
    log_of = {node.node_id: node for node in logs.nodes}
    lcp_of = {node.node_id: node for node in checkpoints.nodes}
    pages_of = {node.node_id: node for node in pages.nodes}
    used: dict[str, tuple[Host, Disk, list[Stream]]]
    used = {disk.id: (host, disk, []) for host, disk in machines.used_disks}
    for key, node in machines.by_id.items():
        asked = _streams(
            node.node, node.disks, node.file_shares, log_of.get(key), lcp_of.get(key), pages_of.get(key)
        )
        for disk, stream in asked:
            used[disk.id][-1].append(stream)
    return DisksEstimate(
        tuple(_demand(machines.constants, host, disk, *streams) for host, disk, streams in used.values())
    )
