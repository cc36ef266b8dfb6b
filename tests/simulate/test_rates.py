"""What runs accept at each steady rate of a load."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from ndbplan.base.quantity import Quantity
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint, Workload
from ndbplan.simulate.bands import monte_carlo
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.rates import steady_rates, taken_of
from ndbplan.simulate.world.indices import ERROR_CODES

PLAN = sample_plan("redo-overload-8.4")
WORKLOAD = PLAN.workloads[0]
CERTAIN = Quantity.exact(1.0, "factor")


def stepped(
    *points: tuple[float, float], shape: Literal["step", "linear"] = "step", repeat_s: float = 0.0
) -> Workload:
    load = OpenLoad(
        points=tuple(RatePoint(at_s=at, rate_per_s=rate) for at, rate in points),
        shape=shape,
        repeat_s=repeat_s,
    )
    return WORKLOAD.model_copy(update={"load": load})


def refused(runs: int, *came: tuple[int, int, int]) -> Any:
    """(run, moment, code) of errors, in so many runs of 60 moments."""
    found = np.zeros((runs, 60, len(ERROR_CODES)), dtype=bool)
    for run, moment, code in came:
        found[run, moment, ERROR_CODES.index(code)] = True
    return found


def test_it_is_told_of_each_step_in_which_share_of_the_runs_an_error_comes_first() -> None:
    came = refused(4, (0, 25, 1221), (0, 30, 410), (1, 23, 1234), (1, 27, 1221), (3, 24, 1221), (3, 24, 410))
    light, heavy = steady_rates(stepped((0, 1.0), (20, 9.0)), 1.0, np.ones((4, 60)), came, CERTAIN)
    assert light.errors == ()
    shares = {one.code: (one.probability, one.comes_first) for one in heavy.errors}
    assert shares == {1221: (0.75, 0.375), 1234: (0.25, 0.25), 410: (0.5, 0.125)}
    assert [(one.code, one.first_at_s.value) for one in heavy.errors] == [(1234, 3), (1221, 5), (410, 7)]


def test_each_step_has_the_means_of_its_own_time() -> None:
    accepted = np.array([[10.0] * 20 + [30.0] * 40, [12.0] * 20 + [20.0] * 40, [14.0] * 20 + [25.0] * 40])
    first, second = steady_rates(stepped((20, 40.0), (0, 15.0)), 1.0, accepted, refused(3), CERTAIN)
    assert (first.from_s, first.to_s, first.offered_per_s) == (0, 20, 15.0)
    assert (second.from_s, second.to_s, second.offered_per_s) == (20, 60, 40.0)
    assert first.accepted_per_s.value == pytest.approx(12.0)
    assert second.accepted_per_s.value == pytest.approx(25.0)
    assert second.accepted_per_s.low == pytest.approx(21.0)
    assert second.accepted_per_s.high == pytest.approx(29.0)


def test_steps_beyond_the_end_and_shorter_than_a_moment_are_left_out() -> None:
    load = stepped((0, 1.0), (30, 2.0), (30.2, 3.0), (90, 4.0))
    found = steady_rates(load, 1.0, np.ones((2, 60)), refused(2), CERTAIN)
    assert [(one.from_s, one.offered_per_s) for one in found] == [(0, 1.0), (30.2, 3.0)]


@pytest.mark.parametrize("load", [stepped((0, 1.0), shape="linear"), stepped((0, 1.0), repeat_s=10.0)])
def test_a_load_that_changes_all_the_time_has_no_steady_rate(load: Workload) -> None:
    assert steady_rates(load, 1.0, np.ones((2, 60)), refused(2), CERTAIN) == ()


def test_what_is_taken_of_too_much_is_as_uncertain_as_the_laws_of_overload() -> None:
    """Runs that all take as much are no proof: those of which all was known were off by a tenth at times."""
    law = Quantity(1.0, 0.9, 1.2, "factor")
    most = taken_of([50.0, 50.0, 50.0], 55.0, law)
    assert (most.low, most.value, most.high) == (pytest.approx(45.0), 50.0, 55.0)
    assert taken_of([50.0, 50.0], 1000.0, law).high == pytest.approx(60.0)
    everything = taken_of([55.0, 55.0], 55.0, law)
    assert everything.low == everything.high == 55.0
    apart = taken_of([40.0, 50.0, 60.0], 100.0, law)
    assert apart.low < 42.0
    assert apart.high > 58.0


def test_bands_tell_the_rates_of_their_load() -> None:
    load = stepped((0, 500.0), (20, 5000.0))
    plan = PLAN.replace(workloads=(load,))
    bands = monte_carlo(estimation_of(plan), runs=6, duration_s=40.0, seed=3)
    light, heavy = bands.rates
    assert light.accepted_per_s.value == pytest.approx(500.0, rel=1e-3)
    both = (light.accepted_per_s.value + heavy.accepted_per_s.value) / 2
    assert bands.accepted_per_s.low <= both * 1.02
    assert both <= bands.accepted_per_s.high * 1.02
