"""How quickly a disk takes a data node's backup beside its redo log and local checkpoints.

targets_of(machines, loads, disks, checkpoints)[node_id]
written_beside(constants, target, asked, asked_most)

A backup and a checkpoint write large blocks that the disk serves in turn: what the redo log leaves to both,
and no less than their share of a busy disk, each gets as it asks for it. So does the simulation.

Source: engine model 15.1 and 16.1; no backup was measured beside them. Constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ndbplan.base.kept import kept_by_value
from ndbplan.base.quantity import Quantity, Term
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint import CheckpointEstimate
from ndbplan.estimate.load.checkpoint_room import Room, rooms, writing
from ndbplan.estimate.load.checkpoint_speed import SpeedLimits, speed_limits
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.disks import DisksEstimate
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.estimate.times.disk_files import LEAST_BESIDE_TRAFFIC, disk_left
from ndbplan.plan.processes import DiskRole


class Target(NamedTuple):
    """What the disk of a node's backup leaves to the node, and what its checkpoints ask of it; per second."""

    name: str
    least: float
    """Bytes that the log leaves to checkpoints and backups."""
    likely: float
    most: float
    checkpoint: float
    """Bytes that a checkpoint asks for while it writes; 0: none writes to this disk."""
    checkpoint_most: float
    checkpoint_bytes: float
    """What one writes."""
    waits_s: float
    """Between two beside their pause, until enough is written for the next."""


@kept_by_value(256)
def _target(*fields: float | str) -> Target:
    """The same object for all nodes with as much, so that results can be kept by identity."""
    return Target._make(fields)


def targets_of(
    machines: Machines, loads: Mapping[int, NodeLoad], disks: DisksEstimate, checkpoints: CheckpointEstimate
) -> dict[int, Target]:
    """The disk that each node writes its backup to, by node id; none for a node that has none."""
    threads = writing(*((one.node_id, one.threads) for one in checkpoints.nodes))
    left = rooms(machines, loads, threads, DiskRole.BACKUP)
    lasting = rooms(machines, loads, threads)
    device = machines.constants["device_time"]
    slowness = device.high, device.value, device.low
    found = {}
    settings = {id(node.settings): node.settings for node in machines.nodes}
    limits = {identity: speed_limits(one) for identity, one in settings.items()}
    for disk_id, (disk, nodes) in machines.sharing(DiskRole.BACKUP).items():
        others = _other_traffic(disks, disk_id) / len(nodes)
        fair = disk_left(disk) * disk.sequential_write_bytes_per_s / len(nodes)
        least = LEAST_BESIDE_TRAFFIC * fair
        for node in nodes:
            room, own = left[node.node_id][:3], limits[id(node.settings)]
            ends = [
                max(least, min(fair, bytes_per_s) - others) / slower
                for bytes_per_s, slower in zip(room, slowness, strict=True)
            ]
            asks = _checkpoint(node, lasting[node.node_id], checkpoints, own)
            found[node.node_id] = _target(disk.name, *ends, *asks)
    return found


def _other_traffic(disks: DisksEstimate, disk_id: str) -> float:
    """Bytes a second of a disk's time that tables on disk take: their pages and undo log."""
    demand = disks.of(disk_id)
    if demand is None:
        return 0.0
    device, taken = demand.device, 0.0
    for stream in demand.streams:
        if stream.purpose in (DiskRole.UNDO, DiskRole.DATA_FILES):
            random = stream.random_reads_per_s.value / device.random_read_iops
            random += stream.random_writes_per_s.value / device.random_write_iops
            taken += stream.write_bytes_per_s.value + random * device.sequential_write_bytes_per_s
    return taken


def _checkpoint(
    node: Machine, room: Room, checkpoints: CheckpointEstimate, of_node: SpeedLimits
) -> tuple[float, float, float, float]:
    """What a node's checkpoints ask of the disk of its backup: likely and at most a second, and in all.

    And how long they wait for enough to be written.

    Where the log falls behind, the speed that they are to reach falls to MinDiskWriteSpeed.
    """
    mine, disk = checkpoints.node(node.node_id), node.disks[DiskRole.LCP]
    if mine is None or disk is not node.disks[DiskRole.BACKUP] or not mine.write_bytes_per_s.value:
        return 0.0, 0.0, 0.0, 0.0
    limits = of_node.by_threads(mine.threads / max(1, node.ldm_threads))
    likely = limits.floor if room.lasting < room.likely else limits.ceiling
    return likely, max(limits.ceiling, mine.speed_bytes_per_s.high), mine.written_bytes.value, mine.waits_s


def written_beside(constants: Constants, target: Target, asked: float, asked_most: float) -> Quantity:
    """Bytes a second of a backup that a disk takes of a node that asks for so many: all of them, or its part.

    Less while a checkpoint writes too; at most as if none did. `asked_most`: where it is quicker than likely.
    """
    pause = constants["lcp_pause_s"]
    gap_s, least_s = (seconds + target.waits_s for seconds in (pause.value, pause.low))
    likely, share = _mean(target.likely, asked, target.checkpoint, target.checkpoint_bytes, gap_s)
    least, _ = _mean(target.least, asked, target.checkpoint_most, target.checkpoint_bytes, least_s)
    terms = (
        *left_to(target).why,
        Term("checkpoints ask for", target.checkpoint, "bytes/s", "plan"),
        Term("share of the time that one writes", share, "fraction", "formula"),
        Term("the backup asks for", asked, "bytes/s", "plan"),
    )
    most = _part(target.most, asked_most, 0.0)
    return Quantity.spanning(likely, (min(least, likely), max(most, likely)), "bytes/s", terms)


def left_to(target: Target) -> Quantity:
    """Bytes a second that the redo log leaves of the disk of a backup."""
    step = Term(f"{target.name}: what the redo log leaves", target.likely, "bytes/s", "formula")
    return Quantity.spanning(target.likely, (target.least, target.most), "bytes/s", (step,))


def _mean(
    room: float, asked: float, checkpoint: float, checkpoint_bytes: float, pause_s: float
) -> tuple[float, float]:
    """(bytes a second of a backup, share of the time that a checkpoint writes beside it)."""
    writes_s = checkpoint_bytes / _part(room, checkpoint, asked) if checkpoint_bytes else 0.0
    share = writes_s / (writes_s + pause_s) if writes_s else 0.0
    return share * _part(room, asked, checkpoint) + (1.0 - share) * _part(room, asked, 0.0), share


def _part(room: float, asked: float, others: float) -> float:
    """Of what is left, what one gets that asks for so much beside others; whatever is left if it asks 0."""
    if asked <= 0:
        return max(1.0, room - others)
    return max(1.0, asked * min(1.0, room / (asked + others)))
