"""Which workload of a plan is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation


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
