"""Tables and indexes with the numbers that the dictionary of the data nodes gave them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.train.object_ids import Ids, Thing, things_of


def numbered(plan: Plan, ids: Ids) -> list[tuple[int, Table]]:
    """The tables with their numbers, in the order of these."""
    return sorted(((ids[Thing("table", one.id)], one) for one in plan.tables), key=lambda one: one[0])


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


def indexes(plan: Plan, ids: Ids) -> Iterator[Indexed]:
    """Indexes in the order of the tables: the primary key's, and of a unique one two [8.4.8]."""
    for own, table in numbered(plan, ids):
        columns = {"PRIMARY": table.primary_key, **{one.name: one.columns for one in table.indexes}}
        for thing in things_of(table):
            if thing.kind in ("index", "unique"):
                is_unique = thing.kind == "unique"
                name = f"{thing.name}$unique" if is_unique else thing.name
                yield Indexed(ids[thing], own, table, name, columns[thing.name], is_unique)


def supporting(plan: Plan, ids: Ids, table: Table, columns: Sequence[str]) -> Indexed | None:
    """The index that a foreign key of these columns goes by; None: the primary key itself.

    A unique one of exactly these columns, else the ordered one that begins with most of them.
    """
    wanted = [name.lower() for name in columns]
    if sorted(wanted) == sorted(name.lower() for name in table.primary_key):
        return None
    best, most = None, 0
    for one in indexes(plan, ids):
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
