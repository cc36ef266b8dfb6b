"""Quantity: the only form in which a number leaves the engine — value, range, unit and why.

    seconds = size.named("bytes of the backup") / speed.named("writing of sda")

Operators build range and derivation together. Ends are those of the worst case: what is added, multiplied or
divided may be at any of its ends at once; numbers whose errors have nothing to do with one another are summed
by `total_of_independent` and multiplied by `product_of_independent`; those that were multiplied by the same
unknown are summed by `base.sharing.total_sharing`. The derivation of a result is that of
its operands, one after the other: with a name (`named`) an operand is one step of it; a plain number leaves
no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import copysign, exp, hypot, inf, log
from typing import Any, Final

from ndbplan.base.units import format_value

END_DEVIATIONS = 1.2816
"""Standard deviations from the middle to p10 and p90, the ends of a range."""
MOST_DEVIATIONS = 2.33


class Term:
    """One step of a derivation: an input, a constant or an intermediate result. It never changes."""

    __slots__ = ("_why", "source", "term", "unit", "value")

    def __init__(self, term: str, value: float, unit: str, source: str = "", why: Derivation = ()) -> None:
        self.term: Final = term
        self.value: Final = value
        self.unit: Final = unit
        self.source: Final = source
        """Where it comes from: plan, manual, source code, measurement, calibration, assumption, formula."""
        self._why = why

    @property
    def why(self) -> tuple[Term, ...]:
        """The steps that led to it."""
        if not isinstance(self._why, tuple):
            self._why = self._why.terms()
        return self._why

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Term) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"Term{self._parts()}"

    def __reduce__(self) -> tuple[type[Term], tuple[object, ...]]:
        return Term, self._parts()

    def _parts(self) -> tuple[object, ...]:
        return (self.term, self.value, self.unit, self.source, self.why)

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


class _Joined:
    """Steps of two operands, not yet put together: most derivations are never asked for."""

    __slots__ = ("first", "second")

    def __init__(self, first: Derivation, second: Derivation) -> None:
        self.first: Final = first
        self.second: Final = second

    def terms(self) -> tuple[Term, ...]:
        """Steps of both in their order; what both go back to (a constant, say) once."""
        terms: list[Term] = []
        known: set[int] = set()
        left: list[Derivation] = [self]
        while left:
            steps = left.pop()
            if isinstance(steps, _Joined):
                left += (steps.second, steps.first)
                continue
            if isinstance(steps, _Told):
                steps = steps.terms()
            new = [term for term in steps if id(term) not in known]
            known.update([id(term) for term in new])
            terms += new
        return tuple(terms)


class _Told:
    """Steps that are told when they are first asked for, the same ones ever after."""

    __slots__ = ("_found", "_tell")

    def __init__(self, tell: Callable[[], tuple[Term, ...]]) -> None:
        self._tell: Callable[[], tuple[Term, ...]] | None = tell
        self._found: tuple[Term, ...] = ()

    def terms(self) -> tuple[Term, ...]:
        """The steps."""
        tell = self._tell
        if tell is not None:
            self._found = tell()
            self._tell = None
        return self._found


Derivation = tuple[Term, ...] | _Joined | _Told
"""Steps of a derivation, put together when they are asked for."""


class Quantity:
    """An estimated number: low <= value <= high, in SI units, with its derivation. It never changes."""

    # Tens of thousands are made after an edit: frozen dataclasses take four times as long to make.
    __slots__ = ("_why", "high", "low", "unit", "value")

    def __init__(self, value: float, low: float, high: float, unit: str, why: Derivation = ()) -> None:
        if not low <= value <= high:
            raise ValueError(f"range {low}..{high} does not hold {value} {unit}")
        self.value: Final = value
        self.low: Final = low
        self.high: Final = high
        self.unit: Final = unit
        self._why = why

    @property
    def why(self) -> tuple[Term, ...]:
        """The steps that led to it."""
        if not isinstance(self._why, tuple):
            self._why = self._why.terms()
        return self._why

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"Quantity{self._parts()}"

    def __reduce__(self) -> tuple[type[Quantity], tuple[object, ...]]:
        return Quantity, self._parts()

    def _parts(self) -> tuple[object, ...]:
        return (self.value, self.low, self.high, self.unit, self.why)

    @classmethod
    def exact(cls, value: float, unit: str, why: Iterable[Term] = ()) -> Quantity:
        """A number without uncertainty."""
        return cls(value, value, value, unit, tuple(why))

    @classmethod
    def around(cls, value: float, unit: str, factor: float, why: Iterable[Term] = ()) -> Quantity:
        """A number that is right within a factor: value / factor .. value * factor."""
        return cls(value, value / factor, value * factor, unit, tuple(why))

    @classmethod
    def stated(cls, name: str, value: float, unit: str, source: str = "plan") -> Quantity:
        """A number without uncertainty that is a step of its own in derivations."""
        return cls(value, value, value, unit, (Term(name, value, unit, source),))

    @classmethod
    def spanning(cls, value: float, ends: Iterable[float], unit: str, why: Iterable[Term] = ()) -> Quantity:
        """A number whose range reaches as far as these other outcomes do, and always holds the number."""
        all_of = (value, *ends)
        return cls(value, min(all_of), max(all_of), unit, tuple(why))

    def scaled(self, factor: float, unit: str | None = None, why: Iterable[Term] = ()) -> Quantity:
        """This number times a factor >= 0; the derivation is kept unless a new one is given."""
        return Quantity(
            self.value * factor,
            self.low * factor,
            self.high * factor,
            unit or self.unit,
            tuple(why) or self._why,
        )

    def __add__(self, other: Quantity | float) -> Quantity:
        """The sum. ValueError for different units; a plain number has this one's unit."""
        if not isinstance(other, Quantity):
            return Quantity(self.value + other, self.low + other, self.high + other, self.unit, self._why)
        self._check_unit(other)
        why = _joined(self._why, other._why)
        return Quantity(
            self.value + other.value, self.low + other.low, self.high + other.high, self.unit, why
        )

    __radd__ = __add__

    def __neg__(self) -> Quantity:
        return Quantity(-self.value, -self.high, -self.low, self.unit, self._why)

    def __sub__(self, other: Quantity | float) -> Quantity:
        """The difference: lowest where the other is highest. ValueError for different units."""
        if not isinstance(other, Quantity):
            return Quantity(self.value - other, self.low - other, self.high - other, self.unit, self._why)
        self._check_unit(other)
        why = _joined(self._why, other._why)
        return Quantity(
            self.value - other.value, self.low - other.high, self.high - other.low, self.unit, why
        )

    def __rsub__(self, other: float) -> Quantity:
        return Quantity(other - self.value, other - self.high, other - self.low, self.unit, self._why)

    def __mul__(self, other: Quantity | float) -> Quantity:
        """The product. Units that do not cancel are written side by side: `in_unit` says what it is."""
        if not isinstance(other, Quantity):
            low, high = self.low * other, self.high * other
            if other < 0:
                low, high = high, low
            return Quantity(self.value * other, low, high, self.unit, self._why)
        if self.low >= 0 and other.low >= 0:
            low, high = self.low * other.low, self.high * other.high
        else:
            ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
            low, high = min(ends), max(ends)
        unit, why = _unit_of_product(self.unit, other.unit), _joined(self._why, other._why)
        return Quantity(self.value * other.value, low, high, unit, why)

    def __rmul__(self, other: float) -> Quantity:
        return self * other

    def __truediv__(self, other: Quantity | float) -> Quantity:
        """The quotient: lowest where the divisor is highest.

        A divisor whose range begins at 0 gives an infinite end. ZeroDivisionError when it is 0 or may have
        either sign.
        """
        if not isinstance(other, Quantity):
            low, high = self.low / other, self.high / other
            if other < 0:
                low, high = high, low
            return Quantity(self.value / other, low, high, self.unit, self._why)
        low, high = _ends_of_quotient(self.low, self.high, other)
        unit, why = _unit_of_quotient(self.unit, other.unit), _joined(self._why, other._why)
        return Quantity(self.value / other.value, low, high, unit, why)

    def __rtruediv__(self, other: float) -> Quantity:
        return Quantity.exact(other, "") / self

    def _check_unit(self, other: Quantity) -> None:
        if self.unit != other.unit:
            raise ValueError(f"{self.unit or 'a plain number'} and {other.unit or 'a plain number'} differ")

    def named(self, name: str, source: str = "formula") -> Quantity:
        """The same number as one step of a derivation, with its own derivation inside."""
        return Quantity(self.value, self.low, self.high, self.unit, (self.as_term(name, source),))

    def because(self, *why: Term) -> Quantity:
        """The same number with this derivation instead of its own."""
        return Quantity(self.value, self.low, self.high, self.unit, why)

    def as_told(self, tell: Callable[[], tuple[Term, ...]]) -> Quantity:
        """The same number with a derivation that is worked out when it is first asked for."""
        return Quantity(self.value, self.low, self.high, self.unit, _Told(tell))

    def between(self, low: float, high: float) -> Quantity:
        """The same number with other ends of its range."""
        return Quantity(self.value, low, high, self.unit, self._why)

    def in_unit(self, unit: str) -> Quantity:
        """The same number, called by another unit: nothing is converted."""
        return Quantity(self.value, self.low, self.high, unit, self._why)

    def at(self, deviations: float) -> float:
        """What lies so many standard deviations away: a tenth of all is below `low`, a tenth above `high`.

        By the logarithm where all is positive, at most 2.33 away (one in a hundred). A share is at most 1; a
        count is one of the three.
        """
        share = min(MOST_DEVIATIONS, abs(deviations)) / END_DEVIATIONS
        end = self.high if deviations > 0.0 else self.low
        if self.unit == "count":
            return end if share > 1.0 else self.value
        if self.low <= 0.0:
            return max(min(0.0, self.low), self.value + (end - self.value) * share)
        found: float = self.value * (end / self.value) ** share
        return min(1.0, found) if self.unit == "fraction" and self.high <= 1.0 else found

    def within(self, least: float = -inf, most: float = inf) -> Quantity:
        """The same, but neither the number nor an end of its range beyond these bounds."""
        value, low, high = (min(most, max(least, one)) for one in (self.value, self.low, self.high))
        return Quantity(value, low, high, self.unit, self._why)

    def as_term(self, name: str, source: str = "formula") -> Term:
        """This number as a step in the derivation of another one."""
        return Term(name, self.value, self.unit, source, self._why)

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


def told_later(tell: Callable[[], tuple[Term, ...]]) -> Derivation:
    """The steps of a term, told when they are first asked for."""
    return _Told(tell)


def _joined(first: Derivation, second: Derivation) -> Derivation:
    if not first or not second:
        return first or second
    return _Joined(first, second)


def _ends_of_quotient(low: float, high: float, divisor: Quantity) -> tuple[float, float]:
    if low >= 0 and divisor.low > 0:
        return low / divisor.high, high / divisor.low
    if divisor.value == 0 or divisor.low < 0 < divisor.high:
        raise ZeroDivisionError(f"division by {divisor.low} … {divisor.high} {divisor.unit}")
    sign = copysign(1.0, divisor.value)
    ends = []
    for end in (low, high):
        for by in (divisor.low, divisor.high):
            ends.append(end / by if by else 0.0 if end == 0 else copysign(inf, end * sign))
    return min(ends), max(ends)


_PURE = ("", "factor", "fraction", "count", "exponent")
"""Units of plain numbers."""


@lru_cache(maxsize=512)
def _unit_of_product(first: str, second: str) -> str:
    if second in _PURE:
        return first or second
    if first in _PURE:
        return second
    for rate, other in ((first, second), (second, first)):
        if rate.endswith(f"/{other}"):
            return rate.removesuffix(f"/{other}")
    return f"{first}·{second}"


@lru_cache(maxsize=512)
def _unit_of_quotient(first: str, second: str) -> str:
    if first == second:
        return "factor"
    if second in _PURE:
        return first
    if second.startswith(f"{first}/"):
        return second.removeprefix(f"{first}/")
    return f"{first or 1}/{second}"


def rising(function: Callable[..., float], *parts: Quantity, unit: str) -> Quantity:
    """`function` of these numbers, which grows (or stays) as each of them grows.

    The way for a maximum, a rounding or any other law that operators cannot state. A function that falls
    somewhere makes a range that does not hold its value: ValueError.
    """
    why: Derivation = ()
    for part in parts:
        why = _joined(why, part._why)
    return Quantity(
        function(*(part.value for part in parts)),
        function(*(part.low for part in parts)),
        function(*(part.high for part in parts)),
        unit,
        why,
    )


def total(parts: Iterable[tuple[str, Quantity]], unit: str) -> Quantity:
    """Sum of named numbers of one unit; each part becomes a term."""
    return _combine(parts, unit, sum)


def total_of_independent(parts: Iterable[tuple[str, Quantity]], unit: str) -> Quantity:
    """Sum of named numbers whose errors have nothing to do with one another: they add up in quadrature."""
    named = list(parts)
    value = sum(q.value for _, q in named)
    below = hypot(*(q.value - q.low for _, q in named))
    above = hypot(*(q.high - q.value for _, q in named))
    why = _named_steps(named)
    # Rounding must not push an end past the sum itself.
    return Quantity(value, min(value, value - below), max(value, value + above), unit, why)


def product_of_independent(*parts: Quantity) -> Quantity:
    """Product of numbers whose errors have nothing to do with one another: logarithms add in quadrature.

    Where a number may be 0 the ends are those of the worst case.
    """
    product = parts[0]
    for part in parts[1:]:
        product = product * part
    if any(part.low <= 0 for part in parts):
        return product
    below = hypot(*(log(part.value / part.low) for part in parts))
    above = hypot(*(log(part.high / part.value) for part in parts))
    low, high = product.value * exp(-below), product.value * exp(above)
    # Rounding must not push an end past the product itself.
    value = product.value
    return Quantity(value, min(value, low), max(value, high), product.unit, product._why)


def largest(parts: Iterable[tuple[str, Quantity]], unit: str) -> Quantity:
    """The greatest of named numbers of one unit; each part becomes a term."""
    return _combine(parts, unit, lambda values: max(values, default=0.0))


def _named_steps(parts: list[tuple[str, Quantity]]) -> Derivation:
    """Each part as a step."""
    return _Told(lambda: tuple([q.as_term(name) for name, q in parts])) if parts else ()


def _combine(
    parts: Iterable[tuple[str, Quantity]], unit: str, fold: Callable[[list[float]], float]
) -> Quantity:
    named = list(parts)
    return Quantity(
        fold([q.value for _, q in named]),
        fold([q.low for _, q in named]),
        fold([q.high for _, q in named]),
        unit,
        _named_steps(named),
    )
