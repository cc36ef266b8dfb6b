"""Conditions and statements as the server writes them back: in EXPLAIN, and in the note 1003 behind it.

Forms: recorded on running 8.4.8 and 7.4.10 clusters. What is not among them raises NotSimulated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from ndbplan.train.sql.problem import NotSimulated

_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=", exp.Add: "+",
    exp.Sub: "-", exp.Mul: "*", exp.Div: "/", exp.Mod: "%", exp.Like: "like", exp.And: "and", exp.Or: "or",
    exp.NullSafeEQ: "<=>",
}  # fmt: skip
_CALLS: dict[type[exp.Expr], str] = {
    exp.Abs: "abs", exp.Length: "length", exp.Lower: "lower", exp.Upper: "upper",
    exp.Count: "count", exp.Sum: "sum", exp.Min: "min", exp.Max: "max", exp.Avg: "avg",
}  # fmt: skip
Named = Callable[[exp.Column], str]
"""The full name of a column, as in `test`.`t1`.`id`."""


def unknown(what: str) -> NotSimulated:
    """What EXPLAIN does not take here."""
    return NotSimulated(f"EXPLAIN of {what} is not simulated")


def worded(node: exp.Expr, named: Named) -> str:
    """An expression as the server writes it back. Raises NotSimulated."""
    if isinstance(node, exp.Paren):
        return worded(node.this, named)
    if isinstance(node, exp.Column):
        return named(node)
    if isinstance(node, exp.Null):
        return "NULL"
    if isinstance(node, exp.Literal):
        text = str(node.this).replace("'", "\\'")
        return f"'{text}'" if node.is_string else text
    if isinstance(node, exp.Neg):
        return f"-({worded(node.this, named)})"
    if isinstance(node, exp.And | exp.Or):
        between = f" {_SIGNS[type(node)]} "
        return f"({between.join(worded(one, named) for one in node.flatten())})"
    if type(node) in _SIGNS:
        return f"({worded(node.this, named)} {_SIGNS[type(node)]} {worded(node.expression, named)})"
    return _others(node, named)


def _others(node: exp.Expr, named: Named) -> str:
    if isinstance(node, exp.Between):
        low, high = (worded(node.args[name], named) for name in ("low", "high"))
        return f"({worded(node.this, named)} between {low} and {high})"
    if isinstance(node, exp.In) and node.expressions:
        listed = ",".join(worded(one, named) for one in node.expressions)
        return f"({worded(node.this, named)} in ({listed}))"
    is_not = isinstance(node, exp.Not)
    inner = node.this if is_not else node
    if isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null):
        return f"({worded(inner.this, named)} is {'not ' * is_not}null)"
    if is_not and isinstance(inner, exp.Like):
        return f"(not({worded(inner, named)[1:-1]}))"
    name = _CALLS.get(type(node))
    if name is not None and not isinstance(node.this, exp.Distinct):
        return f"{name}({'0' if isinstance(node.this, exp.Star) else worded(node.this, named)})"
    if isinstance(node, exp.Concat):
        return f"concat({','.join(worded(one, named) for one in node.expressions)})"
    raise unknown(f"'{node.sql('mysql')[:60]}'")


def together(conditions: Sequence[exp.Expr], named: Named) -> str:
    """Conditions that all hold, in parentheses."""
    texts = [worded(one, named) for one in conditions]
    return texts[0] if len(texts) == 1 else f"({' and '.join(texts)})"
