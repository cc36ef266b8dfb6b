"""The same draw of what is not certain in two plans: what then differs is the difference of the plans.

    highest(now, number=7)                 # the highest load in the seventh world
    simulated(now, number=7)               # what the simulated load comes to in it

A world is drawn by its number alone: constants, where a checkpoint stands, bytes of log. Number 0 is the
likeliest.
Common random numbers: differences of paired runs vary far less than the runs themselves.

Source: variance reduction by common random numbers (Law, Simulation Modeling and Analysis, chapter 11).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.advise.highest_rate import FINE_RUN_S, STEP_S, highest_rate
from ndbplan.simulate.drawn_runs import drawn, drawn_run, log_range_of

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation

_SEED = 1
_BUCKETS = 60
Cancelled = Callable[[], bool] | None


class Simulated(NamedTuple):
    """What the simulated load comes to in one world."""

    first_error_s: float
    """Infinite: there is none."""
    accepted_per_s: float
    latency_s: float


def highest(now: Estimation, number: int, duration_s: float, cancelled: Cancelled = None) -> float:
    """The highest rate sustained so long in the world of this number, in transactions per second."""
    from ndbplan.simulate.model.scenario import build

    scenario = build(now, duration_s=min(duration_s, FINE_RUN_S), step_s=STEP_S, seed=_SEED)
    world, _, _ = drawn(scenario, log_range_of(scenario), _SEED, number)
    return highest_rate(world, duration_s, cancelled)[0]


def simulated(now: Estimation, number: int, cancelled: Cancelled = None) -> Simulated:
    """What the workload comes to when it is simulated in the world of this number."""
    import numpy as np

    from ndbplan.simulate.latency import latency_s, mean_latency
    from ndbplan.simulate.recorded import LEAST_REFUSED
    from ndbplan.simulate.run import Course
    from ndbplan.simulate.world.indices import OfCluster

    assert now.workload is not None
    course = Course(now, now.workload.events, STEP_S, _SEED)
    story = course.story(course.length_s(None, cancelled))
    sim = drawn_run(story, log_range_of(story.scenario), _SEED, number, _BUCKETS, cancelled, None)
    refused = sim.state.errors >= LEAST_REFUSED
    first = float(np.where(refused, sim.state.first[:, 0], math.inf).min(initial=math.inf))
    accepted = float(sim.history.totals[:, OfCluster.ACCEPTED].sum()) / sim.scenario.duration_s
    return Simulated(first, accepted, mean_latency(sim, latency_s(sim)).value)
