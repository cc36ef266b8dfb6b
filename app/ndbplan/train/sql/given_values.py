"""The values that INSERT and REPLACE give to the rows of a statement."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from ndbplan.ndb.console import form
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column
from ndbplan.train.sql.engine import Relation, Result
from ndbplan.train.sql.finding import literal
from ndbplan.train.sql.problem import syntax

_ROW_ALIAS = re.compile(r"\bas\s+`?\w+`?\s*(?:\([^()]*\)\s*)?on\s+duplicate\b", re.IGNORECASE)


def name_new_rows(tree: exp.Expr, sql: str, version: NdbVersion) -> None:
    """INSERT … AS new: `new.a`, or what its list calls it, is VALUES(a) behind ON DUPLICATE KEY.

    Raises SqlError 1064 where the server does not know it.
    """
    values, conflict = tree.args.get("expression"), tree.args.get("conflict")
    if not isinstance(values, exp.Values) or values.args.get("alias") is None or conflict is None:
        return
    alias = values.args["alias"]
    typed = _ROW_ALIAS.search(sql)
    if not form(version, "row_alias"):
        raise syntax(sql[typed.start() :] if typed else "")
    listed = [one.name.lower() for one in tree.this.expressions] if isinstance(tree.this, exp.Schema) else []
    called = dict(zip((one.name.lower() for one in alias.columns), listed, strict=False))
    for column in list(conflict.find_all(exp.Column)):
        own = column.table.lower() == alias.name.lower() or (
            not column.table and column.name.lower() in called
        )
        if own:
            name = called.get(column.name.lower(), column.name)
            column.replace(exp.Anonymous(this="VALUES", expressions=[exp.column(name)]))
    values.set("alias", None)


def is_default(value: exp.Expr) -> bool:
    """DEFAULT in the place of a value."""
    return (
        isinstance(value, exp.Var | exp.Column)
        and value.name.upper() == "DEFAULT"
        and not value.args.get("table")
    )


class GivenValues:
    """Literals as they are, and what has to be worked out: once for rows that ask the same."""

    def __init__(self, query: Callable[[exp.Expr, Mapping[str, Relation]], Result]) -> None:
        self._query = query
        self._known: dict[tuple[exp.Expr, ...], Sequence[Any]] = {}

    def of_row(self, columns: Sequence[Column], parts: Sequence[exp.Expr]) -> dict[str, Any]:
        """By the names of the columns; DEFAULT gives none. Raises SqlError and NotSimulated."""
        found: dict[str, Any] = {}
        asks: list[tuple[str, exp.Expr]] = []
        for column, part in zip(columns, parts, strict=True):
            if is_default(part):
                continue
            value = literal(part)
            if isinstance(part, exp.Null):
                found[column.name] = None
            elif isinstance(part, exp.Boolean):
                found[column.name] = int(part.this)
            elif value is not None:
                found[column.name] = value
            else:
                asks.append((column.name, part))
        if asks:
            row = self._worked_out(tuple(part for _, part in asks))
            found |= dict(zip((name for name, _ in asks), row, strict=True))
        return found

    def _worked_out(self, parts: tuple[exp.Expr, ...]) -> Sequence[Any]:
        if parts in self._known:
            return self._known[parts]
        listed = [exp.alias_(part.copy(), f"c{n}", quoted=True) for n, part in enumerate(parts)]
        found = self._query(exp.select(*listed), {})
        # Each row has its own UUID, and is warned of by itself.
        if not found.warnings and not any(part.find(exp.Uuid) for part in parts):
            self._known[parts] = found.rows[0]
        return found.rows[0]
