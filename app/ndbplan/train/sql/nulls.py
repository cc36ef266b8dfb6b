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
           exp.Log, exp.Sqrt, exp.Pow, exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.Hour, exp.Minute,
           exp.Second, exp.Quarter, exp.Week, exp.WeekOfYear, exp.Extract, exp.DateDiff, exp.DayOfWeek,
           exp.DayOfYear, exp.LastDay, exp.DateAdd, exp.DateSub, exp.TimestampDiff, exp.TimeToStr, exp.Concat,
           exp.ConcatWs, exp.Upper, exp.Lower, exp.Left, exp.Right, exp.Substring, exp.Replace, exp.Trim,
           exp.Repeat, exp.Reverse, exp.Pad, exp.Stuff, exp.SubstringIndex, exp.Hex, exp.Elt)  # fmt: skip
"""NULL where nothing is found, where a number is zero or negative, where a moment is none, and where a text
would be too long."""
_ALWAYS_BY_NAME = frozenset((
    "conv", "bin", "oct", "mid", "weekday", "time_to_sec", "microsecond", "json_valid", "replace", "space",
))  # fmt: skip


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
    if isinstance(node, _ALWAYS) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in _ALWAYS_BY_NAME
    ):
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
