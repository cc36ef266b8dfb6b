"""Run a workload against a plan over time.

result = simulate(plan, "blobs-5k", duration_s=60)
result.accepted_per_s, result.errors, result.bottleneck
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.errors import Cancelled
from ndbplan.plan.events import Event
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import JobLoad, Workload
from ndbplan.simulate import columns as col

if TYPE_CHECKING:
    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.state import Change, World

CHUNK_PART_STEPS = 1_000_000
"""Steps of log parts between two looks at `cancelled` and two reports of progress: some 30 ms."""
MOST_BUCKETS = 1200
JOB_TAIL_S = 1.0
"""A run goes on so long after a job's last row."""
JOB_REST = 1e-6
"""Share of a job's rows that rounding may leave."""
PARTIAL_EVERY_S = 0.12
"""Pause between two partial results, by the clock: they look alive and cost little."""


@dataclass(frozen=True)
class StartState:
    """Where a run begins, when not with empty buffers."""

    redo_buffer_bytes: float = 0.0
    """Held by each log part that the workload writes."""
    redo_log_bytes: float = 0.0
    """Log of each such part that is still needed."""
    lcp_target_bytes_per_s: float | None = None
    """Speed the checkpoints are set to, for each node; None: the highest in normal operation."""
    rows_bytes: float | None = None
    """Bytes of all rows of a node as a checkpoint writes them; None: as the plan's tables say."""
    lcp_left_bytes: float | None = None
    """What the running checkpoint has left to write of the fragments it is at; None: none is running."""
    lcp_fragments_left: int = 0
    """Fragments that the running checkpoint has not begun."""
    first_lcp_s: float = 2.0
    """Without a running checkpoint: when the next one starts at the earliest."""
    first_lcp_flushes: int = 0
    """And how many flushes of the log it has to wait for (5 right after a checkpoint)."""


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
        accepted = arrays.out[:, col.O_ACCEPTED]
        stuck = accepted[len(accepted) // 2 :].sum() <= 0 and not to_come
        if run_s >= longest_s or stuck:
            return run_s
        run_s = min(longest_s, 2.0 * run_s)


def loaded_after_s(scenario: Scenario, arrays: Arrays) -> float | None:
    """When the rows of a job were all loaded; None: it is no job, or they were not."""
    import numpy as np

    total = float(scenario.run[col.R_TOTAL])
    if total <= 0:
        return None
    done = np.cumsum(arrays.out[:, col.O_ACCEPTED])
    reached = np.flatnonzero(done >= total * (1.0 - JOB_REST))
    if len(reached) == 0:
        return None
    bucket = int(reached[0])
    lengths = arrays.bucket_lengths_s(scenario)
    before = float(done[bucket - 1]) if bucket else 0.0
    # Within the bucket rows came at the rate of the bucket before: this one may have ended early.
    rate = (float(arrays.out[bucket - 1, col.O_ACCEPTED]) / lengths[bucket - 1]) if bucket else 0.0
    inside = (total - before) / rate if rate > 0 else lengths[bucket]
    return float(lengths[:bucket].sum() + min(inside, lengths[bucket]))


def world_of(
    scenario: Scenario, grown: Scenario, absent: set[str], begin: StartState, most_buckets: int = MOST_BUCKETS
) -> World:
    """The start of a run that events will change; `absent` nodes are not there yet."""
    from ndbplan.simulate.events.outage import Outage
    from ndbplan.simulate.state import World

    there = tuple(process for process in scenario.plan.processes if process.id not in absent)
    world = World(
        scenario=scenario,
        arrays=Arrays.fresh(scenario, begin, most_buckets),
        offered=scenario.offered.copy(),
        grown_cache=grown.page_cache and grown.page_cache.copy(),
        clients=float(scenario.run[col.R_CLIENTS]),
        outage=Outage.fresh(scenario.plan.replace(processes=there) if absent else scenario.plan),
        full_load=scenario.load.copy(),
        grown_load=grown.load.copy(),
        grown_share=grown.share.copy(),
        grown_nodes=grown.nodes.copy(),
    )
    for n, node_class in enumerate(scenario.node_classes):
        world.arrays.node_state[col.S_DEAD, n] = node_class.nodes[0].id in absent
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
            upto = min(upto, begin + loaders.move(scenario, running, arrays, begin))
        if cache is not None:
            if begin >= reads_until:
                reads_until = begin + cache.follow(scenario, running, arrays, begin)
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


@dataclass
class Arrays:
    """State and records of one run."""

    steps_per_bucket: int
    parts: Any
    node_state: Any
    targets: Any
    weights: Any
    cluster: Any
    waiting: Any
    errors: Any
    first: Any
    work: Any
    out: Any
    out_errors: Any
    out_low: Any
    out_high: Any
    out_last: Any
    out_log: Any
    out_disk: Any
    out_busy: Any
    out_node: Any
    shown_s: float
    """When a partial result was made last, by the clock."""
    stopped_s: float = math.inf
    """When the cluster stopped, of the simulated time."""
    standing: list[tuple[float, float]] = field(default_factory=list)
    """From when to when every transaction stood still; infinite: it still does."""
    settings: list[tuple[float, Any]] = field(default_factory=list)
    """Settings of the run from a moment on, where events change them."""

    @classmethod
    def fresh(cls, scenario: Scenario, start: StartState, most_buckets: int = MOST_BUCKETS) -> Arrays:
        """The state at the start of a run that records `most_buckets` moments at most."""
        import numpy as np

        count, parts = scenario.load.shape
        codes = len(col.ERROR_CODES)
        disks = len(scenario.disk_classes)
        per_second = int(scenario.run[col.R_STEPS_PER_SECOND])
        per_bucket = per_second
        while -(-scenario.steps // per_bucket) > most_buckets:
            per_bucket += per_second
        scenario.run[col.R_STEPS_PER_BUCKET] = per_bucket
        buckets = -(-scenario.steps // per_bucket)
        node_state, targets = _node_state(scenario, start)
        return cls(
            steps_per_bucket=per_bucket,
            parts=_part_state(scenario, start),
            node_state=node_state,
            targets=targets,
            weights=np.ones((count, parts)),
            cluster=_cluster_state(scenario, start),
            waiting=np.zeros(max(1, int(scenario.run[col.R_QUEUE_SLOTS]))),
            errors=np.zeros(codes),
            first=np.full((codes, 2), -1.0),
            work=np.zeros((disks, col.W_COLUMNS)),
            out=np.zeros((buckets, col.O_COLUMNS)),
            out_errors=np.zeros((buckets, codes)),
            out_low=np.full((buckets, count, parts), np.inf),
            out_high=np.zeros((buckets, count, parts)),
            out_last=np.zeros((buckets, count, parts)),
            out_log=np.zeros((buckets, count, parts)),
            out_disk=np.zeros((buckets, disks, len(col.PURPOSES))),
            out_busy=np.zeros((buckets, disks, 2)),
            out_node=np.zeros((buckets, count, col.B_COLUMNS)),
            shown_s=time.monotonic(),
            settings=[(0.0, scenario.run.copy())],
        )

    def bucket_lengths_s(self, scenario: Scenario) -> Any:
        """Simulated time of each bucket; the last one may be shorter."""
        import numpy as np

        lengths = np.full(len(self.out), self.steps_per_bucket * scenario.step_s)
        lengths[-1] = scenario.duration_s - lengths[:-1].sum()
        return lengths

    def running(self, scenario: Scenario) -> Any:
        """Buckets in which transactions ran all the time: the cluster ran, and none stood still."""
        import numpy as np

        ends = np.cumsum(self.bucket_lengths_s(scenario))
        begins = np.concatenate([[0.0], ends[:-1]])
        runs = ends <= self.stopped_s + 1e-9
        for begin, end in self.standing:
            runs &= (ends <= begin + 1e-9) | (begins >= end - 1e-9)
        return runs

    def stands_from(self, at_s: float) -> None:
        """Transactions stand still from now on."""
        if not self.standing or self.standing[-1][1] <= at_s:
            self.standing.append((at_s, math.inf))

    def moves_on(self, at_s: float) -> None:
        """Transactions stand still no longer."""
        if self.standing and self.standing[-1][1] == math.inf:
            self.standing[-1] = (self.standing[-1][0], at_s)

    def so_far(self, scenario: Scenario, steps: int) -> tuple[Scenario, Arrays]:
        """The run as if it ended after so many steps."""
        buckets = -(-steps // self.steps_per_bucket)
        recorded = {name: getattr(self, name)[:buckets] for name in vars(self) if name.startswith("out")}
        return replace(scenario, steps=steps), replace(self, **recorded)

    def advance(self, kernel: Callable[..., None], scenario: Scenario, begin: int, end: int) -> None:
        """Let the kernel run the steps begin..end."""
        s = scenario
        kernel(
            begin, end, s.run, s.nodes, s.index, s.slots, s.alive, s.group_count, s.ldm_of, s.load, s.base,
            s.share, s.disks, s.disk_start, s.disk_member, s.offered,
            self.parts, self.node_state, self.targets, self.weights, self.cluster, self.waiting,
            self.errors, self.first, self.work,
            self.out, self.out_errors, self.out_low, self.out_high, self.out_last, self.out_log,
            self.out_disk, self.out_busy, self.out_node,
        )  # fmt: skip


def _part_state(scenario: Scenario, start: StartState) -> Any:
    import numpy as np

    count, parts = scenario.load.shape
    used = scenario.load > 0
    state = np.zeros((col.P_COLUMNS, count, parts))
    state[col.P_OPEN] = 1.0
    state[col.P_LIMIT] = scenario.nodes[:, col.N_BUFFER_LIMIT, None]
    state[col.P_FILL] = np.floor(start.redo_buffer_bytes) * used
    state[col.P_MADE] = np.floor(max(start.redo_buffer_bytes, start.redo_log_bytes)) * used
    state[col.P_DURABLE] = state[col.P_DURABLE_BEFORE] = state[col.P_MADE] - state[col.P_FILL]
    state[col.P_MARK] = state[col.P_MADE]
    # Both logs are laid out from the start of a file.
    file_bytes = scenario.nodes[:, col.N_FILE_BYTES, None]
    state[col.P_FILE_END] = (np.floor(state[col.P_MADE] / file_bytes) + 1.0) * file_bytes
    state[col.P_STOP] = np.minimum(state[col.P_FILE_END], scenario.nodes[:, col.N_LOG_LIMIT, None])
    return state


def _node_state(scenario: Scenario, start: StartState) -> tuple[Any, Any]:
    import numpy as np

    count = len(scenario.nodes)
    state = np.zeros((col.S_COLUMNS, count))
    state[col.S_DATA] = scenario.start[:, 0] if start.rows_bytes is None else start.rows_bytes
    state[col.S_MEMORY] = scenario.start[:, 1]
    state[col.S_SPACE] = scenario.start[:, 2]
    state[col.S_INDEX] = scenario.start[:, 3]
    if start.lcp_left_bytes is not None:
        state[col.S_LCP_LEFT] = start.lcp_left_bytes
        state[col.S_LCP_FRAGMENTS] = start.lcp_fragments_left
    highest = scenario.nodes[:, col.N_LCP_MAX]
    target = start.lcp_target_bytes_per_s
    state[col.S_LCP_TARGET] = highest if target is None else target
    ldms = scenario.nodes[:, col.N_LDMS].astype(int)
    targets = np.zeros((count, int(ldms.max())))
    for n in range(count):
        targets[n, : ldms[n]] = state[col.S_LCP_TARGET, n] / ldms[n]
    return state, targets


def _cluster_state(scenario: Scenario, start: StartState) -> Any:
    import numpy as np

    cluster = np.zeros(col.C_COLUMNS)
    cluster[col.C_LCP_PHASE] = start.lcp_left_bytes is not None
    cluster[col.C_LCP_NUMBER] = start.lcp_left_bytes is not None
    cluster[col.C_LCP_STAGE] = start.first_lcp_flushes
    cluster[col.C_LCP_STAGE_S] = start.first_lcp_s
    cluster[col.C_RANDOM] = float((scenario.seed * 2654435761 + 97531) % 4294967291 + 1)
    return cluster
