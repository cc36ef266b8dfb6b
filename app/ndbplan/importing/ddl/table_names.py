"""Names of tables in statements about whole tables: RENAME TABLE, ALTER TABLE ... RENAME, DROP, TRUNCATE."""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.importing.ddl.known_tables import TableName
from ndbplan.importing.ddl.stream import Stream
from ndbplan.importing.ddl.tokens import Word


class NamedTable(NamedTuple):
    """A table that a statement names, and where."""

    table: TableName
    offset: int


def table_name(stream: Stream, database: str) -> NamedTable:
    """Take `name` or `database.name`; `database` for a name alone. Raises Unreadable."""
    word = stream.peek()
    name = stream.name("table name")
    if stream.accept("."):
        database, name = name, stream.name("table name")
    return NamedTable(TableName(database, name), word.start)


def renamed(tokens: list[Word], end: int, database: str) -> list[tuple[NamedTable, TableName]]:
    """What is renamed to what: TABLE a TO b, ... behind RENAME, or ALTER TABLE a RENAME b.

    Raises Unreadable.
    """
    stream = Stream(tokens, end)
    is_alter = stream.accept("ALTER")
    _ = stream.accept("TABLE") or stream.accept("TABLES")
    renames = list[tuple[NamedTable, TableName]]()
    while not renames or stream.accept(","):
        old = table_name(stream, database)
        if is_alter:
            stream.expect("RENAME")
            _ = stream.accept("TO") or stream.accept("AS") or stream.accept("=")
        else:
            stream.expect("TO")
        renames.append((old, table_name(stream, database).table))
    if not stream.at_end():
        raise stream.unreadable("the end")
    return renames


def named(tokens: list[Word], end: int, database: str) -> tuple[list[NamedTable], bool]:
    """The tables of DROP TABLE a, b or TRUNCATE a, and whether there must be such. Raises Unreadable."""
    stream = Stream(tokens, end)
    stream.next()
    _ = stream.accept("TABLE") or stream.accept("TABLES") or stream.accept("VIEW")
    expected = not stream.accept("IF")
    if not expected:
        stream.expect("EXISTS")
    names = [table_name(stream, database)]
    while stream.accept(","):
        names.append(table_name(stream, database))
    return names, expected


def bare(name: str) -> str:
    """A name without its backquotes."""
    return name[1:-1].replace("``", "`") if name.startswith("`") else name
