"""What a run found of each log part, node and disk over time, and which errors clients got."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.simulate.world.indices import OfNode
from ndbplan.simulate.world.world import History

Floats = NDArray[np.float64]


class Records(NamedTuple):
    """What a run wrote down, for series to be taken from."""

    history: History
    lengths_s: Floats
    """Of each bucket."""
    step_s: float
    latency_s: Floats


@dataclass(frozen=True)
class Series:
    """One kind of series: its name and unit in files, and where it comes from."""

    name: str
    """After what it is of, as `node3_part0_redo_log_bytes`; `{}` is the code of an error."""
    unit: str
    of: str
    """cluster, error, part (of the log), node, disk, or purpose (of what is written to a disk)."""
    field: str
    """Of `SimulationResult`, `PartSeries`, `NodeSeries` or `DiskSeries`."""
    in_csv: bool = True
    """A column of the CSV file of a run."""
    in_bands: Callable[[Records, int, int], Floats] | None = None
    """What bands are made of: of the i-th error, node or disk, and of its j-th part or purpose."""


SERIES = (
    Series("offered_per_s", "tx/s", "cluster", "offered"),
    Series("attempted_per_s", "tx/s", "cluster", "attempted"),
    Series("accepted_per_s", "tx/s", "cluster", "accepted"),
    Series("refused_per_s", "tx/s", "cluster", "refused"),
    Series("waiting", "tx", "cluster", "waiting"),
    Series("latency_s", "s", "cluster", "latency_s", True, lambda of, _i, _j: of.latency_s),
    Series(
        "error_{}_per_s", "tx/s", "error", "refused_by_code", True,
        lambda of, i, _j: np.diff(of.history.errors[:, i], prepend=0.0) / of.lengths_s,
    ),
    Series("lcp_writes", "fraction", "checkpoints", "lcp_share"),
    Series("redo_buffer_bytes", "bytes", "part", "last"),
    Series("redo_buffer_max_bytes", "bytes", "part", "high", True, lambda of, i, j: of.history.high[:, i, j]),
    Series("redo_log_bytes", "bytes", "part", "log_used", True, lambda of, i, j: of.history.log[:, i, j]),
    Series(
        "data_memory_bytes", "bytes", "node", "memory", False,
        lambda of, i, _j: of.history.node[:, i, OfNode.MEMORY],
    ),
    Series(
        "lcp_target_bytes_per_s", "bytes/s", "node", "lcp_target", False,
        lambda of, i, _j: of.history.node[:, i, OfNode.LCP_TARGET],
    ),
    Series(
        "undo_log_bytes", "bytes", "node", "undo_used", False,
        lambda of, i, _j: of.history.node[:, i, OfNode.UNDO_USED],
    ),
    Series(
        "tablespace_bytes", "bytes", "node", "space_used", False,
        lambda of, i, _j: of.history.node[:, i, OfNode.SPACE],
    ),
    Series(
        "bytes_per_s", "bytes/s", "purpose", "bytes_per_s", True,
        lambda of, i, j: of.history.disk[:, i, j] / of.lengths_s,
    ),
    Series(
        "utilisation", "fraction", "disk", "utilisation", True,
        lambda of, i, _j: np.minimum(1.0, of.history.busy[:, i, 0] * of.step_s / of.lengths_s),
    ),
)  # fmt: skip
"""Every series: the CSV file and the bands follow from this."""


def in_csv(of: str) -> tuple[Series, ...]:
    """The series that the CSV file has of such a thing."""
    return tuple(one for one in SERIES if one.of == of and one.in_csv)


def in_bands(of: str) -> tuple[Series, ...]:
    """The series that bands are made of, of such a thing."""
    return tuple(one for one in SERIES if one.of == of and one.in_bands is not None)


def as_csv(columns: Sequence[tuple[str, Floats]]) -> str:
    """Columns of equal length with their names as CSV, numbers with six digits: more would be made up."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([name for name, _ in columns])
    for row in zip(*(values.tolist() for _, values in columns), strict=True):
        writer.writerow([f"{value:.6g}" for value in row])
    return text.getvalue()


@dataclass(frozen=True)
class ErrorCount(Shape):
    """One temporary error that clients got."""

    JSON = "code count=times first_at_s node_id"

    code: int
    count: float
    """Transactions refused with it."""
    first_at_s: Quantity
    node_id: int
    """Node that raised it first."""

    @property
    def times(self) -> int:
        """How often it came, as a whole number."""
        return round(self.count)


@dataclass(frozen=True)
class PartSeries:
    """One log part of one data node over time; arrays have one entry for each bucket."""

    node_id: int
    node_ids: tuple[int, ...]
    """Every data node that behaves like this one."""
    log_part: int
    buffer_bytes: int
    log_bytes: int
    low: Floats
    high: Floats
    last: Floats
    """Bytes in the redo buffer: least, most and last of each bucket."""
    log_used: Floats
    """Bytes of log that cannot be reused yet, at the end of each bucket."""
    log_most: float
    """Most bytes of log that could not be reused at one moment."""
    made_bytes: float
    """Log produced since the start."""

    @property
    def fill_max(self) -> float:
        """Most the buffer held, as a share."""
        return float(self.high.max(initial=0.0)) / self.buffer_bytes


@dataclass(frozen=True)
class NodeSeries:
    """One data node over time; arrays have one entry for each bucket, at its end."""

    node_id: int
    node_ids: tuple[int, ...]
    """Every data node that behaves like this one."""
    memory: Floats
    """DataMemory in use."""
    memory_total_bytes: int
    lcp_target: Floats
    """Speed the checkpoints are set to, bytes per second."""
    lcp_bytes_per_s: Floats
    redo_bytes_per_s: Floats
    undo_used: Floats
    """Undo log that cannot be reused yet."""
    space_used: Floats
    """Bytes of tablespace in use."""
    backup_left: Floats
    dead: Floats
    """1 while the node takes no part."""


@dataclass(frozen=True)
class Restart:
    """A data node that failed, and its start after that."""

    node_id: int
    failed_at_s: float
    started_at_s: float | None
    """None: it was not started again."""
    phases: tuple[tuple[str, float], ...]
    """Name and seconds of each phase of the start."""

    def phase_at(self, at_s: float) -> int | None:
        """Which phase of the start it is in; None: it is not begun, or over."""
        if self.started_at_s is None or at_s < self.started_at_s:
            return None
        ends_s = self.started_at_s
        for number, (_, duration_s) in enumerate(self.phases):
            ends_s += duration_s
            if at_s < ends_s:
                return number
        return None


def latest_restarts(restarts: Iterable[Restart], at_s: float) -> list[Restart]:
    """The last restart of each node that had failed by then, in node-id order."""
    latest = {one.node_id: one for one in restarts if one.failed_at_s <= at_s}
    return [latest[node_id] for node_id in sorted(latest)]


@dataclass(frozen=True)
class DiskSeries(Shape):
    """One disk over time."""

    JSON = "host disk write_bps_mean utilisation_mean utilisation_max"

    host: str
    disk: str
    disk_id: str
    disk_ids: tuple[str, ...]
    """Every disk that gets the same streams."""
    alike: tuple[tuple[str, str], ...]
    """Host and name of each of them."""
    bytes_per_s: dict[str, Floats]
    """Written for each purpose (redo, lcp, undo, data_files, backup)."""
    utilisation: Floats
    write_bps_mean: Quantity
    utilisation_mean: Quantity
    utilisation_max: Quantity
    """Of a step, as a share of what the disk can do."""
