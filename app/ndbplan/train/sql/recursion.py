"""How many rounds WITH RECURSIVE takes, which cte_max_recursion_depth limits.

A round reads the rows of the one before; the server counts the last one too, which finds nothing more
(manual 8.0, WITH, Limiting Common Table Expression Recursion; sql/iterators/composite_iterators.cc of 8.0).
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ndbplan.train.sql.problem import SqlError

_ROUNDS = "mysql_rounds"


def too_deep(most: int) -> SqlError:
    """3636: a recursion takes more rounds than `most`."""
    told = f"Recursive query aborted after {most + 1} iterations. Try increasing @@cte_max_recursion_depth"
    return SqlError(3636, "HY000", f"{told} to a larger value.")


def rounds_of(tree: exp.Expr, most: int) -> Iterator[exp.Expr]:
    """Queries that find how many rounds each recursion takes, up to one more than `most`.

    Of UNION ALL: where rows are told apart, none has a number beside it.
    """
    for begun in tree.find_all(exp.With):
        for place, one in enumerate(begun.expressions if begun.args.get("recursive") else ()):
            counted = begun.copy()
            if _count(counted.expressions[place], most):
                asked = exp.select(exp.Max(this=exp.column(_ROUNDS))).from_(one.alias)
                asked.set("with_", counted)
                yield asked


def _count(one: exp.CTE, most: int) -> bool:
    """Put the number of its round beside each row; whether that can be."""
    whole, parts = one.this, list[exp.Expr]()
    while isinstance(whole, exp.Union) and not whole.args.get("distinct") and not whole.args.get("limit"):
        parts.append(whole.expression)
        whole = whole.this
    selects = [part for part in (*parts, whole) if isinstance(part, exp.Select)]
    if not parts or len(selects) <= len(parts):
        return False
    for select in selects:
        sources = [select.args.get("from_"), *(select.args.get("joins") or ())]
        own = [s.this for s in sources if s is not None and isinstance(s.this, exp.Table)]
        own = [table for table in own if not table.db and table.name == one.alias]
        if own and (select.is_star or select.args.get("limit") is not None):
            return False
        before = exp.column(_ROUNDS, table=own[0].alias_or_name) if own else None
        number = (
            exp.Literal.number(1)
            if before is None
            else exp.Add(this=before, expression=exp.Literal.number(1))
        )
        select.select(exp.alias_(number, _ROUNDS), copy=False)
        if before is not None:
            select.where(exp.LTE(this=before.copy(), expression=exp.Literal.number(most)), copy=False)
    if named := one.args["alias"].args.get("columns"):
        named.append(exp.to_identifier(_ROUNDS))
    return True
