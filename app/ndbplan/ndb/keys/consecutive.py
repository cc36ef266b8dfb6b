"""Hashes of whole numbers that follow one another, all at once: the ids of 6,000 warehouses in a millisecond.

    consecutive_hashes(column, 1, 6000, version)       # what keyhash.distribution_hash says of 1 … 6000

Array arithmetic, nothing is compiled: a table is distributed at once when a plan is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.hash import _CONSTANTS, _INITIAL, _SHIFTS

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

MOST_VALUES = 1_000_000
"""More keys are spread so evenly that nobody asks for each; hashing them would take a second."""

_BLOCK = 32768
"""Values hashed at once: what is between stays in the cache of a core."""


def fits(column: KeyColumn, first: int, count: int) -> bool:
    """Whether the column is of a whole-number type that holds all these values."""
    size = column.kind.integer_bytes
    if not size:
        return False
    low = 0 if column.unsigned else -(1 << (8 * size - 1))
    return low <= first and first + count - 1 < low + (1 << 8 * size)


def consecutive_hashes(column: KeyColumn, first: int, count: int) -> Array:
    """The 32-bit distribution hash of first, first + 1, … as a key of this one column.

    ValueError when the column does not hold them. Source: as `keyhash.distribution_hash`; integers are
    hashed in their stored bytes, low byte first, filled with zero bytes to whole words.
    """
    import numpy as np

    if not fits(column, first, count):
        raise ValueError(f"{column.name} ({column.type}) does not hold {count} values from {first}")
    blocks = range(0, count, _BLOCK)
    return np.concatenate(
        [_block(column, first + begin, min(_BLOCK, count - begin)) for begin in blocks]
        or [np.zeros(0, np.int64)]
    )


def _block(column: KeyColumn, first: int, count: int) -> Array:
    import numpy as np

    size = column.kind.integer_bytes
    limit = (1 << 8 * size) - 1
    values = (np.arange(count, dtype=np.uint64) + np.uint64(first & 0xFFFFFFFFFFFFFFFF)) & np.uint64(limit)
    words = [(values & np.uint64(0xFFFFFFFF)).astype(np.uint32)]
    if size > 4:
        words.append((values >> np.uint64(32)).astype(np.uint32))
    message: list[Any] = [*words, np.uint32(0x80000000)]
    message += [np.uint32(0)] * (14 - len(message))
    message += [np.uint32(4 * len(words)), np.uint32(0)]
    a, b, c, d = (np.full(count, word, dtype=np.uint32) for word in _INITIAL)
    for i in range(64):
        quarter = i // 16
        if quarter == 0:
            mixed, at = d ^ (b & (c ^ d)), i
        elif quarter == 1:
            mixed, at = c ^ (d & (b ^ c)), (5 * i + 1) % 16
        elif quarter == 2:
            mixed, at = b ^ c ^ d, (3 * i + 5) % 16
        else:
            mixed, at = c ^ (b | ~d), 7 * i % 16
        turned = a + mixed + np.uint32(_CONSTANTS[i]) + message[at]
        shift = _SHIFTS[quarter][i % 4]
        a, d, c, b = d, c, b, b + (turned << np.uint32(shift) | turned >> np.uint32(32 - shift))
    hashes: Array = (b + np.uint32(_INITIAL[1])).astype(np.int64)
    return hashes
