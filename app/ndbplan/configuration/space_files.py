"""Data and undo files of disk data, as statements name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.directories import disk_of_path, folders_in_statements
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace


def named_files(files: Iterable[SpaceFile], directory: str | None) -> Iterator[tuple[str, int]]:
    """Each file of some entries with its size in bytes; `directory`: that of its tablespace."""
    for file in files:
        folder = file.directory or directory
        for number in range(1, file.count + 1):
            name = file.name if file.count == 1 else f"{file.name}_{number}"
            yield (f"{folder.rstrip('/')}/{name}" if folder else name), file.size_bytes


FileShares = FrozenMap[DiskRole, tuple[tuple[Disk, float], ...]]
"""Disks of a role whose files lie on several, each with its share of their bytes; others are not in it."""
ON_ONE_DISK: FileShares = FrozenMap()


NamedFolders = FrozenMap[DiskRole, tuple[tuple[str | None, float], ...]]
"""Folders that a plan names for files of each role, with the bytes in each; None: files that name none."""
NO_FOLDERS: NamedFolders = FrozenMap()


@kept_by_identity(16)
def folders_of_files(groups: tuple[LogfileGroup, ...], spaces: tuple[Tablespace, ...]) -> NamedFolders:
    """Folders that the plan names for files, with the bytes in each; roles without such files are not in it.

    None is the folder of all that name none.
    """
    found: dict[DiskRole, dict[str | None, float]] = {DiskRole.UNDO: {}, DiskRole.DATA_FILES: {}}
    parts: tuple[LogfileGroup | Tablespace, ...] = (*groups, *spaces)
    for part in parts:
        role, files, directory = (
            (DiskRole.UNDO, part.undo_files, None)
            if isinstance(part, LogfileGroup)
            else (DiskRole.DATA_FILES, part.data_files, part.directory)
        )
        for file in files:
            folder, size = file.directory or directory, float(file.size_bytes * file.count)
            found[role][folder] = found[role].get(folder, 0.0) + size
    return FrozenMap((role, tuple(sizes.items())) for role, sizes in found.items() if any(sizes))


def roles_by_folders(
    folders: NamedFolders, host: Host, of_roles: Mapping[DiskRole, Disk | None]
) -> dict[str, list[DiskRole]]:
    """Roles that a node has on disks of its host beside the disk of the role, by disk: folders lead there."""
    beside: dict[str, list[DiskRole]] = {}
    for role, parts in shares_of_files(folders, host.disks, of_roles).items():
        own = of_roles[role]
        for disk, _share in parts:
            if own is None or disk.id != own.id:
                beside.setdefault(disk.id, []).append(role)
    return beside


@kept_by_identity(600)
def shares_of_files(
    folders: NamedFolders,
    disks: tuple[Disk, ...],
    of_roles: Mapping[DiskRole, Disk | None],
) -> FileShares:
    """How the files of a node lie on the disks of its host. A folder on no disk is on that of the role."""
    by_id = {disk.id: disk for disk in disks}
    found = []
    for role, sizes in folders.items():
        own, on = of_roles[role], dict[str, float]()
        for folder, size in sizes:
            disk_id = disk_of_path(disks, folder) if folder else None
            disk_id = disk_id or (own.id if own is not None else None)
            if disk_id is not None:
                on[disk_id] = on.get(disk_id, 0.0) + size
        whole = sum(on.values())
        if own is not None and set(on) != {own.id}:
            found.append((role, tuple((by_id[disk_id], size / whole) for disk_id, size in on.items())))
    return FrozenMap(found) if found else ON_ONE_DISK


class Twice(NamedTuple):
    """A file that a data node would have to write for two."""

    path: str
    first: LogfileGroup | Tablespace
    second: LogfileGroup | Tablespace
    """May be the first once more."""


def files_twice(plan: Plan) -> Iterator[Twice]:
    """Files of one name, the first of each pair of owners.

    Servers of 7.4.10 and 8.4.8 refuse the second (error 760, File already exists), whoever has the first.
    """
    folders = folders_in_statements(plan)
    owners: dict[str, LogfileGroup | Tablespace] = {}
    told = set[tuple[str, str]]()
    parts: tuple[LogfileGroup | Tablespace, ...] = (*plan.logfile_groups, *plan.tablespaces)
    for part in parts:
        if isinstance(part, LogfileGroup):
            files, directory = part.undo_files, folders.get(DiskRole.UNDO)
        else:
            files, directory = part.data_files, part.directory or folders.get(DiskRole.DATA_FILES)
        for path, _ in named_files(files, directory):
            first = owners.get(path)
            if first is None:
                owners[path] = part
            elif (first.id, part.id) not in told:
                told.add((first.id, part.id))
                yield Twice(path, first, part)
