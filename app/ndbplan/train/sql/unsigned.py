"""Whole numbers of 64 bits without a sign, which SQLite does not know."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.sql.numbers import DOUBLE, INT, Kind
from ndbplan.train.sql.problem import NotSimulated, SqlError

_MOST = 2**63 - 1
"""The largest whole number of SQLite; a larger one is a double there."""
_BITS = (
    exp.BitwiseNot, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseLeftShift,
    exp.BitwiseRightShift, exp.BitwiseAndAgg,
    exp.BitwiseOrAgg, exp.BitwiseXorAgg,
)  # fmt: skip
_UNSIGNED = (exp.DataType.Type.UBIGINT, exp.DataType.Type.UINT)
DBL_DIG = sys.float_info.dig
"""Digits of a decimal that a double keeps."""
Large = dict[float, int]
"""Whole numbers that only BIGINT UNSIGNED holds, by what SQLite makes of them."""


def large_literals(tree: exp.Expr) -> Large:
    """Those that a query names."""
    found: Large = {}
    for one in tree.find_all(exp.Literal):
        number = None if one.is_string else whole_number(one.name)
        is_long = number is None and (_digits(one.name) > DBL_DIG or one.name.isdecimal())
        if not one.is_string and (is_long or (number or 0) >= 2**64):
            raise NotSimulated(f"decimals of more than {DBL_DIG} digits are not simulated")
        if number is not None and number > _MOST:
            found[float(number)] = number
    return found


def _digits(literal: str) -> int:
    """How many of them a decimal has that is no double."""
    whole, point, rest = literal.partition(".")
    return len((whole + rest).strip("0")) if point and "e" not in literal.lower() else 0


def _told(shown: exp.Expr) -> str:
    """An expression as the errors of the server write it."""
    if isinstance(shown, exp.Pow | exp.Exp):
        given = ",".join(one.sql("mysql") for one in (shown.this, shown.expression) if one)
        return f"{shown.key}({given})"
    return f"({shown.sql('mysql')})"


def unsigned(
    tree: exp.Expr, kinds: Sequence[Kind], rows: list[tuple[Any, ...]], large: Large
) -> list[tuple[Any, ...]]:
    """Whole numbers of 64 bits without a sign, where nothing is computed with them."""
    shown = _shown(tree, len(kinds))
    bits = [isinstance(one, _BITS) or _is_cast(one) for one in shown]
    # What a query inside computes may stand in any column of the one around it.
    listed = [tree] * len(kinds) if tree.find(exp.Subquery, exp.CTE) is not None else shown
    plain = [one.find(exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Sum) is None for one in listed]
    if not any(bits) and not (large and any(plain)):
        return rows

    def value(one: Any, kind: Kind, of_bits: bool, is_plain: bool) -> Any:
        if of_bits and isinstance(one, int) and one < 0:
            return one + 2**64
        return large.get(one, one) if isinstance(one, float) and kind is INT and is_plain else one

    return [tuple(map(value, row, kinds, bits, plain)) for row in rows]


def _shown(tree: exp.Expr, count: int) -> list[exp.Expr]:
    """What each column shows; the whole query where a star stands for several, or it is none."""
    is_listed = isinstance(tree, exp.Select) and len(tree.expressions) == count
    return [one.unalias() for one in tree.expressions] if is_listed else [tree] * count


def check_range(tree: exp.Expr, kinds: Sequence[Kind], rows: Sequence[tuple[Any, ...]], large: Large) -> None:
    """Raises SqlError 1690 where a whole number has got too large for one, NotSimulated where it may have."""
    for place, (kind, shown) in enumerate(zip(kinds, _shown(tree, len(kinds)), strict=True)):
        values = [row[place] for row in rows]
        if _is_unsigned(shown) and any(isinstance(one, int) and one < 0 for one in values):
            text = shown.sql("mysql").replace("CAST(", "cast(").replace(" AS UNSIGNED)", " as unsigned)")
            raise SqlError(1690, "22003", f"BIGINT UNSIGNED value is out of range in '({text})'")
        if kind is DOUBLE and any(isinstance(one, float) and math.isinf(one) for one in values):
            raise SqlError(1690, "22003", f"DOUBLE value is out of range in '{_told(shown)}'")
        if kind is not INT or not any(isinstance(one, float) and abs(one) > _MOST for one in values):
            continue
        numbers = (one for one in shown.find_all(exp.Literal) if not one.is_string)
        unsigned = any(
            (whole_number(one.name) or 0) > _MOST and not isinstance(one.parent, exp.Neg) for one in numbers
        )
        if large and not unsigned:
            raise NotSimulated("numbers beyond 9223372036854775807 are shown here, and not reckoned with")
        what = f"BIGINT{' UNSIGNED' * unsigned} value is out of range in '({shown.sql('mysql')})'"
        raise SqlError(1690, "22003", what)


def _is_unsigned(shown: exp.Expr) -> bool:
    """Whether something that is reckoned has no sign because an operand is CAST AS UNSIGNED [8.4.8]."""
    operands = (shown.this, shown.expression) if isinstance(shown, exp.Add | exp.Sub | exp.Mul) else ()
    return any(_is_cast(one.unnest()) for one in operands)


def _is_cast(node: exp.Expr) -> bool:
    return isinstance(node, exp.Cast) and node.to.this in _UNSIGNED


def held(value: Any, large: Large) -> Any:
    """A value as SQLite holds it. Raises NotSimulated where two would become one."""
    if not isinstance(value, int) or value <= _MOST:
        return value
    if large.setdefault(float(value), value) != value:
        raise NotSimulated("numbers beyond 9223372036854775807 that lie so close are not told apart here")
    return float(value)
