"""What the cluster of a simulation looks like at a moment: what canvas, tables and report show of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult


@dataclass(frozen=True)
class Moment:
    """What a simulation says about one moment; shares are 0 to 1."""

    at_s: float
    disk_utilisation: Mapping[str, float] = field(default_factory=dict)
    """By disk id."""
    redo_buffer_fill: Mapping[int, float] = field(default_factory=dict)
    """Fullest log part, by node id of the data node."""
    redo_log_fill: Mapping[int, float] = field(default_factory=dict)
    """By node id."""
    accepted_per_s: float = 0.0
    refused_per_s: float = 0.0
    errors: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """Codes that a node has raised first, up to this moment, by node id."""
    down: frozenset[str] = frozenset()
    """Ids of the processes, hosts and locations that do not run."""
    stopped: str = ""
    """When and why the cluster stopped; empty while it runs."""
    stands_still: bool = False
    """A loss is not yet noticed: every transaction waits for that."""


def moment_of(result: SimulationResult, at_s: float) -> Moment:
    """The moment of a simulation at a time."""
    bucket = max(0, min(len(result.times_s) - 1, int(at_s / result.bucket_s)))
    disks = {i: float(disk.utilisation[bucket]) for disk in result.disks for i in disk.disk_ids}
    buffers: dict[int, float] = {}
    logs: dict[int, float] = {}
    for part in result.parts:
        for node_id in part.node_ids:
            fill = float(part.high[bucket]) / part.buffer_bytes
            buffers[node_id] = max(buffers.get(node_id, 0.0), fill)
            used = float(part.log_used[bucket]) / part.log_bytes
            logs[node_id] = max(logs.get(node_id, 0.0), used)
    stop = result.cluster_stop
    errors: dict[int, tuple[int, ...]] = {}
    for error in result.errors:
        if error.first_at_s.value <= at_s:
            errors[error.node_id] = (*errors.get(error.node_id, ()), error.code)
    return Moment(
        at_s,
        disks,
        buffers,
        logs,
        float(result.accepted[bucket]),
        float(result.refused[bucket]),
        errors,
        frozenset(
            spell.object_id
            for spell in result.down
            if spell.from_s <= at_s and (spell.to_s is None or at_s < spell.to_s)
        ),
        stop.text if stop is not None and at_s >= stop.at_s.value else "",
        any(begin <= at_s < end for begin, end in result.standing),
    )
