"""Log file groups and tablespaces from SQL: what CREATE, ALTER and DROP say of them.

Those of other engines are left out, and options that no figure uses are named with their place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from ndbplan.base.units import MIB
from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.tokens import Places, Word

_SUFFIXES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
_SIZE = re.compile(r"([0-9]{1,19})\s*([KMG]?)$", re.I)
_USUAL_FILE_BYTES = 128 * MIB
"""INITIAL_SIZE where the statement states none (manual: CREATE TABLESPACE)."""
_ENGINE = ("STORAGE", "ENGINE")
_NDB = ("ndb", "ndbcluster")
_SIZES = ("INITIAL_SIZE", "UNDO_BUFFER_SIZE", "EXTENT_SIZE")
_UNUSED = frozenset(
    {
        "MAX_SIZE", "NODEGROUP", "REDO_BUFFER_SIZE", "AUTOEXTEND_SIZE", "FILE_BLOCK_SIZE", "COMMENT",
        "ENCRYPTION", "ENGINE_ATTRIBUTE",
    }
)  # fmt: skip
"""Options with a value that no figure depends on."""


Kind = Literal["log file group", "tablespace"]


@dataclass
class FileGroup:
    """A log file group or tablespace as the statements leave it."""

    name: str
    offset: int
    anew: bool = False
    """Made after a DROP of one that the text does not make: the plan's is another one."""
    files: dict[str, int] = field(default_factory=dict)
    """Bytes of each file, by its name."""
    logfile_group: str = ""
    """Of a tablespace."""
    undo_buffer_bytes: int | None = None
    extent_bytes: int | None = None
    dropped: list[str] = field(default_factory=list)
    """Files that ALTER takes from it and that the text does not make."""
    place: tuple[int, int] = (1, 1)
    """Line and column of its name."""


class DiskData:
    """What statements about disk data say, one after the other."""

    def __init__(self) -> None:
        self.logfile_groups: dict[str, FileGroup] = {}
        self.tablespaces: dict[str, FileGroup] = {}
        self.altered: dict[tuple[Kind, str], FileGroup] = {}
        """What ALTER says of groups that the text does not make, by kind and name: the plan may have them."""
        self.dropped: dict[tuple[Kind, str], FileGroup] = {}
        """The same of DROP."""
        self.problems: list[tuple[int, str]] = []
        """Options that are not used, by offset."""
        self._owners: dict[str, FileGroup] = {}
        """Who has each file, by its name."""
        self._of_others: dict[str, str] = {}
        """Engines of tablespaces that are not NDB's, by name."""

    def groups(self) -> Iterator[FileGroup]:
        """All that statements speak of."""
        yield from self.logfile_groups.values()
        yield from self.tablespaces.values()
        yield from self.altered.values()
        yield from self.dropped.values()

    def placed(self, places: Places) -> None:
        """Give each of them line and column of its name."""
        for group in self.groups():
            group.place = places.of(group.offset)

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
        kind: Kind = "log file group" if is_group else "tablespace"
        engine = "InnoDB" if is_undo and not is_group else self._other_engine(stream.rest(), verb, kind, name)
        if engine:
            self._of_others[name] = engine
            what = f"{kind} {name[:40]} is one of {engine[:40]}, not of NDB; it is left out"
            raise Unreadable(word.start, what)
        if verb == "DROP":
            self._drop(kind, known, FileGroup(name, word.start))
            return
        if verb == "CREATE":
            made = FileGroup(name, word.start, anew=self.dropped.pop((kind, name), None) is not None)
            self._options(stream, made)
            if name in known:
                said = f"{kind} {name[:40]} is there already; SQL nodes refuse this one, planned with"
                self.problems.append((word.start, said))
            known[name] = made
            return
        if name not in known and (kind, name) in self.dropped:
            raise Unreadable(word.start, f"there is no {kind} '{name[:40]}' above; left out")
        group = known.get(name) or self.altered.setdefault((kind, name), FileGroup(name, word.start))
        self._options(stream, group)

    def _drop(self, kind: Kind, known: dict[str, FileGroup], group: FileGroup) -> None:
        made = known.pop(group.name, None)
        if made is not None:
            made.files = {}
        if made is None or made.anew:
            self.altered.pop((kind, group.name), None)
            self.dropped[kind, group.name] = group

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
        added: Word | None = None
        dropped: Word | None = None
        size: int | None = None
        while not stream.at_end():
            word = stream.next()
            if word.upper in ("UNDOFILE", "DATAFILE"):
                added = stream.next()
            elif word.upper == "DROP":
                stream.next()
                dropped = stream.next()
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
            elif word.upper not in ("ADD", ",") and (word.upper, stream.peek().upper) != _ENGINE:
                self.problems.append((word.start, f"{word.text[:40]} is not used; it is left out"))
                if word.upper in _UNUSED:
                    _skip_value(stream)
                elif word.upper == "RENAME":
                    stream.accept("TO")
                    stream.next()
        if added is not None:
            if added.text in group.files:
                raise Unreadable(added.start, f"{group.name[:40]} has a file '{added.text[:60]}' already")
            self._taken(added, group)
            group.files[added.text] = _USUAL_FILE_BYTES if size is None else size
        if dropped is not None and group.files.pop(dropped.text, None) is None:
            if any(group is made for made in (*self.logfile_groups.values(), *self.tablespaces.values())):
                said = f"{group.name[:40]} has no file '{dropped.text[:60]}'; left out"
                raise Unreadable(dropped.start, said)
            group.dropped.append(dropped.text)

    def _taken(self, file: Word, group: FileGroup) -> None:
        """Say of a file that another one has by that name: each node would write it twice."""
        other = self._owners.get(file.text)
        self._owners[file.text] = group
        if other is not None and other is not group and file.text in other.files:
            said = f"'{file.text[:60]}' is a file of {other.name[:40]} already; the server refuses it "
            self.problems.append((file.start, said + "(error 760, File already exists), planned with"))


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
        raise Unreadable(word.start, f"'{text[:40]}' is not a size; write for example 128M")
    size = int(match[1]) * _SUFFIXES[match[2].upper()]
    if size == 0:
        raise Unreadable(word.start, "a size of 0 is refused; write for example 128M")
    return size
