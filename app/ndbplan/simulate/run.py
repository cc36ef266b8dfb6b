"""Run a workload against a plan over time.

result = simulate(plan, "blobs-5k", duration_s=60)
result.accepted_per_s, result.errors, result.bottleneck
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.base.errors import Cancelled
from ndbplan.plan.events import Event
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import JobLoad, Workload
from ndbplan.simulate.arrays import MOST_BUCKETS, Arrays, StartState, loaded_after_s
from ndbplan.simulate.world import OfCluster

if TYPE_CHECKING:
    from ndbplan.simulate.events.state import Change, World
    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.result import SimulationResult

CHUNK_PART_STEPS = 1_000_000
"""Steps of log parts between two looks at `cancelled` and two reports of progress: some 30 ms."""
JOB_TAIL_S = 1.0
"""A run goes on so long after a job's last row."""
PARTIAL_EVERY_S = 0.12
"""Pause between two partial results, by the clock: they look alive and cost little."""


def workload_of(plan: Plan, workload_id: str | None) -> Workload:
    """The workload called so, or the plan's first. Raises SimulationError when there is none."""
    from ndbplan.simulate.model.node_rows import SimulationError

    if not plan.workloads:
        raise SimulationError(
            "the plan has no workload", where="workloads", fix="add a workload that says what clients do"
        )
    if workload_id is None:
        return plan.workloads[0]
    try:
        return plan.workload(workload_id)
    except KeyError:
        names = ", ".join(workload.name for workload in plan.workloads[:8])
        raise SimulationError(
            f"the plan has no workload '{workload_id[:64]}'", where="workloads", fix=f"use one of: {names}"
        ) from None


def simulate(
    plan: Plan,
    workload_id: str | None = None,
    duration_s: float | None = None,
    step_s: float = 0.1,
    seed: int = 1,
    events: Sequence[Event] = (),
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    *,
    partial: Callable[[SimulationResult], None] | None = None,
    start: StartState | None = None,
    every_node: bool = False,
    uneven: float = 1.0,
) -> SimulationResult:
    """What happens when `workload_id` (id or name; None: the plan's first) runs for `duration_s` seconds.

    `step_s` is the length of a step, `seed` decides the unevenness between log parts (`uneven` times the
    measured one); same arguments, same result. `events` happen besides those
    of the workload. `progress` hears the share that is done, `partial` gets what was found so far,
    `cancelled` is asked now and then. Nodes that behave alike are simulated once unless `every_node` or an
    event tells them apart. Raises SimulationError for a plan that cannot be simulated, Cancelled when told
    to stop.
    """
    workload = workload_of(plan, workload_id)
    happening = (*workload.events, *events)
    begin = start or StartState()
    course = _Course(plan, workload, happening, step_s, seed, every_node, uneven)
    if duration_s is None:
        duration_s = course.length_s(begin, cancelled)
    if not happening:
        return run_scenario(
            course.scenario(duration_s), begin, progress=progress, cancelled=cancelled, partial=partial
        )
    world, changes = course.world(duration_s, begin)
    run_world(world, changes, progress, cancelled, partial)
    return world.result()


class _Course(NamedTuple):
    """What runs and what happens meanwhile, for however long."""

    plan: Plan
    workload: Workload
    happening: Sequence[Event]
    step_s: float
    seed: int
    every_node: bool = False
    uneven: float = 1.0

    def length_s(self, start: StartState, cancelled: Callable[[], bool] | None) -> float:
        """How long it lasts when nobody says: as the workload does, or until a job's rows are in."""
        if isinstance(self.workload.load, JobLoad):
            return _job_duration_s(self, start, cancelled)
        return self.workload.duration_s

    def compiled(self, of: Plan, with_load: Workload, seconds: float) -> Scenario:
        """A plan and a load as arrays, every node apart where events tell them apart."""
        from ndbplan.simulate.model.scenario import compile_scenario

        return compile_scenario(
            of,
            with_load,
            duration_s=seconds,
            step_s=self.step_s,
            seed=self.seed,
            every_node=self.every_node or bool(self.happening),
            uneven=self.uneven,
        )

    def scenario(self, seconds: float) -> Scenario:
        """A run without events."""
        return self.compiled(self.plan, self.workload, seconds)

    def world(self, seconds: float, start: StartState) -> tuple[World, list[Change]]:
        """A run with events, and these."""
        from ndbplan.simulate.events.growth import eventful

        def compile_plan(of: Plan, with_load: Workload) -> Scenario:
            return self.compiled(of, with_load, seconds)

        scenario, grown, changes, absent = eventful(self.plan, self.workload, self.happening, compile_plan)
        return world_of(scenario, grown, absent, start), changes


def length_s(
    plan: Plan,
    workload: Workload,
    happening: Sequence[Event],
    step_s: float,
    seed: int,
    cancelled: Callable[[], bool] | None = None,
) -> float:
    """How long a run lasts when nobody says: as the workload does, or until a job's rows are in."""
    return _Course(plan, workload, happening, step_s, seed).length_s(StartState(), cancelled)


def _job_duration_s(course: _Course, start: StartState, cancelled: Callable[[], bool] | None) -> float:
    """How long a job runs, its events included: until its rows are loaded, or never will be.

    They never will be when the cluster stopped for good, or when nothing has been accepted for half of the
    time and nothing is still to happen.
    """
    from ndbplan.estimate.load.jobs import job_of
    from ndbplan.simulate.model.scenario import MAX_STEPS

    job = job_of(course.plan, course.workload)
    assert job is not None
    longest_s = MAX_STEPS * course.step_s
    run_s = min(longest_s, 1.02 * job.transactions / job.rate_per_s.value + JOB_TAIL_S)
    while True:
        to_come = False
        if course.happening:
            world, changes = course.world(run_s, start)
            run_world(world, changes, cancelled=cancelled)
            scenario, arrays = world.scenario, world.arrays
            to_come = bool(world.waiting) and world.outage.stop is None
        else:
            scenario = course.scenario(run_s)
            arrays = run_arrays(scenario, start, cancelled)
        loaded = loaded_after_s(scenario, arrays)
        if loaded is not None:
            return min(longest_s, loaded + JOB_TAIL_S)
        accepted = arrays.out[:, OfCluster.ACCEPTED]
        stuck = accepted[len(accepted) // 2 :].sum() <= 0 and not to_come
        if run_s >= longest_s or stuck:
            return run_s
        run_s = min(longest_s, 2.0 * run_s)


def world_of(
    scenario: Scenario, grown: Scenario, absent: set[str], begin: StartState, most_buckets: int = MOST_BUCKETS
) -> World:
    """The start of a run that events will change; `absent` nodes are not there yet."""
    from ndbplan.simulate.events.outage import Outage
    from ndbplan.simulate.events.state import World

    there = tuple(process for process in scenario.plan.processes if process.id not in absent)
    world = World(
        scenario=scenario,
        arrays=Arrays.fresh(scenario, begin, most_buckets),
        offered=scenario.offered.copy(),
        grown_cache=grown.page_cache and grown.page_cache.copy(),
        clients=float(scenario.run.clients),
        outage=Outage.fresh(scenario.plan.replace(processes=there) if absent else scenario.plan),
        full_load=scenario.load.copy(),
        grown_load=grown.load.copy(),
        grown_share=grown.share.copy(),
        grown_nodes=grown.nodes.copy(),
    )
    for n, node_class in enumerate(scenario.node_classes):
        world.arrays.node_state[n].is_dead = node_class.nodes[0].id in absent
    return world


def run_scenario(
    scenario: Scenario,
    start: StartState,
    *,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    partial: Callable[[SimulationResult], None] | None = None,
) -> SimulationResult:
    """Step through a compiled scenario."""
    from ndbplan.simulate.result import SimulationResult

    arrays = Arrays.fresh(scenario, start)
    _steps(scenario, arrays, 0, scenario.steps, progress, cancelled, partial)
    return SimulationResult.of(scenario, arrays)


def run_arrays(scenario: Scenario, start: StartState, cancelled: Callable[[], bool] | None = None) -> Arrays:
    """Step through a scenario and keep its records as they are: for many runs of which one is shown."""
    arrays = Arrays.fresh(scenario, start)
    _steps(scenario, arrays, 0, scenario.steps, None, cancelled, None)
    return arrays


def run_world(
    world: World,
    changes: list[Change],
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    partial: Callable[[SimulationResult], None] | None = None,
) -> None:
    """Step through a scenario that events change."""
    scenario = world.scenario
    done = 0
    world.later(*changes)
    while world.waiting:
        change = world.waiting[0]
        step = max(done, round(change.at_s / scenario.step_s))
        if step >= scenario.steps:
            break
        world.waiting.pop(0)
        if change.of_cluster and world.outage.stop is not None:
            continue
        _steps(scenario, world.arrays, done, step, progress, cancelled, partial)
        done = step
        world.now_s, world.at_s = round(step * scenario.step_s, 9), change.at_s
        if change.action(world) is not False:
            world.say(change.text)
    _steps(scenario, world.arrays, done, scenario.steps, progress, cancelled, partial)


def _steps(
    scenario: Scenario,
    arrays: Arrays,
    begin: int,
    end: int,
    progress: Callable[[float], None] | None,
    cancelled: Callable[[], bool] | None,
    partial: Callable[[SimulationResult], None] | None,
) -> None:
    """Run some steps, with a look now and then at what the caller wants."""
    from ndbplan.simulate.kernel.ready import prepare
    from ndbplan.simulate.model.meanwhile import follow_reads, move_loaders
    from ndbplan.simulate.result import SimulationResult

    kernel = prepare()
    chunk = chunk_steps(scenario)
    running, loaders = scenario, scenario.loaders
    if loaders is not None:
        running = replace(scenario, load=scenario.load.copy(), share=scenario.share.copy())
    cache, reads_until = scenario.page_cache, begin
    if cache is not None:
        running = replace(running, run=scenario.run.copy(), nodes=scenario.nodes.copy())
    while begin < end:
        if cancelled is not None and cancelled():
            raise Cancelled
        upto = min(end, begin + chunk)
        if loaders is not None:
            upto = min(upto, begin + move_loaders(scenario, running, arrays.accepted, begin))
        if cache is not None:
            if begin >= reads_until:
                reads_until = begin + follow_reads(scenario, running, arrays.accepted, begin)
                arrays.note_service(begin * scenario.step_s, running)
            upto = min(upto, reads_until)
        arrays.advance(kernel, running, begin, upto)
        begin = upto
        if progress is not None:
            progress(begin / scenario.steps)
        if (
            partial is not None
            and begin < scenario.steps
            and time.monotonic() - arrays.shown_s >= PARTIAL_EVERY_S
        ):
            arrays.shown_s = time.monotonic()
            partial(SimulationResult.of(*arrays.so_far(scenario, begin)))


def chunk_steps(scenario: Scenario) -> int:
    """Steps to take at once between two looks at what the caller wants."""
    return max(1, CHUNK_PART_STEPS // max(8, scenario.load.size))
