"""The highest rate a plan sustains for a time under a workload, what ends it, when, and what comes next.

    found = max_load(plan, "blobs-5k", duration_s=3600)
    found.max_per_s, found.limited_by, found.ends_after_s, found.next_limit

A rate is sustained when a simulation of the whole time refuses nothing and holds nothing back, while rows
are added as the mix inserts and deletes. Rates are tried in a fixed order: an answer for a longer time is
never higher.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_duration
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.stored import reach
from ndbplan.plan.plan import Plan
from ndbplan.simulate.bottleneck import Bottleneck, full_of

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.plan.workloads import Workload
    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.simulation import Simulation

DEFAULT_S = 3600.0
LONGEST_S = 10 * 365 * 86400.0
"""Longer than any cluster stays as it was planned."""
FINE_RUN_S = 3600.0
"""So long with steps of 0.1 s; what comes after it is simulated in steps of a second."""
LONGEST_RUN_S = 86400.0
"""Beyond a day its last one is simulated, with the rows there are by then."""
STEP_S, COARSE_STEP_S = 0.1, 1.0
WAITS_S = 1.0
"""Work of so many seconds that waits, or was never sent as clients wait, means the rate is not held."""
PRECISION = 0.002
LEAST_MESSAGES = 2.0
"""A transaction is asked for and answered at least: the links of the data nodes bound any rate."""
NOT_LOADED = "not all rows of the job get in"
_LIFTED = 16.0
_ALL_THE_ROOM = 1e6
_LOWEST_EXPONENT, _HIGHEST_EXPONENT = -10.0, 40.0
"""Rates are searched from 2^-10 to 2^40 per second, always by the same halves."""
_JUST_BELOW = 1.0 - 1e-9
LOWER_TOO = (0.97, 0.985)
"""A rate counts as sustained only when a little less is too: a little less log makes checkpoints take turns
otherwise, and may meet a full log where a little more does not."""
_NEAR_EXPONENT = 1.0
"""So near to the answer, as an exponent of two, less is tried too."""
CLEARLY_ABOVE = 1.05
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
    """Of a job: until its rows are loaded; None: it is no job, or the rows do not get in."""
    is_job: bool = False
    note: str | None = None
    """What is not known of the limits, such as those of clients from anywhere."""

    @property
    def end_text(self) -> str:
        """What ends the next higher rate, and when: `redo log (node 2), error 410 after 57 min`."""
        limit = self.limited_by
        text = limit.where if limit.resource == "none" else f"{limit.resource} ({limit.where})"
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


@dataclass(frozen=True)
class End:
    """Why a rate is not sustained."""

    limit: Bottleneck
    at_s: float | None = None
    """Moment of the first refusal; None: nothing is refused, work waits."""
    code: int | None = None


@dataclass(frozen=True)
class Ceiling:
    """A rate that cannot be exceeded, whatever else happens."""

    rate_per_s: float
    end: End


def max_load(
    plan: Plan,
    workload_id: str | None = None,
    *,
    duration_s: float = DEFAULT_S,
    cancelled: Callable[[], bool] | None = None,
    progress: Callable[[float], None] | None = None,
    with_next: bool = True,
) -> MaxLoad:
    """The highest rate at which the mix of `workload_id` (None: the plan's first) runs for `duration_s`.

    The plan's rows are there at the start. A job answers with the time it takes, whatever `duration_s` says:
    its rows are fixed, and its highest rate is the mean one. Raises SimulationError for a plan that cannot
    be simulated or a time out of range, Cancelled when told to stop.
    """
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.simulate.model.node_rows import SimulationError
    from ndbplan.simulate.model.scenario import compile_scenario
    from ndbplan.simulate.run import workload_of

    if not 1.0 <= duration_s <= LONGEST_S:
        raise SimulationError(
            f"a load cannot be sustained for {duration_s:g} s", where="--for", fix="name 1 s to 10 years"
        )
    workload = workload_of(plan, workload_id)
    if workload.load.kind == "job":
        return _time_of_job(plan, workload, cancelled, progress)
    now = Estimation(plan, workload)
    asked_per_s = now.offered_per_s
    # What one transaction costs is worked out from a rate, which must not be nothing.
    mix = workload if asked_per_s > 0 else _at_one_per_s(workload)
    scenario = compile_scenario(plan, mix, duration_s=min(duration_s, FINE_RUN_S), step_s=STEP_S, seed=1)
    rate, end = highest_rate(scenario, duration_s, cancelled)
    if progress is not None:
        progress(0.5)
    after = None
    if with_next and end.limit.resource != "none":
        lifted = _lift(scenario, end.limit)
        if lifted is not None:
            next_rate, next_end = highest_rate(lifted, duration_s, cancelled)
            after = NextLimit(_quantity(lifted, next_rate, next_end.limit), next_end.limit)
    if progress is not None:
        progress(1.0)
    return MaxLoad(
        _quantity(scenario, rate, end.limit),
        end.limit,
        after,
        asked_per_s,
        duration_s,
        _moment(plan, end),
        end.code,
        note=_note(now.under(mix)),
    )


def _note(now: Estimation) -> str | None:
    """Why the nodes that clients come through are no limit; None: they are one, or none is asked for."""
    return None if now.cpu.clients is None else now.cpu.clients.note


def _time_of_job(
    plan: Plan,
    workload: Workload,
    cancelled: Callable[[], bool] | None,
    progress: Callable[[float], None] | None,
) -> MaxLoad:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.simulate.run import simulate

    now = Estimation(plan, workload)
    result = simulate(plan, workload.id, cancelled=cancelled, progress=progress)
    first, loaded = result.first_error, result.loaded_after_s
    taken_s = result.duration_s if loaded is None else loaded.value
    rate = float((result.accepted * result.bucket_s).sum()) / taken_s
    mean = Quantity.stated("mean over the job", rate, "tx/s", "simulation")
    per_s = reach(plan, "load").widened(mean * constants_of(plan)["simulated_rate"])
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


def _moment(plan: Plan, end: End) -> Quantity | None:
    if end.at_s is None:
        return None
    first = Quantity.stated(f"first error {end.code}", end.at_s, "s", "simulation just above the rate")
    return reach(plan, "load").widened(first * constants_of(plan)["simulated_moment"])


def bound_per_s(scenario: Scenario) -> float:
    """Transactions per second that the links of the data nodes carry when each needs two bare messages."""

    plan = scenario.plan
    hosts = {node.host_id for node_class in scenario.node_classes for node in node_class.nodes}
    link = sum(plan.host(host_id).network_bytes_per_s for host_id in hosts)
    return link / (LEAST_MESSAGES * constants_of(plan)["network_protocol_bytes"].value)


def highest_rate(
    scenario: Scenario, duration_s: float, cancelled: Callable[[], bool] | None = None
) -> tuple[float, End]:
    """(highest transactions per second sustained for `duration_s`, what ends the next higher rate).

    When nothing refuses work at the most that the data nodes' links can carry: that rate, resource "none".
    """
    ceiling = min(_ceilings(scenario, duration_s), key=lambda c: c.rate_per_s)

    def end_at(rate_per_s: float, is_near: bool) -> End | None:
        if rate_per_s >= ceiling.rate_per_s:
            return ceiling.end
        for factor in (1.0, *LOWER_TOO) if is_near else (1.0,):
            reason = _end_at(scenario, factor * rate_per_s, duration_s, cancelled)
            if reason is not None:
                return reason
        return None

    low, high = _LOWEST_EXPONENT, _HIGHEST_EXPONENT
    rate, above, end = 0.0, 2.0**high, ceiling.end
    while high - low > PRECISION:
        middle = (low + high) / 2
        reason = end_at(2.0**middle, high - low < _NEAR_EXPONENT)
        if reason is None:
            low, rate = middle, 2.0**middle
        else:
            high, above, end = middle, 2.0**middle, reason
    if end is not ceiling.end:
        if end.at_s is None and end.limit.used < 1.0:
            # So little waits just above the rate that a run of it names nothing as short.
            end = _end_at(scenario, CLEARLY_ABOVE * rate, duration_s, cancelled) or end
        return rate, end
    if ceiling.rate_per_s > rate:
        # The halves stop a little below a limit that is known exactly.
        reason = end_at(ceiling.rate_per_s * _JUST_BELOW, True)
        if reason is not None:
            return rate, reason
        rate = ceiling.rate_per_s
    if end.limit.resource != "none":
        # What the simulation says of the next higher rate, so that both name the same.
        end = _end_at(scenario, max(above, rate * (1.0 + PRECISION)), duration_s, cancelled) or end
    return rate, end


def _ceilings(scenario: Scenario, duration_s: float) -> list[Ceiling]:
    """Rates that the services, or the room for rows, exclude without a simulation."""

    links = "no limit found up to what the links of the data nodes carry"
    ceilings = [Ceiling(bound_per_s(scenario), End(Bottleneck("none", links, 0.0)))]
    for service in scenario.services[:1]:
        limit = Bottleneck(service.resource, service.where, 1.0, service.object_ids)
        ceilings.append(Ceiling(service.max_per_s, End(limit)))
    for n, node_class in enumerate(scenario.node_classes):
        ids = tuple(node.id for node in node_class.nodes[:1])
        node, (_, memory, space, index) = scenario.laws.nodes[n], scenario.start[n]
        for code, grows, most, held in (
            (827, node.memory_bytes, node.memory_limit_bytes, memory),
            (1601, node.space_bytes, node.space_limit_bytes, space),
            (625, node.index_bytes, node.index_limit_bytes, index),
        ):
            if grows <= 0:
                continue
            room = max(0.0, most - held)
            limit = full_of(code, node_class.node_id, 2.0, ids)
            ceilings.append(Ceiling(float(room / grows / duration_s), End(limit, duration_s, code)))
    return ceilings


def _end_at(
    scenario: Scenario, rate_per_s: float, duration_s: float, cancelled: Callable[[], bool] | None
) -> End | None:
    """What ends a rate within the time; None when nothing does."""
    import numpy as np

    end = _run(scenario, rate_per_s, min(duration_s, FINE_RUN_S), STEP_S, cancelled)
    if end is None and duration_s > FINE_RUN_S:
        coarse = _with_step(scenario, COARSE_STEP_S)
        run_s = min(duration_s, LONGEST_RUN_S)
        end = _run(coarse, rate_per_s, run_s, COARSE_STEP_S, cancelled)
        if end is None and duration_s > LONGEST_RUN_S:
            gone_s = duration_s - LONGEST_RUN_S
            each = [
                (node.inserted_bytes, node.memory_bytes, node.space_bytes, node.index_bytes)
                for node in coarse.laws.nodes
            ]
            start = (coarse.start + rate_per_s * gone_s * np.array(each)).clip(min=0.0)
            cache = coarse.page_cache and coarse.page_cache.after(rate_per_s * gone_s)
            late = replace(coarse, start=start, page_cache=cache)
            end = _run(late, rate_per_s, LONGEST_RUN_S, COARSE_STEP_S, cancelled)
            if end is not None and end.at_s is not None:
                end = replace(end, at_s=end.at_s + gone_s)
    return end


def _with_step(scenario: Scenario, step_s: float) -> Scenario:
    """The scenario in longer steps."""
    from ndbplan.simulate.model.scenario import set_step

    run = scenario.laws.run.copy()
    set_step(run, scenario.plan, step_s)
    return replace(scenario.with_laws(run=run), step_s=step_s)


def _run(
    scenario: Scenario,
    rate_per_s: float,
    run_s: float,
    step_s: float,
    cancelled: Callable[[], bool] | None,
) -> End | None:
    """What ends a steady rate within one simulation."""
    import math

    import numpy as np

    from ndbplan.simulate.run import run_scenario

    steps = math.ceil(run_s / step_s - 1e-9)
    run = scenario.laws.run.copy()
    run.clients = run.cycle_s = 0.0
    offered = np.full(steps, rate_per_s * step_s)
    steady = replace(scenario.with_laws(run=run, offered=offered), steps=steps)
    return _end_of(run_scenario(steady, cancelled=cancelled), rate_per_s)


def _end_of(run: Simulation, rate_per_s: float) -> End | None:
    """Why a finished run at a steady rate counts as not sustained."""
    import numpy as np

    from ndbplan.simulate.result import LEAST_REFUSED, SimulationResult
    from ndbplan.simulate.world.indices import ERROR_CODES, OfCluster

    totals, errors, first_at = run.history.totals, run.state.errors, run.state.first
    unsent = np.cumsum(totals[:, OfCluster.OFFERED] - totals[:, OfCluster.ATTEMPTED])
    waits = max(float(unsent.max(initial=0.0)), float(totals[:, OfCluster.WAITING].max(initial=0.0)))
    refused = np.flatnonzero(errors >= LEAST_REFUSED)
    if len(refused) == 0 and waits <= rate_per_s * WAITS_S:
        return None
    if len(refused) == 0:
        return End(SimulationResult.of(run).bottleneck)
    first = min(refused, key=lambda code: first_at[code, 0])
    # What else happens later in an overloaded run is not what ended it.
    alone = np.zeros_like(errors)
    alone[first] = errors[first]
    result = SimulationResult.of(run.with_errors(alone))
    return End(result.bottleneck, float(first_at[first, 0]), ERROR_CODES[first])


def _lift(scenario: Scenario, limit: Bottleneck) -> Scenario | None:
    """The scenario without a limit: the disk, log or files in question made much larger."""
    from ndbplan.simulate.model.load_over_time import DISK_READS, service_per_s

    if limit.resource == "disk":
        disks = scenario.laws.disks.copy()
        for d, disk_class in enumerate(scenario.disk_classes):
            if any(disk.id in limit.object_ids for disk in disk_class.disks):
                disks[d].write_bytes_per_s *= _LIFTED
        return scenario.with_laws(disks=disks)
    left = tuple(s for s in scenario.services if s.resource != limit.resource)
    if len(left) < len(scenario.services) or limit.resource == DISK_READS:
        run = scenario.laws.run.copy()
        run.service_per_s = run.service_beside_reads_per_s = service_per_s(left)
        run.send_buffered = 0.0
        if limit.resource == DISK_READS:
            run.reading_share = 0.0
        return replace(scenario.with_laws(run=run), services=left)
    if limit.resource == "operation records":
        run = scenario.laws.run.copy()
        run.pool *= _LIFTED
        return scenario.with_laws(run=run)
    nodes = scenario.laws.nodes.copy()
    for node in nodes:
        # Room for rows is taken away as a limit altogether: whatever is left is the rate times the time.
        match limit.resource:
            case "redo log":
                node.log_bytes *= _LIFTED
                node.log_limit_bytes *= _LIFTED
            case "redo files":
                node.file_bytes *= _LIFTED
            case "undo log":
                node.undo_limit_bytes *= _LIFTED
            case "memory":
                node.memory_limit_bytes *= _ALL_THE_ROOM
                node.index_limit_bytes *= _ALL_THE_ROOM
            case "tablespace":
                node.space_limit_bytes *= _ALL_THE_ROOM
            case _:
                return None
    return scenario.with_laws(nodes=nodes)


def _quantity(scenario: Scenario, rate: float, limit: Bottleneck) -> Quantity:
    terms = (
        Term("log of one transaction", scenario.redo_bytes_per_transaction, "bytes", "formula"),
        *(
            Term(f"bandwidth of {d.hostnames[0]} {d.disks[0].name}", d.bytes_per_s, "bytes/s", "plan")
            for d in scenario.disk_classes[:4]
        ),
        Term(f"limited by {limit.resource} ({limit.where})", rate, "tx/s", "bisection over simulated runs"),
    )
    for service in scenario.services:
        if (service.resource, service.where) == (limit.resource, limit.where):
            # Disk reads are asked for with the rows of the end, the service for those of the beginning.
            share = min(1.0, rate / service.max_per_s)
            low, high = share * service.low_per_s, share * service.high_per_s
            return Quantity.spanning(rate, (low, high), "tx/s", (*terms, *service.why))
    found = Quantity.exact(rate, "tx/s", terms) * constants_of(scenario.plan)["simulated_rate"]
    found = reach(scenario.plan, "load").widened(found)
    if limit.resource in ("redo log", "redo files"):
        chance = _chance_of_parts(scenario, limit)
        found = found if chance.low == chance.high else (found / chance).in_unit("tx/s")
    return found


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
