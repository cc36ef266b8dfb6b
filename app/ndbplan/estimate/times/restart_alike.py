"""Data nodes that are alike to a start: those that take as long, and those whose checkpoints it waits for.

told_by(start) == told_by(other)          # both take as long, for the same reasons

Source: engine model 6, by way of `restart_phases`: what its phases read of a node.
"""

from __future__ import annotations

from collections.abc import Mapping

from ndbplan.base.kept import kept_by_identity
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.estimate.times.disk_files import disk_left
from ndbplan.estimate.times.restart_phases import OtherNode, Starting
from ndbplan.estimate.times.running import Running
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DiskRole


def told_by(start: Starting) -> tuple[object, ...]:
    """What decides the phases of a node in a cluster under conditions: equal for nodes that take as long.

    All that phases name is part of it, but for hosts and nodes.
    """

    def of_disk(disk: Disk | None) -> tuple[object, ...]:
        if disk is None:
            return ()
        return (
            disk.name, disk.sequential_read_bytes_per_s, disk.sequential_write_bytes_per_s,
            disk.sync_write_latency_s, disk.random_write_iops, disk.other_load,
            start.sharing.get(disk.id), start.busy.get(disk.id),
        )  # fmt: skip

    machine, made, pages = start.machine, start.checkpoint, start.disk_data
    shared = (*machine.on_disks(DiskRole.UNDO), *machine.on_disks(DiskRole.DATA_FILES), *start.source_disks)
    return (
        id(start.settings),
        None if start.data is None else id(start.data.alike),
        None if start.load is None else id(start.load.alike),
        start.ldm,
        start.core.value,
        start.slowest_core.value,
        machine.ldm_threads,
        of_disk(start.disk(DiskRole.LCP)),
        of_disk(start.disk(DiskRole.REDO)),
        tuple([(of_disk(disk), share) for disk, share in shared]),
        tuple([(of_disk(one.disk), one.name, one.size_bytes, one.count) for one in start.files]),
        tuple([(link.bytes_per_s, link.crossing_bytes) for link in start.links]),
        None if made is None else (made.duration_s.value, made.written_bytes.value),
        None if pages is None else pages.undo_bytes_per_s.value,
        tuple(map(id, start.others)),
        None if start.unlogged is None else told_by(start.unlogged),
    )


@kept_by_identity(48)
def _by_checkpoint(machines: Machines, held: Mapping[int, NodeData]) -> tuple[tuple[OtherNode, ...], ...]:
    """Nodes with rows whose checkpoints are written alike: those of one disk speed and the same settings.

    Of each kind those that write most come first.
    """
    on_disk: dict[str, int] = {}
    for other in machines.members:
        disk = other.disks[DiskRole.LCP]
        if disk is not None:
            on_disk[disk.id] = on_disk.get(disk.id, 0) + 1
    alike: dict[object, list[OtherNode]] = {}
    for other in machines.members:
        data = held.get(other.node_id)
        if data is None:
            continue
        disk = other.disks[DiskRole.LCP]
        speed, name = float("inf"), ""
        if disk is not None:
            speed = disk.sequential_write_bytes_per_s * disk_left(disk) / on_disk[disk.id]
            name = disk.name
        one = OtherNode(other, data.alike, speed, name)
        alike.setdefault((speed, other.node.parameters), []).append(one)
    # Sorting is stable: of those that write as much the first one stays first.
    return tuple(
        tuple(sorted(each, key=lambda one: one.checkpoint_bytes, reverse=True)) for each in alike.values()
    )


def others_of(cluster: Running, starting: set[int], wanted: bool) -> tuple[OtherNode, ...]:
    """Nodes whose checkpoint a start waits for: those that do not start, or all of them when all do.

    Of those that are alike the one that writes most.
    """
    most = (
        next((one for one in alike if wanted or one.machine.node_id not in starting), None)
        for alike in _by_checkpoint(cluster.machines, cluster.held)
    )
    return tuple(one for one in most if one is not None)


def hardware(machine: Machine) -> tuple[object, ...]:
    """What of a node's host decides how long its start takes."""
    host = machine.host
    disks = tuple(
        (
            d.sequential_read_bytes_per_s, d.sequential_write_bytes_per_s, d.sync_write_latency_s,
            d.random_write_iops, d.other_load,
        )
        for d in machine.disks.values()
        if d is not None
    )  # fmt: skip
    core = host.clock_ghz, host.core_gain_per_clock
    return (host.cores, core, host.network_bytes_per_s, host.location_id, disks)
