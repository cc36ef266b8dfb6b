"""Dates, times and intervals: functions of MySQL that SQLite has not, or has otherwise.

    STRICT["mysql_date_add"]("2026-01-31", "1", "MONTH", 1)      # '2026-02-28'

Names of ours begin with `mysql_`; `date_calls` puts them where a query has what they stand for. Moments are
texts, as the server writes them. Forms and rules: the manual, date and time functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from ndbplan.train.sql.moments import MICROSECONDS, NoMomentError, OfNumber, moment
from ndbplan.train.sql.text_functions import text_of
from ndbplan.train.sql.weeks import week_of, year_and_week

_LONGEST_H = 838
"""Hours of a TIME."""
_MONTHS_OF_YEAR = 12
MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
SPANS = {
    "MICROSECOND": timedelta(microseconds=1), "SECOND": timedelta(seconds=1), "MINUTE": timedelta(minutes=1),
    "HOUR": timedelta(hours=1), "DAY": timedelta(days=1), "WEEK": timedelta(weeks=1),
}  # fmt: skip
_IN_ORDER = ("DAY", "HOUR", "MINUTE", "SECOND", "MICROSECOND")
COMPOSED = {
    "YEAR_MONTH": ("YEAR", "MONTH"),
    **{
        f"{one}_{other}": _IN_ORDER[place : _IN_ORDER.index(other) + 1]
        for place, one in enumerate(_IN_ORDER) for other in _IN_ORDER[place + 1 :]
    },
}  # fmt: skip
"""Units of several numbers in one text, such as '1:30'."""
_WHOLE_DAYS = ("DAY", "WEEK", *MONTHS)
OF_TIME = frozenset(("HOUR", "MINUTE", "SECOND", "MICROSECOND", *COMPOSED)) - {"YEAR_MONTH"}
"""Parts that are those of a time, and need no day."""
_CLOCK = re.compile(r"(-?)([0-9]+):([0-9]{2}):([0-9]{2})(\.[0-9]{1,6})?")
"""A time as it is read (`moments.read_clock`)."""
YEAR_NAUGHT, _NO_DAY = "0000-01-01", "0000-00-00"
_HIGHEST_S = 839 * 3600
"""No time is so long."""
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
    if name in COMPOSED:
        return _composed_later(value, str(count), name, int(sign))
    try:
        if name in MONTHS:
            found = _later(at, int(sign) * count * MONTHS[name])
        else:
            found = at + int(sign) * count * SPANS[name]
    except (OverflowError, ValueError):
        raise OverflowedError from None
    if _is_day(value) and name in _WHOLE_DAYS:
        return f"{found:%Y-%m-%d}".rjust(10, "0")
    return _written(found)


def _composed_later(value: Any, text: str, unit: str, sign: int) -> str:
    """A moment and an interval such as '1:30' HOUR_MINUTE: what is not given is missing at its begin."""
    numbers, parts = re.findall(r"[0-9]+", text), COMPOSED[unit]
    if len(numbers) > len(parts):
        raise ValueError(text)
    found, sign = value, -sign if text.strip().startswith("-") else sign
    for number, part in zip(numbers, parts[-len(numbers) :], strict=True):
        # Digits of a second, however many.
        found = _date_add(found, int(number.ljust(6, "0") if part == "MICROSECOND" else number), part, sign)
    return str(found)


def _difference(begin: Any, end: Any, unit: Any) -> int:
    """TIMESTAMPDIFF: whole units from the first to the second."""
    first, last, name = moment(begin), moment(end), str(unit).upper()
    if name in MONTHS:
        sign, (low, high) = (1, (first, last)) if last >= first else (-1, (last, first))
        months = (high.year - low.year) * 12 + high.month - low.month
        months -= _part_of_month(high) < _part_of_month(low)
        return sign * (months // MONTHS[name])
    span = last - first
    return int(span / SPANS[name]) if name != "MICROSECOND" else round(span / SPANS[name])


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
            return f"{sign}{hours:02}" if found[1] == "H" else f"{sign}{hours}"
        return "0" if found[1] in _OF_DATES else _SIGNS[found[1]](at) if found[1] in _SIGNS else found[1]

    return re.sub(r"%(.)", told, str(form))


def _seconds_of(text: str) -> timedelta:
    """A time, or that of a moment."""
    found = _CLOCK.fullmatch(text)
    if found is None:
        at = moment(text)
        return timedelta(hours=at.hour, minutes=at.minute, seconds=at.second, microseconds=at.microsecond)
    hours, minutes, seconds = (int(found[n]) for n in (2, 3, 4))
    span = timedelta(hours=hours, minutes=minutes, seconds=seconds + float(found[5] or 0))
    return -span if found[1] else span


def _clock(span: timedelta) -> str:
    sign, whole = ("-", -span) if span < timedelta() else ("", span)
    seconds, rest = whole.days * 86400 + whole.seconds, whole.microseconds
    tail = f".{rest:06}" if rest else ""
    return f"{sign}{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{tail}"


AS_THEY_ARE = -1
"""So many digits of a second as a value has."""


def _digits(value: str, asked: int) -> int:
    return len(value.partition(".")[2]) if asked == AS_THEY_ARE else asked


def _timed(value: str, asked: int) -> str:
    """A time with so many digits of a second, rounded."""
    digits = _digits(value, asked)
    return _with_digits(_clock(_rounded(_seconds_of(value), digits)), digits)


def _momentary(value: str, asked: int) -> str:
    """A moment with so many digits of a second, rounded."""
    digits, at = _digits(value, asked), moment(value)
    begin = datetime(at.year, at.month, at.day)
    return _with_digits(_written(begin + _rounded(at - begin, digits)), digits)


def _rounded(span: timedelta, digits: int) -> timedelta:
    step = timedelta(microseconds=10 ** (6 - digits))
    half = step // 2
    return -((-span + half) // step * step) if span < timedelta() else (span + half) // step * step


def _with_digits(text: str, digits: int) -> str:
    whole, _, rest = text.partition(".")
    return f"{whole}.{rest.ljust(6, '0')[:digits]}" if digits else whole


def _day_number(text: Any) -> int:
    """From 1 on, of the first day of the year 0, which has no 29 February (my_time.cc, calc_daynr)."""
    year, month, day = (int(one) for one in str(text)[: len(_NO_DAY)].split("-"))
    if year or not month or not day:
        return moment(text).toordinal() + _FIRST_YEAR_DAYS
    return date(1, month, day).timetuple().tm_yday


def _days_between(one: Any, other: Any) -> int:
    # TO_DAYS, as the parser takes it apart, is a difference from the first day.
    return _day_number(one) - _day_number(other)


def _time_difference(one: Any, other: Any) -> str:
    """TIMEDIFF: of two times, or of two moments."""
    times = [_CLOCK.fullmatch(value) is not None for value in (one, other)]
    if times[0] != times[1]:
        raise ValueError(one)
    return _clock(_seconds_of(one) - _seconds_of(other) if times[0] else moment(one) - moment(other))


def _from_unix(seconds: Any, form: Any = None) -> str:
    count = float(seconds)
    if not 0 <= count < 2**31:
        raise ValueError(seconds)
    text = _written(datetime(1970, 1, 1) + timedelta(seconds=count))
    return text if form is None else _format(text, form)


def _unix(value: Any) -> int | float:
    seconds = (moment(value) - datetime(1970, 1, 1)).total_seconds()
    return max(0, int(seconds) if seconds.is_integer() else seconds)


def _extract(part: Any, value: Any) -> int:
    name, found = str(part).upper(), 0
    # Of a time the days are hours.
    parts = [one for one in COMPOSED.get(name, (name,)) if one != "DAY" or name == "DAY" or " " in value]
    for one in parts:
        found = found * (MICROSECONDS if one == "MICROSECOND" else 100) + PARTS[one](value)
    return found


def extract_days(part: Any, value: str) -> int:
    """The same where NO_ZERO_DATE is set: the text 0000-00-00 is no day. Raises NoMomentError."""
    if value.startswith(_NO_DAY) and not isinstance(value, OfNumber):
        raise NoMomentError(value)
    return _extract(part, value)


def _last_day(value: Any) -> str:
    # Any day of the month, and none as well.
    first = f"{value[:8]}01"
    if value.startswith("0000-") and value[5:7] != "00":
        return f"0000{_last_day(f'0001{first[4:]}')[4:]}"
    at = _later(moment(first), 1) - timedelta(days=1)
    return f"{at:%Y-%m-%d}".rjust(10, "0")


def _time_part(name: str) -> Callable[[Any], int]:
    def part(value: Any) -> int:
        seconds = abs(_seconds_of(value)).total_seconds()
        of = {"HOUR": seconds // 3600, "MINUTE": seconds // 60 % 60, "SECOND": seconds % 60 // 1}
        return int(of[name])

    return part


PARTS: dict[str, Callable[[Any], int]] = {
    # Month and day may be naught.
    "YEAR": lambda v: int(v[:4]), "MONTH": lambda v: int(v[5:7]),
    "DAY": lambda v: int(v[8:10]), "QUARTER": lambda v: (int(v[5:7]) + 2) // 3,
    "WEEK": lambda v: week_of(moment(v), 0)[1],
    "HOUR": _time_part("HOUR"), "MINUTE": _time_part("MINUTE"), "SECOND": _time_part("SECOND"),
    "MICROSECOND": lambda v: _seconds_of(v).microseconds,
    "DAYOFWEEK": lambda v: (_day_number(v) + 6) % 7 + 1, "WEEKDAY": lambda v: (_day_number(v) + 5) % 7,
    "DAYOFYEAR": lambda v: _day_number(v) - _day_number(f"{v[:4]}-01-01") + 1,
}  # fmt: skip


class OverflowedError(ValueError):
    """A moment beyond the calendar: the server warns of it, and answers NULL."""


class TooLongError(ValueError):
    """More seconds than a time has: the server warns of them, and answers the longest time."""

    def __init__(self, seconds: float, said: str = "") -> None:
        super().__init__(said or text_of(seconds))
        self.longest = f"{'-' * (seconds < 0)}838:59:59"


def _months_of(period: Any) -> int:
    """Of a period such as 202401 or 2401, since the year 0. Raises RuntimeError for a month that is none."""
    year, month = divmod(int(period), 100)
    if not 1 <= month <= _MONTHS_OF_YEAR:
        raise RuntimeError(period)
    return (year + (2000 if year < 70 else 1900 if year < 100 else 0)) * 12 + month - 1


def _from_days(days: int) -> str:
    return _NO_DAY if days <= _FIRST_YEAR_DAYS else date.fromordinal(days - _FIRST_YEAR_DAYS).isoformat()


def _made_date(year: int, day: int) -> str | None:
    if day < 1 or not 0 <= year <= 9999:
        return None
    century = 0 if year >= 100 else 2000 if year < 70 else 1900
    return (date(year + century, 1, 1) + timedelta(days=day - 1)).isoformat()


def _made_time(hour: int, minute: int, second: float) -> str | None:
    if not (0 <= minute < 60 and 0 <= second < 60):
        return None
    if abs(hour) > _LONGEST_H:
        raise TooLongError(hour, f"{hour}:{minute:02}:{second:02.0f}")
    span = timedelta(hours=abs(hour), minutes=minute, seconds=second)
    return _clock(-span if hour < 0 else span)


def _of_seconds(seconds: float) -> str:
    if abs(seconds) >= _HIGHEST_S:
        raise TooLongError(seconds)
    text = _clock(timedelta(seconds=seconds))
    return text.rstrip("0") if "." in text else text


STRICT: dict[str, Callable[..., Any]] = {
    "mysql_date_add": _date_add, "mysql_timestampdiff": _difference, "mysql_date_format": _format,
    "mysql_time_format": _time_format,
    "mysql_datediff": _days_between, "TIMEDIFF": _time_difference,
    "mysql_from_unixtime": _from_unix, "UNIX_TIMESTAMP": _unix, "mysql_extract": _extract,
    "LAST_DAY": _last_day, "mysql_date": lambda v: v[:10],
    "mysql_time": _timed, "mysql_moment": _momentary, "mysql_dayname": lambda v: f"{moment(v):%A}",
    "mysql_week": lambda v, mode: week_of(moment(v), int(mode))[1],
    "YEARWEEK": lambda v, mode=0: year_and_week(moment(v), int(mode)),
    "PERIOD_ADD": lambda p, n: (_months_of(p) + int(n)) // 12 * 100 + (_months_of(p) + int(n)) % 12 + 1,
    "PERIOD_DIFF": lambda one, other: _months_of(one) - _months_of(other),
    "TO_SECONDS": lambda v: _day_number(v) * 86400 + int(_seconds_of(f"{v} 00:00:00"[11:19]).total_seconds()),
    "FROM_DAYS": _from_days,
    "MAKEDATE": _made_date, "MAKETIME": _made_time, "SEC_TO_TIME": _of_seconds,
    "TIME_TO_SEC": lambda v: int(_seconds_of(v).total_seconds()),
    "ADDTIME": lambda a, b: _sum_of(a, b, 1), "SUBTIME": lambda a, b: _sum_of(a, b, -1),
}  # fmt: skip
"""NULL where an argument is NULL or no moment."""


def _sum_of(value: str, more: str, sign: int) -> str:
    """A time or a moment with a time more or less; NULL where the second is a moment."""
    if _CLOCK.fullmatch(more) is None:
        raise ValueError(more)
    span = sign * _seconds_of(more)
    if _CLOCK.fullmatch(value):
        return _clock(_seconds_of(value) + span)
    return _written(moment(value) + span)
