"""UPDATE and DELETE that read several tables and change one of them: which rows, and what they get.

joined = joined_of(tree, asked)                 # None: the statement names one table, as most do
joined.met(tree, rows, [], asked)               # places among `rows`, and the values asked for each
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlglot import exp

from ndbplan.train.sql import server
from ndbplan.train.sql.engine import Relation
from ndbplan.train.sql.finding import ROW_NUMBER
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax
from ndbplan.train.sql.roughly import Asked


class Joined(NamedTuple):
    """A change of one table that reads several."""

    target: exp.Table
    """The one whose rows change, by its name in the statement."""
    source: exp.Table
    """What is read, with its joins."""
    is_twice: bool
    """The table that changes is read a second time, under another name."""

    def met(
        self, tree: exp.Expr, relation: Relation, values: Sequence[exp.Expr], asked: Asked, full_name: str
    ) -> list[tuple[int, tuple[Any, ...]]]:
        """The rows that meet the conditions, each once, and the values for them."""
        number = exp.column(ROW_NUMBER, table=self.target.alias_or_name, quoted=True)
        query = exp.select(number, *values).from_(self.source.copy())
        where = tree.args.get("where")
        if where is not None:
            query.set("where", where.copy())
        found: dict[int, tuple[Any, ...]] = {}
        for row in asked.query(query, {full_name: relation}).rows:
            found.setdefault(int(row[0]), tuple(row[1:]))
        return sorted(found.items())


def joined_of(tree: exp.Expr, asked: Asked) -> Joined | None:
    """What a change of several tables changes; None: it names one. Raises SqlError and NotSimulated."""
    if not isinstance(tree, exp.Update | exp.Delete):
        return None
    using, listed = tree.args.get("using"), tree.args.get("tables")
    source = using[0] if using else tree.this
    if not isinstance(source, exp.Table) or not (using or listed or source.args.get("joins")):
        return None
    behind = tree.args.get("order") or tree.args.get("limit")
    if behind is not None and isinstance(tree, exp.Delete):
        raise syntax(behind.sql("mysql").strip())
    if behind is not None:
        name = "ORDER BY" if tree.args.get("order") else "LIMIT"
        raise SqlError(1221, "HY000", f"Incorrect usage of UPDATE and {name}")
    read = [source, *(one.this for one in source.args.get("joins") or ())]
    if not all(isinstance(one, exp.Table) for one in read):
        raise NotSimulated("a change that joins subqueries is not simulated; one that joins tables is")
    if isinstance(tree, exp.Delete):
        names = [one.name for one in (listed or [tree.this])]
        for name in names:
            if name.lower() not in {one.alias_or_name.lower() for one in read}:
                raise SqlError(1109, "42S02", f"Unknown table '{name}' in MULTI DELETE")
    else:
        names = [_owner(one.this, read, asked) for one in tree.expressions]
    if len({name.lower() for name in names}) > 1:
        raise NotSimulated("a change of several tables at once is not simulated; one that reads several is")
    target = next(one for one in read if one.alias_or_name.lower() == names[0].lower())
    own = target.copy()
    own.set("joins", None)
    is_twice = (
        sum((one.db or asked.in_use, one.name) == (own.db or asked.in_use, own.name) for one in read) > 1
    )
    return Joined(own, source, is_twice)


def _owner(column: exp.Expr, read: Sequence[exp.Table], asked: Asked) -> str:
    """The table that a column is of, by its name in the statement. Raises SqlError."""
    typed = column.table if isinstance(column, exp.Column) else ""
    found = []
    for one in read:
        table = server.table_named(asked.cluster, one.db or asked.in_use, one.name)
        has_it = any(known.name.lower() == column.name.lower() for known in table.columns)
        if has_it and typed.lower() in ("", one.alias_or_name.lower()):
            found.append(one.alias_or_name)
    name = f"{typed}.{column.name}" if typed else column.name
    if not found:
        raise SqlError(1054, "42S22", f"Unknown column '{name}' in 'field list'")
    if len(found) > 1:
        raise SqlError(1052, "23000", f"Column '{name}' in field list is ambiguous")
    return str(found[0])
