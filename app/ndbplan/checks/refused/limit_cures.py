"""Ways to bring a table below what its version takes: columns made TEXT, variable or shorter, indexes out.

limit_cures(now.plan, one)          # Solution("Make a and b TEXT", …)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from ndbplan.base.units import how_many
from ndbplan.checks.problem import Edit, Solution
from ndbplan.configuration.stored_types import stored_type
from ndbplan.configuration.table_limits import OverLimit, over_limits
from ndbplan.edits import tables, validated
from ndbplan.edits.changes import SetField
from ndbplan.edits.validated import EditError
from ndbplan.ndb import charsets
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table

_OUT_OF_ROW = {"varchar": "text", "char": "text", "varbinary": "blob", "binary": "blob"}
_VARIABLE = {"char": "varchar", "binary": "varbinary"}
_MOST_NAMED = 3
"""Columns in one title: judgement."""


def limit_cures(plan: Plan, over: OverLimit) -> Iterator[Solution]:
    """The smallest changes of each kind after which the table is below this limit."""
    for title, edit in _ways(plan, over):
        try:
            after = edit(plan).by_id[over.table.id]
        except EditError:
            continue
        assert isinstance(after, Table)
        if (over.error, over.key) not in {(one.error, one.key) for one in over_limits(after, plan.version)}:
            yield Solution(title, f"before: {over.why}", edit, asks=True)


def _ways(plan: Plan, over: OverLimit) -> Iterator[tuple[str, Edit]]:
    table = over.table
    if over.key is not None:
        yield from _shorter_key(plan, over)
        at = next((i for i, index in enumerate(table.indexes) if index.name == over.key), None)
        if over.key and at is not None:
            left = (*table.indexes[:at], *table.indexes[at + 1 :])
            yield f"Take index {over.key} out", SetField(table.id, "indexes", left)
        if not over.key:
            edit: Edit = partial(tables.put_primary_key, table_id=table.id, names=None)
            yield "Let the cluster make a primary key", edit
        return
    if not over.columns:
        left = table.indexes[: over.most - over.value]
        many = over.value - over.most
        title = f"Take the last {many} indexes out" if many > 1 else "Take the last index out"
        yield title, SetField(table.id, "indexes", left)
        return
    yield from _until_it_fits(plan, over, "dynamic", _dynamic)
    yield from _until_it_fits(plan, over, "of variable length", lambda column: _of_type(column, _VARIABLE))
    yield from _until_it_fits(plan, over, "TEXT or BLOB", lambda column: _of_type(column, _OUT_OF_ROW))


def _of_type(column: Column, instead: dict[str, str]) -> Column | None:
    kind = instead.get(column.type)
    if kind is None or (column.default is not None and COLUMN_TYPES[kind].is_blob):
        return None
    length = None if COLUMN_TYPES[kind].is_blob else column.length
    return validated.changed(column, type=kind, length=length)


def _dynamic(column: Column) -> Column | None:
    return None if column.storage == "disk" else validated.changed(column, column_format="dynamic")


def _until_it_fits(
    plan: Plan, over: OverLimit, what: str, other: Callable[[Column], Column | None]
) -> Iterator[tuple[str, Edit]]:
    """The largest columns that are in no key made something else, until the table is below the limit."""
    table, version = over.table, plan.version
    in_a_key = {*table.primary_key, *table.distribution_key, *(n for i in table.indexes for n in i.columns)}
    columns = list(table.columns)
    free = [at for at, one in enumerate(columns) if one.name in over.columns and one.name not in in_a_key]
    changed: list[str] = []
    for at in sorted(free, key=lambda at: -stored_type(columns[at], version).max_bytes):
        new = other(columns[at])
        if new is None:
            continue
        columns[at] = new
        changed.append(new.name)
        after = validated.changed(table, columns=tuple(columns))
        if over.error not in {one.error for one in over_limits(after, version)}:
            edit: Edit = partial(tables.put_columns, table_id=table.id, columns=after.columns)
            yield f"Make {_named(changed)} {what}", edit
            return


def _shorter_key(plan: Plan, over: OverLimit) -> Iterator[tuple[str, Edit]]:
    """The longest column of a key so short that the key fits."""
    columns = {column.name: column for column in over.table.columns}
    texts = [columns[name] for name in over.columns if name in columns and columns[name].type in _OUT_OF_ROW]
    if not texts:
        return
    longest = max(texts, key=lambda each: stored_type(each, plan.version).max_bytes)
    kind = COLUMN_TYPES[longest.type]
    collation = longest.collation or charsets.default_collation(plan.version)
    letter_bytes = charsets.max_char_bytes(collation) if kind.is_text else 1
    length = (longest.length or kind.default_length or 0) - -(-(over.value - over.most) // letter_bytes)
    if length > 0:
        new = validated.changed(longest, length=length)
        changed = tuple(new if each is longest else each for each in over.table.columns)
        edit: Edit = partial(tables.put_columns, table_id=over.table.id, columns=changed)
        yield f"Make {longest.name} {longest.type.upper()}({length})", edit


def _named(names: Sequence[str]) -> str:
    """`a, b and c`, or `40 columns`."""
    if len(names) > _MOST_NAMED:
        return how_many(len(names), "column")
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
