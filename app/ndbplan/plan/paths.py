"""Where a data node keeps its files, from disk roles and path parameters."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.settings import data_node_text, is_set, redo_log_parts

NO_DISK_DIRECTORY = "/var/lib/mysql-cluster"
"""Where a node of a host without disks keeps its files."""

_FOLDER = "ndb"


@dataclass(frozen=True)
class DataNodePaths:
    """Directories of one data node."""

    data_dir: str
    """DataDir: logs, traces, the pid file."""
    file_system: str
    """FileSystemPath: local checkpoints, redo log, metadata, in `ndb_<id>_fs`."""
    data_files: str
    undo_files: str
    backup: str
    redo: str | None
    """Folder on another disk for the redo log files; None: inside `file_system`.

    NDB has no parameter for it: the redo folders have to be moved and linked by hand.
    """
    redo_folders: tuple[str, ...]
    """Folders inside `ndb_<id>_fs` that hold the redo log, one per log part: D8/DBLQH and so on."""

    def all(self) -> tuple[str, ...]:
        """Every directory that has to exist before the first start, each once."""
        paths = (self.data_dir, self.file_system, self.data_files, self.undo_files, self.backup)
        return tuple(dict.fromkeys((*paths, *((self.redo,) if self.redo else ()))))


def disk_for(plan: Plan, node: DataNode, role: DiskRole) -> Disk | None:
    """The disk of a role; without one given the host's first, None on a host without disks."""
    disk_id = node.disk_roles.disk_of(role)
    if disk_id is not None:
        found: Disk = plan.by_id[disk_id]
        return found
    disks = plan.host(node.host_id).disks
    return disks[0] if disks else None


def data_node_paths(plan: Plan, node: DataNode) -> DataNodePaths:
    """The directories of a data node; a path parameter set in the plan wins over a disk role."""
    first = plan.host(node.host_id).disks[:1]
    data_dir = _set_path(plan, node, "DataDir") or (_below(first[0]) if first else NO_DISK_DIRECTORY)

    def of_role(role: DiskRole, otherwise: str) -> str:
        disk_id = node.disk_roles.disk_of(role)
        return _below(plan.by_id[disk_id]) if disk_id is not None else otherwise

    file_system = _set_path(plan, node, "FileSystemPath") or of_role(DiskRole.LCP, data_dir)
    disk_data = _set_path(plan, node, "FileSystemPathDD")
    backup = _set_path(plan, node, "BackupDataDir") or of_role(DiskRole.BACKUP, file_system)

    def of_disk_data(parameter: str, role: DiskRole) -> str:
        return _set_path(plan, node, parameter) or disk_data or of_role(role, file_system)

    redo_disk, lcp_disk = disk_for(plan, node, DiskRole.REDO), disk_for(plan, node, DiskRole.LCP)
    apart = node.disk_roles.redo is not None and redo_disk is not None and redo_disk is not lcp_disk
    parts = redo_log_parts(plan, node)
    return DataNodePaths(
        data_dir=data_dir,
        file_system=file_system,
        data_files=of_disk_data("FileSystemPathDataFiles", DiskRole.DATA_FILES),
        undo_files=of_disk_data("FileSystemPathUndoFiles", DiskRole.UNDO),
        backup=backup,
        redo=f"{_below(redo_disk)}/ndb_{node.node_id}_redo" if apart and redo_disk else None,
        redo_folders=tuple(f"D{8 + part}/DBLQH" for part in range(parts)),
    )


def _set_path(plan: Plan, node: DataNode, name: str) -> str | None:
    if not is_set(plan, node, name):
        return None
    value = data_node_text(plan, node, name)
    return value.rstrip("/") or "/" if isinstance(value, str) and value else None


def _below(disk: Disk) -> str:
    return f"{disk.mount_point.rstrip('/')}/{_FOLDER}"
