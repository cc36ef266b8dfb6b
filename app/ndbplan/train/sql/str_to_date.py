"""STR_TO_DATE: a text read by a form, as DATE_FORMAT writes it (manual, Date and Time Functions)."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from ndbplan.base.units import whole_number
from ndbplan.train.sql.truncating import Warn

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {
    "Y": ("year", 4), "y": ("short", 2), "m": ("month", 2), "c": ("month", 2), "d": ("day", 2),
    "e": ("day", 2), "H": ("hour", 2), "k": ("hour", 2), "h": ("twelve", 2), "I": ("twelve", 2),
    "l": ("twelve", 2),
    "i": ("minute", 2), "s": ("second", 2), "S": ("second", 2), "f": ("fraction", 6), "j": ("of_year", 3),
}  # fmt: skip
_WHOLE = {"T": "%H:%i:%S", "r": "%h:%i:%S %p"}
_OF_DATE = frozenset(("year", "short", "month", "day", "of_year"))
_TWO_THOUSANDS_BEFORE = 70
"""Years of two digits below it are of this century (manual, Two-Digit Years)."""


def str_to_date(warn: Warn, text: Any, form: Any) -> str | None:
    """A date, a time, or both, as the form has parts of them; NULL where it does not fit."""
    if text is None or form is None:
        return None
    try:
        found, rest = _read(text, form)
    except ValueError:
        warn(1411, f"Incorrect datetime value: '{text}' for function str_to_date")
        return None
    if rest.strip():
        kind = "datetime" if " " in found else "time" if ":" in found else "date"
        warn(1292, f"Truncated incorrect {kind} value: '{text}'")
    return found


def _read(text: Any, form: Any) -> tuple[str, str]:
    """What is read, and what is left of the text. Raises ValueError."""
    pattern, rest = str(form), str(text)
    for letter, parts in _WHOLE.items():
        pattern = pattern.replace(f"%{letter}", parts)
    found: dict[str, str] = {}
    at = 0
    while at < len(pattern):
        letter, at = pattern[at], at + 1
        if letter == "%" and at < len(pattern):
            letter, at = pattern[at], at + 1
            rest = _taken(letter, rest, found)
        elif letter.isspace():
            rest = rest.lstrip()
        elif rest.startswith(letter):
            rest = rest[1:]
        else:
            raise ValueError(text)
    return _written(found), rest


def _taken(letter: str, rest: str, found: dict[str, str]) -> str:
    """What stays of the text behind one part."""
    rest = rest.lstrip()
    if letter in _NUMBERS:
        name, most = _NUMBERS[letter]
        digits = re.match(rf"[0-9]{{1,{most}}}", rest)
        if digits is None:
            raise ValueError(rest)
        found[name] = digits[0]
        return rest[digits.end() :]
    if letter == "p" and rest[:2].upper() in ("AM", "PM"):
        found["half"] = rest[:2].upper()
        return rest[2:]
    words: dict[str, Sequence[str]] = {
        "M": _MONTHS, "b": [name[:3] for name in _MONTHS], "W": _DAYS, "a": [name[:3] for name in _DAYS],
    }  # fmt: skip
    for number, word in enumerate(words.get(letter, ()), start=1):
        if rest.lower().startswith(word):
            if letter in "Mb":
                found["month"] = str(number)
            return rest[len(word) :]
    raise ValueError(rest)


def _written(found: dict[str, str]) -> str:
    number = {name: read for name, value in found.items() if (read := whole_number(value)) is not None}
    hour = number.get("hour", 0)
    if "twelve" in number:
        hour = number["twelve"] % 12 + 12 * (found.get("half") == "PM")
    minute, second = number.get("minute", 0), number.get("second", 0)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(str(found))
    fraction = f".{found['fraction'].ljust(6, '0')}" if "fraction" in found else ""
    time = f"{hour:02}:{minute:02}:{second:02}{fraction}"
    day = _date(number) if _OF_DATE & number.keys() else ""
    has_time = any(name not in _OF_DATE for name in found)
    return f"{day} {time}" if day and has_time else day or time


def _date(number: dict[str, int]) -> str:
    year = number.get("year", 0)
    if "short" in number:
        year = number["short"] + (2000 if number["short"] < _TWO_THOUSANDS_BEFORE else 1900)
    if "of_year" in number and year:
        at = date(year, 1, 1) + timedelta(days=number["of_year"] - 1)
        if at.year != year:
            raise ValueError(str(number))
        return at.isoformat()
    month, day = number.get("month", 0), number.get("day", 0)
    if month > 12 or (month and day > calendar.monthrange(max(1, year), month)[1]) or day > 31:
        raise ValueError(str(number))
    return f"{year:04}-{month:02}-{day:02}"
