"""Which columns of an answer may be NULL: the client keeps room for the word, so that `n` is four wide."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

FROM_USER = "from user"
"""Of a value that stands for a variable of a user, which may be NULL."""
_NEVER = (
    exp.Literal, exp.Boolean, exp.Count, exp.Is, exp.NullSafeEQ, exp.CurrentTimestamp, exp.CurrentDate,
    exp.CurrentTime, exp.Star,
)  # fmt: skip
_ALWAYS = (exp.Null, exp.AggFunc, exp.Div, exp.IntDiv, exp.Mod, exp.Nullif, exp.Subquery, exp.Select, exp.Ln,
           exp.Log, exp.Sqrt)  # fmt: skip
"""NULL where nothing is found, or where a number is zero or negative."""


def may_be_null(node: exp.Expr | None, columns: Mapping[str, bool]) -> bool:
    """Whether an expression may be NULL, by which columns may be; unknown columns may."""
    if node is None:
        return True
    if node.meta.get(FROM_USER):
        return True
    if isinstance(node, exp.Alias | exp.Paren):
        return may_be_null(node.this, columns)
    if isinstance(node, exp.Column):
        return columns.get(node.name.lower(), True)
    if isinstance(node, _NEVER):
        return False
    if isinstance(node, _ALWAYS):
        return True
    if isinstance(node, exp.Coalesce):
        return all(may_be_null(one, columns) for one in (node.this, *node.expressions))
    if isinstance(node, exp.If):
        return any(may_be_null(node.args.get(name), columns) for name in ("true", "false"))
    if isinstance(node, exp.Case):
        then = [one.args.get("true") for one in node.args.get("ifs", ())]
        return any(may_be_null(one, columns) for one in (*then, node.args.get("default")))
    return any(may_be_null(one, columns) for one in node.iter_expressions() if not isinstance(one, _NO_VALUE))


_NO_VALUE = (exp.DataType, exp.Identifier, exp.Var, exp.Order)
