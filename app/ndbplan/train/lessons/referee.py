"""Who watches the goals of a lesson: once a simulated second, before each act, and back with the cluster."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ndbplan.simulate.events.handlers import Order, at_once, handles, planned
from ndbplan.simulate.simulation import Simulation
from ndbplan.train.conditions import Condition, parsed
from ndbplan.train.lessons.model import Lesson
from ndbplan.train.state import state_of


@dataclass(frozen=True)
class Judges(Order):
    """From now on these goals count."""

    goals: tuple[str, ...]


@dataclass
class Referee:
    """What is watched, and what came of it."""

    goals: dict[str, tuple[Condition, float]]
    """By name: what has to be so, and for how long."""
    keeps: dict[str, tuple[Condition, float]]
    """By name: what has to be so all the time, and since when."""
    trouble: Condition | None = None
    since: dict[str, float] = field(default_factory=dict)
    """Goals that count, and since when they have been so; below 0: they are not."""
    reached: dict[str, float] = field(default_factory=dict)
    """When each was reached: the begin of the time for which it held."""
    broken: dict[str, float] = field(default_factory=dict)
    """Keeps that did not hold, and when first."""
    trouble_s: float | None = None
    """When the trouble was there first."""

    @classmethod
    def of(cls, lesson: Lesson) -> Referee:
        """Of a lesson's goals."""
        return cls(
            {goal.name: (parsed(goal.when), goal.lasts) for stage in lesson.stages for goal in stage.goals},
            {keep.name: (parsed(keep.when), keep.since) for keep in lesson.keeps},
            parsed(lesson.trouble) if lesson.trouble else None,
        )

    def copy(self) -> Referee:
        """The same, to go on apart."""
        return replace(self, since=self.since.copy(), reached=self.reached.copy(), broken=self.broken.copy())

    def look(self, sim: Simulation) -> None:
        """Note what is so now, and since when."""
        at_s = round(sim.step * sim.scenario.step_s, 9)
        if self.trouble is not None and self.trouble_s is None and self.trouble.holds(sim):
            self.trouble_s = at_s
        for name, (condition, since_s) in self.keeps.items():
            if name not in self.broken and at_s >= since_s and not condition.holds(sim):
                self.broken[name] = at_s
        for name, begun_s in self.since.items():
            condition, lasts_s = self.goals[name]
            if name in self.reached:
                continue
            if not condition.holds(sim):
                self.since[name] = -1.0
                continue
            if begun_s < 0:
                self.since[name] = begun_s = at_s
            if at_s - begun_s >= lasts_s:
                self.reached[name] = begun_s

    def holds(self, name: str, sim: Simulation) -> bool:
        """Whether a goal is so at this moment."""
        return self.goals[name][0].holds(sim)


def referee_of(sim: Simulation) -> Referee:
    """The referee of a cluster that has one."""
    found = state_of(sim).observer
    assert isinstance(found, Referee)
    return found


planned(Judges)(at_once)


@handles(Judges)
def judges(sim: Simulation, order: Judges) -> None:
    """They have not been so until the next look."""
    referee = referee_of(sim)
    for name in order.goals:
        referee.since.setdefault(name, -1.0)
