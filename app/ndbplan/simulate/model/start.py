"""Where a run begins: the first world of a scenario, and a history with nothing written yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndbplan.simulate.world import (
    ERROR_CODES,
    LAG_WINDOW_S,
    PURPOSES,
    Cluster,
    DiskWork,
    Floats,
    History,
    Laws,
    NodeState,
    OfCluster,
    OfNode,
    Part,
    Piece,
    Rows,
    State,
    World,
    column,
    look_anew,
    record,
    rows,
    stacked,
)

if TYPE_CHECKING:
    from ndbplan.simulate.model.scenario import Scenario

MOST_BUCKETS = 1200


@dataclass(frozen=True)
class StartState:
    """Where a run begins, when not with empty buffers."""

    redo_buffer_bytes: float = 0.0
    """Held by each log part that the workload writes."""
    redo_log_bytes: float = 0.0
    """Log of each such part that is still needed."""
    lcp_target_bytes_per_s: float | None = None
    """Speed the checkpoints are set to, for each node; None: the highest in normal operation."""
    rows_bytes: float | None = None
    """Bytes of all rows of a node as a checkpoint writes them; None: as the plan's tables say."""
    lcp_left_bytes: float | None = None
    """What the running checkpoint has left to write of the fragments it is at; None: none is running."""
    lcp_fragments_left: int = 0
    """Fragments that the running checkpoint has not begun."""
    first_lcp_s: float = 2.0
    """Without a running checkpoint: when the next one starts at the earliest."""
    first_lcp_flushes: int = 0
    """And how many flushes of the log it has to wait for: right after a checkpoint 6, from 8.0 on 7."""


def first_world(
    scenario: Scenario, start: StartState | None = None, most_buckets: int = MOST_BUCKETS
) -> World:
    """The world at the start of a run that records `most_buckets` moments at most."""
    begin = start or StartState()
    laws = scenario.laws.copy()
    per_second = int(laws.run.steps_per_second)
    per_bucket = per_second
    while -(-scenario.steps // per_bucket) > most_buckets:
        per_bucket += per_second
    laws.run.steps_per_bucket = per_bucket
    node_state, targets = _node_state(scenario, begin)
    codes = len(ERROR_CODES)
    state = State(
        parts=_part_state(laws, begin),
        node_state=node_state,
        targets=targets,
        weights=np.ones(laws.load.shape),
        cluster=_cluster_state(scenario, begin),
        waiting=np.zeros(max(1, int(laws.run.queue_slots))),
        errors=np.zeros(codes),
        first=np.full((codes, 2), -1.0),
        work=rows(DiskWork, len(laws.disks)),
        piece=record(Piece()),
        wrote=np.full((LAG_WINDOW_S, *laws.load.shape), -1.0),
    )
    return World(laws, state)


def first_history(scenario: Scenario, world: World) -> History:
    """Nothing written yet, for all steps of a scenario."""
    count, parts = world.laws.load.shape
    codes, disks = len(ERROR_CODES), len(world.laws.disks)
    buckets = -(-scenario.steps // int(world.laws.run.steps_per_bucket))
    return History(
        totals=np.zeros((buckets, len(OfCluster))),
        errors=np.zeros((buckets, codes)),
        low=np.full((buckets, count, parts), np.inf),
        high=np.zeros((buckets, count, parts)),
        last=np.zeros((buckets, count, parts)),
        log=np.zeros((buckets, count, parts)),
        disk=np.zeros((buckets, disks, len(PURPOSES))),
        busy=np.zeros((buckets, disks, 2)),
        node=np.zeros((buckets, count, len(OfNode))),
    )


def _part_state(laws: Laws, start: StartState) -> Floats:
    count, parts = laws.load.shape
    used = laws.load > 0
    state = np.zeros((len(Part), count, parts))
    state[Part.OPEN] = 1.0
    state[Part.LIMIT] = column(laws.nodes, lambda node: node.buffer_limit_bytes)[:, None]
    state[Part.FILL] = np.floor(start.redo_buffer_bytes) * used
    state[Part.MADE] = np.floor(max(start.redo_buffer_bytes, start.redo_log_bytes)) * used
    state[Part.DURABLE] = state[Part.DURABLE_BEFORE] = state[Part.MADE] - state[Part.FILL]
    state[Part.MARK] = state[Part.MADE]
    # Both logs are laid out from the start of a file.
    limits = column(laws.nodes, lambda node: node.log_limit_bytes)
    file_bytes = column(laws.nodes, lambda node: node.file_bytes)[:, None]
    state[Part.FILE_END] = (np.floor(state[Part.MADE] / file_bytes) + 1.0) * file_bytes
    state[Part.STOP] = np.minimum(state[Part.FILE_END], limits[:, None])
    return state


def _node_state(scenario: Scenario, start: StartState) -> tuple[Rows[NodeState], Floats]:
    nodes = scenario.laws.nodes
    states = [NodeState() for _ in nodes]
    target = start.lcp_target_bytes_per_s
    targets = np.zeros((len(nodes), max(node.ldms for node in nodes)))
    for n, node in enumerate(nodes):
        state = states[n]
        state.rows_bytes, state.memory_bytes, state.space_bytes, state.index_bytes = scenario.start[n]
        if start.rows_bytes is not None:
            state.rows_bytes = start.rows_bytes
        if start.lcp_left_bytes is not None:
            state.lcp_left_bytes = start.lcp_left_bytes
            state.lcp_fragments_left = start.lcp_fragments_left
        state.lcp_target_bytes_per_s = node.lcp_max_bytes_per_s if target is None else target
        targets[n, : node.ldms] = state.lcp_target_bytes_per_s / node.ldms
    return stacked(states), targets


def _cluster_state(scenario: Scenario, start: StartState) -> Cluster:
    cluster = Cluster()
    cluster.lcp_writes = start.lcp_left_bytes is not None
    cluster.lcp_number = start.lcp_left_bytes is not None
    before_the_cut = start.first_lcp_flushes - scenario.laws.run.lcp_flushes_before
    cluster.lcp_starts = before_the_cut <= 0
    cluster.lcp_stages_left = start.first_lcp_flushes if cluster.lcp_starts else before_the_cut
    cluster.lcp_stage_left_s = start.first_lcp_s
    cluster.random_state = (scenario.seed * 2654435761 + 97531) % 4294967291 + 1
    look_anew(cluster)
    return record(cluster)
