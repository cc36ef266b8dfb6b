"""INSERT, REPLACE, UPDATE and DELETE: how many rows they meet, their log, and the errors of this moment.

Rows of tables are not simulated, only how many there are: a key that is named is taken to be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import NamedTuple

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.configuration.settings import no_of_replicas, node_settings
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import NdbError, ndb_error
from ndbplan.ndb.ndbinfo import tables_of
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import Wrote, refused_for, rows_of
from ndbplan.train.sql import server
from ndbplan.train.sql.failing import may_read
from ndbplan.train.sql.problem import NotSimulated, SqlError, no_database, no_table, of_ndb
from ndbplan.train.sql.reading import parsed

QUEUED_TIMEOUT = 266
"""What a queued operation ends with; clients see 1205."""
CHANGED_ROWS_PER_S = 4_000.0
"""Rows that one statement deletes or updates in a second [8.4.8, a small machine: 5,000 rows in 1.2 s]."""
_ERRORS_IN_1114 = (827, 625, 902, 1601)


def change(sql: str, in_use: str, cluster: LiveCluster, count: Callable[[exp.Expr], int]) -> str:
    """Carry out a change of rows; `count` counts those of a query. Raises SqlError and NotSimulated."""
    replaces = sql[:7].lower() == "replace"
    tree = parsed(f"INSERT{sql[7:]}" if replaces else sql)
    target = next(tree.find_all(exp.Table), None)
    where = "" if target is None else target.db or in_use
    if target is None or not where:
        raise SqlError(1046, "3D000", "No database selected")
    if where == "ndbinfo" and tables_of(cluster.plan.version):
        if target.name not in tables_of(cluster.plan.version):
            raise no_table(where, target.name)
        raise SqlError(1036, "HY000", f"Table 'ndb${target.name}' is read only")
    if where not in server.databases(cluster):
        raise no_database(where)
    table = server.table_named(cluster, where, target.name)
    may_read(cluster, table.full_name)
    rows, kind = _rows(tree, table, _Asked(in_use, cluster, count))
    limit = node_settings(cluster.plan).number("MaxNoOfConcurrentOperations")
    if limit and rows > limit:
        raise met(int(form(cluster.plan.version, "too_many_rows")), table.name)
    replicas = no_of_replicas(cluster.plan)
    log_bytes = rows * replicas * operation_redo(table, kind, cluster.plan.version).value
    code = refusing(cluster) or refused_for(cluster.session.simulation, log_bytes)
    if code:
        raise met(code, table.name)
    added = {OperationKind.INSERT: rows, OperationKind.DELETE: -rows}.get(kind, 0)
    if replaces:
        added = _new_keys(tree, table, rows_of(cluster.session.simulation, table))
    cluster.act(Wrote(table.id, added, log_bytes))
    begin_s = cluster.now_s
    if rows > 1:
        cluster.advance(rows / CHANGED_ROWS_PER_S)
    lasted = server.lasted(cluster.now_s - begin_s)
    said = f"Query OK, {rows} row{'s' * (rows != 1)} affected ({lasted})"
    if isinstance(tree, exp.Update):
        return f"{said}\nRows matched: {rows}  Changed: {rows}  Warnings: 0\n"
    many = isinstance(tree, exp.Insert) and (rows > 1 or isinstance(tree.expression, exp.Query))
    return f"{said}\nRecords: {rows}  Duplicates: 0  Warnings: 0\n" if many else said


class _Asked(NamedTuple):
    """Whom a change is asked of."""

    in_use: str
    cluster: LiveCluster
    count: Callable[[exp.Expr], int]


def _new_keys(tree: exp.Expr, table: Table, rows: int) -> int:
    """How many rows of REPLACE are not there yet. Raises NotSimulated where their keys are not whole numbers.

    Keys are taken to run from 1 without gaps.
    """
    values = tree.expression
    head = tree.this
    listed = [one.name for one in head.expressions] if isinstance(head, exp.Schema) else []
    order = listed or [column.name for column in table.columns]
    if not isinstance(values, exp.Values) or len(table.primary_key) != 1:
        raise NotSimulated("which rows this replaces is not simulated; VALUES with a key of one column are")
    place = [name.lower() for name in order].index(table.primary_key[0].lower())
    keys = [
        whole_number((row.expressions if isinstance(row, exp.Tuple) else [row])[place].name)
        for row in values.expressions
    ]
    if None in keys:
        raise NotSimulated("which rows this replaces is not simulated; whole numbers as keys are")
    return sum(key is not None and not 1 <= key <= rows for key in set(keys))


def _selected(source: exp.Expr, asked: _Asked) -> int:
    """How many rows a query gives to INSERT. Raises NotSimulated for what depends on values of rows."""
    named = {one.alias_or_name for one in source.find_all(exp.CTE)}
    read = [one for one in source.find_all(exp.Table) if one.db or one.name not in named]
    own = [one for one in read if (one.db or asked.in_use).lower() not in ("ndbinfo", "information_schema")]
    if not own:
        return asked.count(source)
    plain = isinstance(source, exp.Select) and not any(
        source.args.get(key) for key in ("group", "having", "joins", "limit", "distinct")
    )
    if not plain or len(read) > 1 or any(one.find(exp.AggFunc) for one in source.expressions):
        raise NotSimulated("which rows this query finds is not simulated; those of one table by its key are")
    table = server.table_named(asked.cluster, own[0].db or asked.in_use, own[0].name)
    names = {column.name.lower() for column in table.columns}
    _known((c.name for c in source.find_all(exp.Column)), names, "field list")
    rows, where = rows_of(asked.cluster.session.simulation, table), source.args.get("where")
    return rows if where is None else _met(where.this, table, rows)


def _rows(tree: exp.Expr, table: Table, asked: _Asked) -> tuple[int, OperationKind]:
    """How many rows a statement meets, and what it does to them."""
    cluster = asked.cluster
    names = {column.name.lower() for column in table.columns}
    if isinstance(tree, exp.Insert):
        values = tree.expression
        head = tree.this
        listed = [one.name for one in head.expressions] if isinstance(head, exp.Schema) else []
        _known(listed, names, "field list")
        if isinstance(values, exp.Query):
            return _selected(values, asked), OperationKind.INSERT
        if not isinstance(values, exp.Values):
            raise NotSimulated("this change is not simulated; INSERT ... VALUES and INSERT ... SELECT are")
        width = len(listed) or len(table.columns)
        for number, row in enumerate(values.expressions, start=1):
            count = len(row.expressions) if isinstance(row, exp.Tuple) else 1
            if count != width:
                raise SqlError(1136, "21S01", f"Column count doesn't match value count at row {number}")
            _check_values(listed, row, number, table)
        return len(values.expressions), OperationKind.INSERT
    if not isinstance(tree, exp.Update | exp.Delete):
        raise NotSimulated("this change is not simulated; INSERT, UPDATE and DELETE of one table are")
    is_update = isinstance(tree, exp.Update)
    if is_update:
        _known((c.name for one in tree.expressions for c in one.find_all(exp.Column)), names, "field list")
    where = tree.args.get("where")
    kind = OperationKind.UPDATE if is_update else OperationKind.DELETE
    if where is None:
        return rows_of(cluster.session.simulation, table), kind
    _known((c.name for c in where.find_all(exp.Column)), names, "where clause")
    met_rows = _met(where.this, table, rows_of(cluster.session.simulation, table))
    limit = tree.args.get("limit")
    most = None if limit is None else whole_number(limit.expression.name)
    return (met_rows if most is None else min(most, met_rows)), kind


_WHOLE_TYPES = ("tinyint", "smallint", "mediumint", "int", "bigint")


def _check_values(listed: Sequence[str], row: exp.Expr, number: int, table: Table) -> None:
    """Raises SqlError for a value that its column does not take."""
    columns = {column.name.lower(): column for column in table.columns}
    order = [columns[name.lower()] for name in listed] or list(table.columns)
    values = row.expressions if isinstance(row, exp.Tuple) else [row]
    for column, value in zip(order, values, strict=True):
        is_key = column.name in table.primary_key
        if isinstance(value, exp.Null) and (is_key or not column.nullable) and not column.auto_increment:
            raise SqlError(1048, "23000", f"Column '{column.name}' cannot be null")
        if not isinstance(value, exp.Literal) or not value.is_string:
            continue
        where = f"for column '{column.name}' at row {number}"
        if column.type in _WHOLE_TYPES and whole_number(value.name.strip()) is None:
            raise SqlError(1366, "HY000", f"Incorrect integer value: '{value.name}' {where}")
        if column.type in ("char", "varchar") and len(value.name) > (column.length or 1):
            raise SqlError(1406, "22001", f"Data too long {where}")


def _known(named: Iterable[str], names: set[str], clause: str) -> None:
    for name in named:
        if name.lower() not in names:
            raise SqlError(1054, "42S22", f"Unknown column '{name}' in '{clause}'")


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


def refusing(cluster: LiveCluster) -> int:
    """The error that most transactions of the last moment got; 0: most were accepted."""
    result = cluster.result()
    at = len(result.times_s) - 1
    codes = {code: float(values[at]) for code, values in result.refused_by_code.items()}
    worst = max(codes, key=lambda code: codes[code], default=0)
    return worst if worst and codes[worst] > float(result.accepted[at]) else 0


def met(code: int, table: str) -> SqlError:
    """An error of the data nodes as the client sees it."""
    error = ndb_error(code) or NdbError(code, "unknown", "temporary", "unknown error code")
    inside = of_ndb(code, error.text, temporary=error.status == "temporary")
    if code == QUEUED_TIMEOUT:
        text = "Lock wait timeout exceeded; try restarting transaction"
        return SqlError(1205, "HY000", text, inside.warnings[:1])
    if code in _ERRORS_IN_1114:
        return SqlError(1114, "HY000", f"The table '{table}' is full", inside.warnings[:1])
    return inside
