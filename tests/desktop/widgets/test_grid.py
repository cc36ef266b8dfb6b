"""Columns of a grid stand in pages that fill its width: none is cut in half, wherever it is scrolled to."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ndbplan.desktop.widgets.grid import pages_of

WIDTHS = (92, 72, 112, 54, 40, 60, 62, 50, 72, 76, 150)


@pytest.mark.parametrize("room", [120, 302, 340, 512, 2000])
def test_every_page_is_as_wide_as_the_view_and_no_column_is_narrower_than_it_wants(room: int) -> None:
    pages = pages_of(WIDTHS, room)
    assert [column for page in pages for column in page] == list(range(len(WIDTHS)))
    for page in pages:
        assert sum(page.values()) == room
        if len(page) > 1:
            assert all(width >= WIDTHS[column] for column, width in page.items())
    for page, after in pairwise(pages):
        assert sum(WIDTHS[c] for c in page) + WIDTHS[next(iter(after))] > room
