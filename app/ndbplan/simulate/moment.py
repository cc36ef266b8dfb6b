"""What the cluster of a simulation looks like at a moment: what canvas, tables and report show of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ndbplan.simulate.series import Restart, latest_restarts
from ndbplan.simulate.stop import DownTime, LinkTime, ReorganiseTime, SlowTime

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult


@dataclass(frozen=True)
class Starting:
    """How far the start of a data node is."""

    phase: str
    """Its name, as the times of restarts give it."""
    number: int
    """Which one it is, from 1 on."""
    phases: int

    @property
    def text(self) -> str:
        """`phase 3 of 9: execute redo log`."""
        return f"phase {self.number} of {self.phases}: {self.phase}"


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
    starting: Mapping[int, Starting] = field(default_factory=dict)
    """Data nodes that are being started, by node id; until their rows are copied they are down too."""
    disk_speed: Mapping[str, float] = field(default_factory=dict)
    """Share of its speed that a disk has, by disk id; those at full speed are not in there. 0: it failed."""
    links: tuple[LinkTime, ...] = ()
    """Links that carry less now, or nothing."""
    full_disks: frozenset[str] = frozenset()
    """Ids of the disks that other files have filled."""
    reorganised: float | None = None
    """Share of the rows that were moved to added data nodes; None: no tables are being reorganised."""
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
        fill = float(part.high[bucket]) / part.buffer_bytes
        used = float(part.log_used[bucket]) / part.log_bytes
        for node_id in part.node_ids:
            if fill > buffers.get(node_id, -1.0):
                buffers[node_id] = fill
            if used > logs.get(node_id, -1.0):
                logs[node_id] = used
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
        within(result.down, at_s),
        {} if stop is not None and at_s >= stop.at_s.value else starting_at(result.restarts, at_s),
        speeds_at(result.slowed, at_s),
        links_at(result.links, at_s),
        within(result.full_disks, at_s),
        moved_at(result.reorganising, at_s),
        stop.text if stop is not None and at_s >= stop.at_s.value else "",
        any(begin <= at_s < end for begin, end in result.standing),
    )


def starting_at(restarts: Iterable[Restart], at_s: float) -> dict[int, Starting]:
    """How far each data node is that is being started, by node id."""
    found = {}
    for restart in latest_restarts(restarts, at_s):
        number = restart.phase_at(at_s)
        if number is not None:
            phases = restart.phases
            found[restart.node_id] = Starting(phases[number][0], number + 1, len(phases))
    return found


def within(spells: Iterable[DownTime], at_s: float) -> frozenset[str]:
    """Ids of what does not run, or is full, at a moment."""
    return frozenset(
        spell.object_id
        for spell in spells
        if spell.from_s <= at_s and (spell.to_s is None or at_s < spell.to_s)
    )


def speeds_at(slowed: Iterable[SlowTime], at_s: float) -> dict[str, float]:
    """Share of its speed that each disk has that is not at full speed; several at once multiply."""
    speeds: dict[str, float] = {}
    for slow in slowed:
        if slow.from_s <= at_s and (slow.to_s is None or at_s < slow.to_s):
            speeds[slow.disk_id] = speeds.get(slow.disk_id, 1.0) * slow.factor
    return {disk_id: speed for disk_id, speed in speeds.items() if speed != 1.0}


def links_at(links: Iterable[LinkTime], at_s: float) -> tuple[LinkTime, ...]:
    """Those that are slow or cut at a moment."""
    return tuple(one for one in links if one.from_s <= at_s and (one.to_s is None or at_s < one.to_s))


def moved_at(reorganising: Iterable[ReorganiseTime], at_s: float) -> float | None:
    """Share of the rows that were moved to added data nodes; None: none are being moved."""
    return next(
        ((at_s - r.from_s) / (r.to_s - r.from_s) for r in reorganising if r.from_s <= at_s < r.to_s), None
    )
