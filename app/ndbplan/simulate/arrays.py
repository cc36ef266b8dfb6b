"""State and records of one run: where it begins, what it remembers from step to step, what it writes down."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ndbplan.simulate import columns as col

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
    parts: Any
    node_state: Any
    targets: Any
    weights: Any
    cluster: Any
    waiting: Any
    errors: Any
    first: Any
    work: Any
    out: Any
    out_errors: Any
    out_low: Any
    out_high: Any
    out_last: Any
    out_log: Any
    out_disk: Any
    out_busy: Any
    out_node: Any
    shown_s: float
    """When a partial result was made last, by the clock."""
    stopped_s: float = math.inf
    """When the cluster stopped, of the simulated time."""
    standing: list[tuple[float, float]] = field(default_factory=list)
    """From when to when every transaction stood still; infinite: it still does."""
    settings: list[tuple[float, Any]] = field(default_factory=list)
    """Settings of the run from a moment on, where events change them."""

    @classmethod
    def fresh(cls, scenario: Scenario, start: StartState, most_buckets: int = MOST_BUCKETS) -> Arrays:
        """The state at the start of a run that records `most_buckets` moments at most."""
        import numpy as np

        count, parts = scenario.load.shape
        codes = len(col.ERROR_CODES)
        disks = len(scenario.disk_classes)
        per_second = int(scenario.run[col.R_STEPS_PER_SECOND])
        per_bucket = per_second
        while -(-scenario.steps // per_bucket) > most_buckets:
            per_bucket += per_second
        scenario.run[col.R_STEPS_PER_BUCKET] = per_bucket
        buckets = -(-scenario.steps // per_bucket)
        node_state, targets = _node_state(scenario, start)
        return cls(
            steps_per_bucket=per_bucket,
            parts=_part_state(scenario, start),
            node_state=node_state,
            targets=targets,
            weights=np.ones((count, parts)),
            cluster=_cluster_state(scenario, start),
            waiting=np.zeros(max(1, int(scenario.run[col.R_QUEUE_SLOTS]))),
            errors=np.zeros(codes),
            first=np.full((codes, 2), -1.0),
            work=np.zeros((disks, col.W_COLUMNS)),
            out=np.zeros((buckets, col.O_COLUMNS)),
            out_errors=np.zeros((buckets, codes)),
            out_low=np.full((buckets, count, parts), np.inf),
            out_high=np.zeros((buckets, count, parts)),
            out_last=np.zeros((buckets, count, parts)),
            out_log=np.zeros((buckets, count, parts)),
            out_disk=np.zeros((buckets, disks, len(col.PURPOSES))),
            out_busy=np.zeros((buckets, disks, 2)),
            out_node=np.zeros((buckets, count, col.B_COLUMNS)),
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
        return float(self.cluster[col.C_ACCEPTED])

    def note_service(self, at_s: float, running: Scenario) -> None:
        """Remember the settings of the run when what it lets pass has changed."""
        if running.run[col.R_SERVICE] != self.settings[-1][1][col.R_SERVICE]:
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
        kernel(
            begin, end, s.run, s.nodes, s.index, s.slots, s.alive, s.group_count, s.ldm_of, s.load, s.base,
            s.share, s.disks, s.disk_start, s.disk_member, s.offered,
            self.parts, self.node_state, self.targets, self.weights, self.cluster, self.waiting,
            self.errors, self.first, self.work,
            self.out, self.out_errors, self.out_low, self.out_high, self.out_last, self.out_log,
            self.out_disk, self.out_busy, self.out_node,
        )  # fmt: skip


def loaded_after_s(scenario: Scenario, arrays: Arrays) -> float | None:
    """When the rows of a job were all loaded; None: it is no job, or they were not."""
    import numpy as np

    total = float(scenario.run[col.R_TOTAL])
    if total <= 0:
        return None
    done = np.cumsum(arrays.out[:, col.O_ACCEPTED])
    reached = np.flatnonzero(done >= total * (1.0 - JOB_REST))
    if len(reached) == 0:
        return None
    bucket = int(reached[0])
    lengths = arrays.bucket_lengths_s(scenario)
    before = float(done[bucket - 1]) if bucket else 0.0
    # Within the bucket rows came at the rate of the bucket before: this one may have ended early.
    rate = (float(arrays.out[bucket - 1, col.O_ACCEPTED]) / lengths[bucket - 1]) if bucket else 0.0
    inside = (total - before) / rate if rate > 0 else lengths[bucket]
    return float(lengths[:bucket].sum() + min(inside, lengths[bucket]))


def _part_state(scenario: Scenario, start: StartState) -> Any:
    import numpy as np

    count, parts = scenario.load.shape
    used = scenario.load > 0
    state = np.zeros((col.P_COLUMNS, count, parts))
    state[col.P_OPEN] = 1.0
    state[col.P_LIMIT] = scenario.nodes[:, col.N_BUFFER_LIMIT, None]
    state[col.P_FILL] = np.floor(start.redo_buffer_bytes) * used
    state[col.P_MADE] = np.floor(max(start.redo_buffer_bytes, start.redo_log_bytes)) * used
    state[col.P_DURABLE] = state[col.P_DURABLE_BEFORE] = state[col.P_MADE] - state[col.P_FILL]
    state[col.P_MARK] = state[col.P_MADE]
    # Both logs are laid out from the start of a file.
    file_bytes = scenario.nodes[:, col.N_FILE_BYTES, None]
    state[col.P_FILE_END] = (np.floor(state[col.P_MADE] / file_bytes) + 1.0) * file_bytes
    state[col.P_STOP] = np.minimum(state[col.P_FILE_END], scenario.nodes[:, col.N_LOG_LIMIT, None])
    return state


def _node_state(scenario: Scenario, start: StartState) -> tuple[Any, Any]:
    import numpy as np

    count = len(scenario.nodes)
    state = np.zeros((col.S_COLUMNS, count))
    state[col.S_DATA] = scenario.start[:, 0] if start.rows_bytes is None else start.rows_bytes
    state[col.S_MEMORY] = scenario.start[:, 1]
    state[col.S_SPACE] = scenario.start[:, 2]
    state[col.S_INDEX] = scenario.start[:, 3]
    if start.lcp_left_bytes is not None:
        state[col.S_LCP_LEFT] = start.lcp_left_bytes
        state[col.S_LCP_FRAGMENTS] = start.lcp_fragments_left
    highest = scenario.nodes[:, col.N_LCP_MAX]
    target = start.lcp_target_bytes_per_s
    state[col.S_LCP_TARGET] = highest if target is None else target
    ldms = scenario.nodes[:, col.N_LDMS].astype(int)
    targets = np.zeros((count, int(ldms.max())))
    for n in range(count):
        targets[n, : ldms[n]] = state[col.S_LCP_TARGET, n] / ldms[n]
    return state, targets


def _cluster_state(scenario: Scenario, start: StartState) -> Any:
    import numpy as np

    cluster = np.zeros(col.C_COLUMNS)
    cluster[col.C_LCP_PHASE] = start.lcp_left_bytes is not None
    cluster[col.C_LCP_NUMBER] = start.lcp_left_bytes is not None
    cluster[col.C_LCP_STAGE] = start.first_lcp_flushes
    cluster[col.C_LCP_STAGE_S] = start.first_lcp_s
    cluster[col.C_RANDOM] = float((scenario.seed * 2654435761 + 97531) % 4294967291 + 1)
    return cluster
