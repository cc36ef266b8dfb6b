"""Pages of a fragment's primary key hash index: a linear hash table whose fill goes round with each doubling.

    hash_index_pages(np.array([24943, 49950]))      # 43, 85

The data is `resources/ndb/hash_index.json`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.resources import read_json

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class HashIndexFacts(NamedTuple):
    """How buckets fill pages."""

    page_bytes: int
    buckets_per_page: int
    entry_words: int
    bucket_words: int
    """Words that entries take of a bucket on average, once it is full."""
    overflow_pages_per_page: tuple[float, ...]
    """Overflow pages for each page of buckets, from one doubling of the buckets to the next."""
    reference_row_bytes: float
    """Bytes of a row among many: what the constant hash_index_row_bytes is stated against."""


@cache
def hash_index_facts() -> HashIndexFacts:
    """The facts, read once."""
    data = read_json("ndb/hash_index.json")
    values = {name: data[name] for name in HashIndexFacts._fields}
    overflow = tuple(values.pop("overflow_pages_per_page"))
    return HashIndexFacts(**values, overflow_pages_per_page=overflow)


def hash_index_pages(rows: Array) -> Array:
    """Pages of the hash index of fragments with so many rows, random keys, nothing deleted."""
    import numpy as np

    facts = hash_index_facts()
    least = facts.buckets_per_page
    buckets = np.maximum(least, np.ceil(rows * (facts.entry_words / facts.bucket_words)))
    doublings = np.log2(buckets)
    overflow = facts.overflow_pages_per_page
    at = np.linspace(0.0, 1.0, len(overflow) + 1)
    share = np.interp(doublings - np.floor(doublings), at, (*overflow, overflow[0]))
    pages = buckets / least
    # A page from the first on that the fragment is there, an overflow page from its first row.
    return np.where(rows > 0, np.ceil(pages) + np.maximum(1.0, np.round(share * pages)), 1.0)
