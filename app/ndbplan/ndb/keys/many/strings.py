"""Compiled encoding of strings and binary values, from text to the words that are hashed.

Imported only when keys are read. Each encoder writes one column of every row at that row's
cursor (in words) and moves the cursor.

Source: `ndb.keys.values`, whose encoders give the same words for one key.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64

from ndbplan.base.compiled import machine_code
from ndbplan.ndb.keys.many.rows import BAD_HEX, BAD_TEXT, DOUBLED, MISSING, QUOTE, TOO_LONG, fault

BLANK = 32
"""ASCII code of a blank."""


@machine_code(nogil=True)
def _hex_digit(byte: int) -> int:
    if 48 <= byte <= 57:
        return byte - 48
    if 65 <= byte <= 70:
        return byte - 55
    if 97 <= byte <= 102:
        return byte - 87
    return -1


@machine_code(nogil=True)
def is_hex(data: Any, start: int, length: int) -> bool:
    """Whether a field is 0x and hex digits of whole bytes."""
    if length < 2 or length % 2 or data[start] != 48 or (data[start + 1] | 32) != 120:
        return False
    digits = 0
    for i in range(start + 2, start + length):
        digits += _hex_digit(data[i]) >= 0
    return digits == length - 2


@machine_code(nogil=True)
def _stored(
    data: Any, start: int, length: int, quoted: int, to_byte: Any, need_hex: bool, buffer: Any, most: int
) -> int:
    """Bytes of a string field as stored, into `buffer`; the count, or minus a reason.

    `to_byte` maps code points below U+10000 to bytes of an 8-bit character set (-1: none); empty: the
    text's UTF-8 bytes are stored as they are. Blanks behind `most` bytes are cut off, as the server does.
    """
    if is_hex(data, start, length):
        count = length // 2 - 1
        for i in range(count):
            byte = _hex_digit(data[start + 2 + 2 * i]) * 16 + _hex_digit(data[start + 3 + 2 * i])
            if i < most:
                buffer[i] = byte
            elif need_hex or byte != BLANK:
                return -TOO_LONG
        return min(count, most)
    if need_hex:
        return -BAD_HEX
    count = 0
    i = start
    end = start + length
    while i < end:
        byte = data[i]
        if quoted == DOUBLED and byte == QUOTE:
            i += 1
        if len(to_byte) == 0:
            if count >= most:
                if byte != BLANK:
                    return -TOO_LONG
                i += 1
                continue
            buffer[count] = byte
            count += 1
            i += 1
            continue
        point, width = code_point(data, i, end)
        if width == 0 or point > 0xFFFF or to_byte[point] < 0:
            return -BAD_TEXT
        if count >= most:
            if point != BLANK:
                return -TOO_LONG
            i += width
            continue
        buffer[count] = to_byte[point]
        count += 1
        i += width
    return count


@machine_code(nogil=True)
def code_point(data: Any, i: int, end: int) -> tuple[Any, int]:
    """Code point of the UTF-8 character at i and its bytes; 0 bytes: malformed."""
    byte = np.int64(data[i])
    if byte < 0x80:
        return byte, 1
    if 0xC2 <= byte < 0xE0 and i + 1 < end:
        second = np.int64(data[i + 1])
        if second & 0xC0 == 0x80:
            return (byte & 0x1F) << 6 | (second & 0x3F), 2
    elif 0xE0 <= byte < 0xF0 and i + 2 < end:
        second, third = np.int64(data[i + 1]), np.int64(data[i + 2])
        if second & 0xC0 == 0x80 and third & 0xC0 == 0x80:
            point = (byte & 0x0F) << 12 | (second & 0x3F) << 6 | (third & 0x3F)
            if point >= 0x800 and not (0xD800 <= point < 0xE000):
                return point, 3
    elif 0xF0 <= byte < 0xF5 and i + 3 < end:
        second, third, fourth = np.int64(data[i + 1]), np.int64(data[i + 2]), np.int64(data[i + 3])
        if second & 0xC0 == 0x80 and third & 0xC0 == 0x80 and fourth & 0xC0 == 0x80:
            point = (byte & 0x07) << 18 | (second & 0x3F) << 12 | (third & 0x3F) << 6 | (fourth & 0x3F)
            if 0x10000 <= point < 0x110000:
                return point, 4
    return 0, 0


@machine_code(nogil=True)
def _fitting(text: Any, start: int, count: int, most: int) -> int:
    """Bytes of UTF-8 text that are at most `most` characters; blanks too many are cut; or minus a reason."""
    characters = 0
    for i in range(start, start + count):
        if text[i] & 0xC0 != 0x80:
            characters += 1
    while characters > most and text[start + count - 1] == BLANK:
        characters -= 1
        count -= 1
    return count if characters <= most else -TOO_LONG


@machine_code(nogil=True)
def encode_bytes(
    data: Any,
    starts: Any,
    lengths: Any,
    quoted: Any,
    rows: int,
    words: Any,
    cursor: Any,
    faults: Any,
    column: int,
    size: int,
    length_bytes: int,
) -> None:
    """BINARY (length_bytes 0, zero filled) and VARBINARY (its length bytes kept)."""
    out = words.view(np.uint8)
    buffer = np.empty(size + 1, dtype=np.uint8)
    nothing = np.empty(0, dtype=np.int16)
    for row in range(rows):
        at = cursor[row]
        count = 0
        if lengths[row] < 0:
            fault(faults, row, column, MISSING)
        else:
            count = _stored(data, starts[row], lengths[row], quoted[row], nothing, True, buffer, size)
            if count < 0:
                fault(faults, row, column, -count)
                count = 0
        total = size if length_bytes == 0 else length_bytes + count
        filled = (total + 3) // 4
        base = 4 * at
        for i in range(4 * filled):
            out[row, base + i] = 0
        for i in range(length_bytes):
            out[row, base + i] = (count >> (8 * i)) & 0xFF
        for i in range(count):
            out[row, base + length_bytes + i] = buffer[i]
        cursor[row] = at + filled


@machine_code(nogil=True)
def _is_plain(data: Any, start: int, length: int, quoted: int, size: int) -> bool:
    """Whether a field can be taken byte by byte: short enough, no doubled quotes, not hex."""
    if length > size or quoted == DOUBLED:
        return False
    return length < 2 or data[start] != 48 or (data[start + 1] | 32) != 120


@machine_code(nogil=True)
def encode_table_strings(
    data: Any,
    starts: Any,
    lengths: Any,
    quoted: Any,
    rows: int,
    words: Any,
    cursor: Any,
    faults: Any,
    column: int,
    size: int,
    to_byte: Any,
    weights: Any,
    filler: int,
) -> None:
    """Strings of one weight byte for each byte, padded with `filler`."""
    row_bytes = 4 * words.shape[1]
    out = words.view(np.uint8).reshape(-1)
    buffer = np.empty(size + 1, dtype=np.uint8)
    padding = np.zeros(4 * ((size + 3) // 4), dtype=np.uint8)
    padding[:size] = filler
    filled = len(padding) // 4
    for row in range(rows):
        at = cursor[row]
        cursor[row] = at + filled
        base = row * row_bytes + 4 * at
        start, length = starts[row], lengths[row]
        count = 0
        if length < 0:
            fault(faults, row, column, MISSING)
        elif _is_plain(data, start, length, quoted[row], size):
            seen = np.uint8(0)
            for i in range(length):
                seen |= data[uint64(start + i)]
            if seen < 128:
                for i in range(length):
                    out[uint64(base + i)] = weights[data[uint64(start + i)]]
                count = length
        if length >= 0 and count < length:
            count = _stored(data, start, length, quoted[row], to_byte, False, buffer, size)
            if count < 0:
                fault(faults, row, column, -count)
                count = 0
            for i in range(count):
                out[uint64(base + i)] = weights[buffer[i]]
        for i in range(count, len(padding)):
            out[uint64(base + i)] = padding[uint64(i)]


@machine_code(nogil=True)
def encode_unicode_strings(
    data: Any,
    starts: Any,
    lengths: Any,
    quoted: Any,
    rows: int,
    words: Any,
    cursor: Any,
    faults: Any,
    column: int,
    size: int,
    characters: int,
    width: int,
    unit: int,
    highest: int,
    weight_start: Any,
    weights: Any,
) -> None:
    """Strings of weights of `unit` bytes, high byte first, padded to `width` bytes with those of a space.

    `weight_start` and `weights` give the weights of each code point; empty: the code point itself.
    `highest`: greatest code point the character set holds.
    """
    row_bytes = 4 * words.shape[1]
    out = words.view(np.uint8).reshape(-1)
    buffer = np.empty(size + 1, dtype=np.uint8)
    nothing = np.empty(0, dtype=np.int16)
    by_table = len(weight_start) > 0
    space = np.int64(weights[weight_start[32]]) if by_table else np.int64(32)
    padding = np.zeros(4 * ((width + 3) // 4), dtype=np.uint8)
    for k in range(width):
        padding[k] = (space >> (8 * (unit - 1 - k % unit))) & 0xFF
    filled = len(padding) // 4
    for row in range(rows):
        at = cursor[row]
        cursor[row] = at + filled
        base = row * row_bytes + 4 * at
        start, count = starts[row], lengths[row]
        text, is_text = data, True
        if count < 0:
            fault(faults, row, column, MISSING)
            count = 0
        elif not _is_plain(data, start, count, quoted[row], size):
            is_text = not is_hex(data, start, count)
            count = _stored(data, start, count, quoted[row], nothing, False, buffer, size)
            text, start = buffer, 0
        if count > characters:
            count = _fitting(text, start, count, characters)
        if count < 0:
            fault(faults, row, column, -count)
            count = 0
        written = 0
        i, end = start, start + count
        while i < end and written < width:
            point = np.int64(text[i])
            if point < 128:
                i += 1
            else:
                point, bytes_read = code_point(text, i, end)
                if bytes_read == 0 or point > highest:
                    # Stored bytes (0x) count up to what is malformed, as the product reads them.
                    if is_text:
                        fault(faults, row, column, BAD_TEXT)
                    break
                i += bytes_read
            first, last = (weight_start[point], weight_start[point + 1]) if by_table else (0, 1)
            for k in range(first, last):
                weight = np.int64(weights[k]) if by_table else point
                if unit == 2 and written + 2 <= width:
                    out[base + written] = weight >> 8
                    out[base + written + 1] = weight & 0xFF
                    written += 2
                else:
                    for b in range(unit):
                        if written < width:
                            out[base + written] = (weight >> (8 * (unit - 1 - b))) & 0xFF
                            written += 1
        for k in range(written, len(padding)):
            out[base + k] = padding[k]


@machine_code(nogil=True)
def encode_hashed_strings(
    data: Any,
    starts: Any,
    lengths: Any,
    quoted: Any,
    rows: int,
    words: Any,
    cursor: Any,
    faults: Any,
    column: int,
    size: int,
    characters: int,
    strip: bool,
    levels: int,
    start1: Any,
    weights1: Any,
    start2: Any,
    weights2: Any,
    start3: Any,
    weights3: Any,
) -> None:
    """NO PAD strings: FNV-1a over the weights of 1 to 3 levels; 0 levels: the hash of the bytes."""
    buffer = np.empty(size + 1, dtype=np.uint8)
    nothing = np.empty(0, dtype=np.int16)
    for row in range(rows):
        at = cursor[row]
        cursor[row] = at + 2
        if lengths[row] < 0:
            fault(faults, row, column, MISSING)
            continue
        text, begin, count = data, starts[row], lengths[row]
        is_text = True
        if not _is_plain(data, begin, count, quoted[row], size):
            is_text = not is_hex(data, begin, count)
            count = _stored(data, begin, count, quoted[row], nothing, False, buffer, size)
            text, begin = buffer, 0
        if count > characters:
            count = _fitting(text, begin, count, characters)
        if count < 0:
            fault(faults, row, column, -count)
            continue
        if strip or levels == 0:
            while count > 0 and text[begin + count - 1] == 32:
                count -= 1
        if levels == 0:
            value, step = uint64(0), uint64(0)
            for i in range(begin, begin + count):
                mixed = uint64(((value & uint64(63)) + step) * uint64(text[i]))
                value = uint64(value ^ uint64(mixed + (value << uint64(8))))
                step = uint64(step + uint64(3))
        else:
            value = uint64(14695981039346656037)
            for level in range(levels):
                if level == 1:
                    start, weights = start2, weights2
                elif level == 2:
                    start, weights = start3, weights3
                else:
                    start, weights = start1, weights1
                if level > 0:
                    value = uint64(value * uint64(1099511628211))
                i, end = begin, begin + count
                while i < end:
                    point = np.int64(text[i])
                    if point < 128:
                        i += 1
                    else:
                        point, bytes_read = code_point(text, i, end)
                        if bytes_read == 0:
                            if is_text:
                                fault(faults, row, column, BAD_TEXT)
                            break
                        i += bytes_read
                    for k in range(start[point], start[point + 1]):
                        value = uint64((value ^ uint64(weights[k])) * uint64(1099511628211))
        words[row, at] = np.uint32(value & uint64(0xFFFFFFFF))
        words[row, at + 1] = np.uint32(value >> uint64(32))
