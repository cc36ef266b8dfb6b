"""Parameter values as ndb_mgmd reads them from config.ini, and as it would refuse them."""

from __future__ import annotations

import re
from functools import lru_cache

from ndbplan.base.errors import UserError
from ndbplan.base.units import GIB, KIB, MIB, format_ndb_size
from ndbplan.ndb.features import features
from ndbplan.ndb.parameters import Parameter
from ndbplan.ndb.version import NdbVersion

_SUFFIXES = {"K": KIB, "M": MIB, "G": GIB}
_TRUE = ("1", "Y", "y", "Yes", "YES", "yes", "True", "TRUE", "true")
_FALSE = ("0", "N", "n", "No", "NO", "no", "False", "FALSE", "false")
_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|(0[0-7]*)|([1-9][0-9]*))(.*)$", re.S)
_AS_PEOPLE_READ = re.compile(r"([+-]?)([0-9]+)(?![xX0-9])[\s\"]*([kKMG]?)")
_SUFFIX_ALONE = re.compile(r"[kKMG]")
_BLANKS = " \t\r\n"
_WHOLE, _SMALLER = "write a whole number, such as 512 or 64M", "write a smaller number"
_MOST_DIGITS = 100
"""More digits in a number are refused before they are counted: judgement."""
_CPU = re.compile(r"\s*+\+?([0-9]{1,100})")
CPU_ID_MAX = 65535
"""Highest CPU of LockExecuteThreadToCPU."""
_MOST_CPUS = 65536
_LONGEST_LINE = 1023
"""CPUs of one range, against endless lists (judgement), and bytes of a line that ndb_mgmd reads (NDB source,
InitConfigFileParser)."""


class BadValueError(ValueError):
    """A text the product refuses as the value of a parameter; the message says why and what is allowed.

    `fix` says what to write instead; a message that holds it already says it once.
    """

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.what, _, after = message.partition("; ") if not fix else (message, "", "")
        self.fix = fix or after or "write what is allowed, or leave it out"

    def told(self) -> UserError:
        """The same for the person who typed the value: what, and what to do about it."""
        return UserError(self.what, fix=self.fix)


def parse_integer(text: str, version: NdbVersion) -> int:
    """A whole number with K, M or G (powers of 1024) behind it. Raises BadValueError.

    The text chooses the base, as in C: 0x is hexadecimal, a leading 0 octal (strtoll with base 0 in
    InitConfigFileParser::convertStringToUint64; servers of 7.4.10 and 8.4.8 read `0100M` as 64M and refuse
    `08`). Servers of 7.4 also take text after a suffix (`80MB`), blanks before it and quotes around it, a
    suffix alone (0), and shift in 64 bits: `17179869185G` is 1G. Whether later ones refuse such a product or
    let it wrap, too, nobody has seen; it is refused here. No version takes T, fractions, m or g.
    """
    stripped, lenient = text.strip(_BLANKS), features(version).lenient_numbers
    match = _INTEGER.match(f"0{stripped}" if lenient and _SUFFIX_ALONE.match(stripped) else stripped)
    if match is None:
        raise BadValueError(f"'{text[:40]}' is not a whole number", _WHOLE)
    sign, hexadecimal, octal, decimal, rest = match.groups()
    if len(decimal or "") > _MOST_DIGITS:
        raise BadValueError(f"'{text[:40]}' has more than {_MOST_DIGITS} digits", _SMALLER)
    number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    number = -number if sign == "-" else number
    if not -(2**63) <= number < 2**63:
        raise BadValueError(f"'{text[:40]}' is larger than any number ndb_mgmd reads (2^63 - 1)", _SMALLER)
    if rest == "":
        return number
    # Up to 7.6 only the first letter behind the number counts.
    suffix = _unquoted(rest.strip(_BLANKS))[:1] if lenient else rest
    factor = _SUFFIXES.get("K" if suffix == "k" else suffix)
    if factor is None:
        if octal is not None and rest[0] in "89":
            what = f"'{text[:40]}' is octal for its leading 0, and has digits above 7"
            raise BadValueError(what, "write it without the leading 0")
        raise BadValueError(
            f"'{text[:40]}' is not a whole number with K, M or G; NDB knows no other suffix and no fraction",
            _WHOLE,
        )
    product = number * factor
    if -(2**63) <= product < 2**64:
        return product
    if not lenient:
        raise BadValueError(f"'{text[:40]}' is larger than any value NDB can hold (2^64 - 1)", _SMALLER)
    return product % 2**64


def surprise(text: str, number: int) -> str:
    """Why a text is another number for ndb_mgmd than for people; nothing where it is the same."""
    match = _AS_PEOPLE_READ.match(text.strip(_BLANKS))
    if match is None:
        return "" if _INTEGER.match(text.strip(_BLANKS)) else "a suffix without digits is 0"
    sign, digits, suffix = match.groups()
    if digits[0] == "0" and int(digits) != int(digits, 8):
        return "a leading 0 means octal"
    seen = int(f"{sign}{digits}") * _SUFFIXES.get(suffix.upper(), 1)
    return "" if seen == number else "it counts in 64 bits"


def _unquoted(text: str) -> str:
    """A text without the double quotes around all of it, as `trim` of InitConfigFileParser.cpp leaves it."""
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def parse_value(parameter: Parameter, text: str, version: NdbVersion) -> int | str:
    """The value of a parameter from its text in a file, range included. Raises BadValueError."""
    if parameter.type == "bool":
        return _parse_flag(parameter, text)
    if parameter.is_number:
        number = parse_integer(text, version)
        check_range(parameter, number)
        return number
    return check_text(parameter, text, version)


def read_value(parameter: Parameter, value: int | str, version: NdbVersion) -> int | str:
    """A value as a plan states it (number, or text as in a file), as ndb_mgmd takes it. Raises BadValueError.

    Every reader of plans goes this way: what comes out is a number where the product counts, one of the
    product's words where it chooses, else text.
    """
    if parameter.is_number or parameter.type == "bool":
        if isinstance(value, str):
            return parse_value(parameter, value, version)
        check_range(parameter, value)
        return value
    return check_text(parameter, str(value), version)


def _parse_flag(parameter: Parameter, text: str) -> int:
    if text.strip(_BLANKS) in _TRUE:
        return 1
    if text.strip(_BLANKS) in _FALSE:
        return 0
    raise BadValueError(f"'{text[:40]}' is not a value for the switch {parameter.name}; write 1 or 0")


def check_range(parameter: Parameter, number: int) -> None:
    """Raises BadValueError when the number is outside the range of the parameter."""
    low, high = parameter.minimum, parameter.maximum
    if parameter.type == "bool":
        low, high = 0, 1
    if parameter.is_number and parameter.allowed_values and str(number) not in parameter.allowed_values:
        raise BadValueError(f"{number} is not allowed; use one of {', '.join(parameter.allowed_values)}")
    if (low is not None and number < low) or (high is not None and number > high):
        shown = (lambda n: format_ndb_size(n)) if parameter.unit.startswith("bytes") else str
        is_low = low is not None and number < low
        raise BadValueError(
            f"{shown(number)} is outside the range {shown(low or 0)} to {shown(high) if high else 'any'}",
            f"write {shown(low or 0)} or more" if is_low else f"write {shown(high or 0)} or less",
        )


def check_text(parameter: Parameter, text: str, version: NdbVersion) -> str:
    """The text of a parameter that takes text, a choice in the product's spelling. Raises BadValueError."""
    if parameter.type != "string":
        text = text.strip(_BLANKS)
    if parameter.type == "enum":
        allowed = next((value for value in parameter.allowed_values if value.lower() == text.lower()), None)
        if allowed is None:
            what = f"'{text[:40]}' is not one of {', '.join(parameter.allowed_values)}"
            raise BadValueError(what, "write one of them")
        return allowed
    if parameter.type == "bitmask":
        parse_cpu_list(text, version)
    return text


def parse_cpu_list(text: str, version: NdbVersion, most: int = CPU_ID_MAX) -> tuple[int, ...]:
    """CPU numbers of `0-3,8`, each once. Raises BadValueError.

    As parse_mask.hpp of the product reads it: `3-1` is `1-3`, and what stands behind a number does not count.
    Before 8.0 nothing between two commas is nothing, so `,` is a list without CPUs.
    """
    if not text.strip():
        raise BadValueError("the list of CPUs is empty; write for example 0-3,8")
    cpus: dict[int, None] = {}
    gaps = features(version).cpu_lists_with_gaps
    for part in text.split(","):
        if gaps and not part.strip():
            continue
        low, dash, high = part.partition("-")
        ends = [_CPU.match(low), _CPU.match(high if dash else low)]
        if None in ends:
            raise BadValueError(f"'{text[:40]}' is not a list of CPUs; write for example 0-3,8")
        first, last = sorted(int(end[1]) for end in ends if end is not None)
        if last > most:
            raise BadValueError(f"CPU {last} is too large; the highest is {most}", f"write {most} or less")
        if last - first >= _MOST_CPUS:
            raise BadValueError(f"'{text[:40]}' names more than {_MOST_CPUS} CPUs", "name fewer")
        cpus.update(dict.fromkeys(range(first, last + 1)))
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
        read_value(parameter, value, version)
    except BadValueError as bad:
        return str(bad)
    return ""
