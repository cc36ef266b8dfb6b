"""What a server says of a table or an index for which the dictionary of the data nodes has no room.

    check_dictionary(asked, after)      # SqlError 1005 with 708, 1114 with 904; 7.x: 1296 with 707
    check_more(asked, table, after)     # the same of ALTER TABLE and CREATE INDEX; 7.x: 707 Unknown error 707

Codes, and the form around them: recorded on running 8.4.8 and 7.4.10 clusters.
"""

from __future__ import annotations

from collections import Counter

from ndbplan.configuration.settings import nodes_alike
from ndbplan.estimate.stored import dictionary_of, distribute
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import said
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.train.schema import room_left
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned, of_ndb
from ndbplan.train.sql.refused import inside_of

_AS_FULL = 904
"""Clients see it as a table that is full (HA_ERR_RECORD_FILE_FULL)."""


def check_dictionary(asked: Asked, after: Plan) -> None:
    """Raises SqlError where the tables of a plan, the last of which is new, are more than is taken.

    A new table begins with pages of its hash index, which lie in DataMemory from 7.6 on: where it is full, no
    table is made (a running 8.4.8), and a running 7.4.10 makes one still.
    """
    joined = after.features.index_memory_joined
    if joined and room_left(asked.cluster.session.simulation, after) < PAGE_BYTES:
        raise _refused(asked, after.tables[-1].name, 625)
    if code := _error_of(after):
        raise _refused(asked, after.tables[-1].name, code)


def not_told_to_others(asked: Asked, after: Plan) -> tuple[Warned, ...]:
    """The warning of a new table that other SQL nodes are not told of: a row of ndb_schema has no room.

    So a running 7.4.10 said it, its text unfinished, with two pages left; where DataMemory holds hash indexes
    no table is made. Rows are taken to lie evenly, so memory is full when not each fragment can get a page.
    """
    if after.features.index_memory_joined:
        return ()
    on_nodes = Counter(n for part in distribute(after, after.tables[-1]).partitions for n in part.nodes)
    if room_left(asked.cluster.session.simulation, after) >= max(on_nodes.values()) * PAGE_BYTES:
        return ()
    where = "Could not log query '%s' on other mysqld's"
    return (Warned("Warning", 1296, f"Got error 827 '{said(827, after.version).shown}' from {where}"),)


def check_more(asked: Asked, table: Table, after: Plan) -> None:
    """Raises SqlError where a table that is altered has more indexes or columns than are taken.

    NotSimulated where the words are not known: of 708 and 707 from 7.6 on.
    """
    code = _error_of(after)
    if not code or code == _error_of(asked.plan):
        return
    if code == _AS_FULL:
        raise _refused(asked, table.name, code)
    if form(asked.plan.version, "dictionary_of_its_own"):
        raise NotSimulated(f"NDB refuses this with {code}, in words that are not known here")
    raise SqlError(code, "HY000", f"Unknown error {code}", (inside_of(code, after.version),))


def _error_of(plan: Plan) -> int:
    """What the last of the tables and indexes of a plan is refused with; 0: all are taken."""
    for alike in nodes_alike(plan):
        for room in dictionary_of(plan, alike.settings) if alike.nodes else ():
            if room.needed > room.limit:
                return room.error
    return 0


def _refused(asked: Asked, name: str, code: int) -> SqlError:
    inside = inside_of(code, asked.plan.version)
    if code == _AS_FULL:
        return SqlError(1114, "HY000", f"The table '{name}' is full", (inside,))
    if not form(asked.plan.version, "dictionary_of_its_own"):
        return of_ndb(said(code, asked.plan.version))
    commits = Warned("Warning", 1296, "Failed to commit NDB schema transaction")
    text = f"Can't create table '{name}' (use SHOW WARNINGS for more info)."
    return SqlError(1005, "HY000", text, (inside, commits))
