"""Texts that are compared with days and times are read as these.

    compare_moments(tree, columns, refuses=True)      # d = '98-2-3'  ->  d = '1998-02-03'

Source: sql/item_cmpfunc.cc (get_mysql_time_from_str, can_compare_as_dates); manual, Type Conversion in
Expression Evaluation. From 8.0.16 a text that is no moment is an error.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ndbplan.train.sql.comparing import COMPARES
from ndbplan.train.sql.moments import NoMomentError, read_clock, read_moment
from ndbplan.train.sql.numbers import Kind, kind_of
from ndbplan.train.sql.problem import SqlError

_OF_TIME = (exp.Hour, exp.Minute, exp.Second, exp.Time, exp.Extract)
_OF_TIME_BY_NAME = frozenset(("microsecond", "time_to_sec", "time_format", "addtime", "subtime", "timediff"))
_DAY_LENGTH = len("2026-01-31")
_MIDNIGHT = " 00:00:00"


def compare_moments(tree: exp.Expr, columns: Mapping[str, Kind], refuses: bool) -> None:
    """Put what is read in place of texts beside moments. Raises SqlError 1525 for what is none."""
    for node in list(tree.find_all(*COMPARES, exp.In, exp.Between)):
        if isinstance(node, exp.In | exp.Between):
            others = [*node.expressions, node.args.get("low"), node.args.get("high")]
            sides = [node.this, *(one for one in others if one is not None)]
        else:
            sides = [node.this, node.expression]
        kinds = [kind_of(one, columns).moment for one in sides]
        known = [one for one in kinds if one]
        if not known:
            continue
        for side, kind in zip(sides, kinds, strict=True):
            if isinstance(side, exp.Literal) and side.is_string and not kind:
                side.replace(exp.Literal.string(_read(side.name, known[0], refuses)))
            elif kind == "date" and {"datetime", "timestamp"} & set(known):
                _begins(side)
    _days_as_moments(tree, columns)


def _days_as_moments(tree: exp.Expr, columns: Mapping[str, Kind]) -> None:
    """The time of a day is that of its begin; a text of a day is a time of another kind."""
    for node in list(tree.find_all(*_OF_TIME, exp.Anonymous, exp.Cast)):
        if isinstance(node, exp.Anonymous) and node.name.lower() not in _OF_TIME_BY_NAME:
            continue
        if isinstance(node, exp.Cast) and not node.to.is_type("time"):
            continue
        given = (
            node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.args.get("expression")]
        )
        for one in given:
            if isinstance(one, exp.Expr) and kind_of(one, columns).moment == "date":
                _begins(one)


def _begins(day: exp.Expr) -> None:
    day.replace(exp.Anonymous(this="mysql_midnight", expressions=[day.copy()]))


def _read(text: str, kind: str, refuses: bool) -> str:
    try:
        found, _ = (read_clock if kind == "time" else read_moment)(text)
    except NoMomentError:
        if refuses:
            raise SqlError(1525, "HY000", f"Incorrect {kind.upper()} value: '{text}'") from None
        return text
    if kind == "date":
        return found.removesuffix(_MIDNIGHT)
    return found + _MIDNIGHT if kind != "time" and len(found) == _DAY_LENGTH else found


def midnight(day: object) -> str | None:
    """A day as the moment when it begins."""
    return None if day is None else f"{day}{_MIDNIGHT}"
