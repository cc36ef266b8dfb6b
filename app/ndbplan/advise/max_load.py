"""The highest rate a plan sustains for a time under a workload, what ends it, when, and what comes next.

    found = max_load(estimation_of(plan, "blobs-5k"), duration_s=3600)
    found.max_per_s, found.limited_by, found.ends_after_s, found.next_limit

A rate is sustained when a simulation of the whole time refuses nothing and holds nothing back, while rows
are added as the mix inserts and deletes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.advise.highest_rate import FINE_RUN_S, PRECISION, STEP_S, End, highest_rate, without_limit
from ndbplan.advise.searched import Searched
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_duration
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.stored import reach
from ndbplan.simulate.bottleneck import Bottleneck

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.plan.workloads import Workload
    from ndbplan.simulate.model.scenario import Scenario

DEFAULT_S = 3600.0
LONGEST_S = 10 * 365 * 86400.0
"""Longer than any cluster stays as it was planned."""
NOT_LOADED = "not all rows of the job get in"
_LEAST_CHANCE = 0.1
"""A log part that chance may leave empty does not make the rate endless."""


@dataclass(frozen=True)
class NextLimit(Shape):
    """What limits the load once the first limit is gone."""

    JSON = "max_per_s limited_by"

    max_per_s: Quantity
    limited_by: Bottleneck


@dataclass(frozen=True)
class MaxLoad(Shape):
    """The highest sustained rate and its limits."""

    JSON = "max_per_s limited_by ends_after_s error_code takes_s duration_s offered_per_s note next_limit"

    max_per_s: Quantity
    """Transactions per second."""
    limited_by: Bottleneck
    """What refuses work, or holds it back, at the next higher rate."""
    next_limit: NextLimit | None
    offered_per_s: float
    """Highest rate that the workload itself offers."""
    duration_s: float
    """How long the rate is sustained."""
    ends_after_s: Quantity | None
    """Until the first refusal at the next higher rate; None: nothing is refused, work waits."""
    error_code: int | None
    """The NDB error of that refusal."""
    takes_s: Quantity | None = None
    """Of a job: until its rows are loaded; None: it is not a job, or the rows do not get in."""
    is_job: bool = False
    note: str | None = None
    """What is not known of the limits, such as those of clients from anywhere."""

    def end_after(self, before: MaxLoad) -> str:
        """What ended it before a change, and what does now; that it is still the same."""
        was, now = before.end_text, self.end_text
        return f"still {now}" if was == now else f"{was}; then {now}"

    @property
    def end_text(self) -> str:
        """What ends the next higher rate, and when: `redo log part 0 of node 2, error 410 after 57 min`."""
        text = self.limited_by.text
        if self.error_code is not None:
            text += f", error {self.error_code}"
        if self.ends_after_s is not None:
            text += f" after {format_duration(self.ends_after_s.value)}"
        return text

    @property
    def is_enough(self) -> bool:
        """Whether the workload's own rate is sustained; of a job, whether all its rows get in."""
        if self.is_job:
            return self.takes_s is not None
        return self.max_per_s.value >= self.offered_per_s * (1.0 - PRECISION)


def max_load(
    now: Estimation,
    *,
    duration_s: float = DEFAULT_S,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
    with_next: bool = True,
    searched: Searched | None = None,
) -> MaxLoad:
    """The highest rate at which the mix of the workload (None: the plan's first) runs for `duration_s`.

    The plan's rows are there at the start. A job answers with the time it takes, whatever `duration_s` says:
    its rows are fixed, and its highest rate is the mean one. `searched`: rates that are known already. Raises
    SimulationError for a plan that cannot be simulated or a time out of range, Cancelled when told to stop.
    """
    from ndbplan.simulate.model.node_rows import SimulationError
    from ndbplan.simulate.model.workload import workload_of

    if not 1.0 <= duration_s <= LONGEST_S:
        raise SimulationError(
            f"a load cannot be sustained for {duration_s:g} s", where="--for", fix="name 1 s to 10 years"
        )
    workload = now.workload or workload_of(now.plan, None)
    now = now.under(workload)
    if workload.load.kind == "job":
        return _time_of_job(now, workload, cancelled, progress)
    scenario = steady_scenario(now, duration_s)
    rate, end = (searched or Searched()).highest(scenario, duration_s, cancelled)
    if progress is not None:
        progress(0.5)
    after = None
    if with_next and end.limit.resource != "none":
        lifted = without_limit(scenario, end.limit)
        if lifted is not None:
            next_rate, next_end = highest_rate(lifted, duration_s, cancelled)
            # Some limits, such as page writes of a disk, are not lifted by what was made larger.
            if (next_end.limit.resource, next_end.limit.where) != (end.limit.resource, end.limit.where):
                after = NextLimit(_quantity(lifted, next_rate, next_end.limit), next_end.limit)
    if progress is not None:
        progress(1.0)
    return MaxLoad(
        _quantity(scenario, rate, end.limit),
        end.limit,
        after,
        now.offered_per_s,
        duration_s,
        _moment(now, end),
        end.code,
        note=_note(now.under(scenario.workload)),
    )


def steady_scenario(now: Estimation, duration_s: float = DEFAULT_S) -> Scenario:
    """What is simulated at every rate that is tried. Raises SimulationError."""
    from ndbplan.simulate.model.scenario import build

    workload = now.workload
    assert workload is not None
    # What one transaction costs is worked out from a rate, which must not be nothing.
    mix = workload if now.offered_per_s > 0 else _at_one_per_s(workload)
    return build(now.under(mix), duration_s=min(duration_s, FINE_RUN_S), step_s=STEP_S, seed=1)


def _note(now: Estimation) -> str | None:
    """Why the nodes that clients come through are no limit; None: they are one, or none is asked for."""
    return None if now.cpu.clients is None else now.cpu.clients.note


def _time_of_job(
    now: Estimation,
    workload: Workload,
    cancelled: Callable[[], bool] | None,
    progress: Callable[[float], None] | None,
) -> MaxLoad:
    from ndbplan.simulate.run import simulate

    result = simulate(now.under(workload), cancelled=cancelled, progress=progress)
    first, loaded = result.first_error, result.loaded_after_s
    taken_s = result.duration_s if loaded is None else loaded.value
    rate = float((result.accepted * result.bucket_s).sum()) / taken_s
    mean = Quantity.stated("mean over the job", rate, "tx/s", "simulation")
    per_s = reach(now.plan, "load").widened(mean * now.constants["simulated_rate"])
    if loaded is not None:
        per_s = (mean * taken_s / loaded.because()).in_unit("tx/s")
    return MaxLoad(
        max_per_s=per_s,
        limited_by=result.bottleneck,
        next_limit=None,
        offered_per_s=now.offered_per_s,
        duration_s=taken_s,
        ends_after_s=None if first is None else first.first_at_s,
        error_code=None if first is None else first.code,
        takes_s=loaded,
        is_job=True,
        note=_note(now) if loaded is not None else f"{NOT_LOADED} within {format_duration(taken_s)}",
    )


def _at_one_per_s(workload: Workload) -> Workload:
    from ndbplan.plan.workloads import OpenLoad, RatePoint

    load = OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=1.0),))
    return workload.model_copy(update={"load": load})


def _moment(now: Estimation, end: End) -> Quantity | None:
    if end.at_s is None:
        return None
    first = Quantity.stated(f"first error {end.code}", end.at_s, "s", "simulation just above the rate")
    return reach(now.plan, "load").widened(first * now.constants["simulated_moment"])


def _quantity(scenario: Scenario, rate: float, limit: Bottleneck) -> Quantity:
    terms = (
        Term("log of one transaction", scenario.redo_bytes_per_transaction, "bytes", "formula"),
        *(
            Term(f"bandwidth of {d.hostnames[0]} {d.disks[0].name}", d.bytes_per_s, "bytes/s", "plan")
            for d in scenario.disk_classes[:4]
        ),
        Term(f"limited by {limit.text}", rate, "tx/s", "bisection over simulated runs"),
    )
    for service in scenario.services:
        if (service.resource, service.where) == (limit.resource, limit.where):
            # Disk reads are asked for with the rows of the end, the service for those of the beginning.
            share = min(1.0, rate / service.max_per_s)
            low, high = share * service.low_per_s, share * service.high_per_s
            found = Quantity.spanning(rate, (low, high), "tx/s", (*terms, *service.why))
            return reach(scenario.plan, "load").widened(found)
    highest = Quantity.exact(rate, "tx/s", terms) * constants_of(scenario.plan)["simulated_rate"]
    highest = reach(scenario.plan, "load").widened(highest)
    if limit.resource in ("redo log", "redo files"):
        chance = _chance_of_parts(scenario, limit)
        highest = highest if chance.low == chance.high else (highest / chance).in_unit("tx/s")
    return highest


def _chance_of_parts(scenario: Scenario, limit: Bottleneck) -> Quantity:
    """What chance makes of the log part in question when the values of few-valued keys are not known: 1 with
    the range of its share."""
    from ndbplan.estimate.estimation import Estimation

    by_id = {node.id: node.node_id for node in scenario.plan.data_nodes}
    node_ids = {by_id.get(object_id) for object_id in limit.object_ids}
    loads = Estimation(scenario.plan, scenario.workload).loads.values()
    ends = [load.hottest_log_part_range for load in loads if load.node_id in node_ids] or [(1.0, 1.0)]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    return Quantity(1.0, max(low, _LEAST_CHANCE), high, "factor").named("chance in the fullest log part")
