"""What the foreign keys of an SQL text tell of distribution keys: the table whose rows each are one value.

with_parents(tables, {"orders": [ForeignKey(("o_w_id",), "shop", "warehouse", ("w_id",))]})
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ndbplan.plan.tables import Table


class ForeignKey(NamedTuple):
    """FOREIGN KEY (columns) REFERENCES table (referenced)."""

    columns: tuple[str, ...]
    database: str
    table: str
    referenced: tuple[str, ...]
    offset: int = 0
    """Where the text names that table."""


class Renaming(NamedTuple):
    """RENAME TABLE old TO new, at its place in the text; both by database and name."""

    offset: int
    old: tuple[str, str]
    new: tuple[str, str]


def with_names_now(
    keys: Mapping[str, Sequence[ForeignKey]], renames: Sequence[Renaming]
) -> dict[str, list[ForeignKey]]:
    """Foreign keys with the names that their tables have at the end; `renames`: in the order of the text."""
    now: dict[tuple[str, str], tuple[str, str]] = {}
    later: dict[tuple[str, str], list[tuple[int, tuple[str, str]]]] = {}
    for offset, old, new in reversed(renames):
        now[old] = now.pop(new, new)
        later.setdefault(old, []).append((-offset, now[old]))

    def named(key: ForeignKey) -> ForeignKey:
        behind = later.get((key.database, key.table), ())
        # Of the renames of that name, last one first, the first behind the place that names it.
        at = bisect_left(behind, (-key.offset,)) - 1
        return key if at < 0 else key._replace(database=behind[at][1][0], table=behind[at][1][1])

    return {table_id: list(map(named, of_table)) for table_id, of_table in keys.items()}


_MOST_STEPS = 30
"""From table to table: a text in which each names the next would be followed from each of them to its end."""


def with_parents(tables: Sequence[Table], keys: Mapping[str, Sequence[ForeignKey]]) -> list[Table]:
    """The tables, those distributed by a foreign key with the table that it names; `keys`: by table id.

    A partition key that is part of a longer foreign key is followed from table to table (order line, order,
    district, warehouse) to where it is a whole primary key. Two ways that end at different tables tell
    nothing. A key that is the table's whole primary key is one value for each row anyway.
    """
    by_name: dict[tuple[str, str], Table] = {}
    for table in tables:
        # The server may or may not tell upper from lower case; a table of exactly this name comes first.
        by_name.setdefault((table.database.casefold(), table.name.casefold()), table)
        by_name[table.database, table.name] = table
    complete = []
    for table in tables:
        parent = None
        if table.distribution_key and set(table.distribution_key) != set(table.primary_key):
            parent = _parent(table, frozenset(table.distribution_key), by_name, keys)
        complete.append(
            table if parent is None else table.model_copy(update={"distribution_key_table_id": parent.id})
        )
    return complete


def _parent(
    table: Table,
    columns: frozenset[str],
    by_name: Mapping[tuple[str, str], Table],
    keys: Mapping[str, Sequence[ForeignKey]],
) -> Table | None:
    """The one table of which these columns name a row."""
    seen = {(table.id, columns)}
    waiting = [(table, columns)]
    ends: dict[str, Table] = {}
    while waiting:
        if len(seen) > _MOST_STEPS:
            return None
        child, wanted = waiting.pop()
        for key in keys.get(child.id, ()):
            name = key.database, key.table
            other = by_name.get(name) or by_name.get((name[0].casefold(), name[1].casefold()))
            if other is None or other.id == table.id or len(key.columns) != len(key.referenced):
                continue
            mine = {
                column.casefold(): theirs for column, theirs in zip(key.columns, key.referenced, strict=True)
            }
            named = {column.casefold() for column in wanted}
            if not named <= mine.keys():
                continue
            own = {column.name.casefold(): column.name for column in other.columns}
            there = frozenset(own.get(mine[column].casefold(), "") for column in named)
            if there == frozenset(other.primary_key):
                ends[other.id] = other
            elif "" not in there and (other.id, there) not in seen:
                seen.add((other.id, there))
                waiting.append((other, there))
    return next(iter(ends.values())) if len(ends) == 1 else None
