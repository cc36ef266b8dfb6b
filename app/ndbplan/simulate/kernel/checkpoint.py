"""Kernel, part 2: local checkpoints, their speed, and what the product looks at once a second.

Source: engine model 4.1 to 4.4 and 15.1 (Dbdih::execTCGETOPSIZECONF, Backup::calculate_disk_write_speed).
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled
from ndbplan.base.row_types import Floats, Rows
from ndbplan.simulate.kernel.chance import normal, random_share
from ndbplan.simulate.kernel.lag import lag_s
from ndbplan.simulate.kernel.log import RUN_BYTES, open_files
from ndbplan.simulate.kernel.redo_control import (
    LCP_PARTS,
    alert_by_fill,
    alert_of,
    begin_counting,
    count_from_its_begin,
    hurry,
    proposed_speed,
)
from ndbplan.simulate.world.indices import Change, Part
from ndbplan.simulate.world.laws import Laws, Node, Run
from ndbplan.simulate.world.state import Cluster, NodeState, State

LAG_TARGET_S = 2.0
"""Lag of the redo log from which on checkpoints are written more slowly (NDB source, Backup.cpp)."""
FRAGMENT_AHEAD_S = 0.1
"""How long before the one before it ends a fragment is begun, at least: a step must not end without work."""


@compiled
def _at_global_checkpoint(run: Run, age_s: float, now: float, last: float, before: float) -> float:
    """What a sum was at the global checkpoint before a moment: how long ago that was is chance, half the time
    between two on average. `last`, `before`: what it was at the last one of this run, `age_s` ago, and at
    the one before.
    """
    half = 0.5 * run.gcp_s
    if age_s >= half:
        return now - (now - last) * half / age_s
    return last - (last - before) * (half - age_s) / run.gcp_s


@compiled
def _partial(node: Node, data: float, changed: float, new: float, updated: float, rewritten: float) -> float:
    """What a partial checkpoint writes of so many bytes: as many parts in full as changes since the fragment
    own last checkpoint ask for (all of them where most rows changed), and of the others the rows that changed
    since the global checkpoint before that one, which is all that a row says of when it changed. A row that
    is updated twice is written once, and tables that nothing changes are not written (NDB source; 8.4.8).
    """
    untouched = min(data, node.untouched_bytes)
    data = max(1.0, data - untouched)
    distinct = data * (1.0 - np.exp(-updated / data))
    share = min(1.0, (distinct + changed) / data)
    k = share * (1.0 + 0.5 * node.fragment_share)
    full = min(1.0, (1.0 + np.floor(LCP_PARTS * k / (k + node.recovery_work))) / LCP_PARTS)
    if share > node.all_parts_above:
        full = 1.0
    again = data * (1.0 - np.exp(-rewritten / data))
    written: float = data * full + min(data, again + new) * (1.0 - full)
    return written


@compiled
def _next_fragment(
    run: Run, node: Node, state: NodeState, begun: Floats, n: int, age_s: float, since: float
) -> None:
    """Begin the next fragment of every LDM thread: it is written as large as it is at its moment.

    So of the rows inserted since its checkpoint began the later fragments hold more: 0.14 to 0.35 of all
    while a thread has two (7.4.10, 8.4.8). Size: full, or from 7.6 partial.

    `since`: transactions accepted since its moment (below 0: that will be until then); `age_s`: how long
    before that moment the last global checkpoint was. A fragment that were as large as it is when a step
    ends would make a growing table's checkpoints longer in longer steps, each by more than the one before.
    """
    turn = max(0, int(node.fragments - state.lcp_fragments_left))
    data = max(0.0, state.rows_bytes - since * node.inserted_bytes)
    updated_bytes = state.updated_bytes - since * node.updated_bytes
    new_bytes = state.new_bytes - since * node.new_bytes
    deleted_bytes = state.deleted_bytes - since * node.deleted_bytes
    changed_bytes = node.insert_weight * new_bytes + run.delete_weight * deleted_bytes
    if node.partial_lcp and data > 0.0:
        changed = changed_bytes - begun[Change.CHANGED, n, turn]
        new = new_bytes - begun[Change.NEW, n, turn]
        updated = updated_bytes - begun[Change.UPDATED, n, turn]
        rewritten = updated_bytes - begun[Change.REWRITTEN, n, turn]
        data = _partial(node, data, changed, new, updated, rewritten)
    begun[Change.UPDATED, n, turn] = updated_bytes
    begun[Change.CHANGED, n, turn] = changed_bytes
    begun[Change.NEW, n, turn] = _at_global_checkpoint(
        run, age_s, new_bytes, state.new_at_gcp_bytes, state.new_before_gcp_bytes
    )
    begun[Change.REWRITTEN, n, turn] = _at_global_checkpoint(
        run, age_s, updated_bytes, state.updated_at_gcp_bytes, state.updated_before_gcp_bytes
    )
    state.lcp_left_bytes += np.floor(data * node.lcp_factor / node.fragments)
    state.lcp_fragments_left -= 1.0


@compiled
def _next_fragments(laws: Laws, state: State, n: int) -> None:
    """Begin fragments when those under way will not last for a whole step.

    The moment of each is when the one before it ends, for a checkpoint that began at its own moment.
    """
    node, mine, piece, cluster = laws.nodes[n], state.node_state[n], state.piece, state.cluster
    step = mine.lcp_target_bytes_per_s * max(laws.run.step_s, FRAGMENT_AHEAD_S)
    speed = mine.lcp_target_bytes_per_s * state.work[laws.places[n].lcp_disk].heavy_grant
    per_s = piece.accepted / piece.length_s
    while mine.lcp_fragments_left > 0.0 and mine.lcp_left_bytes < step:
        ago_s = cluster.lcp_late_s - min(FRAGMENT_AHEAD_S, mine.lcp_left_bytes / max(1.0, speed))
        age_s = cluster.gcp_age_s - ago_s
        _next_fragment(laws.run, node, mine, state.begun, n, age_s, ago_s * per_s)


@compiled
def _goes_on(laws: Laws, state: State) -> bool:
    """Begin the fragments whose turn it is. Whether some node has anything left to write."""
    running = False
    for n in range(state.node_state.shape[0]):
        _next_fragments(laws, state, n)
        running |= state.node_state[n].lcp_left_bytes > 0.0
    return running


@compiled
def _mark(parts: Floats) -> None:
    """Remember how much log there is now: the next stage waits until it is on disk."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            parts[Part.MARK, n, p] = parts[Part.MADE, n, p]


@compiled
def _flushed(parts: Floats, node_state: Rows[NodeState]) -> bool:
    """Whether the log that was marked is on disk, as far as full runs of pages go."""
    for n in range(parts.shape[1]):
        if not node_state[n].is_dead:
            for p in range(parts.shape[2]):
                on_disk = parts[Part.MADE, n, p] - parts[Part.FILL, n, p]
                behind = parts[Part.FILL, n, p] > 2.0 * RUN_BYTES
                if behind and on_disk + RUN_BYTES < parts[Part.MARK, n, p]:
                    return False
    return True


@compiled
def _free_logs(nodes: Rows[Node], parts: Floats, node_state: Rows[NodeState]) -> None:
    """The log that the checkpoint just completed makes superfluous can be used again."""
    for n in range(parts.shape[1]):
        node_state[n].undo_tail_bytes = max(node_state[n].undo_tail_bytes, node_state[n].undo_start_bytes)
        node_state[n].undo_used_bytes = node_state[n].undo_made_bytes - node_state[n].undo_tail_bytes
        for p in range(parts.shape[2]):
            used = parts[Part.MADE, n, p] - parts[Part.TAIL, n, p]
            parts[Part.LOG_MOST, n, p] = max(parts[Part.LOG_MOST, n, p], used)
            parts[Part.TAIL, n, p] = max(parts[Part.TAIL, n, p], parts[Part.LCP_START, n, p])
            open_files(nodes, parts, n, p)


@compiled
def _log_is_short(run: Run, nodes: Rows[Node], parts: Floats, node_state: Rows[NodeState]) -> bool:
    """Whether a third of some part's log is left: then a checkpoint starts, however little was written."""
    for n in range(parts.shape[1]):
        if node_state[n].is_dead:
            continue
        for p in range(parts.shape[2]):
            if parts[Part.MADE, n, p] - parts[Part.TAIL, n, p] >= run.lcp_forced_share * nodes[n].log_bytes:
                return True
    return False


@compiled
def _now_s(state: State) -> float:
    """The moment of what a checkpoint does in this piece of a step."""
    now: float = state.piece.now_s + state.piece.length_s - max(0.0, state.cluster.lcp_late_s)
    return now


@compiled
def _begin(laws: Laws, state: State) -> None:
    """A checkpoint begins, on every node at once."""
    run, nodes, parts, cluster = laws.run, laws.nodes, state.parts, state.cluster
    # How long ago the last global checkpoint was is chance: the log is kept back to the mean moment.
    since = (cluster.gcp_age_s - cluster.lcp_late_s) / run.gcp_s - 0.5
    cluster.log_at_lcp_bytes = parts[Part.MADE].sum()
    begin_counting(state.changes, cluster, _now_s(state))
    cluster.lcp_number += 1
    cluster.lcp_writes = True
    for n in range(parts.shape[1]):
        mine = state.node_state[n]
        if mine.is_dead:
            continue
        mine.lcp_fragments_left = nodes[n].fragments
        mine.undo_start_bytes = mine.undo_made_bytes
        mine.lcp_left_bytes = nodes[n].lcp_files_bytes
        _next_fragments(laws, state, n)
        for p in range(parts.shape[2]):
            # The checkpoint takes disk time: what was written last step is not a measure any more.
            parts[Part.LIMIT, n, p] = nodes[n].buffer_limit_bytes
            before = parts[Part.DURABLE_BEFORE, n, p]
            kept_from = np.floor(max(0.0, before + since * (parts[Part.DURABLE, n, p] - before)))
            if run.spans_three_lcps:
                parts[Part.LCP_START, n, p] = parts[Part.LCP_NEXT, n, p]
                parts[Part.LCP_NEXT, n, p] = kept_from
            else:
                parts[Part.LCP_START, n, p] = kept_from


@compiled
def checkpoint(laws: Laws, state: State) -> None:
    """End of fragments, start, pause and end of checkpoints, one for the whole cluster at a time.

    Called when fragments are written, and when the time of a stage of the pause is over.
    """
    run, nodes, parts = laws.run, laws.nodes, state.parts
    node_state, cluster = state.node_state, state.cluster
    if cluster.lcp_writes:
        if not _goes_on(laws, state):
            cluster.lcp_writes = cluster.lcp_starts = False
            cluster.lcp_stages_left = run.lcp_flushes_after
            cluster.lcp_stage_s = _drawn(cluster, run.lcp_stage_s, run.lcp_stage_off_s)
            cluster.lcp_stage_left_s = cluster.lcp_stage_s - cluster.lcp_early_s - cluster.lcp_late_s
            _mark(parts)
        return
    # Stages end within a step: what is beyond their end counts for the next one.
    beyond = max(-run.step_s, cluster.lcp_stage_left_s)
    cluster.lcp_stage_left_s = beyond
    cluster.lcp_late_s = -beyond
    if cluster.lcp_stages_left > 0.0:
        if not _end_stage(parts, node_state, cluster):
            return
        if not cluster.lcp_starts:
            _free_logs(nodes, parts, node_state)
            count_from_its_begin(state.changes, node_state, cluster, _now_s(state))
            _before_the_next(run, parts, cluster)
            if cluster.lcp_stages_left > 0.0:
                return
    if _is_due(run, nodes, parts, node_state, cluster):
        _begin(laws, state)


@compiled
def _is_due(
    run: Run, nodes: Rows[Node], parts: Floats, node_state: Rows[NodeState], cluster: Cluster
) -> bool:
    """Whether a checkpoint begins now: so much was logged since the last one began, and found out in time.

    Where so much comes only when no checkpoint is under way any more, it takes some time to begin.
    """
    made = parts[Part.MADE].sum() - cluster.log_at_lcp_bytes
    if made < run.lcp_threshold_bytes and not _log_is_short(run, nodes, parts, node_state):
        # From now on it is the amount of log that starts a checkpoint, not the time.
        cluster.lcp_is_idle = True
        cluster.lcp_stage_left_s = cluster.lcp_late_s = 0.0
        return False
    if cluster.lcp_is_idle:
        cluster.lcp_is_idle = False
        cluster.lcp_stage_left_s = run.lcp_first_s
        return False
    return True


@compiled
def _before_the_next(run: Run, parts: Floats, cluster: Cluster) -> None:
    """The log was cut: the next checkpoint waits for flushes of its own before it writes.

    From 8.0 on one of them is for the files of the checkpoint before the last, which the first has not.
    """
    cluster.lcp_starts = True
    first = cluster.lcp_number <= 1
    cluster.lcp_stages_left = run.lcp_flushes_first if first else run.lcp_flushes_before
    before_s = cluster.lcp_stage_s
    cluster.lcp_stage_s = _drawn(cluster, run.lcp_begin_stage_s, run.lcp_begin_stage_off_s)
    cluster.lcp_stage_left_s += cluster.lcp_stage_s - before_s
    _mark(parts)


@compiled
def _drawn(cluster: Cluster, value: float, off: float) -> float:
    """What differs from one checkpoint to the next: chance, off by so much at most."""
    return value if off <= 0.0 else value + off * (2.0 * random_share(cluster) - 1.0)


@compiled
def _end_stage(parts: Floats, node_state: Rows[NodeState], cluster: Cluster) -> bool:
    """The time of a stage of the pause is over. True: all of these stages are."""
    if not _flushed(parts, node_state):
        cluster.lcp_stage_left_s = cluster.lcp_late_s = 0.0
        return False
    cluster.lcp_stages_left -= 1.0
    cluster.lcp_stage_left_s += cluster.lcp_stage_s
    if cluster.lcp_stages_left > 0.0:
        _mark(parts)
        return False
    return True


@compiled
def near_checkpoint(node_state: Rows[NodeState], cluster: Cluster, step_s: float) -> bool:
    """Whether a checkpoint, or a stage of the pause after it, may end in this step."""
    if not cluster.lcp_writes:
        return cluster.lcp_stage_left_s <= step_s
    for n in range(node_state.shape[0]):
        if node_state[n].lcp_fragments_left <= 0.0:
            left = node_state[n].lcp_left_bytes
            if 0.0 < left <= node_state[n].lcp_target_bytes_per_s * step_s * 1.5:
                return True
    return False


@compiled
def _speed_limits(nodes: Rows[Node], alert: int, n: int) -> tuple[float, float]:
    """(lowest, highest) checkpoint speed of a node now: normal, during restarts, by alert level.

    The lowest never rises: where the log lags the speed falls to it, however full the log is [8.4.8].
    """
    low = nodes[n].lcp_min_bytes_per_s
    high = nodes[n].lcp_max_bytes_per_s
    if nodes[n].regime >= 2:
        high = nodes[n].lcp_max_own_bytes_per_s
    elif nodes[n].regime >= 1:
        high = nodes[n].lcp_max_other_bytes_per_s
    if nodes[n].redo_control:
        if alert >= 3:
            high = nodes[n].lcp_max_own_bytes_per_s
        elif alert >= 2:
            high = max(high, nodes[n].lcp_max_other_bytes_per_s)
    return min(low, high), high


@compiled
def _adapt(laws: Laws, state: State, n: int, now_s: float, elapsed_s: float) -> None:
    """Checkpoint speed of each LDM thread: down while its log lags by 2 s, else up, faster at an alert."""
    nodes, node_state, targets, cluster = laws.nodes, state.node_state, state.targets, state.cluster
    ldms = nodes[n].ldms
    low, high = _speed_limits(nodes, cluster.alert_level, n)
    if nodes[n].redo_control and nodes[n].partial_lcp:
        # None of the limits that are set holds for what redo control asks for.
        follows = proposed_speed(
            laws.run, nodes, node_state, state.parts, state.changes, laws.alerts, cluster, n, now_s, elapsed_s
        )
        high = max(high, min(follows, nodes[n].lcp_followed_bytes_per_s))
    up = nodes[n].lcp_steps_up_at_alert if cluster.alert_level > 0 else nodes[n].lcp_steps_up
    total = 0.0
    for ldm in range(ldms):
        target = targets[n, ldm]
        if not nodes[n].adaptive_lcp or target > high / ldms:
            target = high / ldms
        else:
            if _lags(state.parts, state.wrote, n, ldm, ldms):
                target -= (high - low) / (nodes[n].lcp_steps_down * ldms) * elapsed_s
            else:
                target += (high - low) / (up * ldms) * elapsed_s
            target = min(high / ldms, max(low / ldms, target))
        targets[n, ldm] = target
        total += target
    node_state[n].lcp_target_bytes_per_s = total


@compiled
def _lags(parts: Floats, wrote: Floats, n: int, ldm: int, ldms: int) -> bool:
    """Whether a log part of an LDM thread lags by 2 whole seconds, by its speed of the last busy seconds.

    As for error 1234 (targets and lags of seven runs of 8.4.8, 11 of 7.4.10). Parts go to threads in turn.
    """
    lags = False
    for p in range(ldm, parts.shape[2], ldms):
        lags = lags or lag_s(parts, wrote, n, p) >= LAG_TARGET_S
    return lags


@compiled
def each_second(laws: Laws, state: State, now_s: float, elapsed_s: float) -> None:
    """Alert level, speed of checkpoints, drift of the speeds of log parts."""
    nodes, node_state, cluster, parts = laws.nodes, state.node_state, state.cluster, state.parts
    if cluster.lcp_number == 0 and parts[Part.MADE].sum() <= cluster.log_at_lcp_bytes:
        # The time counts from the first log on.
        cluster.lcp_began_s = now_s
    level = 0
    for n in range(nodes.shape[0]):
        if node_state[n].is_dead:
            continue
        level = max(level, alert_of(nodes, laws.load, parts, laws.alerts, cluster, n, now_s))
        undo = node_state[n].undo_used_bytes / nodes[n].undo_limit_bytes
        level = max(level, alert_by_fill(laws.alerts, undo))
    cluster.alert_level = level
    hurry(laws.alerts, cluster, now_s)
    for n in range(nodes.shape[0]):
        _adapt(laws, state, n, now_s, elapsed_s)
    if laws.run.unevenness > 0.0:
        _drift(laws.run, nodes, state.weights, cluster)


@compiled
def _drift(run: Run, nodes: Rows[Node], weights: Floats, cluster: Cluster) -> None:
    """The speeds at which log parts are written drift apart and together."""
    kept = run.unevenness_kept
    fresh = np.sqrt(1.0 - kept * kept) * run.unevenness
    for p in range(weights.shape[1]):
        # One number for the part of every node: nodes that are alike stay so, simulated once or apart.
        number = normal(cluster)
        for n in range(weights.shape[0]):
            drift = kept * (weights[n, p] - 1.0) + fresh * nodes[n].unevenness * number
            weights[n, p] = min(1.5, max(0.5, 1.0 + drift))
