"""Which rows of tables a statement reads, and what they hold at this moment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice, product
from typing import Any, NamedTuple

from sqlglot import exp

from ndbplan.base.units import format_count, whole_number
from ndbplan.estimate.storage.distribution import hash_map_of
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.hash import distribution_hash
from ndbplan.plan.tables import Table
from ndbplan.train.contents import WHOLE, Held, Key, Row, is_exact, key_columns, same
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import partitions_of
from ndbplan.train.sql.engine import Relation
from ndbplan.train.sql.numbers import INT
from ndbplan.train.sql.problem import NotSimulated
from ndbplan.train.sql.values import Taking, column_kind
from ndbplan.train.state import is_local

MOST_READ = 100_000
"""Rows of a table that one statement reads at most: what takes a second or so."""
MOST_COMPARED = 20_000
"""Rows that are looked through, row by row, for a value that is to be unique."""
_MOST_SORTED = 2_000
"""Rows that are listed as their partitions lie; more are listed by their keys."""
MOST_LIMIT = 2**63 - 1
"""Of a LIMIT: what the SQL engine takes."""
ROW_NUMBER = "ndb$row"
"""Column of a relation that says which of the rows that were read it is."""


class TooMany(NotSimulated):
    """The rows of a statement are counted, and not known one by one."""


class Wanted(NamedTuple):
    """What a statement asks of the rows of a table by its key."""

    keys: Sequence[Mapping[str, Any]] | None = None
    """Values of whole keys, by column; None: it names none."""
    low: int | None = None
    high: int | None = None
    most: int | None = None
    """Any rows, so many of them at most."""


def literal(node: exp.Expr | None) -> Any:
    """The value of a literal; None: it is none."""
    if isinstance(node, exp.Paren):
        return literal(node.this)
    if isinstance(node, exp.Neg):
        inner = literal(node.this)
        return -inner if isinstance(inner, int | float) else None
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return str(node.this)
    whole = whole_number(str(node.this))
    return float(node.this) if whole is None else whole


def wanted(statement: exp.Expr, reference: exp.Table, table: Table) -> Wanted:
    """What a SELECT, UPDATE or DELETE asks of a table that it names once."""
    where = statement.args.get("where")
    alone = len(list(statement.find_all(exp.Table))) == 1
    known = reference.alias_or_name.lower()
    key = key_columns(table)
    named: dict[str, list[Any]] = {}
    low, high = None, None
    condition = None if where is None else where.this
    parts = condition.flatten() if isinstance(condition, exp.And) else [condition]
    for part in parts:
        one = part.unnest() if part is not None else None
        column = one.this if one is not None and isinstance(one.this, exp.Column) else None
        if column is None or not (column.table.lower() == known or (not column.table and alone)):
            continue
        found = next((c for c in key if c.name.lower() == column.name.lower()), None)
        if found is None or one is None:
            continue
        if isinstance(one, exp.EQ):
            values = [literal(one.expression)]
        elif isinstance(one, exp.In) and one.expressions:
            values = [literal(value) for value in one.expressions]
        else:
            bounds = bounds_of(one) if len(key) == 1 and found.type in WHOLE else None
            if bounds is not None:
                low = bounds[0] if low is None or (bounds[0] is not None and bounds[0] > low) else low
                high = bounds[1] if high is None or (bounds[1] is not None and bounds[1] < high) else high
            continue
        if None not in values:
            named.setdefault(found.name, values)
    if key and len(named) == len(key):
        taking = Taking(strict=False)
        columns = [[taking.take(one, value, 1) for value in named[one.name]] for one in key]
        return Wanted([dict(zip((one.name for one in key), row, strict=True)) for row in product(*columns)])
    return Wanted(None, low, high, _most(statement) if alone and where is None else None)


def bounds_of(one: exp.Expr) -> tuple[int | None, int | None] | None:
    """First and last whole number that a comparison of a key with a number takes; None: it is none."""
    if isinstance(one, exp.Between):
        low, high = (literal(one.args[name]) for name in ("low", "high"))
        return (low, high) if isinstance(low, int) and isinstance(high, int) else None
    value = literal(one.expression) if isinstance(one, exp.Binary) else None
    if not isinstance(value, int):
        return None
    found: dict[type[exp.Expr], tuple[int | None, int | None]] = {
        exp.LT: (None, value - 1), exp.LTE: (None, value), exp.GT: (value + 1, None), exp.GTE: (value, None),
    }  # fmt: skip
    return found.get(type(one))


def _most(statement: exp.Expr) -> int | None:
    """How many rows are enough where any will do; None: all are asked for."""
    if not isinstance(statement, exp.Select) or any(
        statement.args.get(name) for name in ("group", "having", "order", "distinct", "joins")
    ):
        return None
    if any(one.find(exp.AggFunc, exp.Subquery) for one in statement.expressions):
        return None
    counts = [statement.args.get(name) for name in ("limit", "offset")]
    if counts[0] is None:
        return None
    numbers = [0 if one is None else whole_number(one.expression.name) for one in counts]
    return None if None in numbers else sum(one or 0 for one in numbers)


def limited(statement: exp.Expr, session: Mapping[str, str]) -> exp.Expr:
    """As many rows as sql_select_limit lets through where a query states no LIMIT (manual 8.4)."""
    most = whole_number(session.get("sql_select_limit", ""), most=MOST_LIMIT)
    if most is not None and statement.args.get("limit") is None:
        statement.set("limit", exp.Limit(expression=exp.Literal.number(most)))
    return statement


def read(cluster: LiveCluster, table: Table, asked: Wanted) -> list[tuple[Key, Row]]:
    """The rows with their keys. Raises TooMany, and NotSimulated for rows that nobody can tell."""
    held = cluster.held(table)
    if held.contents.is_vague:
        raise TooMany(f"which values the rows of {table.full_name} have is not known since so many changed")
    if asked.keys is not None:
        by_key: dict[Key, Row] = {}
        for values in asked.keys:
            key = tuple(same(values[one.name], one) for one in key_columns(table))
            row = held.find(key, values)
            if row is not None:
                by_key[key] = row
        return list(by_key.items())
    if held.planned and not held.numbered:
        raise TooMany(
            f"which keys the rows of {table.full_name} have is not simulated; rows by their whole key are"
        )
    span = None if asked.low is None or asked.high is None else max(0, asked.high - asked.low + 1)
    below = min(held.last, asked.high) - max(1, asked.low or 1) + 1 if asked.high is not None else held.count
    above = held.last - (asked.low or 1) + 1 if asked.low is not None else held.count
    expected = min(one for one in (held.count, span, asked.most, max(0, below), max(0, above))
                   if one is not None)  # fmt: skip
    if expected > MOST_READ:
        raise TooMany(
            f"{table.full_name} has {format_count(held.count)} rows; at most {format_count(MOST_READ)} are "
            "read here: name keys, or a range of them"
        )
    rows = list(islice(held.keyed(asked.low, asked.high), MOST_READ + len(held.contents.rows)))
    if asked.most is not None and asked.most < len(rows):
        rows = rows[: max(asked.most, _MOST_SORTED)]
    if is_local(table):
        return sorted(rows, key=lambda pair: _sorts(pair[0])) if table.primary_key else rows
    return _as_they_lie(cluster, held, rows) if asked.low is None and asked.high is None else rows


def _sorts(key: Key) -> tuple[tuple[int, Any], ...]:
    """A key by which rows of InnoDB lie: numbers before texts."""
    return tuple((0, one) if isinstance(one, int | float) else (1, str(one)) for one in key)


def _as_they_lie(cluster: LiveCluster, held: Held, rows: list[tuple[Key, Row]]) -> list[tuple[Key, Row]]:
    """Rows by their partitions, as a scan without an order gives them."""
    if len(rows) > _MOST_SORTED:
        return rows
    places = places_of(cluster, held.table, [row for _, row in rows])
    if places is None:
        return rows
    return [pair for _, pair in sorted(zip(places, rows, strict=True), key=lambda both: both[0])]


def places_of(cluster: LiveCluster, table: Table, rows: Sequence[Row]) -> list[int] | None:
    """The partition that each row lies in; None: of a key that nobody can tell it by."""
    if not table.primary_key:
        return None
    version, names = cluster.plan.version, table.distribution_key or table.primary_key
    by_name = {column.name: column for column in table.columns}
    try:
        columns = [
            KeyColumn(name, one.type, unsigned=one.unsigned, length=one.length, scale=one.scale,
                      collation=one.collation)
            for name, one in ((name, by_name[name]) for name in names)
        ]  # fmt: skip
        parts = len(partitions_of(cluster.session.simulation, cluster.plan_of(table), table))
        buckets = hash_map_of(table, parts, version)
        return [
            buckets[distribution_hash(columns, [row[name] for name in names], version) % len(buckets)]
            for row in rows
        ]
    except (TypeError, ValueError):
        # A key that NDB cannot hash, or a value that stands for none.
        return None


def names_in(*asking: exp.Expr) -> set[str] | None:
    """The columns that these ask for, in small letters; None: a query in them may ask for any."""
    if any(one.find(exp.Query) is not None for one in asking):
        return None
    return {column.name.lower() for one in asking for column in one.find_all(exp.Column)}


def relation_of(
    table: Table, rows: Sequence[tuple[Key, Row]], *, numbered: bool = False,
    names: Collection[str] | None = None,
) -> Relation:  # fmt: skip
    """Rows as a table that a query may read.

    `numbered`: with their places in a column more; `names`: with these columns alone, in small letters.
    """
    shown = [one for one in table.columns if names is None or one.name.lower() in names]
    columns = tuple(column.name for column in shown)
    kinds = tuple(column_kind(column) for column in shown)
    nullable = tuple(one.nullable and one.name not in table.primary_key for one in shown)
    values: list[Row] = [row for _, row in rows]
    if numbered:
        values = [{**row, ROW_NUMBER: number} for number, row in enumerate(values)]
        columns, kinds, nullable = (*columns, ROW_NUMBER), (*kinds, INT), (*nullable, False)
    exact = frozenset(column.name for column in table.columns if is_exact(column))
    return Relation(columns, kinds, values, nullable, exact=exact)
