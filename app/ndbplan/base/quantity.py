"""Quantity: the only form in which a number leaves the engine — value, range, unit and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import hypot
from typing import Any

from ndbplan.base.units import format_value


@dataclass(frozen=True, slots=True)
class Term:
    """One step of a derivation: an input, a constant or an intermediate result."""

    term: str
    value: float
    unit: str
    source: str = ""
    """Where it comes from: plan, manual, source code, measurement, calibration, assumption, formula."""
    why: tuple[Term, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The shape of one `why` entry."""
        entry: dict[str, Any] = {
            "term": self.term,
            "value": self.value,
            "unit": self.unit,
            "source": self.source,
        }
        if self.why:
            entry["why"] = [term.to_json() for term in self.why]
        return entry


@dataclass(frozen=True, slots=True)
class Quantity:
    """An estimated number: low <= value <= high, in SI units, with its derivation."""

    value: float
    low: float
    high: float
    unit: str
    why: tuple[Term, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"range {self.low}..{self.high} does not hold {self.value} {self.unit}")

    @classmethod
    def exact(cls, value: float, unit: str, why: Iterable[Term] = ()) -> Quantity:
        """A number without uncertainty."""
        return cls(value, value, value, unit, tuple(why))

    @classmethod
    def around(cls, value: float, unit: str, factor: float, why: Iterable[Term] = ()) -> Quantity:
        """A number that is right within a factor: value / factor .. value * factor."""
        return cls(value, value / factor, value * factor, unit, tuple(why))

    def scaled(self, factor: float, unit: str | None = None, why: Iterable[Term] = ()) -> Quantity:
        """This number times a factor >= 0; the derivation is kept unless a new one is given."""
        return Quantity(
            self.value * factor,
            self.low * factor,
            self.high * factor,
            unit or self.unit,
            tuple(why) or self.why,
        )

    def as_term(self, name: str, source: str = "formula") -> Term:
        """This number as a step in the derivation of another one."""
        return Term(name, self.value, self.unit, source, self.why)

    def to_json(self, *, why: bool = False) -> dict[str, Any]:
        """The shape that the command line prints; with `why` the derivation too."""
        shape: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high, "unit": self.unit}
        if why:
            shape["why"] = [term.to_json() for term in self.why]
        return shape

    def __str__(self) -> str:
        text = format_value(self.value, self.unit)
        if self.low == self.high:
            return text
        return f"{text} ({format_value(self.low, self.unit)} … {format_value(self.high, self.unit)})"


def total(parts: Iterable[tuple[str, Quantity]], unit: str) -> Quantity:
    """Sum of named numbers of one unit; each part becomes a term."""
    return _combine(parts, unit, sum)


def total_of_independent(parts: Iterable[tuple[str, Quantity]], unit: str) -> Quantity:
    """Sum of named numbers whose errors have nothing to do with one another: they add up in quadrature."""
    named = list(parts)
    value = sum(q.value for _, q in named)
    below = hypot(*(q.value - q.low for _, q in named))
    above = hypot(*(q.high - q.value for _, q in named))
    why = tuple(q.as_term(name) for name, q in named)
    # Rounding must not push an end past the sum itself.
    return Quantity(value, min(value, value - below), max(value, value + above), unit, why)


def largest(parts: Iterable[tuple[str, Quantity]], unit: str) -> Quantity:
    """The greatest of named numbers of one unit; each part becomes a term."""
    return _combine(parts, unit, lambda values: max(values, default=0.0))


def _combine(
    parts: Iterable[tuple[str, Quantity]], unit: str, fold: Callable[[list[float]], float]
) -> Quantity:
    named = list(parts)
    return Quantity(
        fold([q.value for _, q in named]),
        fold([q.low for _, q in named]),
        fold([q.high for _, q in named]),
        unit,
        tuple(q.as_term(name) for name, q in named),
    )
