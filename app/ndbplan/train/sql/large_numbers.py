"""Whole numbers beyond those of SQLite, where all that is reckoned with stands in the query itself.

    work_out(parse_one("SELECT 9223372036854775808 + 1"))       # SELECT 9223372036854775809

Source: sql/item_func.cc (Item_func_plus, _minus, _mul, Item_func_round): what has an operand without a sign
has none itself, and what does not fit is error 1690.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.sql.problem import SqlError

_SIGNED, _UNSIGNED = range(-(2**63), 2**63), range(2**64)
_SUMS = (exp.Add, exp.Sub, exp.Mul)
_ROUNDED = (exp.Round, exp.Trunc)
_KEPT = (exp.Paren, exp.Abs, exp.Floor, exp.Ceil)
_AT_TIMES = (exp.Is, exp.If, exp.Case, exp.Coalesce, exp.And, exp.Or, exp.Where)
"""What these need not work out is not out of range [8.4.8: IS NULL of what cannot be NULL]."""
_BITS = (
    exp.BitwiseNot, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift,
    exp.BitwiseRightShift,
)  # fmt: skip
_NEGATED = re.compile(r"-([0-9]++)")
"""A sum has a blank behind its sign."""
_CASTS = {
    **dict.fromkeys((exp.DataType.Type.UBIGINT, exp.DataType.Type.UINT), True),
    **dict.fromkeys((exp.DataType.Type.BIGINT, exp.DataType.Type.INT), False),
}


class _Exact(NamedTuple):
    value: int
    has_sign: bool


def work_out(tree: exp.Expr) -> None:
    """Put results in place of what is reckoned with such numbers. Raises SqlError 1690."""
    for node in list(tree.find_all(*_SUMS, *_ROUNDED, *_KEPT, exp.Cast)):
        # Bits are SQLite's, which holds them with a sign.
        if isinstance(node.parent, (*_SUMS, *_ROUNDED, *_KEPT, exp.Cast, exp.Neg)) or node.find_ancestor(
            *_BITS
        ):
            continue
        try:
            found = _exact(node)
        except SqlError:
            if node.find_ancestor(*_AT_TIMES) is None:
                raise
            continue
        if found is not None and _has_large(node):
            number = exp.Literal.number(abs(found.value))
            node.replace(exp.Neg(this=number) if found.value < 0 else number)


def _has_large(node: exp.Expr) -> bool:
    every = (_exact(one) for one in node.find_all(exp.Literal, exp.Cast))
    return any(one is not None and one.value not in _SIGNED for one in every)


def _exact(node: exp.Expr) -> _Exact | None:
    """What an expression of whole numbers is; None: it is none."""
    if isinstance(node, exp.Literal):
        number = None if node.is_string else whole_number(node.name)
        return _Exact(number, number in _SIGNED) if number is not None and number in _UNSIGNED else None
    if isinstance(node, exp.Neg):
        inner = _exact(node.this)
        return _Exact(-inner.value, True) if inner is not None and -inner.value in _SIGNED else None
    if isinstance(node, exp.Cast) and node.to.this in _CASTS:
        return _cast(node)
    if isinstance(node, _SUMS):
        return _sum(node)
    if isinstance(node, _ROUNDED):
        return _rounded(node)
    if not isinstance(node, _KEPT):
        return None
    inner = _exact(node.this)
    if not isinstance(node, exp.Abs) or inner is None or inner.value >= 0:
        return inner
    if -inner.value not in _SIGNED:
        raise SqlError(1690, "22003", f"BIGINT value is out of range in 'abs({_told(node.this)})'")
    return inner._replace(value=-inner.value)


def _told(node: exp.Expr) -> str:
    """As the server prints it, a sign before a number as a call."""
    text = _NEGATED.sub(r"-(\1)", node.sql("mysql")).replace("CAST(", "cast(")
    return text.replace(" AS UNSIGNED)", " as unsigned)").replace(" AS SIGNED)", " as signed)")


def _cast(node: exp.Cast) -> _Exact | None:
    inner = _exact(node.this)
    if inner is None:
        return None
    bits = inner.value % 2**64
    return _Exact(bits, False) if _CASTS[node.to.this] else _Exact(bits - 2**64 * (bits >= 2**63), True)


def _sum(node: exp.Expr) -> _Exact | None:
    left, right = _exact(node.this), _exact(node.expression)
    if left is None or right is None:
        return None
    if isinstance(node, exp.Mul):
        value = left.value * right.value
    else:
        value = left.value + (right.value if isinstance(node, exp.Add) else -right.value)
    has_sign = left.has_sign and right.has_sign
    if value not in (_SIGNED if has_sign else _UNSIGNED):
        text = _told(node)
        kind = "BIGINT" if has_sign else "BIGINT UNSIGNED"
        raise SqlError(1690, "22003", f"{kind} value is out of range in '({text})'")
    return _Exact(value, has_sign)


def _rounded(node: exp.Expr) -> _Exact | None:
    """To tens and more where the digits are below 0."""
    inner, digits = _exact(node.this), node.args.get("decimals")
    asked = _Exact(0, True) if digits is None else _exact(digits)
    if inner is None or asked is None:
        return None
    if asked.value >= 0:
        return inner
    step = 10 ** min(20, -asked.value)
    half = step // 2 if isinstance(node, exp.Round) else 0
    size = (abs(inner.value) + half) // step * step
    value = size if inner.value >= 0 else -size
    return _Exact(value, inner.has_sign) if value in (_SIGNED if inner.has_sign else _UNSIGNED) else None
