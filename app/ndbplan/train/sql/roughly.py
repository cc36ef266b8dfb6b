"""How many rows a statement meets, where which they are is not known."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.live import LiveCluster
from ndbplan.train.sql import server
from ndbplan.train.sql.engine import Relation, Result
from ndbplan.train.sql.problem import NotSimulated, SqlError


class Asked(NamedTuple):
    """Whom a change is asked of."""

    in_use: str
    cluster: LiveCluster
    query: Callable[[exp.Expr, Mapping[str, Relation]], Result]
    """What a query finds; tables that are given by `database.name` hold what is given."""
    checks: bool = True
    """Foreign keys are looked at."""
    is_safe: bool = False
    """UPDATE and DELETE ask for a key (sql_safe_updates)."""
    step: int = 1
    """How far numbers of AUTO_INCREMENT are apart (auto_increment_increment)."""
    first: int = 1
    """Which of them is the first (auto_increment_offset); one beyond the step is not looked at."""

    def number_after(self, counter: int) -> int:
        """What AUTO_INCREMENT gives next."""
        first = self.first if self.first <= self.step else 1
        return max(first, counter + 1 + (first - counter - 1) % self.step)


def known(named: Iterable[str], names: Collection[str], clause: str) -> None:
    """Raises SqlError for a column that there is not."""
    for name in named:
        if name.lower() not in names:
            raise SqlError(1054, "42S22", f"Unknown column '{name}' in '{clause}'")


def named(table: Table, listed: Sequence[str]) -> list[Column]:
    """The columns that are named. Raises SqlError for one that is missing, or named twice."""
    columns = {column.name.lower(): column for column in table.columns}
    known(listed, columns, "field list")
    for name in listed:
        if sum(one.lower() == name.lower() for one in listed) > 1:
            raise SqlError(1110, "42000", f"Column '{name}' specified twice")
    return [columns[name.lower()] for name in listed]


def rows_met(tree: exp.Expr, table: Table, asked: Asked, *, replaces: bool) -> tuple[int, OperationKind]:
    """How many rows a change meets, and what it does to them. Raises NotSimulated."""
    rows_now = asked.cluster.rows_of(table)
    if isinstance(tree, exp.Insert):
        source = tree.expression
        rows, kind = _selected(source, asked), OperationKind.INSERT
        if replaces:
            raise NotSimulated(
                "which rows this replaces is not simulated; VALUES with whole numbers as keys are"
            )
    else:
        where, kind = tree.args.get("where"), OperationKind.UPDATE
        if isinstance(tree, exp.Delete):
            kind = OperationKind.DELETE
        rows = rows_now if where is None else _met(where.this, table, rows_now)
        limit = tree.args.get("limit")
        most = None if limit is None else whole_number(limit.expression.name)
        rows = rows if most is None else min(most, rows)
    return rows, kind


def _selected(source: exp.Expr, asked: Asked) -> int:
    """How many rows a query gives to INSERT. Raises NotSimulated for what depends on values of rows."""
    if isinstance(source, exp.Values):
        return len(source.expressions)
    named = {one.alias_or_name for one in source.find_all(exp.CTE)}
    read = [one for one in source.find_all(exp.Table) if one.db or one.name not in named]
    own = [one for one in read if (one.db or asked.in_use).lower() not in ("ndbinfo", "information_schema")]
    if not own:
        return len(asked.query(source, {}).rows)
    plain = isinstance(source, exp.Select) and not any(
        source.args.get(key) for key in ("group", "having", "joins", "limit", "distinct")
    )
    if not plain or len(read) > 1 or any(one.find(exp.AggFunc) for one in source.expressions):
        raise NotSimulated("which rows this query finds is not simulated; those of one table by its key are")
    table = server.table_named(asked.cluster, own[0].db or asked.in_use, own[0].name)
    names = {column.name.lower() for column in table.columns}
    known((c.name for c in source.find_all(exp.Column)), names, "field list")
    rows, where = asked.cluster.rows_of(table), source.args.get("where")
    return rows if where is None else _met(where.this, table, rows)


def _met(condition: exp.Expr, table: Table, rows: int) -> int:
    """How many rows a condition is met by: named keys are there, ranges of a key count its whole numbers.

    Keys are taken to run from 1 without gaps. Raises NotSimulated for what depends on values that no one has.
    """
    key = tuple(name.lower() for name in table.primary_key)
    values: dict[str, int] = {}
    low, high, ranged = 1, rows, False
    for part in condition.flatten() if isinstance(condition, exp.And) else (condition,):
        one = part.unnest()
        column = one.this.name.lower() if isinstance(one.this, exp.Column) else ""
        if column not in key or any(c is not one.this for c in one.find_all(exp.Column)):
            raise NotSimulated("which rows this meets is not simulated; conditions on the primary key are")
        if isinstance(one, exp.EQ):
            values[column] = 1
        elif isinstance(one, exp.In) and one.expressions:
            values[column] = len({value.sql() for value in one.expressions})
        elif key == (column,) and (bounds := _bounds(one)) is not None:
            low, high, ranged = max(low, bounds[0]), min(high, bounds[1]), True
        else:
            raise NotSimulated("which rows this meets is not simulated; =, IN and ranges of a key are")
    if ranged:
        return min(max(0, high - low + 1), values.get(key[0], rows))
    if set(values) != set(key):
        raise NotSimulated("which rows a part of the key meets is not simulated; the whole key is")
    return min(rows, prod(values.values()))


_FARTHEST = 2**64


def _bounds(one: exp.Expr) -> tuple[int, int] | None:
    """First and last whole number that a comparison of a key with a number takes; None: it is none."""
    if isinstance(one, exp.Between):
        ends = [whole_number(one.args[name].name) for name in ("low", "high")]
        return None if ends[0] is None or ends[1] is None else (ends[0], ends[1])
    value = whole_number(one.expression.name) if isinstance(one, exp.Binary) else None
    if value is None:
        return None
    found: dict[type[exp.Expr], tuple[int, int]] = {
        exp.LT: (-_FARTHEST, value - 1), exp.LTE: (-_FARTHEST, value),
        exp.GT: (value + 1, _FARTHEST), exp.GTE: (value, _FARTHEST),
    }  # fmt: skip
    return found.get(type(one))
