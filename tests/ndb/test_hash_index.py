"""Pages of hash indexes: as running clusters reported them, and as a fragment played through has them."""

from __future__ import annotations

import numpy as np
import pytest

from ndb.hash_index_growth import filled
from ndbplan.ndb.hash_index import hash_index_pages

MEASURED = {
    # 8.4.8, memory_per_fragment of a table of 100,000 rows before and after it grew to two node groups
    24_943: 43, 24_961: 43, 25_007: 43, 25_089: 44, 49_950: 86, 50_050: 87, 2: 2,
    # 8.4.8, ndb_sql_metadata, and NDB$BLOB of a table whose documents are short: empty fragments
    0: 1,
    # 7.4.10, a table of a million rows in four partitions
    249_710: 465, 250_001: 466, 250_135: 466, 250_154: 466,
}  # fmt: skip


@pytest.mark.parametrize(("rows", "pages"), MEASURED.items())
def test_pages_are_those_of_running_clusters(rows: int, pages: int) -> None:
    assert hash_index_pages(np.array([rows]))[0] == pytest.approx(pages, abs=1.0, rel=0.005)


@pytest.mark.parametrize("rows", [3_000, 12_000, 20_000])
def test_pages_are_those_of_a_fragment_played_through(rows: int) -> None:
    assert hash_index_pages(np.array([rows]))[0] == pytest.approx(filled(rows).page_count, abs=1.5, rel=0.02)


def test_more_rows_never_take_much_less() -> None:
    # Overflow pages that a split empties may go back, the pages of buckets stay.
    pages = hash_index_pages(np.arange(0, 300_000, 50))
    assert (np.diff(pages) >= -2).all()


def test_the_first_row_takes_an_overflow_page_beside_the_page_of_its_bucket() -> None:
    assert hash_index_pages(np.array([0, 1, 2])).tolist() == [1.0, 2.0, 2.0]
