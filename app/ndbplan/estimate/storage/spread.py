"""How unevenly a hash spreads so many different values over places of given shares.

    fullest(6000, shares).high         # share of the fullest place, exceeded by one of 100 sets of values
    typical_shares(6000, shares)       # what each place holds in a typical set

A place is whatever holds buckets of a hash map: a partition, an LDM thread, a log part. The values in one are
binomially distributed, as each bucket is equally likely; their tail is taken from Zubkov and Serov, "A
complete proof of universal inequalities for the distribution function of the binomial law" (2013): the
chance of at most k of n values lies between C(k) and C(k + 1), C(k) = Φ(± sqrt(2 n KL(k / n | share))).
Places count as independent of one another, which is as good as exact for the fullest of them. It has no
steps, so more values never give a fuller place.

Source: arithmetic of probability; medians of order statistics after Filliben (1975).
"""

from __future__ import annotations

from math import inf, log, log1p, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.kept import kept_by_value

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

LIKELY_LOW, LIKELY_HIGH = 0.01, 0.99
"""A band holds 98 of 100 sets of values."""
_ROUNDS = 60
"""Halvings: as many as a float has digits."""
_EXACT = 1e-12
"""A share that is known but for so much of itself is known: its chance has no more digits."""
_ORDERS = 64
"""Orders that are tried for a typical one."""
_NORMAL = NormalDist()
ENDS = (_NORMAL.inv_cdf(LIKELY_LOW), _NORMAL.inv_cdf(LIKELY_HIGH))
"""Ends of that band for one place, in standard deviations."""


class Fullest(NamedTuple):
    """Share of everything that the fullest place holds."""

    value: float
    """Half of all sets of values fill it more."""
    low: float
    high: float


def _divergence(share: Array, expected: Array) -> Array:
    """Kullback-Leibler divergence of two coins."""
    import numpy as np

    more = share - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        # The logarithm of 1 + x keeps the digits when both coins are nearly alike.
        heads = np.where(share > 0, share * np.log1p(more / expected), 0.0)
        tails = np.where(more < 1 - expected, (1 - share) * np.log1p(-more / (1 - expected)), 0.0)
    divergence: Array = np.maximum(0.0, heads + tails)
    return divergence


def shares_at(deviation: Array, values: float, expected: Array) -> Array:
    """Share of each place that lies so many standard deviations from what is expected of it."""
    import numpy as np

    wanted = deviation * deviation / (2 * values)
    above = deviation >= 0
    low, high = np.where(above, expected, 0.0), np.where(above, 1.0, expected)
    for _ in range(_ROUNDS):
        middle = (low + high) / 2
        # Above what is expected the divergence grows with the share, below it falls.
        too_high = (_divergence(middle, expected) > wanted) == above
        low, high = np.where(too_high, low, middle), np.where(too_high, middle, high)
    return np.asarray((low + high) / 2)


def band(values: float, share: float) -> tuple[float, float]:
    """What one place holds against this share of everything: 0.01 is a hundredth more, low and high end."""
    import numpy as np

    low, high = shares_at(np.array(ENDS), values, np.full(2, share)) / share - 1
    return float(low), float(high)


def _divergence_of_one(share: float, expected: float) -> float:
    """The same of one place: there are few different ones, for which arrays are ten times as slow."""
    more = share - expected
    heads = share * log1p(more / expected) if share > 0 else 0.0
    tails = (1 - share) * log1p(-more / (1 - expected)) if more < 1 - expected else 0.0
    return max(0.0, heads + tails)


def _log_chance_below(
    share: float, values: float, places: tuple[float, ...], counts: tuple[int, ...]
) -> float:
    """Logarithm of the chance that no place holds more than this share."""
    chance = 0.0
    for expected, count in zip(places, counts, strict=True):
        at = sqrt(2 * values * _divergence_of_one(share, expected))
        below = _NORMAL.cdf(at if share >= expected else -at)
        if below <= 0.0:
            return -inf
        chance += count * log(below)
    return chance


@kept_by_value(512)
def _fullest(values: float, places: tuple[float, ...], counts: tuple[int, ...]) -> Fullest:
    largest = max(places)

    def at(chance: float) -> float:
        """The least share that no place exceeds with this chance."""
        goal = log(chance)
        low, below = largest, _log_chance_below(largest, values, places, counts) - goal
        if below >= 0.0:
            return largest
        high, above, step = 1.0, -goal, sqrt(largest * (1.0 - largest) / values)
        while low + step < high:
            # It lies a few standard deviations above the largest share that is expected.
            found = _log_chance_below(low + step, values, places, counts) - goal
            if found >= 0.0:
                high, above = low + step, found
            else:
                low, below, step = low + step, found, step * 2
        while high - low > _EXACT * high:
            # Where a straight line crosses, but not at an end: the other one has to come nearer too.
            crossing = high - above * (high - low) / (above - below) if below > -inf else (low + high) / 2
            margin = (high - low) / 16
            middle = min(max(crossing, low + margin), high - margin)
            found = _log_chance_below(middle, values, places, counts) - goal
            if found < 0.0:
                low, below = middle, found
            else:
                high, above = middle, found
        return high

    # One value at least is somewhere: the fullest place never holds less than that. Values are whole: the
    # ends leave room for a part of one.
    least = max(largest, 1.0 / values)
    value = max(least, at(0.5))
    low = max(least, at(LIKELY_LOW) - 1.0 / values)
    return Fullest(value, min(low, value), min(1.0, max(value, at(LIKELY_HIGH) + 0.5 / values)))


def fullest(values: float, shares: Array) -> Fullest:
    """Share of the fullest of some places when a hash spreads `values` different, equally frequent values.

    `shares`: expected share of each place (its buckets over all buckets); places without any are left out.
    One place, or endlessly many values: its own share.
    """
    return _fullest_of(float(values), shares.astype(float).tobytes())


@kept_by_value(512)
def _fullest_of(values: float, shares: bytes) -> Fullest:
    """The same of an array by its bytes: nodes, tables and months ask about the same places."""
    import numpy as np

    given = np.round(np.frombuffer(shares), 12)
    places, counts = np.unique(given[given > 0], return_counts=True)
    largest = float(places.max(initial=0.0))
    if values < 1 or largest >= 1.0 or largest <= 0.0:
        return Fullest(largest, largest, largest)
    return _fullest(values, tuple(places.tolist()), tuple(counts.tolist()))


def as_shares(weights: Array) -> Array:
    """Weights as shares of their sum."""
    shares: Array = weights / weights.sum()
    return shares


def _permutation(count: int, salt: int) -> Array:
    import numpy as np

    mixed = np.arange(1, count + 1, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(
        salt * 0x27D4EB2F & 0xFFFFFFFF
    )
    for shift, factor in ((15, 0x85EBCA77), (13, 0xC2B2AE3D)):
        mixed = (mixed ^ (mixed >> np.uint32(shift))) * np.uint32(factor)
    mixed ^= mixed >> np.uint32(16)
    order = np.empty(count, dtype=np.int64)
    order[np.argsort(mixed, kind="stable")] = np.arange(count)
    return order


def _positions(count: int) -> Array:
    """Standard deviations at which the ordered counts of so many places lie in the median; fullest first."""
    import numpy as np

    top = 0.5 ** (1 / count)
    inner = [1 - (rank + 1 - 0.3175) / (count + 0.365) for rank in range(1, count - 1)]
    return np.array([_NORMAL.inv_cdf(p) for p in ([top, *inner, 1 - top] if count > 1 else [0.5])])


def typical_ranks(count: int, *groupings: Array) -> Array:
    """A fixed order of places by how full they are taken to be, 0 the fullest.

    Which place is the fullest nobody knows without the values. Of some orders the one is taken that makes
    the fullest group of each grouping (places of one node group, of one LDM thread) as full as it is in the
    median. It does not depend on the values, so tables that are placed alike have their fullest places
    together, as tables with one distribution key do.
    """
    import numpy as np

    deviation = _positions(count)
    best, least = _permutation(count, 0), float("inf")
    for salt in range(_ORDERS):
        order = _permutation(count, salt)
        miss = 0.0
        for labels in groupings:
            sizes = np.bincount(labels)
            kept = sizes > 0
            sizes = sizes[kept]
            if len(sizes) < 2:
                continue
            sums = np.bincount(labels, weights=deviation[order])[kept]
            spread = np.sqrt(sizes * (1 - sizes / count))
            wanted = _NORMAL.inv_cdf(0.5 ** (1 / len(sizes)))
            miss += abs(float((sums / spread).max()) - wanted)
        if miss < least:
            best, least = order, miss
    return best


def typical_shares(values: float, shares: Array, order: Array | None = None) -> Array:
    """What each place holds of everything in a typical set of values; sums to 1.

    The places get the medians of the ordered counts (Filliben's positions), by `order` (0: the fullest).
    """
    import numpy as np

    count = len(shares)
    if values < 1 or count < 2:
        return as_shares(shares)
    rank = (_permutation(count, 0) if order is None else order).copy()
    # The fullest place is one of those that most is expected of.
    largest = np.flatnonzero(shares >= shares.max() * (1 - 1e-9))
    first = int(largest[rank[largest].argmin()])
    rank[rank < rank[first]] += 1
    rank[first] = 0
    deviation = _positions(count)[rank]
    typical = shares_at(deviation, values, shares)
    rest = typical.sum() - typical[first]
    most = max(fullest(values, shares).value, float(shares[first]))
    typical *= (1 - most) / rest if rest > 0 else 0.0
    typical[first] = most
    return as_shares(typical)
