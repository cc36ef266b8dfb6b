"""Disk space: what the files of every data node take, by role, and how full that makes each disk.

    disk_space(plan, workload).of("host1-nvme0").fill

Counted are redo log, local checkpoints, undo and data files, and the backups that the plan keeps. Sizes by
version and setting: resources/ndb/file_space.json; the redo log counts in full, as sparse files become. Not
counted: trace files and metadata, whose sizes are not known, node logs, which grow without bound, and the
error log (MaxNoOfSavedMessages entries of 999 bytes).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term, total
from ndbplan.base.shapes import Shape
from ndbplan.configuration.directories import disk_of_path, disks_of_roles
from ndbplan.configuration.settings import NodeSettings, no_of_replicas, redo_log_parts, settings_by_node
from ndbplan.estimate.constants import Constants, constants_of, quantity_of
from ndbplan.estimate.load.checkpoint import is_partial
from ndbplan.estimate.load.node_settings import KEPT_NODES, NODE_SETTINGS
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.estimate.stored import node_data_by_id
from ndbplan.estimate.timed import backup
from ndbplan.ndb.features import Features
from ndbplan.ndb.file_space import full_checkpoint_copies, specified_files
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.tables import LogfileGroup, Tablespace
from ndbplan.plan.workloads import Workload

_NOTHING = Quantity.exact(0.0, "bytes")


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
    total_bytes: Quantity

    def of(self, role: DiskRole) -> Quantity:
        """Bytes of one role; 0 when the node has no such files."""
        return _sum((one.files, one.bytes) for one in self.files if one.role is role)


@dataclass(frozen=True)
class DiskSpace(Shape):
    """What lies on one disk; sums are made when they are asked for."""

    JSON = "host disk capacity_bytes used_bytes free_bytes fill memory_full_bytes"

    host_id: str
    disk_id: str
    host: str
    disk: str
    capacity_bytes: int
    node_ids: tuple[int, ...]
    """Data nodes that have a role here, in node-id order, whether they have files of it or not."""
    files: tuple[NodeFiles, ...]
    filled: tuple[tuple[DiskRole, str, Quantity], ...]
    """Files that grow with the rows as they are when every data node has filled its DataMemory."""

    @cached_property
    def used_bytes(self) -> Quantity:
        """Everything that lies here."""
        return _sum((f"{one.files} of node {one.node_id}", one.bytes) for one in self.files)

    @cached_property
    def fill(self) -> Quantity:
        """Share of the capacity; above 1 the files do not fit."""
        capacity = Term(f"capacity of {self.disk}", self.capacity_bytes, "bytes", "plan")
        used = self.used_bytes
        return used.scaled(1 / self.capacity_bytes, "fraction", (used.as_term("files"), capacity))

    @cached_property
    def memory_full_bytes(self) -> Quantity:
        """Everything when every data node has filled its DataMemory with rows."""
        made = [
            (f"{one.files} of node {one.node_id}", one.bytes)
            for one in self.files
            if one.role not in _OF_ROWS
        ]
        return _sum([*made, *((name, size) for _, name, size in self.filled)])

    @cached_property
    def _of_role(self) -> dict[DiskRole, Quantity]:
        return {}

    @cached_property
    def _full_of_role(self) -> dict[DiskRole, Quantity]:
        return {}

    @property
    def free_bytes(self) -> float:
        """Room left; negative: so much is missing."""
        return self.capacity_bytes - self.used_bytes.value

    def of(self, role: DiskRole) -> Quantity:
        """Bytes of one role on this disk."""
        size = self._of_role.get(role)
        if size is None:
            here = ((f"data node {one.node_id}", one.bytes) for one in self.files if one.role is role)
            size = self._of_role[role] = _sum(here)
        return size

    def full_of(self, role: DiskRole) -> Quantity:
        """Bytes of one role on this disk when every data node has filled its DataMemory with rows."""
        if role not in _OF_ROWS:
            return self.of(role)
        whole = self._full_of_role.get(role)
        if whole is None:
            grown = ((name, size) for of, name, size in self.filled if of is role)
            whole = self._full_of_role[role] = _sum(grown)
        return whole

    @cached_property
    def by_role(self) -> tuple[tuple[DiskRole, Quantity], ...]:
        """Bytes of each role that lies here, largest first."""
        sizes = [(role, self.of(role)) for role in DiskRole]
        return tuple(sorted((one for one in sizes if one[1].high), key=lambda one: -one[1].value))


@dataclass(frozen=True)
class DiskSpaceEstimate:
    """Disk space of every data node and of every disk that data nodes use."""

    nodes: tuple[NodeSpace, ...]
    disks: tuple[DiskSpace, ...]

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


def _sum(parts: Any) -> Quantity:
    return total(parts, "bytes")


FILE_SETTINGS = NODE_SETTINGS | {
    "DataMemory",
    "Discless",
    "InitFragmentLogFiles",
    "InitialLogfileGroup",
    "InitialTablespace",
    "MinFreePct",
    "NoOfFragmentLogParts",
}
"""Parameters that decide how large the files of a data node are."""


def is_diskless(settings: NodeSettings) -> bool:
    """Whether the node writes no files: Diskless, which up to 7.4 was also spelled Discless."""
    return bool(settings.number("Diskless") or settings.number("Discless"))


def redo_space(settings: NodeSettings, constants: Constants) -> Quantity:
    """Redo log of a node: parts x files x size. The low end is that of sparse files at first."""
    parts, each = redo_log_parts(settings), log_bytes_per_part(settings)
    size = float(parts * each)
    terms = [
        Term("log parts", parts, "", "NoOfFragmentLogParts; 4 before it existed"),
        Term("log of one part", each, "bytes", "NoOfFragmentLogFiles × FragmentLogFileSize"),
    ]
    in_full = str(_text(settings, "InitFragmentLogFiles") or "sparse").lower() == "full"
    if in_full or not settings.features.redo_files_sparse:
        return Quantity.exact(size, "bytes", terms)
    sparse = constants["sparse_redo_share"]
    return Quantity.spanning(size, (size * sparse.low,), "bytes", (*terms, *sparse.why))


def _text(settings: NodeSettings, name: str) -> int | str | None:
    try:
        return settings.value(name)
    except KeyError:
        return None


def _checkpoint_space(
    settings: NodeSettings, constants: Constants, row_bytes: Quantity, largest: float
) -> Quantity:
    """Local checkpoints on disk when one full checkpoint of the node's rows has `row_bytes`.

    `largest` is the part of the largest table, whose fragments have an old and a new file at the same time
    where otherwise a single one is kept.
    """
    rows = row_bytes.named("rows in memory, as a checkpoint writes them")
    if is_partial(settings):
        work = Quantity.stated("RecoveryWork", max(1, settings.number("RecoveryWork")) / 100, "fraction")
        most = (1 + work) * constants["partial_checkpoint_factor"]
        # Just after a full checkpoint there is nothing beside it.
        size = rows * Quantity.spanning(most.value, (1.0, most.high), "factor", most.why)
    else:
        copies = quantity_of(full_checkpoint_copies(settings.version))
        size = (rows * copies).in_unit("bytes")
        if copies.value < 2 and largest:
            beside = Quantity.stated(
                "largest table, old and new file at once", largest, "bytes", "distribution"
            )
            both = size + beside
            size = Quantity.spanning(both.value, (size.low, size.high), "bytes", both.why)
    if settings.number("CompressedLCP"):
        size = size * constants["lcp_compressed_factor"]
    return size


def _rows_now(data: NodeData) -> Quantity:
    return Quantity.exact(data.checkpoint_bytes, "bytes", (Term("rows", data.rows, "rows", "distribution"),))


def _rows_of_full_memory(
    known: Features, constants: Constants, data: NodeData | None, data_memory: int
) -> Quantity:
    """Bytes of a full checkpoint when DataMemory is full of rows like those of today.

    Without rows all of DataMemory counts: what share of it indexes will take is not known.
    """
    now = data.checkpoint_bytes if data is not None else 0.0
    share = 1.0
    if data is not None and data.tables and not any(part.table.logging for part in data.tables):
        share = 0.0
    elif data is not None and data.row_bytes:
        entry = constants["ordered_index_node_bytes"].value
        entry /= constants["ordered_index_entries_in_order"].value
        held = data.row_bytes + entry * data.index_entries
        if known.index_memory_joined:
            held += constants["hash_index_row_bytes"].value * data.rows
        share = min(1.0, data.checkpoint_bytes / held)
    memory = Quantity.stated("DataMemory without MinFreePct", data_memory, "bytes")
    name = "share of it that a checkpoint writes"
    written = Quantity.stated(name, share, "fraction", "rows of today, without indexes")
    full = memory * written * constants["checkpointed_share_range"]
    return full.within(most=data_memory).within(least=now)


def _backup_space(kept: int, written: Quantity | None, log: Quantity | None) -> Quantity:
    if written is None or log is None or not kept:
        return _NOTHING
    one = total((("data", written), ("log of changes meanwhile", log)), "bytes")
    times = Term("backups kept", kept, "", "plan")
    return one.scaled(kept, why=(one.as_term("one backup"), times))


def _stated_size(name: str, files: LogfileGroup | Tablespace) -> Quantity:
    parts = files.undo_files if isinstance(files, LogfileGroup) else files.data_files
    size = sum(f.size_bytes * f.count for f in parts)
    return Quantity.exact(float(size), "bytes", (Term(name, size, "bytes", "plan"),))


def _specified(settings: NodeSettings, parameter: str, known: set[str]) -> Quantity:
    """Files that a parameter creates at the first start, when the plan does not list them itself."""
    text = str(_text(settings, parameter) or "") if settings.states(parameter) else ""
    name, size = specified_files(text)
    if not size or name in known:
        return _NOTHING
    return Quantity.exact(float(size), "bytes", (Term(f"files of {parameter}", size, "bytes", "plan"),))


class _File(NamedTuple):
    """Files of one role, wherever they lie."""

    role: DiskRole
    files: str
    bytes: Quantity
    directory: str | None = None
    """Where the plan puts them, whatever the disk of the role."""


class _Sizes(NamedTuple):
    """Files of a data node, by size alone."""

    files: tuple[_File, ...]
    total_bytes: Quantity
    filled: tuple[tuple[DiskRole, Quantity], ...]
    """Checkpoints and backups when DataMemory is full; none of a diskless node."""


@kept_by_identity(size=KEPT_NODES)
def _sizes(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData | None,
    written: Quantity | None,
    log: Quantity | None,
    groups: tuple[LogfileGroup, ...],
    spaces: tuple[Tablespace, ...],
    kept: int,
    replicas: int,
) -> _Sizes:
    """Sizes for all nodes with the same settings and data.

    `written`, `log`: of one backup; `kept`: backups that are.
    """
    if is_diskless(settings):
        return _Sizes((), _sum(()), ())
    stored = [_File(DiskRole.REDO, "redo log", redo_space(settings, constants))]
    if data is not None:
        largest = max((part.checkpoint_bytes for part in data.tables), default=0.0)
        size = _checkpoint_space(settings, constants, _rows_now(data), largest)
        stored.append(_File(DiskRole.LCP, "checkpoints", size))
    for group in groups:
        stored.append(_File(DiskRole.UNDO, f"undo files of {group.name}", _stated_size("undo files", group)))
    known = {group.name for group in groups}
    stored.append(_File(DiskRole.UNDO, "undo files", _specified(settings, "InitialLogfileGroup", known)))
    for space in spaces:
        size = _stated_size("data files", space)
        stored.append(_File(DiskRole.DATA_FILES, f"data files of {space.name}", size, space.directory))
    known = {space.name for space in spaces}
    stored.append(_File(DiskRole.DATA_FILES, "data files", _specified(settings, "InitialTablespace", known)))
    stored.append(_File(DiskRole.BACKUP, _backups(kept), _backup_space(kept, written, log)))
    files = tuple(one for one in stored if one.bytes.high)
    whole = _sum((one.files, one.bytes) for one in files)
    return _Sizes(files, whole, _filled(settings, constants, data, files, kept, replicas))


@kept_by_identity(size=KEPT_NODES)
def _node_space(
    node: DataNode, sizes: _Sizes, places: dict[DiskRole, Disk | None], disks: tuple[Disk, ...]
) -> NodeSpace:
    """The files of a node on the disks of its host."""
    placed = []
    for role, files, size, directory in sizes.files:
        disk = places[role]
        stated = disk_of_path(disks, directory) if directory else None
        place = stated or (disk.id if disk is not None else None)
        placed.append(NodeFiles(node.node_id, role, files, place, size))
    return NodeSpace(node.node_id, tuple(placed), sizes.total_bytes)


def _backups(kept: int) -> str:
    return f"{kept} backup{'s' if kept != 1 else ''}"


def _filled(
    settings: NodeSettings,
    constants: Constants,
    data: NodeData | None,
    files: tuple[_File, ...],
    kept: int,
    replicas: int,
) -> tuple[tuple[DiskRole, Quantity], ...]:
    """Checkpoints and backups of a node whose DataMemory is full; no less than what they are now."""
    now = {role: _sum((one.files, one.bytes) for one in files if one.role is role) for role in _OF_ROWS}
    free = settings.number("MinFreePct") / 100
    limit = int(settings.number("DataMemory") * (1 - free))
    rows = _rows_of_full_memory(settings.features, constants, data, limit)
    held = data.checkpoint_bytes if data is not None else 0.0
    largest = max((part.checkpoint_bytes for part in data.tables), default=0.0) if data is not None else 0.0
    largest = largest * rows.value / held if held else rows.value
    lcp = _checkpoint_space(settings, constants, rows, largest)
    share = 1 / replicas
    if data is not None and data.row_bytes:
        share = data.primary_row_bytes / data.row_bytes
    if settings.number("CompressedBackup"):
        share *= constants["lcp_compressed_factor"].value
    more = (rows - held).within(least=0.0) * (kept * share)
    saved = total((("rows of today", now[DiskRole.BACKUP]), ("rows to come", more)), "bytes")
    return ((DiskRole.LCP, lcp), (DiskRole.BACKUP, saved))


_OF_ROWS = (DiskRole.LCP, DiskRole.BACKUP)
"""Roles whose files grow with the rows; the others are as large as they are made."""


@kept_by_identity(size=8)
def disk_space(plan: Plan, workload: Workload | None = None) -> DiskSpaceEstimate:
    """Disk space of all files of the data nodes; under a workload backups have its changes in their log."""
    held = node_data_by_id(plan)
    saved = {node.node_id: node for node in backup(plan, workload).nodes} if plan.backups_kept else {}
    replicas = no_of_replicas(plan)
    settings, constants = settings_by_node(plan), constants_of(plan)
    nodes = []
    users: dict[str, list[_User]] = {}
    for node in plan.data_nodes:
        data, one = held.get(node.node_id), saved.get(node.node_id)
        sizes = _sizes(
            settings[node.node_id].only(FILE_SETTINGS),
            constants,
            None if data is None else data.alike,
            None if one is None else one.written_bytes,
            None if one is None else one.log_bytes,
            plan.logfile_groups,
            plan.tablespaces,
            plan.backups_kept,
            replicas,
        )
        places = disks_of_roles(plan, node)
        space = _node_space(node, sizes, places, plan.host(node.host_id).disks)
        nodes.append(space)
        here = [disk.id for disk in places.values() if disk is not None]
        here += [files.disk_id for files in space.files if files.disk_id is not None]
        user = _user(space, sizes, places)
        for disk_id in dict.fromkeys(here):
            users.setdefault(disk_id, []).append(user)
    disks = []
    for disk_id, own in users.items():
        host = plan.host_of_disk[disk_id]
        disks.append(_on_disk(host.id, host.hostname, plan.by_id[disk_id], *own))
    return DiskSpaceEstimate(tuple(nodes), tuple(disks))


class _User(NamedTuple):
    """A data node that has files on some disks, and what it would have there with a full DataMemory."""

    space: NodeSpace
    grown: tuple[tuple[str, DiskRole, Quantity], ...]
    """Id of the disk, role and size."""


@kept_by_identity(size=KEPT_NODES)
def _user(space: NodeSpace, sizes: _Sizes, places: dict[DiskRole, Disk | None]) -> _User:
    grown = ((places[role], role, more) for role, more in sizes.filled)
    return _User(space, tuple((disk.id, role, more) for disk, role, more in grown if disk is not None))


@kept_by_identity(size=3 * KEPT_NODES)
def _on_disk(host_id: str, hostname: str, disk: Disk, *users: _User) -> DiskSpace:
    files = tuple(one for user in users for one in user.space.files if one.disk_id == disk.id)
    filled = tuple(
        (role, f"{role.value} of node {user.space.node_id}", more)
        for user in users
        for disk_id, role, more in user.grown
        if disk_id == disk.id
    )
    return DiskSpace(
        host_id=host_id,
        disk_id=disk.id,
        host=hostname,
        disk=disk.name,
        capacity_bytes=disk.capacity_bytes,
        node_ids=tuple(user.space.node_id for user in users),
        files=files,
        filled=filled,
    )
