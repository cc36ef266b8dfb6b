"""How NDB stores rows: bytes of each column type, words of a record, rows of a page.

Sources: `Dbtup::computeTableMetaData`, `tuppage.hpp`, `Dbtup.hpp` (Tuple_header, Var_part_ref, Disk_part_ref)
and `create_ndb_column` of the SQL layer, corrected by byte counts read from running clusters (tests/reality).
A word is 4 bytes, a page 32768 bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion

PAGE_BYTES = 32768
WORD_BYTES = 4
"""Rows, log records and pages are counted in words (NDB source, Uint32)."""
FIXED_PAGE_WORDS = 8160
"""Words of a page that hold records: 8192 less a header of 32."""
VARIABLE_PAGE_WORDS = 8159
"""The same in a page of variable parts, less one word of its index."""
VARIABLE_PAGE_CLOSED_WORDS = 200
"""A page of variable parts with fewer free words takes no more rows (measured)."""

HEADER_WORDS = 2
CHECKSUM_WORDS = 1
GCI_WORDS = 1
VARIABLE_REFERENCE_WORDS = 2
DISK_REFERENCE_WORDS = 2

DYNAMIC_BITMAP_LENGTH_BITS = 8
"""Bits of the bitmap of a dynamic part that hold its length (DYN_BM_LEN_BITS)."""
MOST_DYNAMIC_FIXED_WORDS = 16
"""A dynamic column of fixed size with more words is stored like a variable one (InternalMaxDynFix)."""

BLOB_HEAD_BYTES = 16
"""Head of a BLOB value in its row, the 2 length bytes included (blobs of version 2, 7.0 and later)."""
BLOB_HEAD_BYTES_V1 = 8


class Storage(StrEnum):
    """Where and how a column's value is kept."""

    FIXED = "fixed"
    BITS = "bits"
    """In the null-bit words of the record."""
    VARIABLE = "variable"
    BLOB = "blob"
    """Head and first bytes in the row, the rest in rows of a parts table."""


@dataclass(frozen=True, slots=True)
class StoredType:
    """What one column type takes in NDB."""

    storage: Storage
    max_bytes: int
    """Bytes of a fixed value; most data bytes of a variable one; bytes a blob may have in its row."""
    length_bytes: int = 0
    """Length bytes stored in front of a variable value."""
    bits: int = 0
    inline_bytes: int = 0
    """Bytes of a blob kept in the row itself."""
    part_bytes: int = 0
    """Bytes of one row of the parts table; 0: the type has no parts."""


_INTEGER_BYTES = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "year": 1}
_DECIMAL_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Bytes of 0..9 decimal digits (strings/decimal.c, dig2bytes)."""
_TEMPORAL_BYTES = {"time": 3, "datetime": 5, "timestamp": 4}
_BLOB_KIND = {
    "tinyblob": 0, "tinytext": 0, "blob": 1, "text": 1, "mediumblob": 2, "mediumtext": 2,
    "longblob": 3, "longtext": 3, "geometry": 3, "json": 4,
}  # fmt: skip
BLOB_TYPES = frozenset(_BLOB_KIND)


def decimal_bytes(precision: int, scale: int) -> int:
    """Bytes of DECIMAL(precision, scale): nine digits in four bytes, rests in 1 to 4 (decimal_bin_size)."""
    whole, fraction = precision - scale, scale
    return (whole // 9 + fraction // 9) * 4 + _DECIMAL_BYTES[whole % 9] + _DECIMAL_BYTES[fraction % 9]


def temporal_bytes(type_name: str, fraction_digits: int, version: NdbVersion) -> int:
    """Bytes of TIME, DATETIME, TIMESTAMP; up to 7.2 (MySQL 5.5) 3, 8 and 4 bytes without fractions."""
    if not features(version).fractional_seconds:
        return {"time": 3, "datetime": 8, "timestamp": 4}[type_name]
    return _TEMPORAL_BYTES[type_name] + (fraction_digits + 1) // 2


def enum_bytes(members: int) -> int:
    """Bytes of an ENUM."""
    return 1 if members < 256 else 2


def set_bytes(members: int) -> int:
    """Bytes of a SET: 1, 2, 3, 4 or 8."""
    count = max(1, (members + 7) // 8)
    return count if count <= 4 else 8


def blob_sizes(type_name: str, version: NdbVersion) -> tuple[int, int]:
    """(inline bytes, part bytes) of a BLOB, TEXT or JSON type; part 0: no parts table.

    The largest part was 8000 bytes until 7.1 (rows of 8052 bytes), then 13948 (rows of 14000 bytes).
    """
    kind = _BLOB_KIND[type_name]
    if kind == 4:
        return 4000, 8100
    return 256, (0, 2000, 4000, features(version).blob_part_bytes_most)[kind]


def stored_type(
    type_name: str,
    length: int | None,
    scale: int | None,
    max_char_bytes: int,
    version: NdbVersion,
) -> StoredType:
    """What a column of this declared type takes. KeyError for a type NDB does not know."""
    if type_name in _INTEGER_BYTES:
        return StoredType(Storage.FIXED, _INTEGER_BYTES[type_name])
    if type_name in ("char", "binary"):
        count = (1 if length is None else length) * (max_char_bytes if type_name == "char" else 1)
        # CHAR(0) becomes a one-bit column.
        return StoredType(Storage.FIXED, count) if count else StoredType(Storage.BITS, 0, bits=1)
    if type_name in ("varchar", "varbinary"):
        count = (255 if length is None else length) * (max_char_bytes if type_name == "varchar" else 1)
        return StoredType(Storage.VARIABLE, count, length_bytes=1 if count < 256 else 2)
    if type_name in _TEMPORAL_BYTES:
        return StoredType(Storage.FIXED, temporal_bytes(type_name, length or 0, version))
    if type_name in _BLOB_KIND:
        inline, part = blob_sizes(type_name, version)
        if not features(version).blob_parts_by_length:
            return StoredType(Storage.BLOB, BLOB_HEAD_BYTES_V1 + inline, inline_bytes=inline, part_bytes=part)
        return StoredType(
            Storage.BLOB, BLOB_HEAD_BYTES + inline, length_bytes=2, inline_bytes=inline, part_bytes=part
        )
    if type_name == "decimal":
        return StoredType(Storage.FIXED, decimal_bytes(10 if length is None else length, scale or 0))
    if type_name == "bit":
        return StoredType(Storage.BITS, ((length or 1) + 7) // 8, bits=length or 1)
    fixed = {
        "float": 4, "double": 8, "date": 3, "enum": enum_bytes(length or 1), "set": set_bytes(length or 1),
    }  # fmt: skip
    return StoredType(Storage.FIXED, fixed[type_name])


def words(byte_count: int) -> int:
    """Whole words that hold so many bytes."""
    return (byte_count + 3) // 4


def mean_words(mean_bytes: float) -> float:
    """Words of a value of this mean length: exact when all values have one whole length, else in between."""
    below = math.floor(mean_bytes)
    share = mean_bytes - below
    return words(below) if share == 0 else words(below) * (1 - share) + words(below + 1) * share


def fixed_words(
    column_words: int, null_bits: int, *, has_variable_reference: bool, has_disk_part: bool
) -> int:
    """W_fix: words of the fixed part of a record, its columns' words and null bits given."""
    return (
        HEADER_WORDS
        + CHECKSUM_WORDS
        + GCI_WORDS
        + (DISK_REFERENCE_WORDS if has_disk_part else 0)
        + (VARIABLE_REFERENCE_WORDS if has_variable_reference else 0)
        + (null_bits + 31) // 32
        + column_words
    )


def disk_words(column_words: int, null_bits: int) -> int:
    """W_disk: words of the disk part of a record; variable columns count with their full declared size."""
    return HEADER_WORDS + GCI_WORDS + (null_bits + 31) // 32 + column_words


def variable_bytes(variable_columns: int, value_bytes: float) -> float:
    """Bytes of the static variable part: an offset of 2 bytes per column and one more, then the values."""
    return 2 * (variable_columns + 1) + value_bytes


class DynamicValue(NamedTuple):
    """One dynamic column in a record."""

    bits: int
    """Bits it takes in the bitmap of the dynamic part."""
    is_variable: bool
    """Stored with an offset; else in whole words behind the variable values."""
    mean_bytes: float
    present: float
    """Share of the records where it is not NULL."""


def dynamic_value(kind: StoredType, mean_bytes: float, present: float) -> DynamicValue:
    """How a dynamic column is stored: a fixed one takes a bit for each word, a long one counts as variable.

    Source: `Dbtup::execTUP_ADD_ATTRREQ`.
    """
    if kind.storage is Storage.BITS:
        return DynamicValue(kind.bits + 1, is_variable=False, mean_bytes=0.0, present=present)
    if kind.storage is not Storage.FIXED and kind.length_bytes:
        return DynamicValue(1, is_variable=True, mean_bytes=mean_bytes, present=present)
    count = words(kind.max_bytes)
    if count > MOST_DYNAMIC_FIXED_WORDS:
        return DynamicValue(1, is_variable=True, mean_bytes=kind.max_bytes, present=present)
    return DynamicValue(count, is_variable=False, mean_bytes=4 * count, present=present)


def dynamic_words(values: Sequence[DynamicValue]) -> float:
    """Mean words that dynamic columns, in the order of the table, add to the variable part of a record.

    A bitmap without its last words where no bit is set, an offset for each variable value and one more, the
    variable values, the others; nothing when all are NULL. Source: `shrink_dyn_part` (DbtupExecQuery.cpp).
    """
    bit = DYNAMIC_BITMAP_LENGTH_BITS
    # Chance that no column with bits in this or a later word of the bitmap is there.
    absent = [1.0] * ((bit + sum(value.bits for value in values) + 31) // 32)
    for value in values:
        bit += value.bits
        for word in range((bit - 1) // 32 + 1):
            absent[word] *= 1.0 - value.present
    variable = fixed = 0.0
    for value in values:
        if value.is_variable:
            variable += value.present * (2 + value.mean_bytes)
        else:
            fixed += value.present * value.mean_bytes / 4
    return sum(1.0 - chance for chance in absent) + mean_words(2 * (1.0 - absent[0]) + variable) + fixed


def rows_per_fixed_page(record_words: int) -> int:
    """Records of so many words in one page."""
    return FIXED_PAGE_WORDS // record_words


def rows_per_variable_page(variable_words: float) -> int:
    """Variable parts of so many words in one page; each takes an index word more."""
    size = variable_words + 1
    fitting = int(VARIABLE_PAGE_WORDS // size)
    until_closed = int((VARIABLE_PAGE_WORDS - VARIABLE_PAGE_CLOSED_WORDS) // size) + 1
    return max(1, min(fitting, until_closed))


def pages(rows: int, rows_per_page: int) -> int:
    """Pages that hold so many rows."""
    return -(-rows // rows_per_page) if rows_per_page else 0
