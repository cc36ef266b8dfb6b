"""Log file groups and tablespaces of an SQL text, taken into a plan: added, changed or dropped.

plan, changes, problems = with_disk_data(plan, made)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ndbplan.base.units import format_bytes_binary
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.ids import NewIds
from ndbplan.edits.validated import EditError
from ndbplan.importing.ddl.disk_data import DiskData, FileGroup
from ndbplan.importing.ddl.tokens import DdlProblem
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace

_NUMBERED = re.compile(r"(.+)_([1-9][0-9]{0,4})")
"""A file of several that the export writes for one entry."""
_LONGEST_NAME = 64

Taken = tuple[Plan, list[str], list[DdlProblem]]
"""The plan, what changes in words, and what could not be followed."""


def with_disk_data(plan: Plan, made: DiskData) -> Taken:
    """The plan with log file groups and tablespaces that it lacks, and its own as ALTER leaves them."""
    changes, problems = list[str](), list[DdlProblem]()
    for kind, groups in (("log file group", made.logfile_groups), ("tablespace", made.tablespaces)):
        there, ids, new = _of_plan(plan, kind), NewIds(plan), list[LogfileGroup | Tablespace]()
        logs = _of_plan(plan, "log file group")
        for each in groups.values():
            try:
                part, said, kept = _made(there.get(each.name), logs, ids, kind, each)
            except EditError as error:
                part, said, kept = None, "", f"{kind} {each.name[:40]}: {error.line}"
            changes += [f"{kind} {each.name}: {said}"] if said else []
            problems += [DdlProblem(*each.place, kept)] if kept else []
            if part is not None and part.id in plan.by_id:
                plan = edits.update(plan, part.id, **{n: getattr(part, n) for n in type(part).model_fields})
            elif part is not None:
                new.append(part)
        # In one step: each step looks through the whole plan.
        plan = edits.add(plan, *new) if new else plan
    for (kind, _), altered in made.altered.items():
        try:
            plan, said, kept = _with_changes(plan, kind, altered)
        except EditError as error:
            said, kept = "", f"{kind} {altered.name[:40]}: {error.line}"
        changes += [f"{kind} {altered.name}: {said}"] if said else []
        problems += [DdlProblem(*altered.place, kept)] if kept else []
    return plan, changes, problems


def _of_plan(plan: Plan, kind: str) -> dict[str, LogfileGroup | Tablespace]:
    """What the plan has of a kind, by name."""
    if kind == "log file group":
        return {one.name: one for one in reversed(plan.logfile_groups)}
    return {one.name: one for one in reversed(plan.tablespaces)}


def _files_of(part: LogfileGroup | Tablespace) -> tuple[SpaceFile, ...]:
    return part.undo_files if isinstance(part, LogfileGroup) else part.data_files


def _made(
    known: LogfileGroup | Tablespace | None,
    logs: Mapping[str, LogfileGroup | Tablespace],
    ids: NewIds,
    kind: str,
    each: FileGroup,
) -> tuple[LogfileGroup | Tablespace | None, str, str]:
    """What a text makes of one, `known` to the plan or new; what changes, and what is said of it.

    Raises EditError.
    """
    name = each.name[:40]
    if not each.files:
        return None, "", f"{kind} {name} names no file; left out"
    fields: dict[str, Any]
    if kind == "log file group":
        sizes = {"undo_buffer_bytes": each.undo_buffer_bytes}
        fields = {"undo_files": _files(each.files)}
    else:
        group = logs.get(each.logfile_group)
        if group is None and known is None:
            what = f"uses log file group '{each.logfile_group[:40]}', which nothing makes"
            if not each.logfile_group:
                return None, "", f"tablespace {name} names no log file group; add USE LOGFILE GROUP"
            return None, "", f"tablespace {name} {what}; add its CREATE LOGFILE GROUP"
        sizes = {"extent_size_bytes": each.extent_bytes}
        directory = _directory(each.files)
        fields = {"data_files": _files(each.files, directory), "directory": directory}
        fields |= {"logfile_group_id": group.id} if group is not None else {}
    fields |= {name: size for name, size in sizes.items() if size is not None}
    if known is None:
        part: type[LogfileGroup] | type[Tablespace]
        part = LogfileGroup if kind == "log file group" else Tablespace
        return validated.made(part, {"id": ids.of(part), "name": each.name, **fields}), "added", ""
    other = validated.changed(known, **fields)
    if other == known:
        return None, "", ""
    if each.anew:
        return other, "dropped and made anew", ""
    return None, "", f"{kind} {name} is there already and stays as it is: {_compared(known, other)}"


def _compared(known: LogfileGroup | Tablespace, other: LogfileGroup | Tablespace) -> str:
    """Where two of one name differ, in words."""
    mine, theirs = (sum(f.size_bytes * f.count for f in _files_of(one)) for one in (known, other))
    if mine != theirs:
        return f"{format_bytes_binary(mine)} of files, {format_bytes_binary(theirs)} here"
    fields = [n for n in type(known).model_fields if getattr(known, n) != getattr(other, n)]
    return f"{' and '.join(name.removesuffix('_bytes').replace('_', ' ') for name in fields)} differ here"


def _with_changes(plan: Plan, kind: str, altered: FileGroup) -> tuple[Plan, str, str]:
    """The plan with the files that ALTER adds to one of its own, or takes away. Raises EditError."""
    name, part = altered.name[:40], _of_plan(plan, kind).get(altered.name)
    if part is None:
        return plan, "", f"there is no '{name}' above; left out"
    before = {path: file.size_bytes for file in _files_of(part) for path in _names(file)}
    new, gone = _by_name(altered.files), {_name_of(path) for path in altered.dropped}
    said = [f"has no file '{path[:60]}'" for path in sorted(gone - before.keys())]
    said += [
        f"has a file '{path[:60]}' of {format_bytes_binary(before[path])} already"
        for path, size in new.items()
        if path not in gone and before.get(path, size) != size
    ]
    problem = f"{kind} {name} {' and '.join(said)}; left out" if said else ""
    added = {path for path in new if path in gone or path not in before}
    fewer = len(gone & before.keys())
    if not added and not fewer:
        return plan, "", problem
    kept = [left for file in _files_of(part) for left in _without(file, gone)]
    if not kept and not added:
        return plan, "", f"{kind} {name} would have no file; left out"
    field = "undo_files" if isinstance(part, LogfileGroup) else "data_files"
    directory = part.directory if isinstance(part, Tablespace) else None
    more = {path: size for path, size in altered.files.items() if _name_of(path) in added or path in added}
    plan = edits.update(plan, part.id, **{field: (*kept, *_files(more, directory))})
    return plan, f"{len(added)} more, {fewer} fewer files", problem


def without_dropped(plan: Plan, made: DiskData) -> Taken:
    """The plan without what DROP takes; what still holds something stays, as the server refuses that."""
    changes, problems = list[str](), list[DdlProblem]()
    for (kind, name), dropped in sorted(made.dropped.items(), reverse=True):
        part = _of_plan(plan, kind).get(name)
        if part is None:
            what = f"there is no {kind} '{name[:40]}' above; left out"
        elif users := list(_users(plan, part)):
            shown = ", ".join(users[:4]) + (" …" if len(users) > 4 else "")
            what = f"{kind} {name[:40]} stays: {shown} {'uses' if len(users) == 1 else 'use'} it, and the "
            what += "server refuses the DROP"
        else:
            plan = edits.remove(plan, [part.id])
            changes.append(f"{kind} {name}: dropped")
            continue
        problems.append(DdlProblem(*dropped.place, what))
    return plan, changes, problems


def _users(plan: Plan, part: LogfileGroup | Tablespace) -> Iterator[str]:
    if isinstance(part, LogfileGroup):
        yield from (f"tablespace {one.name}" for one in plan.tablespaces if one.logfile_group_id == part.id)
    else:
        yield from (table.full_name for table in plan.tables if table.tablespace_id == part.id)


def _name_of(path: str) -> str:
    """A file without its folder, if that is a whole path; a relative one is part of the name."""
    if not path.startswith("/") and len(path) <= _LONGEST_NAME:
        return path
    return path.rsplit("/", 1)[-1][:_LONGEST_NAME] or "file"


def _names(file: SpaceFile) -> Iterator[str]:
    """The names of the files of one entry, as the export writes them."""
    if file.count == 1:
        yield file.name
    else:
        yield from (f"{file.name}_{number}" for number in range(1, file.count + 1))


def _directory(files: Mapping[str, int]) -> str | None:
    """The folder that all files name; None: none, or several."""
    folders = {path.rpartition("/")[0] for path in files}
    return folders.pop() if len(folders) == 1 and next(iter(files)).startswith("/") else None


def _without(file: SpaceFile, gone: set[str]) -> Iterator[SpaceFile]:
    """What is left of an entry when some of its files go."""
    names = list(_names(file))
    if gone.isdisjoint(names):
        yield file
    else:
        left = (name for name in names if name not in gone)
        yield from (validated.changed(file, name=name, count=1) for name in left)


def _by_name(files: Mapping[str, int]) -> dict[str, int]:
    """Bytes of files by name, without their folders as long as that tells them apart."""
    named = {_name_of(path): size for path, size in files.items()}
    if len(named) == len(files):
        return named
    return {path[-_LONGEST_NAME:]: size for path, size in files.items()}


def _folder_of(path: str) -> str | None:
    return path.rpartition("/")[0] or None if path.startswith("/") else None


def _files(sizes: Mapping[str, int], directory: str | None = None) -> tuple[SpaceFile, ...]:
    """Files as entries of a plan: those numbered from 1 on, of one size, are one entry. Raises EditError.

    `directory`: that of the tablespace, which an entry does not repeat.
    """
    left = {(_folder_of(path), _name_of(path)): size for path, size in sizes.items()}
    found = list[SpaceFile]()
    while left:
        folder, name = next(iter(left))
        size = left.pop((folder, name))
        numbered, count = _NUMBERED.fullmatch(name), 1
        if numbered is not None and numbered[2] == "1":
            while left.get((folder, f"{numbered[1]}_{count + 1}")) == size:
                count += 1
                del left[folder, f"{numbered[1]}_{count}"]
        stem = numbered[1] if numbered is not None and count > 1 else name
        own = None if folder == directory else folder
        fields = {"name": stem, "size_bytes": size, "count": count, "directory": own}
        found.append(validated.made(SpaceFile, fields))
    return tuple(found)
