"""Tables from SQL: SHOW CREATE TABLE, mysqldump, several statements at once.

    found = read_ddl(text, version); found.tables, found.problems

What cannot be read is reported with its line and column, and the rest is kept. What counts: CREATE, RENAME,
TRUNCATE, DROP of tables, USE, CREATE DATABASE, SET ndb_table_no_logging, log file groups and tablespaces, and
ALTER TABLE and CREATE INDEX of tables that the text makes; the rest is named with its lines.
"""

from __future__ import annotations

import itertools
import sys
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from pydantic import ValidationError

from ndbplan.edits import validated
from ndbplan.edits.ids import NewIds
from ndbplan.edits.validated import EditError
from ndbplan.importing.ddl.alter_table import changes_of
from ndbplan.importing.ddl.create_table import (
    created_name,
    default_charset,
    if_missing,
    original_of,
    read_table,
    refused_clauses,
)
from ndbplan.importing.ddl.disk_data import DiskData
from ndbplan.importing.ddl.foreign_keys import ForeignKey, Renaming, with_names_now, with_parents
from ndbplan.importing.ddl.heads import (
    ALTER_DATABASE,
    CHANGE,
    CREATE_TABLE,
    DATABASE,
    DISK_DATA,
    DROP,
    DROP_DATABASE,
    DUMPED,
    EMPTY,
    HEAD_LETTERS,
    NO_LOGGING,
    NO_TABLE,
    RENAME,
)
from ndbplan.importing.ddl.known_tables import Fate, KnownTables, NamesOfDatabases, TableName
from ndbplan.importing.ddl.made import Made, TablespaceName
from ndbplan.importing.ddl.passed import VERB, what_is_passed
from ndbplan.importing.ddl.session import Session, session_after
from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.table_names import bare, named, renamed
from ndbplan.importing.ddl.tokens import (
    NEXT_TABLE,
    DdlProblem,
    Places,
    Word,
    open_quote,
    statements,
    unwrapped,
    words,
)
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import refusal
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.references import broken_part
from ndbplan.plan.tables import Table

_MOST_BROKEN = 100
_MOST_COPIED = 100_000
"""Words of tables that CREATE TABLE ... LIKE makes once more."""
_NO_SEMICOLON = "a semicolon is missing before this"


@dataclass(frozen=True)
class DdlResult:
    """Tables that were read, and what was not."""

    tables: tuple[Table, ...]
    problems: tuple[DdlProblem, ...]
    tablespaces: dict[str, TablespaceName]
    """The tablespace that a table asks for, by table id; the plan may not have it."""
    disk_data: DiskData
    """Log file groups and tablespaces that the text makes."""
    fates: tuple[Fate, ...]
    """What becomes of tables that the text does not make."""
    known: KnownTables

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it that a plan could take."""
        spoken_of = any(True for _ in self.disk_data.groups())
        return not (self.tables or self.fates or self.known.databases or spoken_of)


def read_ddl(
    text: str,
    version: NdbVersion,
    database: str = "test",
    cancelled: Callable[[], bool] = lambda: False,
) -> DdlResult:
    """Tables of an SQL text; `database` for those that name none.

    What was read so far when `cancelled()` turns true, asked before each statement.
    """
    dumped = DUMPED.search(text, 0, HEAD_LETTERS)
    if dumped is not None:
        database = dumped[1]
    text = unwrapped(text.removeprefix("\ufeff"))
    places = Places(text)
    reader = _Reader(version, database, cancelled)
    start: int | None = 0
    while start is not None:
        start = reader.read_from(text, start)
    reader.settle()
    reader.disk_data.placed(places)
    return DdlResult(
        tuple(with_parents(list(reader.by_id.values()), reader.foreign_keys)),
        _in_order(
            *(DdlProblem(*places.of(offset), message) for offset, message in reader.left_problems()),
            *(what_is_passed(verb, found, places) for verb, found in reader.passed.items()),
        ),
        {i: TablespaceName(word.text, *places.of(word.start)) for i, word in reader.tablespaces.items()},
        reader.disk_data,
        tuple(replace(fate, place=places.of(fate.offset)) for fate in reader.known.fates()),
        reader.known,
    )


def _in_order(*problems: DdlProblem) -> tuple[DdlProblem, ...]:
    return tuple(sorted(problems, key=lambda one: (one.line, one.column)))


class _Reader:
    """Reads the statements of a text one after the other."""

    def __init__(self, version: NdbVersion, database: str, cancelled: Callable[[], bool]) -> None:
        self._version = version
        self._database = database
        self._cancelled = cancelled
        self._charsets: dict[str, tuple[str | None, str | None]] = {}
        """CHARSET and COLLATE of databases."""
        self._new_ids = NewIds(EMPTY_PLAN)
        self._spans: dict[str, tuple[int, int]] = {}
        self._named: dict[TableName, list[str]] = {}
        """Ids of the tables of a name."""
        self._databases = NamesOfDatabases()
        self._dropped: list[tuple[int, int]] = []
        self._broken = 0
        self.by_id: dict[str, Table] = {}
        self.foreign_keys: dict[str, list[ForeignKey]] = {}
        self._renames: list[Renaming] = []
        self._copied = 0
        self.problems: list[tuple[int, str]] = []
        self.tablespaces: dict[str, Word] = {}
        self.disk_data = DiskData()
        self.known = KnownTables()
        self._session = Session()
        self._text, self._number = "", 0
        self._made: dict[str, Made] = {}
        """How each table is made, by its id."""
        self._altered: dict[str, TableName] = {}
        """Tables with changes that nobody has read yet, by id."""
        self._notes: dict[str, list[tuple[int, str]]] = {}
        """What is said of each table, by its id."""
        self.passed: dict[str, list[tuple[int, int]]] = {}
        """Statements that tell a plan nothing: their numbers and offsets, by what they do."""

    def read_from(self, text: str, start: int) -> int | None:
        """Read statements; where to go on after one that swallowed others by a quote that is not closed."""
        self._text = text
        for offset, statement in statements(text, start):
            if self._cancelled():
                return None
            self._number += 1
            head = CREATE_TABLE.match(statement)
            if head is None:
                self._other(offset, statement)
                continue
            quote = open_quote(statement)
            if quote is not None:
                self._broken += 1
                if self._broken > _MOST_BROKEN:
                    # For each of them what follows is looked through again.
                    self.problems.append(
                        (offset + quote, "so many quotes are not closed; the rest is left out")
                    )
                    return None
                before = NEXT_TABLE.search(statement, head.end(), quote)
                if before is None:
                    self.problems.append((offset + quote, "this quote is not closed"))
                    following = NEXT_TABLE.search(text, offset + quote)
                    return following.start() if following else None
                # Another table lies between, without a semicolon: that one is broken, not this.
                self.problems.append((offset + before.start(), _NO_SEMICOLON))
                self._read(offset, statement[: before.start()])
                return offset + before.start()
            self._read(offset, statement)
        return None

    def _read(self, offset: int, statement: str) -> None:
        self._read_words(offset, statement, self._tables)

    def _other(self, offset: int, statement: str) -> None:
        """Statements that are not CREATE TABLE but tell something about tables."""
        named, altered = DATABASE.match(statement), ALTER_DATABASE.match(statement)
        if named:
            self._database = bare(named[1])
        if named or altered:
            of = bare(altered[1]) if altered and altered[1] else self._database
            if "SET" in statement.upper() or "COLLATE" in statement.upper():
                with suppress(ValueError):
                    tokens = words(statement, offset)
                    self._charsets[of] = default_charset(Stream(tokens, offset + len(statement)))
            return
        dropped = DROP_DATABASE.match(statement)
        if dropped:
            of = bare(dropped[1])
            self._charsets.pop(of, None)
            for name in self._databases.of(of):
                self._forget(name)
            self.known.drop_database(of, offset)
            return
        rename = RENAME.match(statement)
        if rename:
            # The lexer takes what stands behind RENAME for one word.
            start = max(0, rename.end("verb"))
            self._read_words(offset + start, statement[start:], self._rename)
            return
        for pattern, read in (
            (DROP, self._drop), (EMPTY, self._empty), (DISK_DATA, self.disk_data.read),
            (NO_LOGGING, self._set),
        ):  # fmt: skip
            if pattern.match(statement):
                self._read_words(offset, statement, read)
                return
        if program := NO_TABLE.match(statement):
            what = f"{' '.join(program[1].upper().split())} makes no table of NDB; it is left out"
            self.problems.append((offset + program.start(1), what))
            return
        if CHANGE.match(statement):
            self._read_words(offset, statement, self._alter)
        elif passed := VERB.match(statement):
            verb = " ".join(passed[1].upper().split())
            self.passed.setdefault(verb, []).append((self._number, offset + passed.start(1)))

    def _alter(self, tokens: list[Word], end: int) -> None:
        """Let tables of the text take on what ALTER TABLE or CREATE INDEX says."""
        unread = list[tuple[int, str]]()
        (name, offset), found, new = changes_of(tokens, end, self._database, unread)
        ids = self._named.get(name)
        if not ids:
            what = f"{tokens[0].upper} {'TABLE' if tokens[0].upper == 'ALTER' else 'INDEX'}"
            said = f"{what} is not followed: there is no table {name} above; it is left out"
            raise Unreadable(offset, said)
        self.problems += unread
        for table_id in ids:
            if said := self._made[table_id].take(found):
                self.problems.append((offset, f"{name} {said}"))
            self._altered[table_id] = name
        if new is not None:
            self._renamed(name, offset, new)

    def settle(self) -> None:
        """Make altered tables anew: once behind many changes, as each reads the whole table."""
        places = itertools.count()
        for table_id, name in self._altered.items():
            made, told = self._made[table_id], len(self.problems)
            said = list[tuple[int, str]]()
            for change, behind in made.keep_most(partial(self._make, table_id, name, made), places):
                # What was said last is why the table cannot take this change.
                more = f", and the {behind} behind it" if behind else ""
                said.append((change.begins, f"{self.problems[-1][1]}; left out{more}"))
            self.problems[told:] = said
        self._altered.clear()
        self.foreign_keys = with_names_now(self.foreign_keys, self._renames)

    def _forget(self, name: TableName) -> bool:
        """Take out what the text makes under a name; whether there is anything."""
        known = self._named.pop(name, [])
        self._databases.discard(name)
        for table_id in known:
            del self.by_id[table_id], self._notes[table_id], self._made[table_id]
            self._altered.pop(table_id, None)
            self.tablespaces.pop(table_id, None)
            self._dropped.append(self._spans.pop(table_id))
        return bool(known)

    def _drop(self, tokens: list[Word], end: int) -> None:
        names, expected = named(tokens, end, self._database)
        for name, offset in names:
            # Dumps stand in for views with tables that they drop again.
            if self._forget(name) or tokens[1].upper == "VIEW":
                continue
            if not self.known.drop(name, offset, expected=expected):
                raise Unreadable(offset, f"there is no table {name} above; left out")

    def _rename(self, tokens: list[Word], end: int) -> None:
        for (old, offset), new in renamed(tokens, end, self._database):
            self._renamed(old, offset, new)

    def _renamed(self, old: TableName, offset: int, new: TableName) -> None:
        if new in self._named:
            raise Unreadable(offset, f"{old} cannot become {new}: there is one already; left out")
        ids = self._named.pop(old, None)
        if ids is None:
            if not self.known.rename(old, new, offset):
                raise Unreadable(offset, f"there is no table {old} above; left out")
            return
        self._named[new] = ids
        self._databases.discard(old)
        self._databases.add(new)
        for table_id in ids:
            table = self.by_id[table_id]
            self.by_id[table_id] = validated.changed(table, database=new.database, name=new.name)
            if table_id in self._altered:
                self._altered[table_id] = new
        self._renames.append(Renaming(offset, old, new))

    def _empty(self, tokens: list[Word], end: int) -> None:
        for name, offset in named(tokens, end, self._database)[0]:
            for table_id in self._named.get(name, ()):
                self.by_id[table_id] = validated.changed(self.by_id[table_id], rows=0, assumed=())
            if name not in self._named and not self.known.empty(name, offset):
                raise Unreadable(offset, f"there is no table {name} above; left out")

    def _set(self, tokens: list[Word], end: int) -> None:
        self._session = session_after(tokens, end, self._session)

    def _read_words(self, offset: int, statement: str, read: Callable[[list[Word], int], None]) -> None:
        """Let a reader of words have a statement; what it cannot read becomes a problem."""
        try:
            read(words(statement, offset), offset + len(statement))
        except Unreadable as error:
            self.problems.append((error.offset, error.what))
        except EditError as error:
            self.problems.append((offset, error.line))
        except ValueError as error:
            start = offset + len(statement) - len(statement.lstrip())
            self.problems.append((start, f"not readable: {error}"))

    def left_problems(self) -> list[tuple[int, str]]:
        """Problems in the order of the text, without those of tables that were dropped again."""
        dropped = sorted(self._dropped)
        left = []
        of_tables = [note for notes in self._notes.values() for note in notes]
        for offset, message in sorted([*self.problems, *of_tables, *self.disk_data.problems]):
            before = bisect_right(dropped, (offset, sys.maxsize)) - 1
            if before < 0 or offset > dropped[before][1]:
                left.append((offset, message))
        return left

    def _tables(self, tokens: list[Word], end: int) -> None:
        """The table of one statement, or of several that no semicolon parts."""
        starts = [
            i
            for i, (token, following) in enumerate(pairwise(tokens))
            if token.upper == "CREATE" and following.upper in ("TABLE", "TEMPORARY", "OR")
        ]
        for number, first in enumerate(starts):
            last = starts[number + 1] if number + 1 < len(starts) else len(tokens)
            if last < len(tokens):
                self.problems.append((tokens[last].start, _NO_SEMICOLON))
            self._table(tokens[first:last], tokens[last].start if last < len(tokens) else end)

    def _table(self, tokens: list[Word], end: int) -> None:
        start = tokens[0].start
        if "TEMPORARY" in [token.upper for token in tokens[1:4:2]]:
            self.problems.append((start, "NDB has no temporary tables; it is left out"))
            return
        stream = Stream(tokens, end)
        try:
            name = created_name(stream, self._database)
            original = original_of(stream, self._database)
        except Unreadable as error:
            self.problems.append((error.offset, error.what))
            return
        if name in self._named and if_missing(tokens):
            self.problems.append((start, f"{name} is there already, so IF NOT EXISTS makes none; left out"))
            return
        if tokens[1].upper == "OR":
            self.problems.append((start, "SQL nodes of NDB have no CREATE OR REPLACE TABLE; planned with"))
        elif name in self._named:
            self.problems.append((start, f"{name} is there already; SQL nodes refuse this one, planned with"))
        self.known.make(name)
        table_id = self._new_ids.of(Table)
        charset, logs = self._charsets.get(name.database, (None, None)), self._session.logs
        made: Made | None = Made(name, stream.rest(), start, end, logs, charset)
        if original is not None:
            made = self._copy(*original)
        if made is not None and self._make(table_id, name, made):
            if self._forget(name):
                self.problems.append((start, f"{name} is there already; this one takes its place"))
            self._made[table_id] = made
            self._named.setdefault(name, []).append(table_id)
            self._databases.add(name)
            self._spans[table_id] = (start, end)

    def _copy(self, original: TableName, offset: int) -> Made | None:
        """How a table is made that is like another one of the text: without its rows and foreign keys."""
        ids = self._named.get(original)
        if not ids:
            self.problems.append((offset, f"LIKE: there is no table {original} above; left out"))
            return None
        made = self._made[ids[-1]]
        self._copied += made.length
        if self._copied > _MOST_COPIED:
            self.problems.append((offset, "LIKE: so much has been copied by now; this table is left out"))
            return None
        return replace(made, logs=self._session.logs, changes=[*made.changes], is_copy=True)

    def _make(self, table_id: str, name: TableName, made: Made) -> bool:
        """Make a table, or make it anew after ALTER TABLE; False where it cannot be read."""
        notes = list[tuple[int, str]]()
        stream = Stream(made.words, made.end)
        try:
            parts = read_table(
                stream, self._version, made.name, notes, made.charset, made.start, self._text, made.changes
            )
        except Unreadable as error:
            self.problems += [*notes, (error.offset, error.what)]
            return False
        if not made.logs:
            # Rows on disk are logged whatever the session says.
            parts.options.setdefault("logging", parts.uses_disk)
        try:
            table = Table(id=table_id, **{**parts.fields(), "database": name.database, "name": name.name})
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            self.problems.append((made.start, f"table {parts.name}: {where}: {refusal(first)}"))
            return False
        if broken := next(broken_part(EMPTY_PLAN, table, ""), None):
            self.problems += [*notes, (made.start, f"table {parts.name}: {broken.what}; it is left out")]
            return False
        if made.is_copy:
            parts.foreign_keys, notes = [], []
            table = validated.changed(table, rows=0, assumed=tuple(n for n in table.assumed if n != "rows"))
        else:
            notes += refused_clauses(table, parts, self._version)
        self.by_id[table_id], self._notes[table_id] = table, notes
        self.foreign_keys[table_id] = [key for _, key in parts.foreign_keys]
        if parts.tablespace:
            self.tablespaces[table_id] = parts.tablespace
        return True
