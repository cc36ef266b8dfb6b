"""Pages that the parts of tables fill: counted for many tables at once, fragment by fragment.

Source: page sizes and rows in a page are those of `ndb.rows`, read from running clusters.
"""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.ndb.hash_index import hash_index_pages
from ndbplan.ndb.rows import PAGE_BYTES

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


KINDS = ("fixed", "variable", "hash_index", "ordered_index", "unique_index", "blob")
"""What fills DataMemory (hash indexes up to 7.5: IndexMemory)."""
FIXED, VARIABLE, HASH_INDEX, ORDERED_INDEX, UNIQUE_INDEX, BLOB, DISK = range(len(KINDS) + 1)


class PagePart(NamedTuple):
    """Something that fills pages of its own in each fragment; all in numbers, so that many make an array."""

    kind: int
    page: float
    """Rows, or bytes of them, that a page holds; 0: a hash index."""
    row: float = 1.0
    """What one row takes of that: 1 when rows are counted; of a hash index: against the usual."""
    page_bytes: int = PAGE_BYTES
    per_row: float = 1.0
    """Rows of a hidden table for each row of its table."""
    kept: float = 0.0
    """Share that stays of the pages that rows moved away from."""


COUNTED_PAGES = PagePart(VARIABLE, 1.0, 1.0, 1)
"""Variable pages that were counted: what a fragment has are bytes, not rows."""


class Spread(NamedTuple):
    """Rows of each fragment, and what fills pages for them."""

    rows: Array
    most: Array
    """The most rows each fragment has held."""
    node_group: Array
    parts: list[PagePart]


class Pages(NamedTuple):
    """Bytes of the pages of one table."""

    of_part: list[float]
    of_kind: list[float]
    by_group: Array
    """Of what is in memory: [kind, node group]."""


def count_pages(tables: list[list[Spread]], groups: int) -> list[Pages]:
    """Pages of tables, counted once for each run of fragments with equally many rows."""
    import numpy as np

    spreads = [spread for own in tables for spread in own]
    rows = np.concatenate([spread.rows for spread in spreads])
    most = np.concatenate([spread.most for spread in spreads])
    starts = [0, *accumulate([len(spread.rows) for spread in spreads])]
    is_first = np.append(True, (rows[1:] != rows[:-1]) | (most[1:] != most[:-1]))
    is_first[starts[:-1]] = True
    first = np.flatnonzero(is_first)
    runs, length = len(first), np.diff(first, append=len(rows))
    places = np.repeat(np.arange(runs) * groups, length)
    places += np.concatenate([spread.node_group for spread in spreads])
    fragments = np.bincount(places, np.ones(len(places)), runs * groups).reshape(runs, groups)

    # Each part in each run of its rows: part[i] takes size[i] bytes in a fragment of run[i].
    parts = [part for spread in spreads for part in spread.parts]
    spread_of = np.repeat(np.arange(len(spreads)), [len(spread.parts) for spread in spreads])
    spread_runs = np.searchsorted(first, starts)
    count = np.diff(spread_runs)[spread_of]
    part = np.repeat(np.arange(len(parts)), count)
    run = np.arange(len(part)) + np.repeat(spread_runs[spread_of] - np.cumsum(count) + count, count)
    figures = np.fromiter(chain.from_iterable(parts), np.float64, len(parts) * len(PagePart._fields))
    kind, page, row, page_bytes, per_row, kept = figures.reshape(len(parts), -1).T[:, part]

    def pages_of(held: Array) -> Array:
        stored = np.ceil(held[first[run]] * per_row)
        is_hash = page == 0.0
        counted: Array = np.ceil(stored * row / np.where(is_hash, 1.0, page))
        counted[is_hash] = np.maximum(1.0, np.round(hash_index_pages(stored[is_hash]) * row[is_hash]))
        return counted

    pages = pages_of(rows)
    if (most > rows).any():
        pages += np.round(kept * (pages_of(most) - pages))
    size = pages * page_bytes

    kinds = len(KINDS) + 1
    of_part = np.bincount(part, size * length[run]).tolist()
    by_run = np.bincount(kind.astype(np.int64) * runs + run, size, kinds * runs).reshape(kinds, runs)
    table_spreads = list(accumulate([len(own) for own in tables], initial=0))
    table_parts = np.searchsorted(spread_of, table_spreads).tolist()
    table_runs = spread_runs[table_spreads].tolist()
    figures_of_tables = zip(
        [of_part[a:b] for a, b in pairwise(table_parts)],
        np.add.reduceat(by_run * length, table_runs[:-1], axis=1).T.tolist(),
        [by_run[:DISK, a:b] @ fragments[a:b] for a, b in pairwise(table_runs)],
        strict=True,
    )
    return [Pages(*figures) for figures in figures_of_tables]
