"""What disks and links take at least for the rows that an online reorganisation moves.

Source: engine model 7.2 and 7.3, and 3.1 for the log of moved rows; constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.estimate.storage.redistribution import Redistribution
from ndbplan.estimate.storage.row_cost import row_cost
from ndbplan.estimate.times.copy_links import crossings
from ndbplan.plan.hardware import Disk
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind


@dataclass(frozen=True, slots=True)
class Work:
    """Rows that one table makes the nodes handle."""

    scanned: dict[int, float]
    """Rows scanned, by old node."""
    moved: dict[int, float]
    """Rows sent away, by old node."""
    received: dict[int, float]
    """Rows received, by new node."""


def disk_seconds(
    after: Machines, table: Table, work: Work, left_of_disk: Callable[[Disk], float]
) -> tuple[float, str]:
    """Time that the busiest disk needs for log, undo log and pages of the rows that move, and which it is.

    Columns on disk: old nodes read the pages of all rows they scan and write those they delete from, new ones
    write what they get (NDB 7.4.10 suma: such tables are scanned in page order).
    """
    version, constants = after.version, after.constants
    insert = operation_redo(table, OperationKind.INSERT, version).value
    delete = operation_redo(table, OperationKind.DELETE, version).value
    overhead = constants["redo_page_overhead"].value * constants["device_write_factor"].value
    cost = row_cost(table, version)
    undo = constants["undo_change_bytes"].value + cost.disk_row_bytes if cost.disk_row_bytes else 0.0
    seconds: dict[str, float] = {}
    names: dict[str, str] = {}

    def add(node: Machine, role: DiskRole, size: float, *, reading: bool = False) -> None:
        for disk, share in node.on_disks(role) if size else ():
            speed = disk.sequential_read_bytes_per_s if reading else disk.sequential_write_bytes_per_s
            seconds[disk.id] = seconds.get(disk.id, 0.0) + share * size / (speed * left_of_disk(disk))
            names[disk.id] = f"disk {disk.name} of node {node.node_id}"

    for group in after.groups:
        ids = [node.node_id for node in group]
        moved = sum(work.moved.get(i, 0.0) for i in ids)
        received = sum(work.received.get(i, 0.0) for i in ids)
        for node in group:
            add(node, DiskRole.REDO, (moved * (insert + delete) + received * insert) * overhead)
            add(node, DiskRole.UNDO, moved * undo)
            add(node, DiskRole.DATA_FILES, (moved + received) * cost.disk_page_bytes)
            scanned = work.scanned.get(node.node_id, 0.0)
            add(node, DiskRole.DATA_FILES, scanned * cost.disk_page_bytes, reading=True)
    worst = max(seconds, key=lambda disk_id: seconds[disk_id], default="")
    return seconds.get(worst, 0.0), names.get(worst, "")


def link_seconds(after: Machines, change: Redistribution) -> tuple[float, str]:
    """Time of the slowest link for the bytes of the rows that move, and which it is.

    From the primary of the old fragment to that of the new one, from there along the chain of its backups.
    """
    if not change.rows_moved:
        return 0.0, ""
    each = change.bytes_moved / change.rows_moved
    host_of = {node.node_id: node.host for node in after.nodes}
    old, new = change.before.placement.nodes.tolist(), change.after.placement.nodes.tolist()
    hosts = {host.id: host for host in host_of.values()}
    sums: dict[tuple[str, str], float] = {}
    for (source, target), rows in change.moved_rows.items():
        chain = [host_of[i].id for i in dict.fromkeys((old[source][0], *new[target]))]
        for ends in pairwise(chain):
            sums[ends] = sums.get(ends, 0.0) + rows * each
    flows = [(hosts[begin], hosts[end], size) for (begin, end), size in sums.items()]
    usable = after.constants["copy_network_share"].value
    links = crossings(after.locations, flows).values()
    seconds = [(link.crossing_bytes / (link.bytes_per_s * usable), link.name) for link in links]
    return max(seconds, default=(0.0, ""))
