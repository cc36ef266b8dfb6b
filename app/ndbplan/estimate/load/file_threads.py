"""Pages a second that are read at random from a disk: by its devices, and by the threads that ask for them.

    reads_of(machines, disk).per_s

A data node reads its data files with DiskIOThreadPool threads, each of which waits for one page at a time
(NDB 7.4.10 and 8.4, AsyncIoThread and the shared queue of NdbFs; the manual on DiskIOThreadPool). A disk that
answers many requests at once is not busy then. How long one read lasts is taken from how long the disk takes
for a small synchronous write, where the plan states that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ndbplan.base.quantity import Quantity
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.storage.machines import Machines
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import Disk, DiskKind

THREADS = "DiskIOThreadPool"


@dataclass(frozen=True, slots=True)
class PageReads:
    """Random reads of one disk."""

    per_s: Quantity
    threads: float | None
    """Threads that ask for pages, where these are too few for what the disk does; None: the disk decides."""
    one_read_s: float
    """Time of one read; 0: not known."""

    def threads_for(self, reads_per_s: float) -> int:
        """Threads that ask for so many pages a second."""
        return math.ceil(reads_per_s * self.one_read_s)


def reads_of(machines: Machines, disk: Disk) -> PageReads:
    """What a disk of data nodes gives them at random."""
    able = Quantity.stated("random reads the disk can do", disk.random_read_iops, "per s")
    asking = machines.with_data_files_on.get(disk.id, ())
    pools = [node.settings.number(THREADS) / disks for node, disks in asking]
    one = _one_read_s(machines.constants, disk)
    # Without the parameter each file has a thread of its own.
    if not catalogue.knows("DB", THREADS, machines.version) or not pools or not all(pools) or one is None:
        return PageReads(able, None, 0.0)
    threads = Quantity.stated(f"threads of {THREADS}", sum(pools), "count")
    by_threads = (threads / one.named("one read")).in_unit("per s")
    if by_threads.value >= able.value:
        return PageReads(able, None, one.value)
    return PageReads(by_threads.within(most=able.value), sum(pools), one.value)


def _one_read_s(constants: Constants, disk: Disk) -> Quantity | None:
    """A hard disk does one after the other; others take about as long as for a small synchronous write."""
    if disk.kind == DiskKind.HDD:
        return Quantity.stated("one read of a device", disk.devices / disk.random_read_iops, "s")
    if not disk.sync_write_latency_s:
        return None
    written = Quantity.stated("synchronous write", disk.sync_write_latency_s, "s")
    return (constants["page_read_per_sync_write"] * written).in_unit("s")
