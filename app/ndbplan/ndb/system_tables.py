"""What a data node holds of the tables that the cluster makes for itself.

    system_pages(version).held(2)      # SystemBytes(rows=12 * 32768, hash_index=27 * 8192)

The data is `resources/ndb/system_tables.json`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ndbplan.base.resources import read_json
from ndbplan.ndb.hash_index import hash_index_facts
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.ndb.version import NdbVersion, release


class SystemBytes(NamedTuple):
    """Bytes of system tables on a data node."""

    rows: int
    """Of pages of rows and ordered indexes."""
    hash_index: int


class SystemPages(NamedTuple):
    """Pages of system tables on a data node of a version."""

    row_pages: int
    """Of 32 KiB: the rows are few, however many fragments there are."""
    hash_pages: int
    """Pages of hash indexes, counted in `hash_pages_of_fragments` fragments of a table on a node."""
    hash_pages_of_fragments: int

    def held(self, fragments: int) -> SystemBytes:
        """What a node holds that has so many fragments of a table; 0: it holds none.

        Source: resources/ndb/system_tables.json.
        """
        if not fragments:
            return SystemBytes(0, 0)
        pages = -(-self.hash_pages * fragments // self.hash_pages_of_fragments)
        return SystemBytes(self.row_pages * PAGE_BYTES, pages * hash_index_facts().page_bytes)


@cache
def system_pages(version: NdbVersion) -> SystemPages:
    """The pages of the last release that was looked at up to a version, or of the first one."""
    rows = read_json("ndb/system_tables.json")["releases"]
    known = [row for row in rows if release(row["since"]) <= version] or rows[:1]
    return SystemPages(*(known[-1][name] for name in SystemPages._fields))
