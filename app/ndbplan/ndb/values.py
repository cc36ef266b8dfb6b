"""Parameter values as ndb_mgmd reads them from config.ini, and as it would refuse them."""

from __future__ import annotations

import re
from functools import lru_cache

from ndbplan.base.units import GIB, KIB, MIB, format_ndb_size
from ndbplan.ndb.features import features
from ndbplan.ndb.parameters import Parameter
from ndbplan.ndb.version import NdbVersion

_SUFFIXES = {"K": KIB, "M": MIB, "G": GIB}
_TRUE = ("1", "Y", "y", "Yes", "YES", "yes", "True", "TRUE", "true")
_FALSE = ("0", "N", "n", "No", "NO", "no", "False", "FALSE", "false")
_INTEGER = re.compile(r"([+-]?)([0-9]+)(.*)$", re.S)
_CPU_ID_MAX = 65535
_LONGEST_LINE = 1023


class BadValueError(ValueError):
    """A text the product refuses as the value of a parameter; the message says why and what is allowed."""


def parse_integer(text: str, version: NdbVersion) -> int:
    """A whole number with K, M or G (powers of 1024) behind it. Raises BadValueError.

    Real management servers of 7.4 also take text after a suffix (`80MB`) and a blank before it, those of 8.4
    neither; no version takes T, fractions, m or g.
    """
    match = _INTEGER.match(text.strip())
    if match is None:
        raise BadValueError(f"'{text[:40]}' is not a whole number")
    digits, rest = match[2], match[3]
    base = 10
    lenient = features(version).lenient_numbers
    if lenient and digits.startswith("0"):
        # Up to 7.6 the program lets the text choose the base, as C does: 0x is hexadecimal, 0 octal.
        hexadecimal = re.match(r"[xX]([0-9a-fA-F]+)(.*)$", rest, re.S) if digits == "0" else None
        if hexadecimal:
            base, digits, rest = 16, hexadecimal[1], hexadecimal[2]
        else:
            octal = re.match(r"[0-7]*", digits)
            end = octal.end() if octal else 0
            base, digits, rest = 8, digits[:end], digits[end:] + rest
    number = int(digits, base) * (-1 if match[1] == "-" else 1)
    # Up to 7.6 only the first letter behind the number counts, and blanks before it do not.
    suffix = rest.strip()[:1] if lenient else rest
    suffix = "K" if suffix == "k" else suffix
    if rest == "":
        return _held(number, text)
    if suffix in _SUFFIXES:
        return _held(number * _SUFFIXES[suffix], text)
    raise BadValueError(
        f"'{text[:40]}' is not a whole number with K, M or G; NDB knows no other suffix and no fraction"
    )


def _held(number: int, text: str) -> int:
    if abs(number) >= 2**64:
        raise BadValueError(f"'{text[:40]}' is larger than any value NDB can hold (2^64 - 1)")
    return number


def parse_value(parameter: Parameter, text: str, version: NdbVersion) -> int | str:
    """The value of a parameter from its text in a file, range included. Raises BadValueError."""
    if parameter.type == "bool":
        return _parse_flag(parameter, text)
    if parameter.is_number:
        number = parse_integer(text, version)
        check_range(parameter, number)
        return number
    check_text(parameter, text)
    return text


def _parse_flag(parameter: Parameter, text: str) -> int:
    if text.strip() in _TRUE:
        return 1
    if text.strip() in _FALSE:
        return 0
    raise BadValueError(f"'{text[:40]}' is not a value for the switch {parameter.name}; write 1 or 0")


def check_range(parameter: Parameter, number: int) -> None:
    """Raises BadValueError when the number is outside the range of the parameter."""
    low, high = parameter.minimum, parameter.maximum
    if parameter.type == "bool":
        low, high = 0, 1
    if parameter.name.lower() == "nooffragmentlogparts" and str(number) not in parameter.allowed_values:
        raise BadValueError(f"{number} is not allowed; use one of {', '.join(parameter.allowed_values)}")
    if (low is not None and number < low) or (high is not None and number > high):
        shown = (lambda n: format_ndb_size(n)) if parameter.unit.startswith("bytes") else str
        raise BadValueError(
            f"{shown(number)} is outside the range {shown(low or 0)} to {shown(high) if high else 'any'}"
        )


def check_text(parameter: Parameter, text: str) -> None:
    """Raises BadValueError when a text parameter cannot have this value."""
    if parameter.type == "enum":
        if text.lower() not in {value.lower() for value in parameter.allowed_values}:
            raise BadValueError(f"'{text[:40]}' is not one of {', '.join(parameter.allowed_values)}")
    elif parameter.type == "bitmask":
        parse_cpu_list(text)


def parse_cpu_list(text: str) -> tuple[int, ...]:
    """CPU numbers of `0-3,8`. Raises BadValueError."""
    if not text.strip():
        raise BadValueError("the list of CPUs is empty; write for example 0-3,8")
    cpus: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]+)\s*(?:-\s*([0-9]+)\s*)?", part)
        if match is None:
            raise BadValueError(f"'{text[:40]}' is not a list of CPUs; write for example 0-3,8")
        first, last = int(match[1]), int(match[2] or match[1])
        if max(first, last) > _CPU_ID_MAX:
            raise BadValueError(f"CPU {max(first, last)} is too large; the highest is {_CPU_ID_MAX}")
        if last < first:
            raise BadValueError(f"'{part.strip()[:40]}' runs backwards; write the lower CPU first")
        cpus.extend(range(first, last + 1))
    return tuple(cpus)


def format_value(parameter: Parameter | None, value: int | str) -> str:
    """A value as config.ini shows it: sizes with K, M, G where that is exact."""
    if isinstance(value, int) and parameter is not None and parameter.unit.startswith("bytes"):
        return format_ndb_size(value)
    return str(value)


def unwritable(name: str, text: str) -> str:
    """Why a value of a parameter cannot stand in config.ini; nothing when it can."""
    if "#" in text:
        return "ndb_mgmd takes # and what follows for a comment"
    if text != text.strip(" \t\r\n"):
        return "ndb_mgmd cuts blanks at the ends off"
    if len(name) + 1 + len(text.encode()) > _LONGEST_LINE:
        return "ndb_mgmd reads lines of 1023 characters at most"
    return ""


@lru_cache(maxsize=4096)
def refusal(parameter: Parameter, value: int | str, version: NdbVersion) -> str:
    """Why ndb_mgmd of a version refuses a value of a parameter that it knows; nothing when it takes it."""
    try:
        if parameter.is_number or parameter.type == "bool":
            check_range(parameter, value if isinstance(value, int) else parse_integer(value, version))
        else:
            check_text(parameter, str(value))
            reason = unwritable(parameter.name, str(value))
            if reason:
                return f"cannot stand in config.ini: {reason}"
    except BadValueError as bad:
        return str(bad)
    return ""
