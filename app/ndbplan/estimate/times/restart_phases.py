"""Phases of a data node's start: how long each takes, what bounds it and what would shorten it.

Names and order follow ndbinfo.restart_info. Rates per LDM thread come from the article of the sample
terabyte-load (7.6.7, 2018), waits from there and from a running 7.4.10 cluster; each is a constant with a
range that a calibration replaces.

Source: engine model 6 and 16.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf

from ndbplan.base.quantity import (
    Quantity,
    Term,
    product_of_independent,
    rising,
    total,
    total_of_independent,
)
from ndbplan.base.shapes import Shape
from ndbplan.base.sharing import Unknowns, total_sharing
from ndbplan.base.units import GIB, MIB
from ndbplan.configuration.settings import NodeSettings, redo_log_parts
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.checkpoint import NodeCheckpoint
from ndbplan.estimate.load.checkpoint_speed import is_partial
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.disk_data import NodeDiskData
from ndbplan.estimate.load.processors import on_core
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.estimate.storage.machines import Machine
from ndbplan.estimate.storage.node_data import LdmData, NodeData
from ndbplan.estimate.times.copy_links import Crossing
from ndbplan.estimate.times.disk_files import FilesToCreate, create_file, left_beside
from ndbplan.estimate.times.speed_terms import Limit, change_term, slowest, spread_terms
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.ndb.speed_changes import speed_change
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DiskRole

LEAST_COPY_SHARE = 0.2
"""Share of the copy speed that traffic leaves at least."""


@dataclass(frozen=True, slots=True)
class Phase(Shape):
    """One phase of a start."""

    JSON = "name duration_s bound shorten"

    name: str
    duration_s: Quantity
    bound: str
    """What decides its duration."""
    shorten: str
    """What would make it shorter; empty: nothing in the plan."""
    unknowns: Unknowns = field(default=(), compare=False, repr=False)
    """What its duration was multiplied by that no one knows well, and other phases were, too."""


def in_turn(phases: Iterable[Phase]) -> Quantity:
    """Phases one after the other: what makes one longer than computed makes others so that share it."""
    return total_sharing(((one.name, one.duration_s, one.unknowns) for one in phases), "s")


@dataclass(frozen=True, slots=True)
class OtherNode:
    """Another data node of the cluster, as far as a start waits for its checkpoint."""

    machine: Machine
    data: NodeData
    writes_bytes_per_s: float
    """What its disk can take of a checkpoint."""
    disk: str

    @property
    def checkpoint_bytes(self) -> float:
        """Of all its rows."""
        return self.data.checkpoint_bytes


@dataclass(frozen=True, slots=True)
class Starting:
    """Everything a start of one data node depends on."""

    machine: Machine
    constants: Constants
    classic: bool
    """Whether fragments follow the LDM threads."""
    tables_and_indexes: int
    files: tuple[FilesToCreate, ...]
    data: NodeData | None
    """None: the node holds no rows."""
    fullest: LdmData
    """The most that any LDM thread of the node holds of each quantity."""
    ldm: float
    """LDM threads that hold rows and have a core to run on."""
    core: Quantity
    """Work of its cores against those that were timed."""
    slowest_core: Quantity
    """The same of it and of the nodes that rows are copied from."""
    links: tuple[Crossing, ...]
    """Links that all rows of the node cross when they are copied to it, with what else crosses them then."""
    source_disks: tuple[tuple[Disk, float], ...]
    """Disks with the data files of the nodes that rows are copied from."""
    disk_factor: float
    """Speed of the disks against what the plan states."""
    sharing: dict[str, int]
    """Data nodes that start at once and use a disk, by its id."""
    busy: dict[str, float]
    """Share of the time of each disk that the traffic of other nodes takes, by its id."""
    load: NodeLoad | None
    """The node's load while it restarts; None: no traffic."""
    checkpoint: NodeCheckpoint | None
    disk_data: NodeDiskData | None
    others: tuple[OtherNode, ...]
    """Other data nodes that take part in the checkpoint it waits for; alike ones once."""
    sql_nodes_down: int
    redo_bytes: float | None = None
    """Log of the fullest part to run again; None: what the load leaves."""
    unlogged: Starting | None = None
    """The same of rows that no file of the node holds, and other nodes do; None: there are none."""

    @property
    def settings(self) -> NodeSettings:
        """Effective parameters of the node."""
        return self.machine.settings

    @property
    def version(self) -> NdbVersion:
        """Of the product."""
        return self.machine.settings.version

    @property
    def chance(self) -> tuple[float, float]:
        """Least and most that the fullest LDM thread holds by chance, against `fullest`."""
        return (self.data.fullest_low, self.data.fullest_high) if self.data is not None else (1.0, 1.0)

    @property
    def rows(self) -> float:
        """Rows of the node."""
        return self.data.rows if self.data is not None else 0.0

    @property
    def row_bytes(self) -> float:
        """Bytes of rows of the node, in memory."""
        return self.data.row_bytes if self.data is not None else 0.0

    @property
    def of_devices(self) -> Unknowns:
        """What a phase shares with others that a disk or a link decides."""
        return (("device_time", self.constants["device_time"]),)

    @property
    def of_cores(self) -> Unknowns:
        """What a phase shares with others that LDM threads decide.

        How far work grows with the clock is not: memory and caches bound one phase more than another.
        """
        if self.machine.host.core_gain_per_clock is None:
            return ()
        return (("core_gain_stated", 1 / self.constants["core_gain_stated"]),)

    @property
    def of_threads(self) -> Unknowns:
        """The same of restoring and building indexes, where threads wait for a core."""
        if self.data is None or self.ldm >= len(self.data.by_ldm):
            return self.of_cores
        return (*self.of_cores, ("restore_core_share", self.constants["restore_core_share"]))

    def has(self, change: str) -> bool:
        """Whether the version has a change of the product."""
        return speed_change(change).is_in(self.version)

    def per_s(self, name: str) -> Quantity:
        """What one of its LDM threads does in a second, by the name of the constant."""
        return on_core(self.constants[name], self.core)

    def disk(self, role: DiskRole) -> Disk | None:
        """The node's disk for a purpose."""
        return self.machine.disks[role]

    def left_of(self, disk: Disk) -> float:
        """Share of a disk that this start gets beside other programs, starting nodes and traffic."""
        left = left_beside(disk, self.busy.get(disk.id, 0.0) / self.disk_factor)
        return left / max(1, self.sharing.get(disk.id, 1))

    def reads(self, disk: Disk) -> float:
        """Bytes per second that this start reads from a disk, in order."""
        return disk.sequential_read_bytes_per_s * self.disk_factor * self.left_of(disk)

    def writes(self, disk: Disk) -> float:
        """Bytes per second that this start writes to a disk, in order."""
        return disk.sequential_write_bytes_per_s * self.disk_factor * self.left_of(disk)


def busiest_thread(fullest: float, whole: float, threads: float) -> float:
    """What the busiest thread has to do: all of its own, or its part of everything on fewer cores."""
    least = whole / threads
    # What is even but for rounding is even.
    return fullest if fullest > least * (1 + 1e-9) else least


def busiest_of(start: Starting, whole: float, fullest: float, unit: str) -> Quantity:
    """The same of an amount that the fullest thread of the node holds, with what chance makes of it."""
    least, most = (fullest * chance for chance in start.chance)
    return rising(
        lambda held: busiest_thread(held, whole, start.ldm),
        Quantity.spanning(fullest, (least, most), unit),
        unit=unit,
    )


def uneven_terms(start: Starting) -> tuple[Term, ...]:
    """Why more LDM threads need not mean fewer rows in the fullest: log parts are whole; none where they fit.

    The LDM thread of a fragment is its log part modulo the LDM threads (placements that 7.4.10 and 8.4.8
    reported), so 16 log parts leave some of 10 threads with two of them and the others with one.
    """
    ldm = start.machine.ldm_threads
    parts = redo_log_parts(start.settings)
    if not start.data or not start.classic or parts % ldm == 0:
        return ()
    each = len(start.data.by_ldm) * start.data.fullest_ldm.rows / start.rows if start.rows else 1.0
    source = f"distribution: {parts} log parts do not divide by {ldm} LDM threads (log part modulo threads)"
    return (Term("rows of the fullest LDM thread against the mean", each, "factor", source),)


def at_ldm_threads(
    start: Starting,
    whole: float,
    fullest: float,
    rate: Quantity,
    name: str,
    unit: str,
    threads: float = inf,
) -> Quantity:
    """Time of LDM threads for an amount: that of the fullest one, or of all on the cores that there are, or
    of so many threads.

    A thread waits for its files now and then: on fewer cores than threads others work meanwhile.
    """
    time = busiest_of(start, whole, fullest, unit).within(least=whole / threads) / rate
    waits: tuple[Term, ...] = ()
    if whole / start.ldm > fullest * (1 + 1e-9):
        share = start.constants["restore_core_share"]
        alone, waits = Quantity.stated(name, fullest, unit) / rate, share.why
        shared = product_of_independent(time.in_unit("s"), share)
        time = rising(max, alone.in_unit("s"), shared, unit="s")
    return time.because(
        Term(name, whole, unit, "distribution"),
        Term("in the fullest LDM thread", fullest, unit, "distribution"),
        Term(
            "LDM threads with rows and cores to run on",
            start.ldm,
            "",
            "plan",
            spread_terms(start.version),
        ),
        *uneven_terms(start),
        *waits,
        *rate.why,
    )


STOP = "stop"
REDO_LOG_FILES, DISK_FILES = "create redo log files", "create undo and data files"


def stop(start: Starting) -> Phase:
    """From the command to the end of the process: subscriptions are handed over first."""
    time = start.constants["stop_handover_s"]
    return Phase(STOP, time.because(*time.why, era(start)), "protocol with SQL nodes", "")


def era(start: Starting) -> Term:
    """On which running cluster rates and waits were measured."""
    return change_term("measured_on_8_4", start.version)


def allocate_memory(start: Starting) -> Phase:
    """Allocate and touch all memory of the node: by one thread before 7.4.1."""
    names = ("DataMemory", "IndexMemory", "DiskPageBufferMemory")
    memory = sum(start.settings.number(name) for name in names)
    constants = start.constants
    touched = Quantity.stated("DataMemory, IndexMemory and DiskPageBufferMemory", memory, "bytes")
    rate = constants["memory_touch_bytes_per_s"]
    slower = Quantity.exact(1.0, "factor")
    if not start.has("memory_touched_by_threads"):
        slower = constants["memory_touch_one_thread_factor"]
    by_threads = change_term("memory_touched_by_threads", start.version)
    time = (slower * touched / rate).because(*touched.why, *rate.why, by_threads, *slower.why)
    return Phase("allocate memory", time, "page faults of the kernel", "less DataMemory; huge pages")


def early_phases(start: Starting) -> Phase:
    """Node id, heartbeats, start permission, copy of the metadata, inclusion."""
    constants = start.constants
    memory = start.settings.number("DataMemory") / GIB
    time = (
        constants["restart_failure_s"]
        + constants["restart_metadata_s"]
        + Quantity.stated("tables and indexes", start.tables_and_indexes, "")
        * constants["restart_metadata_table_s"]
        + Quantity.stated("DataMemory", memory, "GiB") * constants["restart_early_s_per_gib"]
    )
    return Phase("start permission and metadata", time, "protocol between the nodes", "fewer tables")


def create_files(start: Starting) -> Phase:
    """Create the redo log files of an initial start: sparse (one page per MiB) or full."""
    size = redo_log_parts(start.settings) * log_bytes_per_part(start.settings)
    text = start.settings.value("InitFragmentLogFiles")
    sparse = start.has("redo_files_sparse") and str(text or "sparse").lower() != "full"
    disk = start.disk(DiskRole.REDO)
    constants = start.constants
    margin = constants["file_create_margin"]
    speed = start.writes(disk) if disk is not None else constants["unknown_disk_bytes_per_s"].value
    if sparse:
        page = constants["sparse_init_page_s"]
        latency, source = page.value, page.why[0]
        if disk is not None:
            latency = (disk.sync_write_latency_s or 1 / disk.random_write_iops) / start.disk_factor
            latency *= max(1, start.sharing.get(disk.id, 1))
            source = Term(f"synchronous write of a page on {disk.name}", latency, "s", "plan")
        pages = size / MIB
        least = pages * PAGE_BYTES / speed
        why = [Term("one page for each MiB", pages, "", "source: Dblqh::writeInitMbyte"), source]
        value = max(pages * latency, least)
        shorten = "a disk with faster synchronous writes; fewer or smaller redo log files"
    else:
        least = value = size / speed
        why = [Term("sequential writing", speed, "bytes/s", "plan")]
        known = start.has("redo_files_sparse")
        shorten = (
            "InitFragmentLogFiles=SPARSE; a faster disk" if known else "a faster disk; a smaller redo log"
        )
    files = Term("redo log files", size, "bytes", "NoOfFragmentLogParts × files × size")
    terms = (files, *why, *margin.why, change_term("fragment_log_parts", start.version),
             change_term("redo_files_sparse", start.version))  # fmt: skip
    slower = Quantity.spanning(1.0, (margin.low, margin.high), "factor")
    time = (Quantity.exact(value, "s") * slower).within(least=least).because(*terms)
    return Phase(REDO_LOG_FILES, time, f"disk {disk.name}" if disk else "disk", shorten)


def create_disk_files(start: Starting) -> Phase | None:
    """Create undo and data files, which are written in full; None without any.

    A new node makes them, and so does a node that starts with --initial (unless they were kept: then it is
    done sooner). Source: manual, disk data storage; NDB 7.4.10 and 8.4.8 lgman and tsman.
    """
    parts = []
    slow: tuple[float, str] = (0.0, "")
    for files in start.files:
        together = start.sharing.get(files.disk.id, 1)
        one = create_file(start.constants, files.disk, files.size_bytes, start.disk_factor, together)
        whole = one.scaled(
            files.count, "s", (one.as_term("one file"), Term("files", files.count, "", "plan"))
        )
        parts.append((files.name, whole))
        slow = max(slow, (whole.value, files.disk.name))
    if not parts:
        return None
    return Phase(
        DISK_FILES,
        total(parts, "s"),
        f"disk {slow[1]}",
        "smaller or fewer files; a faster disk",
    )


def _checkpoint_on_disk(start: Starting) -> Limit | None:
    """Reading the checkpoint from its disk; None when it is not known."""
    disk = start.disk(DiskRole.LCP)
    if disk is None or start.data is None:
        return None
    constants = start.constants
    read = Quantity.exact(1.0, "factor")
    if is_partial(start.settings):
        read = constants["restore_read_factor_partial"]
    if start.settings.number("CompressedLCP"):
        read = read * constants["lcp_compressed_factor"].value
    held = Quantity.stated("checkpoint on disk", start.data.checkpoint_bytes, "bytes", "formula")
    speed = Quantity.stated(f"sequential reading of {disk.name}", start.reads(disk), "bytes/s")
    time = held * read.named("bytes read for each byte restored", "RecoveryWork") / speed
    time = product_of_independent(time, constants["device_time"])
    return Limit(f"disk {disk.name}", time, "a disk that reads faster")


def restore(start: Starting) -> Phase:
    """Restore all rows in memory from the local checkpoint; columns on disk stay where they are.

    A row takes its LDM thread a time of its own and one for each byte; parts of partial checkpoints lie over
    one another, so that some rows are restored more than once (running 8.4.8 cluster).
    """
    fullest, constants = start.fullest, start.constants
    rows = at_ldm_threads(
        start, start.rows, fullest.rows, start.per_s("restore_ldm_rows_per_s"), "rows", "rows"
    )
    size = at_ldm_threads(
        start,
        start.row_bytes,
        fullest.row_bytes,
        start.per_s("restore_ldm_bytes_per_s"),
        "bytes of rows",
        "bytes",
    )
    changes = (change_term("restore_without_delays", start.version), era(start))
    slower = Quantity.exact(1.0, "factor", changes)
    if not start.has("restore_without_delays"):
        slower = slower * constants["restore_delays_factor"]
    by_threads = product_of_independent(
        total_of_independent((("rows", rows), ("their bytes", size)), "s"), slower
    )
    if is_partial(start.settings):
        by_threads = product_of_independent(by_threads, constants["restore_operations_partial"])
    limits = [Limit("the fullest LDM thread", by_threads, "more LDM threads")]
    on_disk = _checkpoint_on_disk(start)
    if on_disk is not None:
        limits.append(on_disk)
    time, decides = slowest(*limits)
    unknowns = start.of_devices if decides is on_disk else start.of_threads
    return Phase("restore from local checkpoint", time, decides.name, decides.shorten, unknowns)
