"""Measured series beside the simulated ones they are of: which line goes with which, and how far apart.

    held = held_against(result, plan, measured)
    held.lines[0].measured_mean, held.lines[0].simulated_mean

Means and largest values are of the moments that were measured while the run lasts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.shapes import Shape
from ndbplan.base.units import how_many
from ndbplan.importing.devices import hosts_of, is_device
from ndbplan.importing.measured_series import Line, Measured
from ndbplan.plan.plan import Plan
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.series import DiskSeries, PartSeries

_Floats = NDArray[np.float64]
_CLUSTER = {
    "offered_per_s": ("offered", "tx/s", "offered"),
    "accepted_per_s": ("accepted", "tx/s", "accepted"),
    "refused_per_s": ("refused", "tx/s", "refused"),
    "latency_s": ("latency", "s", "latency_s"),
}
"""What each is called, its unit, and its field of the result."""
_LISTED = 4


@dataclass(frozen=True)
class HeldLine(Shape):
    """One measured line with its simulated counterpart."""

    JSON = "what unit points from_s to_s measured_mean simulated_mean measured_max simulated_max"

    what: str
    """`accepted`, `redo buffer of node 3, part 0`, `writes of data1 c0d1`."""
    unit: str
    quantity: str
    node_ids: tuple[int, ...]
    """Data nodes that it is of; nothing: of none."""
    log_part: int | None
    disk_ids: tuple[str, ...]
    times_s: _Floats
    """Moments of the run."""
    values: _Floats
    points: int
    """Moments while the run lasts."""
    from_s: float
    to_s: float
    measured_mean: float
    simulated_mean: float
    measured_max: float
    simulated_max: float

    def at(self, moments_s: _Floats, bucket_s: float) -> _Floats:
        """The measured values at the moments of a chart: the mean of each bucket, between them a line."""
        edges = moments_s - bucket_s / 2
        place = np.searchsorted(edges, self.times_s, side="right") - 1
        inside = (place >= 0) & (place < len(moments_s)) & (self.times_s <= moments_s[-1] + bucket_s)
        counts = np.bincount(place[inside], minlength=len(moments_s))
        sums = np.bincount(place[inside], weights=self.values[inside], minlength=len(moments_s))
        between = np.interp(moments_s, self.times_s, self.values, left=np.nan, right=np.nan)
        return np.where(counts > 0, sums / np.maximum(counts, 1), between)


@dataclass(frozen=True)
class Held(Shape):
    """Everything of a file that a run has a counterpart of."""

    JSON = "kind lines notes"

    kind: str
    lines: tuple[HeldLine, ...]
    notes: tuple[str, ...]
    """What was taken for granted, and what has no counterpart."""


def held_against(result: SimulationResult, plan: Plan, measured: Measured, starts_s: float = 0.0) -> Held:
    """The lines of a file beside a run in which its first moment is `starts_s`."""
    lines: list[HeldLine] = []
    # A device has several lines.
    without: dict[str, None] = {}
    outside = 0
    for line in _numbered(result, measured.lines):
        found = list(_counterparts(result, plan, line))
        if not found:
            without[_name(line)] = None
        for what, unit, values, node_ids, disk_ids in found:
            held = _held(result, line, starts_s, values)
            if held is None:
                outside += 1
                continue
            lines.append(
                HeldLine(what, unit, line.quantity, node_ids, line.log_part, disk_ids,
                         line.times_s + starts_s, line.values, *held)
            )  # fmt: skip
    notes = list(measured.notes)
    if without:
        more = f" and {len(without) - _LISTED} more" if len(without) > _LISTED else ""
        notes.append(f"not in this run: {', '.join(list(without)[:_LISTED])}{more}")
    if outside:
        notes.append(f"{how_many(outside, 'line')} measured at no moment of the run")
    return Held(measured.kind, tuple(lines), tuple(notes))


def _held(
    result: SimulationResult, line: Line, starts_s: float, simulated: _Floats
) -> tuple[int, float, float, float, float, float, float] | None:
    times = line.times_s + starts_s
    during = (times >= 0) & (times <= result.duration_s)
    if not during.any():
        return None
    at, values = times[during], line.values[during]
    there = np.interp(at, result.times_s, simulated)
    known = np.isfinite(there)
    if not known.any():
        return None
    return (
        int(during.sum()), float(at[0]), float(at[-1]), float(values[known].mean()),
        float(there[known].mean()), float(values.max()), float(there[known].max()),
    )  # fmt: skip


_Found = tuple[str, str, _Floats, tuple[int, ...], tuple[str, ...]]
"""What it is called, unit, simulated values, data nodes, disks."""


def _counterparts(result: SimulationResult, plan: Plan, line: Line) -> Iterator[_Found]:
    quantity = line.quantity
    if quantity in _CLUSTER:
        what, unit, name = _CLUSTER[quantity]
        values = getattr(result, name)
        # Where nothing was answered there is no latency.
        yield what, unit, np.where(values > 0, values, np.nan) if name == "latency_s" else values, (), ()
    elif quantity in ("redo_buffer_bytes", "redo_log_bytes"):
        part = _part(result, line)
        if part is not None and line.node_id is not None:
            is_buffer = quantity == "redo_buffer_bytes"
            kind = "redo buffer" if is_buffer else "redo log"
            what = f"{kind} of node {line.node_id}, part {part.log_part}"
            yield what, "bytes", part.last if is_buffer else part.log_used, (line.node_id,), ()
    elif quantity == "data_memory_bytes":
        for node in result.nodes:
            if line.node_id in node.node_ids:
                yield f"DataMemory of node {line.node_id}", "bytes", node.memory, (line.node_id or 0,), ()
    elif quantity in ("utilisation", "write_bytes_per_s"):
        mine = _disk_ids(plan, line)
        for disk in result.disks:
            ids = tuple(i for i in disk.disk_ids if i in mine)
            if ids:
                yield _of_disk(disk, ids, quantity)


def _of_disk(disk: DiskSeries, ids: tuple[str, ...], quantity: str) -> _Found:
    named = dict(zip(disk.disk_ids, disk.alike, strict=True))
    place = " ".join(named[ids[0]])
    if quantity == "utilisation":
        return f"busy share of {place}", "fraction", disk.utilisation, (), ids
    written: _Floats = sum(disk.bytes_per_s.values(), np.zeros_like(disk.utilisation))
    return f"writes of {place}", "bytes/s", written, (), ids


def _numbered(result: SimulationResult, lines: Sequence[Line]) -> Iterator[Line]:
    """The lines with what their redo is of, buffer or log, and its part as the simulation counts it.

    logspaces says which log part; logbuffers numbers threads or parts from 1 on, and where one thread has
    several parts the part is the log_id.
    """
    has_ids = {(line.node_id, line.room_bytes) for line in lines if line.log_id}
    for line in lines:
        if line.quantity != "redo_bytes" or line.log_part is None:
            yield line
            continue
        part = next((p for p in result.parts if line.node_id in p.node_ids), None)
        room = float(line.room_bytes or 0) or 1.0
        far = [abs(math.log(room / max(1.0, size))) for size in _sizes(part)]
        if part is None or far[0] > far[1]:
            yield replace(line, quantity="redo_log_bytes")
        else:
            by_id = (line.node_id, line.room_bytes) in has_ids
            number = line.log_id if by_id else line.log_part - 1
            yield replace(line, quantity="redo_buffer_bytes", log_part=number)


def _sizes(part: PartSeries | None) -> tuple[int, int]:
    return (1, 1) if part is None else (part.buffer_bytes, part.log_bytes)


def _part(result: SimulationResult, line: Line) -> PartSeries | None:
    mine = (p for p in result.parts if line.node_id in p.node_ids and p.log_part == line.log_part)
    return next(mine, None)


def _disk_ids(plan: Plan, line: Line) -> set[str]:
    """Disks that a device is: by the name of its machine and its own, or as HOST_DISK."""
    stems = {
        disk.id
        for host in plan.hosts
        for disk in host.disks
        if f"{host.hostname}_{disk.name}".replace(" ", "_") == line.device
    }
    if stems:
        return stems
    return {
        disk.id
        for host in hosts_of(plan, line.host)
        for disk in host.disks
        if is_device(disk.name, line.device)
    }


def _name(line: Line) -> str:
    if line.device:
        return line.device[:40]
    if line.node_id is None:
        return line.quantity
    part = "" if line.log_part is None else f", part {line.log_part}"
    return f"node {line.node_id}{part}"
