"""Numbers that the dictionary of the data nodes gives to tables and indexes.

They count up from FIRST_TABLE; a cluster that somebody worked on has others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table

FIRST_TABLE = 10
"""Number of the first table of a user: those before are the product's own [7.4.10, 8.4.8]."""


def numbered(plan: Plan) -> Iterator[tuple[int, Table]]:
    """The tables with their numbers."""
    return enumerate(plan.tables, start=FIRST_TABLE)


class Indexed(NamedTuple):
    """An index of a table, with its number."""

    number: int
    table_number: int
    table: Table
    name: str
    columns: tuple[str, ...]
    is_unique: bool

    @property
    def full_name(self) -> str:
        """`sys/def/10/k_1`."""
        return f"sys/def/{self.table_number}/{self.name}"


def indexes(plan: Plan) -> Iterator[Indexed]:
    """Indexes in the order of the tables: the primary key's, and of a unique one two [8.4.8]."""
    number = FIRST_TABLE + len(plan.tables)
    for own, table in numbered(plan):
        listed: list[tuple[str, tuple[str, ...], bool]] = []
        if table.primary_key and not table.primary_key_using_hash:
            listed.append(("PRIMARY", table.primary_key, False))
        for index in table.indexes:
            if index.kind != "unique_hash":
                listed.append((index.name, index.columns, False))
            if index.kind != "ordered":
                listed.append((f"{index.name}$unique", index.columns, True))
        for name, columns, is_unique in listed:
            yield Indexed(number, own, table, name, columns, is_unique)
            number += 1


def supporting(plan: Plan, table: Table, columns: Sequence[str]) -> Indexed | None:
    """The index that a foreign key of these columns goes by; None: the primary key itself.

    A unique one of exactly these columns, else the ordered one that begins with most of them.
    """
    wanted = [name.lower() for name in columns]
    if sorted(wanted) == sorted(name.lower() for name in table.primary_key):
        return None
    best, most = None, 0
    for one in indexes(plan):
        if one.table.id != table.id:
            continue
        own = [name.lower() for name in one.columns]
        if one.is_unique and sorted(own) == sorted(wanted):
            return one
        same = next((n for n, (a, b) in enumerate(zip(own, wanted, strict=False)) if a != b),
                    min(len(own), len(wanted)))  # fmt: skip
        if not one.is_unique and same > most:
            best, most = one, same
    return best
