"""What a server says of a CREATE TABLE for which the dictionary of the data nodes has no room.

    check_dictionary(asked, after)      # SqlError 1005 with 708, 1114 with 904; 7.x: 1296 with 707

Codes, and the form around them: recorded on running 8.4.8 and 7.4.10 clusters, the text of 707 too; texts of
708 and 904: ndberror.cpp of mysql/mysql-server.
"""

from __future__ import annotations

from ndbplan.configuration.settings import nodes_alike
from ndbplan.estimate.stored import dictionary_of
from ndbplan.ndb.console import form
from ndbplan.plan.plan import Plan
from ndbplan.train.memory import PAGE_BYTES
from ndbplan.train.schema import room_left
from ndbplan.train.sql.defining import Asked
from ndbplan.train.sql.problem import SqlError, Warned, of_ndb

_TEXTS = {
    625: "Out of memory in Ndb Kernel, hash index part (increase DataMemory)",
    707: "No more table metadata records (increase MaxNoOfTables)",
    708: "No more attribute metadata records (increase MaxNoOfAttributes)",
    904: "Out of fragment records (increase MaxNoOfOrderedIndexes)",
}
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
    for alike in nodes_alike(after):
        if not alike.nodes:
            continue
        for room in dictionary_of(after, alike.settings):
            if room.needed > room.limit:
                raise _refused(asked, after.tables[-1].name, room.error)


def _refused(asked: Asked, name: str, code: int) -> SqlError:
    inside = Warned("Warning", 1296, f"Got error {code} '{_TEXTS[code]}' from NDB")
    if code == _AS_FULL:
        return SqlError(1114, "HY000", f"The table '{name}' is full", (inside,))
    if not form(asked.plan.version, "dictionary_of_its_own"):
        return of_ndb(code, _TEXTS[code], temporary=False)
    commits = Warned("Warning", 1296, "Failed to commit NDB schema transaction")
    text = f"Can't create table '{name}' (use SHOW WARNINGS for more info)."
    return SqlError(1005, "HY000", text, (inside, commits))
