"""Kinds of numbers as MySQL counts and prints them: whole ones, decimals with their digits, doubles.

Division adds digits to those of the dividend (div_precision_increment, by itself four), multiplication
adds the digits of both, a sum has those of the longer one (measured on 8.4.8: 2/3*100 is 66.6667,
x/1024/1024 has eight digits, used/total*100 has four).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import NamedTuple

from sqlglot import exp

from ndbplan.base.units import whole_number

MOST_DIGITS = 30
_QUOTIENT_DIGITS = "quotient_digits"
"""How many digits a division adds, as a tree knows it."""


class Kind(NamedTuple):
    """What an expression is."""

    name: str
    """`text`, `bytes`, `int`, `decimal`, `double`, or `bits`: a number that is shown as its bytes."""
    digits: int = 0
    """Behind the point."""
    shown_bytes: int = 0
    """Bytes of `bits`."""
    members: tuple[str, ...] = ()
    """Of an enumeration or a set: a text that is the number of its place where it is reckoned with."""
    is_set: bool = False
    """Members that may stand together: a number with a bit for each."""
    moment: str = ""
    """`date`, `datetime`, `timestamp` or `time`: a text that is its digits where it is reckoned with."""
    is_single: bool = False
    """A double of single precision: shown with six digits, and reckoned with as what it holds."""

    @property
    def is_moment(self) -> bool:
        """A day, a time, or both."""
        return bool(self.moment)

    @property
    def is_number(self) -> bool:
        """Printed to the right; bits are looked at as numbers."""
        return self.name not in ("text", "bytes")


TEXT, BYTES, INT, DOUBLE = Kind("text"), Kind("bytes"), Kind("int"), Kind("double")
SINGLE = Kind("double", is_single=True)
_COUNTS = (
    exp.Count, exp.Floor, exp.Ceil, exp.Length, exp.IntDiv, exp.StrPosition, exp.Sign, exp.Ascii,
    exp.BitwiseOrAgg, exp.BitwiseAndAgg, exp.BitwiseXorAgg, exp.BitwiseXor, exp.BitwiseAnd, exp.BitwiseOr,
    exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.BitwiseNot, exp.BitwiseCount, exp.DateDiff,
    exp.TimestampDiff, exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.Hour, exp.Minute, exp.Second,
    exp.RegexpLike, exp.RegexpInstr, exp.Quarter, exp.Week, exp.DayOfWeek, exp.DayOfYear, exp.Extract,
    exp.BitLength, exp.WeekOfYear, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile,
)  # fmt: skip
_WHOLE = frozenset(
    (
        "last_insert_id",
        "row_count",
        "field",
        "find_in_set",
        "strcmp",
        "unix_timestamp",
        "time_to_sec",
        "connection_id",
        "crc32",
        "yearweek",
        "period_add",
        "period_diff",
        "to_seconds",
        "interval",
        "inet_aton",
        "ord",
        "octet_length",
        "weekday",
        "microsecond",
        "is_ipv4",
        "is_ipv6",
        "is_uuid",
        "json_valid",
        "json_length",
        "json_depth",
        "json_contains",
        "json_contains_path",
        "json_overlaps",
    )
)
"""Functions that count, and which sqlglot does not know by name."""
_BOOLEAN = (
    exp.Predicate,
    exp.Not,
    exp.And,
    exp.Or,
    exp.Xor,
    exp.Between,
    exp.In,
    exp.Like,
    exp.Is,
    exp.Escape,
)
_SAME = (
    exp.Max, exp.Min, exp.Neg, exp.Paren, exp.Abs, exp.Sum, exp.Distinct, exp.Lag, exp.Lead, exp.FirstValue,
    exp.LastValue, exp.NthValue, exp.AnyValue,
)  # fmt: skip
"""What counts and is printed as what it is of."""
_DOUBLES = (
    exp.Stddev,
    exp.StddevPop,
    exp.StddevSamp,
    exp.Variance,
    exp.VariancePop,
    exp.Pow,
    exp.Sqrt,
    exp.Ln,
    exp.Log,
    exp.Exp,
    exp.Rand,
    exp.Degrees,
    exp.Radians,
    exp.Sin,
    exp.Cos,
    exp.Tan,
    exp.Cot,
    exp.Asin,
    exp.Acos,
    exp.Atan,
    exp.Atan2,
)
_PI_DIGITS = 6
_MOST_OF_SECOND = 6
_MOMENTS: dict[type[exp.Expr], str] = {
    exp.LastDay: "date", exp.Date: "date", exp.TsOrDsToDate: "date", exp.UnixToTime: "datetime",
    exp.TimeFromParts: "time", exp.Timestamp: "datetime", exp.Time: "time", exp.StrToDate: "datetime",
    exp.StrToTime: "datetime",
}  # fmt: skip
_MOMENTS_BY_NAME = {"makedate": "date", "sec_to_time": "time", "from_days": "date", "timediff": "time"}
_MOVES = (exp.DateAdd, exp.DateSub, exp.TimestampAdd)
MARK_OF_MOMENT = "moment"
"""Of a text that stands for a moment, such as NOW(): which."""


def bits(count: int) -> Kind:
    """A BIT column of so many bits."""
    return Kind("bits", shown_bytes=-(-count // 8))


def decimal(digits: int) -> Kind:
    """A decimal with so many digits behind the point."""
    return Kind("decimal", min(MOST_DIGITS, digits))


def with_digits(tree: exp.Expr, digits: int) -> None:
    """Say of each division how many digits it adds."""
    for one in tree.find_all(exp.Div, exp.Avg):
        one.meta[_QUOTIENT_DIGITS] = digits


def _added(node: exp.Expr) -> int:
    digits: int = node.meta.get(_QUOTIENT_DIGITS, 0)
    return digits


def kind_of(node: exp.Expr | None, columns: Mapping[str, Kind]) -> Kind:
    """What an expression is, by the kinds of the columns in it."""
    if node is None:
        return TEXT
    if isinstance(node, exp.Alias | exp.Subquery | exp.Select):
        inner = node.expressions[0] if isinstance(node, exp.Select) and node.expressions else node.this
        return kind_of(inner, columns)
    if isinstance(node, exp.Window):
        return kind_of(node.this, columns)
    if isinstance(node, exp.Literal):
        return _literal(node)
    if known := _moment_of(node, columns):
        return moment_kind(known)
    if isinstance(node, exp.Column):
        return columns.get(node.name.lower(), TEXT)
    if isinstance(node, exp.Null | exp.Boolean):
        return INT
    if isinstance(node, exp.Div):
        left, right = reckoned(node.left, columns), reckoned(node.right, columns)
        typed = any(isinstance(one, exp.Literal) and one.is_string for one in (node.left, node.right))
        return DOUBLE if typed or DOUBLE in (left, right) else decimal(left.digits + _added(node))
    if isinstance(node, exp.Avg):
        inner = reckoned(node.this, columns)
        return DOUBLE if inner is DOUBLE or not inner.is_number else decimal(inner.digits + _added(node))
    if isinstance(node, exp.Mul):
        left, right = reckoned(node.left, columns), reckoned(node.right, columns)
        return _number(left, right, left.digits + right.digits)
    if isinstance(node, exp.Add | exp.Sub | exp.Mod):
        if isinstance(node.left, exp.Interval) or isinstance(node.right, exp.Interval):
            moved = node.right if isinstance(node.left, exp.Interval) else node.left
            return _moved(node, moved, columns)
        left, right = reckoned(node.left, columns), reckoned(node.right, columns)
        return _number(left, right, max(left.digits, right.digits))
    if isinstance(node, exp.Anonymous) and node.name.lower() == "unix_timestamp" and node.expressions:
        return _stamp(node.expressions[0], columns)
    if isinstance(node, exp.Anonymous) and node.name.lower() in _WHOLE:
        return INT
    if isinstance(node, exp.Cast):
        return _cast(node)
    if isinstance(node, exp.Unhex | exp.FromBase64 | exp.Chr):
        return TEXT if node.args.get("charset") else BYTES
    if isinstance(node, exp.Round | exp.Trunc):
        return _rounded(node, columns)
    if isinstance(node, (*_BOOLEAN, *_COUNTS)):
        return INT
    if isinstance(node, exp.Pi):
        return decimal(_PI_DIGITS)
    if isinstance(node, _DOUBLES):
        return DOUBLE
    if isinstance(node, _SAME):
        inner = node.expressions[0] if isinstance(node, exp.Distinct) else node.this
        if not isinstance(node, exp.Sum | exp.Neg | exp.Abs):
            return kind_of(inner, columns)
        found = reckoned(inner, columns)
        return found if found.is_number else DOUBLE
    if isinstance(node, exp.If | exp.Case | exp.Coalesce | exp.Greatest | exp.Least | exp.Nullif):
        return _widest(node, columns)
    return TEXT


def _stamp(moment: exp.Expr, columns: Mapping[str, Kind]) -> Kind:
    """UNIX_TIMESTAMP of a moment: as many digits as a text is typed with, or a column has."""
    is_text = isinstance(moment, exp.Literal)
    behind = len(moment.name.partition(".")[2]) if is_text else kind_of(moment, columns).digits
    return decimal(min(_MOST_OF_SECOND, behind)) if behind else INT


def moment_kind(name: str, digits: int = 0) -> Kind:
    """Of a day, a time, or both, with so many digits of a second."""
    return Kind("text", digits, moment=name)


def _moment_of(node: exp.Expr, columns: Mapping[str, Kind]) -> str:
    """Which moment a call gives; empty: none."""
    if isinstance(node, _MOVES):
        return _moved(node, node.this, columns).moment
    if isinstance(node, exp.Anonymous):
        return _MOMENTS_BY_NAME.get(node.name.lower(), "")
    return _MOMENTS.get(type(node), "")


def _moved(node: exp.Expr, value: exp.Expr, columns: Mapping[str, Kind]) -> Kind:
    """What is moved from a text is a text, a day that is moved by hours has a time."""
    kind = kind_of(value, columns)
    span = node.find(exp.Interval)
    unit = str((node if span is None else span).args.get("unit") or "DAY").upper()
    is_day = kind.moment == "date" and unit in ("DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "YEAR_MONTH")
    return kind if is_day or not kind.is_moment or kind.moment == "time" else moment_kind("datetime")


def reckoned(node: exp.Expr, columns: Mapping[str, Kind]) -> Kind:
    """What an expression counts as where it is reckoned with: a member of an enumeration as a double."""
    kind = kind_of(node, columns)
    if kind.is_moment:
        return decimal(kind.digits) if kind.digits else INT
    return DOUBLE if kind.members or kind.is_single else kind


def _literal(node: exp.Literal) -> Kind:
    text = str(node.this)
    if node.is_string:
        return Kind("text", moment=node.meta.get(MARK_OF_MOMENT, ""))
    if "e" in text.lower():
        return DOUBLE
    return decimal(len(text.partition(".")[2])) if "." in text else INT


def _number(left: Kind, right: Kind, digits: int) -> Kind:
    if DOUBLE in (left, right) or not (left.is_number and right.is_number):
        return DOUBLE
    return decimal(digits) if "decimal" in (left.name, right.name) else INT


WHOLE_CASTS = tuple(exp.DataType.Type[name] for name in ("BIGINT", "UBIGINT", "INT", "UINT"))
"""Types of CAST that give a whole number."""


def _cast(node: exp.Cast) -> Kind:
    if node.to.is_type("decimal"):
        given = [whole_number(one.name) or 0 for one in node.to.expressions]
        return decimal(given[1]) if len(given) > 1 else INT
    if node.to.is_type("double", "float"):
        return SINGLE if node.to.is_type("float") else DOUBLE
    if node.to.is_type("timestamp", "timestamptz"):
        return moment_kind("datetime")
    if node.to.is_type("date", "datetime", "time"):
        return moment_kind(node.to.this.value.lower())
    if node.to.is_type("binary") and isinstance(node.this, exp.Null):
        return BYTES
    return INT if node.to.is_type(*WHOLE_CASTS) else TEXT


def _rounded(node: exp.Round | exp.Trunc, columns: Mapping[str, Kind]) -> Kind:
    inner = kind_of(node.this, columns)
    given = node.args.get("decimals")
    digits = 0 if given is None or isinstance(given, exp.Neg) else whole_number(given.name) or 0
    if inner.name in ("int", "double"):
        return DOUBLE if inner.is_single else inner
    if not inner.is_number:
        return DOUBLE
    return decimal(min(digits, inner.digits)) if digits > 0 else INT


def _widest(node: exp.Expr, columns: Mapping[str, Kind]) -> Kind:
    if isinstance(node, exp.If):
        parts = [node.args.get("true"), node.args.get("false")]
    elif isinstance(node, exp.Case):
        parts = [*(one.args.get("true") for one in node.args.get("ifs", ())), node.args.get("default")]
    else:
        parts = [node.this, *node.expressions]
    return widest(
        [kind_of(one, columns) for one in parts if one is not None and not isinstance(one, exp.Null)]
    )


def widest(kinds: Sequence[Kind]) -> Kind:
    """What values of several kinds are together, as in CASE and UNION."""
    if not kinds:
        return INT
    if all(kind == kinds[0] for kind in kinds):
        return kinds[0]
    if not all(kind.is_number for kind in kinds):
        return TEXT
    if any(kind.name == "double" for kind in kinds):
        return SINGLE if all(kind.is_single for kind in kinds) else DOUBLE
    digits = max(kind.digits for kind in kinds)
    return decimal(digits) if any(kind.name == "decimal" for kind in kinds) else INT


_MOST_PLACES = 15
"""Before the point, or noughts behind it, that a double has without an exponent (my_gcvt)."""


def _double(value: float) -> str:
    """`3.5`, `3.3e19`: no sign and no nought stands in front of the exponent."""
    exact = Decimal(repr(value)).normalize()
    sign, digits, power = exact.as_tuple()
    if not value or not isinstance(power, int):
        return "0" if not value else repr(value)
    point = len(digits) + power
    if -_MOST_PLACES < point <= _MOST_PLACES:
        return f"{exact:f}"
    first, *rest = map(str, digits)
    return f"{'-' * sign}{first}{'.' * bool(rest)}{''.join(rest)}e{point - 1}"


_SINGLE_DIGITS = 6
"""FLT_DIG."""


def single(value: float) -> float:
    """What a number is in single precision."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


LONG = Context(prec=400)
"""As long as any double, with what stands behind its point."""


def written(value: object, kind: Kind) -> str:
    """A value as MySQL writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(int(value))
    if not isinstance(value, int | float) or not kind.is_number:
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        return str(value)
    if kind.name == "double":
        return _double(float(f"{value:.{_SINGLE_DIGITS}g}" if kind.is_single else value))
    if kind.name == "int" and isinstance(value, int):
        return str(value)
    exact = Decimal(repr(value) if isinstance(value, float) else value)
    # Nought has no sign.
    digits = Decimal(1).scaleb(-kind.digits)
    return f"{exact.quantize(digits, rounding=ROUND_HALF_UP, context=LONG) + 0:f}"
