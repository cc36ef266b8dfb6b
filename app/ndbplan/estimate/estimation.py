"""Everything that is shown after an edit: all estimates of a plan under one workload, in one result.

overview(plan, "busy-hour").to_json(why=True)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ndbplan.base.errors import Cancelled
from ndbplan.estimate.load.checkpoint import CheckpointEstimate, checkpoint
from ndbplan.estimate.load.cpu import CpuEstimate, cpu
from ndbplan.estimate.load.disk_data import DiskDataEstimate, disk_data
from ndbplan.estimate.load.disks import DisksEstimate, demand_of
from ndbplan.estimate.load.network import NetworkEstimate, network
from ndbplan.estimate.load.redo import RedoEstimate, redo
from ndbplan.estimate.space.disk_space import DiskSpaceEstimate, disk_space
from ndbplan.estimate.storage.distribution import distribute
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.estimate.storage.memory import MemoryEstimate, memory
from ndbplan.estimate.storage.shares import has_partitions
from ndbplan.estimate.storage.skew import distribution_json
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

PARTS = ("distribution", "memory", "redo", "checkpoint", "disks", "disk_data", "disk_space", "network", "cpu")
"""Names of the parts, as `ndbplan estimate --only` takes them."""


@dataclass(frozen=True)
class Overview:
    """All estimates of one plan under one workload."""

    workload: str | None
    """Name of the workload; None: the plan has none."""
    distribution: tuple[TableDistribution, ...]
    memory: MemoryEstimate
    redo: RedoEstimate
    checkpoint: CheckpointEstimate
    disks: DisksEstimate
    disk_data: DiskDataEstimate
    disk_space: DiskSpaceEstimate
    network: NetworkEstimate
    cpu: CpuEstimate

    def to_json(self, why: bool = False, only: tuple[str, ...] = PARTS) -> dict[str, Any]:
        """The shape of `ndbplan estimate`; `only` names the parts wanted. KeyError for an unknown part."""
        parts: dict[str, Callable[[], Any]] = {
            "distribution": lambda: {"tables": [distribution_json(table) for table in self.distribution]},
            "memory": lambda: self.memory.to_json(why),
            "redo": lambda: self.redo.to_json(why),
            "checkpoint": lambda: self.checkpoint.to_json(why),
            "disks": lambda: self.disks.to_json(why),
            "disk_data": lambda: self.disk_data.to_json(why),
            "disk_space": lambda: self.disk_space.to_json(why),
            "network": lambda: self.network.to_json(why),
            "cpu": lambda: self.cpu.to_json(why),
        }
        return {"workload": self.workload, **{name: parts[name]() for name in only}}


def chosen_workload(plan: Plan, workload_id: str | None) -> Workload | None:
    """The workload with this id or name; without one the plan's first, None when it has none."""
    if workload_id is not None:
        return plan.workload(workload_id)
    return plan.workloads[0] if plan.workloads else None


def overview(
    plan: Plan, workload_id: str | None = None, cancelled: Callable[[], bool] = lambda: False
) -> Overview:
    """All estimates of a plan. Parts whose inputs an edit left alone come from a cache.

    Raises Cancelled soon after `cancelled()` turns true, KeyError for an unknown workload.
    """
    workload = chosen_workload(plan, workload_id)

    def check() -> None:
        if cancelled():
            raise Cancelled

    distribution = []
    if has_partitions(plan):
        for table in plan.tables:
            check()
            distribution.append(distribute(plan, table))
    check()
    held = memory(plan)
    check()
    logs = redo(plan, workload)
    check()
    checkpoints = checkpoint(plan, workload)
    check()
    pages = disk_data(plan, workload)
    disks = demand_of(plan, logs, checkpoints, pages)
    check()
    space = disk_space(plan, workload)
    check()
    links = network(plan, workload)
    check()
    return Overview(
        workload=None if workload is None else workload.name,
        distribution=tuple(distribution),
        memory=held,
        redo=logs,
        checkpoint=checkpoints,
        disks=disks,
        disk_data=pages,
        disk_space=space,
        network=links,
        cpu=cpu(plan, workload),
    )
