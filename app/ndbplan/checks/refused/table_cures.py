"""Ways to correct a table that no SQL node makes: small changes, of which those are offered that cure.

table_cures(now.plan, one)          # Solution("Take AUTO_INCREMENT of n away", …)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ndbplan.checks.problem import Edit, Solution
from ndbplan.configuration.refused_tables import (
    RefusedColumn,
    has_usual_sql_mode,
    impossible_in,
    in_keys,
    no_identifier,
)
from ndbplan.edits import tables, validated
from ndbplan.edits.changes import SetField
from ndbplan.edits.validated import EditError
from ndbplan.estimate.stored import has_too_many_fragments, most_in_one_ldm
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table

_TRIED = 8
"""Numbers of partitions from the proportional one down that are tried: judgement."""
_WITHOUT_LIMIT = {"char": "varchar", "binary": "varbinary"}


def table_cures(plan: Plan, one: RefusedColumn) -> Iterator[Solution]:
    """Changes after which SQL nodes have nothing against this column, or key, any more."""
    before = _against(plan, one.table)
    for title, edit in _of_names(one) if one.is_table else (*_of_column(one), *_of_key(one)):
        try:
            after = edit(plan).by_id[one.table.id]
        except EditError:
            continue
        if len(_against(plan, after)) < len(before):
            yield Solution(title, f"before: {one.why}", edit, asks=True)


def fewer_fragments(plan: Plan, table: Table) -> Iterator[Solution]:
    """Changes after which a table has no more fragments in an LDM thread than it takes."""
    for name, sql in (("partitions", "PARTITIONS"), ("max_rows", "MAX_ROWS")):
        if getattr(table, name) is not None:
            why = "the number of LDM threads decides then, and the table grows with the cluster"
            yield Solution(f"Leave {sql} out", why, SetField(table.id, name, None))
    if table.partitions is not None:
        near = table.partitions * plan.features.fragments_of_table_in_ldm // most_in_one_ldm(plan, table)
        for fewer in range(near, max(0, near - _TRIED), -1):
            edit = SetField(table.id, "partitions", fewer)
            after = edit(plan)
            if not has_too_many_fragments(after, after.table(table.id)):
                yield Solution(f"Have {fewer} partitions", "the most that the LDM threads take", edit)
                return


def _against(plan: Plan, table: Table) -> list[RefusedColumn]:
    return [*impossible_in(table, plan.version, strict=has_usual_sql_mode(plan)), *in_keys(table)]


def _of_names(one: RefusedColumn) -> Iterator[tuple[str, Edit]]:
    """The nearest names that servers take, for the table and its database."""
    table = one.table
    for what, field, name in (("table", "name", table.name), ("database", "database", table.database)):
        near = _near(name) if no_identifier(name) else f"{name}_{what[0]}"
        yield f"Call the {what} {near}", SetField(table.id, field, near)


def _near(name: str) -> str:
    """A name without what no identifier has."""
    return "".join(letter for letter in name if not no_identifier(letter)).rstrip() or "unnamed"


def _of_column(one: RefusedColumn) -> Iterator[tuple[str, Edit]]:
    column, columns = one.column, one.table.columns
    name, kind = column.name, COLUMN_TYPES[column.type]

    def changed(**fields: object) -> Edit:
        new = tuple(validated.changed(each, **fields) if each is column else each for each in columns)
        return partial(tables.put_columns, table_id=one.table.id, columns=new)

    if column.type in _WITHOUT_LIMIT:
        larger = _WITHOUT_LIMIT[column.type]
        yield f"Make {name} {larger.upper()}({column.length})", changed(type=larger)
    if no_identifier(name):
        yield f"Call it {_near(name)}", changed(name=_near(name))
    if column.default is not None:
        yield f"Take DEFAULT of {name} away", changed(default=None)
    if column.on_update is not None:
        yield f"Take ON UPDATE of {name} away", changed(on_update=None)
    if column.type == "timestamp":
        yield f"Let {name} be NULL", changed(nullable=True)
    if column.auto_increment and column.type in ("float", "double"):
        yield f"Make {name} BIGINT", changed(type="bigint")
    if column.auto_increment:
        yield f"Take AUTO_INCREMENT of {name} away", changed(auto_increment=False)
    if column.type == "decimal" and column.scale:
        digits = max(column.scale, column.length or 0)
        yield f"Make {name} DECIMAL({digits},{column.scale})", changed(length=digits)
    if column.members:
        single: dict[str, str] = {}
        for member in column.members:
            plain = member.replace(",", ";") if column.type == "set" else member
            single.setdefault(plain.rstrip(" ").casefold(), plain)
        yield f"Name each member of {name} once, without commas", changed(members=tuple(single.values()))
        if column.type == "set":
            yield (
                f"Keep the first {kind.most_length} members of {name}",
                changed(members=column.members[: kind.most_length]),
            )
    free = _free_name(name, [each.name for each in columns])
    yield (
        f"Call the second {name} {free}",
        partial(_second_renamed, one=column, table_id=one.table.id, name=free),
    )
    if kind.is_text:
        yield f"Make {name} VARCHAR(255)", changed(type="varchar", length=255)
    if one.key == "":
        yield (
            "Let the cluster make a primary key",
            partial(tables.put_primary_key, table_id=one.table.id, names=None),
        )


def _second_renamed(plan: Plan, one: Column, table_id: str, name: str) -> Plan:
    """The last column that is called like one gets another name; the first keeps the keys."""
    columns = plan.table(table_id).columns
    last = [i for i, each in enumerate(columns) if each.name.casefold() == one.name.casefold()][-1]
    renamed = validated.changed(columns[last], name=name)
    return tables.put_columns(plan, table_id, (*columns[:last], renamed, *columns[last + 1 :]))


def _of_key(one: RefusedColumn) -> Iterator[tuple[str, Edit]]:
    """The last index of the name called otherwise, or with each column once; the index gone."""
    indexes = one.table.indexes
    at = max((i for i, index in enumerate(indexes) if index.name == one.key), default=None)
    if at is None:
        if one.key == "":
            once = tuple(dict.fromkeys(one.table.primary_key))
            yield "Name each column of the primary key once", SetField(one.table.id, "primary_key", once)
        return
    index = indexes[at]
    free = _free_name(_near(index.name), [each.name for each in indexes])

    def put(**fields: object) -> Edit:
        new = (*indexes[:at], validated.changed(index, **fields), *indexes[at + 1 :])
        return SetField(one.table.id, "indexes", new)

    yield f"Call the index {free}", put(name=free)
    yield f"Name each column of index {index.name} once", put(columns=tuple(dict.fromkeys(index.columns)))
    yield (
        f"Take index {index.name} out",
        SetField(one.table.id, "indexes", (*indexes[:at], *indexes[at + 1 :])),
    )


def _free_name(name: str, taken: list[str]) -> str:
    known = {each.casefold() for each in (*taken, "primary")}
    stem = name[:56]
    return next(f"{stem}_{i}" for i in range(2, len(known) + 3) if f"{stem}_{i}".casefold() not in known)
