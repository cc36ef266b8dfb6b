"""One run of a simulation for the window, in a thread; and how errors and moments are written."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.desktop.document.kernel import prepare_kernel
from ndbplan.desktop.document.tasks import Task
from ndbplan.ndb.errors import ndb_error
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.desktop.widgets.charts import TimeChart
    from ndbplan.simulate.bands import Bands
    from ndbplan.simulate.result import SimulationResult


@dataclass(frozen=True)
class Run:
    """A run that is over: what was simulated, and what came of it."""

    plan: Plan
    workload_id: str
    result: SimulationResult
    elapsed_s: float
    bands: Bands | None = None
    """What most of many runs with uncertain constants do."""


class KeptRun(NamedTuple):
    """What the panel shows of a run."""

    run: Run | None
    before: SimulationResult | None
    workload_id: str | None
    at_s: float
    alone: TimeChart | None
    """The chart that has all the room."""


def simulate(plan: Plan, workload_id: str, duration_s: float, runs: int, task: Task) -> Run:
    """Simulate in a thread of the window; with `runs` also that often with uncertain constants drawn anew."""
    from ndbplan.simulate import run
    from ndbplan.simulate.model.workload import estimation_of

    prepare_kernel(task)
    task.report(0.0, "Simulating…")
    began = time.perf_counter()
    now = estimation_of(plan, workload_id)
    result = run.simulate(
        now,
        duration_s=duration_s,
        progress=lambda share: task.report(share, "Simulating…"),
        cancelled=task.cancelled,
        partial=task.show_partial_result,
    )
    elapsed_s = time.perf_counter() - began
    if not runs:
        return Run(plan, workload_id, result, elapsed_s)
    from ndbplan.simulate.bands import monte_carlo

    bands = monte_carlo(
        now,
        runs=runs,
        duration_s=duration_s,
        progress=lambda share: task.report(share, f"Simulating {runs} times…"),
        cancelled=task.cancelled,
    )
    return Run(plan, workload_id, result, time.perf_counter() - began, bands)


def error_text(code: int) -> str:
    """What a code says, in a few words."""
    error = ndb_error(code)
    return error.text if error else "temporary error"


def clock(at_s: float) -> str:
    """`00:00:41`."""
    whole = int(at_s)
    return f"{whole // 3600:02d}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
