# mypy: allow-untyped-defs
"""Kernel, part 3: disks that streams share — what nodes ask for, what they are granted, what is written."""

from __future__ import annotations

import numpy as np
from numba import njit

from ndbplan.simulate.columns import (
    B_LCP_WRITTEN,
    C_LCP_EARLY,
    D_BYTES_PER_S,
    D_LCP_SHARE,
    D_READ_IOPS,
    I_BACKUP_DISK,
    I_DATA_DISK,
    I_LCP_DISK,
    I_REDO_DISK,
    I_UNDO_DISK,
    N_BACKUP_SPEED,
    N_BUFFER_LIMIT,
    N_DATA_COST,
    N_DEVICE_FACTOR,
    N_READS,
    P_FILL,
    R_BACKUP,
    R_DISK_DATA,
    R_FINE_S,
    R_STEP_S,
    S_BACKUP_LEFT,
    S_DEAD,
    S_DIRTY,
    S_LCP_FRAGMENTS,
    S_LCP_LEFT,
    S_LCP_TARGET,
    S_LCP_WRITTEN,
    S_UNDO_HELD,
    W_BACKUP,
    W_DATA,
    W_HEAVY_GRANT,
    W_LCP,
    W_LIGHT_GRANT,
    W_READS,
    W_REDO,
    W_REDO_GRANT,
    W_UNDO,
)
from ndbplan.simulate.kernel.checkpoint import FRAGMENT_AHEAD_S
from ndbplan.simulate.kernel.log import drain_part_of

USABLE = 0.99
"""Share of a disk's bandwidth that streams reach together [7.4.10]."""
DIRTY_PAGES_S = 10.0
"""Time over which dirty pages of disk data are written out."""
MOST_READ_TIME = 0.95


@njit(cache=True, nogil=True, inline="always")
def _drain_all(fill, drained, limit, own_limit, hold, room_part):
    """Write everything beyond `hold`."""
    for i in range(fill.shape[0]):
        waiting = max(0.0, fill[i] - hold)
        fill[i] -= waiting
        drained[i] += waiting
        limit[i] = own_limit + waiting * room_part


@njit(cache=True, nogil=True)
def demand(run, nodes, index, parts, node_state, work, attempts, hold, writing, step_s):
    """What the nodes ask of each disk in this step, in bytes of the device (reads: pages)."""
    for d in range(work.shape[0]):
        for column in range(W_READS + 1):
            work[d, column] = 0.0
    for n in range(nodes.shape[0]):
        if node_state[S_DEAD, n] > 0.0:
            continue
        waits = 0.0
        for p in range(parts.shape[2]):
            waits += max(0.0, parts[P_FILL, n, p] - hold)
        work[index[n, I_REDO_DISK], W_REDO] += waits * nodes[n, N_DEVICE_FACTOR]
        if writing and node_state[S_LCP_LEFT, n] > 0.0:
            amount = min(node_state[S_LCP_TARGET, n] * step_s, node_state[S_LCP_LEFT, n])
            work[index[n, I_LCP_DISK], W_LCP] += amount
        if run[R_DISK_DATA] > 0.0 or nodes[n, N_READS] > 0.0:
            work[index[n, I_UNDO_DISK], W_UNDO] += node_state[S_UNDO_HELD, n]
            work[index[n, I_DATA_DISK], W_READS] += attempts * nodes[n, N_READS]
            dirty = node_state[S_DIRTY, n] * min(1.0, step_s / DIRTY_PAGES_S)
            work[index[n, I_DATA_DISK], W_DATA] += dirty * nodes[n, N_DATA_COST]
        if run[R_BACKUP] > 0.0 and node_state[S_BACKUP_LEFT, n] > 0.0:
            amount = min(nodes[n, N_BACKUP_SPEED] * step_s, node_state[S_BACKUP_LEFT, n])
            work[index[n, I_BACKUP_DISK], W_BACKUP] += amount


@njit(cache=True, nogil=True)
def share_disks(disks, work, step_s):
    """Grant each disk's time: reads first, then checkpoints and other large writes up to their share of a
    busy disk, then log, then what is left to the large writes.

    The disk serves requests in order and large ones are 1 MiB, log writes 256 KiB: a checkpoint keeps
    73 % of a disk that is short [7.4.10].
    """
    for d in range(disks.shape[0]):
        read_time = work[d, W_READS] / (disks[d, D_READ_IOPS] * step_s) if work[d, W_READS] > 0.0 else 0.0
        capacity = disks[d, D_BYTES_PER_S] * step_s * (1.0 - min(MOST_READ_TIME, read_time))
        heavy = work[d, W_LCP] + work[d, W_DATA] + work[d, W_BACKUP]
        light = work[d, W_REDO] + work[d, W_UNDO]
        usable = USABLE * capacity
        work[d, W_REDO_GRANT] = -1.0
        work[d, W_HEAVY_GRANT] = 1.0
        work[d, W_LIGHT_GRANT] = 1.0
        if heavy + light > usable:
            heavy_first = min(heavy, disks[d, D_LCP_SHARE] * capacity)
            granted = min(light, usable - heavy_first)
            heavy_last = min(heavy, usable - granted)
            if heavy > 0.0:
                work[d, W_HEAVY_GRANT] = heavy_last / heavy
            if light > 0.0 and granted < light:
                work[d, W_LIGHT_GRANT] = granted / light
                if work[d, W_REDO] > 0.0:
                    # A disk of undo logs alone has no log parts that could be drained.
                    work[d, W_REDO_GRANT] = work[d, W_REDO] * granted / light


@njit(cache=True, nogil=True)
def write(
    run, nodes, index, disk_start, disk_member, disks, weights, parts, fill, drained, limit, node_state,
    cluster, work, hold, writing, step_s, bucket, out_disk, out_busy, out_node,
):  # fmt: skip
    """Let the disks write what they were granted, and record it. True when fragments of a checkpoint
    end, or will in the next step."""
    step_part = step_s / run[R_STEP_S]
    room_part = min(1.0, run[R_FINE_S] / step_s)
    log_parts = parts.shape[2]
    ended = False
    early = step_s
    for d in range(disks.shape[0]):
        begin, end = disk_start[d], disk_start[d + 1]
        redo = work[d, W_REDO]
        if work[d, W_REDO_GRANT] >= 0.0:
            factor = nodes[disk_member[begin], N_DEVICE_FACTOR]
            redo = work[d, W_REDO_GRANT] / factor
            redo = drain_part_of(nodes, parts, disk_member, begin, end, weights, redo, hold, room_part)
            redo *= factor
        elif redo > 0.0:
            for m in range(begin, end):
                at = disk_member[m] * log_parts
                to = at + log_parts
                own = nodes[disk_member[m], N_BUFFER_LIMIT]
                _drain_all(fill[at:to], drained[at:to], limit[at:to], own, hold, room_part)
        heavy = (work[d, W_LCP] + work[d, W_DATA] + work[d, W_BACKUP]) * work[d, W_HEAVY_GRANT]
        time = redo + work[d, W_UNDO] * work[d, W_LIGHT_GRANT] + heavy
        out_disk[bucket, d, W_REDO] += redo
        busy = time / (disks[d, D_BYTES_PER_S] * step_s)
        if work[d, W_READS] > 0.0:
            busy += min(MOST_READ_TIME, work[d, W_READS] / (disks[d, D_READ_IOPS] * step_s))
        out_busy[bucket, d, 0] += busy * step_part
        if busy > out_busy[bucket, d, 1]:
            out_busy[bucket, d, 1] = busy
    for n in range(nodes.shape[0]):
        if node_state[S_DEAD, n] > 0.0:
            continue
        if writing and node_state[S_LCP_LEFT, n] > 0.0:
            d = index[n, I_LCP_DISK]
            amount = min(node_state[S_LCP_TARGET, n] * step_s, node_state[S_LCP_LEFT, n])
            amount = min(node_state[S_LCP_LEFT, n], np.ceil(amount * work[d, W_HEAVY_GRANT]))
            node_state[S_LCP_LEFT, n] -= amount
            node_state[S_LCP_WRITTEN, n] += amount
            left = node_state[S_LCP_LEFT, n]
            if node_state[S_LCP_FRAGMENTS, n] > 0.0:
                ended |= left < node_state[S_LCP_TARGET, n] * max(step_s, FRAGMENT_AHEAD_S)
            elif left <= 0.0:
                ended = True
                speed = node_state[S_LCP_TARGET, n] * work[d, W_HEAVY_GRANT]
                early = min(early, max(0.0, step_s - amount / max(1.0, speed)))
            out_disk[bucket, d, W_LCP] += amount
            out_node[bucket, n, B_LCP_WRITTEN] += amount
        if run[R_DISK_DATA] > 0.0:
            d = index[n, I_UNDO_DISK]
            amount = node_state[S_UNDO_HELD, n] * work[d, W_LIGHT_GRANT]
            node_state[S_UNDO_HELD, n] -= amount
            out_disk[bucket, d, W_UNDO] += amount
            d = index[n, I_DATA_DISK]
            amount = node_state[S_DIRTY, n] * min(1.0, step_s / DIRTY_PAGES_S) * work[d, W_HEAVY_GRANT]
            node_state[S_DIRTY, n] -= amount
            out_disk[bucket, d, W_DATA] += amount
        if run[R_BACKUP] > 0.0 and node_state[S_BACKUP_LEFT, n] > 0.0:
            d = index[n, I_BACKUP_DISK]
            amount = min(nodes[n, N_BACKUP_SPEED] * step_s, node_state[S_BACKUP_LEFT, n])
            amount *= work[d, W_HEAVY_GRANT]
            node_state[S_BACKUP_LEFT, n] -= amount
            if node_state[S_BACKUP_LEFT, n] < 1.0:
                node_state[S_BACKUP_LEFT, n] = 0.0
            out_disk[bucket, d, W_BACKUP] += amount
    if ended:
        cluster[C_LCP_EARLY] = early
    return ended
