"""Lanes of a timeline: operations with their phases, and those too long for the scale of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ndbplan.base.quantity import Quantity
from ndbplan.describe.measured_runs import near_runs
from ndbplan.plan.plan import Plan

PHASES = (
    "allocate memory", "start permission and metadata", "restore from local checkpoint", "execute redo log",
    "rebuild ordered indexes", "copy fragments", "wait for local checkpoint", "wait for subscriptions",
    "create redo log files", "execute undo log", "first local checkpoint", "stop",
)  # fmt: skip
"""Phases of restarts, so that each has the same colour whatever else is shown."""

STEPS_S = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 604_800,
)  # fmt: skip
"""Steps of an axis of time."""


@dataclass(frozen=True)
class Block:
    """One phase."""

    name: str
    duration_s: Quantity
    note: str = ""
    text: str = ""
    """How it is done, as Markdown; nothing: nobody does it by hand."""


@dataclass(frozen=True)
class Lane:
    """One operation with its phases, one after the other."""

    name: str
    duration_s: Quantity
    blocks: tuple[Block, ...]
    near_runs: str = ""
    """How near its duration lies to runs that were measured."""


_FAR = 12.0
"""Times as long as every other operation from which on one is drawn to a scale of its own: judgement."""
ROOM_BESIDE = 0.88
"""Share of the axis that such a lane takes, so that it can be said beside it."""


_KINDS_OF_RUNS = {"First": "first start", "Backup": "backup", "Restore": "restore", "Add": "reorganise"}
"""By the first word of an operation the kind of measured runs that it is held against; of others restarts."""


def beside_runs(lanes: Sequence[Lane], plan: Plan) -> list[Lane]:
    """The operations of a plan with how near each lies to runs that were measured."""
    kinds = (_KINDS_OF_RUNS.get(lane.name.partition(" ")[0], "restart") for lane in lanes)
    return [replace(lane, near_runs=near_runs(plan, kind)) for lane, kind in zip(lanes, kinds, strict=True)]


def length_s(lanes: Sequence[Lane]) -> float:
    """How long an axis is for lanes."""
    longest = max((lane.duration_s.value for lane in lanes), default=0.0)
    # Whiskers may go on a little further; what is uncertain by far ends at the edge.
    highest = max((lane.duration_s.high for lane in lanes), default=0.0)
    return min(highest, 1.35 * longest) or 1.0


def far_longer(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """Those, fewer than half of them, beside which all others would be a few pixels wide."""
    ordered = sorted(lanes, key=lambda lane: -lane.duration_s.value)
    for number in range(1, (len(ordered) + 1) // 2):
        if ordered[number - 1].duration_s.value > _FAR * ordered[number].duration_s.value:
            return tuple(ordered[:number])
    return ()


def scales(lanes: Sequence[Lane]) -> tuple[float, tuple[float, ...]]:
    """How long the axis of lanes is, in seconds, and of each lane how many times as short it is drawn."""
    far = far_longer(lanes)
    axis_s = length_s([lane for lane in lanes if lane not in far])
    shorter = (length_s([lane]) / (ROOM_BESIDE * axis_s) if lane in far else 1.0 for lane in lanes)
    return axis_s, tuple(shorter)
