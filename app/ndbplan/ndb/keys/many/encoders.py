"""What turns the fields of one key column, read from CSV, into words of the key: an encoder for each kind.

encoder = encoder_of(0, column, version)
encoder.encode(fields, words, cursor, faults)

Source: `ndb.keys.values`, whose encoders give the same words for one key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ndbplan.ndb import collations
from ndbplan.ndb.collations import Kind, NotInCharsetError
from ndbplan.ndb.columns import KeyEncoding
from ndbplan.ndb.features import features
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.hash import column_bytes
from ndbplan.ndb.keys.values import KeyValueError
from ndbplan.ndb.version import NdbVersion

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_MOMENTS = (KeyEncoding.DATE, KeyEncoding.TIME, KeyEncoding.DATETIME, KeyEncoding.TIMESTAMP)
"""In the order of the numbers that the compiled encoder knows them by."""


class Encoder(Protocol):
    @property
    def words(self) -> int:
        """Most words the column takes."""

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None: ...


@dataclass
class Fields:
    """Where one column's fields are."""

    data: Array
    starts: Array
    lengths: Array
    quoted: Array
    rows: int


@dataclass
class _Integers:
    column: int
    size: int
    unsigned: bool
    year: bool

    @property
    def words(self) -> int:
        return 2 if self.size == 8 else 1

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keys.many.numbers import encode_integers

        encode_integers(
            fields.data, fields.starts, fields.lengths, fields.rows, words, cursor, faults,
            self.column, self.size, self.unsigned, self.year,
        )  # fmt: skip


@dataclass
class _Decimals:
    column: int
    precision: int
    scale: int
    size: int
    unsigned: bool

    @property
    def words(self) -> int:
        return (self.size + 3) // 4

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keys.many.numbers import encode_decimals

        encode_decimals(
            fields.data, fields.starts, fields.lengths, fields.rows, words, cursor, faults,
            self.column, self.precision, self.scale, self.size, self.unsigned,
        )  # fmt: skip


@dataclass
class _Moments:
    column: int
    kind: int
    digits: int
    old: bool
    size: int

    @property
    def words(self) -> int:
        return (self.size + 3) // 4

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keys.many.moments import encode_moments

        encode_moments(
            fields.data, fields.starts, fields.lengths, fields.rows, words, cursor, faults,
            self.column, self.kind, self.digits, self.old,
        )  # fmt: skip


@dataclass
class _Binaries:
    column: int
    size: int
    length_bytes: int

    @property
    def words(self) -> int:
        return (self.size + self.length_bytes + 3) // 4

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keys.many.strings import encode_bytes

        encode_bytes(
            fields.data, fields.starts, fields.lengths, fields.quoted, fields.rows, words, cursor, faults,
            self.column, self.size, self.length_bytes,
        )  # fmt: skip


@dataclass
class _TableStrings:
    column: int
    size: int
    to_byte: Array
    weights: Array
    filler: int

    @property
    def words(self) -> int:
        return (self.size + 3) // 4

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keys.many.strings import encode_table_strings

        encode_table_strings(
            fields.data, fields.starts, fields.lengths, fields.quoted, fields.rows, words, cursor, faults,
            self.column, self.size, self.to_byte, self.weights, self.filler,
        )  # fmt: skip


@dataclass
class _UnicodeStrings:
    column: int
    size: int
    characters: int
    width: int
    unit: int
    highest: int
    start: Array
    weights: Array

    @property
    def words(self) -> int:
        return (self.width + 3) // 4

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keys.many.strings import encode_unicode_strings

        encode_unicode_strings(
            fields.data, fields.starts, fields.lengths, fields.quoted, fields.rows, words, cursor, faults,
            self.column, self.size, self.characters, self.width, self.unit, self.highest, self.start,
            self.weights,
        )  # fmt: skip


@dataclass
class _HashedStrings:
    column: int
    size: int
    characters: int
    strip: bool
    levels: int
    tables: tuple[Array, ...]
    words: int = 2

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keys.many.strings import encode_hashed_strings

        encode_hashed_strings(
            fields.data, fields.starts, fields.lengths, fields.quoted, fields.rows, words, cursor, faults,
            self.column, self.size, self.characters, self.strip, self.levels, *self.tables,
        )  # fmt: skip


@dataclass
class _OneByOne:
    """Types and character sets that are rare in keys: encoded in plain Python."""

    column: int
    key: KeyColumn
    version: NdbVersion
    words: int

    def encode(self, fields: Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keys.many import rows as reasons

        out = words.view("uint8")
        for row in range(fields.rows):
            start, length = int(fields.starts[row]), int(fields.lengths[row])
            at = int(cursor[row])
            fault = 0
            data = b""
            if length < 0:
                fault = reasons.MISSING
            else:
                raw = bytes(fields.data[start : start + length])
                if fields.quoted[row] == reasons.DOUBLED:
                    raw = raw.replace(b'""', b'"')
                try:
                    data = column_bytes(self.key, raw.decode("utf-8"), self.version)
                except (KeyValueError, NotInCharsetError):
                    fault = reasons.OUT_OF_RANGE
                except UnicodeDecodeError:
                    fault = reasons.BAD_TEXT
            if fault and not faults[row]:
                faults[row] = (self.column + 1) * 16 + fault
            filled = (len(data) + 3) // 4
            out[row, 4 * at : 4 * (at + filled)] = 0
            out[row, 4 * at : 4 * at + len(data)] = list(data)
            cursor[row] = at + filled


def encoder_of(number: int, column: KeyColumn, version: NdbVersion) -> Encoder:
    import numpy as np

    key, size = column.encoding, column.byte_length(version)
    if key in (KeyEncoding.INTEGER, KeyEncoding.YEAR):
        is_year = key is KeyEncoding.YEAR
        return _Integers(number, size, column.unsigned or is_year, is_year)
    if key is KeyEncoding.DECIMAL:
        return _Decimals(number, column.size, column.scale or 0, size, column.unsigned)
    if key in _MOMENTS:
        old = not features(version).fractional_seconds and key is not KeyEncoding.DATE
        return _Moments(number, _MOMENTS.index(key), column.size, old, size)
    if key in (KeyEncoding.BINARY, KeyEncoding.VARBINARY):
        return _Binaries(number, size, 0 if key is KeyEncoding.BINARY else 1 if size < 256 else 2)
    rule = column.rule(version)
    if rule is None:
        return _OneByOne(number, column, version, words=(size + 3) // 4)
    nothing16, nothing = np.empty(0, dtype=np.int16), np.empty(0, dtype=np.int32)
    no_weights = np.empty(0, dtype=np.uint16)
    is_utf8 = rule.charset in ("utf8mb3", "utf8mb4")
    if rule.kind in (Kind.BYTES, Kind.TABLE):
        to_byte = nothing16 if is_utf8 else _to_byte(rule.charset)
        if to_byte is not None:
            weights = (
                np.arange(256, dtype=np.uint8)
                if rule.kind is Kind.BYTES
                else np.ascontiguousarray(collations.byte_weights(rule.table))
            )
            return _TableStrings(number, size, to_byte, weights, rule.filler)
    elif rule.is_hashed:
        tables: list[Array] = []
        for level in (1, 2, 3):
            if level <= rule.levels:
                uca = collations.uca_table(rule.table, level)
                tables += [uca.start, uca.weights]
            else:
                tables += [nothing, no_weights]
        return _HashedStrings(number, size, column.size, key is KeyEncoding.CHAR, rule.levels, tuple(tables))
    elif is_utf8:
        highest = 0xFFFF if rule.charset == "utf8mb3" else 0x10FFFF
        unit, start, weights = 2, nothing, no_weights
        if rule.kind is Kind.GENERAL:
            start, weights = _general()
        elif rule.kind is Kind.UCA_PADDED:
            uca = collations.uca_table(rule.table)
            start, weights = uca.start, uca.weights
        elif rule.kind is Kind.CODE_POINT_3:
            unit = 3
        return _UnicodeStrings(number, size, column.size, rule.multiply * size, unit, highest, start, weights)
    return _OneByOne(number, column, version, words=(rule.multiply * size + 3) // 4)


def _general() -> tuple[Array, Array]:
    """General weights of every code point; above U+FFFF all weigh the same."""
    import numpy as np

    above = np.full(collations.CODE_POINTS - 0x10000, 0xFFFD, dtype=np.uint16)
    start = np.arange(collations.CODE_POINTS + 1, dtype=np.int32)
    return start, np.concatenate((collations.general_weights(), above))


def _to_byte(charset: str) -> Array | None:
    """Byte of each code point below U+10000 in an 8-bit character set, -1 for none; None: not such a set."""
    import numpy as np

    from ndbplan.ndb.charsets import max_char_bytes

    if max_char_bytes(charset) > 1:
        return None
    byte_of_point = np.full(0x10000, -1, dtype=np.int16)
    for byte in range(256):
        try:
            points = collations.decode_points(bytes([byte]), charset)
        except KeyError:
            return None
        if charset == "latin1" and byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D):
            points = [byte]
        if len(points) == 1 and points[0] < 0x10000:
            byte_of_point[points[0]] = byte
    return byte_of_point
