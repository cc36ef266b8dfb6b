"""From a key to its 32-bit hash, bit for bit as NDB does it, for single keys and in plain Python.

    columns = (KeyColumn("id", "bigint"), KeyColumn("name", "varchar", length=32, collation="latin1_bin"))
    distribution_hash(columns, (7, "Anna"), version)      # 32-bit hash; partition = map[hash mod buckets]

Many keys at once: `keytext`, which compiles the same rules. Sources: `md5_hash.cpp`, `Ndb::computeHash`,
`NdbSqlUtil::strnxfrm_hash`, confirmed on key lists of 7.4.10 and 8.4.8 (tests/reality/clusters/partitions).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import sin

from ndbplan.ndb import collations
from ndbplan.ndb.collations import CollationRule, Kind
from ndbplan.ndb.columns import KeyEncoding
from ndbplan.ndb.keys import values as keyvalues
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.version import NdbVersion

_MASK = 0xFFFFFFFF
_SHIFTS = ((7, 12, 17, 22), (5, 9, 14, 20), (4, 11, 16, 23), (6, 10, 15, 21))
_INITIAL = (0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476)
"""MD5 as in RFC 1321, 3.3 and 3.4: mask of a word, shifts of the rounds, sines, the words begun with."""
_CONSTANTS = tuple(int(abs(sin(i + 1)) * 2**32) & _MASK for i in range(64))


def digest(words: Sequence[int]) -> tuple[int, int, int, int]:
    """The four result words of NDB's MD5 variant over 32-bit words."""
    message = [*words, 0x80000000]
    while len(message) % 16 != 14:
        message.append(0)
    message += [4 * len(words), 0]
    state = list(_INITIAL)
    for start in range(0, len(message), 16):
        block = message[start : start + 16]
        a, b, c, d = state
        for i in range(64):
            quarter = i // 16
            if quarter == 0:
                f, at = d ^ (b & (c ^ d)), i
            elif quarter == 1:
                f, at = c ^ (d & (b ^ c)), (5 * i + 1) % 16
            elif quarter == 2:
                f, at = b ^ c ^ d, (3 * i + 5) % 16
            else:
                f, at = c ^ (b | ~d & _MASK), 7 * i % 16
            turned = (a + f + _CONSTANTS[i] + block[at]) & _MASK
            shift = _SHIFTS[quarter][i % 4]
            a, d, c, b = d, c, b, (b + ((turned << shift | turned >> (32 - shift)) & _MASK)) & _MASK
        state = [(s + n) & _MASK for s, n in zip(state, (a, b, c, d), strict=True)]
    return state[0], state[1], state[2], state[3]


def key_bytes(columns: Sequence[KeyColumn], values: Sequence[object], version: NdbVersion) -> bytes:
    """What is hashed of a key: each column encoded and filled with zero bytes to whole words.

    Values are int, str, bytes (stored bytes of a string or binary), Decimal, float, date, datetime, time or
    timedelta, or their text. Raises KeyValueError for a value the column cannot hold, KeyTypeError and
    UnsupportedCollationError for columns.
    """
    parts = []
    for column, value in zip(columns, values, strict=True):
        encoded = column_bytes(column, value, version)
        parts.append(encoded + bytes(-len(encoded) % 4))
    return b"".join(parts)


def column_bytes(column: KeyColumn, value: object, version: NdbVersion) -> bytes:
    """What is hashed of one column's value, before filling."""
    size = column.byte_length(version)
    rule = column.rule(version)
    if rule is not None:
        return string_bytes(
            rule,
            keyvalues.stored_string(column, value, version),
            size,
            column.encoding is KeyEncoding.CHAR,
        )
    if column.encoding is KeyEncoding.VARBINARY:
        data = keyvalues.stored_binary(column, value)
        return len(data).to_bytes(1 if size < 256 else 2, "little") + data
    return keyvalues.encode(column, value, version)


def string_bytes(rule: CollationRule, stored: bytes, size: int, fixed: bool) -> bytes:
    """Weights of a string of at most `size` bytes, padded to the declared width; 8 bytes for NO PAD."""
    if rule.is_hashed:
        return _hashed(rule, stored.rstrip(b" ") if fixed else stored)
    if rule.kind is Kind.BYTES:
        weights, space = stored, b" "
    elif rule.kind is Kind.TABLE:
        table = collations.byte_weights(rule.table).tobytes()
        weights, space = stored.translate(table), bytes([rule.filler])
    else:
        points = collations.decode_points(stored, rule.charset)
        weights, space = _weights(rule, points), _weights(rule, [0x20])
    width = rule.multiply * size
    filler = space * (width // len(space) + 1)
    return (weights + filler)[:width] if len(weights) < width else weights[:width]


def _weights(rule: CollationRule, points: list[int]) -> bytes:
    if rule.kind is Kind.CODE_POINT_3:
        return b"".join(p.to_bytes(3, "big") for p in points)
    if rule.kind is Kind.CODE_POINT_2:
        words = [min(p, 0xFFFD) if p > 0xFFFF else p for p in points]
    elif rule.kind is Kind.GENERAL:
        table = collations.general_weights()
        words = [int(table[p]) if p < 0x10000 else 0xFFFD for p in points]
    else:
        uca = collations.uca_table(rule.table)
        words = [int(w) for p in points for w in uca.weights[uca.start[p] : uca.start[p + 1]]]
    return struct.pack(f">{len(words)}H", *words)


def _hashed(rule: CollationRule, stored: bytes) -> bytes:
    if rule.kind is Kind.BYTES_HASHED:
        first, second = 0, 0
        for byte in stored.rstrip(b" "):
            first ^= ((((first & 63) + second) * byte) + (first << 8)) & (2**64 - 1)
            second += 3
        return first.to_bytes(8, "little")
    value = 14695981039346656037
    points = collations.decode_points(stored, rule.charset)
    for level in range(1, rule.levels + 1):
        table = collations.uca_table(rule.table, level)
        if level > 1:
            value = value * 1099511628211 & (2**64 - 1)
        for p in points:
            for weight in table.weights[table.start[p] : table.start[p + 1]]:
                value = ((value ^ int(weight)) * 1099511628211) & (2**64 - 1)
    return value.to_bytes(8, "little")


def distribution_hash(columns: Sequence[KeyColumn], values: Sequence[object], version: NdbVersion) -> int:
    """The 32-bit hash that decides the partition: word 1 of the digest of the distribution key."""
    data = key_bytes(columns, values, version)
    return digest(struct.unpack(f"<{len(data) // 4}I", data))[1]
