"""What an SQL text makes, taken into a plan: log file groups and tablespaces first, then tables.

taken = with_ddl(plan, read_ddl(text, plan.version))
taken.plan, taken.changes, taken.missing
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ndbplan.base.units import how_many
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.ids import NewIds
from ndbplan.importing.ddl.disk_data_parts import with_disk_data, without_dropped
from ndbplan.importing.ddl.known_tables import with_fates
from ndbplan.importing.ddl.statements import DdlResult
from ndbplan.importing.ddl.tokens import DdlProblem
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table

_KEPT_OF_A_KNOWN_TABLE = (
    "id", "rows", "growth_rows_per_month", "partition_rows", "tablespace_id", "assumed",
    "distribution_key_values", "distribution_key_table_id", "distribution_key_first",
)  # fmt: skip


class Taken(NamedTuple):
    """A plan with what an SQL text makes."""

    plan: Plan
    changes: list[str]
    """What came, changed or went, in words."""
    missing: list[DdlProblem]
    """What could not come, because something it needs is not there, or because the plan has another one."""


def with_ddl(plan: Plan, ddl: DdlResult) -> Taken:
    """The plan with everything that was read; what it has already by name is kept or redefined.

    Raises EditError.
    """
    known = ddl.known
    plan, changes, missing = with_fates(plan, ddl.fates, known.databases, known.made)
    plan, of_disks, unknown = with_disk_data(plan, ddl.disk_data)
    spaces = {space.name: space.id for space in plan.tablespaces}
    wanted = {i: spaces[space.name] for i, space in ddl.tablespaces.items() if space.name in spaces}
    names = {table.full_name for table in plan.tables}
    plan = with_tables(plan, ddl.tables, wanted)
    plan, dropped, in_use = without_dropped(plan, ddl.disk_data)
    changes += of_disks
    for table in ddl.tables:
        what = "redefined, rows kept" if table.full_name in names else "added"
        names.add(table.full_name)
        count = len(table.columns)
        changes.append(f"{table.full_name}: {what}, {how_many(count, 'column')}")
    missing += [*unknown, *_without_tablespace(ddl, spaces), *in_use]
    return Taken(plan, [*changes, *dropped], sorted(missing, key=lambda one: (one.line, one.column)))


def _without_tablespace(ddl: DdlResult, spaces: Mapping[str, str]) -> Iterator[DdlProblem]:
    """What is said of tables whose tablespace neither the text nor the plan has."""
    names = {table.id: table.full_name for table in ddl.tables}
    for table_id, (name, line, column) in ddl.tablespaces.items():
        if name not in spaces:
            what = f"table {names[table_id]} is in tablespace '{name[:40]}', which nothing makes; "
            fix = "add its CREATE TABLESPACE, or give the table a tablespace of the plan"
            yield DdlProblem(line, column, what + fix)


def with_tables(plan: Plan, tables: Iterable[Table], tablespace_ids: Mapping[str, str] | None = None) -> Plan:
    """The plan with tables added; one of a name it has gets the new definition and keeps its rows.

    `tablespace_ids`: where a table goes, by its own id; a known one without stays where it is.
    Raises EditError.
    """
    named = {table.full_name: table for table in plan.tables}
    ids = NewIds(plan)
    parents: dict[str, str] = {}
    """Full name of the table whose rows are the values of a distribution key."""
    tables = tuple(tables)
    names = {table.id: table.full_name for table in tables}
    for table in tables:
        parent = names.get(table.distribution_key_table_id or "")
        if parent is not None:
            parents[table.full_name] = parent
        known = named.get(table.full_name)
        space = (tablespace_ids or {}).get(table.id)
        if known is None:
            named[table.full_name] = validated.changed(
                table, id=ids.of(Table), tablespace_id=space, distribution_key_table_id=None
            )
        else:
            told = (name for name in Table.model_fields if name not in _KEPT_OF_A_KNOWN_TABLE)
            fields = {n: getattr(table, n) for n in told if getattr(table, n) != getattr(known, n)}
            if space is not None and space != known.tablespace_id:
                fields["tablespace_id"] = space
            named[table.full_name] = validated.changed(known, **fields)
    for name, parent in parents.items():
        # What the plan states of the values is known better.
        mine = named[name]
        if mine.distribution_key_values is None and mine.distribution_key_table_id is None:
            named[name] = validated.changed(mine, distribution_key_table_id=named[parent].id)
    return edits.put_tables(plan, named.values())
