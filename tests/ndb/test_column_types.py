"""What each column type takes, holds and is called, frozen before the types had one table.

The file column_types.txt was written by the functions that knew the types until then. A line changes only
with a fact: name it in the commit.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from ndbplan.base.errors import UserError
from ndbplan.estimate.storage.key_values import most_values
from ndbplan.estimate.storage.placement import _hidden, table_shape
from ndbplan.estimate.storage.rows import blob_parts, stored_column
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.ndb_desc_tables import statements_of
from ndbplan.ndb.columns import COLUMN_TYPES, Declared
from ndbplan.ndb.features import features
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.consecutive import consecutive_hashes, fits
from ndbplan.ndb.keys.hash import column_bytes
from ndbplan.ndb.version import SERIES, NdbVersion
from ndbplan.plan.tables import Column, Table

FROZEN = Path(__file__).with_name("column_types.txt")

TYPES = (
    "tinyint", "smallint", "mediumint", "int", "bigint", "float", "double", "decimal", "bit", "date", "time",
    "datetime", "timestamp", "year", "char", "varchar", "binary", "varbinary", "tinyblob", "blob",
    "mediumblob", "longblob", "tinytext", "text", "mediumtext", "longtext", "json", "enum", "set", "geometry",
)  # fmt: skip
_BYTE_LENGTHS = (None, 0, 1, 2, 63, 64, 85, 86, 127, 128, 254, 255, 256, 257, 3072, 65535)
LENGTHS: dict[str, tuple[int | None, ...]] = {
    "char": _BYTE_LENGTHS,
    "varchar": _BYTE_LENGTHS,
    "binary": _BYTE_LENGTHS,
    "varbinary": _BYTE_LENGTHS,
    "bit": (None, 1, 7, 8, 9, 31, 32, 33, 63, 64),
    "time": (None, *range(7)),
    "datetime": (None, *range(7)),
    "timestamp": (None, *range(7)),
    "enum": (None, 1, 2, 254, 255, 256, 257, 65535),
    "set": (None, 1, 7, 8, 9, 16, 17, 24, 25, 32, 33, 63, 64),
    "decimal": (None, 1, 2, 3, 5, 8, 9, 10, 17, 18, 19, 30, 38, 64, 65),
}
SCALES = (None, 0, 1, 2, 4, 8, 9, 10, 18, 30)
VALUES: tuple[Any, ...] = (
    0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, 65535, 2**23 - 1, 2**23, 2**24 - 1, 2**24,
    2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64, 1901, 1900,
    2155, 2156, "2024", "1.5", "-0.05", "123456789.123456789", "1e3", "", "a", "b", "B", "a,b", "b,a,c", "é",
    "ß ", "abc", "a" * 64, "0x", "0x00", "0x0a5f", "0xff" * 2, "b'101'", "2012-12-31", "0000-00-00",
    "2012-12-31 01:02:03", "2012-12-31 01:02:03.5", "2012-12-31 01:02:03.000456", "1970-01-01 00:00:01",
    "2038-01-19 03:14:07", "2038-01-19 03:14:08", "9999-12-31 23:59:59", "00:00:00", "-00:00:01.5",
    "838:59:59", "839:00:00", "12:34:56.78", None,
)  # fmt: skip
KEY_DECLARATIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "decimal": (
        {},
        {"length": 1},
        {"length": 10, "scale": 2},
        {"length": 18, "scale": 9},
        {"length": 65, "scale": 30},
        {"length": 10, "scale": 2, "unsigned": True},
    ),
    "bit": ({}, {"length": 8}, {"length": 33}, {"length": 64}),
    "time": tuple({"length": n} for n in (None, 1, 3, 6)),
    "datetime": tuple({"length": n} for n in (None, 1, 3, 6)),
    "timestamp": tuple({"length": n} for n in (None, 1, 3, 6)),
    "char": tuple(
        {"length": n, "collation": c}
        for n in (None, 0, 1, 2, 64)
        for c in ("latin1_swedish_ci", "utf8mb4_bin", "utf8mb4_0900_ai_ci")
    ),
    "varchar": tuple(
        {"length": n, "collation": c}
        for n in (None, 0, 1, 2, 64, 256)
        for c in ("latin1_swedish_ci", "utf8mb4_bin", "utf8mb4_0900_ai_ci")
    ),
    "binary": tuple({"length": n} for n in (None, 1, 2, 255)),
    "varbinary": tuple({"length": n} for n in (1, 2, 255, 256)),
    "enum": ({"members": ("a", "b")}, {"length": 3}, {"length": 256}),
    "set": ({"members": ("a", "b", "c")}, {"length": 9}, {"length": 17}, {"length": 64}),
}
WORDS = (
    *TYPES, "int1", "int2", "int3", "int4", "int8", "bool", "boolean", "middleint", "integer", "serial",
    "float4", "float8", "real", "double precision", "dec", "numeric", "fixed", "character", "nchar",
    "nvarchar", "varcharacter", "long", "point", "linestring", "polygon", "multipoint", "multilinestring",
    "multipolygon", "geometrycollection", "geomcollection", "national char", "national varchar",
    "char varying", "character varying", "nchar varying", "national character varying", "vector", "uuid",
)  # fmt: skip
ATTRIBUTES = (
    "", "(0)", "(1)", "(24)", "(25)", "(255)", "(256)", "(65535)", "(65536)", "(16777215)", "(16777216)",
    "(10,2)", "('a','b')", " unsigned", " binary", " character set binary", " character set latin1", " ascii",
    " byte", " unicode",
    " comment 'NDB_COLUMN=MAX_BLOB_PART_SIZE'", " comment 'NDB_COLUMN=BLOB_INLINE_SIZE=100'",
)  # fmt: skip
API_TYPES = (
    "Tinyint", "Tinyunsigned", "Smallint", "Smallunsigned", "Mediumint", "Mediumunsigned", "Int", "Unsigned",
    "Bigint", "Bigunsigned", "Float", "Double", "Date", "Year", "Time", "Datetime", "Timestamp",
    "Decimal(10,2)", "Decimalunsigned(10,0)", "Olddecimal(5,1)", "Olddecimalunsigned(5,1)", "Binary(16)",
    "Varbinary(16)", "Longvarbinary(300)", "Bit(12)", "Time2(3)", "Datetime2(0)", "Timestamp2(6)",
    "Char(20;latin1_swedish_ci)", "Char(20;binary)", "Varchar(80;utf8mb4_0900_ai_ci)",
    "Longvarchar(1200;utf8mb4_bin)", "Varchar(7;binary)", "Blob(256,0,0)", "Blob(256,2000,0)",
    "Blob(256,4000,0)", "Blob(256,13948,0)", "Blob(4000,8100,0)", "Text(256,0;latin1_swedish_ci)",
    "Text(256,2000,0;utf8mb4_bin)", "Text(256,4000,0;utf8mb4_bin)", "Text(256,13948,0;utf8mb4_bin)",
)  # fmt: skip


def by_version(answer: Callable[[NdbVersion], object]) -> str:
    """The answers of all versions, equal neighbours as one: `6.3 … 7.2: 8; 7.3 … 9.x: 5`."""
    spans: list[list[str]] = []
    for series in SERIES:
        try:
            found = str(answer(NdbVersion.parse(series)))
        except (UserError, AssertionError) as error:
            found = f"refused, {type(error).__name__}"
        if spans and spans[-1][2] == found:
            spans[-1][1] = series
        else:
            spans.append([series, series, found])
    return "; ".join(f"{first} … {last}: {found}" for first, last, found in spans)


def _stored(kind: str, length: int | None, scale: int | None, char_bytes: int) -> str:
    def answer(version: NdbVersion) -> str:
        it = COLUMN_TYPES[kind].stored(Declared(length, scale, char_bytes), features(version))
        return (
            f"{it.storage} {it.max_bytes} length {it.length_bytes} bits {it.bits} "
            f"inline {it.inline_bytes} part {it.part_bytes}"
        )

    return by_version(answer)


def stored_lines() -> Iterator[str]:
    for kind in TYPES:
        for length in LENGTHS.get(kind, (None, 1, 300)):
            for scale in [s for s in SCALES if (s or 0) <= (length or 10)] if kind == "decimal" else [None]:
                for char_bytes in (1, 2, 3, 4) if kind in ("char", "varchar") else (1, 4):
                    yield (
                        f"stored {kind}({length},{scale}) x{char_bytes}: "
                        f"{_stored(kind, length, scale, char_bytes)}"
                    )


def key_lines() -> Iterator[str]:
    for kind in TYPES:
        declarations = KEY_DECLARATIONS.get(kind, ({}, {"unsigned": True}))
        for declared in declarations:
            column = KeyColumn("k", kind, **declared)
            yield f"key {kind} {declared}: bytes {by_version(column.byte_length)}"
            for value in VALUES:
                found = by_version(lambda v, c=column, x=value: _shown(column_bytes(c, x, v)))
                if found.count("refused") != found.count(";") + 1:
                    yield f"key {kind} {declared} {value!r}: {found}"


def _shown(data: bytes) -> str:
    """Hex digits; of many bytes the first, how many, and their checksum."""
    return data.hex() if len(data) <= 32 else f"{data[:8].hex()}… {len(data)} bytes {crc32(data):08x}"


def consecutive_lines() -> Iterator[str]:
    for kind in TYPES:
        for unsigned in (False, True):
            column = KeyColumn("k", kind, unsigned=unsigned)
            for first, count in (
                (0, 1), (0, 128), (0, 129), (0, 256), (0, 257), (-128, 256), (-129, 2), (0, 2**15), (-1, 3),
                (0, 2**16), (2**23 - 1, 1), (2**23, 1), (2**24, 1), (2**31, 1), (2**32, 1), (2**63, 1),
                (-(2**63), 1), (2**64, 1),
            ):  # fmt: skip
                held = fits(column, first, count)
                hashes = consecutive_hashes(column, first, min(count, 3)).tolist() if held else ""
                yield f"consecutive {kind} unsigned {unsigned} {first} {count}: {held} {hashes}"


def column_lines() -> Iterator[str]:
    for kind in TYPES:
        yield f"in order {kind}: {in_order(kind)}"
        for length in LENGTHS.get(kind, (None,)):
            if kind in ("char", "varchar", "binary", "varbinary") and length == 65535:
                continue
            if length is not None and length > COLUMN_TYPES[kind].most_length:
                # No plan has such a column.
                continue
            for unsigned in (False, True) if kind == "decimal" else (False,):
                column = Column(name="c", type=kind, length=length, unsigned=unsigned)
                yield f"values {kind}({length}) unsigned {unsigned}: {most_values(column)}"
            for average in (None, 0, 100, 300):
                column = Column(name="c", type=kind, length=length, average_bytes=average)
                yield f"mean {kind}({length}) of {average}: " + by_version(
                    lambda v, c=column: (
                        f"{stored_column(c, v).mean_bytes} {stored_column(c, v).length_is_assumed}"
                    )
                )
        key = Column(name="k", type="int", nullable=False)
        table = Table(
            id="t",
            database="d",
            name="t",
            columns=(key, Column(name="c", type=kind, average_bytes=1000)),
            primary_key=("k",),
        )
        yield f"parts {kind}: " + by_version(lambda v, t=table: _parts(t, v))


def _mean(column: Column, version: NdbVersion) -> str:
    it = stored_column(column, version)
    return f"{it.mean_bytes} {it.length_is_assumed}"


def _parts(table: Table, version: NdbVersion) -> str:
    parts = blob_parts(table, version)
    found = [(p.inline_bytes, p.part_bytes, p.parts_per_row, p.last_part_bytes) for p in parts]
    return f"{_hidden(table, table_shape(table), version)[0]} {found}"


def in_order(kind: str) -> tuple[bool, bool]:
    """Whether new values come in order, as the first column of a primary key and of another index."""
    arrives = COLUMN_TYPES[kind].arrives_in_order
    return arrives != "never", arrives == "always"


def ddl_lines() -> Iterator[str]:
    for word in WORDS:
        for attribute in ATTRIBUTES:
            name, _, after = word.partition(" ")
            declared = f"{name} {after}{attribute}" if after else f"{name}{attribute}"
            text = f"CREATE TABLE t (k INT PRIMARY KEY, c {declared}) ENGINE=NDB;"
            yield f"ddl {declared}: " + by_version(lambda v, t=text: _read(t, v))
    for declared in API_TYPES:
        text = (
            "-- t --\nVersion: 1\n-- Attributes --\n"
            f"k Int PRIMARY KEY DISTRIBUTION KEY AT=FIXED ST=MEMORY\nc {declared} NULL AT=FIXED ST=MEMORY\n"
        )
        yield f"ndb_desc {declared}: " + by_version(lambda v, t=text: _read(statements_of(t), v))


def _read(text: str, version: NdbVersion) -> str:
    found = read_ddl(text, version)
    columns = [c.model_dump(exclude_defaults=True) for t in found.tables for c in t.columns if c.name == "c"]
    indexes = [(i.name, i.kind) for t in found.tables for i in t.indexes]
    return f"{columns} {indexes or ''} {[str(p) for p in found.problems] if not columns else ''}".strip()


def lines() -> list[str]:
    """Every answer, one a line."""
    return [
        *stored_lines(), *key_lines(), *consecutive_lines(), *column_lines(), *ddl_lines()
    ]  # fmt: skip


@pytest.mark.parametrize("made", [stored_lines, key_lines, consecutive_lines, column_lines, ddl_lines])
def test_every_answer_is_as_before(made: Callable[[], Iterator[str]]) -> None:
    found = list(made())
    names = {line.partition(" ")[0] for line in found}
    expected = [
        line
        for line in FROZEN.read_text(encoding="utf-8").splitlines()
        if line.partition(" ")[0] in names or (line.startswith("in order") and "in" in names)
    ]
    changed = list(difflib.unified_diff(expected, found, "frozen", "now", lineterm="", n=0))
    assert not changed, "\n".join(changed[:40])
