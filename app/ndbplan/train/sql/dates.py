"""Dates, times and intervals: functions of MySQL that SQLite has not, or has otherwise.

    STRICT["mysql_date_add"]("2026-01-31", "1", "MONTH", 1)      # '2026-02-28'

Names of ours begin with `mysql_`; `translated` puts them where a statement has what they stand for. Moments
are texts, as the server writes them. Forms and rules: the manual, date and time functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from sqlglot import exp

from ndbplan.base.units import whole_number
from ndbplan.train.sql.moments import MICROSECONDS, NoMomentError, NoTimeError, moment
from ndbplan.train.sql.problem import NotSimulated
from ndbplan.train.sql.weeks import week_of, year_and_week

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_SPANS = {
    "MICROSECOND": timedelta(microseconds=1), "SECOND": timedelta(seconds=1), "MINUTE": timedelta(minutes=1),
    "HOUR": timedelta(hours=1), "DAY": timedelta(days=1), "WEEK": timedelta(weeks=1),
}  # fmt: skip
_IN_ORDER = ("DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND")
_COMPOSED = {
    "YEAR_MONTH": ("YEAR", "MONTH"),
    **{
        f"{one}_{other}": _IN_ORDER[place : _IN_ORDER.index(other) + 1]
        for place, one in enumerate(_IN_ORDER) for other in _IN_ORDER[place + 1 :]
    },
}  # fmt: skip
"""Units of several numbers in one text, such as '1:30'."""
_WHOLE_DAYS = ("DAY", "WEEK", *_MONTHS)
_CLOCK = re.compile(r"\s*(-?)(?:([0-9]{1,2}) )?([0-9]{1,3}):([0-9]{1,2})(?::([0-9]{1,2})(\.[0-9]{1,6})?)?\s*")
_BARE_CLOCK = re.compile(r"\s*(-?)([0-9]{1,7})(\.[0-9]{1,6})?\s*")
"""A time without colons: its last digits are seconds."""
_OF_A_MINUTE = 60
_YEAR_NAUGHT = "0000-01-01"
_FIRST_YEAR_DAYS = 365
"""Days of the year 0, which `date.toordinal` does not count."""


def _is_day(value: Any) -> bool:
    """Whether a value has a day and no time."""
    return re.fullmatch(r"\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\s*|[0-9]{8}", str(value)) is not None


def _written(at: datetime) -> str:
    tail = f".{at.microsecond:06}" if at.microsecond else ""
    return f"{at:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + tail


def _later(at: datetime, months: int) -> datetime:
    """So many months later, on the last day of a month that is too short."""
    year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
    last = (datetime(year + (month == 11), (month + 1) % 12 + 1, 1) - timedelta(days=1)).day
    return at.replace(year=year, month=month + 1, day=min(at.day, last))


def _date_add(value: Any, count: Any, unit: Any, sign: Any) -> str:
    at, name = moment(value), str(unit).upper()
    if name in _COMPOSED:
        return _composed_later(value, str(count), name, int(sign))
    if name in _MONTHS:
        found = _later(at, int(sign) * round(float(count)) * _MONTHS[name])
    else:
        many = float(count) if name == "SECOND" else round(float(count))
        found = at + int(sign) * many * _SPANS[name]
    if _is_day(value) and name in _WHOLE_DAYS:
        return f"{found:%Y-%m-%d}".rjust(10, "0")
    return _written(found)


def _composed_later(value: Any, text: str, unit: str, sign: int) -> str:
    """A moment and an interval such as '1:30' HOUR_MINUTE: what is not given is missing at its begin."""
    numbers, parts = re.findall(r"[0-9]+", text), _COMPOSED[unit]
    if len(numbers) > len(parts):
        raise ValueError(text)
    found, sign = value, -sign if text.strip().startswith("-") else sign
    for number, part in zip(numbers, parts[-len(numbers) :], strict=True):
        # Digits of a second, however many.
        found = _date_add(found, number.ljust(6, "0") if part == "MICROSECOND" else number, part, sign)
    return str(found)


def _difference(begin: Any, end: Any, unit: Any) -> int:
    """TIMESTAMPDIFF: whole units from the first to the second."""
    first, last, name = moment(begin), moment(end), str(unit).upper()
    if name in _MONTHS:
        sign, (low, high) = (1, (first, last)) if last >= first else (-1, (last, first))
        months = (high.year - low.year) * 12 + high.month - low.month
        months -= _part_of_month(high) < _part_of_month(low)
        return sign * (months // _MONTHS[name])
    span = last - first
    return int(span / _SPANS[name]) if name != "MICROSECOND" else round(span / _SPANS[name])


def _part_of_month(at: datetime) -> tuple[int, ...]:
    return (at.day, at.hour, at.minute, at.second, at.microsecond)


def _ordinal(suffix_of: int) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}.get(suffix_of % 10, "th")
    return f"{suffix_of}{'th' if suffix_of // 10 == 1 else last}"


_SIGNS: dict[str, Callable[[datetime], str]] = {
    "a": lambda t: f"{t:%a}", "b": lambda t: f"{t:%b}", "c": lambda t: str(t.month),
    "D": lambda t: _ordinal(t.day), "d": lambda t: f"{t.day:02}", "e": lambda t: str(t.day),
    "f": lambda t: f"{t.microsecond:06}", "H": lambda t: f"{t.hour:02}",
    "h": lambda t: f"{(t.hour + 11) % 12 + 1:02}", "I": lambda t: f"{(t.hour + 11) % 12 + 1:02}",
    "i": lambda t: f"{t.minute:02}", "j": lambda t: f"{t:%j}", "k": lambda t: str(t.hour),
    "l": lambda t: str((t.hour + 11) % 12 + 1), "M": lambda t: f"{t:%B}", "m": lambda t: f"{t.month:02}",
    "p": lambda t: "PM" if t.hour >= 12 else "AM", "S": lambda t: f"{t.second:02}",
    "r": lambda t: f"{(t.hour + 11) % 12 + 1:02}:{t:%M:%S} {'PM' if t.hour >= 12 else 'AM'}",
    "s": lambda t: f"{t.second:02}", "T": lambda t: f"{t:%H:%M:%S}",
    "U": lambda t: f"{week_of(t, 0)[1]:02}", "u": lambda t: f"{week_of(t, 1)[1]:02}",
    "V": lambda t: f"{week_of(t, 2)[1]:02}", "v": lambda t: f"{week_of(t, 3)[1]:02}",
    "X": lambda t: f"{week_of(t, 2)[0]:04}", "x": lambda t: f"{week_of(t, 3)[0]:04}",
    "W": lambda t: f"{t:%A}", "w": lambda t: f"{t:%w}", "Y": lambda t: f"{t.year:04}",
    "y": lambda t: f"{t.year % 100:02}", "%": lambda _t: "%",
}  # fmt: skip
"""What DATE_FORMAT makes of each sign behind `%`; others stand for themselves."""


def _format(value: Any, form: Any) -> str:
    at = moment(value)
    return re.sub(r"%(.)", lambda found: _SIGNS[found[1]](at) if found[1] in _SIGNS else found[1], str(form))


_OF_DATES = "abcDdejMmUuVvWwXxYy"


def _time_format(value: Any, form: Any) -> str | None:
    """Hours may be more than a day; what dates have is naught."""
    seconds = _seconds_of(value)
    hours = int(abs(seconds).total_seconds()) // 3600
    at = datetime(1, 1, 1) + abs(seconds) % timedelta(days=1)
    sign = "-" if seconds < timedelta() else ""

    def told(found: re.Match[str]) -> str:
        if found[1] in "Hk":
            return f"{sign}{hours:02}"
        return "0" if found[1] in _OF_DATES else _SIGNS[found[1]](at) if found[1] in _SIGNS else found[1]

    return re.sub(r"%(.)", told, str(form))


def _seconds_of(value: Any) -> timedelta:
    """A time, or that of a moment."""
    found = _CLOCK.fullmatch(str(value))
    if (bare := _BARE_CLOCK.fullmatch(str(value))) is not None:
        digits = bare[2].rjust(7, "0")
        hours, minutes, seconds = int(digits[:3]), int(digits[3:5]), float(f"{digits[5:]}{bare[3] or ''}")
        if max(minutes, seconds) >= _OF_A_MINUTE:
            raise NoMomentError(str(value))
        span = timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return -span if bare[1] else span
    if found is None:
        at = moment(value)
        return timedelta(hours=at.hour, minutes=at.minute, seconds=at.second, microseconds=at.microsecond)
    days, hours, minutes, seconds = (int(found[n] or 0) for n in (2, 3, 4, 5))
    if max(minutes, seconds) >= _OF_A_MINUTE:
        raise NoMomentError(str(value))
    span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds + float(found[6] or 0))
    return -span if found[1] else span


def _clock(span: timedelta) -> str:
    sign, whole = ("-", -span) if span < timedelta() else ("", span)
    seconds, rest = whole.days * 86400 + whole.seconds, whole.microseconds
    tail = f".{rest:06}" if rest else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{tail}"


def _timed(value: Any, digits: Any) -> str:
    """A time with so many digits of a second, rounded."""
    try:
        span = _seconds_of(value)
    except NoMomentError as error:
        raise NoTimeError(str(error)) from None
    return _with_digits(_clock(_rounded(span, int(digits))), int(digits))


def _momentary(value: Any, digits: Any) -> str:
    """A moment with so many digits of a second, rounded."""
    at = moment(value)
    begin = datetime(at.year, at.month, at.day)
    return _with_digits(_written(begin + _rounded(at - begin, int(digits))), int(digits))


def _rounded(span: timedelta, digits: int) -> timedelta:
    step = timedelta(microseconds=10 ** (6 - digits))
    half = step // 2
    return -((-span + half) // step * step) if span < timedelta() else (span + half) // step * step


def _with_digits(text: str, digits: int) -> str:
    whole, _, rest = text.partition(".")
    return f"{whole}.{rest.ljust(6, '0')[:digits]}" if digits else whole


def _days_between(one: Any, other: Any) -> int:
    if str(other) == _YEAR_NAUGHT:
        # TO_DAYS, as the parser takes it apart.
        return moment(one).toordinal() + _FIRST_YEAR_DAYS - 1
    return (moment(one).date() - moment(other).date()).days


def _time_difference(one: Any, other: Any) -> str:
    """TIMEDIFF: of two times, or of two moments."""
    times = [_CLOCK.fullmatch(str(value)) is not None for value in (one, other)]
    if times[0] != times[1]:
        raise ValueError(one)
    return _clock(_seconds_of(one) - _seconds_of(other) if times[0] else moment(one) - moment(other))


def _from_unix(seconds: Any, form: Any = None) -> str:
    count = float(seconds)
    if not 0 <= count < 2**31:
        raise ValueError(seconds)
    text = _written(datetime(1970, 1, 1) + timedelta(seconds=count))
    return text if form is None else _format(text, form)


def _unix(value: Any) -> int:
    seconds = (moment(value) - datetime(1970, 1, 1)).total_seconds()
    return max(0, int(seconds))


def _extract(part: Any, value: Any) -> int:
    name, found = str(part).upper(), 0
    for one in _COMPOSED.get(name, (name,)):
        found = found * (MICROSECONDS if one == "MICROSECOND" else 100) + PARTS[one](value)
    return found


def _last_day(value: Any) -> str:
    at = _later(moment(value).replace(day=1), 1) - timedelta(days=1)
    return f"{at:%Y-%m-%d}".rjust(10, "0")


def _time_part(name: str) -> Callable[[Any], int]:
    def part(value: Any) -> int:
        seconds = abs(_seconds_of(value)).total_seconds()
        of = {"HOUR": seconds // 3600, "MINUTE": seconds // 60 % 60, "SECOND": seconds % 60 // 1}
        return int(of[name])

    return part


PARTS: dict[str, Callable[[Any], int]] = {
    "YEAR": lambda v: moment(v).year, "MONTH": lambda v: moment(v).month, "DAY": lambda v: moment(v).day,
    "QUARTER": lambda v: (moment(v).month + 2) // 3, "WEEK": lambda v: week_of(moment(v), 0)[1],
    "HOUR": _time_part("HOUR"), "MINUTE": _time_part("MINUTE"), "SECOND": _time_part("SECOND"),
    "MICROSECOND": lambda v: _seconds_of(v).microseconds,
    "DAYOFWEEK": lambda v: moment(v).isoweekday() % 7 + 1,
    "WEEKDAY": lambda v: moment(v).weekday(), "DAYOFYEAR": lambda v: moment(v).timetuple().tm_yday,
}  # fmt: skip


def _months_of(period: Any) -> int:
    """Of a period such as 202401 or 2401, since the year 0."""
    year, month = divmod(int(period), 100)
    return (year + (2000 if year < 70 else 1900 if year < 100 else 0)) * 12 + month - 1


STRICT: dict[str, Callable[..., Any]] = {
    "mysql_date_add": _date_add, "mysql_timestampdiff": _difference, "mysql_date_format": _format,
    "mysql_time_format": _time_format,
    "mysql_datediff": _days_between, "TIMEDIFF": _time_difference,
    "mysql_from_unixtime": _from_unix, "UNIX_TIMESTAMP": _unix, "mysql_extract": _extract,
    "LAST_DAY": _last_day, "mysql_date": lambda v: _written(moment(v))[:10],
    "mysql_time": _timed, "mysql_moment": _momentary, "mysql_dayname": lambda v: f"{moment(v):%A}",
    "mysql_week": lambda v, mode: week_of(moment(v), int(mode))[1],
    "YEARWEEK": lambda v, mode=0: year_and_week(moment(v), int(mode)),
    "PERIOD_ADD": lambda p, n: (_months_of(p) + int(n)) // 12 * 100 + (_months_of(p) + int(n)) % 12 + 1,
    "PERIOD_DIFF": lambda one, other: _months_of(one) - _months_of(other),
    "TO_SECONDS": lambda v: (moment(v).toordinal() + _FIRST_YEAR_DAYS) * 86400 + _of_the_day_s(moment(v)),
    "FROM_DAYS": lambda v: f"{date.fromordinal(int(v) - _FIRST_YEAR_DAYS):%Y-%m-%d}",
    "MAKEDATE": lambda y, d: f"{date(int(y), 1, 1) + timedelta(days=int(d) - 1):%Y-%m-%d}",
    "MAKETIME": lambda h, m, s: _clock(timedelta(hours=int(h), minutes=int(m), seconds=float(s))),
    "ADDTIME": lambda a, b: _sum_of(a, _seconds_of(b)), "SUBTIME": lambda a, b: _sum_of(a, -_seconds_of(b)),
}  # fmt: skip
"""NULL where an argument is NULL or no moment."""


def _of_the_day_s(at: datetime) -> int:
    return (at.hour * 60 + at.minute) * 60 + at.second


def _sum_of(value: Any, span: timedelta) -> str:
    if _CLOCK.fullmatch(str(value)):
        return _clock(_seconds_of(value) + span)
    return _written(moment(value) + span)


_PART_OF: dict[type[exp.Expr], str] = {
    exp.Year: "YEAR", exp.Month: "MONTH", exp.Day: "DAY", exp.DayOfMonth: "DAY", exp.Hour: "HOUR",
    exp.Minute: "MINUTE", exp.Second: "SECOND", exp.Quarter: "QUARTER", exp.DayOfWeek: "DAYOFWEEK",
    exp.DayOfYear: "DAYOFYEAR",
}  # fmt: skip
_DAY_TEXTS = (exp.TsOrDsToDate, exp.Date)


def _unit(node: exp.Expr) -> exp.Literal:
    unit = node.args.get("unit")
    name = "DAY" if unit is None else unit.name.upper()
    if name not in _SPANS and name not in _MONTHS and name not in _COMPOSED:
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
        if node.name.upper() not in PARTS and node.name.upper() not in _COMPOSED:
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
        return _call("mysql_from_unixtime", node.this, form)
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
    function = next((one for kind, one in _CAST_TO.items() if node.to.is_type(kind)), None)
    if function is None:
        return None
    asked = whole_number(node.to.expressions[0].name) if node.to.expressions else 0
    return _call(function, node.this, exp.Literal.number(asked or 0))


_CAST_TO = {"datetime": "mysql_moment", "time": "mysql_time"}


def _own_digits(node: exp.Expr) -> exp.Expr:
    """Digits of a second that a text is typed with; what is worked out has all or none."""
    typed = node.name.partition(".")[2] if isinstance(node, exp.Literal) else "0" * 6
    return exp.Literal.number(min(6, len(typed)))


def _named(node: exp.Expr) -> exp.Expr | None:
    """Calls that are known by their names alone, and those of whole days."""
    if isinstance(node, _DAY_TEXTS) and isinstance(node.this, exp.Expr):
        day: exp.Expr = node.this
        if day.name == _YEAR_NAUGHT:
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
        return _call("MAKETIME", node.args["hour"], node.args["min"], node.args["sec"])
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
