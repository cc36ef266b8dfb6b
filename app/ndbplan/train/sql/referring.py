"""What foreign keys make of a change of rows: errors, and changes of the tables that refer to it.

consequences(asked, table, change)     # of other tables; raises SqlError 1451 and 1452
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ndbplan.base.quoting import sql_identifier
from ndbplan.ndb.console import form
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.contents import Key, Row, key_columns, same
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import finding
from ndbplan.train.sql.changed import Change
from ndbplan.train.sql.foreign_keys import CASCADE, SET_NULL, ForeignKey, keys_of, referring_to, table_of
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned
from ndbplan.train.sql.refused import inside_of

NO_PARENT, HAS_CHILDREN = 255, 256
"""What NDB says of a row without a parent, and of a parent that a row refers to."""
_MOST_DEEP = 15
"""Tables that refer to one another in a row."""
_NO_CHILD = "Cannot add or update a child row: a foreign key constraint fails"
_IN_USE = "Cannot delete or update a parent row: a foreign key constraint fails"
Consequence = tuple[Table, Change]


def has_keys(cluster: LiveCluster, table: Table) -> bool:
    """Whether a table has a foreign key, or is referred to by one."""
    plan = cluster.plan
    return bool(keys_of(plan, table)) or bool(referring_to(plan, table))


def has_orphans(cluster: LiveCluster, table: Table, key: ForeignKey) -> bool:
    """Whether a table has rows that refer to none by a key that it is to have. Raises NotSimulated."""
    parent = table_of(cluster.plan, key.parent)
    if parent is None or not cluster.held(table).count:
        return False
    if not _has(table, key.columns) or not _has(parent, key.referenced):
        return False
    there = _there(cluster, parent, key.referenced)
    found = (_values(row, table, key.columns) for _, row in _all(cluster, table))
    return any(None not in values and not there(values) for values in found)


class _Rows(NamedTuple):
    """The rows that a change puts and takes away, with what they were before."""

    table: Table
    put: Mapping[Key, Row]
    before: Mapping[Key, Row]
    """Of all keys that are put and were there, and of those that are gone."""


def consequences(
    cluster: LiveCluster, table: Table, change: Change, depth: int = 0, by: ForeignKey | None = None
) -> list[Consequence]:
    """What else changes with a change of a table. Raises SqlError and NotSimulated.

    `by`: the key of the table that its change follows from.
    """
    plan = cluster.plan
    own, referring = keys_of(plan, table), referring_to(plan, table)
    if not own and not referring:
        return []
    if depth > _MOST_DEEP:
        raise NotSimulated("foreign keys through so many tables are not simulated")
    held = cluster.held(table)
    there = {key: held.find(key) for key in (*change.put, *change.gone)}
    rows = _Rows(table, change.put, {key: row for key, row in there.items() if row is not None})
    for one in (one for one in own if one != by):
        _check_parents(cluster, one, rows, change)
    found: list[Consequence] = []
    for one in referring:
        child = table_of(plan, one.child)
        if child is not None and _has(table, one.referenced):
            found += _of_children(cluster, one, child, rows, change.kind, depth)
    return found


def _has(table: Table, names: Sequence[str]) -> bool:
    """Whether a table has these columns: one made anew in the place of another may not."""
    own = {column.name.lower() for column in table.columns}
    return own.issuperset(name.lower() for name in names)


def _values(row: Row, table: Table, names: Sequence[str]) -> tuple[Any, ...]:
    own = {column.name.lower(): column for column in table.columns}
    columns = [own[name.lower()] for name in names]
    return tuple(same(row[column.name], column) for column in columns)


def _check_parents(cluster: LiveCluster, key: ForeignKey, rows: _Rows, change: Change) -> None:
    """Raises 1452 where a new row refers to none."""
    parent = table_of(cluster.plan, key.parent)
    wanted = []
    for own, row in rows.put.items():
        values = _values(row, rows.table, key.columns)
        before = rows.before.get(own)
        is_other = before is None or _values(before, rows.table, key.columns) != values
        if None not in values and is_other:
            wanted.append(values)
    if not wanted:
        return
    if parent is None or not _has(parent, key.referenced):
        raise NotSimulated(f"what is said of rows that refer to {key.parent[1]}, which is gone, is not known")
    new = (
        {_values(row, parent, key.referenced) for row in rows.put.values()} if parent is rows.table else set()
    )
    there = _there(cluster, parent, key.referenced)
    for values in wanted:
        if values not in new and not there(values):
            raise _fails(cluster, key, _NO_CHILD, 1452, NO_PARENT, change)


def _there(cluster: LiveCluster, table: Table, names: Sequence[str]) -> Any:
    """A question whether a table has a row with these values in columns that are a key."""
    held = cluster.held(table)
    if held.contents.is_vague:
        raise NotSimulated(f"which rows {table.full_name} has is not known since so many changed")
    key = [column.name.lower() for column in key_columns(table)]
    low = [name.lower() for name in names]
    if sorted(key) == sorted(low):
        return lambda values: held.find(tuple(values[low.index(name)] for name in key)) is not None
    known = {_values(row, table, names) for _, row in _all(cluster, table)}
    return known.__contains__


def _all(cluster: LiveCluster, table: Table) -> list[tuple[Key, Row]]:
    """All rows of a table. Raises NotSimulated where they cannot be read."""
    try:
        return finding.read(cluster, table, finding.Wanted())
    except finding.TooMany:
        raise NotSimulated(
            f"whether rows of {table.full_name} refer to these is not simulated: there are too many to read"
        ) from None


def _fails(
    cluster: LiveCluster, key: ForeignKey, text: str, code: int, inside: int, change: Change
) -> SqlError:
    """The error; an older server does not know the name of the key [8.4.8, 7.4.10]."""
    told = f"{sql_identifier(key.child[0])}.{sql_identifier(key.child[1])}, {key.text(whole=True)}"
    is_old = not form(cluster.plan.version, "dictionary_of_its_own")
    error = SqlError(
        code,
        "23000",
        f"{text} ({'Unknown error code' if is_old else told})",
        (inside_of(inside, cluster.plan.version),),
    )
    if is_old and code == 1452 and change.kind is OperationKind.INSERT:
        # Rows that are put are sent at the commit, where they fail [7.4.10].
        error.warnings = (*error.warnings, Warned("Error", 1180, "Got error 151 during COMMIT"))
    return error


def _of_children(
    cluster: LiveCluster, key: ForeignKey, child: Table, rows: _Rows, kind: OperationKind, depth: int
) -> Iterator[Consequence]:
    """What becomes of the rows that refer to those which go or get other values."""
    moved: dict[tuple[Any, ...], Row | None] = {}
    kept = {_values(row, rows.table, key.referenced) for row in rows.put.values()}
    for own, row in rows.before.items():
        values = _values(row, rows.table, key.referenced)
        new = rows.put.get(own)
        if None not in values and values not in kept:
            moved[values] = new
    if not moved:
        return
    put: dict[Key, Row] = {}
    gone: list[Key] = []
    places = {name.lower(): name for name in (column.name for column in child.columns)}
    for own, row in _children(cluster, child, key, list(moved)):
        if child is rows.table and own in rows.before and own not in rows.put:
            continue
        new = moved[_values(row, child, key.columns)]
        deletes = new is None and kind is not OperationKind.UPDATE
        action = key.on_delete if deletes else key.on_update
        if action == CASCADE and deletes:
            gone.append(own)
        elif action == SET_NULL:
            put[own] = row | {places[name.lower()]: None for name in key.columns}
        elif action == CASCADE and new is not None:
            theirs = {column.name.lower(): column.name for column in rows.table.columns}
            pairs = zip(key.columns, key.referenced, strict=True)
            put[own] = row | {places[a.lower()]: new[theirs[b.lower()]] for a, b in pairs}
        elif action == CASCADE:
            raise NotSimulated("which rows follow a key that changes with the primary key is not simulated")
        else:
            raise _fails(
                cluster, key, _IN_USE, 1451, HAS_CHILDREN, Change(OperationKind.DELETE, 0, 0, {}, ())
            )
    if child is rows.table and (put or gone):
        raise NotSimulated("what a foreign key of a table to itself changes is not simulated")
    if put or gone:
        held = cluster.held(child)
        if any(child.primary_key and held.key_of(row) != own for own, row in put.items()):
            raise NotSimulated("a foreign key that changes a primary key is not simulated")
        then = OperationKind.DELETE if gone else OperationKind.UPDATE
        change = Change(then, len(put) + len(gone), len(put) + len(gone), put, gone)
        yield child, change
        yield from consequences(cluster, child, change, depth + 1, key)


def _children(
    cluster: LiveCluster, child: Table, key: ForeignKey, values: Sequence[tuple[Any, ...]]
) -> list[tuple[Key, Row]]:
    """The rows that refer to these values."""
    own = [column.name.lower() for column in key_columns(child)]
    low = [name.lower() for name in key.columns]
    held = cluster.held(child)
    if own and sorted(own) == sorted(low) and not held.contents.is_vague:
        keys = [tuple(one[low.index(name)] for name in own) for one in values]
        found = [(one, held.find(one)) for one in keys]
        return [(one, row) for one, row in found if row is not None]
    if not held.count:
        return []
    wanted = set(values)
    return [(one, row) for one, row in _all(cluster, child) if _values(row, child, key.columns) in wanted]
