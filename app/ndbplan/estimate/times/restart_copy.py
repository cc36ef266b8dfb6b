"""Copying rows to a data node that starts: what crosses the links, what reaches the disks, what decides.

Source: engine model 6 and 16.3; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from dataclasses import replace

from ndbplan.base.quantity import Quantity, Term, rising, total_of_independent
from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.load.processors import on_core
from ndbplan.estimate.times.restart_phases import (
    LEAST_COPY_SHARE,
    Phase,
    Starting,
    busiest_of,
    busiest_thread,
    uneven_terms,
)
from ndbplan.estimate.times.speed_terms import Limit, change_term, slowest, spread_terms
from ndbplan.plan.processes import DiskRole


def copies_in_two_passes(settings: NodeSettings) -> bool:
    """Whether an initial restart copies rows first and builds the ordered indexes afterwards."""
    return bool(settings.number("TwoPassInitialNodeRestartCopy"))


def _fragments_at_once(start: Starting) -> float:
    """Fragments that are copied at the same time at most, one to an LDM thread."""
    stated = start.settings.number("MaxParallelCopyInstances")
    return float(stated or start.constants["take_over_copies"].value)


def _by_threads(start: Starting, share: float, row_by_row_indexes: float) -> Limit:
    """Time of the threads that send and insert; one fragment after the other before 7.4.1.

    `share`: part of the node's rows that is sent; `row_by_row_indexes`: ordered indexes kept up for each row.
    """
    constants = start.constants
    at_once, own = _fragments_at_once(start), busiest_of(start, start.rows, start.fullest.rows, "rows")
    name = "the fullest LDM thread"
    if not start.has("parallel_copy"):
        name = "the thread that copies fragments one by one"
    elif start.rows / at_once > own.high:
        name = "MaxParallelCopyInstances"

    def of_one_thread(whole: float, fullest: float, unit: str) -> Quantity:
        if not start.has("parallel_copy"):
            return Quantity.exact(whole / min(1.0, start.ldm), unit) * share
        return busiest_of(start, whole, fullest, unit).within(least=whole / at_once) * share

    rows = of_one_thread(start.rows, start.fullest.rows, "rows").named("rows of one thread", "distribution")
    size = of_one_thread(start.row_bytes, start.fullest.row_bytes, "bytes")
    indexes = Quantity.stated("ordered indexes kept up for each row", row_by_row_indexes, "")
    slower = 1 + indexes * constants["index_row_by_row_factor"]
    by_rows = rows * slower / on_core(constants["copy_ldm_rows_per_s"], start.slowest_core)
    by_bytes = size.named("their bytes") / on_core(constants["copy_ldm_bytes_per_s"], start.slowest_core)
    time = total_of_independent((("rows", by_rows), ("their bytes", by_bytes)), "s")
    why = (
        *time.why,
        *uneven_terms(start),
        change_term("parallel_copy", start.version),
        change_term("two_pass_copy", start.version),
        *spread_terms(start.version),
    )
    return Limit(name, time.because(*why), "more LDM threads")


def _by_links(start: Starting, share: float) -> list[Limit]:
    """Time of each link that the rows cross, with everything that crosses it at the same time."""
    usable = start.constants["copy_network_share"]
    limits = []
    for link in start.links:
        crossing = link.crossing_bytes * share
        size = Quantity.stated("bytes of rows that cross it", crossing, "bytes", "rows in memory and on disk")
        speed = Quantity.stated(f"speed of {link.name}", link.bytes_per_s, "bytes/s")
        limits.append(Limit(link.name, size / (speed * usable), "a faster network"))
    return limits


def _by_disks(start: Starting, share: float) -> list[Limit]:
    """Time to read pages of columns on disk where the rows are, and to write them in the starting node."""
    pages = (start.data.disk_page_bytes if start.data is not None else 0.0) * share
    if not pages:
        return []
    slower = start.constants["device_time"]
    limits = []

    def size(share: float) -> Quantity:
        return Quantity.stated("pages of columns on disk", share, "bytes", "rows at their declared width")

    for disk, part in start.machine.on_disks(DiskRole.DATA_FILES):
        speed = Quantity.stated(f"sequential writing of {disk.name}", start.writes(disk), "bytes/s")
        time = size(pages * part) / speed * slower
        limits.append(Limit(f"disk {disk.name}", time, "a disk that writes faster"))
    for source, part in start.source_disks:
        speed = Quantity.stated(f"sequential reading of {source.name}", start.reads(source), "bytes/s")
        time = size(pages * part) / speed * slower
        limits.append(Limit(f"disk {source.name}", time, "a disk that reads faster"))
    return limits


def copied_share(start: Starting, *, initial: bool, before_s: float) -> float:
    """Share of the node's rows that is copied: all after --initial, else those changed while it was away."""
    if initial:
        return 1.0
    writes = start.load.writes_per_s if start.load is not None else 0.0
    return min(1.0, writes * before_s / start.rows) if start.rows else 0.0


def copied_bytes(start: Starting, *, initial: bool, before_s: float) -> float:
    """Bytes of rows that other nodes send, columns on disk and tables without logging included."""
    held = 0.0 if start.data is None else start.data.moved_bytes
    whole = 0.0 if start.unlogged is None else copied_bytes(start.unlogged, initial=True, before_s=0.0)
    return held * copied_share(start, initial=initial, before_s=before_s) + whole


def copy_fragments(start: Starting, *, initial: bool, before_s: float) -> Phase:
    """Fetch from the other nodes what changed, or all rows after --initial; all of tables without logging.

    Of those the node has no checkpoint to begin with (Dbdih: a fragment without a restorable checkpoint is
    copied from its first row).
    """
    two_passes = initial and copies_in_two_passes(start.settings)
    copied = _copied(start, initial=initial, before_s=before_s, indexes_later=two_passes)
    if start.unlogged is None:
        return copied
    whole = _copied(start.unlogged, initial=True, before_s=before_s, indexes_later=False)
    time = copied.duration_s.named("tables with logging") + whole.duration_s.named("tables without logging")
    longer = max(copied, whole, key=lambda phase: phase.duration_s.value)
    return replace(longer, duration_s=time)


def _copied(start: Starting, *, initial: bool, before_s: float, indexes_later: bool) -> Phase:
    """Fetch from the other nodes what changed while the node was away, or all rows after --initial.

    Columns on disk come along. `before_s`: how long the node has been away when the copy starts. Under writes
    the node then waits for global checkpoints in which it takes part (running 8.4.8 cluster).
    """
    indexes = 0.0
    if initial and not indexes_later and start.rows and start.data is not None:
        indexes = start.data.index_entries / start.rows
    share = copied_share(start, initial=initial, before_s=before_s)
    by_threads, by_disks = _by_threads(start, share, indexes), _by_disks(start, share)
    alone, decides = slowest(by_threads, *_by_links(start, share), *by_disks)
    unknowns = start.of_cores if decides is by_threads else start.of_devices if decides in by_disks else ()
    writes = start.load.writes_per_s if start.load is not None else 0.0
    sent_rows = start.rows * share

    def with_traffic(seconds: float) -> float:
        # Writes reach a fragment directly once its copy has begun, but take from the same threads and links.
        rate = sent_rows / seconds if seconds else 0.0
        return seconds / max(LEAST_COPY_SHARE, 1 - writes / rate) if rate else seconds

    moved = (start.data.moved_bytes if start.data is not None else 0.0) * share
    sent = rising(with_traffic, alone, unit="s").because(
        Term("rows to send", sent_rows, "rows", "all rows" if initial else "changed while the node was away"),
        Term("bytes to send, columns on disk included", moved, "bytes", "formula"),
        Term("rows written meanwhile", writes, "rows/s", "workload"),
        *alone.why,
    )
    bound, shorten = decides.name, decides.shorten
    if initial:
        time = sent
    else:
        rows = busiest_thread(start.fullest.rows, start.rows, start.ldm)
        compared = Quantity.stated("rows compared by the fullest LDM thread", rows, "rows", "distribution")
        scan = compared / on_core(start.constants["copy_scan_ldm_rows_per_s"], start.slowest_core)
        time = scan.named("comparison of all rows") + sent.named("rows sent")
        if scan.value >= sent.value:
            bound, shorten = "LDM threads that scan", "more LDM threads"
        if writes:
            wait = start.constants["copy_under_load_s"]
            if wait.value > time.value:
                bound, shorten = "protocol", ""
            time = time + wait.named("global checkpoints to wait for")
    less = "less traffic" if writes else ""
    return Phase("copy fragments", time, bound, "; ".join(filter(None, (shorten, less))), unknowns)
