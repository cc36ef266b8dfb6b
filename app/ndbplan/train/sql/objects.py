"""Numbers that the dictionary of the data nodes gives to tables, blob parts, indexes and foreign keys.

They count up behind those of the product itself, table by table: the table, its parts of blobs, its indexes,
its foreign keys [8.4.8]. A cluster in which something was dropped has others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ndbplan.estimate.storage.dictionary import objects_of
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table
from ndbplan.train.system_tables import first_number

_FOREIGN_KEY = "FOREIGN KEY"


def numbered(plan: Plan) -> Iterator[tuple[int, Table]]:
    """The tables with their numbers."""
    number = first_number(plan)
    for table in plan.tables:
        yield number, table
        number = foreign_keys_from(number, table) + _foreign_keys(table)


def number_behind(plan: Plan) -> int:
    """The first number that none of the tables has, nor what belongs to one."""
    number = first_number(plan)
    for number, table in numbered(plan):
        number = foreign_keys_from(number, table) + _foreign_keys(table)
    return number


def foreign_keys_from(number: int, table: Table) -> int:
    """Number of the first foreign key of a table with this number."""
    return number + objects_of(table)


def _foreign_keys(table: Table) -> int:
    return sum(_FOREIGN_KEY in clause.upper() for clause in table.left_out)


def blob_columns(table: Table) -> list[tuple[int, Column]]:
    """Columns of which a part lies in a table of its own, with their places."""
    return [(n, one) for n, one in enumerate(table.columns) if COLUMN_TYPES[one.type].has_parts]


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
    for own, table in numbered(plan):
        number = own + 1 + len(blob_columns(table))
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
