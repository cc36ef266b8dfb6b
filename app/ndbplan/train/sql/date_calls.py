"""Calls of functions of dates in a query, as ours in `dates`: what the parser calls by other names.

ours(parse_one("LAST_DAY('2024-02-01')"))       # a call of LAST_DAY of ours
"""

from __future__ import annotations

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.sql.dates import AS_THEY_ARE, COMPOSED, MONTHS, PARTS, SPANS, YEAR_NAUGHT
from ndbplan.train.sql.problem import NotSimulated

_PART_OF: dict[type[exp.Expr], str] = {
    exp.Year: "YEAR", exp.Month: "MONTH", exp.Day: "DAY", exp.DayOfMonth: "DAY", exp.Hour: "HOUR",
    exp.Minute: "MINUTE", exp.Second: "SECOND", exp.Quarter: "QUARTER", exp.DayOfWeek: "DAYOFWEEK",
    exp.DayOfYear: "DAYOFYEAR",
}  # fmt: skip
_DAY_TEXTS = (exp.TsOrDsToDate, exp.Date)


def _unit(node: exp.Expr) -> exp.Literal:
    unit = node.args.get("unit")
    name = "DAY" if unit is None else unit.name.upper()
    if name not in SPANS and name not in MONTHS and name not in COMPOSED:
        raise NotSimulated(f"INTERVAL ... {name[:20]} is not simulated; the units of the manual are")
    return exp.Literal.string(name)


def _typed_format(node: exp.Expr) -> exp.Expr:
    """The format as it was typed, of which the parser has made that of another language."""
    given: exp.Expr = node.args["format"]
    if not isinstance(given, exp.Literal):
        return given
    text = exp.TimeToStr(this=exp.null(), format=given.copy()).sql("mysql")
    return exp.Literal.string(text[text.index("'") + 1 : -2].replace("''", "'"))


def _call(name: str, *given: exp.Expr | None) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[one for one in given if one is not None])


def ours(node: exp.Expr) -> exp.Expr | None:
    """A call of ours in place of one on dates; None: the node is none. Raises NotSimulated."""
    part = _PART_OF.get(type(node))
    if part is not None:
        return _call("mysql_extract", exp.Literal.string(part), node.this)
    if isinstance(node, exp.Extract):
        if node.name.upper() not in PARTS and node.name.upper() not in COMPOSED:
            raise NotSimulated(f"EXTRACT({node.name[:20]} ...) is not simulated; the units of the manual are")
        return _call("mysql_extract", exp.Literal.string(node.name), node.expression)
    if isinstance(node, exp.Add | exp.Sub | exp.DateAdd | exp.DateSub | exp.TimestampAdd):
        return _moved(node)
    if isinstance(node, exp.DateDiff):
        return _call("mysql_datediff", node.this, node.expression)
    if isinstance(node, exp.TimestampDiff):
        return _call("mysql_timestampdiff", node.expression, node.this, _unit(node))
    if isinstance(node, exp.TimeToStr):
        return _call("mysql_date_format", node.this, _typed_format(node))
    if isinstance(node, exp.StrToDate | exp.StrToTime):
        return _call("mysql_str_to_date", node.this, _typed_format(node))
    if isinstance(node, exp.UnixToTime):
        form = None if node.args.get("format") is None else _typed_format(node)
        found = _call("mysql_from_unixtime", node.this, form)
        return found if form is not None else _to_digits("mysql_moment", found, node.this)
    return _named(node)


def _moved(node: exp.Expr) -> exp.Expr | None:
    """A moment with an interval more or less."""
    less = isinstance(node, exp.Sub | exp.DateSub)
    value, span = node.this, node.expression
    if isinstance(node, exp.Add | exp.Sub):
        if isinstance(value, exp.Interval) and not less:
            # `INTERVAL 1 DAY + '2026-01-01'`: the parser takes the text for an interval, too.
            value, span = span.this if isinstance(span, exp.Interval) else span, value
        if not isinstance(span, exp.Interval) or span.args.get("unit") is None:
            return None
        count, unit = span.this, _unit(span)
    else:
        count, unit = span, _unit(node)
    return _call("mysql_date_add", value, count, unit, exp.Literal.number(-1 if less else 1))


def _cast(node: exp.Cast) -> exp.Expr | None:
    """CAST(... AS DATE), AS DATETIME and AS TIME: digits of a second where they are asked for."""
    if node.to.is_type("date"):
        return _call("mysql_date", node.this)
    if node.to.is_type("timestamp", "timestamptz"):
        # TIMESTAMP '2026-01-01': no CAST has such a type.
        return _call("mysql_moment", node.this, _own_digits(node.this))
    function = next((one for kind, one in _CAST_TO.items() if node.to.is_type(kind)), None)
    if function is None:
        return None
    asked = whole_number(node.to.expressions[0].name) if node.to.expressions else 0
    return _call(function, node.this, exp.Literal.number(asked or 0))


_CAST_TO = {"datetime": "mysql_moment", "time": "mysql_time"}


def _to_digits(name: str, found: exp.Expr, seconds: exp.Expr) -> exp.Expr:
    """A moment with as many digits of a second as a number has that is typed; others have all or none."""
    if not isinstance(seconds, exp.Literal) or seconds.is_string or "e" in seconds.name.lower():
        return found
    return _call(name, found, _own_digits(seconds))


def _own_digits(node: exp.Expr) -> exp.Expr:
    """Digits of a second that a text is typed with, those of a column; what is worked out has all or none."""
    if isinstance(node, exp.Column) or node.name == "mysql_midnight":
        return exp.Literal.number(AS_THEY_ARE)
    typed = node.name.partition(".")[2] if isinstance(node, exp.Literal) else "0" * 6
    return exp.Literal.number(min(6, len(typed)))


def _named(node: exp.Expr) -> exp.Expr | None:
    """Calls that are known by their names alone, and those of whole days."""
    if isinstance(node, _DAY_TEXTS) and isinstance(node.this, exp.Expr):
        day: exp.Expr = node.this
        if day.name == YEAR_NAUGHT:
            return day
        inside = type(node.parent)
        # The parser puts this around what functions of dates are day.
        return day if inside in _PART_OF or inside is exp.TimeToStr else _call("mysql_date", day)
    if isinstance(node, exp.Cast):
        return _cast(node)
    if isinstance(node, exp.TsOrDsToTimestamp):
        moved: exp.Expr = node.this
        return moved
    if isinstance(node, exp.Time):
        return _call("mysql_time", node.this, _own_digits(node.this))
    if isinstance(node, exp.Dayname):
        return _call("mysql_dayname", node.this)
    if isinstance(node, exp.LastDay):
        return _call("LAST_DAY", node.this)
    if isinstance(node, exp.Week | exp.WeekOfYear):
        mode = exp.Literal.number(3) if isinstance(node, exp.WeekOfYear) else node.args.get("mode")
        return _call("mysql_week", node.this, mode or exp.Literal.number(0))
    if isinstance(node, exp.TimeFromParts):
        found = _call("MAKETIME", node.args["hour"], node.args["min"], node.args["sec"])
        return _to_digits("mysql_time", found, node.args["sec"])
    if isinstance(node, exp.Timestamp):
        at, more = _call("mysql_moment", node.this, _own_digits(node.this)), node.args.get("zone")
        return at if more is None else _call("ADDTIME", at, more)
    if not isinstance(node, exp.Anonymous):
        return None
    name, given = node.name.upper(), node.expressions
    if name in ("WEEKDAY", "MICROSECOND") and len(given) == 1:
        return _call("mysql_extract", exp.Literal.string(name), given[0])
    if name == "TIME_FORMAT" and len(given) == 2:
        return _call("mysql_time_format", *given)
    if name in ("ADDDATE", "SUBDATE") and len(given) == 2:
        sign, span = exp.Literal.number(-1 if name == "SUBDATE" else 1), given[1]
        is_span = isinstance(span, exp.Interval)
        count, unit = (span.this, _unit(span)) if is_span else (span, exp.Literal.string("DAY"))
        return _call("mysql_date_add", given[0], count, unit, sign)
    return None
