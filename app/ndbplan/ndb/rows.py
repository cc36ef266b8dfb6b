"""How NDB stores rows: words of a record, rows of a page. The bytes of each column type are in `ndb.columns`.

Sources: `Dbtup::computeTableMetaData`, `tuppage.hpp`, `Dbtup.hpp` (Tuple_header, Var_part_ref and
Disk_part_ref), corrected by byte counts read from running clusters (tests/reality).
A word is 4 bytes, a page 32768 bytes.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from ndbplan.ndb.columns import Storage, StoredType

PAGE_BYTES = 32768
WORD_BYTES = 4
"""Rows, log records and pages are counted in words (NDB source, Uint32)."""
FIXED_PAGE_WORDS = 8160
"""Words of a page that hold records: 8192 less a header of 32."""
VARIABLE_PAGE_WORDS = 8159
"""The same in a page of variable parts, less one word of its index."""
VARIABLE_PAGE_CLOSED_WORDS = 200
"""A page of variable parts with fewer free words takes no more rows (measured)."""

HEADER_WORDS = 2
CHECKSUM_WORDS = 1
GCI_WORDS = 1
VARIABLE_REFERENCE_WORDS = 2
DISK_REFERENCE_WORDS = 2

DYNAMIC_BITMAP_LENGTH_BITS = 8
"""Bits of the bitmap of a dynamic part that hold its length (DYN_BM_LEN_BITS)."""
MOST_DYNAMIC_FIXED_WORDS = 16
"""A dynamic column of fixed size with more words is stored like a variable one (InternalMaxDynFix)."""


def words(byte_count: int) -> int:
    """Whole words that hold so many bytes."""
    return (byte_count + 3) // 4


def mean_words(mean_bytes: float) -> float:
    """Words of a value of this mean length: exact when all values have one whole length, else in between."""
    below = math.floor(mean_bytes)
    share = mean_bytes - below
    return words(below) if share == 0 else words(below) * (1 - share) + words(below + 1) * share


def fixed_words(
    column_words: int, null_bits: int, *, has_variable_reference: bool, has_disk_part: bool
) -> int:
    """W_fix: words of the fixed part of a record, its columns' words and null bits given."""
    return (
        HEADER_WORDS
        + CHECKSUM_WORDS
        + GCI_WORDS
        + (DISK_REFERENCE_WORDS if has_disk_part else 0)
        + (VARIABLE_REFERENCE_WORDS if has_variable_reference else 0)
        + (null_bits + 31) // 32
        + column_words
    )


def disk_words(column_words: int, null_bits: int) -> int:
    """W_disk: words of the disk part of a record; variable columns count with their full declared size."""
    return HEADER_WORDS + GCI_WORDS + (null_bits + 31) // 32 + column_words


def variable_bytes(variable_columns: int, value_bytes: float) -> float:
    """Bytes of the static variable part: an offset of 2 bytes per column and one more, then the values."""
    return 2 * (variable_columns + 1) + value_bytes


class DynamicValue(NamedTuple):
    """One dynamic column in a record."""

    bits: int
    """Bits it takes in the bitmap of the dynamic part."""
    is_variable: bool
    """Stored with an offset; else in whole words behind the variable values."""
    mean_bytes: float
    present: float
    """Share of the records where it is not NULL."""


def dynamic_value(kind: StoredType, mean_bytes: float, present: float) -> DynamicValue:
    """How a dynamic column is stored: a fixed one takes a bit for each word, a long one counts as variable.

    Source: `Dbtup::execTUP_ADD_ATTRREQ`.
    """
    if kind.storage is Storage.BITS:
        return DynamicValue(kind.bits + 1, is_variable=False, mean_bytes=0.0, present=present)
    if kind.storage is not Storage.FIXED and kind.length_bytes:
        return DynamicValue(1, is_variable=True, mean_bytes=mean_bytes, present=present)
    count = words(kind.max_bytes)
    if count > MOST_DYNAMIC_FIXED_WORDS:
        return DynamicValue(1, is_variable=True, mean_bytes=kind.max_bytes, present=present)
    return DynamicValue(count, is_variable=False, mean_bytes=4 * count, present=present)


def dynamic_words(values: Sequence[DynamicValue]) -> float:
    """Mean words that dynamic columns, in the order of the table, add to the variable part of a record.

    A bitmap without its last words where no bit is set, an offset for each variable value and one more, the
    variable values, the others; nothing when all are NULL. Source: `shrink_dyn_part` (DbtupExecQuery.cpp).
    """
    bit = DYNAMIC_BITMAP_LENGTH_BITS
    # Chance that no column with bits in this or a later word of the bitmap is there.
    absent = [1.0] * ((bit + sum(value.bits for value in values) + 31) // 32)
    for value in values:
        bit += value.bits
        for word in range((bit - 1) // 32 + 1):
            absent[word] *= 1.0 - value.present
    variable = fixed = 0.0
    for value in values:
        if value.is_variable:
            variable += value.present * (2 + value.mean_bytes)
        else:
            fixed += value.present * value.mean_bytes / 4
    there = 1.0 - absent[0]
    # Rows where all are NULL have no offsets: words are those of the others, in their share.
    offsets = there * mean_words(2 + variable / there) if there else 0.0
    return sum(1.0 - chance for chance in absent) + offsets + fixed


def rows_per_fixed_page(record_words: int) -> int:
    """Records of so many words in one page; one that no page holds, which the product refuses, takes one."""
    return max(1, FIXED_PAGE_WORDS // record_words)


def rows_per_variable_page(variable_words: float) -> int:
    """Variable parts of so many words in one page; each takes an index word more."""
    size = variable_words + 1
    fitting = int(VARIABLE_PAGE_WORDS // size)
    until_closed = int((VARIABLE_PAGE_WORDS - VARIABLE_PAGE_CLOSED_WORDS) // size) + 1
    return max(1, min(fitting, until_closed))


_FREE_LISTS = (499, 999, 4079, VARIABLE_PAGE_WORDS)
"""Most free words of the pages in each list of those that take rows (NDB source, c_max_list_size)."""
_LOOKED_AT = 16
"""Pages of the list of its own size that a row tries before it takes a new page (NDB source)."""
_SMALL_WORDS = 100
"""Rows of at most so many words fill pages alike whatever their mix."""
_ROWS_PLAYED = 2000
_GOLDEN = 0.6180339887498949
"""Rows that are put into pages to see how full they get; by the golden ratio their sizes are drawn evenly."""


@lru_cache(maxsize=1024)
def rows_per_page_of_mix(mix: tuple[tuple[float, float], ...]) -> float:
    """Variable parts of several sizes in one page on average; `mix`: (words, share of the rows) of each.

    A row takes a page that surely has room, else one of the first with as little room as it needs, else a
    new one: played through, as what fits beside what has no formula. Source: `Dbtup::get_alloc_page`.
    """
    mean = sum(words * share for words, share in mix)
    if len(mix) == 1 or max(words for words, _ in mix) <= _SMALL_WORDS:
        return rows_per_variable_page(mean)
    ends = list(accumulate(share for _, share in mix))
    lists: list[list[int]] = [[] for _ in _FREE_LISTS]
    free: list[int] = []
    largest = max(VARIABLE_PAGE_CLOSED_WORDS, max(math.ceil(words) for words, _ in mix) + 1)
    before = 0.0
    for row in range(_ROWS_PLAYED):
        if row == _ROWS_PLAYED // 2:
            before = _full_pages(free, largest)
        at = min(bisect_right(ends, (row + 0.5) * _GOLDEN % 1.0), len(mix) - 1)
        size = math.ceil(mix[at][0]) + 1
        page = _page_with_room(lists, free, size)
        if page is None:
            page = len(free)
            free.append(VARIABLE_PAGE_WORDS)
        else:
            next(one for one in lists if page in one).remove(page)
        free[page] = max(0, free[page] - size)
        if free[page] >= VARIABLE_PAGE_CLOSED_WORDS:
            lists[bisect_left(_FREE_LISTS, free[page])].append(page)
    return max(1.0, _ROWS_PLAYED / 2 / (_full_pages(free, largest) - before))


def _full_pages(free: list[int], largest: int) -> float:
    """Pages that are in use, those that still take rows of any size in part.

    What small rows leave of pages that take no large one does not count: of many rows only as much of it is
    filled as there are small ones.
    """
    return sum(1.0 if left < largest else 1.0 - left / VARIABLE_PAGE_WORDS for left in free)


def _page_with_room(lists: list[list[int]], free: list[int], size: int) -> int | None:
    own = bisect_left(_FREE_LISTS, min(size, VARIABLE_PAGE_WORDS))
    for pages_of_list in lists[own + 1 :]:
        if pages_of_list:
            return pages_of_list[-1]
    tried = lists[own][: -_LOOKED_AT - 1 : -1]
    return next((page for page in tried if free[page] >= size), None)


def pages(rows: int, rows_per_page: float) -> int:
    """Pages that hold so many rows."""
    return math.ceil(rows / rows_per_page) if rows_per_page else 0
