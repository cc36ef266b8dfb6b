"""From what clients see back to the cause: which figure moved which, on the node where it was seen first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndbplan.base.row_types import Floats
from ndbplan.base.shapes import Shape

if TYPE_CHECKING:
    from ndbplan.simulate.parting.observed import Observed
    from ndbplan.simulate.result import SimulationResult
    from ndbplan.simulate.series import DiskSeries, NodeSeries, PartSeries

_BACKLOG = ("error 1221", "error 1234", "error 266", "waiting", "fill", "latency")
_FULL_LOG = ("error 410", "log")
_OTHER_WRITES = ("lcp", "backup", "data_files", "undo")
_MATTERS = 0.02
"""Share of a figure by which it must have moved to be the reason of another."""


@dataclass(frozen=True)
class Link(Shape):
    """One figure of both runs at a moment."""

    JSON = "what where at_s here there unit"

    what: str
    where: str
    at_s: float
    here: float
    there: float
    unit: str


def links(
    one: SimulationResult, other: SimulationResult, series: Sequence[Observed], first: int
) -> tuple[Link, ...]:
    """The chain, what clients see first; `first`: the bucket in which anything is apart first."""
    seen = _symptom(series)
    if seen is None:
        return ()
    symptom, bucket = seen
    worse_is_here = bool(symptom.here[bucket] > symptom.there[bucket])
    pair = _Pair(one, other) if worse_is_here else _Pair(other, one)
    back = _Back(pair, worse_is_here, first, bucket)
    found = [] if symptom.what in ("fill", "log") else [_link(one, symptom, bucket)]
    if symptom.what in _FULL_LOG:
        found += back.from_log()
    elif symptom.what in _BACKLOG:
        found += back.from_buffer()
    return tuple(found)


def _symptom(series: Sequence[Observed]) -> tuple[Observed, int] | None:
    """What clients see apart first: an error, work that waits, or is not accepted; else a full buffer."""
    for kinds in (("error",), ("waiting",), ("accepted",), ("latency",), ("fill",), ("log",)):
        apart = [
            (bucket, each)
            for each in series
            if each.what.partition(" ")[0] in kinds and (bucket := each.first_apart()) is not None
        ]
        if apart:
            bucket, one = min(apart, key=lambda found: found[0])
            return one, bucket
    return None


_UNITS = {"waiting": "tx", "latency": "s"}


def _link(one: SimulationResult, of: Observed, bucket: int) -> Link:
    unit = _UNITS.get(of.what, "tx/s")
    here, there = float(of.here[bucket]), float(of.there[bucket])
    return Link(of.what, of.where, float(one.times_s[bucket]), here, there, unit)


@dataclass(frozen=True)
class _Pair:
    """The run that is worse off, and the other."""

    worse: SimulationResult
    better: SimulationResult


@dataclass(frozen=True)
class _Back:
    """The way back from a part of the log that is full, over the time from the first difference to then."""

    pair: _Pair
    worse_is_here: bool
    first: int
    bucket: int

    def from_buffer(self) -> Iterator[Link]:
        """What filled a redo buffer: more log, or less written because other writes took the disk."""
        found = self._fullest(lambda part: part.high)
        if found is None:
            return
        part, like = found
        where = f"part {part.log_part} of node {part.node_id}"
        yield self._at_end("fill", where, part.high, like.high, "bytes")
        yield from self._of_node(part.node_id)

    def from_log(self) -> Iterator[Link]:
        """What filled a part of the log: more of it, or checkpoints that cut it later."""
        found = self._fullest(lambda part: part.log_used)
        if found is None:
            return
        part, like = found
        where = f"part {part.log_part} of node {part.node_id}"
        yield self._at_end("log", where, part.log_used, like.log_used, "bytes")
        node, twin = self._nodes(part.node_id)
        if node is None or twin is None:
            return
        checkpoint = self._mean(
            f"node {node.node_id}", "checkpoint", node.lcp_bytes_per_s, twin.lcp_bytes_per_s
        )
        if self._moved(checkpoint):
            yield checkpoint
            yield from self._of_checkpoint(node, twin)
        else:
            yield from self._of_node(part.node_id)

    def _of_node(self, node_id: int) -> Iterator[Link]:
        node, twin = self._nodes(node_id)
        if node is None or twin is None:
            return
        where = f"node {node_id}"
        made = self._mean(
            where, "made", self._made(self.pair.worse, node), self._made(self.pair.better, twin)
        )
        if self._of_worse(made) > self._of_better(made) * (1 + _MATTERS):
            yield made
            return
        written = self._mean(where, "written", node.redo_bytes_per_s, twin.redo_bytes_per_s)
        if not self._moved(written):
            return
        yield written
        yield from self._of_disk(node, twin)

    def _of_disk(self, node: NodeSeries, twin: NodeSeries) -> Iterator[Link]:
        """What else the disk of the log writes more of."""
        disk = self._redo_disk(node)
        if disk is None:
            return
        same = next((d for d in self.pair.better.disks if (disk.host, disk.disk) in d.alike), None)
        if same is None:
            return
        where = f"{disk.host} {disk.disk}"
        taken = [
            self._mean(where, purpose, disk.bytes_per_s[purpose], same.bytes_per_s[purpose])
            for purpose in _OTHER_WRITES
        ]
        most = max(taken, key=lambda link: self._of_worse(link) - self._of_better(link))
        if self._of_worse(most) > self._of_better(most) * (1 + _MATTERS):
            yield most
            if most.what == "lcp":
                yield from self._of_checkpoint(node, twin)

    def _of_checkpoint(self, node: NodeSeries, twin: NodeSeries) -> Iterator[Link]:
        target = self._mean(f"node {node.node_id}", "target", node.lcp_target, twin.lcp_target)
        if self._moved(target):
            yield target

    # Where the figures are.

    def _fullest(self, read: Callable[[PartSeries], Floats]) -> tuple[PartSeries, PartSeries] | None:
        """The part that is fullest at the end, and the same part of the other run."""
        parts = [part for part in self.pair.worse.parts if len(read(part)) > self.bucket]
        if not parts:
            return None
        part = max(parts, key=lambda one: float(read(one)[self.bucket]))
        like = (
            one
            for one in self.pair.better.parts
            if part.node_id in one.node_ids and one.log_part == part.log_part
        )
        twin = next(like, None)
        return None if twin is None else (part, twin)

    def _nodes(self, node_id: int) -> tuple[NodeSeries | None, NodeSeries | None]:
        found = [next((n for n in run.nodes if node_id in n.node_ids), None)
                 for run in (self.pair.worse, self.pair.better)]  # fmt: skip
        return found[0], found[1]

    def _redo_disk(self, node: NodeSeries) -> DiskSeries | None:
        run = self.pair.worse
        for n, kind in enumerate(run.given.scenario.node_classes):
            if kind.node_id in node.node_ids:
                return run.disks[int(run.given.scenario.laws.places[n].redo_disk)]
        return None

    def _made(self, run: SimulationResult, node: NodeSeries) -> Floats:
        """Log that a node made in each bucket, per second: what it wrote and what its buffers hold more."""
        held = sum(
            (part.last for part in run.parts if node.node_id in part.node_ids), np.zeros(len(node.dead))
        )
        made: Floats = node.redo_bytes_per_s + np.diff(held, prepend=0.0) / run.bucket_s
        return made

    def _mean(self, where: str, what: str, worse: Floats, better: Floats) -> Link:
        """Means from the first difference to the end."""
        span = slice(self.first, self.bucket + 1)
        here, there = float(worse[span].mean()), float(better[span].mean())
        return self._as_link(what, where, here, there, "bytes/s")

    def _at_end(self, what: str, where: str, worse: Floats, better: Floats, unit: str) -> Link:
        return self._as_link(what, where, float(worse[self.bucket]), float(better[self.bucket]), unit)

    def _as_link(self, what: str, where: str, worse: float, better: float, unit: str) -> Link:
        here, there = (worse, better) if self.worse_is_here else (better, worse)
        return Link(what, where, float(self.pair.worse.times_s[self.bucket]), here, there, unit)

    def _of_worse(self, link: Link) -> float:
        return link.here if self.worse_is_here else link.there

    def _of_better(self, link: Link) -> float:
        return link.there if self.worse_is_here else link.here

    def _moved(self, link: Link) -> bool:
        """Whether the run that is worse off has less of it."""
        return self._of_worse(link) < self._of_better(link) * (1 - _MATTERS)
