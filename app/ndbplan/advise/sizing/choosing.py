"""Which of the clusters that pass to take: what holds where estimates are off, and what that is worth.

    choosing = choosing_among(plans)
    choosing.least_regret, choosing.knee         # ranks; None: nothing tells
    choosing.plans[0].holds                      # in this share of the drawn worlds it keeps every limit
    choosing.sure                                # rank of the cheapest that does so in nearly all of them

A cluster that breaks a limit in a drawn world (`worlds`) has to be replaced, so that its price is lost; one
that keeps them all costs what it costs beyond the cheapest that does. The mean of that is its regret. The
knee is the cluster of the front, those that no other beats in price and room at once, that lies furthest
below the line between the front's ends: from there on money buys little more room.

Sources: regret: Savage, The Theory of Statistical Decision (1951); knee: Satopää et al., Finding a
"Kneedle" in a Haystack (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.advise.sizing.worlds import SURE, WORLDS, Worlds
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_percent

if TYPE_CHECKING:
    from ndbplan.advise.sizing.sized_plan import SizedPlan

_FEWEST = 3
"""Clusters of a front between whose ends there is one."""
_UNPRICED = "hosts or disks without a price: knee and regret weigh money; state the prices to be told them"


@dataclass(frozen=True)
class Standing(Shape):
    """One of the clusters among the others."""

    JSON = "rank holds on_front regret"

    rank: int
    holds: float
    """The share of the drawn worlds in which it keeps every limit."""
    on_front: bool
    """Whether no other is cheaper, or as cheap, with more room; of unpriced ones every one."""
    regret: Quantity | None
    """Money, in the mean of the worlds; None: a price that it needs is not stated."""

    @property
    def line(self) -> str:
        """`keeps every limit in 93 % of the drawn worlds; regret 1 200 EUR`."""
        regret = "" if self.regret is None else f"; regret {self.regret}"
        return f"keeps every limit in {format_percent(self.holds)} of the drawn worlds{regret}"


@dataclass(frozen=True)
class Choosing(Shape):
    """What speaks for which of them."""

    JSON = "plans sure not_sure least_regret knee worlds note"

    plans: tuple[Standing, ...]
    sure: int | None
    """Rank of the cheapest that keeps every limit in nine of ten drawn worlds; None: none does."""
    not_sure: str
    """Which limit keeps every cluster from that, and by how much; nothing where there is one."""
    least_regret: int | None
    """Rank of the cluster with the least; None without prices, or with fewer than two clusters."""
    knee: int | None
    """Rank of it; None without prices, or where the front has none."""
    worlds: int
    note: str
    """Why nothing is told; else nothing."""

    @property
    def advice(self) -> tuple[str, ...]:
        """What to take, in words, and why."""
        share = format_percent(SURE)
        said = [f"sure: {self.sure}, the first that keeps every limit in {share} of the drawn worlds"]
        if self.sure is None:
            said = [self.not_sure] if self.not_sure else []
        if self.least_regret is not None:
            said.append(f"least regret: {self.least_regret}")
        if self.knee is not None:
            said.append(f"knee: {self.knee}, from there on money buys little more room")
        return (*said, *filter(None, (self.note,)))


def choosing_among(plans: Sequence[SizedPlan], not_sure: str = "") -> Choosing:
    """How the clusters stand to one another; their prices count where every one of them is stated in full.

    `not_sure`: why no cluster keeps every limit in nearly all worlds, where none does.
    """
    worlds = Worlds()
    kept = [worlds.in_which(plan.limits) for plan in plans]
    sure = next((plan.rank for plan, held in zip(plans, kept, strict=True) if _share(held) >= SURE), None)
    not_sure = not_sure if sure is None else ""
    prices = [plan.price for plan in plans]
    priced = [price for price in prices if price is not None]
    if not plans or len(priced) < len(plans):
        standing = tuple(
            Standing(plan.rank, _share(held), True, None) for plan, held in zip(plans, kept, strict=True)
        )
        return Choosing(standing, sure, not_sure, None, None, WORLDS, _UNPRICED if plans else "")
    front = _front([(price, nearest(plan)) for price, plan in zip(priced, plans, strict=True)])
    regrets = _regrets(priced, kept)
    unit = plans[0].cost.unit if plans[0].cost is not None else ""
    standing = tuple(
        Standing(plan.rank, _share(held), at in front, _regret(regrets[at], unit, _share(held)))
        for at, (plan, held) in enumerate(zip(plans, kept, strict=True))
    )
    knee = _knee([(at, priced[at], nearest(plans[at])) for at in sorted(front, key=lambda at: priced[at])])
    least = min(range(len(plans)), key=lambda at: regrets[at]) if len(plans) > 1 else None
    return Choosing(
        standing,
        sure,
        not_sure,
        None if least is None else plans[least].rank,
        None if knee is None else plans[knee].rank,
        WORLDS,
        "",
    )


def nearest(plan: SizedPlan) -> float:
    """How near a cluster comes to the nearest limit that hardware moves; 1: exactly met."""
    return max((met.nearness for met in plan.limits if met.is_moved), default=0.0)


def _share(kept: Sequence[bool]) -> float:
    return sum(kept) / len(kept)


def _regrets(prices: Sequence[float], kept: Sequence[Sequence[bool]]) -> list[float]:
    """Mean over the worlds of what each costs too much there."""
    sums = [0.0] * len(prices)
    for world in zip(*kept, strict=True):
        least = min((price for price, holds in zip(prices, world, strict=True) if holds), default=0.0)
        for at, (price, holds) in enumerate(zip(prices, world, strict=True)):
            sums[at] += price - least if holds else price
    return [one / WORLDS for one in sums]


def _regret(mean: float, unit: str, holds: float) -> Quantity:
    terms = (
        Term("drawn worlds where it breaks a limit: its price is lost", 1.0 - holds, "fraction", "formula"),
        Term("mean of that, and of what it costs beyond the cheapest that holds", mean, unit, "formula"),
    )
    return Quantity.exact(mean, unit, terms)


def _front(places: Sequence[tuple[float, float]]) -> frozenset[int]:
    """Places that no other is at most as high as in both numbers, and lower in one."""
    return frozenset(
        at
        for at, one in enumerate(places)
        if not any(other != one and other[0] <= one[0] and other[1] <= one[1] for other in places)
    )


def _knee(front: Sequence[tuple[int, float, float]]) -> int | None:
    """The place furthest below the line between the ends of a front, cheapest first; None: none is."""
    if len(front) < _FEWEST:
        return None
    (_, least, most_near), (_, most, least_near) = front[0], front[-1]
    if most <= least or most_near <= least_near:
        return None
    below = {
        at: 1.0 - (price - least) / (most - least) - (near - least_near) / (most_near - least_near)
        for at, price, near in front[1:-1]
    }
    at = max(below, key=lambda one: below[one])
    return at if below[at] > 0 else None
