"""Hashes of many keys read from CSV, compiled: the same rules as `keyhash`, at millions of keys per second.

    for chunk in hashed_rows(stream, columns, version):
        chunk.hashes, chunk.faults

The first row names the columns. Text is UTF-8; strings and binary values may be (binary must be) 0x hex.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from ndbplan.base.errors import UserError
from ndbplan.ndb import collations, keyprepare
from ndbplan.ndb.collations import Kind, NotInCharsetError
from ndbplan.ndb.keyhash import KeyColumn, column_bytes
from ndbplan.ndb.keyvalues import KeyValueError
from ndbplan.ndb.version import NdbVersion

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

CHUNK_BYTES = 4 * 1024 * 1024
_CHUNK_ROWS = 65536
_LONGEST_ROW = 16 * 1024 * 1024
_WORDS_AT_ONCE = 8 * 1024 * 1024
_INTEGERS = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8, "year": 1}
_MOMENTS = ("date", "time", "datetime", "timestamp")


class KeyFileError(UserError, ValueError):
    """A CSV of keys that cannot be read at all."""


@dataclass
class Chunk:
    """Some rows of the CSV with the hashes of their keys."""

    data: Array
    """The bytes that hold the rows."""
    ends: Array
    """Start and end of each row in them, [row, 2]."""
    hashes: Array
    """32-bit hash of each row's key; meaningless where there is a fault."""
    faults: Array
    """0, or why the key is none: see `fault_text`."""
    first_row: int
    """Number of its first row among the rows behind the header, from 0."""

    def answers(self, owners: Array) -> bytes:
        """The rows with hash, bucket and partition behind each; `owners`: partition of each bucket."""
        import numpy as np

        from ndbplan.ndb.keytext_rows import write_rows

        rows = len(self.ends)
        size = int((self.ends[:, 1] - self.ends[:, 0]).sum()) + 40 * rows
        out = np.empty(size, dtype=np.uint8)
        written = write_rows(self.data, self.ends, rows, self.hashes, self.faults, len(owners), owners, out)
        return out[:written].tobytes()


class _Encoder(Protocol):
    @property
    def words(self) -> int:
        """Most words the column takes."""

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None: ...


@dataclass
class _Fields:
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

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keytext_numbers import encode_integers

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

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keytext_numbers import encode_decimals

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

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keytext_moments import encode_moments

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

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keytext_strings import encode_bytes

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

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keytext_strings import encode_table_strings

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

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keytext_strings import encode_unicode_strings

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

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb.keytext_strings import encode_hashed_strings

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

    def encode(self, fields: _Fields, words: Array, cursor: Array, faults: Array) -> None:
        from ndbplan.ndb import keytext_rows as reasons

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


def _encoder(number: int, column: KeyColumn, version: NdbVersion) -> _Encoder:
    import numpy as np

    kind, size = column.type, column.byte_length(version)
    if kind in _INTEGERS:
        return _Integers(number, _INTEGERS[kind], column.unsigned or kind == "year", kind == "year")
    if kind == "decimal":
        precision = 10 if column.length is None else column.length
        return _Decimals(number, precision, column.scale or 0, size, column.unsigned)
    if kind in _MOMENTS:
        old = version < (7, 3) and kind != "date"
        return _Moments(number, _MOMENTS.index(kind), column.length or 0, old, size)
    if kind in ("binary", "varbinary"):
        return _Binaries(number, size, 0 if kind == "binary" else 1 if size < 256 else 2)
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
        return _HashedStrings(number, size, column.characters, kind == "char", rule.levels, tuple(tables))
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
        return _UnicodeStrings(
            number, size, column.characters, rule.multiply * size, unit, highest, start, weights
        )
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
    found = np.full(0x10000, -1, dtype=np.int16)
    for byte in range(256):
        try:
            points = collations.decode_points(bytes([byte]), charset)
        except KeyError:
            return None
        if charset == "latin1" and byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D):
            points = [byte]
        if len(points) == 1 and points[0] < 0x10000:
            found[points[0]] = byte
    return found


_STRINGS = frozenset({"char", "varchar"})


def kinds_of(columns: Sequence[KeyColumn]) -> tuple[str, ...]:
    """Which compiled encoders a key needs, by the kind of its columns."""
    found = {"rows"}
    for column in columns:
        found.add(f"string-{column.collation or 'default'}" if column.type in _STRINGS else column.type)
    return tuple(sorted(found))


def is_prepared(columns: Sequence[KeyColumn]) -> bool:
    """Whether keys of these columns can be hashed without compiling for some seconds first."""
    return keyprepare.is_prepared(kinds_of(columns))


class KeyHasher:
    """Hashes rows of fields by a distribution key."""

    def __init__(self, columns: Sequence[KeyColumn], version: NdbVersion) -> None:
        """Raises KeyTypeError and UnsupportedCollationError for columns that cannot be hashed exactly."""
        keyprepare.load()
        self.columns = tuple(columns)
        self._encoders = [_encoder(i, column, version) for i, column in enumerate(columns)]
        self._width = max(1, sum(encoder.words for encoder in self._encoders))
        self._marked = False
        self.rows_at_once = max(256, min(_CHUNK_ROWS, _WORDS_AT_ONCE // self._width))

    def hash(self, fields: Sequence[_Fields]) -> tuple[Array, Array]:
        """32-bit distribution hash and fault of each row; the fields of each column in key order."""
        import numpy as np

        from ndbplan.ndb.keyhash_kernel import hash_words

        rows = fields[0].rows
        words = np.empty((rows, self._width), dtype=np.uint32)
        cursor = np.zeros(rows, dtype=np.int64)
        faults = np.zeros(rows, dtype=np.int32)
        for encoder, column in zip(self._encoders, fields, strict=True):
            encoder.encode(column, words, cursor, faults)
        hashes = np.empty((rows, 2), dtype=np.uint32)
        widths = np.unique(cursor)
        if len(widths) == 1:
            width = int(widths[0])
            hash_words(words if width == self._width else np.ascontiguousarray(words[:, :width]), hashes)
        else:
            for width in widths.tolist():
                chosen = cursor == width
                part = np.empty((int(chosen.sum()), 2), dtype=np.uint32)
                hash_words(np.ascontiguousarray(words[chosen, :width]), part)
                hashes[chosen] = part
        if not self._marked:
            keyprepare.mark_prepared(kinds_of(self.columns))
            self._marked = True
        return np.ascontiguousarray(hashes[:, 1]), faults


def fields_of(header: bytes, columns: Sequence[KeyColumn]) -> tuple[list[str], list[int]]:
    """Names of the header row, and the key column of each field or -1. Raises KeyFileError."""
    import csv

    try:
        text = header.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError:
        raise KeyFileError(
            "the first row is not UTF-8 text", where="keys", fix="save the CSV as UTF-8"
        ) from None
    try:
        names = next(csv.reader([text]), [])
    except csv.Error as error:
        raise KeyFileError(
            f"the first row is no CSV ({error})", where="keys", fix="give the names of the columns in it"
        ) from None
    known = {column.name.casefold(): i for i, column in enumerate(columns)}
    slots = [known.get(name.strip().casefold(), -1) for name in names]
    twice = [column.name for i, column in enumerate(columns) if slots.count(i) > 1]
    if twice:
        raise KeyFileError(
            f"the first row names {twice[0]} twice", where="keys", fix="name each key column once"
        )
    missing = [column.name for i, column in enumerate(columns) if i not in slots]
    if missing:
        raise KeyFileError(
            f"the first row names {', '.join(names)[:80] or 'nothing'}; "
            f"missing: {', '.join(missing)} of the distribution key",
            where="keys",
            fix="give the key columns' names in the first row",
        )
    return names, slots


def hashed_rows(stream: BinaryIO, columns: Sequence[KeyColumn], version: NdbVersion) -> Iterator[Chunk]:
    """Hash the key of every row of a CSV, chunk by chunk. Raises KeyFileError and what KeyHasher raises."""
    return hashed_rows_with_header(stream, columns, version)[1]


def hashed_rows_with_header(
    stream: BinaryIO, columns: Sequence[KeyColumn], version: NdbVersion
) -> tuple[bytes, Iterator[Chunk]]:
    """The header row as it stands, and the hashed rows."""
    hasher = KeyHasher(columns, version)
    header = stream.readline(_LONGEST_ROW)
    _, slots = fields_of(header, hasher.columns)
    return header, _chunks(stream, slots, hasher)


def _chunks(stream: BinaryIO, slots: list[int], hasher: KeyHasher) -> Iterator[Chunk]:
    import numpy as np

    from ndbplan.ndb.keytext_rows import split_rows

    slot_of_field = np.array(slots, dtype=np.int64)
    most = hasher.rows_at_once
    starts = np.empty((len(hasher.columns), most), dtype=np.int64)
    lengths = np.empty((len(hasher.columns), most), dtype=np.int64)
    quoted = np.empty((len(hasher.columns), most), dtype=np.uint8)
    ends = np.empty((most, 2), dtype=np.int64)
    left, first_row = b"", 0
    while True:
        block = stream.read(CHUNK_BYTES)
        final = not block
        content = left + block
        if not content:
            return
        data = np.frombuffer(content, dtype=np.uint8)
        position = 0
        while True:
            view = data[position:]
            rows, consumed = split_rows(view, len(view), slot_of_field, final, starts, lengths, quoted, ends)
            if rows:
                fields = [
                    _Fields(view, starts[i], lengths[i], quoted[i], rows) for i in range(len(hasher.columns))
                ]
                hashes, faults = hasher.hash(fields)
                yield Chunk(view, ends[:rows].copy(), hashes, faults, first_row)
                first_row += rows
            position += consumed
            if rows < most:
                break
        left = content[position:]
        if final:
            return
        if len(left) > _LONGEST_ROW:
            raise KeyFileError(
                f"a row behind row {first_row} is longer than {_LONGEST_ROW} bytes",
                where="keys",
                fix="close the quotes of that row",
            )


def fault_text(fault: int, columns: Sequence[KeyColumn]) -> str:
    """What is wrong with a key, from its fault: `id: outside the range of the column`."""
    from ndbplan.ndb.keytext_rows import REASONS

    return f"{columns[fault // 16 - 1].name}: {REASONS[fault % 16]}"
