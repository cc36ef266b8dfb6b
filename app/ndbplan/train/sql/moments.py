"""Texts and numbers as moments and times of a day, as the server reads them.

    read_moment("98-02-03 4:5")        # ('1998-02-03 04:05:00', '')
    read_clock("1 2:3:4.5")            # ('26:03:04.500000', '')

What is read is a text in one form, which the functions of dates take; beside it what the server warns of
where it reads a part alone. Source: sql-common/my_time.cc (str_to_datetime, str_to_time, number_to_datetime,
number_to_time) and sql/sql_time.cc of the product.
"""

from __future__ import annotations

import calendar
import re
import string
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal, InvalidOperation
from typing import Any

from ndbplan.train.sql.numbers import DOUBLE, written

MICROSECONDS = 1_000_000
_CENTURY, _LAST_OF_THIS = 100, 70
"""A year of two digits below the second is of this century."""
_HIGHEST_HOUR = 838
_HIGHEST = timedelta(hours=_HIGHEST_HOUR, minutes=59, seconds=59)
_HIGHEST_BARE = 8_385_959
"""The highest time as one number."""
_BARE_MOMENTS_FROM = 10_000_000_000
"""A number from here on, where a time is wanted, is tried as a moment."""
_LONGEST_TIME = 12
"""A text of so many letters is tried as a moment first where a time is wanted."""
_PUNCTUATION = re.escape(string.punctuation)
_BARE = re.compile(r"\s*+([0-9T]++)(?:\.([0-9]*+))?")
_PARTED = re.compile(
    rf"\s*+([0-9]++)[{_PUNCTUATION}]++([0-9]++)[{_PUNCTUATION}]++([0-9]++)"
    rf"(?:(?:T|[{_PUNCTUATION}\s]++)([0-9]++)(?:[{_PUNCTUATION}]++([0-9]++)"
    rf"(?:[{_PUNCTUATION}]++([0-9]++)(?:\.([0-9]*+))?)?)?)?"
)
_LIKE_MOMENT = re.compile(rf"\s*+(?:[0-9]++(?:\.|\s*+$)|[0-9]++(?:[{_PUNCTUATION}]++[0-9]++){{2}}[\sT])")
"""A long text that is read as a moment or not at all, where a time is wanted."""
_TIME = re.compile(
    r"\s*+(-?)(?:([0-9]++)\s++(?=[0-9]))?([0-9]++)(?::([0-9]++)(?::([0-9]++))?)?(:?)(?:\.([0-9]*+))?"
)


class NoMomentError(ValueError):
    """A text is no moment: the server warns of it, and answers NULL."""


class NoTimeError(NoMomentError):
    """A text is no time of a day or span."""


def moment(text: Any) -> datetime:
    """What `read_moment` has read, where it is a day of the calendar. Raises NoMomentError."""
    found = _PARTED.fullmatch(str(text))
    if found is None:
        raise NoMomentError(text)
    year, month, day, hour, minute, second = (int(one or 0) for one in found.groups()[:6])
    try:
        return datetime(year, month, day, hour, minute, second, int((found[7] or "").ljust(6, "0")[:6]))
    except ValueError:
        raise NoMomentError(text) from None


class OfNumber(str):
    """A moment that a number says: what NO_ZERO_DATE forbids is said of texts alone."""

    __slots__ = ()


def read_moment(value: Any) -> tuple[str, str]:
    """A value as `2026-01-31` or `2026-01-31 10:11:12`, with what is warned of. Raises NoMomentError.

    Month and day may be naught: who needs a day of the calendar asks `moment` for it.
    """
    if isinstance(value, int | float):
        return OfNumber(_of_number(value)), ""
    text = str(value)
    found = _of_digits(text) or _of_parts(text)
    if found is None:
        raise NoMomentError(text)
    read, end = found
    kind = "datetime" if " " in read else "date"
    return read, f"Truncated incorrect {kind} value: '{text}'" if text[end:].strip() else ""


def _of_number(value: float) -> str:
    whole, rest = divmod(Decimal(repr(value)), 1)
    number = _with_century(int(whole))
    digits = str(number)
    if number < 0 or len(digits) > len("YYYYMMDDhhmmss"):
        raise NoMomentError(written(value, DOUBLE))
    parts = digits.rjust(14, "0")
    fields = (parts[:4], parts[4:6], parts[6:8], parts[8:10], parts[10:12], parts[12:])
    fraction = f"{rest:f}".partition(".")[2] if rest else None
    # What has no time of a day is a day.
    counted = 3 if int(whole) <= 99991231 and fraction is None else 6
    read = _written(fields[:counted], fraction)
    if read is None:
        raise NoMomentError(written(value, DOUBLE))
    return read


def _with_century(number: int) -> int:
    """A number as YYYYMMDDhhmmss; below 0 where it is none."""
    if number == 0 or number >= 10000101000000:
        return number
    day, of_a_day = 1_000_000, number > 99991231
    low, high = (101 * day, 1231235959) if of_a_day else (101, 1231)
    year = 10_000 * (day if of_a_day else 1)
    if number < low:
        return -1
    if number <= (_LAST_OF_THIS - 1) * year + high:
        number += 2000 * year
    elif number < _LAST_OF_THIS * year + low:
        return -1
    elif number <= 99 * year + high:
        number += 1900 * year
    elif not of_a_day and number < 10000101:
        return -1
    return number if of_a_day else number * day


def _of_digits(text: str) -> tuple[str, int] | None:
    """A moment of digits alone, and where it ends; None: it is none."""
    found = _BARE.match(text)
    if found is None or text[found.end() : found.end() + 1] not in ("", " ") or "T" in found[1][:6]:
        return None
    digits = found[1].replace("T", "")
    year = 4 if len(digits) in (4, 8) or len(digits) >= 14 else 2
    fields = [digits[:year], *(digits[at : at + 2] for at in range(year, min(len(digits), year + 10), 2))]
    whole = len(fields) == 6
    read = _written(fields, found[2] if whole else None)
    if read is None:
        return None
    if len(digits) > year + 10:
        return read, found.start(1) + year + 10
    return read, found.end() if whole else found.end(1)


def _of_parts(text: str) -> tuple[str, int] | None:
    found = _PARTED.match(text)
    if found is None:
        return None
    read = _written([one for one in found.groups()[:6] if one is not None], found[7])
    return None if read is None else (read, found.end())


def _written(fields: Any, fraction: str | None) -> str | None:
    """The fields from the year on in one form; None: they are no moment."""
    if len(fields) < 3 or any(len(one) > 6 for one in fields[1:]):
        return None
    year, month, day, hour, minute, second = (int(fields[at]) if at < len(fields) else 0 for at in range(6))
    if len(fields[0]) == 2 and any((year, month, day, hour, minute, second)):
        year += 2000 if year < _LAST_OF_THIS else 1900
    if year > 9999 or month > 12 or day > 31 or hour > 23 or minute > 59 or second > 59:
        return None
    if month and day > calendar.monthrange(year or 4, month)[1]:
        return None
    text = f"{year:04}-{month:02}-{day:02}"
    if len(fields) == 3 and fraction is None:
        return text
    whole = f"{text} {hour:02}:{minute:02}:{second:02}"
    return _with_fraction(whole, fraction)


def _with_fraction(whole: str, fraction: str | None) -> str:
    """Digits of a second as they stand, the seventh rounded."""
    if not fraction:
        return whole
    if len(fraction) <= 6 or fraction[6] < "5":
        return f"{whole}.{fraction[:6]}"
    try:
        later = moment(f"{whole}.{fraction[:6]}") + timedelta(microseconds=1)
    except (NoMomentError, OverflowError):
        return f"{whole}.{fraction[:6]}"
    return f"{later:%Y-%m-%d %H:%M:%S.%f}".rjust(26, "0")


def read_clock(value: Any) -> tuple[str, str]:
    """A value as a time of a day or span, with what is warned of. Raises NoTimeError."""
    if isinstance(value, int | float):
        return _clock_of_number(value), ""
    text = str(value)
    told = f"Truncated incorrect time value: '{text}'"
    if len(text.strip()) >= _LONGEST_TIME and _LIKE_MOMENT.match(text):
        found = _of_digits(text) or _of_parts(text)
        if found is None:
            raise NoTimeError(text)
        return found[0], told if text[found[1] :].strip() else ""
    read = _TIME.match(text)
    if read is None:
        raise NoTimeError(text)
    days, hours, minutes, seconds = (int(one or 0) for one in read.groups()[1:5])
    if read[2] is None and read[4] is None:
        hours, minutes, seconds = hours // 10_000, hours // 100 % 100, hours % 100
    if max(minutes, seconds) > 59:
        raise NoTimeError(text)
    span, is_cut = _clock(read[1], days * 24 + hours, minutes, seconds, read[7])
    return span, told if is_cut or read[6] or text[read.end() :].strip() else ""


def _clock_of_number(value: float) -> str:
    if abs(value) >= _BARE_MOMENTS_FROM:
        try:
            return _of_number(value)
        except (NoMomentError, InvalidOperation):
            raise NoTimeError(written(value, DOUBLE)) from None
    exact = abs(Decimal(repr(value)))
    number = int(exact.to_integral_value(rounding=ROUND_FLOOR))
    if number > _HIGHEST_BARE or max(number % 100, number // 100 % 100) > 59:
        raise NoTimeError(written(value, DOUBLE))
    fraction = f"{exact % 1:f}".partition(".")[2] or None
    parts = number // 10_000, number // 100 % 100, number % 100
    return _clock("-" if value < 0 else "", *parts, fraction)[0]


def _clock(sign: str, hours: int, minutes: int, seconds: int, fraction: str | None) -> tuple[str, bool]:
    """A time in one form, and whether it was too long for one."""
    rest = Decimal(f"0.{fraction or 0}") * MICROSECONDS
    span = timedelta(hours=min(hours, 10_000), minutes=minutes, seconds=seconds,
                     microseconds=int(rest.to_integral_value()))  # fmt: skip
    is_cut = span > _HIGHEST
    whole = min(span, _HIGHEST)
    total = whole.days * 86_400 + whole.seconds
    digits = min(6, len(fraction or ""))
    tail = f".{whole.microseconds:06}"[: 1 + digits] if digits else ""
    return f"{sign}{total // 3600:02}:{total // 60 % 60:02}:{total % 60:02}{tail}", is_cut
