"""Data nodes and disks that behave alike: each class is simulated as one."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DataNode


@dataclass(frozen=True)
class NodeClass:
    """Data nodes that behave alike and are simulated as one."""

    nodes: tuple[DataNode, ...]
    redo_disk: int
    log_parts: int
    redo_buffer_bytes: int

    @property
    def node_id(self) -> int:
        """Node id of the first of them."""
        return self.nodes[0].node_id


@dataclass(frozen=True)
class DiskClass:
    """Disks that get the same streams and are simulated as one."""

    disks: tuple[Disk, ...]
    hostnames: tuple[str, ...]
    bytes_per_s: float
    """What redo, checkpoints and the rest may use: bandwidth without the load of other programs."""
