"""Run a workload against a plan over time.

result = simulate(estimation_of(plan, "blobs-5k"), duration_s=60)
result.accepted_per_s, result.errors, result.bottleneck
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.base.kept import keeping
from ndbplan.plan.events import Event
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import JobLoad, Workload
from ndbplan.simulate.model.start import StartState
from ndbplan.simulate.model.workload import workload_of
from ndbplan.simulate.world.indices import OfCluster

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.simulation import Simulation, Story
    from ndbplan.simulate.steps import Watch

JOB_TAIL_S = 1.0
"""A run goes on so long after a job's last row."""
FINE_JOB_STEPS = 1_000_000
"""A job that lasts longer than so many of its steps is simulated in steps of JOB_STEP_S."""
JOB_STEP_S = 1.0
JOB_TIMES = 20.0
PATIENCE_S = 2 * 86400.0
LONGEST_JOB_S = 2_000_000.0
"""Rows that are not in after 20 times what the loader alone needs count as rows that never get in; two days
are waited for at least, and 23 at most."""
MOST_PART_STEPS = 400_000_000
"""The work of simulating a job to its end is bounded: steps times log parts."""


@keeping()
def simulate(
    now: Estimation,
    *,
    duration_s: float | None = None,
    step_s: float = 0.1,
    seed: int = 1,
    events: Sequence[Event] = (),
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    partial: Callable[[SimulationResult], None] | None = None,
    start: StartState | None = None,
    every_node: bool = False,
    uneven: float = 1.0,
) -> SimulationResult:
    """What happens when the workload (None: the plan's first) runs for `duration_s` seconds; None: its own.

    `step_s` is the length of a step (a job of days takes longer ones), `seed` decides the unevenness between
    log parts (`uneven` times the measured one); same arguments, same result. `events` happen besides those
    of the workload. `progress` hears the share that is done, `partial` gets what was found so far,
    `cancelled` is asked now and then. Nodes that behave alike are simulated once unless `every_node` or an
    event tells them apart. Raises SimulationError for a plan that cannot be simulated, Cancelled when told
    to stop.
    """
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.steps import Watch

    workload = now.workload or workload_of(now.plan, None)
    course = Course(now.under(workload), (*workload.events, *events), step_s, seed, every_node, uneven)
    if duration_s is None and isinstance(workload.load, JobLoad):
        duration_s, unfinished = _end_of_job(course, start, cancelled)
        if unfinished is not None:
            return SimulationResult.of(unfinished)
        course = course.for_job(duration_s)
    elif duration_s is None:
        duration_s = workload.duration_s
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

    now: Estimation
    """Under the workload that runs."""
    events: Sequence[Event]
    step_s: float
    seed: int
    every_node: bool = False
    uneven: float = 1.0
    every_disk: bool = False
    """Disks that nobody writes to yet are there too."""

    @property
    def workload(self) -> Workload:
        """What runs."""
        assert self.now.workload is not None
        return self.now.workload

    def length_s(self, start: StartState | None = None, cancelled: Callable[[], bool] | None = None) -> float:
        """How long it lasts when nobody says: as the workload does, or until a job's rows are in."""
        if isinstance(self.workload.load, JobLoad):
            return _end_of_job(self, start, cancelled)[0]
        return self.workload.duration_s

    def longest_job_s(self, alone_s: float) -> float:
        """How long a job is simulated at most whose loader alone needs so long."""
        from ndbplan.simulate.model.scenario import MAX_STEPS

        return min(LONGEST_JOB_S, MAX_STEPS * self.step_s, max(JOB_TIMES * alone_s, PATIENCE_S))

    def for_job(self, seconds: float) -> Course:
        """The same, in longer steps when it would take too many for a job that lasts so long."""
        if seconds <= FINE_JOB_STEPS * self.step_s:
            return self
        return self._replace(step_s=max(self.step_s, JOB_STEP_S))

    def story(self, seconds: float) -> Story:
        """The course as arrays, every node apart where events tell them apart."""
        from ndbplan.simulate.model.scenario import build
        from ndbplan.simulate.simulation import Story

        def compiled(of: Plan, with_load: Workload) -> Scenario:
            return build(
                self.now.of(of).under(with_load),
                duration_s=seconds,
                step_s=self.step_s,
                seed=self.seed,
                every_node=self.every_node or bool(self.events),
                every_disk=self.every_disk,
                uneven=self.uneven,
            )

        if not self.events:
            scenario = compiled(self.now.plan, self.workload)
            return Story(scenario, scenario)
        from ndbplan.simulate.events.story import story_of

        return story_of(self.now.plan, self.workload, self.events, compiled)


def _end_of_job(
    course: Course, start: StartState | None, cancelled: Callable[[], bool] | None
) -> tuple[float, Simulation | None]:
    """How long a job runs, its events included: until its rows are loaded, or never will be; then that run.

    They never will be when the cluster stopped for good, when nothing is still to happen and what was
    accepted lately would not do within the longest time, or when that is over.
    """
    from ndbplan.estimate.loaded import job_of
    from ndbplan.simulate.steps import Watch

    job = job_of(course.now.plan, course.workload)
    assert job is not None
    alone_s = job.transactions / job.rate_per_s.value
    longest_s = course.longest_job_s(alone_s)
    run_s = min(longest_s, 1.02 * alone_s + JOB_TAIL_S)
    while True:
        story = course.for_job(run_s).story(run_s)
        longest_s = max(run_s, min(longest_s, MOST_PART_STEPS / story.scenario.laws.load.size * JOB_STEP_S))
        run = to_the_end(story, start, Watch(cancelled=cancelled))
        to_come = any(not due.is_look for due in run.due) and run.outage.stop is None
        loaded = run.loaded_after_s()
        if loaded is not None:
            return min(longest_s, loaded + JOB_TAIL_S), None
        accepted = run.history.totals[:, OfCluster.ACCEPTED]
        half = len(accepted) // 2
        per_s = float(accepted[half:].sum()) / float(run.bucket_lengths_s()[half:].sum())
        left = job.transactions - float(accepted.sum())
        if run_s >= longest_s or (not to_come and per_s * (longest_s - run_s) < left):
            return run_s, run
        # What was accepted lately says when it may be over; what is still to happen may change that.
        expected_s = 1.05 * left / per_s if per_s > 0 and not to_come else 0.0
        run_s = min(longest_s, max(2.0 * run_s, run_s + expected_s))
