"""What SQL nodes refuse of DEFAULT and ON UPDATE: values that the type of their column does not hold.

for why in refused_values(column, version, nullable=True, strict=True):
    print(why)                                  # DEFAULT 300, which a TINYINT does not hold

Only what every server refuses is named: texts that may be dates or not are left to it.
Source: manual 5.5 to 8.4, data type default values (error 1067), automatic initialization and updating for
TIMESTAMP and DATETIME (errors 1067, 1293 and 1294), server SQL modes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from fractions import Fraction

from ndbplan.ndb.columns import COLUMN_TYPES, Length
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column

_NOW = re.compile(r"(?:CURRENT_TIMESTAMP|LOCALTIMESTAMP|LOCALTIME|NOW(?=\())(?:\(([0-9]?)\))?", re.IGNORECASE)
"""Without blanks."""
_NUMBER = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]{1,3})?")
_QUOTED = re.compile(r"""'(?:[^'\\]|''|\\.)*+'|"(?:[^"\\]|""|\\.)*+\"""", re.DOTALL)
_PREFIXED = re.compile(r"""0[xX][0-9A-Fa-f]++|0b[01]++|[A-Za-z_][A-Za-z0-9_]*+ ?['"].*+""", re.DOTALL)
"""Values of other kinds, which are not judged: x'41', b'1', _utf8mb4'a', DATE '2024-02-29'."""
_SWITCHES = {"TRUE": "1", "FALSE": "0"}
_DAY = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[^0-9].*+)?", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "Z": "\x1a"}
_MOMENTS = ("timestamp", "datetime")
_DAYS = ("date", *_MOMENTS)


def refused_values(column: Column, version: NdbVersion, *, nullable: bool, strict: bool) -> Iterator[str]:
    """Why a version takes not what a column says of its values; nothing where it does.

    `nullable`: it may be NULL, and is in no primary key. `strict`: the SQL mode is that of the release, not
    one that somebody chose.
    """
    if column.default is not None and not column.default.startswith("("):
        said = column.default.strip()
        if why := _of_default(column, said, version, nullable=nullable, strict=strict):
            yield f"DEFAULT {said[:40]}{why}"
    if column.on_update is not None:
        now = _now(column.on_update)
        if now is None or not _takes_now(column, now, version):
            yield f"ON UPDATE {column.on_update[:40]} of {_declared(column)}"


def refused_moments(columns: tuple[Column, ...], version: NdbVersion, *, strict: bool) -> Iterator[Column]:
    """TIMESTAMP columns that a version refuses for what other columns say of theirs.

    Before 5.6.5 one column at most may have the current time. Where NULL is not said to be possible, a
    column without DEFAULT gets the current time if it is the first of its table, and else zero, which
    strict SQL modes refuse: those of 5.7, as from 8.0 on such a column has no DEFAULT.
    """
    stamps = [column for column in columns if column.type == "timestamp"]
    known = features(version)
    if not known.fractional_seconds:
        yield from [one for one in stamps if _has_now(one)][1:]
    if known.timestamp_nullable or not (strict and known.zero_dates_refused):
        return
    for place, column in enumerate(stamps):
        gets_now = place == 0 and column.on_update is None
        if not column.nullable and column.default is None and not gets_now:
            yield column


def _has_now(column: Column) -> bool:
    return column.on_update is not None or _now(column.default or "") is not None


def _now(text: str) -> re.Match[str] | None:
    """Whether a text is the current time, with its digits behind the second."""
    return _NOW.fullmatch("".join(text.split()))


def _takes_now(column: Column, now: re.Match[str], version: NdbVersion) -> bool:
    """Whether a column may have the current time, in as many digits as its own."""
    if column.type not in _MOMENTS or int(now[1] or 0) != (column.length or 0):
        return False
    return column.type == "timestamp" or features(version).fractional_seconds


def _declared(column: Column) -> str:
    length = f"({column.length})" if column.length and column.type in _MOMENTS else ""
    return f"{column.type.upper()}{length}"


def _of_default(column: Column, said: str, version: NdbVersion, *, nullable: bool, strict: bool) -> str:
    """What is wrong with a DEFAULT, behind its text; nothing: it is taken."""
    if said.upper() == "NULL":
        return "" if nullable else " of a column that is NOT NULL"
    if now := _now(said):
        return "" if _takes_now(column, now, version) else f" of {_declared(column)}"
    if _PREFIXED.fullmatch(said) or COLUMN_TYPES[column.type].is_blob:
        return ""
    said = _SWITCHES.get(said.upper(), said)
    quoted = _QUOTED.fullmatch(said)
    if quoted is None and not _NUMBER.fullmatch(said):
        return ": expressions stand in parentheses"
    value = _unquoted(said) if quoted else said
    holds = _HOLDS.get(column.type) or (_whole if COLUMN_TYPES[column.type].integer_bytes else _anything)
    if not holds(column, value):
        return f", which {column.type.upper()} does not hold"
    if column.type in _DAYS and strict and features(version).zero_dates_refused and _is_zero(value):
        return ": the SQL mode of the release refuses dates with zeros"
    return ""


def _unquoted(text: str) -> str:
    """A text as it is stored."""
    inside = text[1:-1].replace(text[0] * 2, text[0])
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), inside, flags=re.DOTALL)


def _number(value: str) -> Fraction | None:
    stripped = value.strip()
    return Fraction(stripped) if _NUMBER.fullmatch(stripped) else None


def _rounded(number: Fraction) -> int:
    """Halves go away from zero."""
    whole = int(abs(number) + Fraction(1, 2))
    return whole if number >= 0 else -whole


def _anything(_column: Column, _value: str) -> bool:
    return True


def _whole(column: Column, value: str) -> bool:
    number = _number(value)
    if number is None:
        return False
    count = 1 << 8 * COLUMN_TYPES[column.type].integer_bytes
    low = 0 if column.unsigned else -count // 2
    return low <= _rounded(number) < low + count


def _fraction(column: Column, value: str) -> bool:
    number = _number(value)
    return number is not None and not (column.unsigned and number < 0)


def _decimal(column: Column, value: str) -> bool:
    number = _number(value)
    if number is None or (column.unsigned and number < 0):
        return False
    scale = column.scale or 0
    most: int = 10 ** (column.length or COLUMN_TYPES["decimal"].default_length or 0)
    return abs(_rounded(number * 10**scale)) < most


def _text(column: Column, value: str) -> bool:
    """Blanks at the end that find no place are no loss; how many bytes other letters take is not known."""
    kind = COLUMN_TYPES[column.type]
    length = column.length if column.length is not None else kind.default_length
    if length is None or (kind.length is Length.BYTES and not value.isascii()):
        return True
    return len(value.rstrip(" ")) <= length


def _key(column: Column, member: str) -> str:
    exact = (column.collation or "").endswith(("_bin", "_cs"))
    trimmed = member.rstrip(" ")
    return trimmed if exact else trimmed.casefold()


def _member(column: Column, value: str) -> bool:
    return not column.members or _key(column, value) in {_key(column, one) for one in column.members}


def _some_members(column: Column, value: str) -> bool:
    return not value or all(_member(column, one) for one in value.split(","))


def _year(_column: Column, value: str) -> bool:
    number = _number(value)
    return number is not None and (0 <= number <= 99 or 1901 <= number <= 2155)


def _day(column: Column, value: str) -> bool:
    """No day of the calendar, or a moment that no TIMESTAMP has; what is written otherwise is not judged."""
    if not any(letter.isdigit() for letter in value):
        return False
    found = _DAY.fullmatch(value.strip())
    if found is None or _is_zero(value):
        return True
    try:
        year, month, day_of_month = map(int, found.groups())
        # A leap year stands for the year 0, which servers have.
        date(year or 4, month, day_of_month)
    except ValueError:
        return False
    return column.type != "timestamp" or 1969 <= year <= 2038


def _is_zero(value: str) -> bool:
    """Whether a year, month or day is zero."""
    number = _number(value)
    found = _DAY.fullmatch(value.strip())
    return number == 0 if found is None else "0" in {part.lstrip("0") or "0" for part in found.groups()[1:]}


_HOLDS: dict[str, Callable[[Column, str], bool]] = {
    "float": _fraction, "double": _fraction, "decimal": _decimal, "year": _year,
    "char": _text, "varchar": _text, "binary": _text, "varbinary": _text,
    "enum": _member, "set": _some_members,
    "date": _day, "datetime": _day, "timestamp": _day,
}  # fmt: skip
