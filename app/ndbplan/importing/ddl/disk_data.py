"""Log file groups and tablespaces from SQL: CREATE and ALTER, files of one size counted together.

Those of other engines are left out, and options that no figure uses are named with their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ndbplan.base.units import MIB
from ndbplan.edits import parts as edits
from ndbplan.edits.ids import NewIds
from ndbplan.importing.ddl.tokens import Word
from ndbplan.importing.ddl.types import Stream, Unreadable
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace

_SUFFIXES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_SIZE = re.compile(r"([0-9]+)\s*([KMG]?)$", re.I)
_USUAL_FILE_BYTES = 128 * MIB
"""INITIAL_SIZE where the statement states none (manual: CREATE TABLESPACE)."""
_NDB = ("ndb", "ndbcluster")
_SIZES = ("INITIAL_SIZE", "UNDO_BUFFER_SIZE", "EXTENT_SIZE")
_UNUSED = frozenset(
    {
        "MAX_SIZE", "NODEGROUP", "REDO_BUFFER_SIZE", "AUTOEXTEND_SIZE", "FILE_BLOCK_SIZE", "COMMENT",
        "ENCRYPTION", "ENGINE_ATTRIBUTE",
    }
)  # fmt: skip
"""Options with a value that no figure depends on."""


@dataclass
class FileGroup:
    """A log file group or tablespace as the statements leave it."""

    name: str
    offset: int
    files: dict[str, int] = field(default_factory=dict)
    """Bytes of each file, by its name."""
    logfile_group: str = ""
    """Of a tablespace."""
    undo_buffer_bytes: int | None = None
    extent_bytes: int | None = None
    dropped: list[str] = field(default_factory=list)
    """Files that ALTER takes from a group that the text does not make."""
    place: tuple[int, int] = (1, 1)
    """Line and column of its name."""


class DiskData:
    """What statements about disk data say, one after the other."""

    def __init__(self) -> None:
        self.logfile_groups: dict[str, FileGroup] = {}
        self.tablespaces: dict[str, FileGroup] = {}
        self.altered: dict[tuple[str, str], FileGroup] = {}
        """What ALTER says of groups that the text does not make, by kind and name: the plan may have them."""
        self.problems: list[tuple[int, str]] = []
        """Options that are not used, by offset."""
        self._of_others: dict[str, str] = {}
        """Engines of tablespaces that are not NDB's, by name."""

    def groups(self) -> Iterator[FileGroup]:
        """All that statements speak of."""
        yield from self.logfile_groups.values()
        yield from self.tablespaces.values()
        yield from self.altered.values()

    def read(self, tokens: list[Word], end: int) -> None:
        """CREATE, ALTER or DROP of a log file group or tablespace. Raises Unreadable."""
        stream = Stream(tokens, end)
        verb = stream.next().upper
        is_undo = stream.accept("UNDO")
        is_group = stream.accept("LOGFILE")
        stream.expect("GROUP" if is_group else "TABLESPACE")
        known = self.logfile_groups if is_group else self.tablespaces
        word = stream.peek()
        name = stream.name("name")
        kind = "log file group" if is_group else "tablespace"
        engine = "InnoDB" if is_undo and not is_group else self._other_engine(stream.rest(), verb, kind, name)
        if engine:
            self._of_others[name] = engine
            what = f"{kind} {name[:40]} is one of {engine[:40]}, not of NDB; it is left out"
            raise Unreadable(word.start, what)
        if verb == "DROP":
            if known.pop(name, None) is None:
                what = f"DROP of {kind} '{name[:40]}', which is not made above, is not followed; left out"
                raise Unreadable(word.start, what)
            return
        if verb == "CREATE":
            known[name] = FileGroup(name, word.start)
        group = known.get(name) or self.altered.setdefault((kind, name), FileGroup(name, word.start))
        self._options(stream, group)

    def _other_engine(self, rest: list[Word], verb: str, kind: str, name: str) -> str:
        """The engine a statement speaks of when that is not NDB; empty for NDB."""
        keywords = [word.upper for word in rest]
        if "ENGINE" in keywords:
            values = [word.text for word in rest[keywords.index("ENGINE") + 1 :] if word.text != "="]
            return "" if not values or values[0].lower() in _NDB else values[0]
        if kind == "tablespace" and verb == "CREATE" and "LOGFILE" not in keywords:
            # Without either the server makes one of its default engine (manual, CREATE TABLESPACE).
            return "InnoDB"
        return "" if kind == "log file group" or verb == "CREATE" else self._of_others.get(name, "")

    def _options(self, stream: Stream, group: FileGroup) -> None:
        added = dropped = ""
        size: int | None = None
        while not stream.at_end():
            word = stream.next()
            if word.upper in ("UNDOFILE", "DATAFILE"):
                added = stream.next().text
            elif word.upper == "DROP":
                stream.next()
                dropped = stream.next().text
            elif word.upper == "USE":
                stream.expect("LOGFILE")
                stream.expect("GROUP")
                group.logfile_group = stream.name("log file group")
            elif word.upper == "ENGINE":
                stream.accept("=")
                stream.next()
            elif word.upper in _SIZES:
                stream.accept("=")
                value = _bytes(stream)
                if word.upper == "INITIAL_SIZE":
                    size = value
                elif word.upper == "UNDO_BUFFER_SIZE":
                    group.undo_buffer_bytes = value
                else:
                    group.extent_bytes = value
            elif word.upper not in ("ADD", "STORAGE", ","):
                self.problems.append((word.start, f"{word.text[:40]} is not used; it is left out"))
                if word.upper in _UNUSED:
                    _skip_value(stream)
                elif word.upper == "RENAME":
                    stream.accept("TO")
                    stream.next()
        if added:
            group.files[added] = size or _USUAL_FILE_BYTES
        if dropped:
            group.dropped.append(dropped)
            group.files.pop(dropped, None)


def _skip_value(stream: Stream) -> None:
    stream.accept("=")
    if stream.next().kind == "number" and stream.peek().text.upper() in ("K", "M", "G"):
        stream.next()


def _bytes(stream: Stream) -> int:
    """A size such as 128M, which the lexer may cut in two."""
    word = stream.next()
    text = word.text
    if text.isdigit() and stream.peek().text.upper() in ("K", "M", "G"):
        text += stream.next().text
    match = _SIZE.match(text)
    if match is None:
        raise Unreadable(word.start, f"'{text[:40]}' is no size; write for example 128M")
    return int(match[1]) * _SUFFIXES[match[2].upper()]


def with_disk_data(plan: Plan, made: DiskData) -> tuple[Plan, list[str], list[str]]:
    """The plan with log file groups and tablespaces that it lacks by name; what is added, what missing."""
    groups = {group.name: group for group in plan.logfile_groups}
    spaces = {space.name for space in plan.tablespaces}
    ids, new, missing = NewIds(plan), list[LogfileGroup | Tablespace](), list[str]()
    for each in made.logfile_groups.values():
        if each.name not in groups and each.files:
            buffer = {"undo_buffer_bytes": each.undo_buffer_bytes} if each.undo_buffer_bytes else {}
            fields = {
                "id": ids.of(LogfileGroup),
                "name": each.name,
                "undo_files": _files(each.files),
                **buffer,
            }
            groups[each.name] = edits.made(LogfileGroup, fields)
            new.append(groups[each.name])
    for each in made.tablespaces.values():
        group = groups.get(each.logfile_group)
        if each.name in spaces or not each.files:
            continue
        if group is None:
            line, column = each.place
            what = f"tablespace {each.name[:40]} uses log file group '{each.logfile_group[:40]}'"
            missing.append(
                f"line {line}, column {column}: {what}, which nothing makes; add its CREATE LOGFILE GROUP"
            )
            continue
        extent = {"extent_size_bytes": each.extent_bytes} if each.extent_bytes else {}
        fields = {"id": ids.of(Tablespace), "name": each.name, "logfile_group_id": group.id, **extent}
        new.append(edits.made(Tablespace, {**fields, "data_files": _files(each.files)}))
    plan, altered, unknown = _with_changes(plan, made)
    names = ["log file group" if isinstance(part, LogfileGroup) else "tablespace" for part in new]
    changes = [f"{kind} {part.name}: added" for kind, part in zip(names, new, strict=True)]
    return (edits.add(plan, *new) if new else plan), [*changes, *altered], [*missing, *unknown]


def _with_changes(plan: Plan, made: DiskData) -> tuple[Plan, list[str], list[str]]:
    """The plan with the files that ALTER adds to its own groups; what changes, and which groups it lacks."""
    changes, missing = list[str](), list[str]()
    for (kind, name), altered in made.altered.items():
        is_group = kind == "log file group"
        there = plan.logfile_groups if is_group else plan.tablespaces
        part = next((one for one in there if one.name == name), None)
        if part is None:
            line, column = altered.place
            missing.append(f"line {line}, column {column}: there is no '{name[:40]}' above; left out")
            continue
        field_name = "undo_files" if is_group else "data_files"
        kept = tuple(one for one in getattr(part, field_name) if one.name not in altered.dropped)
        named = {one.name for one in kept}
        new = {file: size for file, size in altered.files.items() if file not in named}
        files = (*kept, *_files(new))
        if files and files != getattr(part, field_name):
            plan = edits.update(plan, part.id, **{field_name: files})
            changes.append(f"{kind} {name}: {len(new)} more, {len(altered.dropped)} fewer files")
    return plan, changes, missing


def _files(sizes: Mapping[str, int]) -> tuple[SpaceFile, ...]:
    """Files of one size as one entry, by the name of the first."""
    by_size: dict[int, list[str]] = {}
    for name, size in sizes.items():
        by_size.setdefault(size, []).append(name)
    return tuple(
        SpaceFile(name=names[0].rsplit("/", 1)[-1][:64] or "file", size_bytes=size, count=len(names))
        for size, names in by_size.items()
        if size > 0
    )
