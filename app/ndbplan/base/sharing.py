"""Sums of numbers that one unknown made what they are: of that they err together.

total_sharing([("restore", first, (("disk", slower),)), ("redo log", second, (("disk", slower),))], "s")
"""

from __future__ import annotations

from collections.abc import Iterable
from math import hypot, sqrt

from ndbplan.base.quantity import Quantity, total_of_independent

Unknowns = tuple[tuple[str, Quantity], ...]
"""Factors that a number was multiplied by and that others may share, each with its name."""


def total_sharing(parts: Iterable[tuple[str, Quantity, Unknowns]], unit: str) -> Quantity:
    """Sum of named numbers, some of which were multiplied by the same unknown.

    What one unknown makes of the parts adds up as it is. The sums of several unknowns, and what is left of
    the range of each part, have nothing to do with one another and add up in quadrature. So a range lies
    between that of `total_of_independent`, where nothing is shared, and that of `total`, where all is.
    """
    each = list(parts)
    whole = total_of_independent(((name, q) for name, q, _ in each), unit)
    below = _deviation((q.value, q.value - q.low, _below(unknowns)) for _, q, unknowns in each)
    above = _deviation((q.value, q.high - q.value, _above(unknowns)) for _, q, unknowns in each)
    # Rounding must not push an end past that of the independent parts.
    return whole.between(min(whole.low, whole.value - below), max(whole.high, whole.value + above))


def _below(unknowns: Unknowns) -> dict[str, float]:
    """Share of a part that each unknown may take from it."""
    return {name: 1.0 - factor.low / factor.value for name, factor in unknowns}


def _above(unknowns: Unknowns) -> dict[str, float]:
    """Share of a part that each unknown may add to it."""
    return {name: factor.high / factor.value - 1.0 for name, factor in unknowns}


def _deviation(parts: Iterable[tuple[float, float, dict[str, float]]]) -> float:
    """How far an end of the sum lies from its middle, by value, own deviation and unknowns of each part."""
    together: dict[str, float] = {}
    alone = 0.0
    for value, own, unknowns in parts:
        left = own * own
        for name, share in unknowns.items():
            # No unknown moves a part further than its range.
            moved = min(sqrt(left), value * share)
            together[name] = together.get(name, 0.0) + moved
            left = max(0.0, left - moved * moved)
        alone += left
    return hypot(sqrt(alone), *together.values())
