"""A simulated cluster that lives: somebody lets time pass, acts on it, goes back, and tries again.

    session = Session(course.story(3600.0))
    session.advance(60.0)
    session.act(NodeFailure(at_s=0.0, object_id="n3"))     # None, or why it cannot be
    other = session.branch()                               # goes on apart
    session.rewind(30.0)

A batch run is a session in which nobody acts. How the time is cut into pieces changes nothing: who goes back
and does the same again finds the same, to the bit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

from ndbplan.plan.events import Event
from ndbplan.simulate.events.handlers import Order
from ndbplan.simulate.events.story import act
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.model.start import MOST_BUCKETS, StartState
from ndbplan.simulate.moment import Moment, moment_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.simulation import Beside, Simulation, Story
from ndbplan.simulate.steps import Watch, advance, let_happen

MOST_SNAPSHOTS = 128
"""Of more some are forgotten: going back takes a little longer then, and never more memory."""

FIRST_APART = 8
"""Buckets from one snapshot to the next, at first: a few milliseconds to go through again, where a copy costs
as much as one of them."""

DEAR_S = 0.02
"""Where more work than this lies behind a snapshot another one is kept, at first: failures and starts of many
nodes take as long as minutes in which nothing happens."""


@dataclass(frozen=True)
class Refusal:
    """Why something that somebody asked for cannot be."""

    text: str
    fix: str = ""


class Act(NamedTuple):
    """Something that somebody asked for, and when."""

    at_s: float
    event: Event | Order


class Session:
    """A run under way. Raises SimulationError for a story that cannot be simulated."""

    def __init__(
        self,
        story: Story,
        start: StartState | None = None,
        beside: Beside | None = None,
        most_buckets: int = MOST_BUCKETS,
    ) -> None:
        """`beside` is told what happens, goes back with the run, and branches with it."""
        self._story, self._start, self._beside = story, start, beside
        self._most_buckets = most_buckets
        self.simulation = self._begun()
        self._acts: list[tuple[int, Event | Order]] = []
        self._snapshots: list[Simulation] = []
        """Earlier moments, with all that was asked for until then; their records are the session's."""
        self._unit = self._steps_apart = FIRST_APART * int(self.simulation.laws.run.steps_per_bucket)
        self._dear_s = DEAR_S
        self._work: list[float] = []
        """Seconds of a processor from one snapshot to the next: those before each."""
        self._worked_s = 0.0
        """Since the last one."""

    def _begun(self) -> Simulation:
        simulation = Simulation.begin(self._story, self._start, self._most_buckets)
        simulation.beside = None if self._beside is None else self._beside.copy()
        return simulation

    @property
    def now_s(self) -> float:
        """Simulated seconds since the start."""
        return self._seconds(self.simulation.step)

    @property
    def history(self) -> tuple[Act, ...]:
        """What was asked for and could be, earliest first."""
        return tuple(Act(self._seconds(step), event) for step, event in self._acts)

    def advance(self, seconds: float, watch: Watch | None = None) -> None:
        """Let so much time pass, in whole steps, until the end of the story at most."""
        self._advance_to(self.simulation.step + max(0, self._steps(seconds)), watch)

    def advance_to_end(self, watch: Watch | None = None) -> None:
        """Let all of the story's time pass; who goes back from there begins where this was called."""
        self._keep_snapshot(self.simulation.scenario.steps)
        advance(self.simulation, self.simulation.scenario.steps, watch)

    def act(self, event: Event | Order) -> Refusal | None:
        """Let an event happen now, whatever moment it states; or say why it cannot be."""
        sim, begin_s = self.simulation, time.thread_time()
        if any(len(one.nodes) > 1 for one in sim.scenario.node_classes):
            return Refusal("nodes that behave alike are simulated as one here: begin with every node apart")
        try:
            act(sim, event)
        except SimulationError as error:
            return Refusal(error.what, error.fix)
        if sim.beside is not None:
            sim.beside.acted_on(sim)
        let_happen(sim)
        self._acts.append((sim.step, event))
        self._worked_s += time.thread_time() - begin_s
        return None

    def moment(self) -> Moment:
        """What the cluster looks like now."""
        return moment_of(self.result(), self.now_s)

    def result(self) -> SimulationResult:
        """What was found so far."""
        sim = self.simulation
        return SimulationResult.of(sim if sim.step == sim.scenario.steps else sim.partial_run())

    def rewind(self, to_s: float) -> None:
        """Go back to an earlier moment: what was asked for from then on has not happened."""
        step = max(0, min(self.simulation.step, self._steps(to_s)))
        again = [(at, event) for at, event in self._acts if at < step]
        self._snapshots = [one for one in self._snapshots if one.step < step]
        del self._work[len(self._snapshots) :]
        self._worked_s = 0.0
        if self._snapshots:
            last = self._snapshots[-1]
            self.simulation = last.copy(with_history=False)
            self.simulation.forget_after(last.step)
            self._acts = [(at, event) for at, event in again if at <= last.step]
        else:
            self.simulation = self._begun()
            self._acts = []
        for at, event in again[len(self._acts) :]:
            self._advance_to(at)
            self.act(event)
        self._advance_to(step)

    def branch(self) -> Session:
        """The same moment once more, which goes on apart from this one."""
        other = Session.__new__(Session)
        other._story, other._start, other._beside = self._story, self._start, self._beside
        other._most_buckets, other._unit, other._steps_apart = (
            self._most_buckets,
            self._unit,
            self._steps_apart,
        )
        other._dear_s, other._work, other._worked_s = self._dear_s, self._work.copy(), self._worked_s
        other.simulation = self.simulation.copy()
        other._acts = self._acts.copy()
        other._snapshots = [replace(one, history=other.simulation.history) for one in self._snapshots]
        return other

    def _advance_to(self, step: int, watch: Watch | None = None) -> None:
        """Snapshots lie evenly apart, closer where much is done: going back anywhere takes equally long."""
        step = min(step, self.simulation.scenario.steps)
        while self.simulation.step < step:
            self._keep_snapshot(step)
            begin_s, unit = time.thread_time(), self._unit
            advance(self.simulation, min(step, (self.simulation.step // unit + 1) * unit), watch)
            self._worked_s += time.thread_time() - begin_s

    def _keep_snapshot(self, upto: int) -> None:
        """Remember this moment before it passes, when it is one at which a bucket of the records begins."""
        sim = self.simulation
        last = self._snapshots[-1].step if self._snapshots else 0
        if not upto > sim.step > last or sim.step % self._unit:
            return
        if sim.step % self._steps_apart and self._worked_s <= self._dear_s:
            return
        self._snapshots.append(sim.copy(with_history=False))
        self._work.append(self._worked_s)
        self._worked_s = 0.0
        while len(self._snapshots) > MOST_SNAPSHOTS:
            self._steps_apart, self._dear_s = self._steps_apart * 2, self._dear_s * 2
            self._thin_out()

    def _thin_out(self) -> None:
        """Forget snapshots that lie closer than they have to: by time, and by the work between them."""
        kept, work, since_s = list[Simulation](), list[float](), 0.0
        for place, one in enumerate(self._snapshots):
            since_s += self._work[place]
            after_s = self._work[place + 1] if place + 1 < len(self._work) else 0.0
            if one.step % self._steps_apart == 0 or since_s + after_s > self._dear_s:
                kept.append(one)
                work.append(since_s)
                since_s = 0.0
        self._snapshots, self._work = kept, work
        self._worked_s += since_s

    def _steps(self, seconds: float) -> int:
        return round(seconds / self.simulation.scenario.step_s)

    def _seconds(self, step: int) -> float:
        return round(step * self.simulation.scenario.step_s, 9)
