"""Numbers that the dictionary of the data nodes gives to what it knows; they stay as long as that is there.

    ids = ids_of(plan)                                   # as if all was made now, in the order of the plan
    ids = changed(ids, before, after, map_of)            # what is gone gives its number back

A new object gets the lowest number that is free, whatever had it before: tables, parts of blobs, indexes,
foreign keys, hash maps, files and groups of files share one row of numbers [8.4.8, 7.4.10: the first table
behind dropped ones, DEFAULT-HASHMAP-3840-8 between two tables, a log file group 13 or 38]. A hash map is
made before the first table that lies by it, and is never dropped (Dbdict.cpp, getFreeObjId).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from ndbplan.configuration.space_files import named_files
from ndbplan.estimate.stored import distribute
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, LogfileGroup, Table, Tablespace
from ndbplan.train.system_tables import first_number, system_map

_NAMED = re.compile(r"CONSTRAINT\s+(`(?:[^`]|``){1,64}`|\w{1,64})", re.IGNORECASE)


class Thing(NamedTuple):
    """Something that has a number."""

    kind: str
    """`table`, `blob`, `index`, `unique`, `key`, `map`, `undo`, `data`, `group` or `space`."""
    owner: str
    """Id of the table, the log file group or the tablespace; name of the map."""
    name: str = ""
    """Of the column, the index, the foreign key or the file."""


Ids = Mapping[Thing, int]
MapOf = Callable[[Table], str | None]


def blob_columns(table: Table) -> list[tuple[int, Column]]:
    """Columns of which a part lies in a table of its own, with their places."""
    return [(n, one) for n, one in enumerate(table.columns) if COLUMN_TYPES[one.type].has_parts]


def key_of(table: Table, clause: str) -> Thing:
    """The foreign key that a clause makes."""
    named = _NAMED.match(clause.strip())
    return Thing("key", table.id, named[1].strip("`") if named else clause)


def things_of(table: Table) -> Iterator[Thing]:
    """A table and what belongs to it, in the order in which a statement makes them [8.4.8]."""
    yield Thing("table", table.id)
    for _, column in blob_columns(table):
        yield Thing("blob", table.id, column.name)
    if table.primary_key and not table.primary_key_using_hash:
        yield Thing("index", table.id, "PRIMARY")
    for index in table.indexes:
        if index.kind != "unique_hash":
            yield Thing("index", table.id, index.name)
        if index.kind != "ordered":
            yield Thing("unique", table.id, index.name)
    for clause in table.left_out:
        if "FOREIGN KEY" in clause.upper():
            yield key_of(table, clause)


def _on_disk(groups: Collection[LogfileGroup], spaces: Collection[Tablespace]) -> Iterator[Thing]:
    for group in groups:
        yield Thing("group", group.id)
        for name, _ in named_files(group.undo_files, None):
            yield Thing("undo", group.id, name)
    for space in spaces:
        yield Thing("space", space.id)
        for name, _ in named_files(space.data_files, space.directory):
            yield Thing("data", space.id, name)


class _Numbers:
    """Numbers that are given, and those that are free."""

    def __init__(self, ids: Ids, first: int) -> None:
        self.given = dict(ids)
        self._used = set(self.given.values())
        self._next = self._first = first

    def free(self, things: Collection[Thing]) -> None:
        """Take numbers back."""
        self._used -= {self.given.pop(thing) for thing in things}
        self._next = self._first

    def give(self, thing: Thing) -> None:
        """The lowest number that is free, if it has none."""
        if thing in self.given:
            return
        while self._next in self._used:
            self._next += 1
        self.given[thing] = self._next
        self._used.add(self._next)

    def make(self, table: Table, map_of: MapOf) -> None:
        """Numbers for a table, and for its hash map before it."""
        name = None if Thing("table", table.id) in self.given else map_of(table)
        if name:
            self.give(Thing("map", name))
        for thing in things_of(table):
            self.give(thing)


def _empty(plan: Plan) -> _Numbers:
    return _Numbers({Thing("map", system_map(plan)): 1}, first_number(plan))


def ids_of(plan: Plan) -> Ids:
    """As if all was made now: disk data, then the tables in their order."""
    numbers = _empty(plan)
    for thing in _on_disk(plan.logfile_groups, plan.tablespaces):
        numbers.give(thing)
    for table in plan.tables:
        numbers.make(table, lambda one: distribute(plan, one).hash_map_name)
    return numbers.given


def changed(
    ids: Ids, plan: Plan, emptied: Collection[Tablespace], map_of: MapOf,
    *, truncated: Collection[str] = (), copied: Collection[str] = (),
) -> Ids:  # fmt: skip
    """Numbers when the dictionary has what a plan says.

    `emptied`: tablespaces without a file; `truncated`: tables that are dropped and made again; `copied`:
    tables that are made anew beside the old ones, which are dropped then.
    """
    empty = frozenset(one.id for one in emptied)
    of_disk = [
        thing for thing in _on_disk(plan.logfile_groups, (*plan.tablespaces, *emptied))
        if not (thing.kind == "data" and thing.owner in empty)
    ]  # fmt: skip
    there = {*of_disk, *(thing for table in plan.tables for thing in things_of(table))}
    numbers = _Numbers(ids, first_number(plan))
    gone = [
        thing for thing in ids
        if thing.kind != "map" and (thing not in there or thing.owner in truncated)
        and thing.owner not in copied
    ]  # fmt: skip
    numbers.free(gone)
    for thing in of_disk:
        numbers.give(thing)
    # Numbers of the old ones are free when the new ones have theirs.
    for thing in [one for one in numbers.given if one.owner in copied]:
        del numbers.given[thing]
    for table in plan.tables:
        numbers.make(table, map_of)
    return numbers.given


def first_map(ids: Ids) -> Thing:
    """The hash map that was made first: tables of the product lie by it."""
    return min((thing for thing in ids if thing.kind == "map"), key=ids.__getitem__)


def with_map(ids: Ids, plan: Plan, name: str | None) -> Ids:
    """With the hash map by which a table lies from now on."""
    numbers = _Numbers(ids, first_number(plan))
    if name:
        numbers.give(Thing("map", name))
    return numbers.given
