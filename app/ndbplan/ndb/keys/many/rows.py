"""Compiled splitting of CSV bytes into fields, and writing of the answers. Imported only when keys are read.

Faults: a value that its column cannot hold sets the fault of its row to (column + 1) * 16 + reason.

Places in the hot loops are uint64: a signed one may count from the end of the array, as in Python, and asking
that at each byte keeps the loop from being vectorised.

Source of what is a field: RFC 4180, and what `mysqldump --tab` writes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from ndbplan.base.compiled import machine_code

NO_NUMBER, OUT_OF_RANGE, TOO_LONG, BAD_TEXT, BAD_DATE, BAD_TIME, TOO_PRECISE, BAD_HEX, MISSING = range(1, 10)
REASONS = {
    NO_NUMBER: "not a number",
    OUT_OF_RANGE: "outside the range of the column",
    TOO_LONG: "longer than the column",
    BAD_TEXT: "text that the column's character set does not hold",
    BAD_DATE: "no date of the form YYYY-MM-DD",
    BAD_TIME: "no time of the form HH:MM:SS",
    TOO_PRECISE: "more digits behind the point than the column has",
    BAD_HEX: "binary values are written as 0x and hex digits",
    MISSING: "no value: NULL (\\N), quotes not closed or with text behind them, or too few fields in the row",
}
QUOTE, _COMMA, _NEWLINE, _RETURN, _BLANK = 34, 44, 10, 13, 32
DOUBLED = 2
"""Mark of a quoted field that holds doubled quotes."""


@machine_code(nogil=True)
def split_rows(
    data: Any, size: int, slot_of_field: Any, final: bool, starts: Any, lengths: Any, quoted: Any, ends: Any
) -> tuple[int, int]:
    """Find the fields of the next rows; returns (rows found, bytes consumed).

    `slot_of_field[i]` is the key column in field i, or -1. `ends` gets the start and end of each row without
    its line end. Empty lines are rows without fields and are left out. The last row needs no line end when
    `final`.
    """
    rows, position = 0, 0
    slots, most = starts.shape
    fields_known = len(slot_of_field)
    while rows < most and position < size:
        begin = position
        field = 0
        for slot in range(slots):
            lengths[slot, rows] = -1
        complete = False
        while True:
            quote = 0
            strays = 0
            first = position
            if position < size and data[uint64(position)] == QUOTE:
                quote = 1
                position += 1
                first = position
                while position < size:
                    if data[position] == QUOTE:
                        if position + 1 < size and data[position + 1] == QUOTE:
                            quote = DOUBLED
                            position += 2
                            continue
                        break
                    position += 1
                last = position
                position = min(size, position + 1)
                while position < size and data[position] != _COMMA and data[position] != _NEWLINE:
                    strays += data[position] != _BLANK and data[position] != _RETURN
                    position += 1
            else:
                # Most bytes of a field lie above the comma: one comparison for each of them.
                while position < size and (
                    data[uint64(position)] > _COMMA
                    or (data[uint64(position)] != _COMMA and data[uint64(position)] != _NEWLINE)
                ):
                    position += 1
                last = position
                if (
                    last > first
                    and data[uint64(last - 1)] == _RETURN
                    and (last == size or data[last] == _NEWLINE)
                ):
                    last -= 1
            if field < fields_known and slot_of_field[uint64(field)] >= 0:
                slot = slot_of_field[uint64(field)]
                starts[slot, uint64(rows)] = first
                lengths[slot, uint64(rows)] = last - first
                # \N stands for NULL in what the server writes; in quotes it is text.
                is_null = last - first == 2 and quote == 0 and data[first] == 92 and data[first + 1] == 78
                if is_null or strays > 0 or (quote > 0 and last >= size):
                    lengths[slot, rows] = -1
                quoted[slot, rows] = quote
            field += 1
            if position >= size:
                complete = final
                break
            if data[uint64(position)] == _NEWLINE:
                complete = True
                break
            position += 1
        if not complete:
            return rows, begin
        end = position
        if end > begin and data[uint64(end - 1)] == _RETURN:
            end -= 1
        position = min(size, position + 1)
        if end > begin:
            ends[uint64(rows), 0] = begin
            ends[uint64(rows), 1] = end
            rows += 1
    return rows, position


@machine_code(inline="always")
def fault(faults: Any, row: int, column: int, reason: int) -> None:
    if faults[row] == 0:
        faults[row] = (column + 1) * 16 + reason


@machine_code(nogil=True)
def trimmed(data: Any, start: int, length: int) -> tuple[int, int]:
    while length > 0 and data[start] == 32:
        start += 1
        length -= 1
    while length > 0 and data[start + length - 1] == 32:
        length -= 1
    return start, length


@machine_code(inline="always")
def _write_number(value: Any, out: Any, at: int) -> int:
    """The decimal digits of a number below 100000 into `out`; where they end."""
    digits: int = 1 + (value >= 10) + (value >= 100) + (value >= 1000) + (value >= 10_000)
    for k in range(digits):
        out[uint64(at + digits - 1 - k)] = 48 + value % 10
        value //= 10
    return at + digits


@machine_code(inline="always")
def _write_hash(value: Any, groups: Any, out: Any, at: int) -> int:
    """The decimal digits of a 32-bit number; `groups`: the four digits of each number below 10000."""
    high = value // np.uint32(10_000)
    low = value - high * np.uint32(10_000)
    if high == 0:
        return _write_number(np.int64(value), out, at)
    top = high // np.uint32(10_000)
    if top == 0:
        at = _write_number(np.int64(high), out, at)
    else:
        at = _write_number(np.int64(top), out, at)
        middle = high - top * np.uint32(10_000)
        for k in range(4):
            out[uint64(at + k)] = groups[uint64(middle), k]
        at += 4
    for k in range(4):
        out[uint64(at + k)] = groups[uint64(low), k]
    return at + 4


_PIECE = 16
"""Bytes that are copied at once: the least that fills a vector unit."""


@machine_code(inline="always")
def _copy(data: Any, begin: int, end: int, out: Any, at: int) -> int:
    """Bytes `begin` to `end` into `out`, which has room for a piece more; where they end."""
    i = begin
    while i < end and i + _PIECE <= len(data):
        for k in range(_PIECE):
            out[uint64(at + k)] = data[uint64(i + k)]
        i += _PIECE
        at += _PIECE
    for k in range(i, end):
        out[uint64(at + k - i)] = data[uint64(k)]
    return at + end - i


@machine_code(nogil=True)
def first_bytes(data: Any, ends: Any, rows: Any, out: Any) -> None:
    """The beginning of some rows, as much as fits, into the rows of `out`, which holds zeros."""
    for k in range(len(rows)):
        begin = ends[rows[k], 0]
        for i in range(min(out.shape[1], ends[rows[k], 1] - begin)):
            out[uint64(k), uint64(i)] = data[uint64(begin + i)]


@machine_code(nogil=True)
def count_buckets(hashes: Any, faults: Any, rows_of: Any) -> int:
    """Adds the keys without a fault to the rows of their buckets; how many they are."""
    buckets = np.uint32(len(rows_of))
    good = 0
    for row in range(len(hashes)):
        if faults[row] == 0:
            rows_of[uint64(hashes[row] % buckets)] += 1
            good += 1
    return good


@machine_code(nogil=True)
def write_rows(data: Any, ends: Any, rows: int, hashes: Any, faults: Any, partition_of: Any, out: Any) -> int:
    """Each row followed by its hash, bucket and partition (nothing for a faulty key); bytes written.

    `out` has room for 40 bytes beside each row, and for two pieces more.
    """
    groups = np.empty((10_000, 4), dtype=np.uint8)
    for value in range(10_000):
        rest = value
        for k in range(3, -1, -1):
            groups[value, k] = 48 + rest % 10
            rest //= 10
    # What follows the hash is written once for each bucket.
    buckets = len(partition_of)
    behind = np.empty((buckets, _PIECE), dtype=np.uint8)
    width = np.empty(buckets, dtype=np.int64)
    for bucket in range(buckets):
        behind[bucket, 0] = _COMMA
        end = _write_number(bucket, behind[bucket], 1)
        behind[bucket, end] = _COMMA
        end = _write_number(np.int64(partition_of[bucket]), behind[bucket], end + 1)
        behind[bucket, end] = _NEWLINE
        width[bucket] = end + 1
    at = 0
    for row in range(rows):
        at = _copy(data, ends[row, 0], ends[row, 1], out, at)
        out[uint64(at)] = _COMMA
        at += 1
        if faults[row] == 0:
            at = _write_hash(hashes[row], groups, out, at)
            bucket = uint64(hashes[row] % np.uint32(buckets))
            for k in range(_PIECE):
                out[uint64(at + k)] = behind[bucket, k]
            at += width[bucket]
        else:
            out[at] = _COMMA
            out[at + 1] = _COMMA
            out[at + 2] = _NEWLINE
            at += 3
    return at
