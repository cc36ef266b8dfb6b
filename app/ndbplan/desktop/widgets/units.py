"""How a value is typed and shown in a field: exact both ways, with units.

BYTES.parse("64 GB") == 64_000_000_000;  BYTES.show(64_000_000_000) == "64 GB"
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ndbplan.base import units
from ndbplan.base.errors import UserError


@dataclass(frozen=True)
class Unit:
    """A kind of value that people type."""

    parse: Callable[[str], Any]
    """The value of a typed text; raises UserError."""
    show: Callable[[Any], str]
    """Text that `parse` turns into the same value again."""
    example: str
    """What a valid text looks like."""
    brief: Callable[[Any], str] | None = None
    """Text of bytes in the units that were chosen for all, which may leave out the last digits."""

    def read(self, value: Any) -> str:
        """Text to be read: exact, but where units are chosen no other appear, whatever digits that takes."""
        return self.brief(value) if self.brief is not None and units.system_in_use() else self.show(value)


def _clean(text: str) -> str:
    return text.replace("\u2009", "").replace("\u00a0", " ").replace("−", "-").strip()


def _by_hand(text: str) -> str:
    return units.by_hand(_clean(text))


_LEAST_BYTES = 100_000
"""Nobody has memory, a file or a disk of fewer bytes than this: who types less leaves out the unit."""


def _exact(value: float, parse: Callable[[str], float], *texts: str) -> str:
    for text in texts:
        try:
            if parse(_clean(text)) == value:
                return text
        except UserError:
            continue
    return texts[-1]


def _show_bytes(value: float) -> str:
    decimal, binary = units.format_bytes(value), units.format_bytes_binary(value)
    raw = f"{value:,.0f} B".replace(",", " ")
    return _exact(
        value, units.parse_bytes, binary if value % units.MIB == 0 else decimal, decimal, binary, raw
    )


def _show_memory(value: float) -> str:
    return _exact(
        value,
        units.parse_bytes,
        units.format_bytes_binary(value),
        units.format_bytes(value),
        f"{value:,.0f} B".replace(",", " "),
    )


def _show_rate(value: float) -> str:
    raw = f"{value:.17g} B/s"
    return _exact(value, units.parse_bytes_per_s, units.format_bytes_per_s(value), _precise(value), raw)


def _precise(value: float) -> str:
    for name, step in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if value >= step:
            return f"{value / step:.10g} {name}/s"
    return f"{value:.10g} B/s"


def _show_seconds(value: float) -> str:
    return _exact(value, units.parse_duration_s, units.format_duration(value), f"{value:.17g} s")


def _show_count(value: float) -> str:
    exact = f"{value:,.0f}".replace(",", " ") if value == round(value) else f"{value:.17g}"
    return _exact(value, units.parse_count, units.format_count(value), exact).replace("\u2009", " ")


def _sized(small: str, large: str) -> Callable[[str], int]:
    """Sizes of what is large: a number without a unit that is too small for it is asked about."""

    def parse(text: str) -> int:
        typed = _clean(text).strip()
        if _is_small(typed, _LEAST_BYTES):
            raise units.two_readings(text, f"{typed} {small}", f"{typed} {large}")
        return units.parse_bytes(units.by_hand(typed))

    return parse


def _rate(text: str) -> float:
    """Speeds of disks and networks: none is a few bytes a second, and a number alone says no unit."""
    typed = _clean(text)
    if _is_small(typed, _LEAST_BYTES):
        raise units.two_readings(text, f"{typed} MB/s", f"{typed} GB/s")
    return units.parse_bytes_per_s(units.by_hand(typed))


def _link(text: str) -> float:
    """What a network link passes, by its class too: `10 GbE` is what such a link leaves usable."""
    typed = _clean(text)
    gigabits = re.fullmatch(r"(.*[0-9])\s*gbe", typed, re.I)
    if gigabits is not None:
        return units.parse_factor(units.by_hand(gigabits[1])) * _USABLE_BYTES_PER_S
    if _is_small(typed, _LEAST_BYTES):
        raise units.two_readings(text, f"{typed} GbE", f"{typed} GB/s")
    return _rate(text)


_USABLE_BYTES_PER_S = 1.17e8
"""Of one gigabit of Ethernet in one direction, as the hosts of the palette have it: of 10 GbE 1.17 GB/s."""


def _latency(text: str) -> float:
    """Times of one small write or answer, known in milliseconds: a number alone is asked about."""
    typed = _clean(text)
    if _is_small(typed, math.inf):
        raise units.two_readings(text, f"{typed} ms", f"{typed} s")
    return units.parse_duration_s(units.by_hand(typed))


def _is_small(typed: str, limit: float) -> bool:
    """Whether a text is a number above 0 and below a limit, without a unit. Raises TwoReadingsError."""
    try:
        return 0 < units.parse_factor(units.by_hand(typed)) < limit
    except units.TwoReadingsError as error:
        if re.search("[a-z]", typed, re.I):
            return False
        raise error
    except UserError:
        return False


def _parse_whole(text: str) -> int:
    return units.parse_whole(_clean(text))


def _parse_signed(text: str) -> int:
    """A whole number that may be below zero; every digit counts."""
    digits_and_sign = _clean(text).replace(" ", "").replace("\u2009", "")
    digits = digits_and_sign.removeprefix("-")
    units.refuse_group(digits, digits_and_sign.removesuffix(digits))
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        raise UserError(f"'{text.strip()[:40]}' is not a whole number", fix="type for example 1 or -5")
    return int(digits_and_sign)


def _parse_share(text: str) -> float:
    value = units.parse_count(_by_hand(text).removesuffix("%"), "25 %")
    if value > 100:
        raise UserError(f"{text.strip()[:40]} is more than 100 %", fix="type for example 25 %")
    return value / 100


def _show_share(value: float) -> str:
    for digits in (3, 6, 17):
        text = f"{value * 100:.{digits}g}"
        if "e" not in text and _parse_share(text) == value:
            return f"{text} %"
    return f"{value * 100:.12f} %"


BYTES = Unit(
    lambda text: units.parse_bytes(_by_hand(text)), _show_bytes, "64 GB, 1.5 TiB", units.format_bytes
)
MEMORY = Unit(_sized("MiB", "GiB"), _show_memory, "64 GiB, 512M", units.format_bytes_binary)
CAPACITY = Unit(_sized("GB", "TB"), _show_bytes, "960 GB, 3.2 TB", units.format_bytes)
BYTES_PER_S = Unit(_rate, _show_rate, "118 MB/s", units.format_bytes_per_s)
LINK = Unit(_link, _show_rate, "10 GbE, 1.17 GB/s", units.format_bytes_per_s)
LATENCY = Unit(_latency, _show_seconds, "2 ms, 50 us")
SECONDS = Unit(lambda text: units.parse_duration_s(_by_hand(text)), _show_seconds, "20 ms, 10min, 2 h")
MOMENT = Unit(lambda text: units.parse_clock(_by_hand(text)), units.format_clock, "1:40, 100 s, 2 h")
COUNT = Unit(_parse_whole, _show_count, "10k, 3M, 250 000")
WHOLE = Unit(_parse_whole, lambda value: f"{value}", "8")
WHOLE_NUMBER = Unit(_parse_signed, lambda value: f"{value}", "1, -5")
NUMBER = Unit(lambda text: units.parse_count(_by_hand(text)), _show_count, "2.5, 10k")
SHARE = Unit(_parse_share, _show_share, "25 %")
TEXT = Unit(lambda text: text.strip(), lambda value: str(value), "text")
STEPPED = (BYTES, MEMORY, CAPACITY, BYTES_PER_S, LINK, LATENCY, SECONDS, COUNT, WHOLE, NUMBER, SHARE)
"""Kinds of numbers that are larger and smaller by steps."""


def rounded(value: float) -> float:
    """A worked out number as a field shows it to begin with: 6153.8461538461543 is 6154."""
    return float(round(value) if value >= _WHOLE_FROM else f"{value:.3g}")


_WHOLE_FROM = 100
"""Numbers from here on have no fractions."""
