"""Which workload of a plan is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, RatePoint, Transaction, Workload

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation


IDLE = Workload.model_construct(
    id="idle",
    name="no load",
    transactions=(Transaction.model_construct(name="nothing", operations=()),),
    load=OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=0.0),)),
)
"""Nobody sends anything: for a cluster that is only worked with. No plan holds it."""


def workload_or_idle(plan: Plan, workload_id: str | None) -> Workload:
    """The workload called so, or the plan's first, or that nobody sends anything. Raises GoneError."""
    return workload_of(plan, workload_id) if plan.workloads else IDLE


def workload_of(plan: Plan, workload_id: str | None) -> Workload:
    """The workload called so, or the plan's first. Raises SimulationError without any, GoneError."""
    from ndbplan.simulate.model.node_rows import SimulationError

    if not plan.workloads:
        raise SimulationError(
            "the plan has no workload", where="workloads", fix="add a workload that says what clients do"
        )
    return plan.workloads[0] if workload_id is None else plan.workload(workload_id)


def estimation_of(plan: Plan, workload_id: str | None = None) -> Estimation:
    """The plan under the workload called so, or its first. Raises SimulationError when there is none."""
    from ndbplan.estimate.estimation import Estimation

    return Estimation(plan, workload_of(plan, workload_id))
