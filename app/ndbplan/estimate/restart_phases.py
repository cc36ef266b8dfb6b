"""Phases of a data node's start: how long each takes, what bounds it and what would shorten it.

Names and order follow ndbinfo.restart_info. Rates per LDM thread come from the article of the sample
terabyte-load (7.6.7, 2018), waits from there and from a running 7.4.10 cluster; each is a constant with a
range that a calibration replaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ndbplan.base.units import GIB, MIB
from ndbplan.estimate.checkpoint import NodeCheckpoint, is_partial, speed_limits
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.disk_data import NodeDiskData
from ndbplan.estimate.load import NodeLoad
from ndbplan.estimate.node_data import NodeData
from ndbplan.estimate.parameters import number
from ndbplan.estimate.quantity import Quantity, Term
from ndbplan.estimate.redo import log_bytes_per_part
from ndbplan.ndb.constants import Constant
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.settings import data_node_text, redo_log_parts

_LEAST_COPY_SHARE = 0.2
"""Share of the copy speed that traffic leaves at least."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of a start."""

    name: str
    duration_s: Quantity
    bound: str
    """What decides its duration."""
    shorten: str
    """What would make it shorter; empty: nothing in the plan."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One entry of `phases`."""
        return {
            "name": self.name,
            "duration_s": self.duration_s.to_json(why=why),
            "bound": self.bound,
            "shorten": self.shorten,
        }


@dataclass(frozen=True, slots=True)
class Starting:
    """Everything a start of one data node depends on."""

    plan: Plan
    node: DataNode
    data: NodeData | None
    """None: the node holds no rows."""
    ldm: float
    """LDM threads that hold rows and have a core to run on."""
    network_bytes_per_s: float
    checkpoint_disk: Disk | None
    redo_disk: Disk | None
    disk_factor: float
    """Speed of the disks against what the plan states."""
    load: NodeLoad | None
    """The node's load while it restarts; None: no traffic."""
    checkpoint: NodeCheckpoint | None
    disk_data: NodeDiskData | None
    other_checkpoint_bytes: float
    """Rows in a checkpoint of the largest other node."""
    sql_nodes_down: int
    redo_bytes: float | None = None
    """Log of the fullest part to run again; None: what the load leaves."""

    @property
    def rows(self) -> float:
        """Rows of the node."""
        return self.data.rows if self.data is not None else 0.0

    @property
    def row_bytes(self) -> float:
        """Bytes of rows of the node."""
        return self.data.row_bytes if self.data is not None else 0.0


def _at(amount: float, rate: Constant, threads: float, name: str, unit: str) -> Quantity:
    """Time for an amount at a rate for each of so many threads."""
    why = (
        Term(name, amount, unit, "formula"),
        Term("LDM threads with rows", threads, "", "plan"),
        term_of(rate),
    )
    value, low, high = (amount / (threads * r) for r in (rate.value, rate.high, rate.low))
    return Quantity(value, low, high, "s", why)


def _fixed(found: Constant) -> Quantity:
    return Quantity(found.value, found.low, found.high, "s", (term_of(found),))


def _plus(*parts: tuple[str, Quantity]) -> Quantity:
    return Quantity(
        sum(q.value for _, q in parts),
        sum(q.low for _, q in parts),
        sum(q.high for _, q in parts),
        "s",
        tuple(q.as_term(name) for name, q in parts),
    )


def _longest(*bounds: tuple[str, Quantity, str]) -> tuple[Quantity, str, str]:
    """The slowest of several bounds that work at the same time, its name and what would shorten it."""
    name, slowest, shorten = max(bounds, key=lambda item: item[1].value)
    quantity = Quantity(
        slowest.value,
        max(q.low for _, q, _ in bounds),
        max(q.high for _, q, _ in bounds),
        "s",
        tuple(q.as_term(f"bound by {n}") for n, q, _ in bounds),
    )
    return quantity, name, shorten


def allocate_memory(start: Starting) -> Phase:
    """Allocate and touch all memory of the node."""
    names = ("DataMemory", "IndexMemory", "DiskPageBufferMemory")
    memory = sum(number(start.plan, start.node, name, 0) for name in names)
    rate = constant_for(start.plan, "memory_touch_bytes_per_s")
    why = (Term("DataMemory, IndexMemory and DiskPageBufferMemory", memory, "bytes", "plan"), term_of(rate))
    time = Quantity(memory / rate.value, memory / rate.high, memory / rate.low, "s", why)
    return Phase("allocate memory", time, "page faults of the kernel", "less DataMemory; huge pages")


def early_phases(start: Starting) -> Phase:
    """Node id, heartbeats, start permission, copy of the metadata, inclusion."""
    plan = start.plan
    failure, metadata = constant_for(plan, "restart_failure_s"), constant_for(plan, "restart_metadata_s")
    each, gib = constant_for(plan, "restart_metadata_table_s"), constant_for(plan, "restart_early_s_per_gib")
    count = sum(1 + len(table.indexes) for table in plan.tables)
    memory = number(plan, start.node, "DataMemory", 0) / GIB
    why = (
        term_of(failure), term_of(metadata), Term("tables and indexes", count, "", "plan"), term_of(each),
        Term("DataMemory", memory, "GiB", "plan"), term_of(gib),
    )  # fmt: skip
    time = Quantity(
        failure.value + metadata.value + each.value * count + gib.value * memory,
        failure.low + metadata.low + each.low * count + gib.low * memory,
        failure.high + metadata.high + each.high * count + gib.high * memory,
        "s",
        why,
    )
    return Phase("start permission and metadata", time, "protocol between the nodes", "fewer tables")


def create_files(start: Starting) -> Phase:
    """Create the redo log files of an initial start: sparse (one page per MiB) or full."""
    plan, node = start.plan, start.node
    size = redo_log_parts(plan, node) * log_bytes_per_part(plan, node)
    text = data_node_text(plan, node, "InitFragmentLogFiles")
    sparse = str(text or "sparse").lower() != "full"
    disk = start.redo_disk
    margin = constant_for(plan, "file_create_margin")
    if sparse:
        page = constant_for(plan, "sparse_init_page_s")
        latency, source = page.value, term_of(page)
        if disk is not None:
            latency = (disk.sync_write_latency_s or 1 / disk.random_write_iops) / start.disk_factor
            source = Term(f"synchronous write of a page on {disk.name}", latency, "s", "plan")
        pages = size / MIB
        why = [Term("one page for each MiB", pages, "", "source: Dblqh::writeInitMbyte"), source]
        value = pages * latency
        shorten = "a disk with faster synchronous writes; fewer or smaller redo log files"
    else:
        speed = disk.sequential_write_bytes_per_s * start.disk_factor if disk is not None else 100e6
        why = [Term("sequential writing", speed, "bytes/s", "plan")]
        value = size / speed
        shorten = "InitFragmentLogFiles=SPARSE; a faster disk"
    files = Term("redo log files", size, "bytes", "NoOfFragmentLogParts × files × size")
    time = Quantity(value, value * margin.low, value * margin.high, "s", (files, *why, term_of(margin)))
    return Phase("create redo log files", time, f"disk {disk.name}" if disk else "disk", shorten)


def restore(start: Starting) -> Phase:
    """Restore all rows from the local checkpoint."""
    plan = start.plan
    by_bytes = _at(start.row_bytes, constant_for(plan, "restore_ldm_bytes_per_s"), start.ldm, "rows", "bytes")
    by_rows = _at(start.rows, constant_for(plan, "restore_ldm_rows_per_s"), start.ldm, "rows", "rows")
    more = "more LDM threads"
    bounds = [("LDM threads, bytes", by_bytes, more), ("LDM threads, rows", by_rows, more)]
    disk = start.checkpoint_disk
    if disk is not None and start.data is not None:
        read = constant_for(plan, "restore_read_factor_partial")
        factor = (read.value, read.low, read.high) if is_partial(plan, start.node) else (1.0, 1.0, 1.0)
        if number(plan, start.node, "CompressedLCP", 0):
            packed = constant_for(plan, "lcp_compressed_factor").value
            factor = (factor[0] * packed, factor[1] * packed, factor[2] * packed)
        held = start.data.checkpoint_bytes
        speed = disk.sequential_read_bytes_per_s * start.disk_factor
        why = (
            Term("checkpoint on disk", held, "bytes", "formula"),
            Term("bytes read for each byte restored", factor[0], "factor", "RecoveryWork"),
            Term(f"sequential reading of {disk.name}", speed, "bytes/s", "plan"),
        )
        value, low, high = (held * f / speed for f in factor)
        by_disk = Quantity(value, low, high, "s", why)
        bounds.append((f"disk {disk.name}", by_disk, "a disk that reads faster"))
    time, bound, shorten = _longest(*bounds)
    return Phase("restore from local checkpoint", time, bound, shorten)


def replay_redo(start: Starting) -> Phase:
    """Run the redo log since the checkpoint that was restored."""
    plan = start.plan
    rate = constant_for(plan, "redo_replay_bytes_per_s")
    part, per_s = start.load.hottest_log_part if start.load is not None else (0, 0.0)
    interval = start.checkpoint.duration_s.value if start.checkpoint is not None else 0.0
    pause = constant_for(plan, "lcp_pause_s").value
    since = interval + pause
    # On average half a checkpoint has run since the last complete one, which itself took one.
    log = min(per_s * 1.5 * since, float(log_bytes_per_part(plan, start.node)))
    least, most = min(log, per_s * since), min(per_s * 2 * since, float(log_bytes_per_part(plan, start.node)))
    if start.redo_bytes is not None:
        log = least = most = start.redo_bytes
    why = (
        Term(f"log of part {part} since the last checkpoint", log, "bytes", "1 to 2 checkpoints, or stated"),
        term_of(rate),
    )
    time = Quantity(log / rate.value, least / rate.high, max(log, most) / rate.low, "s", why)
    return Phase(
        "execute redo log", time, "LDM thread of the fullest log part", "shorter checkpoints (faster writing)"
    )


def apply_undo(start: Starting) -> Phase | None:
    """Run the undo log of disk data since the last checkpoint; None without disk data."""
    if start.disk_data is None:
        return None
    per_s = start.disk_data.undo_bytes_per_s.value
    interval = start.checkpoint.duration_s.value if start.checkpoint is not None else 0.0
    log = per_s * 1.5 * interval
    disk = start.checkpoint_disk
    speed = (disk.sequential_read_bytes_per_s if disk is not None else 100e6) * start.disk_factor
    why = (
        Term("undo log since the last checkpoint", log, "bytes", "workload"),
        Term("reading", speed, "bytes/s", "plan"),
    )
    time = Quantity(log / speed, 0.5 * log / speed, 4 * log / speed, "s", why)
    return Phase("execute undo log", time, "disk with the undo log", "shorter checkpoints")


def rebuild_indexes(start: Starting) -> Phase:
    """Rebuild all ordered indexes, which are kept in memory only."""
    plan = start.plan
    entries = start.data.index_entries if start.data is not None else 0.0
    indexed = start.data.indexed_row_bytes if start.data is not None else 0.0
    entry_rate = constant_for(plan, "index_build_ldm_rows_per_s")
    byte_rate = constant_for(plan, "index_build_ldm_bytes_per_s")
    by_rows = _at(entries, entry_rate, start.ldm, "index entries", "rows")
    by_bytes = _at(indexed, byte_rate, start.ldm, "bytes of indexed rows", "bytes")
    more = "more LDM threads; PRIMARY KEY USING HASH where no range is read"
    time, bound, shorten = _longest(
        ("index threads, entries", by_rows, more), ("index threads, bytes of rows", by_bytes, more)
    )
    return Phase("rebuild ordered indexes", time, bound, shorten)


def copies_in_two_passes(plan: Plan, node: DataNode) -> bool:
    """Whether an initial restart copies rows first and builds the ordered indexes afterwards."""
    return bool(number(plan, node, "TwoPassInitialNodeRestartCopy", 0))


def _copy_rows_per_s(start: Starting, row_by_row_indexes: float) -> tuple[Quantity, str]:
    """Rows per second that other nodes send to this one."""
    plan = start.plan
    rate, share = constant_for(plan, "copy_ldm_rows_per_s"), constant_for(plan, "copy_network_share")
    row = start.row_bytes / start.rows if start.rows else 1.0
    slower = constant_for(plan, "index_row_by_row_factor")
    factors = [1 + f * row_by_row_indexes for f in (slower.value, slower.high, slower.low)]
    threads = [start.ldm * r / f for r, f in zip((rate.value, rate.low, rate.high), factors, strict=True)]
    link = [s * start.network_bytes_per_s / row for s in (share.value, share.low, share.high)]
    why = (
        Term("LDM threads with rows", start.ldm, "", "plan"), term_of(rate),
        Term("network", start.network_bytes_per_s, "bytes/s", "plan"), term_of(share),
        Term("bytes of a row", row, "bytes", "formula"),
    )  # fmt: skip
    ends = [min(t, n) for t, n in zip(threads, link, strict=True)]
    quantity = Quantity(ends[0], min(ends), max(ends), "rows/s", why)
    return quantity, "LDM threads" if threads[0] <= link[0] else "network"


def copy_fragments(start: Starting, *, initial: bool, before_s: float) -> Phase:
    """Fetch from the other nodes what changed while the node was away, or all rows after --initial.

    `before_s`: how long the node has been away when the copy starts.
    """
    plan = start.plan
    indexes = 0.0
    if initial and not copies_in_two_passes(plan, start.node) and start.rows and start.data is not None:
        indexes = start.data.index_entries / start.rows
    rate, bound = _copy_rows_per_s(start, indexes)
    writes = start.load.writes_per_s if start.load is not None else 0.0
    # Writes reach a fragment directly once its copy has begun, but they take from the same threads and links.
    left = [r * max(_LEAST_COPY_SHARE, 1 - writes / r) for r in (rate.value, rate.high, rate.low)]
    if initial:
        rows = start.rows
        scan = Quantity.exact(0.0, "s")
    else:
        rows = min(start.rows, writes * before_s)
        scan_rate = constant_for(plan, "copy_scan_ldm_rows_per_s")
        scan = _at(start.rows, scan_rate, start.ldm, "rows compared", "rows")
    why = (
        Term("rows to send", rows, "rows", "all rows" if initial else "changed while the node was away"),
        rate.as_term("rows sent"),
        Term("rows written meanwhile", writes, "rows/s", "workload"),
    )
    value, low, high = (rows / r for r in left)
    sent = Quantity(value, low, high, "s", why)
    time = _plus(("comparison of all rows", scan), ("rows sent", sent)) if not initial else sent
    if not initial and scan.value >= sent.value:
        bound = "LDM threads that scan"
    shorten = "more LDM threads" if bound.startswith("LDM") else "a faster network"
    return Phase("copy fragments", time, bound, f"{shorten}; less traffic" if writes else shorten)


def wait_for_checkpoint(start: Starting) -> Phase:
    """Wait until a checkpoint in which the node takes part is complete, so that it can recover on its own."""
    plan = start.plan
    idle = constant_for(plan, "lcp_wait_idle_s")
    limits = speed_limits(plan, start.node)
    held = max(start.other_checkpoint_bytes, start.data.checkpoint_bytes if start.data is not None else 0.0)
    bound = "protocol"
    if is_partial(plan, start.node):
        written = start.checkpoint.written_bytes.value if start.load is not None and start.checkpoint else 0.0
        held = min(held, written)
    if number(plan, start.node, "CompressedLCP", 0):
        held *= constant_for(plan, "lcp_compressed_factor").value
    speed = limits.other_restart
    seconds = held / speed if speed else 0.0
    if seconds > idle.value:
        bound = "write speed of checkpoints on the other nodes"
    half = 0.5 if start.load is not None else 0.0
    why = (
        term_of(idle),
        Term("checkpoint of the largest other node", held, "bytes", "formula"),
        Term("MaxDiskWriteSpeedOtherNodeRestart", speed, "bytes/s", "plan"),
        Term("rest of a checkpoint that runs already", half, "of one", "assumption"),
    )
    time = Quantity(
        idle.value + seconds * (1 + half),
        idle.low + seconds * 0.5,
        idle.high + seconds * 2.2,
        "s",
        why,
    )
    return Phase("wait for local checkpoint", time, bound, "raise MaxDiskWriteSpeedOtherNodeRestart")


def hand_over_subscriptions(start: Starting) -> Phase:
    """Set up the subscriptions of the SQL nodes."""
    name = "wait for subscriptions"
    if start.sql_nodes_down:
        time = _fixed(constant_for(start.plan, "subscription_timeout_s"))
        return Phase(name, time, "an SQL node that does not answer", "start that SQL node or remove it")
    return Phase(name, _fixed(constant_for(start.plan, "subscription_s")), "protocol with SQL nodes", "")
