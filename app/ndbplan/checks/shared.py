"""Estimates that several rules look at, computed once per plan."""

from __future__ import annotations

from ndbplan.base.memo import memo_by_identity
from ndbplan.configuration.directories import DataNodePaths, data_node_paths
from ndbplan.estimate.load.checkpoint import CheckpointEstimate, checkpoint
from ndbplan.estimate.load.cpu import CpuEstimate, cpu
from ndbplan.estimate.load.disk_data import DiskDataEstimate, disk_data
from ndbplan.estimate.load.disks import DisksEstimate
from ndbplan.estimate.load.disks import demand_of as disk_demand
from ndbplan.estimate.load.redo import RedoEstimate, redo
from ndbplan.estimate.space.disk_space import DiskSpaceEstimate, disk_space
from ndbplan.estimate.storage.memory import MemoryEstimate, memory
from ndbplan.estimate.times.backup import BackupEstimate, backup
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload


@memo_by_identity(4)
def memory_of(plan: Plan) -> MemoryEstimate:
    """Memory of the plan's tables and nodes."""
    return memory(plan)


@memo_by_identity(16)
def demand_of(plan: Plan, workload: Workload) -> DisksEstimate:
    """What a workload asks of the disks."""
    return disk_demand(
        plan, redo_of(plan, workload), checkpoint_of(plan, workload), disk_data(plan, workload)
    )


@memo_by_identity(4)
def paths_of(plan: Plan) -> dict[str, DataNodePaths]:
    """Directories of every data node, by process id."""
    return {node.id: data_node_paths(plan, node) for node in plan.data_nodes}


@memo_by_identity(16)
def redo_of(plan: Plan, workload: Workload) -> RedoEstimate:
    """Redo log under a workload."""
    return redo(plan, workload)


@memo_by_identity(16)
def checkpoint_of(plan: Plan, workload: Workload) -> CheckpointEstimate:
    """Local checkpoints under a workload."""
    return checkpoint(plan, workload)


@memo_by_identity(16)
def cpu_of(plan: Plan, workload: Workload) -> CpuEstimate:
    """Processors under a workload."""
    return cpu(plan, workload)


@memo_by_identity(4)
def backup_of(plan: Plan) -> BackupEstimate:
    """A backup without load."""
    return backup(plan)


@memo_by_identity(4)
def disk_data_of(plan: Plan) -> DiskDataEstimate:
    """Disk data under the plan's first workload."""
    return disk_data(plan, plan.workloads[0] if plan.workloads else None)


def space_of(plan: Plan) -> DiskSpaceEstimate:
    """Disk space without load: what is written whatever the workload."""
    return disk_space(plan)


@memo_by_identity(16)
def space_under(plan: Plan, workload: Workload) -> DiskSpaceEstimate:
    """Disk space with the changes that backups log under a workload."""
    return disk_space(plan, workload)
