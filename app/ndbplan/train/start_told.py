"""What the cluster log and ndbinfo tell of a node restart under way, step by step.

tell_phase(state, at_s, 4, "copy fragments")
"""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.ndb.ndbinfo import restart_state, restart_told
from ndbplan.train.state import ClusterState

WAITS = "wait for local checkpoint"
LAST_PHASES_S = 2.0
"""Phases 5 to 8 are over so long before 9 and 50 [8.4.8 log of a node restart]."""
FIRST_PHASE_S = 1.0
"""So long data nodes that start together take at most to agree on who leads [8.4.8]."""
_UNKNOWN_STATES = "restore from local checkpoint"


def tell_phase(state: ClusterState, at_s: float, node_id: int, name: str) -> None:
    """What begins in a node restart, and what is over with it."""
    leader = state.president or node_id
    lines = {
        "restore from local checkpoint": (
            ("distribution_copied", leader), ("dictionary_copied", leader), ("restore_begins", node_id),
        ),
        "copy fragments": (("restore_done", node_id), ("online_begins", node_id)),
        WAITS: (("copy_done", node_id), ("online_done", node_id), ("durable_begins", leader)),
    }  # fmt: skip
    for key, who in lines.get(name, ()):
        state.say(at_s, key, who, other=node_id, lcp=state.lcp_id + 1)
    try:
        words = restart_state(name)[1]
    except KeyError:
        words = restart_state(_UNKNOWN_STATES)[1]
    tell_status(state, at_s, node_id, words)


def tell_status(state: ClusterState, at_s: float, node_id: int, words: str) -> None:
    """Tell of each step up to these words, as the master does, and the others of those that they see."""
    old, (steps, _) = state.nodes[node_id].restart_status, restart_told()
    if state.president is None or old == words:
        state.change(node_id, restart_status=words)
        return
    end = steps.index(words) if words in steps else 0
    begin = steps.index(old) + 1 if old in steps and steps.index(old) < end else end
    for step in steps[begin : end + 1] if words in steps else (words,):
        if step in _OTHERS_FIRST:
            _others_tell(state, at_s, node_id, _OTHERS_FIRST[step])
        state.say(at_s, "restart_status", state.president, other=node_id, old=old, new=step)
        if step not in _OTHERS_FIRST.values():
            _others_tell(state, at_s, node_id, step)
        old = step
    state.change(node_id, restart_status=words)


_OTHERS_FIRST = {
    "All nodes permitted us": "All nodes permitted us", "Wait handover of subscriptions": "Restart completed",
}  # fmt: skip
"""Steps of the master before which the others tell of one of theirs [8.4.8, 7.4.10]."""


def _others_tell(state: ClusterState, at_s: float, node_id: int, step: str) -> None:
    """What the data nodes beside the master tell of a step, if it is one that they see."""
    seen = restart_told()[1]
    if step in seen[1:]:
        others = (i for i in state.alive() if i not in (state.president, node_id))
        old = seen[seen.index(step) - 1]
        state.all_say(at_s, "restart_status", others, other=node_id, old=old, new=step)


def steps_together(phases: tuple[tuple[str, float], ...]) -> Iterator[tuple[float, int, str]]:
    """Seconds after which a phase is completed by data nodes that start together, and what begins then.

    Fragments are restored and logs executed in phase 4, the checkpoint is waited for in phase 5 [8.4.8].
    """
    yield min(phases[0][1], FIRST_PHASE_S), 1, phases[0][0]
    total = phases[0][1]
    for name, seconds in phases[1:]:
        yield total, 4 if name == WAITS else 3, name
        total += seconds
    yield max(0.0, total - LAST_PHASES_S), 8, ""
