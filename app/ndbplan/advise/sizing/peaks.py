"""Peaks of loads that an excuse lowers, at rates that are told in full.

begun, words = at_share(begun, loads, 0.5)          # `peaks of 'pay' 1 000 tx/s`
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ndbplan.advise.remedies import sustained_s
from ndbplan.base.units import format_value
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.demand import at_rate
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import ClosedLoad, JobLoad, Workload


def at_share(begun: Plan, loads: Sequence[Workload], share: float) -> tuple[Plan, str]:
    """The loads at a share of what they are, and that in words."""
    rates = Estimation(begun)
    other = {one.id: _at_told_rate(one, share, rates.under(one).offered_per_s) for one in loads}
    workloads = tuple(other.get(one.id, one) for one in begun.workloads)
    peaks = [f"'{one.name}' {format_value(rates.under(one).offered_per_s, 'tx/s')}" for one in other.values()]
    return begun.replace(workloads=workloads), f"peaks of {' and '.join(peaks)}"


def sends_nothing(begun: Plan, limit: str) -> bool:
    """Whether the load that a limit names does not send one transaction as long as it lasts."""
    rates = Estimation(begun)
    return any(
        rates.under(one).offered_per_s * sustained_s(one) < 1.0 and f"'{one.name}'" in limit
        for one in begun.workloads
        if not isinstance(one.load, JobLoad)
    )


def times_as_much(begun: Plan, lowered: Plan, load: Workload) -> float:
    """How many times as much the loads of now are as lower ones."""
    rates = Estimation(begun), Estimation(lowered)
    now, less = (rate.under(rate.plan.by_id[load.id]).offered_per_s for rate in rates)
    return now / less if less > 0 else 1.0


def _at_told_rate(workload: Workload, share: float, offered_per_s: float) -> Workload:
    """So large a share of a load at most, whose rate is told in full; of clients at least one is left."""
    if isinstance(workload.load, ClosedLoad):
        clients = max(1, math.floor(workload.load.clients * share))
        return at_rate(workload, clients / workload.load.clients)
    rate = offered_per_s * share
    if rate <= 0:
        return workload
    step = 10.0 ** min(0, math.floor(math.log10(rate)) - 2)
    return at_rate(workload, math.floor(rate / step) * step / offered_per_s)
