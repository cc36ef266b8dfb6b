"""Estimates that several rules look at, computed once per plan."""

from __future__ import annotations

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.disks import DisksEstimate, disk_demand
from ndbplan.estimate.memory import MemoryEstimate, memory
from ndbplan.plan.paths import DataNodePaths, data_node_paths
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload


@memo_by_identity(4)
def memory_of(plan: Plan) -> MemoryEstimate:
    """Memory of the plan's tables and nodes."""
    return memory(plan)


@memo_by_identity(16)
def demand_of(plan: Plan, workload: Workload) -> DisksEstimate:
    """What a workload asks of the disks."""
    return disk_demand(plan, workload)


@memo_by_identity(4)
def paths_of(plan: Plan) -> dict[str, DataNodePaths]:
    """Directories of every data node, by process id."""
    return {node.id: data_node_paths(plan, node) for node in plan.data_nodes}
