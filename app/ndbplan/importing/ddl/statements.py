"""Tables from SQL: SHOW CREATE TABLE, mysqldump, several statements at once.

    found = read_ddl(text, version)
    found.tables, found.problems

What cannot be read is reported with its line and column, and the rest is kept. CREATE TABLE, USE,
CREATE DATABASE, DROP, SET ndb_table_no_logging, and CREATE, ALTER and DROP of log file groups and tablespaces
count; ALTER TABLE and CREATE INDEX are reported; the rest is passed over.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from pydantic import ValidationError

from ndbplan.edits.ids import NewIds
from ndbplan.importing.ddl.disk_data import DiskData
from ndbplan.importing.ddl.foreign_keys import ForeignKey, with_parents
from ndbplan.importing.ddl.session import logging_after
from ndbplan.importing.ddl.table_options import read_options
from ndbplan.importing.ddl.tokens import NEXT_TABLE, Places, Word, open_quote, statements, unwrapped, words
from ndbplan.importing.ddl.types import ColumnReader, Stream, TableParts, Unreadable
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import refusal
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.tables import Table

_MOST_BROKEN = 100
_NO_SEMICOLON = "a semicolon is missing before this"
_COMMENTS = r"\s*+(?:--[^\n]*\n\s*+|\#[^\n]*\n\s*+|/\*(?:[^*]|\*(?!/))*+\*/\s*+)*+"
_NAME = r"(?:`(?:[^`]|``)+`|[\w$]+)"
_CREATE_TABLE = re.compile(rf"{_COMMENTS}CREATE\s+(TEMPORARY\s+)?TABLE\b", re.I)
_DATABASE = re.compile(
    rf"{_COMMENTS}(?:USE|CREATE\s+(?:DATABASE|SCHEMA)(?:\s+IF\s+NOT\s+EXISTS)?)\s+({_NAME})", re.I
)
_ALTER_DATABASE = re.compile(
    rf"{_COMMENTS}ALTER\s+(?:DATABASE|SCHEMA)\s+(?:(?!(?:DEFAULT|CHARACTER|CHARSET|COLLATE)\b)({_NAME}))?",
    re.I,
)
_DUMPED = re.compile(r"^-- Host: [^\n]*?\bDatabase:[ \t]*(\S[^\n]*?)[ \t]*$", re.M)
"""The head of a dump of one database, which names it nowhere else; of several it names none."""
_HEAD_LETTERS = 4096
_DROP = re.compile(
    rf"{_COMMENTS}DROP\s+(?:TABLES?|VIEW)\s+(?:IF\s+EXISTS\s+)?({_NAME}(?:\s*+[.,]\s*+{_NAME})*)", re.I
)
_DROPPED_NAME = re.compile(rf"({_NAME})(?:\s*+\.\s*+({_NAME}))?")
_DROP_DATABASE = re.compile(rf"{_COMMENTS}DROP\s+(?:DATABASE|SCHEMA)\s+(?:IF\s+EXISTS\s+)?({_NAME})", re.I)
_DISK_DATA = re.compile(
    rf"{_COMMENTS}(?:CREATE|ALTER|DROP)\s+(?:UNDO\s+)?(?:LOGFILE\s+GROUP|TABLESPACE)\b", re.I
)
_NO_LOGGING = re.compile(rf"{_COMMENTS}SET\b.*?\bndb_table_no_logging\b", re.I | re.S)
_NO_TABLE = re.compile(
    rf"{_COMMENTS}CREATE\s++(?:(?:OR\s++REPLACE|ALGORITHM\s*+=\s*+\w++|DEFINER\s*+=\s*+\S++"
    r"|SQL\s++SECURITY\s++\w++|AGGREGATE)\s++)*+(VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT)\b",
    re.I,
)
"""Views and programs: dumps put who defines them in front."""
_CHANGE = re.compile(
    rf"{_COMMENTS}(ALTER\s+TABLE|RENAME\s+TABLES?|TRUNCATE|CREATE\s+(?:UNIQUE\s+)?INDEX)\s(?!.*\b(?:DISABLE|ENABLE)\s+KEYS\s*$)",
    re.I | re.S,
)


@dataclass(frozen=True, slots=True)
class DdlProblem:
    """Something that could not be read, or that NDB has no equal for."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


class TablespaceName(NamedTuple):
    """A tablespace that a table asks for, with the place of its name."""

    name: str
    line: int
    column: int


@dataclass(frozen=True)
class DdlResult:
    """Tables that were read, and what was not."""

    tables: tuple[Table, ...]
    problems: tuple[DdlProblem, ...]
    tablespaces: dict[str, TablespaceName] = field(default_factory=dict)
    """The tablespace that a table asks for, by table id; the plan may not have it."""
    disk_data: DiskData = field(default_factory=DiskData)
    """Log file groups and tablespaces that the text makes."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing in it that a plan could take."""
        return not (self.tables or any(True for _ in self.disk_data.groups()))


def read_ddl(
    text: str,
    version: NdbVersion,
    database: str = "test",
    cancelled: Callable[[], bool] = lambda: False,
) -> DdlResult:
    """Tables of an SQL text; `database` for those that name none.

    What was read so far when `cancelled()` turns true, asked before each statement.
    """
    dumped = _DUMPED.search(text, 0, _HEAD_LETTERS)
    if dumped is not None:
        database = dumped[1]
    text = unwrapped(text.removeprefix("\ufeff"))
    places = Places(text)
    reader = _Reader(version, database, cancelled)
    start: int | None = 0
    while start is not None:
        start = reader.read_from(text, start)
    for group in reader.disk_data.groups():
        group.place = places.of(group.offset)
    return DdlResult(
        tuple(with_parents(list(reader.by_id.values()), reader.foreign_keys)),
        tuple(DdlProblem(*places.of(offset), message) for offset, message in reader.left_problems()),
        {i: TablespaceName(word.text, *places.of(word.start)) for i, word in reader.tablespaces.items()},
        reader.disk_data,
    )


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
        self._named: dict[tuple[str, str], list[str]] = {}
        """Ids of the tables of a database and name."""
        self._dropped: list[tuple[int, int]] = []
        self._broken = 0
        self.by_id: dict[str, Table] = {}
        self.foreign_keys: dict[str, list[ForeignKey]] = {}
        self.problems: list[tuple[int, str]] = []
        self.tablespaces: dict[str, Word] = {}
        self.disk_data = DiskData()
        self._logging = True

    def read_from(self, text: str, start: int) -> int | None:
        """Read statements; where to go on after one that swallowed others by a quote that is not closed."""
        for offset, statement in statements(text, start):
            if self._cancelled():
                return None
            head = _CREATE_TABLE.match(statement)
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
        named, altered = _DATABASE.match(statement), _ALTER_DATABASE.match(statement)
        if named:
            self._database = _bare(named[1])
        if named or altered:
            of = _bare(altered[1]) if altered and altered[1] else self._database
            if "SET" in statement.upper() or "COLLATE" in statement.upper():
                with suppress(ValueError):
                    tokens = words(statement, offset)
                    self._charsets[of] = _default_charset(Stream(tokens, offset + len(statement)))
            return
        dropped = _DROP.match(statement)
        if dropped:
            # Dumps stand in for views with tables that they drop again.
            for name in _DROPPED_NAME.finditer(dropped[1]):
                of = _bare(name[1]) if name[2] else self._database
                self._drop(of, _bare(name[2] or name[1]))
            return
        dropped = _DROP_DATABASE.match(statement)
        if dropped:
            of = _bare(dropped[1])
            self._charsets.pop(of, None)
            for database, table in list(self._named):
                if database == of:
                    self._drop(database, table)
            return
        if _DISK_DATA.match(statement):
            self._read_words(offset, statement, self.disk_data.read)
            return
        if _NO_LOGGING.match(statement):
            self._read_words(offset, statement, self._set)
            return
        program = _NO_TABLE.match(statement)
        if program:
            what = f"{' '.join(program[1].upper().split())} makes no table of NDB; it is left out"
            self.problems.append((offset + program.start(1), what))
            return
        change = _CHANGE.match(statement)
        if change:
            what = " ".join(change[1].upper().split())
            self.problems.append((offset + change.start(1), f"{what} is not followed; it is left out"))

    def _drop(self, database: str, name: str) -> None:
        for table_id in self._named.pop((database, name), ()):
            del self.by_id[table_id]
            self.tablespaces.pop(table_id, None)
            self._dropped.append(self._spans.pop(table_id))

    def _set(self, tokens: list[Word], end: int) -> None:
        self._logging = logging_after(tokens, end, self._logging)

    def _read_words(self, offset: int, statement: str, read: Callable[[list[Word], int], None]) -> None:
        """Let a reader of words have a statement; what it cannot read becomes a problem."""
        try:
            read(words(statement, offset), offset + len(statement))
        except Unreadable as error:
            self.problems.append((error.offset, error.what))
        except ValueError as error:
            start = offset + len(statement) - len(statement.lstrip())
            self.problems.append((start, f"not readable: {error}"))

    def left_problems(self) -> list[tuple[int, str]]:
        """Problems in the order of the text, without those of tables that were dropped again."""
        dropped = sorted(self._dropped)
        left = []
        for offset, message in sorted([*self.problems, *self.disk_data.problems]):
            before = bisect_right(dropped, (offset, sys.maxsize)) - 1
            if before < 0 or offset > dropped[before][1]:
                left.append((offset, message))
        return left

    def _tables(self, tokens: list[Word], end: int) -> None:
        """The table of one statement, or of several that no semicolon parts."""
        starts = [
            i
            for i, (token, following) in enumerate(pairwise(tokens))
            if token.upper == "CREATE" and following.upper in ("TABLE", "TEMPORARY")
        ]
        for number, first in enumerate(starts):
            last = starts[number + 1] if number + 1 < len(starts) else len(tokens)
            if last < len(tokens):
                self.problems.append((tokens[last].start, _NO_SEMICOLON))
            self._table(tokens[first:last], tokens[last].start if last < len(tokens) else end)

    def _table(self, tokens: list[Word], end: int) -> None:
        start = tokens[0].start
        if tokens[1].upper == "TEMPORARY":
            self.problems.append((start, "NDB has no temporary tables; it is left out"))
            return
        try:
            parts = _read_table(
                Stream(tokens, end), self._version, self._database, self.problems, self._charsets
            )
        except Unreadable as error:
            self.problems.append((error.offset, error.what))
            return
        if not self._logging:
            parts.options["logging"] = False
        try:
            table = Table(id=self._new_ids.of(Table), **parts.fields())
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(step) for step in first["loc"])
            self.problems.append((start, f"table {parts.name}: {where}: {refusal(first)}"))
            return
        self.by_id[table.id] = table
        self._named.setdefault((table.database, table.name), []).append(table.id)
        self.foreign_keys[table.id] = [key for _, key in parts.foreign_keys]
        self._spans[table.id] = (start, end)
        if parts.tablespace:
            self.tablespaces[table.id] = parts.tablespace


def _bare(name: str) -> str:
    """A name without its backquotes."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name


def _read_table(
    stream: Stream,
    version: NdbVersion,
    database: str,
    problems: list[tuple[int, str]],
    charsets: Mapping[str, tuple[str | None, str | None]],
) -> TableParts:
    start = stream.peek().start
    stream.expect("CREATE")
    stream.expect("TABLE")
    if stream.accept("IF"):
        stream.expect("NOT")
        stream.expect("EXISTS")
    name = stream.name("table name")
    if stream.accept("."):
        database, name = name, stream.name("table name")
    parts = TableParts(database, name, start, problems=problems)
    if not stream.accept("("):
        raise stream.unreadable("a list of columns in parentheses")
    reader = ColumnReader(version)
    options = stream.behind_parenthesis()
    charset, collation = _default_charset(options)
    if charset is None and collation is None:
        charset, collation = charsets.get(database, (None, None))
    reader.table_charset, reader.table_collation = charset, collation
    for item in stream.items():
        try:
            _read_item(item, reader, parts)
        except Unreadable as error:
            parts.problems.append((error.offset, error.what))
    read_options(options, parts)
    if parts.options.get("partition_balance") == "FOR_RP_BY_LDM":
        # A balance that is asked for wins over MAX_ROWS, the default one too (ha_ndbcluster::create).
        parts.options.pop("max_rows", None)
    reader.finish(parts)
    return parts


def _default_charset(options: Stream) -> tuple[str | None, str | None]:
    """CHARSET and COLLATE of a table or database, which columns need before the rest of the options."""
    charset = collation = None
    tokens = options.rest()
    for i, token in enumerate(tokens):
        value = next((t for t in tokens[i + 1 : i + 4] if t.upper not in ("=", "SET")), None)
        if value is None:
            continue
        is_set = token.upper == "CHARACTER" and tokens[i + 1].upper == "SET"
        if token.upper == "CHARSET" or is_set:
            charset = value.text.lower()
        elif token.upper == "COLLATE":
            collation = value.text.lower()
    return charset, collation


def _read_item(item: Stream, reader: ColumnReader, parts: TableParts) -> None:
    constraint = None
    if item.accept("CONSTRAINT") and item.peek().upper not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        constraint = item.name("constraint name")
    first = item.peek()
    if item.accept("PRIMARY"):
        item.expect("KEY")
        hashed, columns = _key(item, parts.problems)
        parts.primary_key = columns
        parts.primary_key_using_hash = hashed
    elif item.accept("UNIQUE"):
        _ = item.accept("KEY") or item.accept("INDEX")
        name = _index_name(item) or constraint
        hashed, columns = _key(item)
        parts.add_index(name, columns, "unique_hash" if hashed else "unique")
        _index_options(item, parts)
    elif first.kind == "word" and first.upper in ("KEY", "INDEX"):
        item.next()
        name = _index_name(item)
        _, columns = _key(item)
        parts.add_index(name, columns, "ordered")
        _index_options(item, parts)
    elif first.kind == "word" and first.upper in ("FULLTEXT", "SPATIAL"):
        parts.problems.append((first.start, f"NDB has no {first.upper} index; it is left out"))
    elif item.accept("FOREIGN"):
        item.expect("KEY")
        name = _index_name(item) or constraint
        _, columns = _key(item)
        key = _references(item, parts.database, columns)
        parts.foreign_keys.append((name, key))
        what = f"FOREIGN KEY to {key.table}" if key.table else "FOREIGN KEY"
        parts.problems.append(
            (first.start, f"{what}: planned as its index; looking for the row it names is not counted")
        )
    elif first.kind == "word" and first.upper == "CHECK":
        parts.problems.append((first.start, "CHECK is looked at by SQL nodes; it is not counted"))
    else:
        reader.read(item, parts)


def _index_options(item: Stream, parts: TableParts) -> None:
    """What stands behind the columns of an index is for people and other engines."""
    while not item.at_end():
        word = item.next()
        item.accept("=")
        if word.upper in ("COMMENT", "KEY_BLOCK_SIZE", "WITH"):
            item.next()
            parts.problems.append((word.start, f"{word.upper} of an index changes nothing; it is left out"))


def _references(item: Stream, database: str, columns: tuple[str, ...]) -> ForeignKey:
    """What a foreign key refers to; no table when that cannot be read, which makes it an index only."""
    if not item.accept("REFERENCES") or item.at_end():
        return ForeignKey(columns, database, "", ())
    table = item.name("table name")
    if item.accept("."):
        database, table = table, item.name("table name")
    referenced = _key(item)[1] if item.peek().upper == "(" else ()
    return ForeignKey(columns, database, table, referenced)


def _index_name(item: Stream) -> str | None:
    if item.peek().upper in ("(", "USING", ""):
        return item.next().text if item.peek().kind == "name" else None
    return item.next().text


def _key(item: Stream, prefixes: list[tuple[int, str]] | None = None) -> tuple[bool, tuple[str, ...]]:
    """Whether USING HASH, and the columns of a key; lengths and directions are passed over.

    `prefixes` gets a problem for each column of which only the first characters are in the key.
    """
    hashed = _using_hash(item)
    item.expect("(")
    columns = []
    for part in item.items():
        if part.peek().upper == "(":
            raise part.unreadable("a column (NDB has no index on an expression)")
        columns.append(part.name("column"))
        if prefixes is not None and part.peek().upper == "(":
            prefixes.append((part.peek().start, "NDB has no keys on a part of a column; taken whole"))
    return _using_hash(item) or hashed, tuple(columns)


def _using_hash(item: Stream) -> bool:
    if item.accept("USING"):
        return item.next().upper == "HASH"
    return False
