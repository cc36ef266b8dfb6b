"""Options of mysqld that follow from something else of a plan.

sessions_allowed(node, 500)       # SetField of its options with max-connections=500
"""

from __future__ import annotations

from ndbplan.edits.changes import SetField
from ndbplan.ndb.mysqld_options import canonical
from ndbplan.plan.processes import SqlNode

SESSIONS = "max-connections"
"""The option that says how many sessions an SQL node lets in."""


def with_option(node: SqlNode, name: str, value: int | str) -> SetField:
    """An option of an SQL node with another value, however it is written now. `name`: as the list has it."""
    options = node.options
    for written in node.options:
        if canonical(written) == name:
            options = options.without(written)
    return SetField(node.id, "options", options.with_(name, value))


def sessions_allowed(node: SqlNode, sessions: int) -> SetField:
    """What lets so many sessions in at an SQL node, however it says so now."""
    return with_option(node, SESSIONS, sessions)
