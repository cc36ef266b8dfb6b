"""How many different values the distribution key of a table has, and how that is known.

    key_values(plan.tables, table).count         # 6000: as many as the table of warehouses has rows

Rows go by the hash of their distribution key: all rows of one value lie in one partition. Few values spread
less evenly than many.

Source: arithmetic of the values that columns and referenced tables allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_count
from ndbplan.ndb.columns import COLUMN_TYPES, Declared
from ndbplan.plan.tables import Column, Table

Source = Literal["rows", "stated", "table", "assumed table", "type"]


@dataclass(frozen=True, slots=True)
class KeyValues(Shape):
    """Different values of a distribution key."""

    JSON = "count source first why"

    count: int
    """0: the table has no rows yet and nothing is stated."""
    source: Source
    why: str
    """How the count is known, in words."""
    first: int | None
    """The values are the whole numbers from here on; None: which values there are is not known."""

    @property
    def is_unique(self) -> bool:
        """Each row has its own value, as far as anybody says."""
        return self.source == "rows"


def most_values(column: Column) -> int | None:
    """How many values the type of a column has; None: so many that it bounds nothing."""
    length = len(column.members) or column.length
    return COLUMN_TYPES[column.type].values(Declared(length, column.scale, unsigned=column.unsigned))


def distribution_key(table: Table) -> tuple[str, ...]:
    """Columns that decide the partition; empty: a hidden key that is unique."""
    return table.distribution_key or table.primary_key


@kept_by_identity(size=64)
def _by_key(tables: tuple[Table, ...]) -> dict[tuple[str, frozenset[str]], Table]:
    """Tables by database and columns of their whole primary key; of several the one with most rows."""
    largest: dict[tuple[str, frozenset[str]], Table] = {}
    for table in tables:
        if table.primary_key:
            key = (table.database, frozenset(table.primary_key))
            if key not in largest or table.rows > largest[key].rows:
                largest[key] = table
    return largest


@kept_by_identity(size=64)
def _by_id(tables: tuple[Table, ...]) -> dict[str, Table]:
    return {table.id: table for table in tables}


def _named(tables: tuple[Table, ...], table: Table) -> Table | None:
    """The table that the distribution key's columns name: their names are its whole primary key."""
    if not table.distribution_key or set(table.distribution_key) == set(table.primary_key):
        return None
    other = _by_key(tables).get((table.database, frozenset(table.distribution_key)))
    return None if other is table else other


def key_values(tables: tuple[Table, ...], table: Table) -> KeyValues:
    """Different values of the distribution key of one of the tables.

    As stated; else the rows of the table it refers to; else, when its columns are named like the whole
    primary key of another table of the database, the rows of that (assumed); else one per row. Never more
    than the types of its columns have, nor than the table has rows.
    """
    stated = None if table.distribution_key_values is not None else table.distribution_key_table_id
    if stated is not None:
        return _key_values(table, _by_id(tables).get(stated), False)
    named = _named(tables, table) if table.distribution_key_values is None else None
    return _key_values(table, named, True)


@kept_by_identity(size=4096)
def _key_values(table: Table, other: Table | None, assumed: bool) -> KeyValues:
    source: Source
    count, source, why = table.rows, "rows", "one value for each row"
    first = table.distribution_key_first
    if table.distribution_key_values is not None:
        count, source = table.distribution_key_values, "stated"
        why = f"{format_count(count)} values are stated"
    elif other is not None and other.rows:
        count, source = other.rows, "assumed table" if assumed else "table"
        why = f"one value for each of the {format_count(count)} rows of {other.full_name}"
        if assumed:
            why += ", whose primary key has the same columns (assumed)"
        first = other.distribution_key_first if first is None else first
    bounds = [most_values(column) for column in table.columns if column.name in distribution_key(table)]
    if bounds and None not in bounds:
        most = 1
        for bound in bounds:
            most *= bound or 1
        if most < count:
            names = ", ".join(distribution_key(table))
            count, source, why = most, "type", f"{names} can have {format_count(most)} values by type"
    if table.rows and count >= table.rows:
        count, source, why = table.rows, "rows", "one value for each row"
    return KeyValues(count, source, why, first)
