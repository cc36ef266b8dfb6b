"""State and records of one run: where it begins, what it remembers from step to step, what it writes down."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ndbplan.simulate.world import (
    ERROR_CODES,
    PURPOSES,
    Cluster,
    DiskWork,
    Floats,
    History,
    NodeState,
    OfCluster,
    OfNode,
    Part,
    Rows,
    Run,
    World,
    column,
    record,
    rows,
    stacked,
)

if TYPE_CHECKING:
    from ndbplan.simulate.model.scenario import Scenario

MOST_BUCKETS = 1200
JOB_REST = 1e-6
"""Share of a job's rows that rounding may leave."""


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
    """And how many flushes of the log it has to wait for (5 right after a checkpoint)."""


@dataclass
class Arrays:
    """State and records of one run."""

    steps_per_bucket: int
    parts: Floats
    node_state: Rows[NodeState]
    targets: Floats
    weights: Floats
    cluster: Cluster
    waiting: Floats
    errors: Floats
    first: Floats
    work: Rows[DiskWork]
    out: Floats
    out_errors: Floats
    out_low: Floats
    out_high: Floats
    out_last: Floats
    out_log: Floats
    out_disk: Floats
    out_busy: Floats
    out_node: Floats
    shown_s: float
    """When a partial result was made last, by the clock."""
    stopped_s: float = math.inf
    """When the cluster stopped, of the simulated time."""
    standing: list[tuple[float, float]] = field(default_factory=list)
    """From when to when every transaction stood still; infinite: it still does."""
    settings: list[tuple[float, Run]] = field(default_factory=list)
    """Settings of the run from a moment on, where events change them."""

    @classmethod
    def fresh(cls, scenario: Scenario, start: StartState, most_buckets: int = MOST_BUCKETS) -> Arrays:
        """The state at the start of a run that records `most_buckets` moments at most."""
        import numpy as np

        count, parts = scenario.load.shape
        codes = len(ERROR_CODES)
        disks = len(scenario.disk_classes)
        per_second = int(scenario.run.steps_per_second)
        per_bucket = per_second
        while -(-scenario.steps // per_bucket) > most_buckets:
            per_bucket += per_second
        scenario.run.steps_per_bucket = per_bucket
        buckets = -(-scenario.steps // per_bucket)
        node_state, targets = _node_state(scenario, start)
        return cls(
            steps_per_bucket=per_bucket,
            parts=_part_state(scenario, start),
            node_state=node_state,
            targets=targets,
            weights=np.ones((count, parts)),
            cluster=_cluster_state(scenario, start),
            waiting=np.zeros(max(1, int(scenario.run.queue_slots))),
            errors=np.zeros(codes),
            first=np.full((codes, 2), -1.0),
            work=rows(DiskWork, disks),
            out=np.zeros((buckets, len(OfCluster))),
            out_errors=np.zeros((buckets, codes)),
            out_low=np.full((buckets, count, parts), np.inf),
            out_high=np.zeros((buckets, count, parts)),
            out_last=np.zeros((buckets, count, parts)),
            out_log=np.zeros((buckets, count, parts)),
            out_disk=np.zeros((buckets, disks, len(PURPOSES))),
            out_busy=np.zeros((buckets, disks, 2)),
            out_node=np.zeros((buckets, count, len(OfNode))),
            shown_s=time.monotonic(),
            settings=[(0.0, scenario.run.copy())],
        )

    def bucket_lengths_s(self, scenario: Scenario) -> Any:
        """Simulated time of each bucket; the last one may be shorter."""
        import numpy as np

        lengths = np.full(len(self.out), self.steps_per_bucket * scenario.step_s)
        lengths[-1] = scenario.duration_s - lengths[:-1].sum()
        return lengths

    def running(self, scenario: Scenario) -> Any:
        """Buckets in which transactions ran all the time: the cluster ran, and none stood still."""
        import numpy as np

        ends = np.cumsum(self.bucket_lengths_s(scenario))
        begins = np.concatenate([[0.0], ends[:-1]])
        runs = ends <= self.stopped_s + 1e-9
        for begin, end in self.standing:
            runs &= (ends <= begin + 1e-9) | (begins >= end - 1e-9)
        return runs

    @property
    def accepted(self) -> float:
        """Transactions accepted so far."""
        return float(self.cluster.accepted)

    def note_service(self, at_s: float, running: Scenario) -> None:
        """Remember the settings of the run when what it lets pass has changed."""
        if running.run.service_per_s != self.settings[-1][1].service_per_s:
            self.settings.append((at_s, running.run.copy()))

    def stands_from(self, at_s: float) -> None:
        """Transactions stand still from now on."""
        if not self.standing or self.standing[-1][1] <= at_s:
            self.standing.append((at_s, math.inf))

    def moves_on(self, at_s: float) -> None:
        """Transactions stand still no longer."""
        if self.standing and self.standing[-1][1] == math.inf:
            self.standing[-1] = (self.standing[-1][0], at_s)

    def so_far(self, scenario: Scenario, steps: int) -> tuple[Scenario, Arrays]:
        """The run as if it ended after so many steps."""
        buckets = -(-steps // self.steps_per_bucket)
        recorded = {name: getattr(self, name)[:buckets] for name in vars(self) if name.startswith("out")}
        return replace(scenario, steps=steps), replace(self, **recorded)

    def advance(self, kernel: Callable[..., None], scenario: Scenario, begin: int, end: int) -> None:
        """Let the kernel run the steps begin..end."""
        s = scenario
        world = World(
            s.run, s.nodes, s.places, s.slots, s.alive, s.group_count, s.ldm_of, s.load, s.base, s.share,
            s.disks, s.disk_start, s.disk_member, s.offered, self.parts, self.node_state, self.targets,
            self.weights, self.cluster, self.waiting, self.errors, self.first, self.work,
        )  # fmt: skip
        history = History(
            self.out, self.out_errors, self.out_low, self.out_high, self.out_last, self.out_log,
            self.out_disk, self.out_busy, self.out_node,
        )  # fmt: skip
        kernel(world, history, begin, end)


def loaded_after_s(scenario: Scenario, arrays: Arrays) -> float | None:
    """When the rows of a job were all loaded; None: it is no job, or they were not."""
    import numpy as np

    total = float(scenario.run.job_transactions)
    if total <= 0:
        return None
    done = np.cumsum(arrays.out[:, OfCluster.ACCEPTED])
    reached = np.flatnonzero(done >= total * (1.0 - JOB_REST))
    if len(reached) == 0:
        return None
    bucket = int(reached[0])
    lengths = arrays.bucket_lengths_s(scenario)
    before = float(done[bucket - 1]) if bucket else 0.0
    # Within the bucket rows came at the rate of the bucket before: this one may have ended early.
    rate = (float(arrays.out[bucket - 1, OfCluster.ACCEPTED]) / lengths[bucket - 1]) if bucket else 0.0
    inside = (total - before) / rate if rate > 0 else lengths[bucket]
    return float(lengths[:bucket].sum() + min(inside, lengths[bucket]))


def _part_state(scenario: Scenario, start: StartState) -> Any:
    import numpy as np

    count, parts = scenario.load.shape
    used = scenario.load > 0
    state = np.zeros((len(Part), count, parts))
    state[Part.OPEN] = 1.0
    state[Part.LIMIT] = column(scenario.nodes, lambda node: node.buffer_limit_bytes)[:, None]
    state[Part.FILL] = np.floor(start.redo_buffer_bytes) * used
    state[Part.MADE] = np.floor(max(start.redo_buffer_bytes, start.redo_log_bytes)) * used
    state[Part.DURABLE] = state[Part.DURABLE_BEFORE] = state[Part.MADE] - state[Part.FILL]
    state[Part.MARK] = state[Part.MADE]
    # Both logs are laid out from the start of a file.
    limits = column(scenario.nodes, lambda node: node.log_limit_bytes)
    file_bytes = column(scenario.nodes, lambda node: node.file_bytes)[:, None]
    state[Part.FILE_END] = (np.floor(state[Part.MADE] / file_bytes) + 1.0) * file_bytes
    state[Part.STOP] = np.minimum(state[Part.FILE_END], limits[:, None])
    return state


def _node_state(scenario: Scenario, start: StartState) -> tuple[Rows[NodeState], Floats]:
    import numpy as np

    count = len(scenario.nodes)
    states = [NodeState() for _ in range(count)]
    target = start.lcp_target_bytes_per_s
    targets = np.zeros((count, max(node.ldms for node in scenario.nodes)))
    for n, node in enumerate(scenario.nodes):
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
    cluster.lcp_stages_left = start.first_lcp_flushes
    cluster.lcp_stage_left_s = start.first_lcp_s
    cluster.random_state = (scenario.seed * 2654435761 + 97531) % 4294967291 + 1
    return record(cluster)
