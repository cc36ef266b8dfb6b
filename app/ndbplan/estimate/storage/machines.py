"""Data nodes and what they run on: the pieces of a plan that figures of data nodes depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ndbplan.configuration.directories import disk_of_path
from ndbplan.configuration.settings import NodeSettings
from ndbplan.configuration.space_files import ON_ONE_DISK, FileShares
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.storage.placement import threads_with
from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk, DiskKind, Host, Location
from ndbplan.plan.processes import DataNode, DiskRole

NOWHERE_BYTES_PER_S = 1e15
"""Far above any disk: what a data node writes to nowhere takes no time."""


def nowhere(disk: Disk) -> Disk:
    """What a diskless data node has in place of a disk: each write is confirmed at once, and nothing is kept.

    Source: block VoidFs of the product, which answers in place of its file system then.
    """
    speed = dict.fromkeys(_SPEEDS, NOWHERE_BYTES_PER_S)
    idle = {"kind": DiskKind.NVME, "raid": None, "devices": 1, "sync_write_latency_s": 0.0, "other_load": 0.0}
    return disk.model_copy(update=speed | idle)


def is_nowhere(disk: Disk) -> bool:
    """Whether it stands for no disk at all. Source: that of `nowhere`."""
    return disk.sequential_write_bytes_per_s >= NOWHERE_BYTES_PER_S


_SPEEDS = (
    "sequential_read_bytes_per_s", "sequential_write_bytes_per_s", "random_read_iops", "random_write_iops",
)  # fmt: skip


@dataclass(frozen=True)
class Machine:
    """A data node and what it runs on."""

    node: DataNode
    host: Host
    settings: NodeSettings
    disks: Mapping[DiskRole, Disk | None]
    file_shares: FileShares = ON_ONE_DISK
    """Where data files and undo files lie on several disks, or on another than that of the role."""
    small_log_files: bool = False
    """Whether its redo log files are so small that changing from one to the next costs disk time."""

    def on_disks(self, role: DiskRole) -> tuple[tuple[Disk, float], ...]:
        """The disks that hold the files of a role, each with its share of them."""
        disk = self.disks[role]
        return self.file_shares.get(role) or (() if disk is None else ((disk, 1.0),))

    def disk_of_folder(self, role: DiskRole, folder: str | None) -> Disk | None:
        """The disk of a folder that the plan names for files of a role; without one that of the role."""
        disk_id = disk_of_path(self.host.disks, folder) if folder else None
        named = next((disk for disk in self.host.disks if disk.id == disk_id), None)
        return named or self.disks[role]

    @cached_property
    def node_id(self) -> int:
        """Of the data node."""
        return self.node.node_id

    @cached_property
    def threads(self) -> ThreadCounts:
        """Threads of the data node. ThreadConfigError for a ThreadConfig that it would refuse."""
        return threads_with(self.settings, self.host.cores)

    @cached_property
    def ldm_threads(self) -> int:
        """LDM instances; one even when no thread is set apart for it."""
        return self.threads.ldm_instances

    @cached_property
    def used_disks(self) -> Mapping[str, Disk]:
        """Disks that the node uses, by id."""
        of_files = (disk for shares in self.file_shares.values() for disk, _ in shares)
        return {disk.id: disk for disk in (*self.disks.values(), *of_files) if disk is not None}


@dataclass(frozen=True)
class Machines:
    """The data nodes of a cluster."""

    constants: Constants
    settings: NodeSettings
    """Of data nodes that state nothing of their own."""
    by_id: Mapping[int, Machine]
    """All data nodes, by node id."""
    groups: tuple[tuple[Machine, ...], ...]
    """The node groups; nodes reserved for another one are in none."""
    locations: tuple[Location, ...]

    @property
    def version(self) -> NdbVersion:
        """Of the product."""
        return self.settings.version

    @cached_property
    def nodes(self) -> tuple[Machine, ...]:
        """All data nodes."""
        return tuple(self.by_id.values())

    @cached_property
    def members(self) -> tuple[Machine, ...]:
        """The nodes of all node groups."""
        return tuple(machine for group in self.groups for machine in group)

    @cached_property
    def group_of(self) -> Mapping[int, tuple[Machine, ...]]:
        """The node group of each data node that is in one, by node id."""
        return {one.node_id: group for group in self.groups for one in group}

    @cached_property
    def _by_role(self) -> dict[DiskRole, Mapping[str, tuple[Disk, tuple[Machine, ...]]]]:
        return {}

    def sharing(self, role: DiskRole) -> Mapping[str, tuple[Disk, tuple[Machine, ...]]]:
        """By id of a disk that has this role, the disk and the data nodes that use it so."""
        known = self._by_role.get(role)
        if known is None:
            found: dict[str, tuple[Disk, list[Machine]]] = {}
            for machine in self.nodes:
                disk = machine.disks[role]
                if disk is not None:
                    found.setdefault(disk.id, (disk, []))[-1].append(machine)
            known = self._by_role[role] = {i: (disk, tuple(nodes)) for i, (disk, nodes) in found.items()}
        return known

    @cached_property
    def used_disks(self) -> tuple[tuple[Host, Disk], ...]:
        """Every disk that a data node uses, once, with its host."""
        used = {i: (one.host, disk) for one in reversed(self.nodes) for i, disk in one.used_disks.items()}
        order = dict.fromkeys(i for one in self.nodes for i in one.used_disks)
        return tuple(used[i] for i in order)

    @cached_property
    def with_data_files_on(self) -> Mapping[str, tuple[tuple[Machine, int], ...]]:
        """By id of a disk the data nodes with data files there, and on how many disks each has its own."""
        found: dict[str, list[tuple[Machine, int]]] = {}
        for machine in self.nodes:
            disks = machine.on_disks(DiskRole.DATA_FILES)
            for disk_id in dict.fromkeys(disk.id for disk, _ in disks):
                found.setdefault(disk_id, []).append((machine, len(disks)))
        return {disk_id: tuple(nodes) for disk_id, nodes in found.items()}

    def on_host(self, host_id: str) -> int:
        """How many data nodes share a host."""
        return sum(1 for machine in self.nodes if machine.host.id == host_id)
