"""How much of the loads one cluster takes: simulated, or one kind of limit alone in closed form.

asked = ((workload, 1200.0),)                       # transactions per second, with headroom
share = sustained_share(Estimation(plan), asked)    # of all of them
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from ndbplan.advise.highest_rate import end_at, highest_rate, holds
from ndbplan.advise.load_left import load_left
from ndbplan.advise.max_load import steady_scenario
from ndbplan.advise.remedies import sustained_s
from ndbplan.advise.sizing.loads import steady
from ndbplan.advise.sizing.verdict import BARELY, Met, kind_of
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.workloads import Workload

Asked = Sequence[tuple[Workload, float]]
"""Loads, and what each asks for at its peak with headroom, transactions per second."""
_exact = Quantity.exact


def not_sustained(
    grown: Estimation, workload: Workload, asked: float, below: float, cancelled: Callable[[], bool]
) -> Iterator[Met]:
    """What ends a load that is simulated as long as it lasts; nothing where it is sustained.

    Where anything `below` 1 is enough to know, when and why it ends is not asked.
    """
    if asked <= 0:
        return
    scenario, lasts_s = steady_scenario(grown.under(steady(workload, asked))), sustained_s(workload)
    if holds(scenario, asked, lasts_s, cancelled):
        return
    if below <= 1:
        # When it ends, and why, would take a second run.
        yield Met("", _exact(1, "s"), _exact(0, "s"))
        return
    end = end_at(scenario, asked, lasts_s, cancelled)
    where = "refused" if end is None else end.limit.text
    code = "" if end is None or end.code is None else f", error {end.code}"
    after = lasts_s if end is None or end.at_s is None else end.at_s
    title = f"peak of '{workload.name}' with headroom, simulated ({where}{code})"
    yield Met(
        title,
        _exact(lasts_s, "s"),
        _exact(min(after, lasts_s * BARELY), "s"),
        kind_of(end.limit if end else None),
        is_ratio=False,
        is_simulated=True,
    )


def sustained_share(grown: Estimation, asked: Asked, cancelled: Callable[[], bool]) -> float:
    """The share of all loads that a cluster sustains: of each as long as it lasts."""
    shares = (
        highest_rate(steady_scenario(grown.under(steady(one, rate))), sustained_s(one), cancelled)[0] / rate
        for one, rate in asked
        if rate > 0
    )
    return min(shares, default=1.0)


def nearness_of_kind(grown: Estimation, asked: Asked, kind: str) -> float:
    """How near the loads come to limits of one kind alone; 1: exactly met, above: broken."""

    def left(workload: Workload, rate: float) -> float:
        return load_left(grown.under(steady(workload, rate))).least(lambda limit: kind_of(limit) == kind)

    allowed = [(rate, left(one, rate)) for one, rate in asked if rate > 0]
    return max((rate / most if most > 0 else math.inf for rate, most in allowed), default=0.0)
