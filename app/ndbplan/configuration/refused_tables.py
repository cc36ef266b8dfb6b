"""What SQL nodes refuse of the tables of a plan: what their version does not know, and what no key may hold.

for one in refused_by_sql(plan):
    print(one.where, one.why)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.ndb import sql_versions
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table


class RefusedColumn(NamedTuple):
    """One thing of one column that the CREATE TABLE of a version does not take."""

    table: Table
    column: Column
    why: str
    key: str | None
    """The index that it is in, empty for the primary key; None: it is the column itself."""

    @property
    def where(self) -> str:
        """The place in words."""
        return f"column {self.column.name} of {self.table.full_name}"


def refused_by_sql(plan: Plan) -> Iterator[RefusedColumn]:
    """What SQL nodes of the plan's version refuse of its tables, in their order."""
    for table in plan.tables:
        for column in table.columns:
            for why in unknown_in(column, plan.version):
                yield RefusedColumn(table, column, why, None)
        yield from in_keys(table)


def unknown_in(column: Column, version: NdbVersion) -> Iterator[str]:
    """What a version does not know of a column."""
    unknown = [
        sql_versions.unknown_type(column.type, version),
        sql_versions.unknown_fraction(column.type, column.length, version),
    ]
    if column.collation is not None and COLUMN_TYPES[column.type].is_text:
        unknown.append(sql_versions.unknown_collation(column.collation, version))
    if column.default is not None:
        unknown.append(sql_versions.unknown_default(column.default, version))
    yield from filter(None, unknown)


def in_keys(table: Table) -> Iterator[RefusedColumn]:
    """Columns of a table that its keys and indexes cannot hold."""
    columns = {column.name: column for column in table.columns}
    keys = (("", table.primary_key), *((index.name, index.columns) for index in table.indexes))
    for key, names in keys:
        for column in (columns[name] for name in names if name in columns):
            why = sql_versions.in_no_key(column.type)
            if not why and column.storage == "disk":
                why = "columns on disk are in no key or index"
            if why:
                yield RefusedColumn(table, column, why, key)
