"""Column types: one row for each type that a column can have, with all that depends on its type.

    COLUMN_TYPES["varchar"].stored(Declared(length=64, char_bytes=4), features(version)).length_bytes    # 2

A new column type is one row of COLUMN_TYPES, and an encoder in `ndb.keys` if it can be in a key.

Sources: `create_ndb_column` of the SQL layer for the forms in which NDB stores a type, corrected by byte
counts read from running clusters (tests/reality). The reference manual, data types, for names, lengths and
ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Literal, NamedTuple

from ndbplan.ndb.features import Features

BLOB_HEAD_BYTES = 16
"""Head of a BLOB value in its row, the 2 length bytes included (blobs of version 2, 7.0 and later)."""
BLOB_HEAD_BYTES_V1 = 8
DECIMAL_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Bytes of 0..9 decimal digits (strings/decimal.c, dig2bytes)."""
_DAYS = 10_000 * 13 * 32
"""Dates there are: any day and month of a year, zero included."""


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
    is_aligned: bool = False
    """Whether it begins at a whole word where the values of a row are packed: numbers of 4 and 8 bytes."""


class Length(StrEnum):
    """What the number behind a type's name counts."""

    NOTHING = "nothing"
    """It has none, or one that changes nothing in what is stored: INT(11)."""
    CHARACTERS = "characters"
    BYTES = "bytes"
    BITS = "bits"
    DIGITS = "digits"
    """With a scale: DECIMAL(10,2)."""
    FRACTION_DIGITS = "fraction digits"
    MEMBERS = "members"
    """It has names instead, and the length is how many: ENUM('a','b')."""
    MOST_BYTES = "most bytes"
    """It chooses the smallest type that holds so many bytes: BLOB(300)."""


_MOST_LENGTH = {
    Length.CHARACTERS: 65535, Length.BYTES: 65535, Length.MEMBERS: 65535,
    Length.BITS: 64, Length.DIGITS: 65, Length.FRACTION_DIGITS: 6,
}  # fmt: skip


class KeyEncoding(StrEnum):
    """How the values of a type are written before they are hashed: an encoder of `ndb.keys.values` each."""

    INTEGER = "integer"
    YEAR = "year"
    FLOAT = "float"
    DOUBLE = "double"
    DECIMAL = "decimal"
    BIT = "bit"
    DATE = "date"
    TIME = "time"
    DATETIME = "datetime"
    TIMESTAMP = "timestamp"
    CHAR = "char"
    VARCHAR = "varchar"
    BINARY = "binary"
    VARBINARY = "varbinary"
    ENUM = "enum"
    SET = "set"

    @property
    def is_text(self) -> bool:
        """Whether values are weighed by the column's collation."""
        return self in (KeyEncoding.CHAR, KeyEncoding.VARCHAR)


class Declared(NamedTuple):
    """What a column states behind the name of its type."""

    length: int | None = None
    """In the unit of the type; None: the type's default. Of ENUM and SET the number of members."""
    scale: int | None = None
    char_bytes: int = 1
    """Most bytes of a character in the column's character set; counts where the length is in characters."""
    unsigned: bool = False


@dataclass(frozen=True, slots=True)
class ColumnType:
    """One type of column: everything that depends on the type."""

    name: str
    ddl_names: tuple[str, ...]
    """Other names of it in SQL, in small letters."""
    storage: Storage
    length: Length
    form: Callable[[Declared, Features], StoredType]
    """What a column takes, its length filled in: ask `stored`."""
    key: KeyEncoding | None
    """None: NDB takes no such column into a key."""
    arrives_in_order: Literal["never", "as_primary_key", "always"] = "never"
    """Where new values usually are the highest so far: fills the nodes of an ordered index.

    as_primary_key: numbers that count the rows. always: moments, in any index.
    """
    default_length: int | None = None
    """Length where the column states none; None: not known, or there is none."""
    api_names: tuple[str, ...] = ()
    """Its names in the NDB API, as ndb_desc prints them; those ending in `unsigned` are unsigned."""
    integer_bytes: int = 0
    """Bytes of a whole number; 0: its values are none."""
    count_values: Callable[[Declared], int | None] = lambda _declared: None
    """How many different values a column has, its length filled in: ask `values`."""
    is_text: bool = False
    """It has a character set and a collation."""
    as_binary: str | None = None
    """The type that a column of the character set `binary` becomes."""
    most_bytes: int = 2**32 - 1
    """Longest value of a BLOB or TEXT."""
    has_parts: bool = False
    """Values that are too long for the row lie in a parts table."""
    parts_grow: bool = False
    """MAX_BLOB_PART_SIZE of a column's comment gives it the largest parts."""

    @property
    def is_blob(self) -> bool:
        """Whether it is a BLOB, TEXT, JSON or GEOMETRY."""
        return self.storage is Storage.BLOB

    @property
    def is_number(self) -> bool:
        """Whether it may be UNSIGNED."""
        return self.integer_bytes > 0 or self.name in ("float", "double", "decimal")

    @property
    def most_length(self) -> int:
        """Highest length that can be declared; CHAR(256), which becomes a TEXT, too. Source: the manual."""
        return 64 if self.name == "set" else _MOST_LENGTH.get(self.length, 2**32 - 1)

    def stored(self, declared: Declared, features: Features) -> StoredType:
        """What a column of this type takes."""
        return self.form(self._filled(declared), features)

    def values(self, declared: Declared) -> int | None:
        """How many different values a column has; None: so many that it bounds nothing.

        Source: the manual, storage requirements and value ranges of data types.
        """
        return self.count_values(self._filled(declared))

    def _filled(self, declared: Declared) -> Declared:
        length = self.default_length if declared.length is None else declared.length
        char_bytes = declared.char_bytes if self.length is Length.CHARACTERS else 1
        return declared._replace(length=length, char_bytes=char_bytes)


def decimal_bytes(precision: int, scale: int) -> int:
    """Bytes of DECIMAL(precision, scale): nine digits in four bytes, rests in 1 to 4 (decimal_bin_size)."""
    whole, fraction = precision - scale, scale
    return (whole // 9 + fraction // 9) * 4 + DECIMAL_BYTES[whole % 9] + DECIMAL_BYTES[fraction % 9]


def enum_bytes(members: int) -> int:
    """Bytes of an ENUM."""
    return 1 if members < 256 else 2


def set_bytes(members: int) -> int:
    """Bytes of a SET: 1, 2, 3, 4 or 8."""
    count = max(1, (members + 7) // 8)
    return count if count <= 4 else 8


def _fixed(count: int, *, is_aligned: bool = False) -> Callable[[Declared, Features], StoredType]:
    stored = StoredType(Storage.FIXED, count, is_aligned=is_aligned)
    return lambda _declared, _features: stored


def _padded(declared: Declared, _features: Features) -> StoredType:
    """CHAR and BINARY. CHAR(0) becomes a one-bit column."""
    count = (declared.length or 0) * declared.char_bytes
    return StoredType(Storage.FIXED, count) if count else StoredType(Storage.BITS, 0, bits=1)


def _variable(declared: Declared, _features: Features) -> StoredType:
    """VARCHAR and VARBINARY."""
    count = (declared.length or 0) * declared.char_bytes
    return StoredType(Storage.VARIABLE, count, length_bytes=1 if count < 256 else 2)


def _decimal(declared: Declared, _features: Features) -> StoredType:
    return StoredType(Storage.FIXED, decimal_bytes(declared.length or 0, declared.scale or 0))


def _bit(declared: Declared, _features: Features) -> StoredType:
    bits = declared.length or 1
    return StoredType(Storage.BITS, (bits + 7) // 8, bits=bits)


def _enum(declared: Declared, _features: Features) -> StoredType:
    return StoredType(Storage.FIXED, enum_bytes(declared.length or 1))


def _set(declared: Declared, _features: Features) -> StoredType:
    return StoredType(Storage.FIXED, set_bytes(declared.length or 1))


def _temporal(count: int, old_count: int) -> Callable[[Declared, Features], StoredType]:
    """TIME, DATETIME, TIMESTAMP: of `old_count` bytes without fractions of a second (up to MySQL 5.5)."""

    def stored(declared: Declared, features: Features) -> StoredType:
        if not features.fractional_seconds:
            return StoredType(Storage.FIXED, old_count)
        return StoredType(Storage.FIXED, count + ((declared.length or 0) + 1) // 2)

    return stored


def _blob_of(inline: int, part: int | None) -> Callable[[Declared, Features], StoredType]:
    """A BLOB, TEXT or JSON: bytes in the row and of a part; part 0: no parts table, None: the largest part.

    The largest part was 8000 bytes until 7.1 (rows of 8052 bytes), then 13948 (rows of 14000 bytes).
    """

    def stored(_declared: Declared, features: Features) -> StoredType:
        by_length = features.blob_parts_by_length
        return StoredType(
            Storage.BLOB,
            (BLOB_HEAD_BYTES if by_length else BLOB_HEAD_BYTES_V1) + inline,
            length_bytes=2 if by_length else 0,
            inline_bytes=inline,
            part_bytes=features.blob_part_bytes_most if part is None else part,
        )

    return stored


def _members(declared: Declared) -> int | None:
    # The empty string of a faulty value counts too, as number 0.
    return declared.length + 1 if declared.length else None


def _decimal_values(declared: Declared) -> int:
    digits = int(10 ** min(65, declared.length or 0))
    return digits if declared.unsigned else 2 * digits - 1


def _integer(name: str, ddl_names: tuple[str, ...], count: int, *api_names: str) -> ColumnType:
    return ColumnType(
        name, ddl_names, Storage.FIXED, Length.NOTHING, _fixed(count, is_aligned=count >= 4),
        KeyEncoding.INTEGER,
        arrives_in_order="as_primary_key", api_names=api_names, integer_bytes=count,
        count_values=lambda _declared: 1 << 8 * count,
    )  # fmt: skip


def _blob(
    name: str,
    ddl_names: tuple[str, ...] = (),
    *,
    inline: int = 256,
    part: int | None,
    most_bytes: int = 2**32 - 1,
    as_binary: str | None = None,
    length: Length = Length.NOTHING,
    parts_grow: bool = True,
) -> ColumnType:
    return ColumnType(
        name, ddl_names, Storage.BLOB, length, _blob_of(inline, part), None,
        is_text=as_binary is not None, as_binary=as_binary, most_bytes=most_bytes,
        has_parts=part != 0, parts_grow=parts_grow and part != 0,
    )  # fmt: skip


_text = partial(ColumnType, is_text=True)
_moment = partial(ColumnType, arrives_in_order="always", default_length=0)
_GEOMETRIES = (
    "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection",
    "geomcollection",
)  # fmt: skip

_ALL: tuple[ColumnType, ...] = (
    _integer("tinyint", ("int1", "bool", "boolean"), 1, "Tinyint", "Tinyunsigned"),
    _integer("smallint", ("int2",), 2, "Smallint", "Smallunsigned"),
    _integer("mediumint", ("int3", "middleint"), 3, "Mediumint", "Mediumunsigned"),
    _integer("int", ("integer", "int4"), 4, "Int", "Unsigned"),
    _integer("bigint", ("int8", "serial"), 8, "Bigint", "Bigunsigned"),
    ColumnType(
        "float", ("float4",), Storage.FIXED, Length.NOTHING, _fixed(4, is_aligned=True), KeyEncoding.FLOAT,
        api_names=("Float",),
    ),
    ColumnType(
        "double", ("float8", "real"), Storage.FIXED, Length.NOTHING, _fixed(8, is_aligned=True),
        KeyEncoding.DOUBLE, api_names=("Double",),
    ),
    ColumnType(
        "decimal", ("dec", "numeric", "fixed"), Storage.FIXED, Length.DIGITS, _decimal, KeyEncoding.DECIMAL,
        default_length=10, count_values=_decimal_values,
        api_names=("Decimal", "Decimalunsigned", "Olddecimal", "Olddecimalunsigned"),
    ),
    ColumnType(
        "bit", (), Storage.BITS, Length.BITS, _bit, KeyEncoding.BIT, default_length=1,
        api_names=("Bit",), count_values=lambda declared: 1 << min(64, declared.length or 1),
    ),
    _moment(
        "date", (), Storage.FIXED, Length.NOTHING, _fixed(3), KeyEncoding.DATE,
        api_names=("Date",), count_values=lambda _declared: _DAYS,
    ),
    ColumnType(
        "time", (), Storage.FIXED, Length.FRACTION_DIGITS, _temporal(3, 3), KeyEncoding.TIME,
        default_length=0, api_names=("Time", "Time2"),
    ),
    _moment(
        "datetime", (), Storage.FIXED, Length.FRACTION_DIGITS, _temporal(5, 8), KeyEncoding.DATETIME,
        api_names=("Datetime", "Datetime2"),
    ),
    _moment(
        "timestamp", (), Storage.FIXED, Length.FRACTION_DIGITS, _temporal(4, 4), KeyEncoding.TIMESTAMP,
        api_names=("Timestamp", "Timestamp2"),
    ),
    _moment(
        "year", (), Storage.FIXED, Length.NOTHING, _fixed(1), KeyEncoding.YEAR,
        api_names=("Year",), count_values=lambda _declared: 256,
    ),
    _text(
        "char", ("character", "nchar"), Storage.FIXED, Length.CHARACTERS, _padded, KeyEncoding.CHAR,
        default_length=1, as_binary="binary", api_names=("Char",),
    ),
    _text(
        "varchar", ("nvarchar", "varcharacter"), Storage.VARIABLE, Length.CHARACTERS, _variable,
        KeyEncoding.VARCHAR, default_length=255, as_binary="varbinary", api_names=("Varchar", "Longvarchar"),
    ),
    ColumnType(
        "binary", (), Storage.FIXED, Length.BYTES, _padded, KeyEncoding.BINARY,
        default_length=1, api_names=("Binary",),
        count_values=lambda declared: 1 << 8 * min(8, declared.length or 0),
    ),
    ColumnType(
        "varbinary", (), Storage.VARIABLE, Length.BYTES, _variable, KeyEncoding.VARBINARY,
        default_length=255, api_names=("Varbinary", "Longvarbinary"),
    ),
    _blob("tinyblob", part=0, most_bytes=255),
    _blob("blob", part=2000, most_bytes=2**16 - 1, length=Length.MOST_BYTES),
    _blob("mediumblob", part=4000, most_bytes=2**24 - 1),
    _blob("longblob", part=None),
    _blob("tinytext", part=0, most_bytes=255, as_binary="tinyblob"),
    _blob("text", part=2000, most_bytes=2**16 - 1, length=Length.MOST_BYTES, as_binary="blob"),
    _blob("mediumtext", ("long",), part=4000, most_bytes=2**24 - 1, as_binary="mediumblob"),
    _blob("longtext", part=None, as_binary="longblob"),
    _blob("json", inline=4000, part=8100, parts_grow=False),
    _text("enum", (), Storage.FIXED, Length.MEMBERS, _enum, KeyEncoding.ENUM, count_values=_members),
    _text(
        "set", (), Storage.FIXED, Length.MEMBERS, _set, KeyEncoding.SET,
        count_values=lambda declared: 1 << min(64, declared.length) if declared.length else None,
    ),
    _blob("geometry", _GEOMETRIES, part=None),
)  # fmt: skip

COLUMN_TYPES: dict[str, ColumnType] = {kind.name: kind for kind in _ALL}
"""Every type a column can have, by its name."""


def by_ddl_name() -> dict[str, ColumnType]:
    """The types by all their names in SQL."""
    return {name: kind for kind in COLUMN_TYPES.values() for name in (kind.name, *kind.ddl_names)}


def by_api_name() -> dict[str, ColumnType]:
    """The types by their names in the NDB API; BLOB and TEXT there are one type each, told apart by sizes."""
    return {name: kind for kind in COLUMN_TYPES.values() for name in kind.api_names}


def smallest_that_holds(kind: ColumnType, byte_count: int) -> ColumnType:
    """The smallest type alike that holds so many bytes: BLOB(300) is a BLOB, BLOB(70000) a MEDIUMBLOB."""
    alike = [other for other in COLUMN_TYPES.values() if other.is_blob and other.name.endswith(kind.name)]
    alike.sort(key=lambda other: other.most_bytes)
    return next((other for other in alike if other.most_bytes >= byte_count), alike[-1])
