"""The highest rate that a scenario sustains, found by halving over simulated runs, and what ends the next.

Rates are tried in a fixed order: an answer for a longer time is never higher.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.advise.executors import at_once
from ndbplan.estimate.constants import constants_of
from ndbplan.simulate.bottleneck import Bottleneck, full_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.simulation import Simulation


FINE_RUN_S = 7200.0
"""So long with steps of 0.1 s; what comes after it is simulated in steps of a second."""
LONGEST_RUN_S = 86400.0
"""Beyond a day its last one is simulated, with the rows there are by then."""
STEP_S, COARSE_STEP_S = 0.1, 1.0
WAITS_S = 1.0
"""Work of so many seconds that waits, or was never sent as clients wait, means the rate is not held."""
PRECISION = 0.002
LEAST_MESSAGES = 2.0
"""A transaction is asked for and answered at least: the links of the data nodes bound any rate."""
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
_EASY = 0.5
"""Where no log and no buffer is ever fuller than so, none lags longer, and so much less waits than may, a
lower rate meets no full one either, whatever turns checkpoints take: it need not be simulated."""
_FIRST_LOOK_STEPS = 100
"""Whether a run can be given up is looked at then, and whenever it has gone on for as long again."""


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


class _Held(IntEnum):
    """How a rate was held."""

    NOT = 0
    JUST = 1
    EASILY = 2


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

    known: dict[float, _Held] = {}

    def is_sustained(rate_per_s: float) -> bool:
        if any(held is _Held.EASILY and rate_per_s <= rate for rate, held in list(known.items())):
            return True
        if rate_per_s not in known:
            known[rate_per_s] = _held_for(scenario, rate_per_s, duration_s, cancelled)
        return known[rate_per_s] is not _Held.NOT

    def failing(rate_per_s: float, is_near: bool) -> float | None:
        """The rate itself, or a little less, that is not sustained; None: all of them are."""
        if rate_per_s >= ceiling.rate_per_s or not is_sustained(rate_per_s):
            return rate_per_s
        lower = [factor * rate_per_s for factor in (LOWER_TOO if is_near else ())]
        held = at_once(is_sustained, lower)
        return next((one for one, is_held in zip(lower, held, strict=True) if not is_held), None)

    def end_of(rate_per_s: float) -> End:
        if rate_per_s >= ceiling.rate_per_s:
            return ceiling.end
        end = _end_at(scenario, rate_per_s, duration_s, cancelled)
        assert end is not None
        return end

    def with_end(rate_per_s: float, end: End, above: float = 0.0) -> tuple[float, End]:
        """A rate at its ceiling, and what the simulation says of the next higher one: both name the same."""
        if end.limit.resource != "none":
            higher = max(above, rate_per_s * (1.0 + PRECISION))
            end = _end_at(scenario, higher, duration_s, cancelled) or end
        return rate_per_s, end

    # Where it ends any time, a longer one comes here too, and its answer is never higher.
    is_of_any_time = ceiling.end.at_s is None and ceiling.rate_per_s > 0
    if is_of_any_time and failing(ceiling.rate_per_s * _JUST_BELOW, True) is None:
        return with_end(ceiling.rate_per_s, ceiling.end)
    if ceiling.rate_per_s > 0:
        # Where rows end it, all below is easy as a rule.
        is_sustained(ceiling.rate_per_s * _JUST_BELOW)
    low, high = _LOWEST_EXPONENT, _HIGHEST_EXPONENT
    rate, above, failed = 0.0, 2.0**high, math.inf
    is_sure = True
    while high - low > PRECISION or not is_sure:
        if high - low <= PRECISION:
            # No higher rate was held than one of the first halves, of which less was not asked.
            is_sure, found = True, failing(rate, True)
            if found is not None:
                low, high, rate, above, failed = _LOWEST_EXPONENT, low, 0.0, rate, found
            continue
        middle, is_near = (low + high) / 2, high - low < _NEAR_EXPONENT
        found = failing(2.0**middle, is_near)
        if found is None:
            low, rate, is_sure = middle, 2.0**middle, is_near
        else:
            high, above, failed = middle, 2.0**middle, found
    end = end_of(failed)
    if end is not ceiling.end:
        if end.at_s is None and end.limit.used < 1.0:
            # So little waits just above the rate that a run of it names nothing as short.
            end = _end_at(scenario, CLEARLY_ABOVE * rate, duration_s, cancelled) or end
        return rate, end
    if ceiling.rate_per_s > rate:
        # The halves stop a little below a limit that is known exactly.
        found = failing(ceiling.rate_per_s * _JUST_BELOW, True)
        if found is not None:
            return rate, end_of(found)
        rate = ceiling.rate_per_s
    return with_end(rate, end, above)


def holds(
    scenario: Scenario, rate_per_s: float, duration_s: float, cancelled: Callable[[], bool] | None = None
) -> bool:
    """Whether a rate is sustained for `duration_s` (FINE_RUN_S at most): given up at the first refusal.

    What `highest_rate` asks of each rate, without asking what ends it.
    """
    if rate_per_s >= ceiling_per_s(scenario, duration_s):
        return False
    return _held(_steady(scenario, rate_per_s, duration_s, STEP_S), rate_per_s, cancelled) is not _Held.NOT


def end_at(
    scenario: Scenario, rate_per_s: float, duration_s: float, cancelled: Callable[[], bool] | None = None
) -> End | None:
    """What ends a rate within the time; None when it is sustained."""
    ceiling = min(_ceilings(scenario, duration_s), key=lambda one: one.rate_per_s)
    if rate_per_s >= ceiling.rate_per_s:
        return ceiling.end
    return _end_at(scenario, rate_per_s, duration_s, cancelled)


def ceiling_per_s(scenario: Scenario, duration_s: float) -> float:
    """A rate that no simulation needs to be asked about: services, links or the room for rows end it."""
    return min(one.rate_per_s for one in _ceilings(scenario, duration_s))


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


class _Stage(NamedTuple):
    """A piece of a long time that is simulated."""

    scenario: Scenario
    """At a steady rate."""
    gone_s: float
    """Time before it that is not."""


def _stages(scenario: Scenario, rate_per_s: float, duration_s: float) -> Iterator[_Stage]:
    """What is simulated of the time that a rate is to be sustained."""
    import numpy as np

    yield _Stage(_steady(scenario, rate_per_s, min(duration_s, FINE_RUN_S), STEP_S), 0.0)
    if duration_s <= FINE_RUN_S:
        return
    coarse = _with_step(scenario, COARSE_STEP_S)
    yield _Stage(_steady(coarse, rate_per_s, min(duration_s, LONGEST_RUN_S), COARSE_STEP_S), 0.0)
    if duration_s <= LONGEST_RUN_S:
        return
    gone_s = duration_s - LONGEST_RUN_S
    each = [
        (node.inserted_bytes, node.memory_bytes, node.space_bytes, node.index_bytes)
        for node in coarse.laws.nodes
    ]
    start = (coarse.start + rate_per_s * gone_s * np.array(each)).clip(min=0.0)
    cache = coarse.page_cache and coarse.page_cache.after(rate_per_s * gone_s)
    late = replace(coarse, start=start, page_cache=cache)
    yield _Stage(_steady(late, rate_per_s, LONGEST_RUN_S, COARSE_STEP_S), gone_s)


def _end_at(
    scenario: Scenario, rate_per_s: float, duration_s: float, cancelled: Callable[[], bool] | None
) -> End | None:
    """What ends a rate within the time; None when nothing does."""
    from ndbplan.simulate.run import run_scenario

    for stage in _stages(scenario, rate_per_s, duration_s):
        end = _end_of(run_scenario(stage.scenario, cancelled=cancelled), rate_per_s)
        if end is not None:
            return end if end.at_s is None else replace(end, at_s=end.at_s + stage.gone_s)
    return None


def _held_for(
    scenario: Scenario, rate_per_s: float, duration_s: float, cancelled: Callable[[], bool] | None
) -> _Held:
    """How a rate is held within the time."""
    least = _Held.EASILY
    for stage in _stages(scenario, rate_per_s, duration_s):
        least = min(least, _held(stage.scenario, rate_per_s, cancelled))
        if least is _Held.NOT:
            break
    return least


def _held(steady: Scenario, rate_per_s: float, cancelled: Callable[[], bool] | None) -> _Held:
    """How a run holds its rate: given up as soon as it refuses work or lets it wait."""
    from ndbplan.simulate.simulation import Simulation, Story
    from ndbplan.simulate.steps import Watch, advance

    run, watch = Simulation.begin(Story(steady, steady)), Watch(cancelled=cancelled)
    while run.step < steady.steps:
        advance(run, max(_FIRST_LOOK_STEPS, 2 * run.step), watch)
        if len(_refused(run)) or _lets_wait(run, rate_per_s):
            return _Held.NOT
    return _Held.EASILY if _is_easy(run, rate_per_s) else _Held.JUST


def _is_easy(run: Simulation, rate_per_s: float) -> bool:
    """Whether logs and redo buffers were never more than half full nor half as late as is refused, and hardly
    anything waited.
    """
    import numpy as np

    from ndbplan.simulate.world.indices import OfNode, Part

    parts = run.state.parts
    log = np.maximum(parts[Part.LOG_MOST], parts[Part.MADE] - parts[Part.TAIL]).max(axis=1)
    buffer = run.history.high.max(axis=(0, 2))
    undo = run.history.node[:, :, OfNode.UNDO_USED].max(axis=0)
    most = [(node.log_limit_bytes, node.buffer_limit_bytes, node.undo_limit_bytes) for node in run.laws.nodes]
    full = bool((np.transpose((log, buffer, undo)) > _EASY * np.array(most)).any())
    late = bool((parts[Part.LAG_MOST] > _EASY).any())
    return not full and not late and not _lets_wait(run, _EASY * rate_per_s)


def _with_step(scenario: Scenario, step_s: float) -> Scenario:
    """The scenario in longer steps."""
    from ndbplan.simulate.model.scenario import set_step

    run = scenario.laws.run.copy()
    set_step(run, scenario.plan, step_s)
    return replace(scenario.with_laws(run=run), step_s=step_s)


def _steady(scenario: Scenario, rate_per_s: float, run_s: float, step_s: float) -> Scenario:
    """The scenario under a steady rate, for so long."""
    import numpy as np

    steps = math.ceil(run_s / step_s - 1e-9)
    run = scenario.laws.run.copy()
    run.clients = run.cycle_s = 0.0
    offered = np.full(steps, rate_per_s * step_s)
    return replace(scenario.with_laws(run=run, offered=offered), steps=steps)


def _refused(run: Simulation) -> NDArray[np.intp]:
    """The errors that clients got so far, by their index."""
    import numpy as np

    from ndbplan.simulate.recorded import LEAST_REFUSED

    return np.flatnonzero(run.state.errors >= LEAST_REFUSED)


def _lets_wait(run: Simulation, rate_per_s: float) -> bool:
    """Whether too much work waited, or was never sent as clients wait, in what is recorded as a whole."""
    import numpy as np

    from ndbplan.simulate.world.indices import OfCluster

    whole = run.step // int(run.laws.run.steps_per_bucket)
    totals = run.history.totals if run.step == run.scenario.steps else run.history.totals[:whole]
    unsent = np.cumsum(totals[:, OfCluster.OFFERED] - totals[:, OfCluster.ATTEMPTED])
    waits = max(float(unsent.max(initial=0.0)), float(totals[:, OfCluster.WAITING].max(initial=0.0)))
    return waits > rate_per_s * WAITS_S


def _end_of(run: Simulation, rate_per_s: float) -> End | None:
    """Why a finished run at a steady rate counts as not sustained."""
    import numpy as np

    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.world.indices import ERROR_CODES

    errors, first_at, refused = run.state.errors, run.state.first, _refused(run)
    if len(refused) == 0:
        return End(SimulationResult.of(run).bottleneck) if _lets_wait(run, rate_per_s) else None
    first = min(refused, key=lambda code: first_at[code, 0])
    # What else happens later in an overloaded run is not what ended it.
    alone = np.zeros_like(errors)
    alone[first] = errors[first]
    result = SimulationResult.of(run.with_errors(alone))
    return End(result.bottleneck, float(first_at[first, 0]), ERROR_CODES[first])


def without_limit(scenario: Scenario, limit: Bottleneck) -> Scenario | None:
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
