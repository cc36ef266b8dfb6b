"""Copying rows to a data node that starts: what crosses the links, what reaches the disks, what decides."""

from __future__ import annotations

from ndbplan.base.quantity import Quantity, Term
from ndbplan.configuration.node_parameters import number
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.times.restart_phases import (
    LEAST_COPY_SHARE,
    Phase,
    Starting,
    busiest_thread,
    uneven_terms,
)
from ndbplan.estimate.times.speed_terms import Limit, change_term, slowest, spread_terms
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode


def copies_in_two_passes(plan: Plan, node: DataNode) -> bool:
    """Whether an initial restart copies rows first and builds the ordered indexes afterwards."""
    return bool(number(plan, node, "TwoPassInitialNodeRestartCopy", 0))


def _by_threads(start: Starting, share: float, row_by_row_indexes: float) -> Limit:
    """Time of the threads that send and insert; one fragment after the other before 7.4.1.

    `share`: part of the node's rows that is sent; `row_by_row_indexes`: ordered indexes kept up for each row.
    """
    plan = start.plan
    rate, slower = constant_for(plan, "copy_ldm_rows_per_s"), constant_for(plan, "index_row_by_row_factor")
    if start.has("parallel_copy"):
        held = [
            busiest_thread(start.fullest.rows * chance, start.rows, start.ldm)
            for chance in (1.0, *start.chance)
        ]
        name = "the fullest LDM thread"
    else:
        held = [start.rows / min(1.0, start.ldm)] * 3
        name = "the thread that copies fragments one by one"
    factors = [1 + f * row_by_row_indexes for f in (slower.value, slower.low, slower.high)]
    value, low, high = (
        rows * share * f / r
        for rows, f, r in zip(held, factors, (rate.value, rate.high, rate.low), strict=True)
    )
    why = (
        Term("rows of one thread", held[0] * share, "rows", "distribution"),
        *uneven_terms(start),
        term_of(rate),
        Term("ordered indexes kept up for each row", row_by_row_indexes, "", "plan"),
        term_of(slower),
        change_term("parallel_copy", plan.version),
        change_term("two_pass_copy", plan.version),
        *spread_terms(plan),
    )
    return Limit(name, Quantity(value, min(value, low), max(value, high), "s", why), "more LDM threads")


def _by_links(start: Starting, share: float) -> list[Limit]:
    """Time of each link that the rows cross, with everything that crosses it at the same time."""
    usable = constant_for(start.plan, "copy_network_share")
    found = []
    for link in start.links:
        size = link.crossing_bytes * share
        why = (
            Term("bytes of rows that cross it", size, "bytes", "rows in memory and on disk"),
            Term(f"speed of {link.name}", link.bytes_per_s, "bytes/s", "plan"),
            term_of(usable),
        )
        value, low, high = (size / (link.bytes_per_s * u) for u in (usable.value, usable.high, usable.low))
        found.append(Limit(link.name, Quantity(value, low, high, "s", why), "a faster network"))
    return found


def _by_disks(start: Starting, share: float) -> list[Limit]:
    """Time to read pages of columns on disk where the rows are, and to write them in the starting node."""
    pages = (start.data.disk_page_bytes if start.data is not None else 0.0) * share
    if not pages:
        return []
    found = []
    disk = start.data_disk
    if disk is not None:
        speed = start.writes(disk)
        written = (
            Term("pages of columns on disk", pages, "bytes", "rows at their declared width"),
            Term(f"sequential writing of {disk.name}", speed, "bytes/s", "plan"),
        )
        time = Quantity(pages / speed, pages / speed, 1.25 * pages / speed, "s", written)
        found.append(Limit(f"disk {disk.name}", time, "a disk that writes faster"))
    for source in start.source_disks:
        size, speed = pages / len(start.source_disks), start.reads(source)
        read = (
            Term("pages of columns on disk", size, "bytes", "rows at their declared width"),
            Term(f"sequential reading of {source.name}", speed, "bytes/s", "plan"),
        )
        time = Quantity(size / speed, size / speed, 1.25 * size / speed, "s", read)
        found.append(Limit(f"disk {source.name}", time, "a disk that reads faster"))
    return found


def copied_share(start: Starting, *, initial: bool, before_s: float) -> float:
    """Share of the node's rows that is copied: all after --initial, else those changed while it was away."""
    if initial:
        return 1.0 if start.rows else 0.0
    writes = start.load.writes_per_s if start.load is not None else 0.0
    return min(1.0, writes * before_s / start.rows) if start.rows else 0.0


def copy_fragments(start: Starting, *, initial: bool, before_s: float) -> Phase:
    """Fetch from the other nodes what changed while the node was away, or all rows after --initial.

    Columns on disk come along. `before_s`: how long the node has been away when the copy starts.
    """
    plan = start.plan
    indexes = 0.0
    if initial and not copies_in_two_passes(plan, start.node) and start.rows and start.data is not None:
        indexes = start.data.index_entries / start.rows
    share = copied_share(start, initial=initial, before_s=before_s)
    limits = [_by_threads(start, share, indexes), *_by_links(start, share), *_by_disks(start, share)]
    alone, decides = slowest(*limits)
    writes = start.load.writes_per_s if start.load is not None else 0.0
    sent_rows = start.rows * share

    def with_traffic(seconds: float) -> float:
        # Writes reach a fragment directly once its copy has begun, but take from the same threads and links.
        rate = sent_rows / seconds if seconds else 0.0
        return seconds / max(LEAST_COPY_SHARE, 1 - writes / rate) if rate else seconds

    moved = (start.data.moved_bytes if start.data is not None else 0.0) * share
    why = (
        Term("rows to send", sent_rows, "rows", "all rows" if initial else "changed while the node was away"),
        Term("bytes to send, columns on disk included", moved, "bytes", "formula"),
        Term("rows written meanwhile", writes, "rows/s", "workload"),
        *alone.why,
    )
    sent = Quantity(with_traffic(alone.value), with_traffic(alone.low), with_traffic(alone.high), "s", why)
    bound, shorten = decides.name, decides.shorten
    if initial:
        time = sent
    else:
        rate = constant_for(plan, "copy_scan_ldm_rows_per_s")
        rows = busiest_thread(start.fullest.rows, start.rows, start.ldm)
        compared = (
            Term("rows compared by the fullest LDM thread", rows, "rows", "distribution"),
            term_of(rate),
        )
        scan = Quantity(rows / rate.value, rows / rate.high, rows / rate.low, "s", compared)
        parts = (("comparison of all rows", scan), ("rows sent", sent))
        time = Quantity(
            scan.value + sent.value,
            scan.low + sent.low,
            scan.high + sent.high,
            "s",
            tuple(q.as_term(name) for name, q in parts),
        )
        if scan.value >= sent.value:
            bound, shorten = "LDM threads that scan", "more LDM threads"
    return Phase("copy fragments", time, bound, f"{shorten}; less traffic" if writes else shorten)
