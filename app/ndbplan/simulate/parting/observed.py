"""What two runs recorded, side by side, and the first second in which it is apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ndbplan.base.row_types import Floats

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.series import NodeSeries

APART = 0.005
"""Share of the larger figure by which two are apart: less is rounding."""
OF_PEAK = 0.001
"""The same of the highest figure of both runs: less than that matters to nobody."""


class Observed(NamedTuple):
    """One series of both runs."""

    what: str
    """offered, attempted, accepted, waiting, latency, error CODE, target, checkpoint, written, memory, undo,
    space, backup left, dead, fill, log, use or PURPOSE of a disk."""
    where: str
    here: Floats
    there: Floats

    def first_apart(self) -> int | None:
        """The first bucket in which both are apart."""
        larger = np.maximum(np.abs(self.here), np.abs(self.there))
        least = np.maximum(APART * larger, OF_PEAK * float(larger.max(initial=0.0)))
        found = np.flatnonzero(np.abs(self.here - self.there) > least)
        return int(found[0]) if len(found) else None


def observed(one: SimulationResult, other: SimulationResult) -> Iterator[Observed]:
    """Every series that both runs have, as long as the shorter one is."""
    length = min(len(one.times_s), len(other.times_s))

    def both(what: str, where: str, here: Floats, there: Floats) -> Observed:
        return Observed(what, where, here[:length], there[:length])

    for what, field in _OF_CLUSTER.items():
        yield both(what, "", getattr(one, field), getattr(other, field))
    none = np.zeros(length)
    for code in {**one.refused_by_code, **other.refused_by_code}:
        here, there = (each.refused_by_code.get(code, none) for each in (one, other))
        yield both(f"error {code}", "", here, there)
    for node, like in _pairs(one.nodes, other.nodes):
        for what, field in _OF_NODE.items():
            yield both(what, f"node {node.node_id}", getattr(node, field), getattr(like, field))
    parts = {(node_id, part.log_part): part for part in other.parts for node_id in part.node_ids}
    for part in one.parts:
        twin = parts.get((part.node_id, part.log_part))
        if twin is not None:
            where = f"part {part.log_part} of node {part.node_id}"
            yield both("fill", where, part.high, twin.high)
            yield both("log", where, part.log_used, twin.log_used)
    disks = {name: disk for disk in other.disks for name in disk.alike}
    for disk in one.disks:
        same = disks.get((disk.host, disk.disk))
        if same is not None:
            where = f"{disk.host} {disk.disk}"
            yield both("use", where, disk.utilisation, same.utilisation)
            for purpose, written in disk.bytes_per_s.items():
                yield both(purpose, where, written, same.bytes_per_s[purpose])


def _pairs(
    one: tuple[NodeSeries, ...], other: tuple[NodeSeries, ...]
) -> Iterator[tuple[NodeSeries, NodeSeries]]:
    twins = {node_id: node for node in other for node_id in node.node_ids}
    for node in one:
        if node.node_id in twins:
            yield node, twins[node.node_id]


_OF_CLUSTER = {
    "offered": "offered",
    "attempted": "attempted",
    "accepted": "accepted",
    "waiting": "waiting",
    "latency": "latency_s",
    "checkpoint runs": "lcp_share",
}
_OF_NODE = {
    "target": "lcp_target",
    "checkpoint": "lcp_bytes_per_s",
    "written": "redo_bytes_per_s",
    "memory": "memory",
    "undo": "undo_used",
    "space": "space_used",
    "backup left": "backup_left",
    "dead": "dead",
}
