"""Options of mysqld that follow from something else of a plan.

sessions_allowed(node, 500)       # SetField of its options with max-connections=500
"""

from __future__ import annotations

from ndbplan.edits.changes import SetField
from ndbplan.ndb.mysqld_options import canonical
from ndbplan.plan.processes import SqlNode

SESSIONS = "max-connections"
"""The option that says how many sessions an SQL node lets in."""


def sessions_allowed(node: SqlNode, sessions: int) -> SetField:
    """What lets so many sessions in at an SQL node, however it says so now."""
    options = node.options
    for name in node.options:
        if canonical(name) == SESSIONS:
            options = options.without(name)
    return SetField(node.id, "options", options.with_(SESSIONS, sessions))
