"""Where a data node keeps its files, from disk roles and path parameters."""

from __future__ import annotations

from dataclasses import dataclass
from posixpath import normpath

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.configuration.settings import NodeSettings, node_settings, redo_log_parts
from ndbplan.configuration.stated import text_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.fields import Parameters
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.tables import LogfileGroup, Tablespace

NO_DISK_DIRECTORY = "/var/lib/mysql-cluster"
"""Where a node of a host without disks keeps its files."""

NODE_FOLDER = "ndb"
"""Folder of the product's files below the mount point of a disk."""


@dataclass(frozen=True)
class DataNodePaths:
    """Directories of one data node."""

    data_dir: str
    """DataDir: logs, traces, the pid file."""
    file_system: str
    """FileSystemPath: redo log, local checkpoints, metadata, in `ndb_<id>_fs`."""
    data_files: str
    undo_files: str
    backup: str
    lcp: str | None
    """Folder on another disk that `ndb_<id>_fs/LCP` has to be a link to; None: no link.

    NDB has one FileSystemPath for redo log and checkpoints. A start with --initial empties LCP/0 and LCP/1
    but leaves the link in place (NDBCNTR, clearFilesystem: D0 to D12 and the folders inside LCP).
    """
    redo: str | None
    """Folder on another disk for the redo log, when FileSystemPath is fixed on the disk of the checkpoints.

    A start with --initial removes links inside D8 to D12, so moving the redo log has to be repeated then.
    """
    redo_folders: tuple[str, ...]
    """Folders inside `ndb_<id>_fs` that hold the redo log, one per log part: D8/DBLQH and so on."""
    files: tuple[str, ...] = ()
    """Folders that log file groups and tablespaces name for files of theirs, the same on every data node."""

    def all(self) -> tuple[str, ...]:
        """Every directory that has to exist before the first start, each once."""
        paths = (self.data_dir, self.file_system, self.data_files, self.undo_files, self.backup, *self.files)
        return tuple(dict.fromkeys((*paths, *(path for path in (self.lcp, self.redo) if path))))


_PATHS_OF_ROLE = {
    DiskRole.REDO: (),
    DiskRole.LCP: (),
    DiskRole.UNDO: ("FileSystemPathUndoFiles", "FileSystemPathDD"),
    DiskRole.DATA_FILES: ("FileSystemPathDataFiles", "FileSystemPathDD"),
    DiskRole.BACKUP: ("BackupDataDir",),
}
"""Path parameters that place the files of a role before its disk role does, the first that is set.

Redo log and checkpoints have none: where their disk role differs from FileSystemPath, a link leads there.
"""
_PATHS_OF_ALL = ("FileSystemPath", "DataDir")
"""Path parameters that hold for every role without a disk role."""


_PATH_PARAMETERS = tuple(
    dict.fromkeys([*(name for names in _PATHS_OF_ROLE.values() for name in names), *_PATHS_OF_ALL])
)
_DECIDING = frozenset({*_PATH_PARAMETERS, "NoOfFragmentLogParts"})
"""Parameters that say where a data node has its folders, and which."""


def disk_for(plan: Plan, node: DataNode, role: DiskRole) -> Disk | None:
    """The disk that holds the files of a role; None on a host without disks.

    It is the disk of the path parameter of the role, else that of its disk role, else that of FileSystemPath
    or DataDir, else the host's first: the order in which `data_node_paths` finds the folders. A path on no
    disk of the host says nothing.
    """
    return disks_of_roles(plan, node)[role]


def disks_of_roles(plan: Plan, node: DataNode) -> dict[DiskRole, Disk | None]:
    """The disk of every role of a node, as `disk_for` finds it."""
    known = _disks_of_nodes(plan).get(id(node))
    return known if known is not None else _asked_alone(plan, node)


@kept_by_identity(size=8)
def _disks_of_nodes(plan: Plan) -> dict[int, dict[DiskRole, Disk | None]]:
    """By the identity of the nodes, which live as long as their plan does: rules ask fifty times for each."""
    return {id(node): _asked_alone(plan, node) for node in plan.data_nodes}


def _asked_alone(plan: Plan, node: DataNode) -> dict[DiskRole, Disk | None]:
    return disks_of_node(node, plan.host(node.host_id).disks, path_parameters(plan))


def path_parameters(plan: Plan) -> Parameters:
    """The paths that the plan states for all data nodes; the same object for all plans that agree in them."""
    return _stated_paths(plan.parameters.data_node)


@kept_by_identity(size=16)
def _stated_paths(shared: Parameters) -> Parameters:
    values = ((name, text_of(shared, name)) for name in _PATH_PARAMETERS)
    return _paths(tuple((name, text) for name, text in values if text is not None))


@kept_by_value(64)
def _paths(stated: tuple[tuple[str, int | str], ...]) -> Parameters:
    return FrozenMap(stated)


@kept_by_identity(size=2400)
def disks_of_node(node: DataNode, disks: tuple[Disk, ...], shared: Parameters) -> dict[DiskRole, Disk | None]:
    """The disk of every role of a node on a host with these disks, by the `path_parameters` of its plan."""

    def below(names: tuple[str, ...]) -> str | None:
        """The disk that the first of these path parameters points to."""
        values = (text_of(node.parameters, name) or text_of(shared, name) for name in names)
        stated = next((value for value in values if value), None)
        return None if stated is None else disk_of_path(disks, stated)

    by_id = {disk.id: disk for disk in disks}
    first = disks[0] if disks else None
    everywhere = below(_PATHS_OF_ALL)
    disks_by_role: dict[DiskRole, Disk | None] = {}
    for role, names in _PATHS_OF_ROLE.items():
        disk_id = below(names) or node.disk_roles.disk_of(role) or everywhere
        disks_by_role[role] = by_id.get(disk_id, first) if disk_id else first
    return disks_by_role


def data_node_paths(plan: Plan, node: DataNode) -> DataNodePaths:
    """The directories of a data node; a path parameter set in the plan wins over a disk role."""
    settings = node_settings(plan, node).only(_DECIDING)
    folders = _named_folders(plan.logfile_groups, plan.tablespaces)
    return _paths_of_node(node, plan.host(node.host_id).disks, settings, folders)


@kept_by_identity(size=2400)
def _paths_of_node(
    node: DataNode, disks: tuple[Disk, ...], settings: NodeSettings, folders: tuple[str, ...]
) -> DataNodePaths:
    data_dir = _data_dir(disks, settings)
    by_id = {disk.id: disk for disk in disks}

    def on_disk(role: DiskRole, *known: str) -> str:
        """A folder on the disk of a role: one in use there already, or a new one; DataDir without a role."""
        disk_id = node.disk_roles.disk_of(role)
        if disk_id is None:
            return data_dir
        return next((path for path in known if disk_of_path(disks, path) == disk_id), _below(by_id[disk_id]))

    stated = _set_path(settings, "FileSystemPath", data_dir)
    file_system = stated or on_disk(DiskRole.REDO, data_dir)
    disk_data = _set_path(settings, "FileSystemPathDD", data_dir)

    def other(parameter: str, role: DiskRole) -> str:
        if node.disk_roles.disk_of(role) is None and stated:
            return _set_path(settings, parameter, data_dir) or stated
        return _set_path(settings, parameter, data_dir) or on_disk(role, file_system, data_dir)

    def of_disk_data(parameter: str, role: DiskRole) -> str:
        return _set_path(settings, parameter, data_dir) or disk_data or other(parameter, role)

    def linked(role: DiskRole, name: str) -> str | None:
        """Folder of a stream that FileSystemPath cannot place, when its disk is another one."""
        if node.disk_roles.disk_of(role) is None and stated:
            return None
        folder = on_disk(role, data_dir)
        if folder == file_system or disk_of_path(disks, folder) == disk_of_path(disks, file_system):
            return None
        return f"{folder}/ndb_{node.node_id}_{name}"

    return DataNodePaths(
        data_dir=data_dir,
        file_system=file_system,
        data_files=of_disk_data("FileSystemPathDataFiles", DiskRole.DATA_FILES),
        undo_files=of_disk_data("FileSystemPathUndoFiles", DiskRole.UNDO),
        backup=other("BackupDataDir", DiskRole.BACKUP),
        lcp=linked(DiskRole.LCP, "lcp"),
        redo=linked(DiskRole.REDO, "redo"),
        redo_folders=tuple(f"D{8 + part}/DBLQH" for part in range(redo_log_parts(settings))),
        files=folders,
    )


def named_folders(plan: Plan) -> tuple[str, ...]:
    """Folders that the plan names for undo files and data files, each once."""
    return _named_folders(plan.logfile_groups, plan.tablespaces)


@kept_by_identity(size=48)
def _named_folders(groups: tuple[LogfileGroup, ...], spaces: tuple[Tablespace, ...]) -> tuple[str, ...]:
    undo = (file.directory for group in groups for file in group.undo_files)
    data = (file.directory or space.directory for space in spaces for file in space.data_files)
    return tuple(dict.fromkeys(folder for folder in (*undo, *data) if folder))


def disk_of_path(disks: tuple[Disk, ...], path: str) -> str | None:
    """Id of the disk whose mount point holds the path; None when it is on no disk of the plan."""
    holding = [disk for disk in disks if f"{path}/".startswith(f"{disk.mount_point.rstrip('/')}/")]
    return max(holding, key=lambda disk: len(disk.mount_point)).id if holding else None


def derived_path_parameters(plan: Plan, node: DataNode) -> dict[str, str]:
    """Path parameters that the disk roles of a node mean and that the plan does not state itself.

    What NDB inherits anyway (FileSystemPath from DataDir, the rest from FileSystemPath) is left out. A host
    without disks says nothing, so nothing is derived for it.
    """
    if not plan.host(node.host_id).disks:
        return {}
    paths = data_node_paths(plan, node)
    derived = {"DataDir": paths.data_dir}
    if paths.file_system != paths.data_dir:
        derived["FileSystemPath"] = paths.file_system
    disk_data = _set_path(node_settings(plan, node), "FileSystemPathDD", paths.data_dir)
    inherited = (disk_data or paths.file_system).rstrip("/") or "/"
    if paths.data_files == paths.undo_files != inherited:
        derived["FileSystemPathDD"] = paths.data_files
    else:
        if paths.data_files != inherited:
            derived["FileSystemPathDataFiles"] = paths.data_files
        if paths.undo_files != inherited:
            derived["FileSystemPathUndoFiles"] = paths.undo_files
    if paths.backup != paths.file_system:
        derived["BackupDataDir"] = paths.backup
    return {name: path for name, path in derived.items() if not node_settings(plan, node).states(name)}


def folders_in_statements(plan: Plan) -> dict[DiskRole, str]:
    """Folders that statements about disk data have to name, because the version has no parameter for them.

    A full path is the same on every data node, so there is none where nodes differ or share a host.
    """
    nodes = plan.data_nodes
    hosts = {node.host_id for node in nodes}
    if not nodes or len(hosts) < len(nodes) or catalogue.knows("DB", "FileSystemPathDD", plan.version):
        return {}
    of_nodes = [data_node_paths(plan, node) for node in nodes]
    found: dict[DiskRole, str] = {}
    for role, name in ((DiskRole.DATA_FILES, "data_files"), (DiskRole.UNDO, "undo_files")):
        folders = {getattr(paths, name) for paths in of_nodes}
        if len(folders) == 1 and any(paths.file_system not in folders for paths in of_nodes):
            found[role] = folders.pop()
    return found


def _data_dir(disks: tuple[Disk, ...], settings: NodeSettings) -> str:
    return _set_path(settings, "DataDir", "") or (_below(disks[0]) if disks else NO_DISK_DIRECTORY)


def _set_path(settings: NodeSettings, name: str, data_dir: str) -> str | None:
    """A stated path; one that is not absolute counts from DataDir, where a data node goes first of all.

    Source: angel.cpp, which changes to DataDir before it starts the data node; Configuration.cpp, which looks
    for the other paths afterwards.
    """
    if not settings.states(name):
        return None
    value = settings.value(name)
    if not isinstance(value, str) or not value:
        return None
    if data_dir.startswith("/") and not value.startswith("/"):
        return normpath(f"{data_dir}/{value}")
    return value.rstrip("/") or "/"


def _below(disk: Disk) -> str:
    return f"{disk.mount_point.rstrip('/')}/{NODE_FOLDER}"
