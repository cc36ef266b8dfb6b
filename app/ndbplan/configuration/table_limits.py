"""What a table as a whole may be: how many columns, keys and bytes a version takes.

for one in over_limits(table, plan.version):
    print(one.what, one.value, one.most, one.error)         # bytes of a row 36012 30000 738

Values are what the declared lengths allow, whatever the rows have: CREATE TABLE is refused for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ndbplan.base.units import format_count
from ndbplan.configuration.stored_types import stored_type
from ndbplan.ndb.columns import COLUMN_TYPES, Storage
from ndbplan.ndb.features import features
from ndbplan.ndb.rows import WORD_BYTES, words
from ndbplan.ndb.sql_versions import limits
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table

_HIDDEN_KEY_WORDS = 2
"""A BIGINT."""


class OverLimit(NamedTuple):
    """One limit that a table is over."""

    table: Table
    what: str
    value: int
    most: int
    error: int
    """What the CREATE TABLE fails with, of the server or of NDB."""
    key: str | None = None
    """The index it is about, empty for the primary key; None: the table."""
    columns: tuple[str, ...] = ()
    """Those that the limit counts."""

    @property
    def where(self) -> str:
        """The place in words."""
        return f"table {self.table.full_name}"

    @property
    def why(self) -> str:
        """In words: `it has 36 012 bytes in its longest row; at most 30 000 are taken (error 738)`."""
        whose = "it" if self.key is None else f"index {self.key}" if self.key else "the primary key"
        most = f"at most {format_count(self.most)} are taken (error {self.error})"
        return f"{whose} has {format_count(self.value)} {self.what}; {most}"


def over_limits(table: Table, version: NdbVersion) -> Iterator[OverLimit]:
    """The limits that a table is over, in the order in which a server looks at them."""
    known, most = features(version), limits()
    longest = max(len(name.encode()) for name in (table.name, table.database))
    if longest > known.name_bytes_most:
        yield OverLimit(table, "bytes in its name or its database's", longest, known.name_bytes_most, 1059)
    yield from _keys(table, version)
    names = tuple(column.name for column in table.columns)
    if len(names) > known.columns_most:
        yield OverLimit(table, "columns", len(names), known.columns_most, 708, columns=names)
    bits = {c.name: stored_type(c, version).bits for c in table.columns if c.type == "bit"}
    if sum(bits.values()) > most["bits"]:
        yield OverLimit(
            table, "bits in BIT columns", sum(bits.values()), most["bits"], 791, columns=tuple(bits)
        )
    what, row_bytes = "bytes in its longest row", row_words_most(table, version) * WORD_BYTES
    if row_bytes > most["row_bytes"] + _blob_bytes(table, version):
        yield OverLimit(table, what, row_bytes, most["row_bytes"], 1118, columns=names)
    elif row_bytes > (taken := known.row_words_most * WORD_BYTES):
        yield OverLimit(table, what, row_bytes, taken, 738, columns=names)
    yield from _deep(table, version)


def row_words_most(table: Table, version: NdbVersion) -> int:
    """Words of the longest row of a table: of each column as many as its declaration allows."""
    hidden = 0 if table.primary_key else _HIDDEN_KEY_WORDS
    return hidden + sum(_most_words(column, version) for column in table.columns)


def _blob_bytes(table: Table, version: NdbVersion) -> int:
    """What SQL nodes do not count."""
    blobs = (column for column in table.columns if COLUMN_TYPES[column.type].is_blob)
    return sum(_most_words(column, version) for column in blobs) * WORD_BYTES


def _most_words(column: Column, version: NdbVersion) -> int:
    kind = stored_type(column, version)
    if kind.storage is Storage.BITS:
        return words(-(-kind.bits // 8))
    # The length bytes of a blob are part of its head.
    return words(kind.max_bytes + (0 if kind.storage is Storage.BLOB else kind.length_bytes))


def _keys(table: Table, version: NdbVersion) -> Iterator[OverLimit]:
    most = limits()
    keys: Sequence[tuple[str, tuple[str, ...]]] = [(one.name, one.columns) for one in table.indexes]
    keys = [("", table.primary_key), *keys] if table.primary_key else keys
    if len(keys) > most["indexes"]:
        yield OverLimit(table, "keys and indexes", len(keys), most["indexes"], 1069)
    columns = {column.name: column for column in table.columns}
    for key, names in keys:
        if len(names) > most["key_columns"]:
            yield OverLimit(table, "columns", len(names), most["key_columns"], 1070, key, names)
        known = [columns[name] for name in names if name in columns]
        taken = sum(stored_type(c, version).max_bytes for c in known if not COLUMN_TYPES[c.type].is_blob)
        if taken > most["key_bytes"]:
            yield OverLimit(table, "bytes", taken, most["key_bytes"], 1071, key, names)


def _deep(table: Table, version: NdbVersion) -> Iterator[OverLimit]:
    """Columns of fixed width that would begin too far behind the start of their part of the row."""
    most = limits()["fixed_offset_bytes"]
    for storage in ("memory", "disk"):
        at_bytes = 0
        names: list[str] = []
        for column in table.columns:
            kind = stored_type(column, version)
            is_fixed = kind.storage is Storage.FIXED or (
                storage == "disk" and kind.storage is Storage.VARIABLE
            )
            if not is_fixed or column.storage != storage or column.column_format == "dynamic":
                continue
            names.append(column.name)
            if at_bytes > most:
                what = f"bytes of fixed width before column {column.name}"
                yield OverLimit(table, what, at_bytes, most, 851, columns=tuple(names))
                break
            at_bytes += words(kind.max_bytes + kind.length_bytes) * WORD_BYTES
