"""A cluster that works, as far as the duration of starts depends on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ndbplan.estimate.load.checkpoint import CheckpointEstimate
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.disk_data import DiskDataEstimate
from ndbplan.estimate.load.disks import DisksEstimate
from ndbplan.estimate.storage.machines import Machines
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.plan.tables import LogfileGroup, Tablespace


@dataclass(frozen=True, slots=True)
class Files:
    """What is written in full when it is made, by every data node: undo files and data files."""

    logfile_groups: tuple[LogfileGroup, ...]
    tablespaces: tuple[Tablespace, ...]


@dataclass(frozen=True, slots=True)
class Running:
    """A cluster that works: its data nodes, what they hold, and what a workload asks of them."""

    machines: Machines
    held: Mapping[int, NodeData]
    """Of each data node with rows, by node id."""
    tables_and_indexes: int
    files: Files
    loads: Mapping[int, NodeLoad]
    """By node id; none without a workload."""
    checkpoint: CheckpointEstimate
    disk_data: DiskDataEstimate
    disks: DisksEstimate
    """What the workload asks of disks; of none without one."""
    logged: Mapping[int, NodeData] | None = None
    """What files bring back of `held`: tables with logging; None: all of it."""
    unlogged: Mapping[int, NodeData] | None = None
    """The rest, which is in memory only; None: nothing."""
