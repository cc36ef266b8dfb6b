"""What of a data node decides about its backup, whatever it holds and is asked for.

sites_of(machines)[node_id].sources
Devices.of(machines, busy).slowest(sources)

Source: engine model 5.5 and 16.4; manual 8.0, taking a backup with parallel data nodes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.base.quantity import Quantity
from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.load.processors import against_timed
from ndbplan.estimate.storage.machines import Machines
from ndbplan.estimate.times.disk_files import disk_left, left_beside
from ndbplan.ndb.speed_changes import speed_change
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DiskRole

_ROLES = (DiskRole.BACKUP, DiskRole.DATA_FILES)
"""What a backup asks disks for."""


@kept_by_identity(size=48)
def _users(machines: Machines) -> tuple[tuple[Disk, int], ...]:
    """The disks that backups ask, each with how many data nodes use it so."""
    users: dict[str, int] = {}
    disks: dict[str, Disk] = {}
    for node in machines.nodes:
        own = (disk for role in _ROLES for disk, _ in node.on_disks(role))
        for disk in {d.id: d for d in own}.values():
            users[disk.id] = users.get(disk.id, 0) + 1
            disks[disk.id] = disk
    return tuple((disk, users[disk_id]) for disk_id, disk in disks.items())


class Devices(NamedTuple):
    """What the disks of a cluster give to each of the nodes that use them at once, by disk id."""

    share: dict[str, float]
    """Share of a disk that is left beside all that is asked of it."""

    @classmethod
    def of(cls, machines: Machines, busy: Mapping[str, float]) -> Devices:
        """`busy`: share of the time of disks that is taken meanwhile."""
        users = _users(machines)
        return cls({disk.id: left_beside(disk, busy.get(disk.id, 0.0)) / count for disk, count in users})

    def slowest(self, disks: Sequence[tuple[Disk, float]]) -> Device | None:
        """What the disks of some files give to one node: all of them, as soon as the last has its share."""
        found = [
            (disk.sequential_read_bytes_per_s * self.share[disk.id] / share, disk.name)
            for disk, share in disks
            if share
        ]
        slow = min(found, key=itemgetter(0), default=None)
        return None if slow is None else _device(slow[1], slow[0])


class Device(NamedTuple):
    """What the disks of its files give to one data node that reads them."""

    name: str
    reads_bytes_per_s: float


@kept_by_value(256)
def _device(name: str, reads_bytes_per_s: float) -> Device:
    """The same object for all disks that give the same, so that results can be kept by identity."""
    return Device(name, reads_bytes_per_s)


def _have_several_alike(machines: Machines) -> bool:
    """Whether all data nodes have several LDM threads, the same number each.

    Only then each writes its own part of the backup (manual 8.0: taking a backup with parallel data nodes).
    """
    counts = {node.ldm_threads for node in machines.nodes}
    return len(counts) == 1 and counts != {1}


def _may_be_multithreaded(settings: NodeSettings) -> bool:
    """Whether version and parameters let every LDM thread of a node write its own part of the backup."""
    if not speed_change("multithreaded_backup").is_in(settings.version):
        return False
    return bool(settings.number("EnableMultithreadedBackup"))


class Site(NamedTuple):
    """What of a data node decides about its backup, whatever it holds and is asked for."""

    settings: NodeSettings
    most_logged_bytes_per_s: float
    """No more is logged than the disk writes, whatever clients send."""
    sources: tuple[tuple[Disk, float], ...]
    """The disks of its data files, each with its share of them."""
    ldm_threads: int
    multithreaded: bool
    """Whether each of them writes its own part of the backup."""
    cores: float
    """Cores of the host over the data nodes that share it."""
    core: Quantity
    """Work of one of them against those that were timed."""
    one_disk: bool
    """Whether it writes to a disk of its data files."""
    kind: tuple[object, ...]
    """Equal for nodes that differ in their disks at most."""


@kept_by_identity(size=48)
def sites_of(machines: Machines) -> dict[int, Site]:
    """The data nodes, by node id."""
    several = _have_several_alike(machines)
    together = Counter(node.host.id for node in machines.nodes)
    found = {}
    for node in machines.nodes:
        own, target, sources = node.settings, node.disks[DiskRole.BACKUP], node.on_disks(DiskRole.DATA_FILES)
        most = math.inf if target is None else disk_left(target) * target.sequential_write_bytes_per_s
        by_all = several and _may_be_multithreaded(own)
        cores = node.host.cores / together[node.host.id]
        core = against_timed(node.host, machines.constants)
        one_disk = any(disk is target for disk, _ in sources)
        kind = id(own), node.ldm_threads, by_all, cores, id(core), one_disk
        site = Site(own, most, sources, node.ldm_threads, by_all, cores, core, one_disk, kind)
        found[node.node_id] = site
    return found
