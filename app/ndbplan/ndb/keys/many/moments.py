"""Compiled encoding of dates and times, from text to the words that are hashed.

Imported only when keys are read. Each encoder writes one column of every row at that row's
cursor (in words) and moves the cursor.

Source: `ndb.keys.values`, whose encoders give the same words for one key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ndbplan.base.compiled import machine_code
from ndbplan.ndb.keys.many.rows import BAD_DATE, BAD_TIME, MISSING, OUT_OF_RANGE, TOO_PRECISE, fault, trimmed
from ndbplan.ndb.keys.values import LAST_TIMESTAMP


@machine_code(nogil=True)
def _digits(data: Any, start: int, end: int, most: int) -> tuple[int, int]:
    """Number of the decimal digits from start on (at most `most`) and where they end."""
    value = 0
    i = start
    while i < end and i - start < most and 48 <= data[i] <= 57:
        value = value * 10 + (data[i] - 48)
        i += 1
    return value, i


@machine_code(nogil=True)
def _fraction(data: Any, i: int, end: int, digits: int) -> tuple[int, int, int]:
    """Microseconds behind the point at i, where they end, and 0 or a reason."""
    micro, unit, seen = 0, 100000, 0
    i += 1
    while i < end and 48 <= data[i] <= 57:
        digit = data[i] - 48
        seen += 1
        if seen > digits and digit != 0:
            return 0, i, TOO_PRECISE
        micro += digit * unit
        unit //= 10
        i += 1
    return micro, i, 0


@machine_code(nogil=True)
def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a date of the Gregorian calendar."""
    y = year - 1 if month <= 2 else year
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@machine_code(nogil=True)
def _days_of_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


DATE, TIME, DATETIME, TIMESTAMP = range(4)


@machine_code(nogil=True)
def encode_moments(
    data: Any,
    starts: Any,
    lengths: Any,
    rows: int,
    words: Any,
    cursor: Any,
    faults: Any,
    column: int,
    kind: int,
    digits: int,
    old: bool,
) -> None:
    """DATE, TIME, DATETIME and TIMESTAMP (in UTC) with `digits` of a second; `old`: as up to 7.2."""
    out = words.view(np.uint8)
    tail = 0 if old else (digits + 1) // 2
    if old:
        size = 8 if kind == DATETIME else (4 if kind == TIMESTAMP else 3)
    else:
        size = (3, 3, 5, 4)[kind] + (0 if kind == DATE else tail)
    filled = (size + 3) // 4
    for row in range(rows):
        at = cursor[row]
        cursor[row] = at + filled
        base = 4 * at
        for k in range(4 * filled):
            out[row, base + k] = 0
        if lengths[row] < 0:
            fault(faults, row, column, MISSING)
            continue
        i, length = trimmed(data, starts[row], lengths[row])
        end = i + length
        year = month = day = hour = minute = second = micro = 0
        negative = False
        reason = 0
        if kind != TIME:
            first = i
            year, i = _digits(data, i, end, 4)
            if i == first or i >= end or data[i] != 45:
                reason = BAD_DATE
            else:
                first = i + 1
                month, i = _digits(data, i + 1, end, 2)
                if i == first or i >= end or data[i] != 45:
                    reason = BAD_DATE
                else:
                    first = i + 1
                    day, i = _digits(data, i + 1, end, 2)
                    if i == first or month > 12 or day > 31:
                        reason = BAD_DATE
            if reason == 0 and i < end:
                if kind == DATE or (data[i] != 32 and data[i] != 84):
                    reason = BAD_DATE
                else:
                    i += 1
        elif i < end and data[i] == 45:
            negative = True
            i += 1
        if reason == 0 and (kind == TIME or i < end):
            first = i
            hour, i = _digits(data, i, end, 3)
            if i == first or i >= end or data[i] != 58:
                reason = BAD_TIME
            else:
                first = i + 1
                minute, i = _digits(data, i + 1, end, 2)
                if i == first or i >= end or data[i] != 58:
                    reason = BAD_TIME
                else:
                    first = i + 1
                    second, i = _digits(data, i + 1, end, 2)
                    if i == first or minute > 59 or second > 59 or hour > (838 if kind == TIME else 23):
                        reason = BAD_TIME
            if reason == 0 and i < end and data[i] == 46:
                micro, i, reason = _fraction(data, i, end, 6 if old else digits)
            if reason == 0 and i != end:
                reason = BAD_TIME
        seconds = 0
        if reason == 0 and kind == TIMESTAMP and year + month + day > 0:
            if month < 1 or day < 1 or day > _days_of_month(year, month):
                reason = BAD_DATE
            else:
                seconds = _days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
                if seconds < 0 or seconds > LAST_TIMESTAMP:
                    reason = OUT_OF_RANGE
        if reason != 0:
            fault(faults, row, column, reason)
            continue
        part = micro
        for _ in range(6 - 2 * tail):
            part //= 10
        if kind == DATE:
            value = year << 9 | month << 5 | day
            for k in range(3):
                out[row, base + k] = (value >> (8 * k)) & 0xFF
        elif old:
            if kind == TIME:
                value = hour * 10000 + minute * 100 + second
                value = -value if negative else value
            elif kind == TIMESTAMP:
                value = seconds
            else:
                value = ((((year * 100 + month) * 100 + day) * 100 + hour) * 100 + minute) * 100 + second
            for k in range(size):
                out[row, base + k] = (value >> (8 * k)) & 0xFF
        else:
            if kind == TIME:
                value = (hour << 12 | minute << 6 | second) << (8 * tail) | part
                middle = 1 << (23 + 8 * tail)
                value = middle - value if negative else middle + value
            elif kind == DATETIME:
                value = ((year * 13 + month) << 5 | day) << 17 | hour << 12 | minute << 6 | second
                value = (1 << 39 | value) << (8 * tail) | part
            else:
                value = seconds << (8 * tail) | part
            for k in range(size):
                out[row, base + k] = (value >> (8 * (size - 1 - k))) & 0xFF
