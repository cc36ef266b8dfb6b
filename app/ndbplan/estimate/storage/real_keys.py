"""The distribution key of a table, and the exact distribution of real keys.

counted = keys_in_partitions(table, partitions, version, stream)
counted.partition_rows

Sources: those of `ndb.keys` and `ndb.placement`; from when on a key is called hot is this program's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any, BinaryIO

from ndbplan.base.errors import UserError
from ndbplan.estimate.storage.distribution import hash_map_of, spread_rows
from ndbplan.ndb.collations import UnsupportedCollationError
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.placement.hashmap import is_exact
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table


class NoKeyError(UserError, ValueError):
    """A table whose rows are distributed by a key that nobody knows outside the product."""


class UnknownOwnersError(UserError, ValueError):
    """A number of partitions for which no one can say where a version puts a key."""


def distribution_columns(table: Table) -> tuple[KeyColumn, ...]:
    """Columns that decide the partition, in the order of the table. Raises NoKeyError for a hidden key."""
    names = table.distribution_key or table.primary_key
    if not names:
        raise NoKeyError(
            f"table {table.full_name} has no primary key; NDB distributes it by a hidden one",
            where=table.full_name,
            fix="give it a primary key",
        )
    return tuple(
        KeyColumn(
            name=column.name,
            type=column.type,
            length=column.length,
            scale=column.scale,
            unsigned=column.unsigned,
            collation=column.collation,
            members=column.members,
        )
        for column in table.columns
        if column.name in names
    )


@dataclass(frozen=True)
class KeyCount:
    """Where real keys fall."""

    rows: int
    """Keys that were read and hashed."""
    faulty: int
    """Rows whose key could not be read."""
    problems: tuple[str, ...]
    """The first of them, with their row."""
    partition_rows: tuple[int, ...]
    bucket_rows: tuple[int, ...]
    hot_keys: tuple[tuple[str, int], ...]
    """Most frequent keys with their rows, when the keys repeat; the text of the first row of each."""
    distinct: int | None
    """Different hashes, when they were few enough to be counted."""
    exact: bool = True
    """False: the keys could not be hashed exactly; rows are spread as a hash does on average."""
    note: str = ""
    """Why not."""

    @property
    def is_hot(self) -> bool:
        """The most frequent key has more than twice the rows of the mean one."""
        return bool(self.hot_keys and self.distinct and self.hot_keys[0][1] * self.distinct > 2 * self.rows)

    def table_fields(self) -> dict[str, Any]:
        """What the count says of the table, as fields of it."""
        fields: dict[str, Any] = {
            "rows": self.rows,
            "partition_rows": self.partition_rows if self.exact else (),
        }
        if self.distinct is not None:
            # As many keys as rows: each row has its own, also when rows are added.
            fields["distribution_key_values"] = self.distinct if 0 < self.distinct < self.rows else None
        return fields


PROBLEMS_SHOWN = 20
_DISTINCT_LIMIT = 200_000
_TEXT_BYTES = 80
"""Of a row that stands for its key."""
_BLOCK_BYTES = 1 << 20
"""Read at a time: judgement."""


def count_rows(
    stream: BinaryIO,
    columns: tuple[KeyColumn, ...],
    version: NdbVersion,
    hash_map: tuple[int, ...],
    write: Callable[[bytes | memoryview], object] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> KeyCount:
    """Hash every key of a CSV and count its bucket and partition.

    `write` gets the rows again, with hash, bucket and partition behind each (the header included). Raises
    KeyFileError, KeyTypeError and UnsupportedCollationError.
    """
    import numpy as np

    from ndbplan.ndb.keys.many.text import fault_text, hashed_rows_with_header

    header, chunks = hashed_rows_with_header(stream, columns, version)
    owners = np.array(hash_map, dtype=np.int64)
    buckets = np.zeros(len(hash_map), dtype=np.int64)
    rows = faulty = 0
    problems: list[str] = []
    repeats = _Repeats(_DISTINCT_LIMIT)
    if write is not None:
        write(header.rstrip(b"\r\n") + b",hash,bucket,partition\n")
    for chunk in chunks:
        if cancelled():
            break
        good = chunk.count(buckets)
        rows += good
        if good < len(chunk.faults):
            bad = np.flatnonzero(chunk.faults)
            faulty += len(bad)
            for row in bad[: PROBLEMS_SHOWN - len(problems)].tolist():
                text = fault_text(int(chunk.faults[row]), columns)
                problems.append(f"row {chunk.first_row + row + 2}: {text}")
        repeats.add(chunk)
        if write is not None:
            write(chunk.answers(owners))
    partition_rows = np.bincount(owners, weights=buckets).astype(np.int64)
    return KeyCount(
        rows=rows,
        faulty=faulty,
        problems=tuple(problems),
        partition_rows=tuple(partition_rows.tolist()),
        bucket_rows=tuple(buckets.tolist()),
        hot_keys=repeats.hottest(),
        distinct=repeats.distinct(),
    )


class _Repeats:
    """Counts how often each hash comes, as long as there are few different ones."""

    def __init__(self, limit: int) -> None:
        import numpy as np

        self._limit = limit
        self._are_few = True
        self._hashes = np.empty(0, dtype=np.uint32)
        """In rising order."""
        self._counts = np.empty(0, dtype=np.int64)
        self._texts = np.empty(0, dtype=f"S{_TEXT_BYTES}")
        """The first row of each."""

    def add(self, chunk: object) -> None:
        import numpy as np

        from ndbplan.ndb.keys.many.text import Chunk

        assert isinstance(chunk, Chunk)
        if not self._are_few:
            return
        good = np.flatnonzero(chunk.faults == 0)
        values, first, counts = np.unique(chunk.hashes[good], return_index=True, return_counts=True)
        at = np.searchsorted(self._hashes, values)
        known = at < len(self._hashes)
        known[known] = self._hashes[at[known]] == values[known]
        self._counts[at[known]] += counts[known]
        new = ~known
        if len(self._hashes) + int(new.sum()) > self._limit:
            self._are_few = False
            return
        texts = chunk.texts(good[first[new]], _TEXT_BYTES)
        self._hashes = np.insert(self._hashes, at[new], values[new])
        self._counts = np.insert(self._counts, at[new], counts[new])
        self._texts = np.insert(self._texts, at[new], texts)

    def hottest(self) -> tuple[tuple[str, int], ...]:
        """The ten most frequent keys that come more than once."""
        import numpy as np

        if not self._are_few:
            return ()
        often = np.argsort(-self._counts, kind="stable")[:10]
        texts = (text.decode("utf-8", "replace") for text in self._texts[often].tolist())
        return tuple(
            (text, count)
            for text, count in zip(texts, self._counts[often].tolist(), strict=True)
            if count > 1
        )

    def distinct(self) -> int | None:
        return len(self._counts) if self._are_few else None


def spread_evenly(
    stream: BinaryIO,
    columns: tuple[KeyColumn, ...],
    hash_map: tuple[int, ...],
    why: UserError,
    cancelled: Callable[[], bool] = lambda: False,
) -> KeyCount:
    """Rows of a CSV whose keys cannot be hashed exactly, spread as a hash does on average."""
    from ndbplan.ndb.keys.many.text import fields_of

    fields_of(stream.readline(), columns)
    rows = _rows_in(stream, cancelled)
    return KeyCount(
        rows=rows,
        faulty=0,
        problems=(),
        partition_rows=tuple(spread_rows(rows, hash_map).tolist()),
        bucket_rows=(),
        hot_keys=(),
        distinct=None,
        exact=False,
        note=f"{why.what}; rows are spread as a hash does on average",
    )


def _rows_in(stream: BinaryIO, cancelled: Callable[[], bool]) -> int:
    """Rows of a CSV that are not blank; in blocks as long as no line can lie in quotes."""
    import csv
    import re

    rows = 0
    while not cancelled():
        block = (stream.read(_BLOCK_BYTES) + stream.readline()).replace(b"\r\n", b"\n")
        if b'"' in block or b"\r" in block:
            lines = chain(block.splitlines(keepends=True), stream)
            texts = (line.decode("utf-8", "replace") for line in lines)
            return rows + sum(1 for row in takewhile(lambda _row: not cancelled(), csv.reader(texts)) if row)
        rows += block.count(b"\n") - len(re.findall(rb"(?m)^\n", block)) + (block[-1:] not in (b"", b"\n"))
        if not block:
            break
    return rows


def keys_in_partitions(
    table: Table,
    partitions: int,
    version: NdbVersion,
    stream: BinaryIO,
    cancelled: Callable[[], bool],
) -> KeyCount:
    """Where the keys of a CSV fall in a table of so many partitions: exactly, or on average and saying so."""
    hash_map = hash_map_of(table, partitions, version)
    columns = distribution_columns(table)
    try:
        for column in columns:
            column.rule(version)
        if not is_exact(version, partitions):
            raise UnknownOwnersError(
                f"keys over {partitions} partitions are not supported exactly in {version}, without hash maps"
            )
    except (UnsupportedCollationError, UnknownOwnersError) as error:
        return spread_evenly(stream, columns, hash_map, error, cancelled)
    return count_rows(stream, columns, version, hash_map, cancelled=cancelled)
