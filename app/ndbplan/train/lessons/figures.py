"""Numbers that questions of lessons ask for: estimates of the plan that the lesson is played on.

    figure("redo-full-s", estimation)        # Quantity: 410 s, 350 to 490 s

Nothing of it is stated by a lesson: another plan, another answer.
"""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.base.errors import UserError, readable
from ndbplan.base.quantity import Quantity, largest
from ndbplan.configuration.failures import cluster_of
from ndbplan.configuration.global_checkpoints import save_limit_s
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import no_of_replicas, redo_buffer_bytes
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import Conditions
from ndbplan.simulate.model.node_rows import node_facts


class FigureError(UserError):
    """A figure that is none, or that the plan does not give."""


def _whole(value: float, unit: str = "") -> Quantity:
    return Quantity(value, value, value, unit)


def _redo_full(now: Estimation) -> Quantity:
    found = now.redo.time_to_full_s
    if found is None:
        raise FigureError("nothing writes to the redo log of this plan", fix="give the lesson a workload")
    return found


def _redo_rate(now: Estimation) -> Quantity:
    return largest([(str(node.node_id), node.device_bytes_per_s) for node in now.redo.nodes], "bytes/s")


def _buffer(now: Estimation) -> Quantity:
    settings = next(iter(now.settings.values()))
    return _whole(float(redo_buffer_bytes(settings)), "bytes")


def _restart(now: Estimation, kind: str) -> Quantity:
    node_id = min(node.node_id for node in now.plan.data_nodes)
    found = now.restart(kind, node_id, Conditions(crashed=True))  # type: ignore[arg-type]  # a Kind
    return found.duration_s


def _phase(now: Estimation, name: str) -> Quantity:
    node_id = min(node.node_id for node in now.plan.data_nodes)
    phases = now.restart("node", node_id, Conditions(crashed=True)).phases
    for phase in phases:
        if phase.name == name:
            return phase.duration_s
    raise FigureError(f"a restart of this plan has no phase '{name}'", fix="ask for another figure")


def _memory_full(now: Estimation) -> Quantity:
    """Share of DataMemory that tables take on the fullest node."""
    fullest = max(now.memory.nodes, key=lambda n: n.data_memory_bytes.value / n.data_memory_limit_bytes)
    found = fullest.data_memory_bytes * (100.0 / fullest.data_memory_limit_bytes)
    return Quantity(found.value, 0.97 * found.low, 1.03 * found.high, "")


def _data(now: Estimation) -> Quantity:
    return largest([(str(node.node_id), node.data_memory_bytes) for node in now.memory.nodes], "bytes")


def _rows_after(now: Estimation) -> Quantity:
    """Rows of the largest table that a partition holds once there is one node group more."""
    after = now.reorganise().plan_after
    table = max(after.tables, key=lambda one: one.rows)
    rows = [part.rows for part in now.of(after).distribution_of(table).partitions]
    return Quantity(sum(rows) / len(rows), 0.97 * min(rows), 1.03 * max(rows), "rows")


def _gcp_limit(now: Estimation) -> Quantity:
    settings = next(iter(now.settings.values()))
    limit = save_limit_s(settings, len(now.plan.data_nodes))
    if limit is None:
        raise FigureError("TimeBetweenEpochsTimeout is 0 in this plan", fix="change it for the start")
    return _whole(limit, "s")


def _memory_fills(now: Estimation) -> Quantity:
    """Until inserts have taken the DataMemory of the first node; rows differ by a tenth from the mean."""
    assert now.workload is not None
    facts = node_facts(now.plan, now.workload, node_groups(now.plan))
    grow = {i: float(one.row.memory_bytes) * now.offered_per_s for i, one in facts.items()}
    left = [
        (float(one.row.memory_limit_bytes) - one.start[1]) / grow[i]
        for i, one in facts.items()
        if grow[i] > 0
    ]
    if not left:
        raise FigureError("no row is inserted in this workload", fix="give the lesson another one")
    seconds = min(left)
    return Quantity(seconds, 0.9 * seconds, 1.1 * seconds, "s")


FIGURES: dict[str, Callable[[Estimation], Quantity]] = {
    "redo-full-s": _redo_full,
    "redo-bytes-per-s": _redo_rate,
    "redo-buffer-bytes": _buffer,
    "node-restart-s": lambda now: _restart(now, "node"),
    "initial-restart-s": lambda now: _restart(now, "initial"),
    "restore-s": lambda now: _phase(now, "restore from local checkpoint"),
    "rebuild-s": lambda now: _phase(now, "rebuild ordered indexes"),
    "backup-s": lambda now: now.backup().duration_s,
    "reorganise-s": lambda now: now.reorganise().duration_s,
    "rows-after": _rows_after,
    "gcp-limit-s": _gcp_limit,
    "memory-fills-s": _memory_fills,
    "data-memory-percent": _memory_full,
    "data-memory-bytes": _data,
    "node-groups": lambda now: _whole(len(cluster_of(now.plan).groups), ""),
    "replicas": lambda now: _whole(no_of_replicas(now.plan)),
    "data-nodes": lambda now: _whole(len(now.plan.data_nodes)),
}
"""By name. Seconds, bytes, bytes per second, rows, percent; a whole number has no range."""


def figure(name: str, now: Estimation) -> Quantity:
    """What the plan gives. Raises FigureError."""
    if name not in FIGURES:
        raise FigureError(f"'{readable(name, 40)}' is not a figure", fix=f"one of {', '.join(FIGURES)}")
    return FIGURES[name](now)
