"""Files that are written in full when they are made: undo files and data files; and how fast a disk writes.

create_file(plan, disk, size).value
files_to_create(plan, node)
"""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.base.quantity import Quantity
from ndbplan.configuration.directories import disk_for
from ndbplan.estimate.constants import constants_of
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole

LEAST_DISK_LEFT = 0.05
"""Share of a disk that other programs leave at least."""
_LEAST_BESIDE_TRAFFIC = 0.2
"""Of that share what traffic of the cluster leaves at least."""


def disk_left(disk: Disk) -> float:
    """Share of a disk that other programs of its host leave."""
    return max(LEAST_DISK_LEFT, 1.0 - disk.other_load)


def left_beside(disk: Disk, busy: float) -> float:
    """Share of a disk that is left when traffic takes so much of its time, besides other programs."""
    left = disk_left(disk)
    return max(_LEAST_BESIDE_TRAFFIC * left, left - busy)


def create_file(plan: Plan, disk: Disk, size_bytes: int, factor: float = 1.0, together: int = 1) -> Quantity:
    """Time to create one data or undo file: it is written in full, on all data nodes at once.

    `factor`: speed of the disk against the plan's; `together`: nodes that make theirs on this disk at once.
    """
    constants = constants_of(plan)
    bytes_per_s = disk.sequential_write_bytes_per_s * disk_left(disk) * factor / max(1, together)
    size = Quantity.stated("size", size_bytes, "bytes")
    speed = Quantity.stated(f"sequential writing of {disk.name}", bytes_per_s, "bytes/s")
    # Never faster than the disk writes, whatever the margin of the measurement.
    margin = constants["file_create_margin"]
    slower = Quantity(1.0, 1.0, max(1.0, margin.high), "factor", margin.why)
    return size / speed * slower + constants["create_file_fixed_s"]


@dataclass(frozen=True, slots=True)
class FilesToCreate:
    """Files of one kind that a data node makes on one disk, one after the other."""

    name: str
    disk: Disk
    size_bytes: int
    """Of one file."""
    count: int


def files_to_create(plan: Plan, node: DataNode) -> tuple[FilesToCreate, ...]:
    """Undo files and data files of every log file group and tablespace: each data node has them all."""
    undo, data = (disk_for(plan, node, role) for role in (DiskRole.UNDO, DiskRole.DATA_FILES))
    files = []
    if undo is not None:
        files += [
            FilesToCreate(f"undo files of {group.name}", undo, file.size_bytes, file.count)
            for group in plan.logfile_groups
            for file in group.undo_files
        ]
    if data is not None:
        files += [
            FilesToCreate(f"data files of {space.name}", data, file.size_bytes, file.count)
            for space in plan.tablespaces
            for file in space.data_files
        ]
    return tuple(files)
