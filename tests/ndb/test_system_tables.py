"""Pages of the cluster's own tables, by the release that was looked at last."""

from __future__ import annotations

from itertools import pairwise

from ndbplan.base.resources import read_json
from ndbplan.ndb.system_tables import system_pages
from ndbplan.ndb.version import release


def test_a_release_that_was_looked_at_begins_its_own_row() -> None:
    rows = read_json("ndb/system_tables.json")["releases"]
    assert rows[1:], "two releases at least"
    for before, row in pairwise(rows):
        first, last = system_pages(release(row["since"])), system_pages(release("8.3.0"))
        assert first.row_pages == row["row_pages"]
        assert last.row_pages == before["row_pages"], "just below"
    assert system_pages(release("7.1.2")) == system_pages(release("7.4.10")), "the first holds before it"
