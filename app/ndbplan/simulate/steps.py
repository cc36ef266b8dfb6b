"""A simulation takes steps: what is due happens, and between two events the kernel runs undisturbed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from ndbplan.base.errors import Cancelled
from ndbplan.simulate.events.story import happen
from ndbplan.simulate.model.meanwhile import follow_reads, move_loaders
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.state import look_anew

CHUNK_PART_STEPS = 1_000_000
"""Steps of log parts between two looks at `cancelled` and two reports of progress: some 30 ms."""
PARTIAL_EVERY_S = 0.12
"""Pause between two partial results, by the clock: they look alive and cost little."""


class Watch(NamedTuple):
    """Who looks at a run while it advances."""

    progress: Callable[[float], None] | None = None
    """Hears the share of the whole that is done."""
    cancelled: Callable[[], bool] | None = None
    """Is asked now and then whether to stop."""
    partial: Callable[[SimulationResult], None] | None = None
    """Gets what was found so far."""


def advance(sim: Simulation, until: int, watch: Watch | None = None) -> None:
    """Take the steps up to one, with all that is due before it; what is due at it or later stays due.

    How the time is cut into pieces changes nothing. Raises Cancelled when told to stop.
    """
    looks = _Looks(watch or Watch())
    until = min(until, sim.scenario.steps)
    while sim.step < until:
        let_happen(sim)
        _let_run(sim, min(until, _next_due(sim)), looks)


def let_happen(sim: Simulation) -> None:
    """Let all happen that is due at this step."""
    while _next_due(sim) <= sim.step:
        happen(sim, sim.due.pop(0))


def _next_due(sim: Simulation) -> int:
    """The step at which something happens next."""
    return round(sim.due[0].at_s / sim.scenario.step_s) if sim.due else sim.scenario.steps


class _Looks:
    """How somebody looks at a run while it advances."""

    def __init__(self, watch: Watch) -> None:
        self._watch, self._shown_s = watch, time.monotonic()

    def before(self) -> None:
        """Stop here when told to."""
        if self._watch.cancelled is not None and self._watch.cancelled():
            raise Cancelled

    def after(self, sim: Simulation) -> None:
        """Tell how far the run is, and now and then what it found."""
        if self._watch.progress is not None:
            self._watch.progress(sim.step / sim.scenario.steps)
        if (
            self._watch.partial is not None
            and sim.step < sim.scenario.steps
            and time.monotonic() - self._shown_s >= PARTIAL_EVERY_S
        ):
            self._shown_s = time.monotonic()
            self._watch.partial(SimulationResult.of(sim.partial_run()))


def _let_run(sim: Simulation, until: int, looks: _Looks) -> None:
    """Let the kernel run, with a look now and then at what the caller wants, and at what has moved."""
    from ndbplan.simulate.kernel.ready import prepare

    kernel = prepare()
    chunk = chunk_steps(sim)
    while sim.step < until:
        looks.before()
        if sim.step >= sim.look_at_step:
            sim.look_at_step = _moved(sim)
        upto = min(until, sim.step + chunk, sim.look_at_step)
        kernel(sim.world, sim.history, sim.step, upto)
        sim.step = upto
        looks.after(sim)


def chunk_steps(sim: Simulation) -> int:
    """Steps to take at once between two looks at what the caller wants."""
    return max(1, CHUNK_PART_STEPS // max(8, sim.laws.load.size))


def _moved(sim: Simulation) -> int:
    """Put loaders and reads of disks where they are now; the step until which they are there."""
    scenario, upto = sim.scenario, sim.scenario.steps
    if scenario.loaders is not None:
        upto = min(upto, sim.step + move_loaders(scenario, sim.full_load, sim.world, sim.step))
        look_anew(sim.state.cluster)
    if sim.page_cache is not None:
        if sim.step >= sim.reads_at_step:
            sim.reads_at_step = sim.step + follow_reads(scenario, sim.page_cache, sim.world, sim.step)
            sim.note_service()
        upto = min(upto, sim.reads_at_step)
        look_anew(sim.state.cluster)
    return upto
