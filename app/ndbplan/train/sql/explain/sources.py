"""What a statement reads: its tables by their names in it, their columns, and what chooses rows."""

from __future__ import annotations

from typing import NamedTuple

from sqlglot import exp

from ndbplan.plan.tables import Column, Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import failing, server
from ndbplan.train.sql.explain.wording import unknown
from ndbplan.train.sql.problem import SqlError, no_database
from ndbplan.train.state import is_local


class Source(NamedTuple):
    """A table as a statement names it."""

    alias: str
    table: Table


class Sources(NamedTuple):
    """The tables of a statement, as typed."""

    listed: tuple[Source, ...]

    def of(self, column: exp.Column, clause: str = "field list") -> tuple[Source, Column]:
        """The table and the column that a name means. Raises SqlError."""
        found = [
            (source, one)
            for source in self.listed
            for one in source.table.columns
            if one.name.lower() == column.name.lower() and column.table.lower() in ("", source.alias.lower())
        ]
        typed = f"{column.table}.{column.name}" if column.table else column.name
        if not found:
            raise SqlError(1054, "42S22", f"Unknown column '{typed}' in '{clause}'")
        if len(found) > 1:
            raise SqlError(1052, "23000", f"Column '{typed}' in {clause} is ambiguous")
        return found[0]

    def name(self, column: exp.Column) -> str:
        """`test`.`a`.`id`."""
        source, one = self.of(column, "where clause")
        return f"`{source.table.database}`.`{source.alias}`.`{one.name}`"

    def read_by(self, condition: exp.Expr) -> set[str]:
        """The tables that a condition is about, by their names in the statement."""
        return {self.of(one, "where clause")[0].alias for one in condition.find_all(exp.Column)}


def sources_of(tree: exp.Expr, in_use: str, cluster: LiveCluster) -> Sources:
    """The tables that a statement names. Raises SqlError, and NotSimulated for what is no table of a plan."""
    found = []
    for one in tree.find_all(exp.Table):
        database = one.db or in_use
        if not database:
            raise SqlError(1046, "3D000", "No database selected")
        if database not in server.databases(cluster):
            raise no_database(database)
        if database == "ndbinfo" or database == "information_schema" or database in server.SYSTEM:
            raise unknown(f"tables of {database}")
        table = server.table_named(cluster, database, one.name)
        if is_local(table):
            raise unknown("tables of InnoDB")
        failing.may_read(cluster, table.full_name)
        found.append(Source(one.alias_or_name, table))
    return Sources(tuple(found))


def conditions_of(tree: exp.Expr, sources: Sources) -> list[exp.Expr]:
    """What all rows meet: the parts of ON and WHERE, those of USING written out."""
    found: list[exp.Expr] = []
    for join in tree.args.get("joins") or ():
        if join.side or join.kind.upper() not in ("", "INNER", "CROSS"):
            raise unknown("outer joins")
        on = join.args.get("on")
        if on is not None:
            found += _parts(on)
        for name in join.args.get("using") or ():
            sides = [s for s in sources.listed if any(c.name == name.name for c in s.table.columns)][:2]
            found.append(exp.EQ(this=exp.column(name.name, sides[0].alias),
                                expression=exp.column(name.name, sides[-1].alias)))  # fmt: skip
    where = tree.args.get("where")
    return found + (_parts(where.this) if where is not None else [])


def _parts(condition: exp.Expr) -> list[exp.Expr]:
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        return [part for one in inner.flatten() for part in _parts(one)]
    return [inner]
