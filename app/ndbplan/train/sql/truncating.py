"""Texts where a number is wanted: the number that they begin with, and a warning 1292 of the rest [8.4.8].

read_as_numbers(tree, kinds)     # '3abc' + 4  ->  mysql_number('3abc') + 4
give(base, warn)                 # the functions that this takes, of a connection to SQLite
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from math import isinf
from sys import float_info
from typing import Any

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.sql.comparing import COMPARES
from ndbplan.train.sql.moment_compares import midnight
from ndbplan.train.sql.numbers import INT, TEXT, WHOLE_CASTS, Kind, kind_of
from ndbplan.train.sql.problem import SqlError

TRUNCATED = 1292
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_LEAST, _BEYOND = -(2**63), 2**64
_LONG = Context(prec=400)
"""Holds any double as a decimal."""
_USUAL_DIGITS, _UNNAMED = 10, "(null)"
"""Of DECIMAL without a number; what the server calls an expression within another."""
_RECKONS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_SUMS = (
    exp.Neg, exp.Sum, exp.Avg, exp.Abs, exp.Sign, exp.Floor, exp.Ceil, exp.Sqrt, exp.Exp, exp.Ln, exp.Round,
    exp.Trunc,
)  # fmt: skip
_ASKS = (exp.And, exp.Or, exp.Xor, exp.Not, exp.If, exp.Where, exp.Having)
"""What asks whether something is true."""
_CASTS = ((WHOLE_CASTS, "INTEGER"), (("decimal",), "DECIMAL"), (("double", "float"), "DOUBLE"))
Warn = Callable[[int, str], None]


def read_as_numbers(tree: exp.Expr, columns: Mapping[str, Kind]) -> None:
    """Wrap what is a text and stands where a number is wanted."""
    for node in list(tree.find_all(*COMPARES)):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            # What is compared with NULL is not read.
            if not isinstance(other, exp.Null) and kind_of(other, columns).is_number:
                _read(one, "DOUBLE", columns)
        _compare_decimals(node, columns)
    for chosen in list(tree.find_all(exp.In, exp.Between)):
        given = (*chosen.expressions, chosen.args.get("low"), chosen.args.get("high"))
        listed = [one for one in given if not isinstance(one, exp.Null)]
        if kind_of(chosen.this, columns).is_number:
            _read_literals(*listed)
        elif any(one is not None and kind_of(one, columns).is_number for one in listed):
            _read(chosen.this, "DOUBLE", columns)
    for reckons in list(tree.find_all(*_RECKONS, *_SUMS)):
        sides = [one for one in (reckons.this, reckons.args.get("expression")) if one is not None]
        # A date beside an interval is no number.
        if not any(isinstance(one, exp.Interval) for one in sides):
            for one in sides:
                _read(one, "DOUBLE", columns)
    for asked in list(tree.find_all(*_ASKS)):
        # What CASE compares with a value is not asked.
        if isinstance(asked.parent, exp.Case) and asked.parent.this is not None:
            continue
        for side in (asked.this, asked.args.get("expression")):
            if isinstance(side, exp.Literal | exp.Column):
                _read(side, "DOUBLE", columns)
    for cast in list(tree.find_all(exp.Cast)):
        wanted = next((word for types, word in _CASTS if cast.to.is_type(*types)), "")
        if wanted:
            _read(cast.this, wanted, columns)
    for ordered in list(tree.find_all(exp.Ordered)):
        if _kind(ordered.this, columns).members:
            _read(ordered.this, "INTEGER", columns)


def keep_to_digits(tree: exp.Expr, typed: Sequence[str]) -> None:
    """CAST AS DECIMAL gives no more digits than it names; `typed`: the list of the query."""
    named = {id(one.unalias()): one.alias or name for one, name in zip(tree.expressions, typed, strict=False)}
    for cast in list(tree.find_all(exp.Cast)):
        if cast.to.is_type("decimal"):
            given = [whole_number(one.name) or 0 for one in cast.to.expressions]
            digits, behind = (*given, *(_USUAL_DIGITS, 0)[len(given) :])[:2]
            _check_digits(cast.this.sql("mysql"), digits or _USUAL_DIGITS, behind)
            name = exp.Literal.string(named.get(id(cast), _UNNAMED))
            numbers = [exp.Literal.number(one) for one in (digits or _USUAL_DIGITS, behind)]
            cast.replace(exp.Anonymous(this="mysql_decimal", expressions=[cast.this, *numbers, name]))


_MOST_DIGITS, _MOST_BEHIND = 65, 30
"""Of a decimal."""


def _check_digits(named: str, digits: int, behind: int) -> None:
    """Raises what a server says of digits that no decimal has."""
    if behind > _MOST_BEHIND:
        told = f"Too big scale {behind} specified for column '{named}'. Maximum is {_MOST_BEHIND}."
        raise SqlError(1425, "42000", told)
    if digits > _MOST_DIGITS:
        told = f"Too-big precision {digits} specified for '{named}'. Maximum is {_MOST_DIGITS}."
        raise SqlError(1426, "42000", told)
    if behind > digits:
        what = "For float(M,D), double(M,D) or decimal(M,D), M must be >= D"
        raise SqlError(1427, "42000", f"{what} (column '').")


def _compare_decimals(node: exp.Binary, columns: Mapping[str, Kind]) -> None:
    """Decimals that are worked out have so many digits and no more, which doubles do not know."""
    kinds = [kind_of(one, columns) for one in (node.left, node.right)]
    if not all(kind.name in ("decimal", "int") for kind in kinds):
        return
    for one, kind in zip((node.left, node.right), kinds, strict=True):
        if kind.name == "decimal" and isinstance(one.unnest(), _RECKONS):
            one.replace(exp.Round(this=one.copy(), decimals=exp.Literal.number(kind.digits)))


def _read_literals(*found: exp.Expr | None) -> None:
    for one in found:
        if one is not None and _is_literal(one):
            _read(one, "DOUBLE", {})


def _is_literal(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _kind(node: exp.Expr, columns: Mapping[str, Kind]) -> Kind:
    """Of a text or a column: what else is read is a number already, or computed."""
    if isinstance(node, exp.Column):
        return columns.get(node.name.lower(), INT)
    known = kind_of(node, columns)
    return known if known.is_moment or isinstance(node, exp.Literal) else INT


def _read(node: exp.Expr, wanted: str, columns: Mapping[str, Kind]) -> None:
    kind = _kind(node, columns)
    if kind.members:
        members = [exp.Literal.string(one) for one in kind.members]
        place = "mysql_places" if kind.is_set else "mysql_place"
        node.replace(exp.Anonymous(this=place, expressions=[node.copy(), *members]))
    elif kind.is_moment:
        node.replace(exp.Anonymous(this="mysql_digits", expressions=[node.copy()]))
    elif kind == TEXT:
        node.replace(
            exp.Anonymous(this="mysql_number", expressions=[node.copy(), exp.Literal.string(wanted)])
        )


def _place(value: Any, *members: str) -> int | None:
    """The number of a member, from 1; of a text that is none, 0."""
    return None if value is None else members.index(value) + 1 if value in members else 0


def _places(value: Any, *members: str) -> int | None:
    """A bit for each member of a set that stands in a text."""
    if value is None:
        return None
    return sum(1 << members.index(one) for one in str(value).split(",") if one in members)


def _digits(value: Any) -> int | float | None:
    """20240131 of 2024-01-31."""
    if value is None:
        return None
    text = str(value)
    digits = text[:1].strip("0123456789") + re.sub(r"[^0-9.]", "", text)
    return float(digits) if "." in digits else int(digits)


def number_in(value: Any, wanted: str, warn: Warn) -> float | int | None:
    """The number that a value is or begins with; `wanted`: INTEGER, DECIMAL, DOUBLE, as the warning says."""
    if value is None or isinstance(value, int | float):
        return value
    text = str(value)
    stripped = text.strip()
    found = _WHOLE.match(stripped) if wanted == "INTEGER" else _NUMBER.match(stripped)
    if found is None or found.end() < len(stripped):
        warn(TRUNCATED, f"Truncated incorrect {wanted} value: '{text}'")
    if found is None:
        return 0
    if not _WHOLE.fullmatch(found[0]):
        number = float(found[0])
        if isinf(number):
            warn(TRUNCATED, f"Truncated incorrect {wanted} value: '{text}'")
        # What is beyond a DOUBLE comes to the largest.
        return max(-float_info.max, min(float_info.max, number))
    whole = int(found[0])
    if wanted == "INTEGER" and not _LEAST <= whole < _BEYOND:
        warn(TRUNCATED, f"Truncated incorrect {wanted} value: '{text}'")
        whole = max(_LEAST, min(_BEYOND - 1, whole))
    # SQLite has whole numbers with a sign alone.
    return whole - _BEYOND if wanted == "INTEGER" and whole >= _BEYOND // 2 else whole


def _decimal(value: Any, digits: int, behind: int, name: str, warn: Warn) -> float | int | None:
    """CAST AS DECIMAL(n, m): rounded, and no further from 0 than its digits reach."""
    if value is None:
        return None
    most = Decimal(10**digits - 1).scaleb(-behind)
    exact = Decimal(str(value)).quantize(Decimal(1).scaleb(-behind), rounding=ROUND_HALF_UP, context=_LONG)
    if abs(exact) > most:
        warn(1264, f"Out of range value for column '{name}' at row 1")
        exact = most.copy_sign(exact)
    return float(exact) if behind else int(exact)


def _cut(value: Any, length: int, warn: Warn) -> str | None:
    """CAST AS CHAR(n)."""
    if value is None:
        return None
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    if len(text) > length:
        warn(TRUNCATED, f"Truncated incorrect CHAR({length}) value: '{text}'")
    return text[:length]


def give(base: sqlite3.Connection, warn: Warn) -> None:
    """Let a connection know the function that reads numbers."""
    base.create_function(
        "mysql_number", 2, lambda value, wanted: number_in(value, wanted, warn), deterministic=True
    )
    base.create_function("mysql_midnight", 1, midnight, deterministic=True)
    base.create_function("mysql_char", 2, lambda v, n: _cut(v, n, warn), deterministic=True)
    base.create_function("mysql_decimal", 4, lambda v, n, m, name: _decimal(v, n, m, name, warn))
    base.create_function("mysql_place", -1, _place, deterministic=True)
    base.create_function("mysql_places", -1, _places, deterministic=True)
    base.create_function("mysql_digits", 1, _digits, deterministic=True)
