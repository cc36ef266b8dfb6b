"""Run a workload against a plan over time.

result = simulate(plan, "blobs-5k", duration_s=60)
result.accepted_per_s, result.errors, result.bottleneck
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload
from ndbplan.simulate import columns as col

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.scenario import Scenario

CHUNK_STEPS = 20_000
"""Steps between two looks at `cancelled`, and two reports of progress."""
MOST_BUCKETS = 1200


class Cancelled(Exception):  # noqa: N818 — a request, not a fault
    """The caller asked to stop."""


@dataclass(frozen=True)
class StartState:
    """Where a run begins, when not with empty buffers."""

    redo_buffer_bytes: float = 0.0
    """Held by each log part that the workload writes."""
    lcp_target_bytes_per_s: float | None = None
    """Speed the checkpoints are set to, for each node; None: the highest in normal operation."""
    rows_factor: float = 1.0
    """Rows in the tables against those of the plan."""
    first_lcp_s: float = 2.0
    """When the first checkpoint starts."""


def workload_of(plan: Plan, workload_id: str | None) -> Workload:
    """The workload called so, or the plan's first. Raises SimulationError when there is none."""
    from ndbplan.simulate.scenario import SimulationError

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
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    *,
    start: StartState | None = None,
    every_node: bool = False,
    uneven: float | None = None,
) -> SimulationResult:
    """What happens when `workload_id` (id or name; None: the plan's first) runs for `duration_s` seconds.

    `step_s` is the length of a step, `seed` decides the small unevenness between log parts (standard
    deviation `uneven`, if not the measured one); same arguments, same result. `progress` hears the share
    that is done, `cancelled` is asked now and then. Nodes that behave alike are simulated once unless
    `every_node`. Raises SimulationError for a plan that cannot be simulated, Cancelled when told to stop.
    """
    from ndbplan.simulate.scenario import UNEVEN, compile_scenario

    workload = workload_of(plan, workload_id)
    scenario = compile_scenario(
        plan,
        workload,
        duration_s=workload.duration_s if duration_s is None else duration_s,
        step_s=step_s,
        seed=seed,
        every_node=every_node,
        uneven=UNEVEN if uneven is None else uneven,
    )
    return run_scenario(scenario, start or StartState(), progress=progress, cancelled=cancelled)


def run_scenario(
    scenario: Scenario,
    start: StartState,
    *,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> SimulationResult:
    """Step through a compiled scenario."""
    from ndbplan.simulate.kernel import prepare
    from ndbplan.simulate.result import SimulationResult

    advance = prepare()
    arrays = Arrays.fresh(scenario, start)
    done = 0
    while done < scenario.steps:
        if cancelled is not None and cancelled():
            raise Cancelled
        upto = min(scenario.steps, done + max(1, CHUNK_STEPS // max(1, len(scenario.node_classes) // 4)))
        arrays.advance(advance, scenario, done, upto)
        done = upto
        if progress is not None:
            progress(done / scenario.steps)
    return SimulationResult.of(scenario, arrays)


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
    out: Any
    out_errors: Any
    out_low: Any
    out_high: Any
    out_last: Any
    out_log: Any
    out_disk: Any
    out_busy: Any

    @classmethod
    def fresh(cls, scenario: Scenario, start: StartState) -> Arrays:
        """The state at the start of a run."""
        import numpy as np

        count, parts = scenario.load.shape
        per_second = int(scenario.run[col.R_STEPS_PER_SECOND])
        per_bucket = per_second
        while -(-scenario.steps // per_bucket) > MOST_BUCKETS:
            per_bucket += per_second
        scenario.run[col.R_STEPS_PER_BUCKET] = per_bucket
        buckets = -(-scenario.steps // per_bucket)
        state = np.zeros((col.P_COLUMNS, count, parts))
        state[col.P_OPEN] = 1.0
        state[col.P_FILE_END] = scenario.nodes[:, col.N_FILE_BYTES, None]
        state[col.P_STOP] = np.minimum(
            scenario.nodes[:, col.N_FILE_BYTES], scenario.nodes[:, col.N_LOG_LIMIT]
        )[:, None]
        state[col.P_FILL] = np.floor(start.redo_buffer_bytes) * (scenario.load > 0)
        state[col.P_MADE] = state[col.P_FILL]
        node_state = np.zeros((col.S_COLUMNS, count))
        node_state[col.S_DATA] = scenario.start_data * start.rows_factor
        highest = scenario.nodes[:, col.N_LCP_MAX]
        target = (
            highest if start.lcp_target_bytes_per_s is None else 0 * highest + start.lcp_target_bytes_per_s
        )
        node_state[col.S_LCP_TARGET] = target
        ldms = scenario.nodes[:, col.N_LDMS].astype(int)
        targets = np.zeros((count, int(ldms.max())))
        for n in range(count):
            targets[n, : ldms[n]] = target[n] / ldms[n]
        cluster = np.zeros(col.C_COLUMNS)
        cluster[col.C_LCP_STAGE_S] = start.first_lcp_s
        cluster[col.C_RANDOM] = float((scenario.seed * 2654435761 + 97531) % 4294967291 + 1)
        codes = len(col.ERROR_CODES)
        return cls(
            steps_per_bucket=per_bucket,
            parts=state,
            node_state=node_state,
            targets=targets,
            weights=np.ones(parts),
            cluster=cluster,
            waiting=np.zeros(max(1, int(scenario.run[col.R_QUEUE_STEPS]))),
            errors=np.zeros(codes),
            first=np.full((codes, 2), -1.0),
            out=np.zeros((buckets, col.O_COLUMNS)),
            out_errors=np.zeros((buckets, codes)),
            out_low=np.full((buckets, count, parts), np.inf),
            out_high=np.zeros((buckets, count, parts)),
            out_last=np.zeros((buckets, count, parts)),
            out_log=np.zeros((buckets, count, parts)),
            out_disk=np.zeros((buckets, len(scenario.disk_classes), len(col.PURPOSES))),
            out_busy=np.zeros((buckets, len(scenario.disk_classes))),
        )

    def advance(self, kernel: Callable[..., None], scenario: Scenario, begin: int, end: int) -> None:
        """Let the kernel run the steps begin..end."""
        kernel(
            begin,
            end,
            scenario.run,
            scenario.nodes,
            scenario.index,
            scenario.slots,
            scenario.group_count,
            scenario.ldm_of,
            scenario.load,
            scenario.share,
            scenario.disks,
            scenario.offered,
            self.parts,
            self.node_state,
            self.targets,
            self.weights,
            self.cluster,
            self.waiting,
            self.errors,
            self.first,
            self.out,
            self.out_errors,
            self.out_low,
            self.out_high,
            self.out_last,
            self.out_log,
            self.out_disk,
            self.out_busy,
        )
