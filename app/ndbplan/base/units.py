"""Quantities as people type and read them: `64 GB`, `1.5 TiB`, `20 ms`, `10k`, `512M` (NDB's own, binary).

Inside the program everything is SI: bytes, seconds, per second.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable

from ndbplan.base.errors import UserError

KIB, MIB, GIB, TIB = 1024, 1024**2, 1024**3, 1024**4
THIN_SPACE = "\u2009"
"""Between thousands."""
_JOINER = "\u2060"
_TIED_SPACE, _TIED_THIN_SPACE = "\u00a0", "\u202f"
"""Where no line ends: at any other space a label may end one, also before a joiner."""

_BYTE_UNITS = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "pb": 10**15,
    "k": KIB, "m": MIB, "g": GIB, "t": TIB,
    "kib": KIB, "mib": MIB, "gib": GIB, "tib": TIB, "pib": 1024**5,
}  # fmt: skip
_SECOND_UNITS = {
    "": 1.0, "s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9,
    "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "day": 86400.0, "days": 86400.0,
}  # fmt: skip
_COUNT_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "b": 1e9, "t": 1e12}
_TYPED = r"([0-9][0-9_ ]*+(?:\.[0-9]+)?|\.[0-9]+)(?:e([+-]?[0-9]+))?\s*([a-zµ]*)"
_LONGEST = 80
"""Letters of a quantity that somebody types; what is longer is not looked at."""


def whole_number(text: str, most: int = 2**64 - 1) -> int | None:
    """The number that a text of plain digits is; None: it is none, or more than `most`."""
    if not (text.isascii() and text.isdigit() and len(text) <= 40):
        return None
    number = int(text)
    return number if number <= most else None


def _parse(text: str, units: dict[str, float] | dict[str, int], kind: str, examples: str) -> float:
    text = _typed(text)
    if len(text) > _LONGEST:
        raise UserError(f"'{text[:40]}…' is not {kind}", fix=f"type for example {examples}")
    text = _with_a_point(text)
    match = re.fullmatch(_TYPED, text, re.I)
    if match is None and text.startswith("-") and re.fullmatch(_TYPED, text[1:].strip(), re.I):
        raise UserError(f"'{text[:40]}' is below 0", fix=f"type for example {examples}")
    if match is None or match[3].lower() not in units:
        raise UserError(f"'{text[:40]}' is not {kind}", fix=f"type for example {examples}")
    number = float(f"{match[1].replace(' ', '').replace('_', '')}e{match[2] or 0}")
    value = number * units[match[3].lower()]
    if not math.isfinite(value):
        raise UserError(f"'{text[:40]}' is too large", fix=f"type for example {examples}")
    return value


def _one_group(text: str, apart: str) -> re.Match[str] | None:
    """Thousands that are set apart at the start of a text, or three digits behind a separator of decimals."""
    return re.match(rf"([1-9][0-9]{{0,2}}){apart}([0-9]{{3}})(?![0-9.,])", text)


def _with_a_point(text: str) -> str:
    """Without what sets thousands apart, and with a point before decimals. Raises TwoReadingsError."""
    number = next(iter(re.findall(r"^[0-9.,]+", text)), "")
    for apart, point in ((",", r"\."), (r"\.", ",")):
        grouped = re.fullmatch(rf"([1-9][0-9]{{0,2}}(?:{apart}[0-9]{{3}})+)(?:{point}([0-9]+))?", number)
        if grouped is not None and (grouped[2] or len(grouped[1]) > len("999,999")):
            decimals = f".{grouped[2]}" if grouped[2] else ""
            return re.sub("[.,]", "", grouped[1]) + decimals + text[len(number) :]
    _refuse_one_group(text, ",")
    return re.sub(r"^([0-9]*),([0-9]+)(?![0-9,.])", r"\1.\2", text) if decimal_comma() else text


def _refuse_one_group(text: str, separator: str) -> None:
    group = _one_group(text, re.escape(separator))
    if group is not None:
        rest = text[group.end() :]
        decimals = group[2]
        if decimal_comma():
            # Three digits behind a point would be asked about again.
            short = decimals.rstrip("0") or "0"
            decimals = f"{decimals}0" if short == decimals else short
        raise two_readings(text, f"{group[1]}{group[2]}{rest}", f"{group[1]}.{decimals}{rest}")


def by_hand(text: str) -> str:
    """What a person typed. Raises TwoReadingsError for `1.500` where people write 1,5: it is 1500 too."""
    if decimal_comma():
        _refuse_one_group(_typed(text), ".")
    return text


def refuse_group(text: str, sign: str = "") -> None:
    """Refuse a whole number of which `1,500` or `1.500` may set thousands apart, or decimals."""
    typed = _typed(text)
    group = _one_group(typed, "[.,]")
    if group is not None and group[0] == typed:
        whole = f"{sign}{group[1]}{group[2]}"
        if group[2] == "000":
            raise two_readings(text, whole, f"{sign}{group[1]}")
        raise TwoReadingsError(text, whole, impossible=f"{sign}{group[1]}.{group[2].rstrip('0')}")


def parse_whole(text: str) -> int:
    """A whole count that a person typed. Raises UserError, also for `1,500`."""
    typed = _typed(text)
    refuse_group(typed)
    number = parse_count(by_hand(typed), "8")
    if number != round(number):
        raise UserError(f"'{text.strip()[:40]}' is not a whole number", fix="type for example 8")
    return round(number)


def _typed(text: str) -> str:
    """What was typed, without what surrounds it, and cut where nobody types on."""
    return text.strip()[: _LONGEST + 1]


class TwoReadingsError(UserError):
    """A value that means two things: whoever typed it is asked which."""

    def __init__(self, text: str, *readings: str, impossible: str = "") -> None:
        said = " or ".join([*readings, f"{impossible}, which is not whole"] if impossible else readings)
        fix = "type one of them" if len(readings) > 1 else f"type {readings[0]}"
        super().__init__(f"'{text.strip()[:40]}' reads two ways: {said}", fix=fix)
        self.readings = readings
        """Those that can be, each spelt so that it means one thing."""


def two_readings(text: str, one: str, other: str) -> TwoReadingsError:
    """The refusal of a value that means two things; each reading is spelt so that it means one."""
    return TwoReadingsError(text, one, other)


_POINT_LANGUAGES = frozenset(["en", "ja", "zh", "ko", "he", "th", "hi", "ga", "mt", "cy"])
"""Languages that write 1.5; others write 1,5 (CLDR, decimal separator)."""
_POINT_REGIONS = ("de_CH", "de_LI", "es_MX", "es_US", "fr_CH", "it_CH")


def decimal_comma() -> bool:
    """Whether the language of numbers of this process writes 1,5: the environment's, unless it says none."""
    locale = next((os.environ[name] for name in ("LC_ALL", "LC_NUMERIC", "LANG") if os.environ.get(name)), "")
    name = re.split(r"[.@]", locale)[0]
    language = name.partition("_")[0].lower()
    plain = language in ("", "c", "posix") or not language.isalpha()
    return not plain and language not in _POINT_LANGUAGES and name not in _POINT_REGIONS


def parse_bytes(text: str) -> int:
    """Bytes from `64 GB` (10^9), `64 GiB` or NDB's `64G` (2^30). Raises UserError."""
    exact = whole_number(_typed(text))
    if exact is not None:
        # Beyond 9 PB a float no longer knows each byte.
        return exact
    refuse_group(text)
    value = _parse(text, _BYTE_UNITS, "a size in bytes", "64 GB, 1.5 TiB or 512M")
    if value != round(value) and not re.search("[a-z]", text, re.I):
        raise UserError(f"'{_typed(text)}' has no unit", fix=f"type for example {_typed(text)} GB")
    return round(value)


def parse_bytes_per_s(text: str) -> float:
    """Bytes per second from `118 MB/s`, `118 MB` or `10 Gbit/s`. Raises UserError, also for `10 Gb/s`."""
    amount = re.sub(r"(/s|ps)$", "", _typed(text))
    short = re.fullmatch(r"(.*[0-9])\s*([kmgt])\s*", amount, re.I)
    if short is not None and amount != _typed(text):
        # NDB's own M is binary, but nobody spells a rate so.
        prefix = short[2].upper()
        raise two_readings(text, f"{short[1].strip()} {prefix}B/s", f"{short[1].strip()} {prefix}iB/s")
    bits = re.fullmatch(r"(.*[0-9])\s*([kmgt]?)(bit|b)\s*", amount, re.I)
    if bits is None or (bits[3] == "b" and not bits[2]) or bits[3] == "B":
        return _parse(amount, _BYTE_UNITS, "a rate in bytes", "118 MB/s")
    in_bits = _parse(f"{bits[1]} {bits[2]}b", _BYTE_UNITS, "a rate", "118 MB/s or 10 Gbit/s")
    if bits[3] == "b":
        # Links are sold in bits and disks in bytes; a small b stands for either.
        number, prefix = bits[1].strip(), bits[2].upper().replace("K", "k")
        raise two_readings(text, f"{number} {bits[2].upper()}B/s", f"{number} {prefix}bit/s")
    return in_bits / 8


def parse_duration_s(text: str) -> float:
    """Seconds from `20 ms`, `10min`, `2 h` or `1 h 30 min`. Raises UserError."""
    text = _typed(text)
    parts = re.findall(r"[0-9._]+\s*[a-zµ]*", text, re.I) or [text]
    if len(parts) > 1 and re.sub(r"[0-9._]+\s*[a-zµ]*|\s", "", text, flags=re.I) == "":
        return sum(_parse(part, _SECOND_UNITS, "a duration", "20 ms, 10min or 2 h") for part in parts)
    return _parse(text, _SECOND_UNITS, "a duration", "20 ms, 10min or 2 h")


def parse_clock(text: str) -> float:
    """A moment of a run in seconds, from `1:40`, `1:02:30` or a duration. Raises UserError."""
    clock = re.fullmatch(r"\s*(?:([0-9]{1,6}):)?([0-9]{1,6}):([0-9]{2}(?:\.[0-9]+)?)\s*", text)
    if clock is None or float(clock[3]) >= 60 or (clock[1] is not None and int(clock[2]) >= 60):
        return parse_duration_s(text)
    return int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + float(clock[3])


def parse_count(text: str, examples: str = "10k or 3M") -> float:
    """A count from `10k`, `3M` (powers of 1000), `250 000`. Raises UserError, also for a rate of `5m/s`.

    `examples`: what one that is refused is told to type.
    """
    typed = _typed(text)
    small = re.fullmatch(r"(.*[0-9])\s*m/s", typed)
    if small is not None:
        number = _parse(small[1], _COUNT_UNITS, "a number", examples)
        raise two_readings(text, f"{small[1].strip()}M/s", f"{number / 1000:g}/s")
    return _parse(typed.removesuffix("/s"), _COUNT_UNITS, "a number", examples)


def parse_factor(text: str) -> float:
    """A number without a unit from `0.5` or `1e-3`. Raises UserError."""
    return _parse(_typed(text), {"": 1.0}, "a number", "0.5 or 2")


def _significant(value: float, digits: int = 3) -> str:
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scaled(value: float, step: float, names: list[str]) -> str:
    index = 0
    while abs(value) >= step * 0.9995 and index < len(names) - 1:
        value /= step
        index += 1
    return f"{_significant(value)} {names[index]}".strip()


SYSTEMS = ("", "decimal", "binary")
"""Units of bytes: as each kind of thing is usually counted, or one for all."""
_system = ""


def use_system(system: str) -> None:
    """Show all bytes of this process in `decimal` (GB) or `binary` (GiB) units; nothing: each as usual.

    What people and configuration files spell is read as ever. ValueError for another name.
    """
    global _system
    if system not in SYSTEMS:
        raise ValueError(f"there is no system of units '{system}'")
    _system = system


def system_in_use() -> str:
    """The system of units in which all bytes are shown; nothing: each as usual."""
    return _system


def format_bytes(value: float) -> str:
    """`16.6 MB`: three significant digits, in decimal units unless binary ones are chosen for all."""
    return _in_binary(value) if _system == "binary" else _in_decimal(value)


def format_bytes_binary(value: float) -> str:
    """`16 MiB`, as memory and NDB's parameters are counted, unless decimal units are chosen for all."""
    return _in_decimal(value) if _system == "decimal" else _in_binary(value)


def _in_decimal(value: float) -> str:
    return _scaled(value, 1000.0, ["B", "KB", "MB", "GB", "TB", "PB"])


def _in_binary(value: float) -> str:
    return _scaled(value, 1024.0, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"])


def format_ndb_size(value: int) -> str:
    """`512M`: the shortest exact spelling with NDB's suffixes K, M, G (powers of 1024)."""
    for suffix, factor in (("G", GIB), ("M", MIB), ("K", KIB)):
        if value and value % factor == 0:
            return f"{value // factor}{suffix}"
    return str(value)


def format_bytes_per_s(value: float) -> str:
    """`118 MB/s`."""
    return f"{format_bytes(value)}/s"


_NO_TIME_S = 1e-12
"""Less than any clock tells: what rounding leaves of nothing."""


def format_duration(seconds: float) -> str:
    """`4 min 8 s`, `1 h 12 min`, `850 ms`, `2.2 ns`."""
    if seconds < 0:
        return f"−{format_duration(-seconds)}"
    if seconds < _NO_TIME_S:
        return "0 s"
    if seconds < 1e-5:
        return f"{_significant(seconds * 1e6)} µs" if seconds >= 1e-8 else f"{_significant(seconds * 1e9)} ns"
    if seconds < 1:
        return f"{_significant(seconds * 1000)} ms"
    if seconds < 60:
        return f"{_significant(seconds)} s" if round(seconds, 1) < 60 else "1 min"
    whole = round(seconds)
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {rest} min" if rest else f"{hours} h"
    days, hours = divmod(hours, 24)
    return f"{days} d {hours} h" if hours else f"{days} d"


def told_duration_s(seconds: float) -> float:
    """The least time, no shorter and of whole seconds, that `format_duration` tells in full."""
    whole = math.ceil(seconds)
    step = 1 if whole < 3600 else 60 if whole < 48 * 3600 else 3600
    return float(math.ceil(whole / step) * step)


def told_size(value: float, show: Callable[[float], str], parse: Callable[[str], float]) -> float:
    """The least size, no smaller, that its text tells in full: sizes are shown with three digits."""
    tried = (parse(show(value * (1 + n / 1000))) for n in range(1000))
    return next(told for told in tried if told >= value)


def format_clock(seconds: float) -> str:
    """A moment of a run: `1:30`, `1:02:30`."""
    whole = int(seconds + 1e-6)
    hours, minutes, left = whole // 3600, whole % 3600 // 60, whole % 60
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"


def format_count(value: float) -> str:
    """`3 000 000`: thousands apart by a thin space; fractions only below 100."""
    if abs(value) < 100 and value != round(value):
        return _significant(value)
    return f"{round(value):,}".replace(",", THIN_SPACE)


_INSIDE_A_NUMBER = re.compile(r"(?<=[0-9]) (?=[0-9]{3}\b)")
_BEFORE_A_UNIT = re.compile(r"(?<=[0-9]) (?=(?:%|[nµm]?s|min|h|d|[KMGTPE]?i?B|tx)(?![A-Za-z]))")
_INSIDE_A_DURATION = re.compile(r"(?<=[0-9]\u00a0)(d|h|min) (?=[0-9]+\u00a0(?:h|min|s)\b)")
_INSIDE_A_UNIT = re.compile(r"(?<=[A-Za-zµ])/(?=[a-zµ])")


def unbroken(text: str) -> str:
    """The same text, of which no line ends within a number (`4 320`) or between it and its unit."""
    text = _INSIDE_A_NUMBER.sub(THIN_SPACE, text).replace(THIN_SPACE, _TIED_THIN_SPACE)
    text = _INSIDE_A_DURATION.sub(rf"\1{_TIED_SPACE}", _BEFORE_A_UNIT.sub(_TIED_SPACE, text))
    return _INSIDE_A_UNIT.sub(f"/{_JOINER}", text)


def how_many(number: int, thing: str) -> str:
    """`1 host`, `2 hosts`."""
    return f"{number} {thing}{'s' if number != 1 else ''}"


_LEAST_SHARE_TOLD = 0.0001


def format_percent(fraction: float) -> str:
    """`45 %` from 0.45, `14 600 %` from 146; so little that its digits say nothing is `under 0.01 %`."""
    if abs(fraction) >= 9.995:
        return f"{format_count(fraction * 100)} %"
    if 0 < abs(fraction) < _LEAST_SHARE_TOLD:
        return f"under {_LEAST_SHARE_TOLD * 100:g} %"
    return f"{_significant(fraction * 100, 2 if abs(fraction) < 0.995 else 3)} %"


MEMORY = "bytes of memory"
"""Unit of bytes that are counted as hosts and parameters count memory."""

_FORMATS = {
    "bytes": format_bytes,
    MEMORY: format_bytes_binary,
    "bytes/s": format_bytes_per_s,
    "s": format_duration,
    "fraction": format_percent,
}
_NOT_TOLD = ("", "count", "money", "exponent")
"""Units that stand behind no number."""
_PER_S = ("/s", "per s", "1/s")


def _of_one(unit: str) -> str:
    """What is counted, of which there is one: `rows/s` → `row/s`, `copies` → `copy`."""
    return re.sub(r"\b(?:([a-z]{2,})ies|([a-z]{3,})s)\b", _singular, unit, count=1)


def _singular(plural: re.Match[str]) -> str:
    return f"{plural[1]}y" if plural[1] else plural[2]


def is_shown_rounded(unit: str) -> bool:
    """Whether `format_value` shows few digits of such a number, however large; counts are shown whole."""
    return unit in _FORMATS or unit.startswith("s/")


def format_memory(value: float, unit: str) -> str:
    """As `format_value`, but bytes are of memory: `128 GiB`, as its hosts and parameters are counted."""
    return format_value(value, MEMORY if unit == "bytes" else unit)


def format_value(value: float, unit: str) -> str:
    """A number with its unit as people read it; a unit not known here is put behind the number.

    Money whose currency nobody states has none.
    """
    formatter = _FORMATS.get(unit)
    if formatter is not None:
        return formatter(value)
    if unit.startswith("s/"):
        return format_duration(value) + unit[1:]
    return with_unit(format_count(value), unit)


def with_unit(number: str, unit: str) -> str:
    """A number that is text already, with its unit: `× 2`, `1 core`, `250/s`; none is told of an exponent."""
    if unit == "factor":
        return f"× {number}"
    if unit in _NOT_TOLD:
        return number
    if unit in _PER_S:
        return f"{number}/s"
    return f"{number} {_of_one(unit) if number == '1' else unit}"
