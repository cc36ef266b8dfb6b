"""CREATE TABLE: its columns, keys and options, as the words of one statement."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ndbplan.configuration.refused_tables import impossible_in, in_keys, unknown_in
from ndbplan.configuration.table_limits import over_limits
from ndbplan.importing.ddl.alter_table import Change
from ndbplan.importing.ddl.character_sets import Stated, TableCharset
from ndbplan.importing.ddl.foreign_keys import ForeignKey
from ndbplan.importing.ddl.known_tables import TableName
from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.table_names import NamedTable, table_name
from ndbplan.importing.ddl.table_options import read_options
from ndbplan.importing.ddl.tokens import Word
from ndbplan.importing.ddl.types import ColumnReader, TableParts
from ndbplan.ndb.columns import COLUMN_TYPES, Storage
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table


def created_name(stream: Stream, database: str) -> TableName:
    """The name in front of the columns; the stream stands behind it. Raises Unreadable."""
    stream.expect("CREATE")
    if stream.accept("OR"):
        stream.expect("REPLACE")
    stream.expect("TABLE")
    if stream.accept("IF"):
        stream.expect("NOT")
        stream.expect("EXISTS")
    return table_name(stream, database).table


def if_missing(tokens: list[Word]) -> bool:
    """Whether the statement says IF NOT EXISTS."""
    return tokens[2].upper == "IF"


def original_of(stream: Stream, database: str) -> NamedTable | None:
    """The table that one is made LIKE; None: it has columns of its own. Raises Unreadable."""
    first = stream.peek()
    if first.upper == "(" and stream.peek(1).upper == "LIKE":
        stream.next()
    return table_name(stream, database) if stream.accept("LIKE") else None


def read_table(
    stream: Stream,
    version: NdbVersion,
    name: TableName,
    problems: list[tuple[int, str]],
    of_database: Stated,
    start: int,
    source: str,
    changes: Iterable[Change] = (),
) -> TableParts:
    """What stands behind the name of a table; `start`: offset of its statement in the text `source`.

    `changes`: what ALTER TABLE does to it afterwards. Raises Unreadable.
    """
    parts = TableParts(name.database, name.name, start, problems=problems, source=source)
    if not stream.accept("("):
        raise stream.unreadable("a list of columns in parentheses")
    charset = TableCharset(version, of_database)
    reader = ColumnReader(version, charset)
    options = stream.behind_parenthesis()
    charset.take(default_charset(options))
    for item in stream.items():
        try:
            _read_item(item, reader, parts)
        except Unreadable as error:
            parts.problems.append((error.offset, error.what))
    read_options(options, parts)
    for change in changes:
        try:
            _apply(change, reader, parts)
        except Unreadable as error:
            parts.problems.append((error.offset, error.what))
    if parts.options.get("partition_balance") == "FOR_RP_BY_LDM":
        # A balance that is asked for wins over MAX_ROWS, the default one too (ha_ndbcluster::create).
        parts.options.pop("max_rows", None)
    reader.finish(parts)
    return parts


def refused_clauses(table: Table, parts: TableParts, version: NdbVersion) -> list[tuple[int, str]]:
    """What SQL nodes of a version refuse of a table that was read, with its offsets."""
    refused = [
        (parts.place_of(column.name), f"column {column.name}: {why}; SQL nodes refuse it")
        for column in table.columns
        for why in unknown_in(column, version)
    ]
    for column in table.columns:
        kind = COLUMN_TYPES[column.type]
        if column.length is None and kind.storage is Storage.VARIABLE:
            said = f"column {column.name}: {column.type.upper()} without a length; SQL nodes refuse it"
            refused.append((parts.place_of(column.name), f"{said}, planned with {kind.default_length}"))
    for over in over_limits(table, version):
        place = parts.place_of(over.columns[-1]) if over.columns else 0
        refused.append((place, f"{over.where}: {over.why}; SQL nodes refuse it"))
    for one in (*in_keys(table), *impossible_in(table, version)):
        if one.key is None:
            place = parts.place_of(one.column.name)
            whose = one.where if one.is_table else f"column {one.column.name}"
            refused.append((place, f"{whose}: {one.why}; SQL nodes refuse it"))
            continue
        key = f"KEY {one.key}" if one.key else "PRIMARY KEY"
        place = parts.places.get(key, parts.place_of(one.column.name))
        refused.append((place, f"{key}: {one.why}; SQL nodes refuse it"))
    return refused


def _apply(change: Change, reader: ColumnReader, parts: TableParts) -> None:
    """Follow one clause of ALTER TABLE. Raises Unreadable."""
    stream = Stream(change.words, change.end)
    if change.kind == "convert":
        reader.charset.take(default_charset(stream))
        for column in parts.columns:
            reader.charset.convert(column)
    elif change.kind == "options":
        stated = default_charset(stream)
        if any(stated):
            reader.charset.take(stated)
        if change.words[0].upper == "PARTITION" and "KEY" in (word.upper for word in change.words[2:4]):
            _forget_partitions(parts)
        read_options(stream, parts)
    elif change.kind == "one partition":
        _forget_partitions(parts)
    elif change.kind == "default":
        column = _column(change, parts)
        column.pop("default", None)
        if stream.accept("SET"):
            word = stream.next()
            if not stream.accept("NULL"):
                reader.value(stream, column, parts, word, "default")
    elif change.kind == "add":
        many = len(parts.columns)
        _read_item(stream, reader, parts)
        if len(parts.columns) > many:
            _move(change, parts.columns[-1], parts)
    elif change.kind in ("drop", "rename"):
        if not _drop_or_rename(change, parts):
            what = change.what.lower() if change.column else "primary key"
            said = f"there is no {what} {change.column[:40]}".rstrip()
            raise Unreadable(change.begins, f"{said}; it is left out")
    else:
        before = _column(change, parts)
        place = parts.columns.index(before)
        del parts.columns[place]
        reader.read(stream, parts)
        now = parts.columns.pop()
        parts.columns.insert(place, now)
        parts.rename(before["name"], now["name"])
        _move(change, now, parts)


def _move(change: Change, column: dict[str, Any], parts: TableParts) -> None:
    """Put a column where FIRST or AFTER says. Raises Unreadable where there is no such column."""
    if change.behind is None:
        return
    others = [one for one in parts.columns if one is not column]
    names = [one["name"].casefold() for one in others]
    if change.behind and change.behind.casefold() not in names:
        said = f"no column {change.behind[:40]} to stand behind; the order is left out"
        raise Unreadable(change.begins, said)
    place = names.index(change.behind.casefold()) + 1 if change.behind else 0
    parts.columns[:] = [*others[:place], column, *others[place:]]


def _column(change: Change, parts: TableParts) -> dict[str, Any]:
    """The column that a change is about, as its definition was read. Raises Unreadable."""
    old = change.column.casefold()
    found = next((column for column in parts.columns if column["name"].casefold() == old), None)
    if found is None:
        raise Unreadable(change.begins, f"there is no column {change.column[:40]}; it is left out")
    return found


def _forget_partitions(parts: TableParts) -> None:
    parts.distribution_key = ()
    parts.options.pop("partitions", None)


def _drop_or_rename(change: Change, parts: TableParts) -> bool:
    """Follow DROP or RENAME; whether there was anything of that name."""
    name = change.column.casefold()
    if change.what == "PRIMARY":
        gone, parts.primary_key, parts.primary_key_using_hash = parts.primary_key, (), False
        names = {one.casefold() for one in gone}
        for each in parts.columns:
            # What was in the key stays NOT NULL.
            each["nullable"] = each["nullable"] and each["name"].casefold() not in names
        return bool(gone)
    if change.what == "INDEX":
        place = next((i for i, one in enumerate(parts.indexes) if one.name.casefold() == name), None)
        if place is None:
            return False
        index = parts.indexes.pop(place)
        if change.kind == "rename":
            parts.indexes.insert(place, index.model_copy(update={"name": change.to}))
        return True
    column = next((one for one in parts.columns if one["name"].casefold() == name), None)
    if column is None:
        return False
    if change.kind == "rename":
        parts.rename(column["name"], change.to)
        column["name"] = change.to
        return True
    parts.columns.remove(column)
    parts.primary_key = _others(parts.primary_key, name)
    left = (one.model_copy(update={"columns": _others(one.columns, name)}) for one in parts.indexes)
    parts.indexes = [index for index in left if index.columns]
    return True


def _others(columns: tuple[str, ...], name: str) -> tuple[str, ...]:
    """A key without a column that is dropped, which leaves the rest of it."""
    return tuple(column for column in columns if column.casefold() != name)


def default_charset(options: Stream) -> Stated:
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


def _placed(parts: TableParts, wanted: str | None, offset: int) -> None:
    """Keep where the last index stands, which may not have got the name that it was to have."""
    name = parts.indexes[-1].name
    parts.places[f"KEY {name}"] = offset
    if wanted is not None and name != wanted:
        parts.problems.append((offset, f"KEY {wanted[:64]} is there twice; SQL nodes refuse it"))


def _read_item(item: Stream, reader: ColumnReader, parts: TableParts) -> None:
    constraint, whole = None, item.peek().start
    if item.accept("CONSTRAINT") and item.peek().upper not in ("PRIMARY", "UNIQUE", "FOREIGN", "CHECK"):
        constraint = item.name("constraint name")
    first = item.peek()
    if item.accept("PRIMARY"):
        item.expect("KEY")
        hashed, columns = _key(item, parts.problems)
        parts.set_primary_key(columns, first.start, hashed=hashed)
        _index_options(item, parts)
    elif item.accept("UNIQUE"):
        _ = item.accept("KEY") or item.accept("INDEX")
        name = _index_name(item) or constraint
        hashed, columns = _key(item, parts.problems)
        parts.add_index(name, columns, "unique_hash" if hashed else "unique")
        _placed(parts, name, first.start)
        _index_options(item, parts)
    elif first.kind == "word" and first.upper in ("KEY", "INDEX"):
        item.next()
        name = _index_name(item)
        _, columns = _key(item, parts.problems)
        parts.add_index(name, columns, "ordered")
        _placed(parts, name, first.start)
        _index_options(item, parts)
    elif first.kind == "word" and first.upper in ("FULLTEXT", "SPATIAL"):
        what = f"NDB has no {first.upper} index; it is left out"
        parts.lose(first.start, what, parts.text(first.start, item.end))
    elif item.accept("FOREIGN"):
        item.expect("KEY")
        index = _index_name(item)
        name = constraint or index
        _, columns = _key(item)
        key = _references(item, parts.database, columns)
        parts.foreign_keys.append((name, key))
        what = f"FOREIGN KEY to {key.table}" if key.table else "FOREIGN KEY"
        said = f"{what}: planned as its index; looking for the row it names is not counted"
        parts.lose(first.start, said, parts.text(whole, item.end))
    elif first.kind == "word" and first.upper == "CHECK":
        said = "CHECK is looked at by SQL nodes; it is not counted"
        parts.lose(first.start, said, parts.text(first.start, item.end))
    else:
        reader.read(item, parts)


def _index_options(item: Stream, parts: TableParts) -> None:
    """What stands behind the columns of an index is for people and other engines."""
    while not item.at_end():
        word = item.next()
        item.accept("=")
        if word.upper in ("VISIBLE", "USING", "BTREE", "HASH"):
            continue
        if word.upper != "INVISIBLE" and not item.at_end():
            item.next()
        parts.lose(word.start, f"{word.text.upper()[:40]} of an index changes nothing; it is left out")


def _references(item: Stream, database: str, columns: tuple[str, ...]) -> ForeignKey:
    """What a foreign key refers to; no table when that cannot be read, which makes it an index only."""
    if not item.accept("REFERENCES") or item.at_end():
        return ForeignKey(columns, database, "", ())
    offset, table = item.peek().start, item.name("table name")
    if item.accept("."):
        database, table = table, item.name("table name")
    referenced = _key(item)[1] if item.peek().upper == "(" else ()
    return ForeignKey(columns, database, table, referenced, offset)


def _index_name(item: Stream) -> str | None:
    if item.peek().upper in ("(", "USING", ""):
        return item.next().text if item.peek().kind == "name" else None
    return item.next().text


def _key(item: Stream, problems: list[tuple[int, str]] | None = None) -> tuple[bool, tuple[str, ...]]:
    """Whether USING HASH, and the columns of a key; `problems` gets what is not used of them."""
    hashed = _using_hash(item)
    item.expect("(")
    columns = []
    for part in item.items():
        if part.peek().upper == "(":
            raise part.unreadable("a column (NDB has no index on an expression)")
        columns.append(part.name("column"))
        if problems is not None and part.peek().upper == "(":
            problems.append((part.peek().start, "NDB has no keys on a part of a column; taken whole"))
        part.skip_parenthesis()
        if problems is not None and part.peek().upper == "DESC":
            problems.append((part.next().start, "DESC in an index changes nothing; it is left out"))
        elif part.peek().upper == "ASC":
            part.next()
        if problems is not None and not part.at_end():
            problems.append((part.start, f"{part.peek().text[:40]} in a key is not used; it is left out"))
    return _using_hash(item) or hashed, tuple(columns)


def _using_hash(item: Stream) -> bool:
    if item.accept("USING"):
        return item.next().upper == "HASH"
    return False
