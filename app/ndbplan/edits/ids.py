"""Ids of new parts: what a part is and a number, never made from its name.

A name may hold anything and be another tomorrow; an id is for the plan's own references. Nodes have no other
name than their id, so theirs is their kind and their node id. Ids that a plan file has stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ndbplan.plan.fields import Part
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

_STEMS: dict[type, str] = {
    Location: "location",
    Host: "host",
    Disk: "disk",
    LogfileGroup: "logfile_group",
    Tablespace: "tablespace",
    Table: "table",
    Workload: "workload",
}
_NODE_STEMS = {"data": "ndb", "management": "mgm", "sql": "sql", "api": "api"}
_MADE = re.compile(rf"(?:{'|'.join(_STEMS.values())})_[0-9]+")


def is_made(object_id: str) -> bool:
    """Whether an id tells nothing but a kind and a number, so that people are better told the name."""
    return _MADE.fullmatch(object_id) is not None


class NewIds:
    """Gives ids that nothing in a plan has, one after the other; the same plan, the same ids."""

    def __init__(self, plan: Plan, taken: Iterable[str] = ()) -> None:
        # What an id says is never another part's name too: whoever types it means one thing.
        self._taken = {*plan.by_id, *_names(plan), *taken}
        self._last: dict[str, int] = {}

    def fork(self) -> NewIds:
        """Another one that goes on from here: what it gives is not taken here."""
        other = NewIds.__new__(NewIds)
        other._taken, other._last = set(self._taken), dict(self._last)
        return other

    def of(self, kind: type[Part]) -> str:
        """The id of a new location, host, disk, log file group, tablespace, table or workload."""
        stem = _STEMS[kind]
        return self._next(stem, f"{stem}_", self._last.get(stem, 0) + 1)

    def of_node(self, kind: str, node_id: int) -> str:
        """The id of a new node of a kind."""
        stem = f"{_NODE_STEMS[kind]}{node_id}"
        if stem not in self._taken:
            self._taken.add(stem)
            return stem
        return self._next(stem, f"{stem}-", 2)

    def _next(self, stem: str, before: str, number: int) -> str:
        while f"{before}{number}" in self._taken:
            number += 1
        self._last[stem] = number
        self._taken.add(f"{before}{number}")
        return f"{before}{number}"


def _names(plan: Plan) -> Iterator[str]:
    yield from (host.hostname for host in plan.hosts)
    for parts in (plan.locations, plan.tables, plan.tablespaces, plan.logfile_groups, plan.workloads):
        yield from (part.name for part in parts)
