"""Disks in a run: one gets slower, fails or loses a device, and backups are written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.base.units import format_percent
from ndbplan.configuration.arrays import may_lose, worn
from ndbplan.configuration.failures import disks_needed
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.timed import backup
from ndbplan.estimate.times.rebuild import rebuild_share, rebuild_time
from ndbplan.plan.events import Backup, DeviceFailure, DiskSlow
from ndbplan.plan.hardware import Disk
from ndbplan.simulate.events.failures import strike
from ndbplan.simulate.events.global_checkpoints import has_log, limit_s, watch
from ndbplan.simulate.events.handlers import Asked, handles, planned
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.stop import SlowTime

STALLED = 0.005
"""Share of its speed below which a disk is said to stall: in whole percent it has none."""


@dataclass(frozen=True)
class DiskSlows:
    """A disk has so much of its speed; 0: it fails, and the data nodes that use it die."""

    number: int
    disk_id: str
    factor: float
    until_s: float
    """When it has its speed again; infinite: never."""
    text: str


@dataclass(frozen=True)
class DiskIsWell:
    """It has its speed again."""

    disk_id: str
    factor: float
    text: str


@dataclass(frozen=True)
class DeviceFails:
    """A disk has one device less."""

    number: int
    disk_id: str
    back_s: float
    """When a new one is put in; infinite: never."""
    rebuild_s: float
    """How long it takes to fill."""
    name: str


@dataclass(frozen=True)
class DeviceIsFilled:
    """A new device begins (`to_fill`), or ends, to be filled."""

    failed: DeviceFails
    to_fill: bool


@dataclass(frozen=True)
class BackupStarts:
    """Every data node that runs begins to write its part of a backup."""

    nodes: tuple[tuple[int, float, float], ...]
    """Node id, bytes and bytes per second of each."""


@planned(DiskSlow)
def disk_slow(event: DiskSlow, asked: Asked) -> Iterator[Due]:
    """The disk slows, and works at full speed again."""
    host = asked.plan.host_of_disk.get(event.object_id)
    if host is None:
        raise SimulationError(f"there is no disk '{event.object_id}'", where="events")
    name = f"{host.hostname} {asked.plan.by_id[event.object_id].name}"
    ends = event.duration_s > 0 and event.factor > 0
    until_s = event.at_s + event.duration_s if ends else math.inf
    text = _slowed(name, event.factor)
    yield Due(event.at_s, DiskSlows(asked.number, event.object_id, event.factor, until_s, text))
    if ends:
        well = DiskIsWell(event.object_id, event.factor, f"{name} works at full speed again")
        yield Due(until_s, well)


def _slowed(name: str, factor: float) -> str:
    if factor <= 0:
        return f"{name} fails"
    return f"{name} stalls" if factor < STALLED else f"{name} at {format_percent(factor)} of its speed"


@handles(DiskSlows)
def slow_down(sim: Simulation, event: DiskSlows) -> None:
    """What the disk writes and reads from now on; nodes that cannot do without it die when it fails."""
    d = sim.disk(event.disk_id)
    if event.factor != 1:
        until_s = None if math.isinf(event.until_s) else event.until_s
        sim.slowed.append(SlowTime(event.disk_id, event.factor, sim.at_s, until_s))
    if event.factor <= 0:
        _gone(sim, event.number, event.disk_id)
    elif d >= 0:
        sim.laws.disks[d].write_bytes_per_s *= event.factor
        sim.laws.disks[d].read_iops *= event.factor
        sim.forget_room()
    sim.say(event.text)
    if d >= 0 and 0 < event.factor < 1:
        if event.factor < STALLED and has_log(sim, d) and limit_s(sim) is None:
            sim.say("global checkpoints wait for the disk without a limit: TimeBetweenEpochsTimeout is 0")
        watch(sim, event.number, event.until_s)


def _gone(sim: Simulation, number: int, disk_id: str) -> None:
    now = sim.outage.plan
    strike(sim, number, [p for p in now.processes if disk_id in disks_needed(now, p)], silent=False)


@handles(DiskIsWell)
def speed_up(sim: Simulation, event: DiskIsWell) -> None:
    """The disk is as fast as before."""
    d = sim.disk(event.disk_id)
    if d >= 0:
        sim.laws.disks[d].write_bytes_per_s /= event.factor
        sim.laws.disks[d].read_iops /= event.factor
    sim.say(event.text)


@planned(DeviceFailure)
def device_failure(event: DeviceFailure, asked: Asked) -> Iterator[Due]:
    """A device fails; a new one takes its place and is filled."""
    host, disk = asked.plan.host_of_disk.get(event.object_id), asked.plan.by_id.get(event.object_id)
    if host is None or not isinstance(disk, Disk):
        raise SimulationError(f"there is no disk '{event.object_id}'", where="events")
    back_s = math.inf if event.back_after_s is None else event.at_s + event.back_after_s
    rebuild_s = rebuild_time(disk, constants_of(asked.plan)).value
    failed = DeviceFails(asked.number, disk.id, back_s, rebuild_s, f"{host.hostname} {disk.name}")
    yield Due(event.at_s, failed)
    if not math.isinf(back_s) and may_lose(disk):
        yield Due(back_s, DeviceIsFilled(failed, to_fill=True))
        yield Due(back_s + rebuild_s, DeviceIsFilled(failed, to_fill=False))


@handles(DeviceFails)
def lose_device(sim: Simulation, event: DeviceFails) -> None:
    """The disk goes on without it, slower; with one more than it may lose all of it is gone."""
    disk, d = sim.outage.plan.by_id[event.disk_id], sim.disk(event.disk_id)
    lost = sim.lost_devices[event.disk_id] = sim.lost_devices.get(event.disk_id, 0) + 1
    many = f"device {lost} of {disk.devices}" if disk.devices > 1 else "the device"
    if lost > may_lose(disk):
        sim.slowed.append(SlowTime(event.disk_id, 0.0, sim.at_s, None))
        sim.say(f"{many} of {event.name} fails: all of it is gone")
        _gone(sim, event.number, event.disk_id)
        return
    reads = _reads_left(disk, lost)
    whole_s = event.back_s + event.rebuild_s
    until_s = None if math.isinf(whole_s) else whole_s
    sim.slowed.append(SlowTime(event.disk_id, reads, sim.at_s, until_s))
    if d >= 0:
        sim.laws.disks[d].read_iops *= reads
        sim.forget_room()
    sim.say(f"{many} of {event.name} fails: it goes on with {format_percent(reads)} of its random reads")


def _reads_left(disk: Disk, lost: int) -> float:
    """Random reads with so many devices less against one less than that."""
    return worn(disk, lost).random_read_iops / worn(disk, lost - 1).random_read_iops


@handles(DeviceIsFilled)
def fill_device(sim: Simulation, event: DeviceIsFilled) -> None:
    """While it is filled that takes a share of the disk; then it is whole. One that is gone stays so."""
    failed, now = event.failed, sim.outage.plan
    disk, d = now.by_id[failed.disk_id], sim.disk(failed.disk_id)
    lost = sim.lost_devices[failed.disk_id]
    if lost > may_lose(disk):
        return
    factor = 1.0 - rebuild_share(constants_of(now)).value
    if event.to_fill:
        sim.say(f"a new device of {failed.name} is filled and takes {format_percent(1 - factor)} of the disk")
        until_s = sim.at_s + failed.rebuild_s
        sim.slowed.append(SlowTime(failed.disk_id, factor, sim.at_s, until_s))
        reads = factor
    else:
        sim.lost_devices[failed.disk_id] = lost - 1
        sim.say(f"{failed.name} is whole again")
        reads = 1 / factor / _reads_left(disk, lost)
        factor = 1 / factor
    if d < 0:
        return
    sim.laws.disks[d].write_bytes_per_s *= factor
    sim.laws.disks[d].read_iops *= reads
    sim.forget_room()
    if event.to_fill:
        watch(sim, failed.number, until_s)


@planned(Backup)
def planned_backup(event: Backup, asked: Asked) -> Iterator[Due]:
    """What each node writes, and how quickly."""
    written = tuple(
        (node.node_id, node.written_bytes.value, node.speed_bytes_per_s.value)
        for node in backup(asked.plan).nodes
    )
    yield Due(event.at_s, BackupStarts(written))


@handles(BackupStarts)
def start_backup(sim: Simulation, event: BackupStarts) -> None:
    """Nodes that run have their part to write."""
    written = {node_id: (amount, speed) for node_id, amount, speed in event.nodes}
    for n, node_class in enumerate(sim.scenario.node_classes):
        if node_class.node_id in written and not sim.is_dead(n):
            amount, speed = written[node_class.node_id]
            sim.state.node_state[n].backup_left_bytes = amount
            sim.laws.nodes[n].backup_bytes_per_s = speed
    sim.laws.run.has_backup = True
    sim.forget_room()
    sim.say("a backup starts")
