"""Disk space: what the files of every data node take, by role, and how full that makes each disk.

    disk_space(plan, workload).of("host1-nvme0").fill

Counted are redo log, local checkpoints, undo and data files, and the backups that the plan keeps. Sizes by
version and setting: resources/ndb/file_space.json; the redo log counts in full, as sparse files become. Not
counted: traces, node logs and metadata, whose sizes are not known and small beside these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.backup import NodeBackup, backup
from ndbplan.estimate.checkpoint import is_partial
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.node_data import NodeData, node_data_by_id
from ndbplan.estimate.parameters import KEPT_NODES, number, settings_of
from ndbplan.estimate.quantity import Quantity, Term, total
from ndbplan.estimate.redo import log_bytes_per_part
from ndbplan.estimate.table_memory import HASH_INDEX_IN_DATA_MEMORY
from ndbplan.ndb.file_space import file_space_fact, full_checkpoint_copies, specified_files
from ndbplan.plan.paths import disk_of_path, disks_of_roles
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.settings import data_node_number, data_node_text, is_set, no_of_replicas, redo_log_parts
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


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """What lies on one disk."""

    host_id: str
    disk_id: str
    host: str
    disk: str
    capacity_bytes: int
    node_ids: tuple[int, ...]
    """Data nodes that have a role here, in node-id order, whether they have files of it or not."""
    files: tuple[NodeFiles, ...]
    used_bytes: Quantity
    fill: Quantity
    """Share of the capacity; above 1 the files do not fit."""
    memory_full_bytes: Quantity
    """The same when every data node has filled its DataMemory with rows."""
    memory_full_by_role: tuple[tuple[DiskRole, Quantity], ...] = ()
    """The same by role, of the roles whose files grow with the rows."""

    @property
    def free_bytes(self) -> float:
        """Room left; negative: so much is missing."""
        return self.capacity_bytes - self.used_bytes.value

    def of(self, role: DiskRole) -> Quantity:
        """Bytes of one role on this disk."""
        return _sum((f"data node {one.node_id}", one.bytes) for one in self.files if one.role is role)

    def full_of(self, role: DiskRole) -> Quantity:
        """Bytes of one role on this disk when every data node has filled its DataMemory with rows."""
        return dict(self.memory_full_by_role).get(role, _NOTHING) if role in _OF_ROWS else self.of(role)

    @property
    def by_role(self) -> tuple[tuple[DiskRole, Quantity], ...]:
        """Bytes of each role that lies here, largest first."""
        found = [(role, self.of(role)) for role in DiskRole]
        return tuple(sorted((one for one in found if one[1].high), key=lambda one: -one[1].value))

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One entry of `disks`."""
        return {
            "host": self.host,
            "disk": self.disk,
            "capacity_bytes": self.capacity_bytes,
            "used_bytes": self.used_bytes.to_json(why=why),
            "free_bytes": self.free_bytes,
            "fill": self.fill.to_json(why=why),
            "memory_full_bytes": self.memory_full_bytes.to_json(why=why),
        }


@dataclass(frozen=True, slots=True)
class DiskSpaceEstimate:
    """Disk space of every data node and of every disk that data nodes use."""

    nodes: tuple[NodeSpace, ...]
    disks: tuple[DiskSpace, ...]

    def of(self, disk_id: str) -> DiskSpace | None:
        """What lies on one disk; None when no data node uses it."""
        return next((disk for disk in self.disks if disk.disk_id == disk_id), None)

    def node(self, node_id: int) -> NodeSpace | None:
        """Files of one data node; None when the plan has no such node."""
        return next((node for node in self.nodes if node.node_id == node_id), None)

    @property
    def fullest(self) -> DiskSpace | None:
        """The disk with the least room, as a share of its capacity."""
        return max(self.disks, key=lambda disk: disk.fill.value, default=None)

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape the command line prints: every disk, and the files of every role of every data node."""
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


def is_diskless(plan: Plan, node: DataNode) -> bool:
    """Whether the node writes no files: Diskless, which up to 7.4 was also spelled Discless."""
    return bool(number(plan, node, "Diskless", 0) or number(plan, node, "Discless", 0))


def redo_space(plan: Plan, node: DataNode) -> Quantity:
    """Redo log of a node: parts x files x size. The low end is that of sparse files at first."""
    parts, each = redo_log_parts(plan, node), log_bytes_per_part(plan, node)
    size = float(parts * each)
    terms = [
        Term("log parts", parts, "", "NoOfFragmentLogParts; 4 before it existed"),
        Term("log of one part", each, "bytes", "NoOfFragmentLogFiles × FragmentLogFileSize"),
    ]
    if str(_text(plan, node, "InitFragmentLogFiles") or "sparse").lower() == "full":
        return Quantity.exact(size, "bytes", terms)
    sparse = file_space_fact("sparse_redo_share")
    return Quantity(size, size * sparse.low, size, "bytes", (*terms, term_of(sparse)))


def _text(plan: Plan, node: DataNode, name: str) -> int | str | None:
    try:
        return data_node_text(plan, node, name)
    except KeyError:
        return None


@memo_by_identity(size=4 * KEPT_NODES)
def _checkpoint_space(plan: Plan, node: DataNode, row_bytes: Quantity, largest: float) -> Quantity:
    """Local checkpoints on disk when one full checkpoint of the node's rows has `row_bytes`.

    `largest` is the part of the largest table, whose fragments have an old and a new file at the same time
    where otherwise a single one is kept.
    """
    terms: list[Term] = [row_bytes.as_term("rows in memory, as a checkpoint writes them")]
    if is_partial(plan, node):
        work = max(1, number(plan, node, "RecoveryWork", 60)) / 100
        factor = file_space_fact("partial_checkpoint_factor")
        value, low, high = (1 + work) * factor.value, 1.0, (1 + work) * factor.high
        terms += [Term("RecoveryWork", work, "fraction", "plan"), term_of(factor)]
        size = Quantity(row_bytes.value * value, row_bytes.low * low, row_bytes.high * high, "bytes")
    else:
        copies = full_checkpoint_copies(plan.version)
        terms.append(term_of(copies))
        beside = largest if copies.value < 2 else 0.0
        value = row_bytes.value * copies.value + beside
        size = Quantity(value, row_bytes.low * copies.low, max(value, row_bytes.high * copies.high), "bytes")
        if beside:
            terms.append(Term("largest table, old and new file at once", beside, "bytes", "distribution"))
    if number(plan, node, "CompressedLCP", 0):
        packed = constant_for(plan, "lcp_compressed_factor")
        terms.append(term_of(packed))
        size = Quantity(size.value * packed.value, size.low * packed.low, size.high * packed.high, "bytes")
    return Quantity(size.value, size.low, size.high, "bytes", tuple(terms))


@memo_by_identity(size=4 * KEPT_NODES)
def _rows_now(data: NodeData) -> Quantity:
    return Quantity.exact(data.checkpoint_bytes, "bytes", (Term("rows", data.rows, "rows", "distribution"),))


@memo_by_identity(size=4 * KEPT_NODES)
def _rows_of_full_memory(plan: Plan, data: NodeData | None, data_memory: int) -> Quantity:
    """Bytes of a full checkpoint when DataMemory is full of rows like those of today.

    Without rows all of DataMemory counts: what share of it indexes will take is not known.
    """
    now = data.checkpoint_bytes if data is not None else 0.0
    share = 1.0
    if data is not None and data.tables and not any(part.table.logging for part in data.tables):
        share = 0.0
    elif data is not None and data.row_bytes:
        entry = constant_for(plan, "ordered_index_node_bytes").value
        entry /= constant_for(plan, "ordered_index_entries_in_order").value
        held = data.row_bytes + entry * data.index_entries
        if plan.version >= HASH_INDEX_IN_DATA_MEMORY:
            held += constant_for(plan, "hash_index_row_bytes").value * data.rows
        share = min(1.0, data.checkpoint_bytes / held)
    spread = file_space_fact("checkpointed_share_range")
    terms = (
        Term("DataMemory without MinFreePct", data_memory, "bytes", "plan"),
        Term("share of it that a checkpoint writes", share, "fraction", "rows of today, without indexes"),
        term_of(spread),
    )
    full = data_memory * share
    return Quantity(
        max(now, full), max(now, full * spread.low), max(now, min(data_memory, full * spread.high)), "bytes",
        terms,
    )  # fmt: skip


def _backup_space(kept: int, found: NodeBackup | None) -> Quantity:
    if found is None or not kept:
        return _NOTHING
    one = total((("data", found.written_bytes), ("log of changes meanwhile", found.log_bytes)), "bytes")
    times = Term("backups kept", kept, "", "plan")
    return one.scaled(kept, why=(one.as_term("one backup"), times))


def _stated_size(name: str, files: LogfileGroup | Tablespace) -> Quantity:
    parts = files.undo_files if isinstance(files, LogfileGroup) else files.data_files
    size = sum(f.size_bytes * f.count for f in parts)
    return Quantity.exact(float(size), "bytes", (Term(name, size, "bytes", "plan"),))


def _specified(plan: Plan, node: DataNode, parameter: str, known: set[str]) -> Quantity:
    """Files that a parameter creates at the first start, when the plan does not list them itself."""
    text = str(_text(plan, node, parameter) or "") if is_set(plan, node, parameter) else ""
    name, size = specified_files(text)
    if not size or name in known:
        return _NOTHING
    return Quantity.exact(float(size), "bytes", (Term(f"files of {parameter}", size, "bytes", "plan"),))


def _files_of(
    plan: Plan, settings: Plan, node: DataNode, data: NodeData | None, saved: NodeBackup | None
) -> list[NodeFiles]:
    """Files of one data node, by role; none of a diskless one."""
    if is_diskless(plan, node):
        return []
    found: list[NodeFiles] = []
    places = disks_of_roles(plan, node)

    def put(role: DiskRole, files: str, size: Quantity, disk_id: str | None = None) -> None:
        if size.high:
            disk = places[role]
            place = disk_id or (disk.id if disk is not None else None)
            found.append(NodeFiles(node.node_id, role, files, place, size))

    put(DiskRole.REDO, "redo log", redo_space(plan, node))
    if data is not None:
        largest = max((part.checkpoint_bytes for part in data.tables), default=0.0)
        put(DiskRole.LCP, "checkpoints", _checkpoint_space(settings, node, _rows_now(data), largest))
    for group in plan.logfile_groups:
        put(DiskRole.UNDO, f"undo files of {group.name}", _stated_size("undo files", group))
    groups = {group.name for group in plan.logfile_groups}
    put(DiskRole.UNDO, "undo files", _specified(plan, node, "InitialLogfileGroup", groups))
    disks = plan.host(node.host_id).disks
    for space in plan.tablespaces:
        stated = disk_of_path(disks, space.directory) if space.directory else None
        put(DiskRole.DATA_FILES, f"data files of {space.name}", _stated_size("data files", space), stated)
    spaces = {space.name for space in plan.tablespaces}
    put(DiskRole.DATA_FILES, "data files", _specified(plan, node, "InitialTablespace", spaces))
    put(DiskRole.BACKUP, _backups(plan.backups_kept), _backup_space(plan.backups_kept, saved))
    return found


def _backups(kept: int) -> str:
    return f"{kept} backup{'s' if kept != 1 else ''}"


def _filled(
    plan: Plan, settings: Plan, node: DataNode, data: NodeData | None, files: list[NodeFiles]
) -> list[tuple[DiskRole, Quantity]]:
    """Checkpoints and backups of a node whose DataMemory is full; no less than what they are now."""
    now = {role: _sum((one.files, one.bytes) for one in files if one.role is role) for role in _OF_ROWS}
    free = number(plan, node, "MinFreePct", 5) / 100
    limit = int(data_node_number(plan, node, "DataMemory") * (1 - free))
    rows = _rows_of_full_memory(settings, data, limit)
    held = data.checkpoint_bytes if data is not None else 0.0
    largest = max((part.checkpoint_bytes for part in data.tables), default=0.0) if data is not None else 0.0
    lcp = _checkpoint_space(settings, node, rows, largest * rows.value / held if held else rows.value)
    share = 1 / no_of_replicas(plan)
    if data is not None and data.row_bytes:
        share = data.primary_row_bytes / data.row_bytes
    if number(plan, node, "CompressedBackup", 0):
        share *= constant_for(settings, "lcp_compressed_factor").value
    more = Quantity(
        rows.value - held, max(0.0, min(rows.value, rows.low) - held), rows.high - held, "bytes", rows.why
    ).scaled(plan.backups_kept * share)
    saved = total((("rows of today", now[DiskRole.BACKUP]), ("rows to come", more)), "bytes")
    return [(DiskRole.LCP, lcp), (DiskRole.BACKUP, saved)]


_OF_ROWS = (DiskRole.LCP, DiskRole.BACKUP)
"""Roles whose files grow with the rows; the others are as large as they are made."""


@memo_by_identity(size=8)
def disk_space(plan: Plan, workload: Workload | None = None) -> DiskSpaceEstimate:
    """Disk space of all files of the data nodes; under a workload backups have its changes in their log."""
    settings = settings_of(plan)
    held = node_data_by_id(plan)
    saved = {node.node_id: node for node in backup(plan, workload).nodes} if plan.backups_kept else {}
    nodes = []
    on_disk: dict[str, list[NodeFiles]] = {}
    users: dict[str, list[int]] = {}
    growing: dict[str, list[tuple[DiskRole, str, Quantity]]] = {}
    for node in plan.data_nodes:
        data = held.get(node.node_id)
        files = _files_of(plan, settings, node, data, saved.get(node.node_id))
        nodes.append(NodeSpace(node.node_id, tuple(files), _sum((one.files, one.bytes) for one in files)))
        places = disks_of_roles(plan, node)
        here = [disk.id for disk in places.values() if disk is not None]
        here += [one.disk_id for one in files if one.disk_id is not None]
        for disk_id in dict.fromkeys(here):
            users.setdefault(disk_id, []).append(node.node_id)
        for one in files:
            if one.disk_id is not None:
                on_disk.setdefault(one.disk_id, []).append(one)
        if is_diskless(plan, node):
            continue
        for role, more in _filled(plan, settings, node, data, files):
            disk = places[role]
            if disk is not None:
                growing.setdefault(disk.id, []).append((role, f"{role.value} of node {node.node_id}", more))
    disks = [
        _on_disk(plan, disk_id, tuple(node_ids), tuple(on_disk.get(disk_id, ())), growing.get(disk_id, []))
        for disk_id, node_ids in users.items()
    ]
    return DiskSpaceEstimate(tuple(nodes), tuple(disks))


def _on_disk(
    plan: Plan,
    disk_id: str,
    node_ids: tuple[int, ...],
    files: tuple[NodeFiles, ...],
    grown: list[tuple[DiskRole, str, Quantity]],
) -> DiskSpace:
    host, disk = plan.host_of_disk[disk_id], plan.by_id[disk_id]
    capacity = Term(f"capacity of {disk.name}", disk.capacity_bytes, "bytes", "plan")
    named = [(f"{one.files} of node {one.node_id}", one) for one in files]
    used = _sum((name, one.bytes) for name, one in named)
    made = [(name, one.bytes) for name, one in named if one.role not in _OF_ROWS]
    return DiskSpace(
        host_id=host.id,
        disk_id=disk.id,
        host=host.hostname,
        disk=disk.name,
        capacity_bytes=disk.capacity_bytes,
        node_ids=node_ids,
        files=files,
        used_bytes=used,
        fill=used.scaled(1 / disk.capacity_bytes, "fraction", (used.as_term("files"), capacity)),
        memory_full_bytes=_sum([*made, *((name, size) for _, name, size in grown)]),
        memory_full_by_role=tuple(
            (role, _sum((name, size) for of, name, size in grown if of is role)) for role in _OF_ROWS
        ),
    )
