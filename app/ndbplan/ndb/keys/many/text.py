"""Hashes of many keys read from CSV, compiled: the same rules as `keyhash`, at millions of keys per second.

    for chunk in hashed_rows(stream, columns, version):
        chunk.hashes, chunk.faults

The first row names the columns. Text is UTF-8; strings and binary values may be (binary must be) 0x hex.

Source: `ndb.keys.hash` and `ndb.keys.values`, which say the same of one key.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from ndbplan.base.errors import UserError
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.many import prepare as keyprepare
from ndbplan.ndb.keys.many.encoders import Fields, encoder_of
from ndbplan.ndb.version import NdbVersion

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

CHUNK_BYTES = 4 * 1024 * 1024
_CHUNK_ROWS = 32768
_LONGEST_ROW = 16 * 1024 * 1024
_WORDS_AT_ONCE = 8 * 1024 * 1024
"""Bytes, rows and words of keys in memory at a time, and the longest row: judgement."""


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

    def texts(self, rows: Array, most: int) -> Array:
        """The first `most` bytes of some rows, given by their numbers in the chunk."""
        import numpy as np

        from ndbplan.ndb.keys.many.rows import first_bytes

        out = np.zeros((len(rows), most), dtype=np.uint8)
        first_bytes(self.data, self.ends, rows, out)
        return out.view(f"S{most}").reshape(-1)

    def count(self, rows_of: Array) -> int:
        """Adds the keys to the rows of each bucket; how many keys have no fault."""
        from ndbplan.ndb.keys.many.rows import count_buckets

        return int(count_buckets(self.hashes, self.faults, rows_of))

    def answers(self, owners: Array) -> memoryview:
        """The rows with hash, bucket and partition behind each; `owners`: partition of each bucket."""
        import numpy as np

        from ndbplan.ndb.keys.many.rows import write_rows

        rows = len(self.ends)
        size = int((self.ends[:, 1] - self.ends[:, 0]).sum()) + 40 * rows + 64
        out = np.empty(size, dtype=np.uint8)
        written = write_rows(self.data, self.ends, rows, self.hashes, self.faults, owners, out)
        return out[:written].data


def kinds_of(columns: Sequence[KeyColumn]) -> tuple[str, ...]:
    """Which compiled encoders a key needs, by the kind of its columns."""
    kinds = {"rows"}
    for column in columns:
        key = column.encoding
        kinds.add(f"string-{column.collation or 'default'}" if key.is_text else column.type)
    return tuple(sorted(kinds))


def is_prepared(columns: Sequence[KeyColumn]) -> bool:
    """Whether keys of these columns can be hashed without compiling for some seconds first."""
    return keyprepare.is_prepared(kinds_of(columns))


class KeyHasher:
    """Hashes rows of fields by a distribution key."""

    def __init__(self, columns: Sequence[KeyColumn], version: NdbVersion) -> None:
        """Raises KeyTypeError and UnsupportedCollationError for columns that cannot be hashed exactly."""
        keyprepare.load()
        self.columns = tuple(columns)
        self._encoders = [encoder_of(i, column, version) for i, column in enumerate(columns)]
        self._width = max(1, sum(encoder.words for encoder in self._encoders))
        self._marked = False
        self.rows_at_once = max(256, min(_CHUNK_ROWS, _WORDS_AT_ONCE // self._width))

    def hash(self, fields: Sequence[Fields]) -> tuple[Array, Array]:
        """32-bit distribution hash and fault of each row; the fields of each column in key order."""
        import numpy as np

        from ndbplan.ndb.keys.many.hash import hash_words

        rows = fields[0].rows
        words = np.empty((rows, self._width), dtype=np.uint32)
        cursor = np.zeros(rows, dtype=np.int64)
        faults = np.zeros(rows, dtype=np.int32)
        for encoder, column in zip(self._encoders, fields, strict=True):
            encoder.encode(column, words, cursor, faults)
        hashes = np.empty((rows, 2), dtype=np.uint32)
        width = int(cursor.max())
        if width == cursor.min():
            hash_words(words if width == self._width else np.ascontiguousarray(words[:, :width]), hashes)
        else:
            for width in np.unique(cursor).tolist():
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
            f"the first row is not CSV ({error})", where="keys", fix="give the names of the columns in it"
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

    from ndbplan.ndb.keys.many.rows import split_rows

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
                    Fields(view, starts[i], lengths[i], quoted[i], rows) for i in range(len(hasher.columns))
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
    from ndbplan.ndb.keys.many.rows import REASONS

    return f"{columns[fault // 16 - 1].name}: {REASONS[fault % 16]}"
