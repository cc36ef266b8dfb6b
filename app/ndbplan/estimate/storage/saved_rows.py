"""Bytes of a row in the data file of a backup: its values packed, whatever they take in memory.

    saved_bytes(row_layout(table, plan.version).columns)      # 516 of BIGINT and 500 bytes of VARBINARY

A record has a bit for each column and one more for each that may be NULL, in whole words, then the values
that are not NULL in the order of the columns: numbers of 4 and 8 bytes at whole words, all others where the
last one ends. Its head comes beside (constant backup_row_overhead_bytes). Entries of unique indexes are not
saved: they are made again.

Source: NDB `Dbtup::read_packed`, `Backup::execGET_TABINFO_CONF`; a running 8.4.8 counted 524 bytes for each
of 100,000 such rows, four less than are in its files; a 7.4.10 no records of a unique index.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ndbplan.estimate.storage.rows import StoredColumn
from ndbplan.ndb.columns import Storage
from ndbplan.ndb.rows import WORD_BYTES

_BITS_OF_WORD = 8 * WORD_BYTES
"""The bits of a record fill whole words."""
_BITS = Storage.BITS
Ends = list[float]
"""Chances that what is packed so far ends so many bytes behind a whole word."""


def saved_bytes(columns: Sequence[StoredColumn]) -> float:
    """Mean bytes of a row's values and bits."""
    bits = len(columns) + sum(column.nullable for column in columns)
    packed, ends = 0.0, [1.0, 0.0, 0.0, 0.0]
    for column in columns:
        present = 1.0 - column.null_fraction
        if not present:
            continue
        added, behind = _packed(column, ends)
        packed += present * added
        ends = [
            present * there + (1.0 - present) * before for there, before in zip(behind, ends, strict=True)
        ]
    return WORD_BYTES * (-(-bits // _BITS_OF_WORD)) + packed + _to_a_word(ends)


def _packed(column: StoredColumn, ends: Ends) -> tuple[float, Ends]:
    """Mean bytes that a value adds, and where it ends."""
    if column.type.storage is _BITS or column.type.is_aligned:
        size = WORD_BYTES * math.ceil(column.mean_bytes / WORD_BYTES)
        return _to_a_word(ends) + size, [1.0, 0.0, 0.0, 0.0]
    whole, part = divmod(column.mean_bytes, 1.0)
    shorter, longer = _moved(ends, int(whole)), _moved(ends, int(whole) + 1)
    behind = [(1.0 - part) * one + part * other for one, other in zip(shorter, longer, strict=True)]
    return column.mean_bytes, behind


def _to_a_word(ends: Ends) -> float:
    return sum(chance * (-end % WORD_BYTES) for end, chance in enumerate(ends))


def _moved(ends: Ends, count: int) -> Ends:
    at = count % WORD_BYTES
    return ends[WORD_BYTES - at :] + ends[: WORD_BYTES - at]
