"""Compiled encoding of whole and decimal numbers, from text to the words that are hashed.

Imported only when keys are read. Each encoder writes one column of every row at that row's
cursor (in words) and moves the cursor.

Source: `ndb.keys.values`, whose encoders give the same words for one key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from ndbplan.base.compiled import machine_code
from ndbplan.ndb.keys.many.rows import MISSING, NO_NUMBER, OUT_OF_RANGE, TOO_PRECISE, fault, trimmed

_DIGITS_THAT_FIT = 19
"""So many digits are below 2^64 whatever they are."""


@machine_code(nogil=True)
def encode_integers(
    data: Any,
    starts: Any,
    lengths: Any,
    rows: int,
    words: Any,
    cursor: Any,
    faults: Any,
    column: int,
    size: int,
    unsigned: bool,
    year: bool,
) -> None:
    """Whole numbers of `size` bytes; years are stored from 1900 on."""
    for row in range(rows):
        at = cursor[row]
        cursor[row] = at + (2 if size == 8 else 1)
        start, length = starts[row], lengths[row]
        # Nearly every number is digits alone, few enough for 64 bits.
        value, others = uint64(0), 0
        for i in range(start, start + length):
            digit = uint64(data[uint64(i)]) - uint64(48)
            others += digit > uint64(9)
            value = value * uint64(10) + digit
        good = others == 0 and 0 < length <= _DIGITS_THAT_FIT
        negative = overflow = False
        if not good:
            value = uint64(0)
            start, length = trimmed(data, start, max(0, length))
            negative = length > 0 and data[start] == 45
            if length > 0 and (negative or data[start] == 43):
                start += 1
                length -= 1
            good = 0 < length <= 20
            length = length if good else 0
            for i in range(start, start + length):
                digit = uint64(data[uint64(i)]) - uint64(48)
                if digit > uint64(9):
                    good = False
                    break
                if value > uint64(1844674407370955161) or (
                    value == uint64(1844674407370955161) and digit > uint64(5)
                ):
                    overflow = True
                value = uint64(value * uint64(10) + digit)
        if not good:
            fault(faults, row, column, MISSING if lengths[row] < 0 else NO_NUMBER)
            continue
        if year:
            if value != 0 and not (1901 <= value <= 2155):
                overflow = True
            elif value != 0:
                value = uint64(value - uint64(1900))
            overflow = overflow or (negative and value != 0)
        elif unsigned:
            overflow = overflow or (negative and value != 0)
            if size < 8 and value >= uint64(1) << uint64(8 * size):
                overflow = True
        else:
            limit = uint64(1) << uint64(8 * size - 1)
            if value > limit or (value == limit and not negative):
                overflow = True
        if overflow:
            fault(faults, row, column, OUT_OF_RANGE)
            continue
        if negative:
            value = uint64(~value + uint64(1))
        if size == 8:
            words[row, uint64(at)] = np.uint32(value & uint64(0xFFFFFFFF))
            words[row, uint64(at + 1)] = np.uint32(value >> uint64(32))
        else:
            words[row, uint64(at)] = np.uint32(value & ((uint64(1) << uint64(8 * size)) - uint64(1)))


@machine_code(nogil=True)
def encode_decimals(
    data: Any,
    starts: Any,
    lengths: Any,
    rows: int,
    words: Any,
    cursor: Any,
    faults: Any,
    column: int,
    precision: int,
    scale: int,
    size: int,
    unsigned: bool,
) -> None:
    """DECIMAL(precision, scale): groups of nine digits, high byte first, the sign in the first bit."""
    out = words.view(np.uint8)
    whole = precision - scale
    digits = np.zeros(precision + 1, dtype=np.uint8)
    group_bytes = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
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
        negative = i < end and data[i] == 45
        if i < end and (data[i] == 45 or data[i] == 43):
            i += 1
        digits[:] = 0
        first = i
        while i < end and data[i] == 48:
            i += 1
        lead = i
        while i < end and 48 <= data[i] <= 57:
            i += 1
        count = i - lead
        reason = 0
        if count > whole:
            reason = OUT_OF_RANGE
        else:
            for k in range(count):
                digits[whole - count + k] = data[lead + k] - 48
        seen = i > first
        if reason == 0 and i < end and data[i] == 46:
            i += 1
            place = 0
            while i < end and 48 <= data[i] <= 57:
                if place < scale:
                    digits[whole + place] = data[i] - 48
                elif data[i] != 48:
                    reason = TOO_PRECISE
                place += 1
                seen = True
                i += 1
        if reason == 0 and (i != end or not seen):
            reason = NO_NUMBER
        if reason != 0:
            fault(faults, row, column, reason)
            continue
        nonzero = False
        for k in range(precision):
            nonzero = nonzero or digits[k] != 0
        if unsigned and negative and nonzero:
            fault(faults, row, column, OUT_OF_RANGE)
            continue
        position = base
        k = 0
        while k < precision:
            first_group = whole % 9 if k == 0 and whole % 9 else 9
            group = first_group if k < whole else min(9, precision - k)
            value = 0
            for d in range(group):
                value = value * 10 + digits[k + d]
            width = group_bytes[group]
            for b in range(width):
                out[row, position + b] = (value >> (8 * (width - 1 - b))) & 0xFF
            position += width
            k += group
        if negative and nonzero:
            for b in range(base, position):
                out[row, b] = out[row, b] ^ 0xFF
        out[row, base] = out[row, base] ^ 0x80
