"""Kernel, part 3: disks that streams share — what nodes ask for, what they are granted, what is written."""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled, inlined
from ndbplan.simulate.kernel.checkpoint import FRAGMENT_AHEAD_S
from ndbplan.simulate.kernel.log import drain_part_of
from ndbplan.simulate.world import (
    Cluster,
    Disk,
    DiskWork,
    Floats,
    Ints,
    Node,
    NodeState,
    OfNode,
    Part,
    Place,
    Purpose,
    Rows,
    Run,
)

USABLE = 0.99
"""Share of a disk's bandwidth that streams reach together [7.4.10]."""
DIRTY_PAGES_S = 10.0
"""Time over which dirty pages of disk data are written out."""
MOST_READ_TIME = 0.95


@inlined
def _drain_all(
    fill: Floats, drained: Floats, limit: Floats, own_limit: float, hold: float, room_part: float
) -> None:
    """Write everything beyond `hold`."""
    for i in range(fill.shape[0]):
        waiting = max(0.0, fill[i] - hold)
        fill[i] -= waiting
        drained[i] += waiting
        limit[i] = own_limit + waiting * room_part


@compiled
def demand(
    run: Run,
    nodes: Rows[Node],
    places: Rows[Place],
    parts: Floats,
    node_state: Rows[NodeState],
    work: Rows[DiskWork],
    attempts: float,
    hold: float,
    writing: bool,
    step_s: float,
) -> None:
    """What the nodes ask of each disk in this step, in bytes of the device (reads: pages)."""
    for d in range(work.shape[0]):
        wanted = work[d]
        wanted.redo_bytes = wanted.lcp_bytes = wanted.undo_bytes = 0.0
        wanted.data_bytes = wanted.backup_bytes = wanted.read_pages = 0.0
    for n in range(nodes.shape[0]):
        if node_state[n].is_dead:
            continue
        waits = 0.0
        for p in range(parts.shape[2]):
            waits += max(0.0, parts[Part.FILL, n, p] - hold)
        work[places[n].redo_disk].redo_bytes += waits * nodes[n].device_factor
        if writing and node_state[n].lcp_left_bytes > 0.0:
            amount = min(node_state[n].lcp_target_bytes_per_s * step_s, node_state[n].lcp_left_bytes)
            work[places[n].lcp_disk].lcp_bytes += amount
        if run.disk_data_share > 0.0 or nodes[n].reads > 0.0:
            work[places[n].undo_disk].undo_bytes += node_state[n].undo_held_bytes
            work[places[n].data_disk].read_pages += attempts * nodes[n].reads
            dirty = node_state[n].dirty_bytes * min(1.0, step_s / DIRTY_PAGES_S)
            work[places[n].data_disk].data_bytes += dirty * nodes[n].dirty_cost
        if run.has_backup and node_state[n].backup_left_bytes > 0.0:
            amount = min(nodes[n].backup_bytes_per_s * step_s, node_state[n].backup_left_bytes)
            work[places[n].backup_disk].backup_bytes += amount


@compiled
def share_disks(disks: Rows[Disk], work: Rows[DiskWork], step_s: float) -> None:
    """Grant each disk's time: reads first, then checkpoints and other large writes up to their share of a
    busy disk, then log, then what is left to the large writes.

    The disk serves requests in order and large ones are 1 MiB, log writes 256 KiB: a checkpoint keeps
    73 % of a disk that is short [7.4.10].
    """
    for d in range(disks.shape[0]):
        read_time = work[d].read_pages / (disks[d].read_iops * step_s) if work[d].read_pages > 0.0 else 0.0
        capacity = disks[d].write_bytes_per_s * step_s * (1.0 - min(MOST_READ_TIME, read_time))
        heavy = work[d].lcp_bytes + work[d].data_bytes + work[d].backup_bytes
        light = work[d].redo_bytes + work[d].undo_bytes
        usable = USABLE * capacity
        work[d].redo_grant_bytes = -1.0
        work[d].heavy_grant = 1.0
        work[d].light_grant = 1.0
        if heavy + light > usable:
            heavy_first = min(heavy, disks[d].lcp_share * capacity)
            granted = min(light, usable - heavy_first)
            heavy_last = min(heavy, usable - granted)
            if heavy > 0.0:
                work[d].heavy_grant = heavy_last / heavy
            if light > 0.0 and granted < light:
                work[d].light_grant = granted / light
                if work[d].redo_bytes > 0.0:
                    # A disk of undo logs alone has no log parts that could be drained.
                    work[d].redo_grant_bytes = work[d].redo_bytes * granted / light


@compiled
def write(
    run: Run,
    nodes: Rows[Node],
    places: Rows[Place],
    disk_start: Ints,
    disk_member: Ints,
    disks: Rows[Disk],
    weights: Floats,
    parts: Floats,
    fill: Floats,
    drained: Floats,
    limit: Floats,
    node_state: Rows[NodeState],
    cluster: Cluster,
    work: Rows[DiskWork],
    hold: float,
    writing: bool,
    step_s: float,
    bucket: int,
    out_disk: Floats,
    out_busy: Floats,
    out_node: Floats,
) -> bool:
    """Let the disks write what they were granted, and record it. True when fragments of a checkpoint
    end, or will in the next step."""
    step_part = step_s / run.step_s
    room_part = min(1.0, run.piece_s / step_s)
    log_parts = parts.shape[2]
    ended = False
    early = step_s
    for d in range(disks.shape[0]):
        begin, end = disk_start[d], disk_start[d + 1]
        redo = work[d].redo_bytes
        if work[d].redo_grant_bytes >= 0.0:
            factor = nodes[disk_member[begin]].device_factor
            redo = work[d].redo_grant_bytes / factor
            redo = drain_part_of(nodes, parts, disk_member, begin, end, weights, redo, hold, room_part)
            redo *= factor
        elif redo > 0.0:
            for m in range(begin, end):
                at = disk_member[m] * log_parts
                to = at + log_parts
                own = nodes[disk_member[m]].buffer_limit_bytes
                _drain_all(fill[at:to], drained[at:to], limit[at:to], own, hold, room_part)
        heavy = (work[d].lcp_bytes + work[d].data_bytes + work[d].backup_bytes) * work[d].heavy_grant
        time = redo + work[d].undo_bytes * work[d].light_grant + heavy
        out_disk[bucket, d, Purpose.REDO] += redo
        busy = time / (disks[d].write_bytes_per_s * step_s)
        if work[d].read_pages > 0.0:
            busy += min(MOST_READ_TIME, work[d].read_pages / (disks[d].read_iops * step_s))
        out_busy[bucket, d, 0] += busy * step_part
        if busy > out_busy[bucket, d, 1]:
            out_busy[bucket, d, 1] = busy
    for n in range(nodes.shape[0]):
        if node_state[n].is_dead:
            continue
        if writing and node_state[n].lcp_left_bytes > 0.0:
            d = places[n].lcp_disk
            amount = min(node_state[n].lcp_target_bytes_per_s * step_s, node_state[n].lcp_left_bytes)
            amount = min(node_state[n].lcp_left_bytes, np.ceil(amount * work[d].heavy_grant))
            node_state[n].lcp_left_bytes -= amount
            node_state[n].lcp_written_bytes += amount
            left = node_state[n].lcp_left_bytes
            if node_state[n].lcp_fragments_left > 0.0:
                ended |= left < node_state[n].lcp_target_bytes_per_s * max(step_s, FRAGMENT_AHEAD_S)
            elif left <= 0.0:
                ended = True
                speed = node_state[n].lcp_target_bytes_per_s * work[d].heavy_grant
                early = min(early, max(0.0, step_s - amount / max(1.0, speed)))
            out_disk[bucket, d, Purpose.LCP] += amount
            out_node[bucket, n, OfNode.LCP_WRITTEN] += amount
        if run.disk_data_share > 0.0:
            d = places[n].undo_disk
            amount = node_state[n].undo_held_bytes * work[d].light_grant
            node_state[n].undo_held_bytes -= amount
            out_disk[bucket, d, Purpose.UNDO] += amount
            d = places[n].data_disk
            amount = node_state[n].dirty_bytes * min(1.0, step_s / DIRTY_PAGES_S) * work[d].heavy_grant
            node_state[n].dirty_bytes -= amount
            out_disk[bucket, d, Purpose.DATA_FILES] += amount
        if run.has_backup and node_state[n].backup_left_bytes > 0.0:
            d = places[n].backup_disk
            amount = min(nodes[n].backup_bytes_per_s * step_s, node_state[n].backup_left_bytes)
            amount *= work[d].heavy_grant
            node_state[n].backup_left_bytes -= amount
            if node_state[n].backup_left_bytes < 1.0:
                node_state[n].backup_left_bytes = 0.0
            out_disk[bucket, d, Purpose.BACKUP] += amount
    if ended:
        cluster.lcp_early_s = early
    return ended
