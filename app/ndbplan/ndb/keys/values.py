"""Values of key columns as NDB stores them: numbers, decimals, dates and times, enumerations, strings.

Values come as Python objects or as text; strings and binary values also as `0x` followed by hex digits of the
stored bytes. Sources: decimal2bin, my_*_packed_to_binary of the SQL layer, NdbSqlUtil pack_* functions.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import struct
from collections.abc import Callable
from decimal import Context, Decimal, InvalidOperation
from typing import TYPE_CHECKING

from ndbplan.base.errors import UserError
from ndbplan.ndb.collations import NotInCharsetError, character_count, encode_text
from ndbplan.ndb.columns import DECIMAL_BYTES, KeyEncoding, decimal_bytes, enum_bytes, set_bytes
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion

if TYPE_CHECKING:
    from ndbplan.ndb.keys.column import KeyColumn

_DIGITS = Context(prec=200)
LAST_TIMESTAMP = 0x7FFFFFFF
"""Seconds of the last TIMESTAMP, 2038-01-19 03:14:07 UTC (reference manual, date and time types)."""
_DATE = re.compile(r"([0-9]{1,4})-([0-9]{1,2})-([0-9]{1,2})", re.ASCII)
_CLOCK = re.compile(r"(-)?([0-9]{1,3}):([0-9]{1,2}):([0-9]{1,2})(?:\.([0-9]*))?", re.ASCII)
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
_REAL = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]+)", re.ASCII)
_EXPONENT = re.compile(r"[eE][+-]?[0-9]{1,4}", re.ASCII)
_BITS = re.compile(r"[bB]'([01]*)'|0b([01]+)")
_HEX = re.compile(r"0[xX]((?:[0-9a-fA-F]{2})*)")


class KeyValueError(UserError, ValueError):
    """A value that its key column cannot hold."""


def _refused(column: KeyColumn, value: object, why: str) -> KeyValueError:
    return KeyValueError(
        f"'{str(value)[:40]}' is not a value of {column.name} ({column.type}): {why}",
        where=column.name,
        fix="correct the key",
    )


def stored_string(column: KeyColumn, value: object, version: NdbVersion) -> bytes:
    """Bytes of a CHAR or VARCHAR in the column's character set, as stored. Raises KeyValueError."""
    size = column.byte_length(version)
    rule = column.rule(version)
    assert rule is not None
    _refuse_null(column, value)
    data = _given_bytes(value)
    if data is None:
        try:
            data = encode_text(str(value), rule.charset)
        except NotInCharsetError as error:
            raise _refused(column, value, error.what) from None
    most = column.size
    count = character_count(data, rule.charset)
    if count > most:
        # Blanks that are too many are cut off, whatever the SQL mode; anything else is refused.
        blank = encode_text(" ", rule.charset)
        while count > most and data.endswith(blank):
            data, count = data[: -len(blank)], count - 1
    if count > most or len(data) > size:
        raise _refused(column, value, f"{count} characters, the column holds {most}")
    return data


def _refuse_null(column: KeyColumn, value: object) -> None:
    if value is None:
        raise _refused(column, "NULL", "no column of a key can be NULL")


def stored_binary(column: KeyColumn, value: object) -> bytes:
    """Bytes of a BINARY or VARBINARY. Raises KeyValueError unless given as bytes or as 0x hex."""
    _refuse_null(column, value)
    data = _given_bytes(value)
    if data is None:
        raise _refused(column, value, "binary values are written as 0x and hex digits")
    if len(data) > column.size:
        raise _refused(column, value, f"{len(data)} bytes, the column holds {column.size}")
    return data


def _given_bytes(value: object) -> bytes | None:
    if isinstance(value, bytes):
        return value
    match = _HEX.fullmatch(value) if isinstance(value, str) else None
    return bytes.fromhex(match[1]) if match else None


def encode(column: KeyColumn, value: object, version: NdbVersion) -> bytes:
    """Stored bytes of a value of a fixed-size type. Raises KeyValueError."""
    _refuse_null(column, value)
    return _ENCODERS[column.encoding](column, value, version)


def _year(column: KeyColumn, value: object, _version: NdbVersion) -> bytes:
    year = _number(column, value)
    if year and not 1901 <= year <= 2155:
        raise _refused(column, value, "a year from 1901 to 2155, or 0")
    return bytes([year - 1900 if year else 0])


def _binary(column: KeyColumn, value: object, _version: NdbVersion) -> bytes:
    return stored_binary(column, value).ljust(column.size, b"\0")


def _real(column: KeyColumn, value: object, _version: NdbVersion) -> bytes:
    try:
        number = float(_real_text(column, value, exponent=True))
        stored = struct.pack("<f" if column.encoding is KeyEncoding.FLOAT else "<d", number)
    except (ValueError, OverflowError):
        raise _refused(column, value, "not a number") from None
    if not math.isfinite(number):
        raise _refused(column, value, "not a number")
    return stored


def _number(column: KeyColumn, value: object) -> int:
    if isinstance(value, int):
        return int(value)
    text = str(value).strip()
    if not _WHOLE.fullmatch(text):
        raise _refused(column, value, "not a whole number")
    return int(text)


def _real_text(column: KeyColumn, value: object, *, exponent: bool) -> str:
    """The text of a number with a fraction, in the digits that SQL knows."""
    text = str(value).strip(" ")
    match = _REAL.match(text)
    rest = text[match.end() :] if match else text
    if match is None or (rest and not (exponent and _EXPONENT.fullmatch(rest))):
        raise _refused(column, value, "not a number")
    return text


def _integer(column: KeyColumn, value: object, _version: NdbVersion) -> bytes:
    number, size = _number(column, value), column.kind.integer_bytes
    try:
        return number.to_bytes(size, "little", signed=not column.unsigned)
    except OverflowError:
        low = 0 if column.unsigned else -(1 << (8 * size - 1))
        raise _refused(column, value, f"outside {low} … {low + (1 << 8 * size) - 1}") from None


def _bit(column: KeyColumn, value: object, _version: NdbVersion) -> bytes:
    bits = column.size or 1
    data = _given_bytes(value)
    match = _BITS.fullmatch(value) if isinstance(value, str) else None
    if match:
        number = int(match[1] or match[2] or "0", 2)
    else:
        number = int.from_bytes(data, "big") if data is not None else _number(column, value)
    if not 0 <= number < 1 << bits:
        raise _refused(column, value, f"more than {bits} bits")
    return number.to_bytes((bits + 31) // 32 * 4, "little")


def _member(column: KeyColumn, value: object, _version: NdbVersion) -> bytes:
    count, is_enum = column.size, column.encoding is KeyEncoding.ENUM
    size = enum_bytes(count) if is_enum else set_bytes(count)
    text = str(value)
    # Names compare as written, and without regard to case unless the collation tells cases apart.
    exact = (column.collation or "").endswith(("_bin", "_cs"))
    names = {} if exact else {name.casefold(): i for i, name in enumerate(column.members)}
    written = {name: i for i, name in enumerate(column.members)}

    def member(name: str) -> int | None:
        return written.get(name, names.get(name.casefold()))

    if is_enum:
        chosen = member(text)
        if chosen is not None:
            return (chosen + 1).to_bytes(size, "little")
        number = _number(column, value)
        if not 0 <= number <= count:
            raise _refused(column, value, f"the enumeration has {count} members")
        return number.to_bytes(size, "little")
    bits = [member(part) for part in text.split(",") if part]
    if None not in bits:
        return sum(1 << bit for bit in set(bits) if bit is not None).to_bytes(size, "little")
    number = _number(column, value)
    if not 0 <= number < 1 << count:
        raise _refused(column, value, f"the set has {count} members")
    return number.to_bytes(size, "little")


def _decimal(column: KeyColumn, value: object, _version: NdbVersion) -> bytes:
    precision, scale = column.size, column.scale or 0
    try:
        number = Decimal(_real_text(column, value, exponent=not isinstance(value, str)))
    except InvalidOperation:
        raise _refused(column, value, "not a decimal number") from None
    # All 65 digits count; the usual context would round to 28.
    scaled = number.copy_abs().scaleb(scale, _DIGITS)
    if scaled != scaled.to_integral_value():
        raise _refused(column, value, f"more than {scale} digits behind the point")
    if column.unsigned and number < 0:
        raise _refused(column, value, "the column is UNSIGNED")
    if scaled >= 10**precision:
        raise _refused(column, value, f"more than {precision - scale} digits before the point")
    digits = str(int(scaled)).rjust(precision, "0")
    whole, fraction = digits[: precision - scale], digits[precision - scale :]
    encoded = bytearray()
    first = len(whole) % 9
    groups = ([whole[:first]] if first else []) + [whole[i : i + 9] for i in range(first, len(whole), 9)]
    groups += [fraction[i : i + 9] for i in range(0, len(fraction), 9)]
    for group in groups:
        encoded += int(group).to_bytes(DECIMAL_BYTES[len(group)], "big")
    assert len(encoded) == decimal_bytes(precision, scale)
    if number < 0 and int(scaled):
        encoded = bytearray(byte ^ 0xFF for byte in encoded)
    encoded[0] ^= 0x80
    return bytes(encoded)


def _day(column: KeyColumn, value: object, _version: NdbVersion) -> bytes:
    year, month, day = _date(column, value)
    return (year << 9 | month << 5 | day).to_bytes(3, "little")


def _date(column: KeyColumn, value: object) -> tuple[int, int, int]:
    if isinstance(value, dt.date):
        return value.year, value.month, value.day
    match = _DATE.fullmatch(str(value).strip())
    if match is None:
        raise _refused(column, value, "write YYYY-MM-DD")
    return _checked_date(column, value, *(int(part) for part in match.groups()))


def _checked_date(column: KeyColumn, value: object, *date: int) -> tuple[int, int, int]:
    year, month, day = date
    if month > 12 or day > 31:
        raise _refused(column, value, "no such month or day")
    return year, month, day


def _moment(column: KeyColumn, value: object) -> tuple[int, int, int, int, int, int, int]:
    """Year, month, day, hour, minute, second, microsecond."""
    if isinstance(value, dt.datetime):
        return (
            value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond
        )  # fmt: skip
    if isinstance(value, dt.date):
        return value.year, value.month, value.day, 0, 0, 0, 0
    date_text, _, clock_text = str(value).strip().replace("T", " ").partition(" ")
    year, month, day = _date(column, date_text)
    if not clock_text:
        return year, month, day, 0, 0, 0, 0
    match = _CLOCK.fullmatch(clock_text.strip())
    if match is None or match[1] or int(match[2]) > 23 or int(match[3]) > 59 or int(match[4]) > 59:
        raise _refused(column, value, "write YYYY-MM-DD HH:MM:SS")
    micro = _microseconds(column, value, match[5])
    return year, month, day, int(match[2]), int(match[3]), int(match[4]), micro


def _microseconds(column: KeyColumn, value: object, digits: str | None) -> int:
    """Of the digits behind the point, which may be none."""
    text = digits or ""
    if text[6:].strip("0"):
        raise _refused(column, value, "more than 6 digits of a second")
    return int(text[:6].ljust(6, "0"))


def _fraction(column: KeyColumn, value: object, microseconds: int) -> bytes:
    """Fraction of a second in 0 to 3 bytes, high byte first: hundredths, ten-thousandths, millionths."""
    digits = column.size
    size = (digits + 1) // 2
    unit = 10 ** (6 - digits)
    if microseconds % unit:
        raise _refused(column, value, f"more than {digits} digits of a second")
    units: int = microseconds // 10 ** (6 - 2 * size)
    return units.to_bytes(size, "big")


def _datetime(column: KeyColumn, value: object, version: NdbVersion) -> bytes:
    year, month, day, hour, minute, second, micro = moment = _moment(column, value)
    if not features(version).fractional_seconds:
        # Up to 7.2 decimal digits as one number, low byte first.
        number = 0
        for part in moment[:6]:
            number = number * 100 + part
        return number.to_bytes(8, "little")
    packed = ((year * 13 + month) << 5 | day) << 17 | hour << 12 | minute << 6 | second
    return (1 << 39 | packed).to_bytes(5, "big") + _fraction(column, value, micro)


def _timestamp(column: KeyColumn, value: object, version: NdbVersion) -> bytes:
    moment = _moment(column, value)
    seconds = _seconds(column, value, moment)
    if not features(version).fractional_seconds:
        return seconds.to_bytes(4, "little")
    return seconds.to_bytes(4, "big") + _fraction(column, value, moment[6])


def _seconds(column: KeyColumn, value: object, moment: tuple[int, ...]) -> int:
    """Seconds since 1970 of a time stamp written in UTC; 0 for the zero date."""
    if moment[:3] == (0, 0, 0):
        return 0
    year, month, day, hour, minute, second = moment[:6]
    try:
        seconds = int(dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC).timestamp())
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= LAST_TIMESTAMP:
        raise _refused(column, value, "a time stamp lies between 1970 and 2038-01-19 03:14:07, in UTC")
    return seconds


def _clock(column: KeyColumn, value: object) -> tuple[bool, int, int, int, int]:
    """Negative, hour, minute, second, microsecond of a TIME."""
    if isinstance(value, dt.timedelta):
        negative, rest = value < dt.timedelta(0), abs(value)
        minutes, second = divmod(rest.days * 86400 + rest.seconds, 60)
        return negative, minutes // 60, minutes % 60, second, rest.microseconds
    if isinstance(value, dt.time):
        return False, value.hour, value.minute, value.second, value.microsecond
    match = _CLOCK.fullmatch(str(value).strip())
    if match is None or int(match[2]) > 838 or int(match[3]) > 59 or int(match[4]) > 59:
        raise _refused(column, value, "write HH:MM:SS up to 838:59:59")
    micro = _microseconds(column, value, match[5])
    return match[1] == "-", int(match[2]), int(match[3]), int(match[4]), micro


def _time(column: KeyColumn, value: object, version: NdbVersion) -> bytes:
    negative, hour, minute, second, micro = _clock(column, value)
    if not features(version).fractional_seconds:
        number = hour * 10000 + minute * 100 + second
        return (-number if negative else number).to_bytes(3, "little", signed=True)
    fraction = _fraction(column, value, micro)
    bits = 8 * len(fraction)
    packed = (hour << 12 | minute << 6 | second) << bits | int.from_bytes(fraction, "big")
    middle: int = 1 << (23 + bits)
    signed: int = middle - packed if negative else middle + packed
    return signed.to_bytes(3 + len(fraction), "big")


_ENCODERS: dict[KeyEncoding, Callable[[KeyColumn, object, NdbVersion], bytes]] = {
    KeyEncoding.INTEGER: _integer,
    KeyEncoding.YEAR: _year,
    KeyEncoding.FLOAT: _real,
    KeyEncoding.DOUBLE: _real,
    KeyEncoding.DECIMAL: _decimal,
    KeyEncoding.BIT: _bit,
    KeyEncoding.DATE: _day,
    KeyEncoding.TIME: _time,
    KeyEncoding.DATETIME: _datetime,
    KeyEncoding.TIMESTAMP: _timestamp,
    KeyEncoding.BINARY: _binary,
    KeyEncoding.ENUM: _member,
    KeyEncoding.SET: _member,
}
"""By the encoding; strings and VARBINARY are written in `ndb.keys.hash`, as they have a length or weights."""
