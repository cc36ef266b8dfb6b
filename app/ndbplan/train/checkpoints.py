"""What the cluster log tells of global and local checkpoints, looked at once a second."""

from __future__ import annotations

from ndbplan.configuration.settings import node_settings
from ndbplan.simulate.events.global_checkpoints import limit_s, waits_s
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import Part
from ndbplan.train.state import ClusterState

GCP_WARNED_S = 10.0
"""How often the log tells of a global checkpoint that waits [8.4.8 log]."""


def follow_global_checkpoints(sim: Simulation, state: ClusterState) -> None:
    """How far they are, and what the log tells of one that waits."""
    at_s, every_s, leader = sim.at_s, float(sim.laws.run.gcp_s), state.president
    if sim.laws.run.stands_still:
        waits_s = at_s - state.gcp_done_s
        if waits_s >= GCP_WARNED_S and at_s - state.gcp_told_s >= GCP_WARNED_S:
            state.gcp_told_s = at_s
            limit_ms = node_settings(state.plan).number("TimeBetweenEpochsTimeout")
            limit = f"max lag {limit_ms // 1000} sec" if limit_ms else "no max lag"
            state.say(at_s, "gcp_lag", leader, seconds=round(waits_s), limit=limit)
        return
    if _save_waits(sim, state, every_s):
        return
    if at_s - state.gcp_done_s > 2.0 * every_s:
        state.gcp_done_s = at_s - every_s
    while at_s - state.gcp_done_s >= every_s:
        state.gci += 1
        state.gcp_done_s += every_s
        if state.levels:
            state.say(at_s, "gcp_started", leader, gci=state.gci)
            state.say(at_s, "gcp_completed", leader, gci=state.gci)


def _save_waits(sim: Simulation, state: ClusterState, every_s: float) -> bool:
    """Whether a global checkpoint waits for redo log; the log tells of it."""
    at_s, seconds = sim.at_s, waits_s(sim)
    if seconds <= 2.0 * every_s:
        return False
    if seconds >= GCP_WARNED_S and at_s - state.gcp_told_s >= GCP_WARNED_S:
        state.gcp_told_s = at_s
        most_s = limit_s(sim)
        limit = "no max lag" if most_s is None else f"max lag {most_s:.0f} sec"
        state.say(at_s, "gcp_save_lag", state.president, seconds=round(seconds), limit=limit)
    return True


def follow_local_checkpoints(sim: Simulation, state: ClusterState) -> None:
    """Begin and end of local checkpoints, as the log tells them."""
    cluster, leader, at_s = sim.state.cluster, state.president, sim.at_s
    number, writes = int(cluster.lcp_number) + 1, bool(cluster.lcp_writes)
    if state.lcp_writes and (number > state.lcp_id or not writes):
        state.say(at_s, "lcp_completed", leader, lcp=state.lcp_id)
    # Those that began and ended since the last look are told of too; what was before the session is not.
    first = number if state.lcp_id == 1 else state.lcp_id + 1
    for one in range(first, number + 1) if number > state.lcp_id else ():
        keep = max(1, state.gci - round(_log_seconds(sim) / float(sim.laws.run.gcp_s)))
        state.say(at_s, "lcp_started", leader, lcp=one, keep=keep, oldest=max(1, state.gci - 1))
        if one < number or not writes:
            state.say(at_s, "lcp_completed", leader, lcp=one)
    state.lcp_id, state.lcp_writes = max(number, state.lcp_id), writes


def _log_seconds(sim: Simulation) -> float:
    """About how far back the redo log reaches that is still needed."""
    parts = sim.state.parts
    made = float(parts[Part.MADE].sum())
    needed = float((parts[Part.MADE] - parts[Part.TAIL]).sum())
    return needed / made * sim.now_s if made > 0 else 0.0
