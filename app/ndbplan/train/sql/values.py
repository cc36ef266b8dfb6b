"""What a column makes of a value: as it stores it, an error, or, where the server is lax, a warning."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from ndbplan.ndb.charsets import charset_of
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.tables import Column
from ndbplan.train.contents import WHOLE
from ndbplan.train.sql import json_texts
from ndbplan.train.sql.json_faults import fault_of
from ndbplan.train.sql.letters_held import held
from ndbplan.train.sql.moments import NoMomentError, NoTimeError, moment, read_clock, read_moment
from ndbplan.train.sql.numbers import (
    BYTES,
    DOUBLE,
    INT,
    LONG,
    SINGLE,
    TEXT,
    Kind,
    bits,
    decimal,
    moment_kind,
    single,
)
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned
from ndbplan.train.sql.text_functions import text_of

_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}
_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?)", re.IGNORECASE)
_LONGEST = "838:59:59"
"""Of a TIME."""
_FIRST_STAMP, _LAST_STAMP = datetime(1970, 1, 1, 0, 0, 1), datetime(2038, 1, 19, 3, 14, 7)
"""Of a TIMESTAMP, in the time zone of these servers."""
_MOST_SINGLE = 3.40282e38
"""Of a FLOAT, with as many digits as it shows."""
_IN_CENTURY = 70
"""Years of two digits from here on are of the last century."""


def column_kind(column: Column) -> Kind:
    """How a column counts and is printed."""
    if column.type in (*WHOLE, "year"):
        return INT
    if column.type == "decimal":
        return decimal(column.scale) if column.scale else INT
    if column.type == "bit":
        return bits(column.length or 1)
    if column.type in ("binary", "varbinary") or column.type.endswith("blob"):
        return BYTES
    if column.type in ("enum", "set") and column.members:
        return Kind("text", members=column.members, is_set=column.type == "set")
    if column.type in ("date", "datetime", "timestamp", "time"):
        return moment_kind(column.type, column.length or 0)
    return {"float": SINGLE, "double": DOUBLE}.get(column.type, TEXT)


@dataclass
class Taking:
    """Values that one statement gives to columns; what it warns of."""

    strict: bool
    table: str = ""
    """Whose columns they are."""
    rounds_seconds: bool = True
    """Fractions of a second that a column does not hold are rounded; cut off where no column holds any."""
    warnings: list[Warned] = field(default_factory=list)
    source: str = "utf8mb4"
    """The character set that texts come in."""

    def wrong(self, code: int, sqlstate: str, text: str) -> None:
        """An error, or a warning where the server is not strict. Raises SqlError."""
        if self.strict:
            raise SqlError(code, sqlstate, text)
        self.warnings.append(Warned("Warning", code, text))

    def note(self, code: int, text: str) -> None:
        """What is told of and done all the same."""
        self.warnings.append(Warned("Note", code, text))

    def take(self, column: Column, value: Any, number: int) -> Any:
        """The value as the column stores it; `number` of the row. Raises SqlError."""
        if value is None:
            return None
        if isinstance(value, bool):
            value = int(value)
        where = f"for column '{column.name}' at row {number}"
        return _taker(column)(self, column, value, where)

    def implicit(self, column: Column) -> Any:
        """What a column holds that is not named and has no default. Raises SqlError 1364."""
        self.wrong(1364, "HY000", f"Field '{column.name}' doesn't have a default value")
        return empty_value(column)


def empty_value(column: Column) -> Any:
    """What a column of the type holds where there is nothing to hold."""
    if column_kind(column).is_number:
        return 0
    zero = {"date": "0000-00-00", "datetime": "0000-00-00 00:00:00", "timestamp": "0000-00-00 00:00:00",
            "time": "00:00:00"}  # fmt: skip
    if column.type == "enum" and column.members:
        return column.members[0]
    return zero.get(column.type, "")


def _taker(column: Column) -> Callable[[Taking, Column, Any, str], Any]:
    if column.type in WHOLE:
        return _whole
    kinds = {"decimal": _decimal, "float": _floating, "double": _floating, "date": _moment,
             "datetime": _moment, "timestamp": _moment, "time": _time, "enum": _member, "set": _members,
             "json": _json, "year": _year, "bit": _bit}  # fmt: skip
    return kinds.get(column.type, _text)


def _as_number(taking: Taking, column: Column, value: Any, where: str, what: str) -> Decimal:
    """The number that a value stands for; a text with more behind it is cut."""
    text = str(value)
    found = _NUMBER.match(text)
    if found is None or not text.strip():
        taking.wrong(1366, "HY000", f"Incorrect {what} value: '{text}' {where}")
        return Decimal(0)
    if text[found.end() :].strip():
        taking.wrong(1265, "01000", f"Data truncated {where}")
    try:
        return Decimal(found[1])
    except InvalidOperation:
        return Decimal(0)


def limits(column: Column) -> tuple[int, int]:
    """Least and highest number of a whole type."""
    bits = _BITS[column.type]
    return (0, 2**bits - 1) if column.unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _whole(taking: Taking, column: Column, value: Any, where: str) -> int:
    number: int = value
    if not isinstance(value, int):
        exact = _as_number(taking, column, value, where, "integer")
        number = int(exact.to_integral_value(rounding=ROUND_HALF_UP))
    low, high = limits(column)
    if not low <= number <= high:
        taking.wrong(1264, "22003", f"Out of range value {where}")
        number = min(max(number, low), high)
    return number


def _decimal(taking: Taking, column: Column, value: Any, where: str) -> float | int:
    exact = _as_number(taking, column, value, where, "decimal")
    digits, scale = column.length or 10, column.scale or 0
    most = (Decimal(10) ** digits - 1).scaleb(-scale)
    rounded = exact.quantize(Decimal(1).scaleb(-scale), rounding=ROUND_HALF_UP, context=LONG)
    # What was worked out in binary is not cut where its last digits are no decimal's.
    told = Decimal(f"{value:.15g}") if isinstance(value, float) else exact
    if rounded != told and abs(rounded) <= most:
        taking.note(1265, f"Data truncated {where}")
    if abs(rounded) > most or (column.unsigned and rounded < 0):
        taking.wrong(1264, "22003", f"Out of range value {where}")
        rounded = Decimal(0) if column.unsigned and rounded < 0 else most.copy_sign(rounded)
    return float(rounded) if scale else int(rounded)


def _floating(taking: Taking, column: Column, value: Any, where: str) -> float:
    text = str(value)
    found = _NUMBER.match(text)
    if found is None or text[found.end() :].strip():
        taking.wrong(1265, "01000", f"Data truncated {where}")
    number = float(found[1]) if found is not None else 0.0
    low = 0.0 if column.unsigned else -math.inf
    if column.type == "float":
        low = max(low, -_MOST_SINGLE)
    high = _MOST_SINGLE if column.type == "float" else math.inf
    if not low <= number <= high:
        taking.wrong(1264, "22003", f"Out of range value {where}")
    number = min(max(number, low), high)
    return single(number) if column.type == "float" else number


def _moment(taking: Taking, column: Column, value: Any, where: str) -> str:
    kind = "date" if column.type == "date" else "datetime"
    try:
        read, cut = read_moment(value if isinstance(value, int | float) else str(value))
        then = moment(read).replace(microsecond=0)
        if cut or (column.type == "timestamp" and not _FIRST_STAMP <= then <= _LAST_STAMP):
            raise NoMomentError(read)
    except NoMomentError:
        taking.wrong(1292, "22007", f"Incorrect {kind} value: '{text_of(value)}' {where}")
        return str(empty_value(column))
    if column.type == "date":
        if then.time() != time():
            taking.note(1265, f"Data truncated {where}")
        return f"{date(then.year, then.month, then.day):%Y-%m-%d}".zfill(10)
    carried, behind = _fraction(taking, column, read.partition(".")[2])
    then += timedelta(seconds=carried)
    return f"{then.year:04}-{then:%m-%d %H:%M:%S}{behind}"


def _fraction(taking: Taking, column: Column, typed: str) -> tuple[int, str]:
    """Whole seconds that a typed fraction rounds up to, and what stands behind the second."""
    digits = column.length or 0
    if not taking.rounds_seconds:
        return 0, ""
    exact = Decimal(f"0.{typed or 0}").quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    return int(exact), str(exact)[1:] if digits else ""


def _time(taking: Taking, column: Column, value: Any, where: str) -> str:
    said = f"Incorrect time value: '{text_of(value)}' {where}"
    try:
        read, cut = read_clock(value if isinstance(value, int | float) else str(value))
    except NoTimeError:
        taking.wrong(1292, "22007", said)
        return str(empty_value(column))
    clock, _, fraction = read.rpartition(" ")[2].partition(".")
    if cut and taking.strict:
        taking.wrong(1292, "22007", said)
    elif cut and not clock.endswith(_LONGEST):
        taking.wrong(1265, "01000", f"Data truncated {where}")
    elif cut:
        taking.wrong(1264, "22003", f"Out of range value {where}")
    carried, behind = _fraction(taking, column, fraction)
    hours, minutes, seconds = (int(one) for one in clock.removeprefix("-").split(":"))
    minute, second = divmod((hours * 60 + minutes) * 60 + seconds + carried, 60)
    return f"{'-' * clock.startswith('-')}{minute // 60:02}:{minute % 60:02}:{second:02}{behind}"


def _year(taking: Taking, column: Column, value: Any, where: str) -> int:
    number = int(_as_number(taking, column, value, where, "integer"))
    if 0 < number < 100 or (number == 0 and isinstance(value, str)):
        number += 1900 if number >= _IN_CENTURY else 2000
    if number and not 1901 <= number <= 2155:
        taking.wrong(1264, "22003", f"Out of range value {where}")
        return 0
    return number


def _bit(taking: Taking, column: Column, value: Any, where: str) -> int:
    # All 64 bits are a number below 0 where numbers have a sign, and such are all that SQLite has.
    number = int(_as_number(taking, column, value, where, "integer")) % 2**64
    if number >= 2 ** (column.length or 1):
        taking.wrong(1406, "22001", f"Data too long {where}")
        return int(2 ** (column.length or 1) - 1)
    if number >= 2**63:
        raise NotSimulated("values of BIT(64) whose first bit is set are not simulated")
    return number


def _member(taking: Taking, column: Column, value: Any, where: str) -> str:
    by_name = {one.casefold(): one for one in column.members}
    text = str(value).casefold()
    if text in by_name or not column.members:
        return by_name.get(text, str(value))
    if isinstance(value, int) and 0 < value <= len(column.members):
        return column.members[value - 1]
    taking.wrong(1265, "01000", f"Data truncated {where}")
    return ""


def _members(taking: Taking, column: Column, value: Any, where: str) -> str:
    if isinstance(value, int) and column.members:
        # A number has a bit for each member.
        if not 0 <= value < 1 << len(column.members):
            taking.wrong(1265, "01000", f"Data truncated {where}")
        return ",".join(one for bit, one in enumerate(column.members) if value >> bit & 1)
    given = {one.casefold() for one in str(value).split(",") if one}
    known = [one for one in column.members if one.casefold() in given]
    if column.members and len(known) < len(given):
        taking.wrong(1265, "01000", f"Data truncated {where}")
    return ",".join(known) if column.members else str(value)


def _json(taking: Taking, column: Column, value: Any, where: str) -> str:
    fault = fault_of(str(value))
    if fault is not None:
        at = f"position {fault[1]} in value for column '{taking.table}.{column.name}'."
        raise SqlError(3140, "22032", f'Invalid JSON text: "{fault[0]}" at {at}')
    return json_texts.written(json.loads(str(value)))


def _text(taking: Taking, column: Column, value: Any, where: str) -> str:
    text = text_of(value)
    kind = COLUMN_TYPES[column.type]
    if kind.is_text and column.collation is not None:
        text, told = held(text, charset_of(column.collation), taking.source)
        if told:
            taking.wrong(1366, "HY000", f"Incorrect string value: '{told}' {where}")
    if column.type in ("char", "varchar", "binary", "varbinary"):
        most = column.length if column.length is not None else 1
        cut = text.rstrip(" ") if column.type in ("char", "varchar") else text
        length = len(cut) if kind.is_text else len(cut.encode())
        if length > most:
            if taking.strict:
                raise SqlError(1406, "22001", f"Data too long {where}")
            taking.wrong(1265, "01000", f"Data truncated {where}")
            text = text[:most]
        if column.type == "char":
            text = text.rstrip(" ")
        if column.type == "varchar" and len(text) > most:
            # Blanks at the end are left out, however strict the server is.
            taking.note(1265, f"Data truncated {where}")
            text = text[:most]
        if column.type == "binary":
            # Bytes are compared to their end, so those that are filled up count.
            text += "\0" * (most - len(text.encode()))
    return text
