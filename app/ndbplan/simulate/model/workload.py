"""Which workload of a plan is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation


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


def estimation_of(plan: Plan, workload_id: str | None = None) -> Estimation:
    """The plan under the workload called so, or its first. Raises SimulationError when there is none."""
    from ndbplan.estimate.estimation import Estimation

    return Estimation(plan, workload_of(plan, workload_id))
