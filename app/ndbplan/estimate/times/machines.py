"""Data nodes as far as durations depend on them: what each of them runs on, holds and does meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint import CheckpointEstimate
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.disk_data import DiskDataEstimate
from ndbplan.estimate.load.disks import DisksEstimate
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.tables import LogfileGroup, Tablespace


@dataclass(frozen=True, slots=True)
class Machine:
    """A data node and what it runs on."""

    node: DataNode
    host: Host
    settings: NodeSettings
    ldm_threads: int
    disks: Mapping[DiskRole, Disk | None]

    @property
    def node_id(self) -> int:
        """Of the data node."""
        return self.node.node_id

    @property
    def used_disks(self) -> dict[str, Disk]:
        """Disks that the node uses, by id."""
        return {disk.id: disk for disk in self.disks.values() if disk is not None}


@dataclass(frozen=True, slots=True)
class Machines:
    """The data nodes of a cluster."""

    version: NdbVersion
    constants: Constants
    settings: NodeSettings
    """Of data nodes that state nothing of their own."""
    classic: bool
    """Whether fragments follow the LDM threads (log part modulo LDM threads), as before 8.0.23."""
    nodes: tuple[Machine, ...]
    groups: tuple[tuple[Machine, ...], ...]
    """The node groups; nodes reserved for another one are in none."""
    locations: tuple[Location, ...]

    @property
    def members(self) -> list[Machine]:
        """The nodes of all node groups."""
        return [machine for group in self.groups for machine in group]

    def by_id(self, node_id: int) -> Machine:
        """The data node with this node id. StopIteration for an unknown one."""
        return next(machine for machine in self.nodes if machine.node_id == node_id)

    def on_host(self, host_id: str) -> int:
        """How many data nodes share a host."""
        return sum(1 for machine in self.nodes if machine.host.id == host_id)


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
