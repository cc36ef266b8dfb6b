"""Disk space: what the files of every data node take, by role, and how full that makes each disk.

    disk_space(plan, workload).of("host1-nvme0").fill

Counted are redo log, local checkpoints, undo and data files, and the backups that the plan keeps. Sizes by
version and setting: resources/ndb/file_space.json; the redo log counts in full, as sparse files become. Not
counted: trace files and metadata, whose sizes are not known, node logs, which grow without bound, and the
error log (MaxNoOfSavedMessages entries of 999 bytes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.configuration.directories import disk_of_path
from ndbplan.configuration.settings import replicas_of
from ndbplan.estimate.load.node_settings import KEPT_NODES
from ndbplan.estimate.narrowed import narrowed
from ndbplan.estimate.space.file_sizes import FILE_SETTINGS, GROW_WITH_ROWS, FileSizes, file_sizes, in_bytes
from ndbplan.estimate.storage.machines import Machines
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.estimate.stored import machines_of, node_data_by_id, reach
from ndbplan.estimate.timed import backup
from ndbplan.estimate.times.backup import BackupEstimate
from ndbplan.ndb.nearness import Nearness
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.tables import LogfileGroup, Tablespace
from ndbplan.plan.workloads import Workload

_READ = FILE_SETTINGS | {"NoOfReplicas"}
"""Parameters that are looked at here."""


@dataclass(frozen=True, slots=True)
class NodeFiles:
    """Files of one role of one data node."""

    node_id: int
    role: DiskRole
    files: str
    """What they are, in words."""
    disk_id: str | None
    """Where they lie; None on a host without disks."""
    bytes: Quantity


@dataclass(frozen=True, slots=True)
class NodeSpace:
    """Files of one data node."""

    node_id: int
    files: tuple[NodeFiles, ...]

    @property
    def total_bytes(self) -> Quantity:
        """All of them."""
        return in_bytes((one.files, one.bytes) for one in self.files)

    def of(self, role: DiskRole) -> Quantity:
        """Bytes of one role; 0 when the node has no such files."""
        return in_bytes((one.files, one.bytes) for one in self.files if one.role is role)


@dataclass(frozen=True, eq=False)
class User:
    """A data node that has files on some disks, and what it would have there with a full DataMemory."""

    node: DataNode
    sizes: FileSizes
    places: Mapping[DiskRole, Disk | None]
    on_host: tuple[Disk, ...]

    @cached_property
    def placed(self) -> tuple[str | None, ...]:
        """Id of the disk of each of its files."""
        return tuple([self._place(one.role, one.directory) for one in self.sizes.files])

    def _place(self, role: DiskRole, directory: str | None) -> str | None:
        disk = self.places[role]
        stated = disk_of_path(self.on_host, directory) if directory else None
        return stated or (disk.id if disk is not None else None)

    @property
    def disks(self) -> tuple[Disk, ...]:
        """The disks that its roles and files name, each once."""
        by_role = _of_roles(self.places)
        if all(one.directory is None for one in self.sizes.files):
            return by_role
        by_id = {disk.id: disk for disk in self.on_host}
        used = [*(disk.id for disk in by_role), *(disk_id for disk_id in self.placed if disk_id is not None)]
        return tuple(by_id[disk_id] for disk_id in dict.fromkeys(used))

    @cached_property
    def by_disk(self) -> dict[str | None, list[tuple[DiskRole, Quantity]]]:
        """Role and size of its files on each disk, by its id."""
        found: dict[str | None, list[tuple[DiskRole, Quantity]]] = {}
        for one, place in zip(self.sizes.files, self.placed, strict=True):
            found.setdefault(place, []).append((one.role, one.bytes))
        return found

    @cached_property
    def grown(self) -> tuple[tuple[str, DiskRole, Quantity], ...]:
        """Id of the disk, role and size."""
        found = ((self.places[role], role, more) for role, more in self.sizes.filled)
        return tuple([(disk.id, role, more) for disk, role, more in found if disk is not None])

    @cached_property
    def space(self) -> NodeSpace:
        """Its files."""
        node_id = self.node.node_id
        files = zip(self.sizes.files, self.placed, strict=True)
        return NodeSpace(
            node_id, tuple([NodeFiles(node_id, one.role, one.files, at, one.bytes) for one, at in files])
        )


@kept_by_identity(size=KEPT_NODES)
def _of_roles(places: Mapping[DiskRole, Disk | None]) -> tuple[Disk, ...]:
    return tuple({disk.id: disk for disk in places.values() if disk is not None}.values())


@kept_by_identity(size=KEPT_NODES)
def _user(
    node: DataNode,
    sizes: FileSizes,
    places: Mapping[DiskRole, Disk | None],
    disks: tuple[Disk, ...],
) -> User:
    """The files of a node on the disks of its host."""
    return User(node, sizes, places, disks)


@dataclass(frozen=True)
class DiskSpace(Shape):
    """What lies on one disk; sums are made when they are asked for."""

    JSON = "host disk capacity_bytes used_bytes free_bytes fill memory_full_bytes"

    host_id: str
    disk_id: str
    host: str
    disk: str
    capacity_bytes: int
    users: tuple[User, ...]
    """Data nodes that have a role here, in node-id order, whether they have files of it or not."""

    @property
    def node_ids(self) -> tuple[int, ...]:
        """Their node ids."""
        return tuple([user.node.node_id for user in self.users])

    @cached_property
    def files(self) -> tuple[NodeFiles, ...]:
        """Those of all data nodes here."""
        return tuple([one for user in self.users for one in user.space.files if one.disk_id == self.disk_id])

    @cached_property
    def filled(self) -> tuple[tuple[DiskRole, str, Quantity], ...]:
        """Files that grow with the rows as they are when every data node has filled its DataMemory."""
        return tuple(
            (role, f"{role.value} of node {user.node.node_id}", more)
            for user in self.users
            for disk_id, role, more in user.grown
            if disk_id == self.disk_id
        )

    @cached_property
    def _sizes(self) -> list[tuple[DiskRole, Quantity]]:
        """Those of all files, in their order."""
        return [one for user in self.users for one in user.by_disk.get(self.disk_id, ())]

    @cached_property
    def likely_bytes(self) -> float:
        """The value of `used_bytes` alone, in a fraction of the time."""
        return sum([size.value for _, size in self._sizes])

    def likely_of(self, role: DiskRole) -> float:
        """The value of `of` alone."""
        return sum([size.value for own, size in self._sizes if own is role])

    @cached_property
    def ends(self) -> tuple[float, float, float]:
        """Value, low and high of `fill` alone."""
        sizes, times = [size for _, size in self._sizes], 1 / self.capacity_bytes
        return (
            self.likely_bytes * times,
            sum([size.low for size in sizes]) * times,
            sum([size.high for size in sizes]) * times,
        )

    @cached_property
    def used_bytes(self) -> Quantity:
        """Everything that lies here."""
        return in_bytes((f"{one.files} of node {one.node_id}", one.bytes) for one in self.files)

    @cached_property
    def fill(self) -> Quantity:
        """Share of the capacity; above 1 the files do not fit."""
        capacity = Term(f"capacity of {self.disk}", self.capacity_bytes, "bytes", "plan")
        used = self.used_bytes
        return used.scaled(1 / self.capacity_bytes, "fraction", (used.as_term("files"), capacity))

    @cached_property
    def may_outgrow(self) -> bool:
        """Whether `memory_full_bytes` may be more than the capacity: without its steps, which take longer."""
        ends = [size.high for role, size in self._sizes if role not in GROW_WITH_ROWS]
        grown = [
            size.high for user in self.users for disk_id, _, size in user.grown if disk_id == self.disk_id
        ]
        return sum([*ends, *grown]) > self.capacity_bytes

    @cached_property
    def memory_full_bytes(self) -> Quantity:
        """Everything when every data node has filled its DataMemory with rows."""
        made = [
            (f"{one.files} of node {one.node_id}", one.bytes)
            for one in self.files
            if one.role not in GROW_WITH_ROWS
        ]
        return in_bytes([*made, *((name, size) for _, name, size in self.filled)])

    @cached_property
    def _of_role(self) -> dict[DiskRole, Quantity]:
        return {}

    @cached_property
    def _full_of_role(self) -> dict[DiskRole, Quantity]:
        return {}

    @property
    def free_bytes(self) -> float:
        """Room left; negative: so much is missing."""
        return self.capacity_bytes - self.likely_bytes

    def of(self, role: DiskRole) -> Quantity:
        """Bytes of one role on this disk."""
        size = self._of_role.get(role)
        if size is None:
            here = ((f"data node {one.node_id}", one.bytes) for one in self.files if one.role is role)
            size = self._of_role[role] = in_bytes(here)
        return size

    def full_of(self, role: DiskRole) -> Quantity:
        """Bytes of one role on this disk when every data node has filled its DataMemory with rows."""
        if role not in GROW_WITH_ROWS:
            return self.of(role)
        whole = self._full_of_role.get(role)
        if whole is None:
            grown = ((name, size) for of, name, size in self.filled if of is role)
            whole = self._full_of_role[role] = in_bytes(grown)
        return whole

    @cached_property
    def by_role(self) -> tuple[tuple[DiskRole, Quantity], ...]:
        """Bytes of each role that lies here, largest first."""
        here = {one.role for one in self.files}
        sizes = [(role, self.of(role)) for role in DiskRole if role in here]
        return tuple(sorted((one for one in sizes if one[1].high), key=lambda one: -one[1].value))


@dataclass(frozen=True)
class DiskSpaceEstimate:
    """Disk space of every data node and of every disk that data nodes use."""

    users: tuple[User, ...]
    """Every data node."""
    disks: tuple[DiskSpace, ...]

    @cached_property
    def nodes(self) -> tuple[NodeSpace, ...]:
        """The files of each."""
        return tuple([user.space for user in self.users])

    def of(self, disk_id: str) -> DiskSpace | None:
        """What lies on one disk; None when no data node uses it."""
        return self._disk_by_id.get(disk_id)

    @cached_property
    def _disk_by_id(self) -> dict[str, DiskSpace]:
        return {disk.disk_id: disk for disk in self.disks}

    def node(self, node_id: int) -> NodeSpace | None:
        """Files of one data node; None when the plan has no such node."""
        return next((node for node in self.nodes if node.node_id == node_id), None)

    @property
    def fullest(self) -> DiskSpace | None:
        """The disk with the least room, as a share of its capacity."""
        return max(self.disks, key=lambda disk: disk.fill.value, default=None)

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """Every disk, and the files of each role of each data node; written out: files name host and disk."""
        disk_of = {disk.disk_id: disk for disk in self.disks}

        def row(one: NodeFiles) -> dict[str, Any]:
            disk = disk_of.get(one.disk_id or "")
            return {
                "node_id": one.node_id,
                "role": one.role.value,
                "files": one.files,
                "host": None if disk is None else disk.host,
                "disk": None if disk is None else disk.disk,
                "bytes": one.bytes.to_json(why=why),
            }

        return {
            "disks": [disk.to_json(why) for disk in self.disks],
            "files": [row(one) for node in self.nodes for one in node.files],
        }


@kept_by_identity(size=KEPT_NODES)
def _less_certain(sizes: FileSizes, near: Nearness) -> FileSizes:
    """Ranges the wider the further a plan lies from measured ones; what a backup takes has its own already.

    Files that do not grow with rows are as large as they are made, by the source: no run tells more of them.
    """
    return FileSizes(
        tuple(
            one._replace(bytes=near.widened(one.bytes))
            if one.role in GROW_WITH_ROWS and one.role is not DiskRole.BACKUP
            else one
            for one in sizes.files
        ),
        tuple((role, near.widened(more)) for role, more in sizes.filled),
    )


def disk_space(plan: Plan, workload: Workload | None = None) -> DiskSpaceEstimate:
    """Disk space of all files of the data nodes; under a workload backups have its changes in their log."""
    return _disk_space(
        narrowed(machines_of(plan), _READ),
        node_data_by_id(plan),
        backup(plan, workload) if plan.backups_kept else None,
        plan.logfile_groups,
        plan.tablespaces,
        plan.backups_kept,
        reach(plan, "storage"),
    )


@kept_by_identity(size=48)
def _disk_space(
    machines: Machines,
    held: dict[int, NodeData],
    backups: BackupEstimate | None,
    groups: tuple[LogfileGroup, ...],
    spaces: tuple[Tablespace, ...],
    backups_kept: int,
    near: Nearness,
) -> DiskSpaceEstimate:
    saved = {} if backups is None else {node.node_id: node for node in backups.nodes}
    replicas = replicas_of(machines.settings)
    nodes = []
    alike: dict[object, FileSizes] = {}
    users: dict[str, tuple[Host, Disk, list[User]]] = {}
    for node in machines.nodes:
        data, one = held.get(node.node_id), saved.get(node.node_id)
        of_rows = None if data is None else data.alike
        written, log = (None, None) if one is None else (one.written_bytes, one.log_bytes)
        key = id(node.settings), id(of_rows), id(written), id(log)
        sizes = alike.get(key)
        if sizes is None:
            used = node.settings.only(FILE_SETTINGS)
            sizes = file_sizes(
                used, machines.constants, of_rows, written, log, groups, spaces, backups_kept, replicas
            )
            sizes = alike[key] = _less_certain(sizes, near)
        user = _user(node.node, sizes, node.disks, node.host.disks)
        nodes.append(user)
        for disk in user.disks:
            users.setdefault(disk.id, (node.host, disk, []))[-1].append(user)
    found = [_on_disk(host, disk, *own) for host, disk, own in users.values()]
    return DiskSpaceEstimate(tuple(nodes), tuple(found))


@kept_by_identity(size=3 * KEPT_NODES)
def _on_disk(host: Host, disk: Disk, *users: User) -> DiskSpace:
    return DiskSpace(host.id, disk.id, host.hostname, disk.name, disk.capacity_bytes, users)
