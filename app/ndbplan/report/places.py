"""Places in answers: every number of a report is one, and says where it was found.

    node = answers["estimate"]["memory"]["nodes"][0]
    node["ram_bytes"].run()              # Run("90.4 GiB", "estimate: memory.nodes[0].ram_bytes")
    found(answers, "estimate: memory.nodes[0].ram_bytes").text

An address is a command, a colon and the path in what it prints with --json, odd names in quotes. Behind a
list `[key=verify]` is its first member with such a value, `#` counts it, `#where(verdict=stops)` those with
such a value (`^` begins with), `#like(3;ram_bytes)` those that are like one of them; `(A / B)` is the share
of one in another.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ndbplan.base.units import format_value, is_shown_rounded
from ndbplan.configuration.failing_parts import Part
from ndbplan.describe.tables import as_memory, is_name, is_quantity, text_of, unit_of
from ndbplan.report.document import Line, Run

_DIGITS = 3
"""Of an estimated count."""
_SAME_EVERYWHERE = 12
"""Digits that do not depend on the machine."""


_PARTS = ("dead", "smallest_killers")
"""Parts that fail, as `survive` takes them."""
_PLAIN = re.compile(r"\w+")
"""Names that need no quotes in an address."""


@dataclass(frozen=True)
class Place:
    """A value of an answer, and its address."""

    value: Any
    at: str
    key: str = ""
    """The last name of its path, which says the unit of a plain number."""
    unit: str | None = None

    def __getitem__(self, key: str | int) -> Place:
        """A member, by name or number. KeyError where there is none."""
        if isinstance(key, int):
            return Place(self.value[key], f"{self.at}[{key}]", self.key)
        is_end = key in ("value", "low", "high") and "unit" in self.value
        unit = as_memory(self.key, self.value["unit"]) if is_end else None
        dot = "" if self.at.endswith(": ") else "."
        name = key if _PLAIN.fullmatch(key) else json.dumps(key)
        return Place(self.value[key], f"{self.at}{dot}{name}", key, unit)

    def get(self, key: str) -> Place | None:
        """A member; None where there is none, or nothing in it."""
        return None if not self.value or self.value.get(key) is None else self[key]

    def __iter__(self) -> Iterator[Place]:
        """The members of a list."""
        return (self[number] for number in range(len(self.value)))

    def __len__(self) -> int:
        return len(self.value)

    def __bool__(self) -> bool:
        return bool(self.value)

    @property
    def number(self) -> float:
        """The number itself, for charts."""
        return float(self.value["value"] if is_quantity(self.value) else self.value)

    @property
    def end_numbers(self) -> tuple[float, float]:
        """The ends of its range; twice the number where it is exact."""
        if is_quantity(self.value):
            return float(self.value["low"]), float(self.value["high"])
        return self.number, self.number

    def run(self, kind: str = "") -> Run:
        """As people read it, without its range."""
        text, is_figure = _text(self.value, self.key, self.unit)
        return Run(text, self.at, kind or ("figure" if is_figure else ""))  # type: ignore[arg-type]  # words of Kind

    def line(self) -> Line:
        """The number and its range."""
        return (self.run(), *self.span())

    def span(self) -> Line:
        """Its range in brackets; nothing where it is exact, or its ends read the same."""
        if not is_quantity(self.value) or self.value["low"] == self.value["high"]:
            return ()
        low, high = self["low"].run("range"), self["high"].run("range")
        if low.text == high.text:
            return ()
        return Run(" ("), low, Run(" … "), high, Run(")")

    def count(self, condition: str = "") -> Run:
        """How many members a list has; `condition`: as an address has it."""
        at = f"{self.at}#{condition}"
        return Run(format_value(float(_counted(self.value, condition)), "count"), at, "figure")

    def over(self, whole: Place) -> Place:
        """The share of this in another one of the same answer."""
        parts = {end: _share(self.value, whole.value, end) for end in ("value", "low", "high")}
        command, _, path = self.at.partition(": ")
        at = f"{command}: ({path} / {whole.at.partition(': ')[2]})"
        return Place({**parts, "unit": "fraction"}, at, "share")


def _share(part: Any, whole: Any, end: str) -> float:
    top = part[end] if is_quantity(part) else part
    return float(top) / float(whole)


_UNITS = {"offered_per_s": "tx/s"}
"""Of plain numbers whose key says less."""


def _text(value: Any, key: str, unit: str | None) -> tuple[str, bool]:
    """A value as people read it, and whether it is a number. What is estimated has few digits."""
    if is_quantity(value):
        exact = value["low"] == value["high"]
        number = float(value["value"])
        unit = as_memory(key, value["unit"])
        return shown(number if exact else rounded(number, unit), unit), True
    if key in _PARTS and isinstance(value, str):
        kind, _, name = value.partition(":")
        return Part(kind, name).text, False
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text_of(key, value), False
    if unit is not None:
        return shown(rounded(float(value), unit), unit), True
    if is_name(key):
        return str(value), True
    return shown(float(value), _UNITS.get(key) or unit_of(key)), True


def shown(value: float, unit: str) -> str:
    """A number with its unit, or ∞."""
    if not math.isfinite(value):
        return "∞"
    return format_value(value, unit)


def rounded(value: float, unit: str = "") -> float:
    """As many digits as an estimate is shown with: three of a count.

    Times, bytes and shares are shown with few digits anyway, the same ones as in the window: rounded twice,
    48 min 45 s would become 48 min 50 s.
    """
    digits = _SAME_EVERYWHERE if is_shown_rounded(unit) else _DIGITS
    return float(f"{value:.{digits}g}")


_STEP = re.compile(r'\.?(\w+|"(?:[^"\\]|\\.)*")|\[([0-9]+)\]|\[(\w+=[^\]]+)\]|#(.*)$')


def found(answers: Callable[[str], Any], at: str) -> Place:
    """What stands at an address; `answers` gives the JSON of a command. KeyError, IndexError: nothing."""
    command, _, path = at.partition(": ")
    place = Place(answers(command), f"{command}: ")
    if path.startswith("("):
        shares, _, path = path[1:].partition(")")
        part, _, whole = shares.partition(" / ")
        place = found(answers, f"{command}: {part}").over(found(answers, f"{command}: {whole}"))
    for name, number, member, condition in _STEP.findall(path):
        if name:
            place = place[json.loads(name) if name.startswith('"') else name]
        elif number:
            place = place[int(number)]
        elif member:
            place = place[_first(place.value, member)]
        else:
            return Place(_counted(place.value, condition), at)
    return Place(place.value, at, place.key, place.unit)


def _first(rows: Any, condition: str) -> int:
    for number, row in enumerate(rows):
        if _fits(row, condition):
            return number
    raise KeyError(condition)


def _counted(rows: Any, condition: str) -> int:
    """How many rows there are, or fit a condition."""
    kind, _, inside = condition.rstrip(")").partition("(")
    if kind == "like":
        number, _, names = inside.partition(";")
        wanted = [rows[int(number)].get(name) for name in names.split(",")]
        return sum([row.get(name) for name in names.split(",")] == wanted for row in rows)
    if kind == "where":
        return sum(all(_fits(row, one) for one in inside.split(",")) for row in rows)
    return len(rows)


def _fits(row: Any, condition: str) -> bool:
    name, sign, wanted = re.match(r"(.*?)([=^])(.*)", condition).groups()  # type: ignore[union-attr]  # sections write them
    value = row[name]
    if isinstance(value, list):
        return bool(len(value) == 1 and _fits({name: value[0]}, condition))
    return str(value).startswith(wanted) if sign == "^" else str(value) == wanted
