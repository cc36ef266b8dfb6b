"""Constants that are put into times of the model come out again, and what was measured is reproduced."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.quantity import Quantity
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.timed import restart
from ndbplan.importing.calibrate import RESTART_KNOBS, timed_restart
from ndbplan.importing.measurements import MeasurementError
from ndbplan.importing.update import Knob, Observed, deviation, updated
from ndbplan.plan.plan import Calibration, Plan
from ndbplan.plan.samples import sample_plan

PLAN = sample_plan("terabyte-load")
KNOBS = (
    Knob(rates=("restore_ldm_rows_per_s", "restore_ldm_bytes_per_s"), by_processor=True),
    Knob(rates=("index_build_ldm_rows_per_s", "index_build_random_ldm_rows_per_s"), by_processor=True),
    Knob(durations=("lcp_wait_idle_s",)),
)
PHASES = ("restore from local checkpoint", "rebuild ordered indexes", "wait for local checkpoint")


def _phases(plan: Plan) -> list[Quantity]:
    found = {phase.name: phase.duration_s for phase in restart(plan, "node").phases}
    return [found[name] for name in PHASES]


def _seconds(plan: Plan) -> list[float]:
    return [found.value for found in _phases(plan)]


def _with(plan: Plan, factors: tuple[float, ...]) -> Plan:
    made = []
    for knob, factor in zip(KNOBS, factors, strict=True):
        for names, by in ((knob.durations, factor), (knob.rates, 1 / factor)):
            made += [
                Calibration(constant=name, value=constant_for(plan, name).value * by, source="made")
                for name in names
            ]
    return plan.replace(calibrations=tuple(made))


@given(st.tuples(st.floats(0.6, 1.6), st.floats(0.6, 1.6), st.floats(0.8, 1.3)))
@settings(max_examples=8, deadline=None)
def test_constants_behind_the_times_come_out_again(factors: tuple[float, ...]) -> None:
    truth = _with(PLAN, factors)
    observed = [Observed(n, s, 0.005 * s) for n, s in zip(PHASES, _seconds(truth), strict=True)]
    found = updated(PLAN, KNOBS, _phases, observed, "made times")
    for knob in KNOBS:
        for name in (*knob.durations, *knob.rates):
            assert constant_for(found, name).value == pytest.approx(constant_for(truth, name).value, rel=0.05)
    assert _seconds(found) == pytest.approx(_seconds(truth), rel=0.05)


def test_ranges_of_what_was_measured_get_narrower_and_nothing_else_moves() -> None:
    """A node restart moved how fast a reorganisation is, which was less often right than before."""
    plan = timed_restart(PLAN, "node", 1.2 * restart(PLAN, "node").duration_s.value)
    for name in ("restore_ldm_rows_per_s", "index_build_ldm_rows_per_s"):
        assert deviation(plan, name) < deviation(PLAN, name)
    for name in ("copy_ldm_rows_per_s", "reorganise_scale"):
        assert constant_for(plan, name) == constant_for(PLAN, name)
    for knob in RESTART_KNOBS:
        assert deviation(plan, knob.first) <= deviation(PLAN, knob.first) * 1.001 + 0.03


def test_what_was_timed_again_replaces_what_was_timed_before() -> None:
    once = timed_restart(PLAN, "node", 3000.0)
    again = timed_restart(timed_restart(PLAN, "node", 2000.0), "node", 3000.0)
    assert again.calibrations == once.calibrations


def test_a_time_that_no_constant_explains_is_named() -> None:
    observed = [Observed("restart of node 2", 5.0, 0.1)]
    with pytest.raises(MeasurementError, match="restart of node 2: 5 s contradicts the plan"):
        updated(PLAN, KNOBS, lambda plan: [restart(plan, "node").duration_s], observed, "x")


def test_two_measurements_say_more_than_one() -> None:
    seconds = restart(PLAN, "node").duration_s.value
    one = timed_restart(PLAN, "node", seconds, source="first")
    two = timed_restart(one, "node", seconds, source="second")
    assert deviation(two, "restore_ldm_rows_per_s") <= deviation(one, "restore_ldm_rows_per_s")
    assert math.isclose(restart(two, "node").duration_s.value, seconds, rel_tol=0.02)
