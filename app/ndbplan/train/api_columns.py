"""Columns as the NDB API tells them: in ndb_desc and in ndbinfo.dictionary_columns.

    for one in columns_of(table, version): ...     # ApiColumn("c", "Varchar(240;utf8mb4_0900_ai_ci)", ...)

Lengths of texts are bytes. Types and order of what is said: recorded [8.4.8, 7.4.10], and printed by
operator<< of NdbDictionary.cpp of mysql/mysql-server; columns of parts of blobs: NdbBlob.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.estimate.storage.rows import stored_column
from ndbplan.ndb.charsets import default_collation, max_char_bytes
from ndbplan.ndb.columns import COLUMN_TYPES, Length, Storage, StoredType
from ndbplan.ndb.features import features
from ndbplan.ndb.rows import WORD_BYTES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table

HIDDEN_KEY = "$PK"
_HIDDEN_KEY_BYTES, _BLOB_HEAD_BYTES = 8, 16
_SHORT_MOST = 255
_BINARY = "binary"
"""Character set of what has none of its own."""


class ApiColumn(NamedTuple):
    """One column."""

    name: str
    type: str
    array: str
    """`FIXED`, `SHORT_VAR` or `MEDIUM_VAR`."""
    nullable: bool = False
    storage: str = "MEMORY"
    in_key: bool = False
    in_distribution: bool = False
    dynamic: bool = False
    auto_increment: bool = False
    default: str = ""
    parts: str = ""
    """Of a blob: name of the table of its parts."""

    def line(self) -> str:
        """As ndb_desc prints it."""
        flags = ["PRIMARY KEY"] if self.in_key else ["NULL" if self.nullable else "NOT NULL"]
        flags += ["DISTRIBUTION KEY"] * self.in_distribution
        flags += [f"AT={self.array}", f"ST={self.storage}"] + ["AUTO_INCR"] * self.auto_increment
        flags += [f"BV=2 BT={self.parts}"] * bool(self.parts) + ["DYNAMIC"] * self.dynamic
        flags += [f"DEFAULT {self.default}"] * bool(self.default)
        return " ".join([self.name, self.type, *flags])


def columns_of(table: Table, version: NdbVersion, number: int) -> Iterator[ApiColumn]:
    """The columns of a table with this number, its hidden key last."""
    keys = set(table.primary_key)
    spread = set(table.distribution_key or table.primary_key)
    for place, column in enumerate(table.columns):
        stored = stored_column(column, version).type
        kind = COLUMN_TYPES[column.type]
        parts = f"NDB$BLOB_{number}_{place}" if stored.part_bytes else "<none>"
        yield ApiColumn(
            column.name, _type(column, stored, version), array_of(_api_name(column, stored, version)),
            column.nullable and column.name not in keys, column.storage.upper(), column.name in keys,
            column.name in spread, column.column_format == "dynamic", column.auto_increment,
            _default(column), parts if kind.is_blob else "",
        )  # fmt: skip
    if not keys:
        yield ApiColumn(
            HIDDEN_KEY, "Bigunsigned", "FIXED", in_key=True, in_distribution=True, auto_increment=True
        )


def columns_of_parts(table: Table, column: Column, version: NdbVersion, number: int) -> Iterator[ApiColumn]:
    """Those of the hidden table of a column: the key of the table, the part, and its bytes."""
    for one in columns_of(table, version, number):
        if one.in_key:
            yield one._replace(auto_increment=False)
    # Parts of a row lie with it.
    yield ApiColumn("NDB$PART", "Unsigned", "FIXED", in_key=True)
    yield ApiColumn("NDB$PKID", "Unsigned", "FIXED")
    size, is_text = stored_column(column, version).type.part_bytes, _is_text_blob(column)
    names = ("Char", "Longvarchar") if is_text else ("Binary", "Longvarbinary")
    name = names[column.storage == "memory"]
    behind = f"({size};{_BINARY})" if is_text else f"({size})"
    yield ApiColumn("NDB$DATA", f"{name}{behind}", array_of(name), storage=column.storage.upper())


def row_bytes(table: Table, version: NdbVersion) -> int:
    """What the API says of the length of a row: each column at its longest, in whole words [8.4.8]."""
    sizes = [_row_bytes(stored_column(one, version).type) for one in table.columns]
    return sum(sizes) + (0 if table.primary_key else _HIDDEN_KEY_BYTES)


def part_row_bytes(table: Table, column: Column, version: NdbVersion) -> int:
    """The same of a part of a blob."""
    keys = [one for one in table.columns if one.name in table.primary_key]
    own = sum(_row_bytes(stored_column(one, version).type) for one in keys) or _HIDDEN_KEY_BYTES
    size = stored_column(column, version).type.part_bytes + (2 if column.storage == "memory" else 0)
    return own + 2 * WORD_BYTES + _words(size)


def _row_bytes(stored: StoredType) -> int:
    if stored.storage is Storage.BITS:
        return -(-stored.bits // 32) * WORD_BYTES
    if stored.storage is Storage.BLOB:
        return _words(stored.inline_bytes + _BLOB_HEAD_BYTES)
    return _words(stored.length_bytes + stored.max_bytes)


def _words(size: int) -> int:
    return -(-size // WORD_BYTES) * WORD_BYTES


def balance_of(table: Table) -> str:
    """The PartitionBalance of a table; one with PARTITIONS n has none of its own [8.4.8]."""
    return "SPECIFIC" if table.partitions else table.partition_balance.value


def told(name: str, kind: str, flags: str) -> ApiColumn:
    """A column of a system table; `flags`: `P` in the key, `D` in the distribution key, `N` may be NULL."""
    parts = "NDB$BLOB_4_3" if kind.startswith("Blob") else ""
    return ApiColumn(
        name, kind, array_of(kind.partition("(")[0]), "N" in flags, "MEMORY", "P" in flags, "D" in flags,
        parts=parts,
    )  # fmt: skip


def array_of(name: str) -> str:
    """How the length of a type of the API is kept; `name`: without its length."""
    if name.startswith("Longvar") or name in ("Blob", "Text"):
        return "MEDIUM_VAR"
    return "SHORT_VAR" if name.startswith("Var") else "FIXED"


def _is_text_blob(column: Column) -> bool:
    return COLUMN_TYPES[column.type].is_blob and COLUMN_TYPES[column.type].is_text


def _collation(column: Column, version: NdbVersion) -> str:
    return column.collation or default_collation(version)


def _bytes(column: Column, stored: StoredType, version: NdbVersion) -> int:
    """What a text or binary column may hold."""
    kind = COLUMN_TYPES[column.type]
    if kind.length is Length.MEMBERS:
        return stored.max_bytes
    length = column.length if column.length is not None else kind.default_length or 0
    return length * (max_char_bytes(_collation(column, version)) if kind.is_text else 1)


def _api_name(column: Column, stored: StoredType, version: NdbVersion) -> str:
    kind = COLUMN_TYPES[column.type]
    if kind.is_blob:
        return "Text" if _is_text_blob(column) else "Blob"
    if kind.length is Length.MEMBERS:
        return "Char"
    if kind.length is Length.FRACTION_DIGITS:
        return kind.api_names[features(version).fractional_seconds]
    if column.type in ("varchar", "varbinary"):
        return kind.api_names[_bytes(column, stored, version) > _SHORT_MOST]
    wanted = [one for one in kind.api_names if one.lower().endswith("unsigned") is column.unsigned]
    return (wanted or list(kind.api_names))[0]


def _type(column: Column, stored: StoredType, version: NdbVersion) -> str:
    name, kind = _api_name(column, stored, version), COLUMN_TYPES[column.type]
    if kind.is_blob:
        inside = f"{stored.inline_bytes},{stored.part_bytes},0"
        return f"{name}({inside};{_collation(column, version)})" if name == "Text" else f"{name}({inside})"
    if kind.length is Length.DIGITS:
        length = column.length if column.length is not None else kind.default_length
        return f"{name}({length},{column.scale or 0})"
    if kind.length is Length.FRACTION_DIGITS:
        return f"{name}({column.length or 0})" if name.endswith("2") else name
    if kind.length is Length.BITS:
        return f"{name}({column.length or kind.default_length})"
    if kind.length is Length.MEMBERS:
        return f"{name}({_bytes(column, stored, version)};{_BINARY})"
    if kind.length in (Length.CHARACTERS, Length.BYTES):
        behind = f";{_collation(column, version)}" if kind.is_text else ""
        return f"{name}({_bytes(column, stored, version)}{behind})"
    return name


def _default(column: Column) -> str:
    """What stands behind DEFAULT; functions of the server are not kept by NDB."""
    said = column.default
    if said is None or "(" in said or said.upper().startswith("CURRENT"):
        return ""
    if said[:1] == "'":
        return '"' + said[1:-1].replace("''", "'") + '"'
    return said
