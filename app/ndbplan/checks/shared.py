"""Estimates that several rules look at, worked out once for each plan and workload."""

from __future__ import annotations

from ndbplan.base.memo import memo_by_identity
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload


@memo_by_identity(16)
def estimation(plan: Plan, workload: Workload | None = None) -> Estimation:
    """The estimates of a plan under a workload, or without load."""
    return Estimation(plan, workload)


@memo_by_identity(4)
def paths_of(plan: Plan) -> dict[str, DataNodePaths]:
    """Directories of every data node, by process id."""
    return {node.id: data_node_paths(plan, node) for node in plan.data_nodes}
