"""Data and undo files of disk data, as statements name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ndbplan.configuration.directories import folders_in_statements
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace


def named_files(files: Iterable[SpaceFile], directory: str | None) -> Iterator[tuple[str, int]]:
    """Each file of some entries with its size in bytes; `directory`: that of its tablespace."""
    for file in files:
        for number in range(1, file.count + 1):
            name = file.name if file.count == 1 else f"{file.name}_{number}"
            yield (f"{directory.rstrip('/')}/{name}" if directory else name), file.size_bytes


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
