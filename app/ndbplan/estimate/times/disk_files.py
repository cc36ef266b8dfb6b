"""Files that are written in full when they are made: undo files and data files; and how fast a disk writes.

create_file(constants, disk, size).value
files_to_create(files, machine)

Source: engine model 5.5; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ndbplan.base.quantity import Quantity
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.storage.machines import Machine
from ndbplan.estimate.times.running import Files
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import SpaceFile

LEAST_DISK_LEFT = 0.05
"""Share of a disk that other programs leave at least."""
LEAST_BESIDE_TRAFFIC = 0.2
"""Of that share what traffic of the cluster leaves at least."""


def disk_left(disk: Disk) -> float:
    """Share of a disk that other programs of its host leave."""
    return max(LEAST_DISK_LEFT, 1.0 - disk.other_load)


def left_beside(disk: Disk, busy: float) -> float:
    """Share of a disk that is left when traffic takes so much of its time, besides other programs."""
    left = disk_left(disk)
    return max(LEAST_BESIDE_TRAFFIC * left, left - busy)


def create_file(
    constants: Constants, disk: Disk, size_bytes: int, factor: float = 1.0, together: int = 1
) -> Quantity:
    """Time to create one data or undo file: it is written in full, on all data nodes at once.

    `factor`: speed of the disk against the plan's; `together`: nodes that make theirs on this disk at once.
    """
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


def files_to_create(files: Files, machine: Machine) -> tuple[FilesToCreate, ...]:
    """Undo files and data files of every log file group and tablespace: each data node has them all."""
    found = ((one, machine.disk_of_folder(one.role, one.folder)) for one in files_of_disk_data(files))
    return tuple(
        FilesToCreate(one.name, disk, one.file.size_bytes, one.file.count)
        for one, disk in found
        if disk is not None
    )


class FilesOfPart(NamedTuple):
    """Files of one entry of a log file group or tablespace."""

    name: str
    role: DiskRole
    folder: str | None
    """Where the plan puts them, whatever the disk of the role."""
    file: SpaceFile


def files_of_disk_data(files: Files) -> Iterator[FilesOfPart]:
    """All undo files, then all data files, as they are made."""
    for group in files.logfile_groups:
        for file in group.undo_files:
            yield FilesOfPart(f"undo files of {group.name}", DiskRole.UNDO, file.directory, file)
    for space in files.tablespaces:
        for file in space.data_files:
            folder = file.directory or space.directory
            yield FilesOfPart(f"data files of {space.name}", DiskRole.DATA_FILES, folder, file)
