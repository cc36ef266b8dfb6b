"""sql_safe_updates: an UPDATE or a DELETE has a key to find its rows by, or a LIMIT.

Source: manual 5.6 and 8.4, Server System Variables and Using Safe-Updates Mode; sql_update.cc (quick_keys).
"""

from __future__ import annotations

from sqlglot import exp

from ndbplan.ndb.console import form
from ndbplan.plan.tables import Table
from ndbplan.train.sql.explain.access import keys_of
from ndbplan.train.sql.problem import SqlError
from ndbplan.train.sql.roughly import Asked

_BOUNDS = (
    exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between, exp.In, exp.Is, exp.Like,
)  # fmt: skip


def check_safe(tree: exp.Expr, table: Table, asked: Asked) -> None:
    """Raises SqlError 1175 for a change that no key bounds, where that is asked for."""
    where = tree.args.get("where")
    if (
        not asked.is_safe
        or tree.args.get("limit") is not None
        or (where is not None and _bounding(where.this, table))
    ):
        return
    raise SqlError(1175, "HY000", str(form(asked.cluster.plan.version, "unsafe_update")))


def _bounding(condition: exp.Expr, table: Table) -> frozenset[str]:
    """Keys that a condition gives ranges of: those of any part of AND, and of all parts of OR."""
    one = condition.unnest()
    if isinstance(one, exp.And):
        parts = [_bounding(part, table) for part in one.flatten()]
        return frozenset().union(*parts, _whole(one, table))
    if isinstance(one, exp.Or):
        return frozenset.intersection(*(_bounding(part, table) for part in one.flatten()))
    name = _bound(one)
    first = {key.name for key in keys_of(table) if key.ordered and key.columns[0].name.lower() == name}
    return frozenset(first) | _whole(one, table)


def _whole(condition: exp.Expr, table: Table) -> frozenset[str]:
    """Keys of which a condition says each column."""
    parts = condition.flatten() if isinstance(condition, exp.And) else (condition,)
    equal = {_bound(part) for part in parts if isinstance(part, exp.EQ)}
    return frozenset(
        key.name for key in keys_of(table) if equal.issuperset(one.name.lower() for one in key.columns)
    )


def _bound(condition: exp.Expr) -> str:
    """The column that a condition bounds by what is no column; empty: none."""
    if not isinstance(condition, _BOUNDS):
        return ""
    sides = [condition.this, condition.args.get("expression")]
    if isinstance(condition, exp.Like) and sides[1] is not None and sides[1].name[:1] in ("%", "_", ""):
        return ""
    columns = [side for side in sides if isinstance(side, exp.Column)]
    return columns[0].name.lower() if len(columns) == 1 else ""
