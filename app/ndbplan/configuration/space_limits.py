"""Sizes and names of disk data that a cluster refuses, or makes otherwise.

for one in refused_spaces(plan):
    print(one.where, one.why)       # tablespace ts file d has 10240 bytes, less than an extent (error 1516)
for one in rounded_spaces(plan):
    print(one.where, one.why)       # tablespace ts EXTENT_SIZE 100000 becomes 131072

Sources: mysql-server 8.4, storage/ndb/src/kernel/blocks/dbdict/Dbdict.cpp (createFile_parse,
createFilegroup_parse) and storage/ndb/plugin/ha_ndbcluster.cc (ndbcluster_alter_tablespace); running
7.4.10 and 8.4.8 clusters (errors 721, 760, 779 and 1516; sizes rounded with warning 1296); manual, disk data
objects (one namespace).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.configuration.refused_tables import no_identifier
from ndbplan.configuration.space_files import named_files
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace

UNDO_BUFFER_LEAST_BYTES = 3 * PAGE_BYTES
_MOST_BYTES = 2**32 - PAGE_BYTES
"""Of an extent and an undo buffer: the largest whole number of pages that 32 bits hold."""


class OddSpace(NamedTuple):
    """One size or name of a log file group or tablespace that is refused, or made otherwise."""

    part: LogfileGroup | Tablespace
    why: str
    field: str
    instead: object
    """What the field may hold."""

    @property
    def where(self) -> str:
        """The place in words."""
        kind = "log file group" if isinstance(self.part, LogfileGroup) else "tablespace"
        return f"{kind} {self.part.name}"


def refused_spaces(plan: Plan) -> Iterator[OddSpace]:
    """What no statement makes, in the order of the statements."""
    yield from _names(plan)
    for group in plan.logfile_groups:
        buffer = group.undo_buffer_bytes
        if buffer < UNDO_BUFFER_LEAST_BYTES:
            why = f"UNDO_BUFFER_SIZE {buffer} is below {UNDO_BUFFER_LEAST_BYTES} bytes (error 779)"
            yield OddSpace(group, why, "undo_buffer_bytes", UNDO_BUFFER_LEAST_BYTES)
        elif buffer > _MOST_BYTES:
            why = f"UNDO_BUFFER_SIZE {buffer} is above {_MOST_BYTES} bytes (error 1531)"
            yield OddSpace(group, why, "undo_buffer_bytes", _MOST_BYTES)
        yield from _small_files(group, "undo_files", group.undo_files, PAGE_BYTES, "page")
    for space in plan.tablespaces:
        extent = space.extent_size_bytes
        if extent > _MOST_BYTES:
            why = f"EXTENT_SIZE {extent} is above {_MOST_BYTES} bytes (error 1531)"
            yield OddSpace(space, why, "extent_size_bytes", _MOST_BYTES)
        yield from _small_files(space, "data_files", space.data_files, whole_pages(extent), "extent")


def _small_files(
    part: LogfileGroup | Tablespace, field: str, files: tuple[SpaceFile, ...], least: int, what: str
) -> Iterator[OddSpace]:
    small = [file for file in files if file.size_bytes < least]
    if small:
        why = (
            f"file {small[0].name} has {small[0].size_bytes} bytes, less than the {least} of "
            f"{'an' if what == 'extent' else 'a'} {what} (error 1516)"
        )
        raised = tuple(f.model_copy(update={"size_bytes": max(f.size_bytes, least)}) for f in files)
        yield OddSpace(part, why, field, raised)


def _names(plan: Plan) -> Iterator[OddSpace]:
    """Log file groups, tablespaces and their files share one namespace."""
    parts: tuple[LogfileGroup | Tablespace, ...] = (*plan.logfile_groups, *plan.tablespaces)
    files = {
        path: part.name
        for part in parts
        for path, _ in named_files(
            part.undo_files if isinstance(part, LogfileGroup) else part.data_files,
            None if isinstance(part, LogfileGroup) else part.directory,
        )
    }
    taken = dict[str, LogfileGroup | Tablespace]()
    used = {part.name for part in parts} | files.keys()
    for part in parts:
        free = next(
            name for i in range(2, len(used) + 3) if (name := f"{part.name[:56].rstrip()}_{i}") not in used
        )
        if why := no_identifier(part.name):
            yield OddSpace(part, f"its name{why}", "name", free)
        elif part.name in taken:
            yield OddSpace(part, "its name is that of another one (error 721)", "name", free)
        elif part.name in files:
            why = f"its name is that of a file of {files[part.name]} (errors 721 and 760)"
            yield OddSpace(part, why, "name", free)
        taken[part.name] = part


def rounded_spaces(plan: Plan) -> Iterator[OddSpace]:
    """Sizes that a cluster takes and changes; those that it refuses are not among them."""
    refused = {(id(one.part), one.field) for one in refused_spaces(plan)}
    parts: tuple[LogfileGroup | Tablespace, ...] = (*plan.logfile_groups, *plan.tablespaces)
    for part in parts:
        for one in _rounded(part):
            if (id(part), one.field) not in refused:
                yield one


def _rounded(part: LogfileGroup | Tablespace) -> Iterator[OddSpace]:
    if isinstance(part, LogfileGroup):
        files, field, buffer = part.undo_files, "undo_files", part.undo_buffer_bytes
        if whole_pages(buffer) != buffer:
            why = f"UNDO_BUFFER_SIZE {buffer} becomes {whole_pages(buffer)}, whole pages"
            yield OddSpace(part, why, "undo_buffer_bytes", whole_pages(buffer))
        made = [file.size_bytes // PAGE_BYTES * PAGE_BYTES for file in files]
    else:
        files, field, extent = part.data_files, "data_files", whole_pages(part.extent_size_bytes)
        if extent != part.extent_size_bytes:
            why = f"EXTENT_SIZE {part.extent_size_bytes} becomes {extent}, whole pages"
            yield OddSpace(part, why, "extent_size_bytes", extent)
        made = [-(-(file.size_bytes // PAGE_BYTES * PAGE_BYTES) // extent) * extent for file in files]
    changed = [(file, size) for file, size in zip(files, made, strict=True) if file.size_bytes != size]
    if changed:
        file, size = changed[0]
        what = "pages" if field == "undo_files" else "extents"
        more = f", and {len(changed) - 1} more" if len(changed) > 1 else ""
        why = f"file {file.name} of {file.size_bytes} bytes gets {size}, whole {what}{more}"
        new = tuple(f.model_copy(update={"size_bytes": s}) for f, s in zip(files, made, strict=True))
        yield OddSpace(part, why, field, new)


def whole_pages(size_bytes: int) -> int:
    """A size rounded up to whole pages."""
    return -(-size_bytes // PAGE_BYTES) * PAGE_BYTES
