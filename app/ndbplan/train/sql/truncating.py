"""Texts where a number is wanted: the number that they begin with, and a warning 1292 of the rest [8.4.8].

read_as_numbers(tree, kinds)     # '3abc' + 4  ->  mysql_number('3abc') + 4
give(base, warn)                 # the functions that this takes, of a connection to SQLite
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from ndbplan.train.sql.numbers import TEXT, WHOLE_CASTS, Kind, kind_of

TRUNCATED = 1292
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"[+-]?[0-9]+")
_MOMENT = re.compile(r"\s*[0-9]+[-:][0-9]+[-:][0-9]+")
"""Dates and times are numbers of their own, which are not read here."""
_COMPARES = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ)
_RECKONS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_CASTS = ((WHOLE_CASTS, "INTEGER"), (("decimal",), "DECIMAL"), (("double", "float"), "DOUBLE"))
Warn = Callable[[int, str], None]


def read_as_numbers(tree: exp.Expr, columns: Mapping[str, Kind]) -> None:
    """Wrap what is a text and stands where a number is wanted."""
    for node in list(tree.find_all(*_COMPARES)):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            # What is compared with NULL is not read.
            wants = not isinstance(other, exp.Null) and kind_of(other, columns).is_number
            if wants and _is_text(one, columns):
                one.replace(_read(one, "DOUBLE"))
    for chosen in list(tree.find_all(exp.In, exp.Between)):
        if kind_of(chosen.this, columns).is_number:
            _read_literals(*chosen.expressions, chosen.args.get("low"), chosen.args.get("high"))
    for reckoned in list(tree.find_all(*_RECKONS, exp.Neg)):
        sides = (reckoned.this, reckoned.args.get("expression"))
        # A date beside an interval is no number.
        if not any(isinstance(one, exp.Interval) for one in sides):
            _read_literals(*sides)
    for cast in list(tree.find_all(exp.Cast)):
        wanted = next((word for types, word in _CASTS if cast.to.is_type(*types)), "")
        if wanted and _is_text(cast.this, columns):
            cast.this.replace(_read(cast.this, wanted))


def _read_literals(*found: exp.Expr | None) -> None:
    for one in found:
        if one is not None and _is_literal(one):
            one.replace(_read(one, "DOUBLE"))


def _is_literal(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)


def _is_text(node: exp.Expr, columns: Mapping[str, Kind]) -> bool:
    return _is_literal(node) or (isinstance(node, exp.Column) and columns.get(node.name.lower()) is TEXT)


def _read(node: exp.Expr, wanted: str) -> exp.Expr:
    return exp.Anonymous(this="mysql_number", expressions=[node.copy(), exp.Literal.string(wanted)])


def number_in(value: Any, wanted: str, warn: Warn) -> float | int | None:
    """The number that a value is or begins with; `wanted`: INTEGER, DECIMAL, DOUBLE, as the warning says."""
    if value is None or isinstance(value, int | float):
        return value
    text = str(value)
    stripped = text.strip()
    found = _WHOLE.match(stripped) if wanted == "INTEGER" else _NUMBER.match(stripped)
    if (found is None or found.end() < len(stripped)) and not _MOMENT.match(text):
        warn(TRUNCATED, f"Truncated incorrect {wanted} value: '{text}'")
    if found is None:
        return 0
    return int(found[0]) if _WHOLE.fullmatch(found[0]) else float(found[0])


def give(base: sqlite3.Connection, warn: Warn) -> None:
    """Let a connection know the function that reads numbers."""
    base.create_function(
        "mysql_number", 2, lambda value, wanted: number_in(value, wanted, warn), deterministic=True
    )
