"""What disks leave for local checkpoints: no checkpoint is written faster, whatever its speed is set to.

Measured on running clusters of 7.4.10 and 8.4.8 with disks of 4 to 20 MB/s. That a spinning disk is slower
with several streams is judgement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint_speed import checkpoint_share, speed_limits
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.disk_data import NodeDiskData
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.plan.hardware import Disk, DiskKind
from ndbplan.plan.processes import DiskRole


class Room(NamedTuple):
    """Bytes a second that a disk leaves for a node's checkpoints."""

    least: float = math.inf
    likely: float = math.inf
    most: float = math.inf
    lasting: float = math.inf
    """One after the other for long, while the log keeps up."""


NO_LIMIT = Room()


def sequential_write_bytes_per_s(disk: Disk, streams: int, constants: Constants) -> Quantity:
    """Speed of a disk that takes so many sequential streams at once, bytes a second."""
    name = f"sequential writing of {disk.name}"
    speed = Quantity.stated(name, disk.sequential_write_bytes_per_s, "bytes/s")
    if disk.kind is not DiskKind.HDD or streams < 2:
        return speed
    return speed * constants["hdd_shared_stream_factor"]


Writing = tuple[tuple[int, int], ...]
"""(node id, LDM threads that write) of data nodes that write checkpoints."""


@kept_by_value(96)
def writing(*of_nodes: tuple[int, int]) -> Writing:
    """The same object for all that are equal, so that results can be kept by identity."""
    return of_nodes


class UndoLog(NamedTuple):
    """What is written to a disk of undo logs."""

    logs: int = 0
    """Data nodes whose undo log it is."""
    bytes_per_s: float = 0.0


UndoLogs = Mapping[str, UndoLog]
"""By id of the disk, those that some is written to."""
NO_UNDO_LOGS: UndoLogs = MappingProxyType({})


@kept_by_identity(size=48)
def undo_logs(machines: Machines, nodes: tuple[NodeDiskData, ...]) -> UndoLogs:
    """What tables on disk write of undo log to each disk."""
    found: dict[str, UndoLog] = {}
    for node in nodes:
        written = node.undo_bytes_per_s.value
        for disk, share in machines.by_id[node.node_id].on_disks(DiskRole.UNDO) if written > 0 else ():
            so_far = found.get(disk.id, UndoLog())
            found[disk.id] = UndoLog(so_far.logs + 1, so_far.bytes_per_s + share * written)
    return found or NO_UNDO_LOGS


def rooms(
    machines: Machines,
    loads: Mapping[int, NodeLoad],
    threads: Writing,
    purpose: DiskRole = DiskRole.LCP,
    undo: UndoLogs = NO_UNDO_LOGS,
) -> dict[int, Room]:
    """What each node can write of a checkpoint (or a backup: `purpose`), by node id.

    Of a disk that the log is written to as well a checkpoint gets what the log leaves, and no less than its
    share. It takes that share for some seconds only where its speed follows the load: when the log lags by
    2 s the speed falls to MinDiskWriteSpeed, with redo control too [8.4.8, engine model 16.1]. Nodes that
    write to one disk get as much each. The undo log of a node counts as one log part more.
    """
    if purpose is not DiskRole.LCP and machines.sharing(purpose) == machines.sharing(DiskRole.LCP):
        purpose = DiskRole.LCP
    return _rooms(machines, loads, threads, purpose, undo)


@kept_by_identity(size=48)
def _rooms(
    machines: Machines, loads: Mapping[int, NodeLoad], writing: Writing, purpose: DiskRole, undo: UndoLogs
) -> dict[int, Room]:
    threads = dict(writing)
    logs = machines.sharing(DiskRole.REDO)
    rooms = dict.fromkeys(machines.by_id, NO_LIMIT)
    alike: dict[object, Room] = {}
    for disk_id, (disk, nodes) in machines.sharing(purpose).items():
        own = logs[disk_id][1] if disk_id in logs else ()
        # Most disks are alike, and so are the nodes that write to them.
        beside = undo.get(disk_id, UndoLog())
        key = *_key(disk, nodes, own, loads, threads), beside
        room = alike.get(key)
        if room is None:
            room = alike[key] = _room(disk, nodes, own, loads, threads, beside, machines.constants)
        for node in nodes:
            rooms[node.node_id] = room
    return rooms


def _key(
    disk: Disk,
    nodes: Sequence[Machine],
    logs: Sequence[Machine],
    loads: Mapping[int, NodeLoad],
    threads: Mapping[int, int],
) -> tuple[object, ...]:
    """All that `_room` reads: disks with the same key leave the same room."""
    writers = [(id(node.settings), threads.get(node.node_id, node.ldm_threads)) for node in nodes]
    own = [id(load.alike) if (load := loads.get(node.node_id)) is not None else 0 for node in logs]
    speed = (disk.sequential_write_bytes_per_s, disk.kind, disk.other_load)
    return *speed, tuple(writers), tuple(own)


def _room(
    disk: Disk,
    nodes: Sequence[Machine],
    logs: Sequence[Machine],
    loads: Mapping[int, NodeLoad],
    threads: Mapping[int, int],
    undo: UndoLog,
    constants: Constants,
) -> Room:
    """What each of some nodes can write of a checkpoint to a disk that has the logs of some nodes, too."""
    own = [load for node in logs if (load := loads.get(node.node_id)) is not None]
    log = constants["redo_page_overhead"] * sum(load.redo_bytes_per_s.value for load in own)
    streams = (len(nodes) + len(logs) if log.value else len(nodes)) + undo.logs
    if undo.logs:
        log = log + Quantity.exact(undo.bytes_per_s, log.unit)
    whole = sequential_write_bytes_per_s(disk, streams, constants) * (1.0 - disk.other_load)
    parts = sum(rate > 0 for load in own for _, rate in load.redo_by_log_part) + undo.logs
    ldms = sum(threads.get(node.node_id, node.ldm_threads) for node in nodes)
    share = checkpoint_share(nodes[0].settings, nodes[0].small_log_files, constants, ldms, parts)
    least = max(share.low * whole.low, whole.low - log.high)
    likely = max(share.value * whole.value, whole.value - log.value)
    most = max(share.high * whole.high, whole.high - log.low)
    floor = sum(speed_limits(node.settings).floor for node in nodes)
    lasting = max(min(floor, share.value * whole.value), whole.value - log.value)
    return Room(*(found / len(nodes) for found in (least, likely, most, lasting)))
