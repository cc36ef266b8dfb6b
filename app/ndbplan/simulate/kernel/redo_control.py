"""Kernel, part 11: redo control, by which checkpoints follow the changes and the fill of the redo log.

Source: NDB 8.4, Backup::measure_change_speed and what it calls once a second; held against the targets that a
running 8.4.8 cluster reported.
"""

from __future__ import annotations

import numpy as np

from ndbplan.base.compiled import compiled
from ndbplan.base.row_types import Floats, Rows
from ndbplan.simulate.world.indices import Alert, Kind, Part, Since
from ndbplan.simulate.world.laws import Node, Run
from ndbplan.simulate.world.state import Cluster, NodeState

LCP_PARTS = 2048.0
"""Parts of a fragment, some of which a partial checkpoint writes in full (engine model 4.3)."""
FRAGMENT_SHARE = 0.1
"""Share of an LDM thread's memory that one fragment counts for (Backup::calculate_parts)."""
SHORTEST_S = 2.0
"""Changes of less time say nothing of their rate (Backup::calculate_change_rate)."""
LAST_SECOND = 0.75
"""How much the changes of the last second count for, against the mean (Backup::measure_change_speed)."""
BURST = 1.2
"""How much more is asked at most while more log is written than on average."""
BEHIND, AHEAD = 1.25, 0.8
"""How much more is asked at most while checkpoints are behind the changes; less while they are ahead."""
SETTLES_S = 3.0
"""From so long before the length of the last checkpoint on the age of the log's tail counts."""
LONGER_S = 6.0
"""A checkpoint that takes so much longer than twice, or three times, the last one is hurried."""
HURRIED = (1.1, 1.2)
"""By how much, until the end of the next one."""
LASTS = 2.0
"""Ends of checkpoints after which a hurry is over."""
HURRY_STEP = 0.1
"""How much less hurry there is after the first of them."""
CRITICAL_BY_MOST, HIGH_BY_MEAN = 0.4, 1.0 / 3.0
"""A log is on alert before it is full when less is left than this share of what the next checkpoint's time
makes, at the highest rate so far or at the mean (Backup::change_alert_state_redo_usage)."""
CRITICAL_BY_MEAN = 0.5
"""The same of a critical alert by the mean rate; the high one by the highest rate is at all of it."""


@compiled
def begin_counting(changes: Floats, cluster: Cluster, now_s: float) -> None:
    """A checkpoint begins: changes count from when the one before it began."""
    for kind in range(changes.shape[1]):
        for n in range(changes.shape[2]):
            changes[Since.CUT, kind, n] = changes[Since.NEXT, kind, n]
            changes[Since.NEXT, kind, n] = changes[Since.LAST, kind, n]
    cluster.lcp_cut_s = cluster.lcp_began_s
    cluster.lcp_began_s = now_s


@compiled
def count_from_its_begin(
    changes: Floats, node_state: Rows[NodeState], cluster: Cluster, now_s: float
) -> None:
    """A checkpoint is complete: changes count from when it began."""
    for kind in range(changes.shape[1]):
        for n in range(changes.shape[2]):
            changes[Since.CUT, kind, n] = changes[Since.NEXT, kind, n]
    cluster.lcp_lasted_s = max(0.0, now_s - cluster.lcp_began_s)
    cluster.lcp_cut_s = cluster.lcp_began_s
    for n in range(node_state.shape[0]):
        node_state[n].lcp_lag_before_bytes = node_state[n].lcp_lag_bytes
        node_state[n].lcp_lag_bytes = 0.0
    if cluster.hurries_left > 0.0:
        cluster.hurries_left -= 1.0
        cluster.hurry = 0.0 if cluster.hurries_left <= 0.0 else max(0.0, cluster.hurry - HURRY_STEP)


@compiled
def since_cut_s(cluster: Cluster, now_s: float) -> float:
    """Whole seconds for which changes count."""
    whole: float = np.floor(max(0.0, now_s - cluster.lcp_cut_s) + 1e-6)
    return whole


@compiled
def alert_of(
    nodes: Rows[Node], load: Floats, parts: Floats, alerts: Floats, cluster: Cluster, n: int, now_s: float
) -> int:
    """Alert of a node by its fullest log part: by what is in use, and by whether the rest will last."""
    level = 0
    since = since_cut_s(cluster, now_s)
    for p in range(parts.shape[2]):
        if load[n, p] <= 0.0:
            continue
        used = parts[Part.MADE, n, p] - parts[Part.TAIL, n, p]
        speed = parts[Part.SPEED, n, p]
        parts[Part.MOST_SPEED, n, p] = max(parts[Part.MOST_SPEED, n, p], speed)
        level = max(level, _level(alerts, used / nodes[n].log_bytes))
        if level < 3 and cluster.lcp_lasted_s > 0.0:
            left = nodes[n].log_bytes - used
            most = parts[Part.MOST_SPEED, n, p] * cluster.lcp_lasted_s
            mean = used / since * cluster.lcp_lasted_s if since > 0.0 else 0.0
            if left < CRITICAL_BY_MOST * most or left < CRITICAL_BY_MEAN * mean:
                level = 3
            elif left < most or left < HIGH_BY_MEAN * mean:
                level = max(level, 2)
    return level


@compiled
def _level(alerts: Floats, used: float) -> int:
    """Alert level at which so large a share of a log is in use."""
    level = 0
    for at in range(1, alerts.shape[1]):
        if used > alerts[Alert.FILL, at]:
            level = at
    return level


@compiled
def alert_by_fill(alerts: Floats, used: float) -> int:
    """The same of another log, such as that of disk data."""
    return _level(alerts, used)


@compiled
def hurry(alerts: Floats, cluster: Cluster, now_s: float) -> None:
    """Checkpoints that take long, and alerts, have them written faster until the end of the next one."""
    lasted = np.floor(cluster.lcp_lasted_s)
    since = since_cut_s(cluster, now_s)
    if cluster.lcp_lasted_s <= 0.0 or since + SETTLES_S < lasted:
        return
    more = 1.0
    if since > 2.0 * lasted + LONGER_S:
        more = HURRIED[1] if since > 3.0 * lasted + LONGER_S else HURRIED[0]
    more = max(more, alerts[Alert.HURRY, cluster.alert_level])
    if more > 1.0:
        cluster.hurries_left = LASTS
        cluster.hurry = max(cluster.hurry, more - 1.0)


@compiled
def proposed_speed(
    run: Run,
    nodes: Rows[Node],
    node_state: Rows[NodeState],
    parts: Floats,
    changes: Floats,
    alerts: Floats,
    cluster: Cluster,
    n: int,
    now_s: float,
    elapsed_s: float,
) -> float:
    """Bytes a second at which a node's checkpoints keep up with the changes."""
    node, state = nodes[n], node_state[n]
    state.lcp_lag_bytes += state.lcp_change_bytes_per_s * elapsed_s - (
        state.lcp_written_bytes - state.lcp_counted_bytes
    )
    state.lcp_counted_bytes = state.lcp_written_bytes
    since = since_cut_s(cluster, now_s)
    rate = 0.0
    if since >= SHORTEST_S:
        rate = _checkpoint_bytes(run, node, state, changes, Since.CUT, n) / since
        last = _checkpoint_bytes(run, node, state, changes, Since.LAST, n) / elapsed_s
        rate = max(rate, LAST_SECOND * last)
    changes[Since.LAST, Kind.UPDATED, n] = state.updated_bytes
    changes[Since.LAST, Kind.NEW, n] = state.new_bytes
    changes[Since.LAST, Kind.DELETED, n] = state.deleted_bytes
    rate *= 1.0 + cluster.hurry
    state.lcp_change_bytes_per_s = rate
    speed = rate * node.lcp_headroom * _burst(parts, n, since)
    level = cluster.alert_level
    speed *= alerts[Alert.SPEED, level]
    return _caught_up(speed, state.lcp_lag_bytes + state.lcp_lag_before_bytes, since, level)


@compiled
def _caught_up(speed: float, lag: float, since: float, level: int) -> float:
    """The same so that checkpoints catch up with changes that they are behind of, by lag in bytes."""
    if since <= 0.0:
        return speed
    if lag > 0.0:
        return min(BEHIND * speed, speed + lag / since)
    if level < 2:
        return max(AHEAD * speed, speed + lag / since)
    return speed


@compiled
def _burst(parts: Floats, n: int, since: float) -> float:
    """Log of all parts that is written now against the mean, within bounds."""
    used = now = 0.0
    for p in range(parts.shape[2]):
        used += parts[Part.MADE, n, p] - parts[Part.TAIL, n, p]
        now += parts[Part.SPEED, n, p]
    if since <= 0.0 or now * since <= used:
        # Without a mean anything is more than that; the rate of changes is not known then either.
        return 1.0
    more: float = min(BURST, now * since / max(1.0, used))
    return more


@compiled
def _checkpoint_bytes(run: Run, node: Node, state: NodeState, changes: Floats, since: int, n: int) -> float:
    """What a partial checkpoint of the whole node writes of the changes since then, as NDB reckons."""
    updated = state.updated_bytes - changes[since, Kind.UPDATED, n]
    new = state.new_bytes - changes[since, Kind.NEW, n]
    deleted = state.deleted_bytes - changes[since, Kind.DELETED, n]
    total = updated + new + deleted
    if total <= 0.0:
        return 0.0
    both = min(new, deleted)
    updated, new, deleted = updated + both, new - both, deleted - both
    held = max(1.0, state.memory_bytes, state.rows_bytes)
    changed = new + deleted + held * (1.0 - np.exp(-updated / held))
    weight = (updated + node.insert_weight * new + run.delete_weight * deleted) / total
    share = min(1.0, changed * weight / held)
    k = share * (1.0 + 0.5 * FRAGMENT_SHARE)
    full = min(1.0, (1.0 + np.floor(LCP_PARTS * k / (k + node.recovery_work))) / LCP_PARTS)
    size: float = held * full + changed * (1.0 - full)
    return size
