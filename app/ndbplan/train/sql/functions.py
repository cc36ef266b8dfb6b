"""Functions of MySQL that SQLite has not, or has otherwise.

give(base)              # a connection knows them
translate(tree)         # calls of what SQLite has otherwise go to ours
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from functools import partial, reduce, wraps
from typing import Any

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.sql import (
    date_calls,
    dates,
    digests,
    json_calls,
    json_checks,
    json_texts,
    regular_expressions,
    text_functions,
)
from ndbplan.train.sql.alike import folded
from ndbplan.train.sql.arguments import as_taken
from ndbplan.train.sql.numbers import LONG, MOST_DIGITS, WHOLE_CASTS, Kind
from ndbplan.train.sql.problem import NotSimulated, SqlError
from ndbplan.train.sql.query_settings import Settings
from ndbplan.train.sql.str_to_date import str_to_date
from ndbplan.train.sql.strict import NoLogarithmError, strictly
from ndbplan.train.sql.text_functions import text_of
from ndbplan.train.sql.truncating import Warn, number_in


def _logarithm(value: Any, base: Any = math.e) -> float | None:
    if min(float(value), float(base)) <= 0 or float(base) == 1:
        raise NoLogarithmError
    known = {2.0: math.log2, 10.0: math.log10}.get(float(base))
    if known is not None:
        return known(float(value))
    return math.log(float(value)) / math.log(float(base))


def _plain(value: Decimal) -> Any:
    is_whole = value == value.to_integral_value() and abs(value) < 2**63
    return int(value) if is_whole else float(value)


def _scaled(value: Any, digits: Any, rounding: str) -> Any:
    exact = Decimal(repr(value) if isinstance(value, float) else str(value))
    unit = Decimal(1).scaleb(-max(-30, min(30, int(digits))))
    return _plain((exact / unit).to_integral_value(rounding=rounding) * unit)


def _truncate(value: Any, digits: Any) -> Any:
    return _scaled(value, digits, ROUND_DOWN)


_WHOLE_FROM = 2.0**53
"""Doubles from here on have nothing behind the point."""


def _round(value: Any, digits: Any) -> Any:
    """Away from zero [8.4.8: ROUND(2.5) is 3, ROUND(-2.5) is -3]."""
    if isinstance(value, float) and abs(value) >= _WHOLE_FROM and int(digits) >= 0:
        return value
    return _scaled(value, digits, ROUND_HALF_UP)


def _signed(value: Any) -> int:
    """A number rounded; of a text the digits that it begins with: CAST('7.5' AS SIGNED) is 7."""
    if isinstance(value, str):
        digits = re.match(r"\s*([-+]?[0-9]+)", value)
        return int(digits[1]) if digits else 0
    return int(Decimal(str(value)).to_integral_value(rounding=ROUND_HALF_UP))


def _shift_right(value: Any, bits: Any) -> int:
    """Of 64 bits without a sign, as SQLite holds them."""
    left = _signed(value) % 2**64 >> min(64, int(bits) % 2**64)
    return left - 2**64 * (left >= 2**63)


def _written_json(value: Any) -> Any:
    """An object or an array as the server writes it, with blanks, and short names first."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    return json_texts.written(json_texts.read(value))


def _concat_ws(between: Any, *parts: Any) -> str | None:
    words = [text_of(one) for one in parts if one is not None]
    return None if between is None else text_of(between).join(words)


def _interval(value: Any, *bounds: Any) -> int:
    """How many bounds stand before the first above the value, NULL among them; -1 of NULL."""
    if value is None:
        return -1
    above = (at for at, bound in enumerate(bounds) if bound is not None and bound > value)
    return next(above, len(bounds))


def _elt(number: Any, *words: Any) -> Any:
    return words[int(number) - 1] if number is not None and 0 < int(number) <= len(words) else None


def _field(warn: Warn, value: Any, *words: Any) -> int:
    """The place of a value among others: as texts where all are, as numbers otherwise; NULL is not found."""
    given = [value, *words]
    if all(one is None or isinstance(one, str | bytes) for one in given):
        known: list[Any] = [one if one is None else folded(text_of(one)) for one in given]
    else:
        known = [number_in(one, "DOUBLE", warn) for one in given]
    wanted, *listed = known
    return listed.index(wanted) + 1 if wanted is not None and wanted in listed else 0


def _format(value: Any, digits: Any, locale: Any = "en_US") -> str:
    if str(locale).lower() != "en_us":
        raise RuntimeError(locale)
    count = min(MOST_DIGITS, max(0, digits))
    exact = Decimal(repr(value) if isinstance(value, float) else str(value))
    digits = Decimal(1).scaleb(-count)
    return f"{exact.quantize(digits, rounding=ROUND_HALF_UP, context=LONG):,}"


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        # Out of range, which is said of what is infinite.
        return math.inf


_ANGLES: dict[str, Callable[..., Any]] = {
    "ACOS": math.acos, "ASIN": math.asin, "COS": math.cos, "SIN": math.sin, "TAN": math.tan,
    "ATAN": lambda one, *other: math.atan2(one, *other) if other else math.atan(one), "ATAN2": math.atan2,
    "DEGREES": math.degrees, "RADIANS": math.radians, "POWER": _power, "POW": _power,
}  # fmt: skip
_STRICT: dict[str, Callable[..., Any]] = {
    "NUMBER_TO_STR": _format,
    "SIGN": lambda v: (float(v) > 0) - (float(v) < 0),
    "mysql_truncate": _truncate, "mysql_round": _round,
    "mysql_rint": lambda v, n: round(float(v), int(n)),
    "mysql_signed": _signed, "mysql_json": _written_json, "mysql_xor": lambda a, b: int(a) ^ int(b),
    "mysql_shift_right": _shift_right,
    "mysql_log": _logarithm, "COT": lambda v: 1 / math.tan(v), **text_functions.STRICT, **_ANGLES,
    "LAST_INSERT_ID": lambda v: v,
    "BITWISE_COUNT": lambda v: (int(v) % 2**64).bit_count(),
    "mysql_together": lambda *values: "\0".join(map(text_of, values)),
    "FLOOR": lambda v: math.floor(float(v)), "CEIL": lambda v: math.ceil(float(v)),
    **dates.STRICT, **digests.STRICT,
    **{f"mysql_{name}": json_checks.checked(name, call) for name, call in json_calls.CALLS.items()},
}  # fmt: skip
_LAX: dict[str, Callable[..., Any]] = {
    "CONCAT_WS": _concat_ws, "ELT": _elt, "QUOTE": digests.quoted, "INTERVAL": _interval,
    "mysql_json_mark": json_calls.marked, "mysql_truth": json_calls.truth,
    **{
        f"mysql_{name}": json_calls.lax(json_checks.checked(name, put))
        for name, put in json_calls.PUTS.items()
    },
    "mysql_json_key": json_checks.keyed,
}  # fmt: skip


Raised = list[SqlError | NotSimulated]
"""What functions refuse: SQLite says no more than that they did."""


class _Gathered:
    """An aggregate that needs all values."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def step(self, value: Any) -> None:
        if value is not None:
            self.values.append(value)

    def finalize(self) -> Any:
        raise NotImplementedError


def _aggregate(work_out: Callable[[list[Any]], Any]) -> type[_Gathered]:
    class Aggregate(_Gathered):
        def finalize(self) -> Any:
            return work_out(self.values)

    return Aggregate


def _variance(values: Sequence[float], less: int) -> float | None:
    if len(values) <= less:
        return None
    mean = math.fsum(values) / len(values)
    return math.fsum((one - mean) ** 2 for one in values) / (len(values) - less)


def _root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value)


_AGGREGATES: dict[str, Callable[[list[Any]], Any]] = {
    "STDDEV_POP": lambda v: _root(_variance(v, 0)), "STDDEV_SAMP": lambda v: _root(_variance(v, 1)),
    "VARIANCE_POP": lambda v: _variance(v, 0), "VARIANCE": lambda v: _variance(v, 1),
    "BITWISE_OR_AGG": lambda v: reduce(lambda a, b: a | b, map(int, v), 0),
    "BITWISE_AND_AGG": lambda v: reduce(lambda a, b: a & b, map(int, v), -1),
    "BITWISE_XOR_AGG": lambda v: reduce(lambda a, b: a ^ b, map(int, v), 0),
}  # fmt: skip


class _Joined:
    """GROUP_CONCAT: value, separator, whether each is taken once, and keys with their directions."""

    def __init__(self, warn: Warn, most_bytes: int) -> None:
        self.warn, self.most_bytes = warn, most_bytes
        self.rows: list[tuple[Any, ...]] = []
        self.between, self.once = ",", False

    def step(self, value: Any, between: str, once: int, *keys: Any) -> None:
        self.between, self.once = between, bool(once)
        if value is not None:
            self.rows.append((text_of(value), *keys))

    def finalize(self) -> str | None:
        count = (len(self.rows[0]) - 1) // 2 if self.rows else 0
        for nth in reversed(range(count)):
            descends = bool(self.rows[0][2 + 2 * nth])
            self.rows.sort(key=lambda row: _sortable(row[1 + 2 * nth]), reverse=descends)
        words = [row[0] for row in self.rows]
        if self.once:
            words = list({folded(word): word for word in reversed(words)}.values())[::-1]
        return self._cut(words) if words else None

    def _cut(self, words: Sequence[str]) -> str:
        """As much as it may be long; the row that is cut is told of."""
        found = ""
        for row, word in enumerate(words, start=1):
            found += f"{self.between if row > 1 else ''}{word}"
            if len(found.encode()) > self.most_bytes:
                self.warn(1260, f"Row {row} was cut by GROUP_CONCAT()")
                return found.encode()[: self.most_bytes].decode(errors="ignore")
        return found


class _JsonArray(_Gathered):
    """JSON_ARRAYAGG: every value, NULL as well."""

    def step(self, value: Any) -> None:
        self.values.append(json_calls.as_json(value))

    def finalize(self) -> Any:
        return json_texts.written(self.values) if self.values else None


class _JsonObject:
    """JSON_OBJECTAGG: the last value of each key, the short keys first."""

    def __init__(self) -> None:
        self.members: dict[str, Any] = {}

    def step(self, key: Any, value: Any) -> None:
        self.members[text_of(key)] = json_calls.as_json(value)

    def finalize(self) -> str | None:
        return json_texts.written(self.members) if self.members else None


def _sortable(value: Any) -> tuple[int, Any]:
    if value is None:
        return (0, 0)
    return (1, value) if isinstance(value, int | float) else (2, str(value).lower())


def _telling(function: Callable[..., Any], raised: Raised) -> Callable[..., Any]:
    """SQLite says of a function that raises no more than that it did."""

    @wraps(function)
    def wrapper(*given: Any) -> Any:
        try:
            return function(*given)
        except (SqlError, NotSimulated) as error:
            raised.append(error)
            raise

    return wrapper


def give(
    base: sqlite3.Connection, warn: Warn, raised: list[SqlError | NotSimulated], settings: Settings
) -> None:
    """Let a connection know all of them; `warn` takes what they warn of, `raised` what they refuse."""
    joined: Any = partial(_Joined, warn, settings.joined_bytes)
    packet = settings.packet_bytes
    strict = _STRICT | regular_expressions.calls(settings.patterns)
    strict["SPACE"] = text_functions.spaces(settings.space_is_called)
    if settings.has_no_zero_day:
        strict["mysql_extract"] = dates.extract_days
    strict = {name: strictly(as_taken(name, one, warn), warn, packet) for name, one in strict.items()}
    lax = {name: as_taken(name, one, warn) for name, one in _LAX.items()}
    for name, function in (strict | lax).items():
        base.create_function(name, -1, _telling(function, raised))
    base.create_function("FIELD", -1, partial(_field, warn))
    base.create_function("mysql_str_to_date", 2, partial(str_to_date, warn))
    for name, work_out in _AGGREGATES.items():
        base.create_aggregate(name, 1, _aggregate(work_out))
    base.create_aggregate("JSON_ARRAYAGG", 1, _JsonArray)
    base.create_aggregate("mysql_json_object", 2, _JsonObject)  # type: ignore[arg-type]  # its stub wants step(int)
    base.create_aggregate("mysql_group_concat", -1, joined)


def _joined(node: exp.GroupConcat) -> exp.Expr:
    inner, keys = node.this, list[exp.Expr]()
    if isinstance(inner, exp.Order):
        for one in inner.expressions:
            descends = exp.Literal.number(int(bool(one.args.get("desc"))))
            keys += [one.this, descends]
        inner = inner.this
    once = isinstance(inner, exp.Distinct)
    if isinstance(inner, exp.Distinct):
        inner = inner.expressions[0]
    between = node.args.get("separator") or exp.Literal.string(",")
    return exp.Anonymous(
        this="mysql_group_concat",
        expressions=[inner, between, exp.Literal.number(int(once)), *keys],
    )


def _ours(node: exp.Expr) -> exp.Expr:
    """One call, as ours where SQLite has it otherwise."""

    def call(name: str, *given: exp.Expr | None) -> exp.Expr:
        return exp.Anonymous(this=name, expressions=[one for one in given if one is not None])

    other = json_calls.ours(node) or date_calls.ours(node) or digests.ours(node)
    other = other or regular_expressions.ours(node)
    if other is not None:
        return other
    if isinstance(node, exp.Ln):
        return call("mysql_log", node.this)
    if isinstance(node, exp.Log):
        return call("mysql_log", node.expression or node.this, node.this if node.expression else None)
    if isinstance(node, exp.Trunc):
        return call("mysql_truncate", node.this, node.args.get("decimals") or exp.Literal.number(0))
    if isinstance(node, exp.Round):
        return call("mysql_round", node.this, node.args.get("decimals") or exp.Literal.number(0))
    if isinstance(node, exp.Xor):
        one, other = (
            exp.Paren(this=exp.NEQ(this=side, expression=exp.Literal.number(0)))
            for side in (node.this, node.expression)
        )
        return exp.Paren(this=exp.NEQ(this=one, expression=other))
    if isinstance(node, exp.BitwiseRightShift):
        return call("mysql_shift_right", node.this, node.expression)
    if isinstance(node, exp.BitwiseXor):
        return call("mysql_xor", node.this, node.expression)
    if isinstance(node, exp.Length):
        return call("mysql_length" if node.args.get("binary") else "CHARACTER_LENGTH", node.this)
    if isinstance(node, exp.BitwiseAndAgg | exp.BitwiseOrAgg | exp.BitwiseXorAgg):
        of_nothing = exp.Literal.number(-1 if isinstance(node, exp.BitwiseAndAgg) else 0)
        return exp.Coalesce(this=node.copy(), expressions=[of_nothing])
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct) and node.this.expressions[1:]:
        together = call("mysql_together", *(one.copy() for one in node.this.expressions))
        return exp.Count(this=exp.Distinct(expressions=[together]))
    if isinstance(node, exp.Cast) and node.to.is_type("char") and node.to.expressions:
        return call(
            "mysql_char", node.this, exp.Literal.number(whole_number(node.to.expressions[0].name) or 0)
        )
    if isinstance(node, exp.Trim) and node.expression is not None:
        where = exp.Literal.string(str(node.args.get("position") or "BOTH"))
        return call("mysql_trim", where, node.expression, node.this)
    if isinstance(node, exp.Least | exp.Greatest):
        return call(f"mysql_{node.key}", node.this, *node.expressions)
    if isinstance(node, exp.GroupConcat):
        return _joined(node)
    if isinstance(node, exp.JSONObjectAgg):
        member = node.expressions[0]
        return call("mysql_json_object", member.this, json_calls.as_value(member.expression))
    if isinstance(node, exp.JSONObject):
        for member in node.find_all(exp.JSONKeyValue):
            if member.parent is node and member.this.name != "mysql_json_key":
                member.set("this", call("mysql_json_key", member.this.copy()))
    if _is_json(node) and not _is_json(node.parent) and not isinstance(node.parent, exp.JSONKeyValue):
        return call("mysql_json", node.copy())
    if isinstance(node, exp.Rand):
        raise NotSimulated("RAND is not simulated: the same session gives the same answers")
    if isinstance(node, exp.Cast) and node.to.is_type(*WHOLE_CASTS):
        return call("mysql_signed", node.this)
    if isinstance(node, exp.Left | exp.Right):
        return call(f"mysql_{node.key}", node.this, node.expression)
    if isinstance(node, exp.Substring):
        return call("MID", node.this, node.args.get("start"), node.args.get("length"))
    if isinstance(node, exp.StrPosition) and node.args.get("position") is not None:
        return call("mysql_locate", node.args.get("substr"), node.this, node.args.get("position"))
    if isinstance(node, exp.Cast) and node.to.this is exp.DataType.Type.CHARACTER_SET:
        return call("mysql_converted", node.this, exp.Literal.string(node.to.args["kind"].name.lower()))
    return node


def _is_json(node: exp.Expr | None) -> bool:
    """Whether a call makes or takes apart a JSON value."""
    is_array = isinstance(node, exp.Anonymous) and node.name.upper() == "JSON_ARRAY"
    return is_array or isinstance(node, exp.JSONObject)


_OPERATORS = (exp.BitwiseXor, exp.BitwiseRightShift, exp.Xor, exp.Add, exp.Sub)


def translate(tree: exp.Expr, columns: Mapping[str, Kind]) -> None:
    """Calls of ours stand in the query where SQLite would answer otherwise."""
    json_calls.keep_kinds(tree, columns)
    for node in reversed(list(tree.find_all(exp.Func, exp.JSONValue, *_OPERATORS))):
        call = _ours(node)
        if call is not node:
            node.replace(call)
