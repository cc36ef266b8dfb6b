"""UPDATE: the rows that are other than before, by their keys; and words of a change that no reader knows.

    without_modifiers("UPDATE LOW_PRIORITY IGNORE t SET a = 1")      # ("UPDATE t SET a = 1", True)

Source: manual 8.4, UPDATE and DELETE Statements, The Effect of IGNORE.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ndbplan.ndb.console import form
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.contents import Held, Key, Row
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql.changed import Change
from ndbplan.train.sql.problem import SqlError, Warned, syntax
from ndbplan.train.sql.unique_keys import UniqueKeys, duplicate

_MODIFIERS = re.compile(
    r"(?P<verb>update|delete)(?P<words>(?:\s+(?:low_priority|quick|ignore))+)(?=\s)", re.IGNORECASE
)


def without_modifiers(sql: str) -> tuple[str, bool]:
    """An UPDATE or DELETE without the words behind its verb, and whether IGNORE is one of them.

    Blanks stand in their places: an error tells of the rest as it was typed. Raises SqlError.
    """
    found = _MODIFIERS.match(sql)
    words = [] if found is None else found["words"].lower().split()
    if found is None:
        return sql, False
    if found["verb"].lower() == "update" and "quick" in words:
        raise syntax(sql[found.start("words") :].lstrip())
    blanks = " " * len(found["words"])
    return f"{found['verb']}{blanks}{sql[found.end() :]}", "ignore" in words


class Clashes(NamedTuple):
    """What a row may be in the way of, and what is said of it."""

    cluster: LiveCluster
    table: Table
    held: Held
    is_there: Callable[[Key], bool]
    exists: Callable[..., SqlError]
    ignored: list[Warned] | None
    """Takes the warnings of rows that stay as they are; None: the first of them ends the statement."""

    def ignore(self, row: Row, index: str, *, batch: bool) -> None:
        """A row stays as it was. Raises SqlError where that is an error."""
        if self.ignored is None:
            raise self.exists(row, index, batch=batch)
        version = self.cluster.plan.version
        if form(version, "ignore_warns_of_keys"):
            self.ignored.append(Warned("Warning", 1062, duplicate(self.table, row, index, version)))


def moved(before: Sequence[tuple[Key, Row]], after: Sequence[Row], clashes: Clashes) -> Change:
    """An UPDATE: rows that are other than before, by their keys. Raises SqlError 1062 and 1022."""
    table, held = clashes.table, clashes.held
    put: dict[Key, Row] = {}
    gone: set[Key] = set()
    came_from: dict[Key, Key] = {}
    for (key, row), new in zip(before, after, strict=True):
        if new == row:
            continue
        own = held.key_of(new) if table.primary_key else key
        if own != key:
            if own not in gone and (own in put or clashes.is_there(own)):
                clashes.ignore(new, "PRIMARY", batch=False)
                continue
            gone.add(key)
        put[own] = new
        came_from[own] = key
    if any(one.kind != "ordered" for one in table.indexes):
        unique = UniqueKeys(clashes.cluster, table, held, leave_out=set(came_from.values()))
        for key, row in [*put.items()]:
            clash = unique.clash(row, {})
            if clash is None:
                unique.put(key, row)
                continue
            clashes.ignore(row, clash[0], batch=True)
            del put[key]
            gone.discard(came_from[key])
    return Change(OperationKind.UPDATE, len(before), len(put), put, gone - put.keys())
