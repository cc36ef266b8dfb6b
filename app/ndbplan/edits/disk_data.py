"""Log file groups and tablespaces of a usual size, and tables that get one.

plan, space_id = with_tablespace(plan, data_bytes=20 * GIB)     # with a log file group, if there is none
plan = IntoTablespace(table_id, None)(plan)                     # the same, for one table
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count

from ndbplan.base.units import GIB, MIB
from ndbplan.configuration.directories import NODE_FOLDER, named_folders
from ndbplan.configuration.space_files import named_files
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.ids import NewIds
from ndbplan.edits.names import free_name
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace

USUAL_FILE_BYTES = GIB
"""Of a first undo file and data file, until somebody says how much they are to hold."""


def new_logfile_group(plan: Plan, name: str | None = None) -> LogfileGroup:
    """A log file group with one undo file, under the next free name."""
    taken = {group.name for group in plan.logfile_groups}
    fields = {
        "id": NewIds(plan).of(LogfileGroup),
        "name": name or _numbered("lg", taken),
        "undo_files": (SpaceFile(name="undo_1.log", size_bytes=USUAL_FILE_BYTES, assumed=("size_bytes",)),),
    }
    return validated.made(LogfileGroup, fields)


def new_tablespace(
    plan: Plan, logfile_group_id: str, name: str | None = None, data_bytes: int = USUAL_FILE_BYTES
) -> Tablespace:
    """A tablespace with one data file, both under the next free name."""
    taken, files = {space.name for space in plan.tablespaces}, _file_names(plan)
    file = next(free for n in count(1) if (free := f"data_{n}.dat") not in files)
    fields = {
        "id": NewIds(plan).of(Tablespace),
        "name": name or _numbered("ts", taken),
        "logfile_group_id": logfile_group_id,
        "data_files": (SpaceFile(name=file, size_bytes=data_bytes, assumed=("size_bytes",)),),
    }
    return validated.made(Tablespace, fields)


def _numbered(stem: str, taken: Collection[str]) -> str:
    return next(name for n in count(1) if (name := f"{stem}_{n}") not in taken)


def with_logfile_group(plan: Plan) -> tuple[Plan, str]:
    """The plan with a log file group, and its id: its own, as a cluster takes one only, else a new one."""
    if plan.logfile_groups:
        return plan, plan.logfile_groups[0].id
    group = new_logfile_group(plan)
    return edits.add(plan, group), group.id


def with_tablespace(plan: Plan, data_bytes: int = USUAL_FILE_BYTES) -> tuple[Plan, str]:
    """The plan with one more tablespace, and its id; with a log file group where there is none."""
    plan, group_id = with_logfile_group(plan)
    space = new_tablespace(plan, group_id, data_bytes=data_bytes)
    return edits.add(plan, space), space.id


@dataclass(frozen=True)
class IntoTablespace:
    """A change: a table gets a tablespace that is there, or (None) a new one that holds so many bytes."""

    table_id: str
    tablespace_id: str | None
    data_bytes: int = USUAL_FILE_BYTES

    def __call__(self, plan: Plan) -> Plan:
        space_id = self.tablespace_id
        if space_id is None:
            plan, space_id = with_tablespace(plan, self.data_bytes)
        return edits.update(plan, self.table_id, tablespace_id=space_id)


@dataclass(frozen=True)
class KeepInMemory:
    """A change: no column of a table is on disk any more."""

    table_id: str

    def __call__(self, plan: Plan) -> Plan:
        columns = plan.by_id[self.table_id].columns
        kept = tuple(validated.changed(c, storage="memory") if c.storage == "disk" else c for c in columns)
        return edits.update(plan, self.table_id, columns=kept)


@dataclass(frozen=True)
class GrowFiles:
    """A change: the first files of a log file group or tablespace grow until all hold so many bytes.

    By whole MiB, or by larger extents, of which data files consist.
    """

    object_id: str
    total_bytes: int

    def __call__(self, plan: Plan) -> Plan:
        part = plan.by_id[self.object_id]
        name = "undo_files" if isinstance(part, LogfileGroup) else "data_files"
        first, *others = getattr(part, name)
        rest = sum(file.size_bytes * file.count for file in others)
        step = MIB if isinstance(part, LogfileGroup) else max(MIB, part.extent_size_bytes)
        each = max(first.size_bytes, -(-(self.total_bytes - rest) // (first.count * step)) * step)
        return edits.update(plan, part.id, **{name: (validated.changed(first, size_bytes=each), *others)})


@dataclass(frozen=True)
class FewerFiles:
    """A change: files of a tablespace are joined, two and two, until there are so many at most."""

    object_id: str
    most: int

    def __call__(self, plan: Plan) -> Plan:
        files: tuple[SpaceFile, ...] = plan.by_id[self.object_id].data_files
        while sum(file.count for file in files) > self.most and any(file.count > 1 for file in files):
            files = tuple(
                validated.changed(file, count=-(-file.count // 2), size_bytes=2 * file.size_bytes)
                if file.count > 1
                else file
                for file in files
            )
        return edits.update(plan, self.object_id, data_files=files)


@dataclass(frozen=True)
class MoreFiles:
    """A change: the one data file of a tablespace is divided into so many."""

    object_id: str
    count: int

    def __call__(self, plan: Plan) -> Plan:
        (file,) = plan.by_id[self.object_id].data_files
        each = -(-file.size_bytes // self.count)
        divided = validated.changed(file, size_bytes=each, count=self.count)
        return edits.update(plan, self.object_id, data_files=(divided,))


def folder_on(disk: Disk) -> str:
    """Where files of disk data go on a disk that they name themselves."""
    return f"{disk.mount_point.rstrip('/')}/{NODE_FOLDER}"


def folders_to_choose(plan: Plan) -> list[tuple[str | None, str]]:
    """Folders for files: one on each disk that all hosts of data nodes have, and those in use."""
    hosts = [plan.host(host_id) for host_id in {node.host_id: None for node in plan.data_nodes}]
    names: dict[str, str] = {}
    for disk in hosts[0].disks if hosts else ():
        if all(any(other.mount_point == disk.mount_point for other in host.disks) for host in hosts):
            names[folder_on(disk)] = disk.name
    for folder in named_folders(plan):
        names.setdefault(folder, folder)
    return [(None, "as the role"), *names.items()]


def next_file_name(plan: Plan, files: Sequence[SpaceFile]) -> str:
    """Of one more file: data_2.dat behind data_1.dat, data_4 behind an entry `data` of three files."""
    last, taken = files[-1].name, _file_names(plan, files)
    numbered = re.fullmatch(r"(.*?)([0-9]{1,6})(\.[^.0-9]*)?", last)
    if numbered is None:
        return free_name(last, taken, "_")
    stem, number, ending = numbered[1], int(numbered[2]), numbered[3] or ""
    return next(name for more in count(1) if (name := f"{stem}{number + more}{ending}") not in taken)


def _file_names(plan: Plan, files: Iterable[SpaceFile] = ()) -> set[str]:
    """Names, without their folders, that a data node has files of: those of the plan, and these."""
    owned = (*(one.undo_files for one in plan.logfile_groups), *(one.data_files for one in plan.tablespaces))
    entries = [*chain(files, *owned)]
    names = {path.rpartition("/")[2] for path, _ in named_files(entries, None)}
    return names | {file.name for file in entries}


@dataclass(frozen=True)
class FilesThereToo:
    """A change: undo files or data files get one more, as large as the last, in a folder of their own."""

    role: DiskRole
    folder: str

    def __call__(self, plan: Plan) -> Plan:
        parts: tuple[LogfileGroup | Tablespace, ...] = (
            plan.logfile_groups if self.role is DiskRole.UNDO else plan.tablespaces
        )
        name = "undo_files" if self.role is DiskRole.UNDO else "data_files"
        for part in parts:
            files: tuple[SpaceFile, ...] = getattr(part, name)
            fields = {
                "name": next_file_name(plan, files),
                "size_bytes": files[-1].size_bytes,
                "count": files[-1].count,
                "directory": self.folder,
            }
            plan = edits.update(plan, part.id, **{name: (*files, validated.made(SpaceFile, fields))})
        return plan


@dataclass(frozen=True)
class OneLogfileGroup:
    """A change: the undo files of all log file groups lie in the first, which every tablespace uses."""

    def __call__(self, plan: Plan) -> Plan:
        first, *others = plan.logfile_groups
        taken: list[SpaceFile] = list(first.undo_files)
        for group in others:
            for file in group.undo_files:
                name = free_name(file.name, {one.name for one in taken}, "_")
                taken.append(validated.changed(file, name=name))
        plan = edits.update(plan, first.id, undo_files=tuple(taken))
        for space in plan.tablespaces:
            plan = edits.update(plan, space.id, logfile_group_id=first.id)
        return edits.remove(plan, [group.id for group in others])
