"""Disks in a run: one gets slower or fails, and backups are written."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ndbplan.configuration.failures import disks_needed
from ndbplan.estimate.timed import backup
from ndbplan.plan.events import Backup, DiskSlow
from ndbplan.simulate.events.failures import strike
from ndbplan.simulate.events.global_checkpoints import limit_s, watch
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
    return f"{name} stalls" if factor < STALLED else f"{name} at {factor:.0%} of its speed"


@handles(DiskSlows)
def slow_down(sim: Simulation, event: DiskSlows) -> None:
    """What the disk writes and reads from now on; nodes that cannot do without it die when it fails."""
    d = sim.disk(event.disk_id)
    if event.factor != 1:
        until_s = None if math.isinf(event.until_s) else event.until_s
        sim.slowed.append(SlowTime(event.disk_id, event.factor, sim.at_s, until_s))
    if event.factor <= 0:
        now = sim.outage.plan
        needing = [p for p in now.processes if event.disk_id in disks_needed(now, p)]
        strike(sim, event.number, needing, silent=False)
    elif d >= 0:
        sim.laws.disks[d].write_bytes_per_s *= event.factor
        sim.laws.disks[d].read_iops *= event.factor
        sim.forget_room()
    sim.say(event.text)
    if d >= 0 and 0 < event.factor < 1:
        if event.factor < STALLED and limit_s(sim) is None:
            sim.say("global checkpoints wait for the disk without a limit: TimeBetweenEpochsTimeout is 0")
        watch(sim, event.number, event.until_s)


@handles(DiskIsWell)
def speed_up(sim: Simulation, event: DiskIsWell) -> None:
    """The disk is as fast as before."""
    d = sim.disk(event.disk_id)
    if d >= 0:
        sim.laws.disks[d].write_bytes_per_s /= event.factor
        sim.laws.disks[d].read_iops /= event.factor
    sim.say(event.text)


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
