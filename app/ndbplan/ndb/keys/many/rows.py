"""Compiled splitting of CSV bytes into fields, and writing of the answers. Imported only when keys are read.

Faults: a value that its column cannot hold sets the fault of its row to (column + 1) * 16 + reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

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


@njit(cache=True, nogil=True)
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
            if position < size and data[position] == QUOTE:
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
                while position < size and data[position] != _COMMA and data[position] != _NEWLINE:
                    position += 1
                last = position
                if last > first and data[last - 1] == _RETURN and (last == size or data[last] == _NEWLINE):
                    last -= 1
            if field < fields_known and slot_of_field[field] >= 0:
                slot = slot_of_field[field]
                starts[slot, rows] = first
                lengths[slot, rows] = last - first
                # \N stands for NULL in what the server writes; in quotes it is text.
                is_null = last - first == 2 and quote == 0 and data[first] == 92 and data[first + 1] == 78
                if is_null or strays > 0 or (quote > 0 and last >= size):
                    lengths[slot, rows] = -1
                quoted[slot, rows] = quote
            field += 1
            if position >= size:
                complete = final
                break
            if data[position] == _NEWLINE:
                complete = True
                break
            position += 1
        if not complete:
            return rows, begin
        end = position
        if end > begin and data[end - 1] == _RETURN:
            end -= 1
        position = min(size, position + 1)
        if end > begin:
            ends[rows, 0] = begin
            ends[rows, 1] = end
            rows += 1
    return rows, position


@njit(inline="always")
def fault(faults: Any, row: int, column: int, reason: int) -> None:
    if faults[row] == 0:
        faults[row] = (column + 1) * 16 + reason


@njit(cache=True, nogil=True)
def trimmed(data: Any, start: int, length: int) -> tuple[int, int]:
    while length > 0 and data[start] == 32:
        start += 1
        length -= 1
    while length > 0 and data[start + length - 1] == 32:
        length -= 1
    return start, length


@njit(cache=True, nogil=True)
def _write_number(value: Any, out: Any, at: int) -> int:
    if value == 0:
        out[at] = 48
        return at + 1
    digits = 0
    rest = value
    while rest > 0:
        digits += 1
        rest //= 10
    for k in range(digits):
        out[at + digits - 1 - k] = 48 + value % 10
        value //= 10
    return at + digits


@njit(cache=True, nogil=True)
def write_rows(
    data: Any, ends: Any, rows: int, hashes: Any, faults: Any, buckets: int, partition_of: Any, out: Any
) -> int:
    """Each row followed by its hash, bucket and partition (nothing for a faulty key); bytes written."""
    at = 0
    for row in range(rows):
        for i in range(ends[row, 0], ends[row, 1]):
            out[at] = data[i]
            at += 1
        out[at] = _COMMA
        at += 1
        if faults[row] == 0:
            bucket = np.int64(hashes[row]) % buckets
            at = _write_number(np.int64(hashes[row]), out, at)
            out[at] = _COMMA
            at = _write_number(bucket, out, at + 1)
            out[at] = _COMMA
            at = _write_number(np.int64(partition_of[bucket]), out, at + 1)
        else:
            out[at] = _COMMA
            out[at + 1] = _COMMA
            at += 2
        out[at] = _NEWLINE
        at += 1
    return at
