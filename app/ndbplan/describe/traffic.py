"""What goes over the link of a host while a run lasts: what accepted transactions take.

into, out = traffic(plan, result, "host-a1")      # bytes a second at each moment
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.demand import offered_per_s
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.simulate.model.load_over_time import Floats
    from ndbplan.simulate.result import SimulationResult


def traffic(plan: Plan, result: SimulationResult, host_id: str) -> tuple[Floats, Floats] | None:
    """Bytes a second into and out of a host; TypeError for a job, whose rate depends on its rows."""
    workload = plan.workload(result.workload)
    flow = Estimation(plan, workload).network.host(host_id)
    if flow is None:
        return None
    share = result.accepted / offered_per_s(workload.load)
    return share * flow.in_bytes_per_s.value, share * flow.out_bytes_per_s.value
