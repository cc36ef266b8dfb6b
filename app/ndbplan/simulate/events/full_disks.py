"""Disks that are full in a run: what needs more room on them stops, what has its room goes on.

A data node that asks for room and gets none ends with 2810, whichever file it was for; a backup is only
broken off. Files that have their full size need none: data and undo files, a redo log that was written in
full (InitFragmentLogFiles=FULL) or has gone round once. A checkpoint always needs room.
[Read in the source: FsRef::fsErrNoSpaceLeftOnDevice is NDBD_EXIT_AFS_DISK_FULL, Backup::execFSAPPENDREF;
which file needs room: how each is created. Not tried on a running cluster.]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.settings import node_settings
from ndbplan.plan.events import DiskFull
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.simulate.events.failures import BY_HAND, strike
from ndbplan.simulate.events.handlers import Asked, Order, handles, planned
from ndbplan.simulate.events.orders import EndBackup, end_backup
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.simulation import Due, Simulation
from ndbplan.simulate.stop import DownTime
from ndbplan.simulate.world.indices import Part

LOOKS_EVERY_S = 1.0
"""How often it is looked at who needs room: files grow by pieces of a second or more [assumed]."""
EXIT_FULL = 2810
"""What a data node ends with that gets no room, and why a backup was broken off."""


@dataclass(frozen=True)
class DiskFills:
    """Other files take all the room that a disk has left, now and whenever some gets free."""

    disk_id: str
    name: str


@dataclass(frozen=True)
class DiskHasRoom:
    """They are gone."""

    disk_id: str
    name: str


@dataclass(frozen=True)
class FreeDisk(Order):
    """Somebody takes away what fills a disk."""

    disk_id: str


@dataclass(frozen=True)
class WantsRoom:
    """It is looked at who needs room on a full disk."""

    disk_id: str
    since_s: float


def is_full(sim: Simulation, disk_id: str) -> bool:
    """Whether nothing more fits on a disk."""
    return any(one.object_id == disk_id and one.to_s is None for one in sim.full_disks)


@planned(DiskFull)
def disk_full(event: DiskFull, asked: Asked) -> Iterator[Due]:
    """The disk fills up, and is cleared again."""
    name = _name(asked, event.object_id)
    yield Due(event.at_s, DiskFills(event.object_id, name), of_cluster=False)
    if event.duration_s > 0:
        ends_s = event.at_s + event.duration_s
        yield Due(ends_s, DiskHasRoom(event.object_id, name), of_cluster=False)


@planned(FreeDisk)
def free_disk(order: FreeDisk, asked: Asked) -> Iterator[Due]:
    """At once; on a disk that is not full it does nothing."""
    yield Due(order.at_s, DiskHasRoom(order.disk_id, _name(asked, order.disk_id)), of_cluster=False)


def _name(asked: Asked, disk_id: str) -> str:
    host = asked.plan.host_of_disk.get(disk_id)
    if host is None:
        raise SimulationError(f"there is no disk '{disk_id}'", where="events")
    return f"{host.hostname} {asked.plan.by_id[disk_id].name}"


@handles(DiskFills)
def fill(sim: Simulation, event: DiskFills) -> None:
    """From now on nothing gets more room on it."""
    if is_full(sim, event.disk_id):
        return
    sim.full_disks.append(DownTime(event.disk_id, sim.at_s))
    sim.say(f"{event.name} is full")
    look(sim, WantsRoom(event.disk_id, sim.at_s))


@handles(DiskHasRoom)
def clear(sim: Simulation, event: DiskHasRoom) -> None:
    """What stopped stays so until it is started."""
    if is_full(sim, event.disk_id):
        sim.full_disks[:] = [
            replace(one, to_s=sim.at_s) if one.object_id == event.disk_id and one.to_s is None else one
            for one in sim.full_disks
        ]
        sim.say(f"{event.name} has room again")


@handles(WantsRoom)
def look(sim: Simulation, event: WantsRoom) -> None:
    """Data nodes that cannot write on end; a backup that cannot is broken off on all nodes."""
    begun = DownTime(event.disk_id, event.since_s)
    if begun not in sim.full_disks:
        return
    plan = sim.outage.plan
    host_id = plan.host_of_disk[event.disk_id].id
    for node in plan.data_nodes:
        n = sim.node(node.id) if node.host_id == host_id else -1
        if n < 0 or sim.is_dead(n) or node.id in sim.outage.striking:
            continue
        what = _needs(sim, n, node, event.disk_id)
        if what:
            sim.say(f"node {node.node_id} stops ({EXIT_FULL}): no room for {what}")
            strike(sim, BY_HAND, [node], silent=False)
        elif sim.state.node_state[n].backup_left_bytes > 0 and _is_on(
            sim, node, DiskRole.BACKUP, event.disk_id
        ):
            end_backup(sim, EndBackup())
            sim.say(f"the backup is broken off ({EXIT_FULL}): no room for it on node {node.node_id}")
    sim.later(Due(sim.at_s + LOOKS_EVERY_S, event, of_cluster=False, is_look=True))


def _is_on(sim: Simulation, node: DataNode, role: DiskRole, disk_id: str) -> bool:
    disk = disk_for(sim.outage.plan, node, role)
    return disk is not None and disk.id == disk_id


def _needs(sim: Simulation, n: int, node: DataNode, disk_id: str) -> str:
    """What a data node needs room for on a full disk, without which it ends; empty: nothing now."""
    if _is_on(sim, node, DiskRole.REDO, disk_id) and _log_has_holes(sim, n, node):
        return "redo log"
    if sim.state.node_state[n].lcp_left_bytes > 0 and _is_on(sim, node, DiskRole.LCP, disk_id):
        return "a checkpoint"
    return ""


def _log_has_holes(sim: Simulation, n: int, node: DataNode) -> bool:
    """Whether log is written where its files have no room yet.

    The rows of the start went through the log once, at least.
    """
    stated = node_settings(sim.outage.plan, node).text("InitFragmentLogFiles")
    if (stated or "sparse").lower() == "full":
        return False
    laws, state = sim.laws.nodes[n], sim.state.node_state[n]
    parts = int((sim.full_load[n] > 0).sum()) or 1
    written = float(state.rows_bytes) + float(sim.state.parts[Part.MADE, n].sum())
    return written < parts * float(laws.log_limit_bytes)
