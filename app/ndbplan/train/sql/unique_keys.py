"""Values of the unique keys of a table that are there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ndbplan.ndb.console import form
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table
from ndbplan.train.contents import Held, Key, Row
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import finding


class UniqueKeys:
    """Values of the unique keys of a table that are there."""

    def __init__(
        self, cluster: LiveCluster, table: Table, held: Held, leave_out: Collection[Key] = ()
    ) -> None:
        self.table = table
        self.indexes = [one for one in self.table.indexes if one.kind != "ordered"]
        self.found: dict[tuple[str, tuple[Any, ...]], tuple[Key, Row]] = {}
        many = held.count > finding.MOST_COMPARED or not held.numbered
        rows = (
            ((key, held.find(key)) for key in held.contents.rows)
            if many
            else finding.read(cluster, self.table, finding.Wanted())
        )
        for key, row in rows:
            if row is not None and key not in leave_out:
                self.put(key, row)

    def _values(self, row: Row) -> list[tuple[str, tuple[Any, ...]]]:
        found = []
        for index in self.indexes:
            values = tuple(
                one.casefold() if isinstance(one, str) else one
                for one in (row[name] for name in index.columns)
            )
            if None not in values:
                found.append((index.name, values))
        return found

    def put(self, key: Key, row: Row) -> None:
        """A row more."""
        for values in self._values(row):
            self.found[values] = (key, row)

    def drop(self, key: Key) -> None:
        """A row less."""
        self.found = {values: held for values, held in self.found.items() if held[0] != key}

    def clash(self, row: Row, put: Mapping[Key, Row]) -> tuple[str, Key, Row] | None:
        """The index, key and row that a new one is in the way of; None: there is none."""
        for values in self._values(row):
            if values in self.found:
                key, there = self.found[values]
                return values[0], key, put.get(key, there)
        return None


def taken_away(row: Row, primary: Key | None, put: dict[Key, Row], unique: UniqueKeys | None) -> set[Key]:
    """Keys of the rows that a REPLACE takes away for a new one: it may be in the way of several.

    Without unique keys NDB writes over the row and counts it once.
    """
    found = set() if primary is None else {primary}
    if unique is not None:
        for key in found:
            unique.drop(key)
        while (clash := unique.clash(row, put)) is not None:
            found.add(clash[1])
            unique.drop(clash[1])
    for key in found:
        put.pop(key, None)
    return found


def duplicate(table: Table, row: Row, index: str, version: NdbVersion) -> str:
    """What is said of a key that is there."""
    names: Sequence[str] = table.primary_key
    if index != "PRIMARY":
        names = next(one.columns for one in table.indexes if one.name == index)
    value = "-".join(str(row[name]) for name in names)
    before = f"{table.name}." if form(version, "key_with_table") else ""
    return f"Duplicate entry '{value}' for key '{before}{index}'"
