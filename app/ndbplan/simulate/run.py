"""Run a workload against a plan over time.

result = simulate(plan, "blobs-5k", duration_s=60)
result.accepted_per_s, result.errors, result.bottleneck
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.plan.events import Event
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import JobLoad, Workload
from ndbplan.simulate.model.start import StartState
from ndbplan.simulate.world.indices import OfCluster

if TYPE_CHECKING:
    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.simulation import Simulation, Story
    from ndbplan.simulate.steps import Watch

JOB_TAIL_S = 1.0
"""A run goes on so long after a job's last row."""


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
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.steps import Watch

    workload = workload_of(plan, workload_id)
    course = Course(plan, workload, (*workload.events, *events), step_s, seed, every_node, uneven)
    if duration_s is None:
        duration_s = course.length_s(start, cancelled)
    run = to_the_end(course.story(duration_s), start, Watch(progress, cancelled, partial))
    return SimulationResult.of(run)


def to_the_end(story: Story, start: StartState | None = None, watch: Watch | None = None) -> Simulation:
    """A whole run: a session in which nobody acts."""
    from ndbplan.simulate.session import Session

    session = Session(story, start)
    session.advance_to_end(watch)
    return session.simulation


def run_scenario(
    scenario: Scenario, start: StartState | None = None, cancelled: Callable[[], bool] | None = None
) -> Simulation:
    """A whole run in which nothing happens."""
    from ndbplan.simulate.simulation import Story
    from ndbplan.simulate.steps import Watch

    return to_the_end(Story(scenario, scenario), start, Watch(cancelled=cancelled))


class Course(NamedTuple):
    """What runs and what happens meanwhile, for however long."""

    plan: Plan
    workload: Workload
    events: Sequence[Event]
    step_s: float
    seed: int
    every_node: bool = False
    uneven: float = 1.0

    def length_s(self, start: StartState | None = None, cancelled: Callable[[], bool] | None = None) -> float:
        """How long it lasts when nobody says: as the workload does, or until a job's rows are in."""
        if isinstance(self.workload.load, JobLoad):
            return _job_duration_s(self, start, cancelled)
        return self.workload.duration_s

    def story(self, seconds: float) -> Story:
        """The course as arrays, every node apart where events tell them apart."""
        from ndbplan.simulate.model.scenario import compile_scenario
        from ndbplan.simulate.simulation import Story

        def compiled(of: Plan, with_load: Workload) -> Scenario:
            return compile_scenario(
                of,
                with_load,
                duration_s=seconds,
                step_s=self.step_s,
                seed=self.seed,
                every_node=self.every_node or bool(self.events),
                uneven=self.uneven,
            )

        if not self.events:
            scenario = compiled(self.plan, self.workload)
            return Story(scenario, scenario)
        from ndbplan.simulate.events.story import story_of

        return story_of(self.plan, self.workload, self.events, compiled)


def _job_duration_s(course: Course, start: StartState | None, cancelled: Callable[[], bool] | None) -> float:
    """How long a job runs, its events included: until its rows are loaded, or never will be.

    They never will be when the cluster stopped for good, or when nothing has been accepted for half of the
    time and nothing is still to happen.
    """
    from ndbplan.estimate.loaded import job_of
    from ndbplan.simulate.model.scenario import MAX_STEPS
    from ndbplan.simulate.steps import Watch

    job = job_of(course.plan, course.workload)
    assert job is not None
    longest_s = MAX_STEPS * course.step_s
    run_s = min(longest_s, 1.02 * job.transactions / job.rate_per_s.value + JOB_TAIL_S)
    while True:
        run = to_the_end(course.story(run_s), start, Watch(cancelled=cancelled))
        to_come = any(not due.is_look for due in run.due) and run.outage.stop is None
        loaded = run.loaded_after_s()
        if loaded is not None:
            return min(longest_s, loaded + JOB_TAIL_S)
        accepted = run.history.totals[:, OfCluster.ACCEPTED]
        stuck = accepted[len(accepted) // 2 :].sum() <= 0 and not to_come
        if run_s >= longest_s or stuck:
            return run_s
        run_s = min(longest_s, 2.0 * run_s)
