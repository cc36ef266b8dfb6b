"""Kernel, part 3: disks that streams share — what nodes ask for, what they are granted, what is written.

Source: engine model 15.1, which says how a disk is shared, and 5.3 for disk data; Pgman::process_cleanup for
dirty pages; else judgement.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled, inlined
from ndbplan.base.row_types import Floats, Rows
from ndbplan.simulate.kernel.checkpoint import FRAGMENT_AHEAD_S
from ndbplan.simulate.kernel.log import drain_part_of
from ndbplan.simulate.world.indices import OfNode, Part, Purpose
from ndbplan.simulate.world.laws import Disk, FileDisk, Laws, Node, Place, Run
from ndbplan.simulate.world.state import DiskWork, NodeState, Piece, State
from ndbplan.simulate.world.world import History

MOST_READ_TIME = 0.95
"""Share of a disk's time that random reads take at most. Judgement, nothing measured."""


@compiled
def demand(
    run: Run,
    nodes: Rows[Node],
    places: Rows[Place],
    files: Rows[FileDisk],
    parts: Floats,
    node_state: Rows[NodeState],
    work: Rows[DiskWork],
    piece: Piece,
) -> None:
    """What the nodes ask of each disk in this step, in bytes of the device (reads: pages)."""
    for d in range(work.shape[0]):
        wanted = work[d]
        wanted.redo_bytes = wanted.lcp_bytes = wanted.undo_bytes = 0.0
        wanted.data_bytes = wanted.backup_bytes = wanted.read_pages = 0.0
    for n in range(nodes.shape[0]):
        node, state, place = nodes[n], node_state[n], places[n]
        if state.is_dead:
            continue
        waits = _log_waiting(parts, n, piece.hold_bytes)
        work[place.redo_disk].redo_bytes += waits * node.device_factor
        if piece.writes_lcp and state.lcp_left_bytes > 0.0:
            amount = min(state.lcp_target_bytes_per_s * piece.length_s, state.lcp_left_bytes)
            work[place.lcp_disk].lcp_bytes += amount
        if run.disk_data_share > 0.0 or node.reads > 0.0:
            undo, pages = state.undo_held_bytes, piece.attempts * node.reads
            dirty = _pages_due(node, state, piece.writes_lcp, piece.length_s) * node.dirty_cost
            work[place.undo_disk].undo_bytes += undo * place.undo_share
            work[place.data_disk].read_pages += pages * place.data_share
            work[place.data_disk].data_bytes += dirty * place.data_share
            for f in range(place.files_from, place.files_upto):
                further = work[files[f].disk]
                further.undo_bytes += undo * files[f].undo_share
                further.read_pages += pages * files[f].data_share
                further.data_bytes += dirty * files[f].data_share
        if run.has_backup and state.backup_left_bytes > 0.0:
            amount = min(node.backup_bytes_per_s * piece.length_s, state.backup_left_bytes)
            work[place.backup_disk].backup_bytes += amount


@inlined
def _pages_due(node: Node, state: NodeState, writes_lcp: bool, length_s: float) -> float:
    """Bytes of dirty pages that a node would write now: all of them for a checkpoint, else as many as are
    cleaned in the background at most."""
    if writes_lcp and state.lcp_left_bytes > 0.0:
        return state.dirty_bytes
    return min(state.dirty_bytes, node.clean_bytes_per_s * length_s)


@inlined
def _log_waiting(parts: Floats, n: int, hold: float) -> float:
    """Bytes of log that a node would write now. Whole bytes: the order in which they are added is free."""
    count = parts.shape[2]
    one = two = three = four = 0.0
    p = 0
    while p + 4 <= count:
        one += max(0.0, parts[Part.FILL, n, p] - hold)
        two += max(0.0, parts[Part.FILL, n, p + 1] - hold)
        three += max(0.0, parts[Part.FILL, n, p + 2] - hold)
        four += max(0.0, parts[Part.FILL, n, p + 3] - hold)
        p += 4
    while p < count:
        one += max(0.0, parts[Part.FILL, n, p] - hold)
        p += 1
    return (one + two) + (three + four)


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
        usable = disks[d].usable_share * capacity
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
                # Large writes alone may take all of a disk, more than is usable where both write.
                work[d].light_grant = max(0.0, granted) / light
                if work[d].redo_bytes > 0.0:
                    # A disk of undo logs alone has no log parts that could be drained.
                    work[d].redo_grant_bytes = work[d].redo_bytes * granted / light


@inlined
def write(laws: Laws, state: State, history: History, flat: Floats) -> bool:
    """Let the disks write what they were granted, and record it. True when fragments of a checkpoint
    end, or will in the next step."""
    run, work, piece = laws.run, state.work, state.piece
    for d in range(laws.disks.shape[0]):
        log = _write_log(laws, state, flat, d)
        written, use = history.disk[piece.bucket, d], history.busy[piece.bucket, d]
        record_disk(laws.disks[d], work[d], piece, run.step_s, log, written, use)
    of_disk, ended, early_s = history.disk[piece.bucket], False, piece.length_s
    for n in range(laws.nodes.shape[0]):
        node, mine, place = laws.nodes[n], state.node_state[n], laws.places[n]
        if mine.is_dead:
            continue
        # What was asked for, before the checkpoint's own bytes go.
        pages = _pages_due(node, mine, piece.writes_lcp, piece.length_s)
        if piece.writes_lcp and mine.lcp_left_bytes > 0.0:
            grant = work[place.lcp_disk].heavy_grant
            amount, ends, before_s = write_checkpoint(mine, grant, piece.length_s)
            ended |= ends
            early_s = min(early_s, before_s)
            of_disk[place.lcp_disk, Purpose.LCP] += amount
            history.node[piece.bucket, n, OfNode.LCP_WRITTEN] += amount
        if run.disk_data_share > 0.0:
            write_disk_data(mine, pages, place, laws.files, work, of_disk)
        if run.has_backup and mine.backup_left_bytes > 0.0:
            grant = work[place.backup_disk].heavy_grant
            of_disk[place.backup_disk, Purpose.BACKUP] += write_backup(node, mine, grant, piece.length_s)
    if ended:
        state.cluster.lcp_early_s = early_s
    return ended


@inlined
def _write_log(laws: Laws, state: State, flat: Floats, d: int) -> float:
    """Log that a disk writes: all that waits, or what it was granted. Bytes of the device."""
    begin, end = laws.disk_start[d], laws.disk_start[d + 1]
    piece, work, nodes = state.piece, state.work[d], laws.nodes
    room_part = min(1.0, laws.run.piece_s / piece.length_s)
    log = work.redo_bytes
    if work.redo_grant_bytes >= 0.0:
        factor = nodes[laws.disk_member[begin]].device_factor
        members = laws.disk_member[begin:end]
        log = work.redo_grant_bytes / factor
        log = drain_part_of(nodes, state.parts, members, state.weights, log, piece.hold_bytes, room_part)
        log *= factor
    elif log > 0.0:
        log_parts = state.parts.shape[2]
        for m in range(begin, end):
            n = laws.disk_member[m]
            own = nodes[n].buffer_limit_bytes
            _drain_all(flat, n * log_parts, (n + 1) * log_parts, own, piece.hold_bytes, room_part)
    return log


@inlined
def _drain_all(flat: Floats, begin: int, end: int, own_limit: float, hold: float, room_part: float) -> None:
    """Write everything beyond `hold` of some parts."""
    fill, drained, limit = (
        flat[Part.FILL, begin:end],
        flat[Part.DRAINED, begin:end],
        flat[Part.LIMIT, begin:end],
    )
    for i in range(fill.shape[0]):
        waiting = max(0.0, fill[i] - hold)
        fill[i] -= waiting
        drained[i] += waiting
        limit[i] = own_limit + waiting * room_part


@inlined
def record_disk(
    disk: Disk, work: DiskWork, piece: Piece, step_s: float, log: float, written: Floats, use: Floats
) -> None:
    """Log that a disk wrote, and for how much of its time it was busy."""
    heavy = (work.lcp_bytes + work.data_bytes + work.backup_bytes) * work.heavy_grant
    time = log + work.undo_bytes * work.light_grant + heavy
    if time <= 0.0 and work.read_pages <= 0.0:
        return
    written[Purpose.REDO] += log
    busy = time / (disk.write_bytes_per_s * piece.length_s)
    if work.read_pages > 0.0:
        busy += min(MOST_READ_TIME, work.read_pages / (disk.read_iops * piece.length_s))
    use[0] += busy * (piece.length_s / step_s)
    if busy > use[1]:
        use[1] = busy


@inlined
def write_checkpoint(state: NodeState, grant: float, step_s: float) -> tuple[float, bool, float]:
    """(bytes of a checkpoint that are written, whether a fragment ends or the last one did, how early)."""
    early_s, ended = step_s, False
    amount = min(state.lcp_target_bytes_per_s * step_s, state.lcp_left_bytes)
    amount = min(state.lcp_left_bytes, np.ceil(amount * grant))
    state.lcp_left_bytes -= amount
    state.lcp_written_bytes += amount
    left = state.lcp_left_bytes
    if state.lcp_fragments_left > 0.0:
        ended = left < state.lcp_target_bytes_per_s * max(step_s, FRAGMENT_AHEAD_S)
    elif left <= 0.0:
        ended = True
        speed = state.lcp_target_bytes_per_s * grant
        early_s = max(0.0, step_s - amount / max(1.0, speed))
    return amount, ended, early_s


@compiled
def write_disk_data(
    state: NodeState,
    dirty: float,
    place: Place,
    files: Rows[FileDisk],
    work: Rows[DiskWork],
    written: Floats,
) -> None:
    """Undo log and these bytes of dirty pages of a node, as far as they are granted; by disk and purpose."""
    undo = state.undo_held_bytes
    amount = undo * place.undo_share * work[place.undo_disk].light_grant
    state.undo_held_bytes -= amount
    written[place.undo_disk, Purpose.UNDO] += amount
    amount = dirty * place.data_share * work[place.data_disk].heavy_grant
    state.dirty_bytes -= amount
    written[place.data_disk, Purpose.DATA_FILES] += amount
    for f in range(place.files_from, place.files_upto):
        d = files[f].disk
        amount = undo * files[f].undo_share * work[d].light_grant
        state.undo_held_bytes -= amount
        written[d, Purpose.UNDO] += amount
        amount = dirty * files[f].data_share * work[d].heavy_grant
        state.dirty_bytes -= amount
        written[d, Purpose.DATA_FILES] += amount


@compiled
def write_backup(node: Node, state: NodeState, grant: float, step_s: float) -> float:
    """Bytes of a backup that a node writes, as far as they are granted."""
    amount: float = min(node.backup_bytes_per_s * step_s, state.backup_left_bytes)
    amount *= grant
    state.backup_left_bytes -= amount
    if state.backup_left_bytes < 1.0:
        state.backup_left_bytes = 0.0
    return amount
