"""The highest rate a plan sustains under a workload, what limits it, and what would limit it next.

    found = max_load(plan, "blobs-5k")
    found.max_per_s, found.limited_by, found.next_limit

A rate is sustained when a run of half an hour refuses nothing, with as many rows as the plan states. Found by
bisection over whole runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndbplan.estimate.quantity import Quantity, Term
from ndbplan.plan.plan import Plan
from ndbplan.simulate.bottleneck import Bottleneck

if TYPE_CHECKING:
    from ndbplan.plan.workloads import Workload
    from ndbplan.simulate.scenario import Scenario

HORIZON_S = 1800.0
"""Simulated time of each trial: many checkpoints, so that pauses between them do not flatter the result."""
ENDLESS_HORIZON_S = 900.0
WAITS_S = 1.0
"""With queueing: transactions that wait longer than this at the end mean the queue grows."""
ATTEMPTED_SHARE = 0.999
"""Below this share of what is offered, processors, network or page reads hold work back."""
STEP_S = 0.1
PRECISION = 0.002
LEAST_MESSAGES = 2.0
"""A transaction is asked for and answered at least: the links of the data nodes bound any rate."""
RATE_FACTOR = 1.12
"""How well simulated rates agree with a running cluster whose disks were limited."""
_LIFTED = 16.0


@dataclass(frozen=True)
class NextLimit:
    """What limits the load once the first limit is gone."""

    max_per_s: Quantity
    limited_by: Bottleneck


@dataclass(frozen=True)
class MaxLoad:
    """The highest sustained rate and its limits."""

    max_per_s: Quantity
    """Transactions per second."""
    limited_by: Bottleneck
    next_limit: NextLimit | None
    offered_per_s: float
    """Highest rate that the workload itself offers."""

    @property
    def is_enough(self) -> bool:
        """Whether the workload's own rate is sustained."""
        return self.max_per_s.value >= self.offered_per_s * (1.0 - PRECISION)

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape that `ndbplan max-load --json` prints."""
        after = self.next_limit
        return {
            "max_per_s": self.max_per_s.to_json(why=why),
            "limited_by": self.limited_by.to_json(),
            "offered_per_s": self.offered_per_s,
            "next_limit": None
            if after is None
            else {"max_per_s": after.max_per_s.to_json(why=why), "limited_by": after.limited_by.to_json()},
        }


def max_load(
    plan: Plan,
    workload_id: str | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
    with_next: bool = True,
) -> MaxLoad:
    """The highest rate at which the mix of `workload_id` (None: the plan's first) runs without a refusal.

    Raises SimulationError for a plan that cannot be simulated, Cancelled when told to stop.
    """
    from ndbplan.estimate.load import offered_per_s
    from ndbplan.simulate.run import workload_of
    from ndbplan.simulate.scenario import compile_scenario

    workload = workload_of(plan, workload_id)
    asked_per_s = offered_per_s(workload.load)
    # What one transaction costs is worked out from a rate, which must not be nothing.
    mix = workload if asked_per_s > 0 else _at_one_per_s(workload)
    scenario = compile_scenario(plan, mix, duration_s=HORIZON_S, step_s=STEP_S, seed=1)
    rate, limit = highest_rate(scenario, asked_per_s, cancelled)
    if progress is not None:
        progress(0.5)
    after = None
    if with_next and limit.resource != "none":
        lifted = _lift(scenario, limit)
        if lifted is not None:
            next_rate, next_limit = highest_rate(lifted, rate * 2, cancelled)
            after = NextLimit(_quantity(lifted, next_rate, next_limit), next_limit)
    if progress is not None:
        progress(1.0)
    return MaxLoad(_quantity(scenario, rate, limit), limit, after, asked_per_s)


def _at_one_per_s(workload: Workload) -> Workload:
    from ndbplan.plan.workloads import OpenLoad, RatePoint

    load = OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=1.0),))
    return workload.model_copy(update={"load": load})


def bound_per_s(scenario: Scenario) -> float:
    """Transactions per second that the links of the data nodes carry when each needs two bare messages."""
    from ndbplan.estimate.constants import constant_for

    plan = scenario.plan
    hosts = {node.host_id for node_class in scenario.node_classes for node in node_class.nodes}
    link = sum(plan.host(host_id).network_bytes_per_s for host_id in hosts)
    return link / (LEAST_MESSAGES * constant_for(plan, "network_protocol_bytes").value)


def highest_rate(
    scenario: Scenario, guess_per_s: float, cancelled: Callable[[], bool] | None = None
) -> tuple[float, Bottleneck]:
    """(highest sustained transactions per second, what refuses work just above it).

    When nothing refuses work at the most that the data nodes' links can carry: that rate, resource "none".
    """
    bound = bound_per_s(scenario)
    low, high = 0.0, min(bound, max(1.0, guess_per_s))
    limit = _limit_at(scenario, high, cancelled)
    while limit is None:
        if high >= bound:
            return bound, Bottleneck(
                "none", "no limit found up to what the links of the data nodes carry", 0.0
            )
        low, high = high, min(bound, high * 4)
        limit = _limit_at(scenario, high, cancelled)
    while high - low > PRECISION * high:
        # The first trials may be far too high: halve the ratio, then the distance.
        middle = math.sqrt(low * high) if low > 0 and high / low > 4 else (low + high) / 2
        found = _limit_at(scenario, middle, cancelled)
        if found is None:
            low = middle
        else:
            high, limit = middle, found
        if high < 1e-3:
            break
    return low, limit


def _limit_at(
    scenario: Scenario, rate_per_s: float, cancelled: Callable[[], bool] | None
) -> Bottleneck | None:
    """What refuses work at a rate; None when nothing does.

    Two trials: one whose checkpoint never ends, as buffers must not depend on its pauses; one with the
    plan's rows, whose checkpoints must end before the log is full.
    """
    return _refuses(_endless_checkpoint(scenario), rate_per_s, cancelled) or _refuses(
        scenario, rate_per_s, cancelled
    )


def _endless_checkpoint(scenario: Scenario) -> Scenario:
    from ndbplan.simulate import columns as col

    nodes = scenario.nodes.copy()
    nodes[:, col.N_PARTIAL] = 0.0
    nodes[:, [col.N_LOG_BYTES, col.N_LOG_LIMIT]] = 1e15
    steps = min(scenario.steps, round(ENDLESS_HORIZON_S / scenario.step_s))
    start = scenario.start.copy()
    start[:, 0] = 1e15
    return replace(scenario, nodes=nodes, start=start, steps=steps)


def _refuses(
    scenario: Scenario, rate_per_s: float, cancelled: Callable[[], bool] | None
) -> Bottleneck | None:
    import numpy as np

    from ndbplan.simulate import columns as col
    from ndbplan.simulate.run import StartState, run_scenario

    run = scenario.run.copy()
    run[[col.R_CLIENTS, col.R_CYCLE_S, col.R_GROWS]] = 0.0
    offered = np.full(scenario.steps, rate_per_s * scenario.step_s)
    result = run_scenario(replace(scenario, run=run, offered=offered), StartState(), cancelled=cancelled)
    held_back = result.attempted.sum() < ATTEMPTED_SHARE * result.offered.sum()
    if result.errors or held_back or float(result.waiting[-1]) > rate_per_s * WAITS_S:
        return result.bottleneck
    return None


def _lift(scenario: Scenario, limit: Bottleneck) -> Scenario | None:
    """The scenario without a limit: the disk, log or files in question made much larger."""
    from ndbplan.simulate import columns as col

    if limit.resource == "disk":
        disks = scenario.disks.copy()
        for d, disk_class in enumerate(scenario.disk_classes):
            if any(disk.id in limit.object_ids for disk in disk_class.disks):
                disks[d, 0] *= _LIFTED
        return replace(scenario, disks=disks)
    left = tuple(s for s in scenario.services if s.resource != limit.resource)
    if len(left) < len(scenario.services):
        run = scenario.run.copy()
        run[col.R_SERVICE] = left[0].max_per_s if left else 0.0
        run[col.R_SEND] = 0.0
        return replace(scenario, run=run, services=left)
    if limit.resource == "operation records":
        run = scenario.run.copy()
        run[col.R_POOL] *= _LIFTED
        return replace(scenario, run=run)
    nodes = scenario.nodes.copy()
    if limit.resource == "redo log":
        nodes[:, col.N_LOG_BYTES] *= _LIFTED
        nodes[:, col.N_LOG_LIMIT] *= _LIFTED
        return replace(scenario, nodes=nodes)
    if limit.resource == "redo files":
        nodes[:, col.N_FILE_BYTES] *= _LIFTED
        return replace(scenario, nodes=nodes)
    if limit.resource == "undo log":
        nodes[:, col.N_UNDO_LIMIT] *= _LIFTED
        return replace(scenario, nodes=nodes)
    return None


def _quantity(scenario: Scenario, rate: float, limit: Bottleneck) -> Quantity:
    terms = (
        Term("log of one transaction", scenario.redo_bytes_per_transaction, "bytes", "formula"),
        *(
            Term(f"bandwidth of {d.hostnames[0]} {d.disks[0].name}", d.bytes_per_s, "bytes/s", "plan")
            for d in scenario.disk_classes[:4]
        ),
        Term(f"limited by {limit.resource} ({limit.where})", rate, "tx/s", "bisection over simulated runs"),
    )
    return Quantity.around(rate, "tx/s", RATE_FACTOR, terms)
