"""Where a run begins: the first world of a scenario, and a history with nothing written yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndbplan.base.row_types import Floats, Rows, column, record, rows, stacked
from ndbplan.base.shapes import Shape
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.estimation import Estimation
from ndbplan.simulate.model.pauses import lcp_stages_s
from ndbplan.simulate.world.indices import (
    ERROR_CODES,
    LAG_WINDOW_S,
    PURPOSES,
    Change,
    Kind,
    OfCluster,
    OfNode,
    Part,
    Since,
)
from ndbplan.simulate.world.laws import Laws, Node, Run
from ndbplan.simulate.world.state import Cluster, DiskWork, NodeState, Piece, State, look_anew
from ndbplan.simulate.world.world import History, World

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan
    from ndbplan.plan.workloads import Workload
    from ndbplan.simulate.model.scenario import Scenario

NEVER_S = 1e18
"""Later than the end of any run."""
MOST_BUCKETS = 1200
"""Points in time that a run keeps: more than a chart has pixels."""


@dataclass(frozen=True)
class StartState:
    """Where a run begins, when not with empty buffers."""

    redo_buffer_bytes: float = 0.0
    """Held by each log part that the workload writes."""
    redo_log_bytes: float = 0.0
    """Log of each such part that is still needed."""
    lcp_target_bytes_per_s: float | None = None
    """Speed the checkpoints are set to, for each node; None: as after a time without load."""
    rows_bytes: float | None = None
    """Bytes of all rows of a node as a checkpoint writes them; None: as the plan's tables say."""
    lcp_left_bytes: float | None = None
    """What the running checkpoint has left to write of the fragments it is at; None: none is running."""
    lcp_fragments_left: int = 0
    """Fragments that the running checkpoint has not begun."""
    first_lcp_s: float = 0.0
    """Without a running checkpoint: when the next one starts at the earliest; 0: it is the log that a load
    writes which starts it."""
    first_lcp_flushes: int = 0
    """And how many flushes of the log it has to wait for: right after a checkpoint 6, from 8.0 on 7."""
    lcp_began_s_ago: float | None = None
    """When the last checkpoint began before the run; None: none did; the first rows begin one."""
    lcp_left_by_node: tuple[tuple[int, float], ...] = ()
    """What a running checkpoint has left to write, by node id, where nodes differ; none of other nodes."""

    def lcp_left(self, node_id: int) -> float | None:
        """What the running checkpoint has left to write on a node; None: it does not run there."""
        return dict(self.lcp_left_by_node).get(node_id, self.lcp_left_bytes)

    @property
    def lcp_writes(self) -> bool:
        """Whether a checkpoint runs at the start."""
        return self.lcp_left_bytes is not None or bool(self.lcp_left_by_node)

    def lcp_at_start(self, run: Run) -> LcpAtStart:
        """What is assumed of local checkpoints, by what a run's settings say of the pause between two."""
        left = [self.lcp_left_bytes or 0.0, *(left for _, left in self.lcp_left_by_node)]
        later = max(0, self.first_lcp_flushes - 1)
        begins = min(later, float(run.lcp_flushes_before))
        waits_s = begins * run.lcp_begin_stage_s + (later - begins) * run.lcp_stage_s
        next_s = None if self.lcp_writes else float((self.first_lcp_s or run.lcp_first_s) + waits_s)
        return LcpAtStart(self.lcp_began_s_ago, self.lcp_writes, max(left), next_s)


@dataclass(frozen=True)
class LcpAtStart(Shape):
    """Where in the cycle of local checkpoints a run begins."""

    JSON = "began_s_ago writes left_bytes next_after_s"

    began_s_ago: float | None
    """None: none began before the run."""
    writes: bool
    left_bytes: float
    """Of the node that has most to write."""
    next_after_s: float | None
    """When the next one begins at the earliest: with a backlog the flushes of the log before it take
    longer. None: one runs."""


def start_in_cycle(plan: Plan, workload: Workload, lcp_began_s_ago: float) -> StartState:
    """A start so long after the last local checkpoint began: as it writes, in the pause after it, or later.

    It writes what the estimate says of one under this load, as quickly; no work came before, so that flushes
    of the log in the pause take their least time.
    """
    nodes = Estimation(plan, workload).checkpoint.nodes
    lasts_s = max((node.duration_s.value for node in nodes), default=0.0)
    if lcp_began_s_ago < lasts_s:
        left = tuple(
            (
                node.node_id,
                float(np.ceil((1.0 - lcp_began_s_ago / node.duration_s.value) * node.written_bytes.value)),
            )
            for node in nodes
            if node.duration_s.value > lcp_began_s_ago
        )
        return StartState(lcp_began_s_ago=lcp_began_s_ago, lcp_left_by_node=left, first_lcp_s=0.0)
    stages = lcp_stages_s(plan)
    ended_s = lcp_began_s_ago - lasts_s
    done = int(np.searchsorted(np.cumsum(stages), ended_s, side="right"))
    return StartState(
        lcp_began_s_ago=lcp_began_s_ago,
        first_lcp_s=sum(stages[: done + 1]) - ended_s if done < len(stages) else 0.0,
        first_lcp_flushes=len(stages) - done,
    )


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
        begun=np.zeros((len(Change), len(laws.nodes), _most_fragments(scenario))),
        weights=np.ones(laws.load.shape),
        cluster=_cluster_state(scenario, begin),
        waiting=np.zeros(max(1, int(laws.run.queue_slots))),
        errors=np.zeros(codes),
        first=np.full((codes, 2), -1.0),
        work=rows(DiskWork, len(laws.disks)),
        piece=record(Piece()),
        wrote=np.full((LAG_WINDOW_S, *laws.load.shape), -1.0),
        changes=np.zeros((len(Since), len(Kind), len(laws.nodes))),
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


def _most_fragments(scenario: Scenario) -> int:
    """Fragments that an LDM thread checkpoints in turn, at most, whatever the plan grows to."""
    return max(1, int(constant_for(scenario.plan, "lcp_fragments_in_turn").value))


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
    state[Part.FILE_END] = file_end(laws.nodes, state[Part.MADE])
    state[Part.STOP] = np.minimum(state[Part.FILE_END], limits[:, None])
    return state


def file_end(nodes: Rows[Node], made: Floats) -> Floats:
    """Where each log part stops until its next file is open, after so many bytes of log."""
    file_bytes = column(nodes, lambda node: node.file_bytes)[:, None]
    spare = column(nodes, lambda node: node.file_spare_bytes)[:, None]
    end: Floats = (np.floor((made + spare) / file_bytes) + 1.0) * file_bytes - spare
    return end


def open_next_files(nodes: Rows[Node], parts: Floats) -> None:
    """Move log parts to their next files where those are open by now, and find where they must stop.

    The same law as that of the kernel, which looks at parts only while some load writes.
    """
    file_bytes, spare, after, limit = (
        column(nodes, get)[:, None]
        for get in (
            lambda node: node.file_bytes, lambda node: node.file_spare_bytes,
            lambda node: node.file_open_after_bytes, lambda node: node.log_limit_bytes,
        )
    )  # fmt: skip
    begin = parts[Part.FILE_END] + spare - file_bytes
    beyond = parts[Part.MADE] - parts[Part.FILL] - begin - after
    parts[Part.FILE_END] += np.maximum(0.0, np.floor(beyond / file_bytes) + 1.0) * file_bytes
    parts[Part.STOP] = np.minimum(parts[Part.FILE_END], parts[Part.TAIL] + limit)


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
        left = start.lcp_left(scenario.node_classes[n].node_id)
        if left is not None:
            state.lcp_left_bytes = left
            state.lcp_fragments_left = start.lcp_fragments_left
        state.lcp_target_bytes_per_s = _speed_at_start(scenario, node) if target is None else target
        targets[n, : node.ldms] = state.lcp_target_bytes_per_s / node.ldms
    return stacked(states), targets


def _speed_at_start(scenario: Scenario, node: Node) -> float:
    """What checkpoints are set to when a load begins after a time without one."""
    if scenario.plan.features.lcp_speed_begins_lowest and node.adaptive_lcp:
        return float(node.lcp_min_bytes_per_s)
    return float(node.lcp_max_bytes_per_s)


def _cluster_state(scenario: Scenario, start: StartState) -> Cluster:
    cluster = Cluster()
    cluster.lcp_writes = start.lcp_writes
    cluster.lcp_began_s = 0.0 if start.lcp_began_s_ago is None else -start.lcp_began_s_ago
    cluster.lcp_cut_s = 0.0 if start.lcp_writes or start.lcp_began_s_ago is not None else NEVER_S
    cluster.lcp_number = 2 if start.lcp_writes or start.lcp_began_s_ago is not None else 0
    before_the_cut = start.first_lcp_flushes - scenario.laws.run.lcp_flushes_before
    cluster.lcp_starts = before_the_cut <= 0
    cluster.lcp_stages_left = start.first_lcp_flushes if cluster.lcp_starts else before_the_cut
    cluster.lcp_stage_left_s = start.first_lcp_s
    run = scenario.laws.run
    cluster.lcp_stage_s = run.lcp_begin_stage_s if cluster.lcp_starts else run.lcp_stage_s
    cluster.lcp_is_idle = not start.lcp_writes and start.first_lcp_s <= 0.0
    cluster.random_state = (scenario.seed * 2654435761 + 97531) % 4294967291 + 1
    look_anew(cluster)
    return record(cluster)
