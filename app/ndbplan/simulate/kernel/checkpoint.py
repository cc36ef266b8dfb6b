# mypy: allow-untyped-defs
"""Kernel, part 2: local checkpoints, their speed, and what the product looks at once a second."""

from __future__ import annotations

import numpy as np
from numba import njit

from ndbplan.simulate.columns import (
    C_ALERT,
    C_GCP_S,
    C_LCP_EARLY,
    C_LCP_LATE,
    C_LCP_NUMBER,
    C_LCP_PHASE,
    C_LCP_STAGE,
    C_LCP_STAGE_S,
    C_LOG_AT_LCP,
    C_RANDOM,
    N_ADAPTIVE,
    N_BUFFER_LIMIT,
    N_FRAGMENTS,
    N_LCP_FACTOR,
    N_LCP_MAX,
    N_LCP_MAX_OTHER,
    N_LCP_MAX_OWN,
    N_LCP_MIN,
    N_LDMS,
    N_LOG_BYTES,
    N_PARTIAL,
    N_RECOVERY_WORK,
    N_REDO_CONTROL,
    N_REGIME,
    N_TABLE_SHARE,
    N_UNDO_LIMIT,
    N_UNEVEN,
    P_DRAINED,
    P_DURABLE,
    P_DURABLE_BEFORE,
    P_FILL,
    P_LCP_NEXT,
    P_LCP_START,
    P_LIMIT,
    P_LOG_MOST,
    P_MADE,
    P_MARK,
    P_SPEED,
    P_TAIL,
    R_GCP_S,
    R_LCP_THRESHOLD,
    R_SPAN_MORE,
    R_STAGE_S,
    R_STEP_S,
    R_UNEVEN,
    S_CHANGED,
    S_DATA,
    S_DEAD,
    S_LCP_CHANGED,
    S_LCP_FRAGMENTS,
    S_LCP_LEFT,
    S_LCP_TARGET,
    S_LCP_TOUCHED,
    S_NEEDED,
    S_TOUCHED,
    S_UNDO_MADE,
    S_UNDO_START,
    S_UNDO_TAIL,
    S_UNDO_USED,
)
from ndbplan.simulate.kernel.log import RUN_BYTES, open_files

LCP_STAGES = 5.0
"""Stages between two checkpoints: flushes of the log, one after the other, and at last the small tables
[7.4.10: pauses of 2 s without backlog to 31 s with one]."""
SMALL_TABLES_S = 5.0
"""Time that the small tables of the system take while the log is behind [7.4.10: 4 to 6 s]."""
LCP_PARTS = 2048.0
LAG_TARGET_S = 2.0
ALERT_LOW, ALERT_HIGH, ALERT_CRITICAL = 0.25, 0.40, 0.60
HEADROOM, HEADROOM_ALERT = 1.25, 0.15
"""Checkpoint speed against what the changes need, and more for each alert level (NDB source)."""
DRIFT_KEPT = 0.95
FRAGMENT_AHEAD_S = 0.1
"""How long before the one before it ends a fragment is begun, at least: a step must not end without work."""
CONTROL_FILE_BYTES = 4096.0
"""What a checkpoint writes when nothing has changed (NDB source)."""
FORCED_AT = 2.0 / 3.0
"""Share of a log part in use at which a checkpoint is forced [NDB source]."""


@njit(cache=True, nogil=True)
def _random(cluster):
    """Next number in [0, 1) of the run's generator (xorshift32, kept as a float)."""
    x = np.uint32(cluster[C_RANDOM])
    x ^= np.uint32(x << np.uint32(13))
    x ^= np.uint32(x >> np.uint32(17))
    x ^= np.uint32(x << np.uint32(5))
    cluster[C_RANDOM] = float(x)
    return float(x) / 4294967296.0


@njit(cache=True, nogil=True)
def _normal(cluster):
    """A number that is nearly normal: three uniform ones added, within three standard deviations."""
    return 2.0 * (_random(cluster) + _random(cluster) + _random(cluster) - 1.5)


@njit(cache=True, nogil=True)
def _next_fragment(nodes, node_state, n):
    """Begin the next fragment of every LDM thread: it is written as large as it is now.

    Rows inserted before a fragment's turn are written with it, later ones are not (7.4.10: bytes of
    checkpoints during inserts). Size: full, or partial from 7.6 (manual, NDB source).
    """
    data = node_state[S_DATA, n]
    if nodes[n, N_PARTIAL] > 0.0 and data > 0.0:
        changed = min(1.0, node_state[S_LCP_CHANGED, n] / data)
        k = changed * (1.0 + 0.5 * nodes[n, N_TABLE_SHARE])
        full = min(1.0, (1.0 + np.floor(LCP_PARTS * k / (k + nodes[n, N_RECOVERY_WORK]))) / LCP_PARTS)
        data = data * full + min(data, node_state[S_LCP_TOUCHED, n]) * (1.0 - full)
    node_state[S_LCP_LEFT, n] += np.floor(data * nodes[n, N_LCP_FACTOR] / nodes[n, N_FRAGMENTS])
    node_state[S_LCP_FRAGMENTS, n] -= 1.0


@njit(cache=True, nogil=True)
def _next_fragments(run, nodes, node_state, n):
    """Begin fragments when those under way will not last for a whole step."""
    step = node_state[S_LCP_TARGET, n] * max(run[R_STEP_S], FRAGMENT_AHEAD_S)
    while node_state[S_LCP_FRAGMENTS, n] > 0.0 and node_state[S_LCP_LEFT, n] < step:
        _next_fragment(nodes, node_state, n)


@njit(cache=True, nogil=True)
def _mark(parts):
    """Remember how much log there is now: the next stage waits until it is on disk."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            parts[P_MARK, n, p] = parts[P_MADE, n, p]


@njit(cache=True, nogil=True)
def _flushed(parts, node_state):
    """Whether the log that was marked is on disk, as far as full runs of pages go."""
    for n in range(parts.shape[1]):
        if node_state[S_DEAD, n] <= 0.0:
            for p in range(parts.shape[2]):
                if parts[P_MADE, n, p] - parts[P_FILL, n, p] + RUN_BYTES < parts[P_MARK, n, p]:
                    return False
    return True


@njit(cache=True, nogil=True)
def _is_behind(parts):
    """Whether a part holds more log than it writes at once."""
    for n in range(parts.shape[1]):
        for p in range(parts.shape[2]):
            if parts[P_FILL, n, p] > 8.0 * RUN_BYTES:
                return True
    return False


@njit(cache=True, nogil=True)
def _free_logs(nodes, parts, node_state):
    """The log that the checkpoint just completed makes superfluous can be used again."""
    for n in range(parts.shape[1]):
        node_state[S_UNDO_TAIL, n] = max(node_state[S_UNDO_TAIL, n], node_state[S_UNDO_START, n])
        node_state[S_UNDO_USED, n] = node_state[S_UNDO_MADE, n] - node_state[S_UNDO_TAIL, n]
        for p in range(parts.shape[2]):
            used = parts[P_MADE, n, p] - parts[P_TAIL, n, p]
            parts[P_LOG_MOST, n, p] = max(parts[P_LOG_MOST, n, p], used)
            parts[P_TAIL, n, p] = max(parts[P_TAIL, n, p], parts[P_LCP_START, n, p])
            open_files(nodes, parts, n, p)


@njit(cache=True, nogil=True)
def _log_is_short(nodes, parts, node_state):
    """Whether a third of some part's log is left: then a checkpoint starts, however little was written."""
    for n in range(parts.shape[1]):
        if node_state[S_DEAD, n] > 0.0:
            continue
        for p in range(parts.shape[2]):
            if parts[P_MADE, n, p] - parts[P_TAIL, n, p] >= FORCED_AT * nodes[n, N_LOG_BYTES]:
                return True
    return False


@njit(cache=True, nogil=True)
def _begin(run, nodes, parts, node_state, cluster):
    # How long ago the last global checkpoint was is chance: the log is kept back to the mean moment.
    since = (cluster[C_GCP_S] - cluster[C_LCP_LATE]) / run[R_GCP_S] - 0.5
    cluster[C_LOG_AT_LCP] = parts[P_MADE].sum()
    cluster[C_LCP_NUMBER] += 1.0
    cluster[C_LCP_PHASE] = 1.0
    for n in range(parts.shape[1]):
        if node_state[S_DEAD, n] > 0.0:
            continue
        node_state[S_LCP_CHANGED, n] = node_state[S_CHANGED, n]
        node_state[S_LCP_TOUCHED, n] = node_state[S_TOUCHED, n]
        node_state[S_CHANGED, n] = 0.0
        node_state[S_TOUCHED, n] = 0.0
        node_state[S_LCP_FRAGMENTS, n] = nodes[n, N_FRAGMENTS]
        node_state[S_UNDO_START, n] = node_state[S_UNDO_MADE, n]
        node_state[S_LCP_LEFT, n] = CONTROL_FILE_BYTES
        _next_fragments(run, nodes, node_state, n)
        for p in range(parts.shape[2]):
            # The checkpoint takes disk time: what was written last step is no measure any more.
            parts[P_LIMIT, n, p] = nodes[n, N_BUFFER_LIMIT]
            before = parts[P_DURABLE_BEFORE, n, p]
            kept_from = np.floor(max(0.0, before + since * (parts[P_DURABLE, n, p] - before)))
            if run[R_SPAN_MORE] > 0.0:
                parts[P_LCP_START, n, p] = parts[P_LCP_NEXT, n, p]
                parts[P_LCP_NEXT, n, p] = kept_from
            else:
                parts[P_LCP_START, n, p] = kept_from


@njit(cache=True, nogil=True)
def checkpoint(run, nodes, parts, node_state, cluster):
    """End of fragments, start, pause and end of checkpoints, one for the whole cluster at a time.

    Called when fragments are written, and when the time of a stage of the pause is over.
    """
    if cluster[C_LCP_PHASE] > 0.0:
        running = False
        for n in range(parts.shape[1]):
            _next_fragments(run, nodes, node_state, n)
            running |= node_state[S_LCP_LEFT, n] > 0.0
        if not running:
            cluster[C_LCP_PHASE] = 0.0
            cluster[C_LCP_STAGE] = LCP_STAGES
            cluster[C_LCP_STAGE_S] = run[R_STAGE_S] - cluster[C_LCP_EARLY] - cluster[C_LCP_LATE]
            _mark(parts)
        return
    # Stages end within a step: what is beyond their end counts for the next one.
    beyond = max(-run[R_STEP_S], cluster[C_LCP_STAGE_S])
    cluster[C_LCP_STAGE_S] = beyond
    if cluster[C_LCP_STAGE] > 0.0:
        if cluster[C_LCP_STAGE] > 1.0 and not _flushed(parts, node_state):
            cluster[C_LCP_STAGE_S] = 0.0
            return
        cluster[C_LCP_STAGE] -= 1.0
        cluster[C_LCP_STAGE_S] += run[R_STAGE_S]
        cluster[C_LCP_LATE] = -beyond
        if cluster[C_LCP_STAGE] > 0.0:
            _mark(parts)
            if cluster[C_LCP_STAGE] == 1.0 and _is_behind(parts):
                cluster[C_LCP_STAGE_S] = SMALL_TABLES_S + beyond
            return
        _free_logs(nodes, parts, node_state)
    made = parts[P_MADE].sum() - cluster[C_LOG_AT_LCP]
    first = cluster[C_LCP_NUMBER] == 0.0 and made > 0.0
    if made >= run[R_LCP_THRESHOLD] or first or _log_is_short(nodes, parts, node_state):
        _begin(run, nodes, parts, node_state, cluster)
    else:
        # From now on it is the amount of log that starts a checkpoint, not the time.
        cluster[C_LCP_STAGE_S] = cluster[C_LCP_LATE] = 0.0


@njit(cache=True, nogil=True)
def near_checkpoint(node_state, cluster, step_s):
    """Whether a checkpoint, or a stage of the pause after it, may end in this step."""
    if cluster[C_LCP_PHASE] <= 0.0:
        return cluster[C_LCP_STAGE_S] <= step_s
    for n in range(node_state.shape[1]):
        if node_state[S_LCP_FRAGMENTS, n] <= 0.0:
            left = node_state[S_LCP_LEFT, n]
            if 0.0 < left <= node_state[S_LCP_TARGET, n] * step_s * 1.5:
                return True
    return False


@njit(cache=True, nogil=True)
def _speed_limits(nodes, alert, n):
    """(lowest, highest) checkpoint speed of a node now: normal, during restarts, by alert level."""
    low = nodes[n, N_LCP_MIN]
    high = nodes[n, N_LCP_MAX]
    if nodes[n, N_REGIME] >= 2.0:
        high = nodes[n, N_LCP_MAX_OWN]
    elif nodes[n, N_REGIME] >= 1.0:
        high = nodes[n, N_LCP_MAX_OTHER]
    if nodes[n, N_REDO_CONTROL] > 0.0:
        if alert >= 3.0:
            high = nodes[n, N_LCP_MAX_OWN]
            low = high
        elif alert >= 2.0:
            high = max(high, nodes[n, N_LCP_MAX_OTHER])
            low = min(high, 2.0 * low)
    return min(low, high), high


@njit(cache=True, nogil=True)
def _adapt(nodes, ldm_of, parts, node_state, targets, alert, n, elapsed_s):
    """Checkpoint speed of each LDM thread: down while its log lags by 2 s, else up (NDB source, 7.4.10)."""
    ldms = int(nodes[n, N_LDMS])
    low, high = _speed_limits(nodes, alert, n)
    if nodes[n, N_REDO_CONTROL] > 0.0 and nodes[n, N_PARTIAL] > 0.0:
        # Redo control follows the changes, with some headroom, as far as the highest limit.
        needed = node_state[S_NEEDED, n] / elapsed_s * HEADROOM * (1.0 + HEADROOM_ALERT * alert)
        low = max(low, min(needed, nodes[n, N_LCP_MAX_OWN]))
        high = max(high, low)
    node_state[S_NEEDED, n] = 0.0
    total = 0.0
    held = np.zeros(ldms)
    speed = np.zeros(ldms)
    for p in range(parts.shape[2]):
        held[ldm_of[n, p]] += parts[P_FILL, n, p]
        speed[ldm_of[n, p]] += parts[P_SPEED, n, p]
    for ldm in range(ldms):
        target = targets[n, ldm]
        if nodes[n, N_ADAPTIVE] > 0.0:
            if held[ldm] > RUN_BYTES * 2.0 and held[ldm] >= LAG_TARGET_S * speed[ldm]:
                target -= (high - low) / (7.0 * ldms) * elapsed_s
            else:
                target += (high - low) / (12.0 * ldms) * elapsed_s
            target = min(high / ldms, max(low / ldms, target))
        else:
            target = high / ldms
        targets[n, ldm] = target
        total += target
    node_state[S_LCP_TARGET, n] = total


@njit(cache=True, nogil=True)
def each_second(run, nodes, ldm_of, weights, load, parts, node_state, targets, cluster, elapsed_s):
    """Speed of the log, alert level, speed of checkpoints, drift of the parts' speeds."""
    count, log_parts = load.shape
    worst = 0.0
    for n in range(count):
        for p in range(log_parts):
            parts[P_SPEED, n, p] = parts[P_DRAINED, n, p] / elapsed_s
            parts[P_DRAINED, n, p] = 0.0
            if load[n, p] > 0.0:
                worst = max(worst, (parts[P_MADE, n, p] - parts[P_TAIL, n, p]) / nodes[n, N_LOG_BYTES])
        if node_state[S_UNDO_USED, n] > 0.0 and node_state[S_DEAD, n] <= 0.0:
            worst = max(worst, node_state[S_UNDO_USED, n] / nodes[n, N_UNDO_LIMIT])
        _adapt(nodes, ldm_of, parts, node_state, targets, cluster[C_ALERT], n, elapsed_s)
    level = 0.0
    if worst > ALERT_CRITICAL:
        level = 3.0
    elif worst > ALERT_HIGH:
        level = 2.0
    elif worst > ALERT_LOW:
        level = 1.0
    cluster[C_ALERT] = level
    if run[R_UNEVEN] > 0.0:
        fresh = np.sqrt(1.0 - DRIFT_KEPT * DRIFT_KEPT) * run[R_UNEVEN]
        for p in range(log_parts):
            # One number for the part of every node: nodes that are alike stay so, simulated once or apart.
            number = _normal(cluster)
            for n in range(count):
                drift = DRIFT_KEPT * (weights[n, p] - 1.0) + fresh * nodes[n, N_UNEVEN] * number
                weights[n, p] = min(1.5, max(0.5, 1.0 + drift))
