"""An operation: work on a cluster as steps, each with its commands, duration, check and rollback.

All that is said about the work comes from here: the runbook and its script, the timeline, the calendar.

    for interval in add_nodes(Estimation(plan)).timeline: interval.start_s, interval.step.label
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ParamSpec, TypeVar

from ndbplan.base.quantity import Quantity, Term, total, total_of_independent
from ndbplan.base.shapes import Shape
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.grown import ReorganiseEstimate
from ndbplan.estimate.times.reorganise import NodePeak
from ndbplan.estimate.times.restart_phases import Phase
from ndbplan.operations.commands import Command, connections

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """One step of an operation: it is done or not done, and can be taken up again at."""

    key: str
    """Short name, unique in the operation."""
    title: str
    """What is done, as the runbook says it."""
    text: str = ""
    """What happens and what to look at, for people; nothing: the runbook leaves the step out."""
    commands: tuple[Command, ...] = ()
    duration_s: Quantity | None = None
    """None: there is no estimate, and the timeline leaves the step out."""
    label: str = ""
    """What the timeline calls it; nothing: like the runbook."""
    blocked: tuple[str, ...] = ()
    """What cannot be done, or does not work, meanwhile."""
    check: str = ""
    """How one sees that it has worked."""
    rollback: str = ""
    """How to undo it; nothing: it cannot be undone."""
    if_it_fails: str = ""
    destructive: str = ""
    """What is lost or interrupted; the script asks before it goes on. Nothing: harmless."""
    phases: tuple[Phase, ...] = ()
    """Parts of the step that have their own durations."""
    by_people: bool = False
    """Its time is that of people who read and compare; a script goes on by itself."""
    host: str = ""
    """Done only when this host is named; nothing: always."""

    @property
    def name(self) -> str:
        """What the timeline calls it."""
        return self.label or self.title

    @property
    def meanwhile(self) -> str:
        """What cannot be done and who waits meanwhile, as a sentence; nothing: all goes on."""
        return f"Meanwhile blocked: {', '.join(self.blocked)}." if self.blocked else ""


@dataclass(frozen=True, slots=True)
class Interval(Shape):
    """A step on the timeline."""

    JSON = (
        "key=step.key title=step.name start_s duration_s blocked=step.blocked check=step.check "
        "way_back=step.rollback if_it_fails=step.if_it_fails phases=step.phases"
    )

    step: Step
    start_s: float
    """When it begins, from the start of the operation, by the estimate's middle values."""
    duration_s: Quantity

    @property
    def end_s(self) -> float:
        """When it ends."""
        return self.start_s + self.duration_s.value


@dataclass(frozen=True, slots=True)
class DiskLoad(Shape):
    """Redo log that a reorganisation adds on one disk, on average."""

    JSON = "node_id disk redo_bytes_per_s utilisation"

    node_id: int
    disk: str
    redo_bytes_per_s: Quantity
    utilisation: Quantity
    """Share of the disk that this takes by itself."""


def _of_one_kind(same: list[Interval]) -> tuple[str, Quantity]:
    """Steps of one kind as one."""
    first = same[0].step.name
    title = first if len(same) == 1 else f"{first} and {len(same) - 1} more"
    return title, total(((one.step.name, one.duration_s) for one in same), "s")


@dataclass(frozen=True)
class Operation(Shape):
    """Steps one after the other."""

    JSON = "name=key title=name steps=timeline duration_s point_of_no_return notes nodes=peaks disks"

    key: str
    """Short name: the part of the runbook."""
    title: str
    """What is done, as the runbook says it."""
    steps: tuple[Step, ...]
    text: str = ""
    """What it is for and what to look out for."""
    label: str = ""
    """What the timeline calls it; nothing: like the runbook."""
    point_of_no_return: str | None = None
    """Key of the first step that cannot be undone; None: every step can."""
    notes: tuple[str, ...] = ()
    disks: tuple[DiskLoad, ...] = ()
    reorganisation: ReorganiseEstimate | None = field(default=None, repr=False)
    """Where the operation moves rows."""
    each_time: str = ""
    """What every run does once more, as a sentence; nothing: a second run changes nothing."""
    connection_s: Quantity | None = field(default=None, repr=False)
    """What each connection of the script to a host takes; None: its duration is that of the steps alone."""
    looks: int = field(default=0, repr=False)
    """How often it connects before the first step, to look at what runs."""

    @property
    def name(self) -> str:
        """What the timeline calls it."""
        return self.label or self.title

    @property
    def again(self) -> str:
        """What a second run does, as a sentence."""
        return self.each_time or "A second run changes nothing."

    @property
    def peaks(self) -> tuple[NodePeak, ...]:
        """DataMemory of each node while rows move."""
        return () if self.reorganisation is None else self.reorganisation.node_peaks

    def step(self, key: str) -> Step | None:
        """The step with this key."""
        return next((step for step in self.steps if step.key == key), None)

    @cached_property
    def timeline(self) -> tuple[Interval, ...]:
        """The steps with a duration; each begins when the one before has ended."""
        found, now_s = [], 0.0
        for step in self.steps:
            if step.duration_s is not None:
                found.append(Interval(step, now_s, step.duration_s))
                now_s += step.duration_s.value
        return tuple(found)

    @cached_property
    def duration_s(self) -> Quantity:
        """Sum of the steps: those of one kind err together, different kinds independently.

        With the connections of the script, also those of steps that have no duration, where they are told.
        """
        kinds: dict[str, list[Interval]] = {}
        for interval in self.timeline:
            kinds.setdefault(interval.step.key.split("-")[0], []).append(interval)
        found = total_of_independent(map(_of_one_kind, kinds.values()), "s")
        people = [one for one in self.timeline if one.step.by_people]
        if people:
            # Where a script goes on by itself, nobody takes time at any of them.
            alone = [same for same in kinds.values() if same[0] not in people]
            least = total_of_independent(map(_of_one_kind, alone), "s").low
            least += sum(one.duration_s.low for one in people)
            found = found.between(min(found.low, least), found.high)
        if self.connection_s is None:
            return found
        # One more for each step: is there a management host?
        each = (1 + sum(map(connections, step.commands)) for step in self.steps if step.commands)
        script = self.connection_s.scaled(self.looks + sum(each))
        # A quick script does not make up for slow nodes.
        return total((("steps", found), ("connections of the script", script)), "s")


class Times:
    """How long steps take by these estimates; or nothing at all, for the steps of a plan that has none."""

    def __init__(self, now: Estimation, *, known: bool = True) -> None:
        self.now = now
        self.known = known

    def ask(self, estimate: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
        """The answer of an estimate; None without estimates."""
        return estimate(*args, **kwargs) if self.known else None

    def constant(self, name: str, times: float = 1.0) -> Quantity | None:
        """A duration that is a constant, so many times."""
        return self.ask(_constant, self.now.constants, name, times)


def _constant(constants: Constants, name: str, times: float) -> Quantity:
    constant = constants[name]
    why = (*constant.why, Term("times", times, "", "plan")) if times != 1 else constant.why
    return Quantity(times * constant.value, times * constant.low, times * constant.high, "s", why)
