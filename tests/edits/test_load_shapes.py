"""Loads over time in their usual shapes: what they offer when."""

from __future__ import annotations

import numpy as np
import pytest

from ndbplan.edits.load_shapes import DAY_S, PEAK_AT_S, burst, diurnal, ramp, steps
from ndbplan.simulate.model.load_over_time import rate_at


def test_ramp_slides_and_stays() -> None:
    rates = rate_at(ramp(100, 300, 200, start_s=50), np.array([0.0, 50, 150, 250, 1000]))
    assert rates.tolist() == [100, 100, 200, 300, 300]


def test_steps_come_one_after_the_other() -> None:
    rates = rate_at(steps((10.0, 30.0, 20.0), 60), np.array([0.0, 59, 61, 119, 121, 999]))
    assert rates.tolist() == [10, 10, 30, 30, 20, 20]


def test_a_day_has_its_peak_and_trough_and_comes_again() -> None:
    load = diurnal(4000, trough=0.25)
    times = np.arange(0, 2 * DAY_S, 60.0)
    rates = rate_at(load, times)
    assert rates.max() == pytest.approx(4000, rel=1e-3)
    assert rates.min() == pytest.approx(1000, rel=1e-2)
    assert times[int(rates[: len(rates) // 2].argmax())] == pytest.approx(PEAK_AT_S, abs=1800)
    assert np.allclose(rates[: len(rates) // 2], rates[len(rates) // 2 :])
    assert np.abs(np.diff(rates)).max() < 20, "no jump at midnight"


def test_a_burst_begins_and_ends() -> None:
    assert rate_at(burst(10, 50, 60, 30), np.array([0.0, 59, 61, 89, 91])).tolist() == [10, 10, 50, 50, 10]
    assert rate_at(burst(10, 50, 0, 30), np.array([0.0, 29, 31])).tolist() == [50, 50, 10]


def test_a_day_may_offer_nothing_at_night() -> None:
    rates = [point.rate_per_s for point in diurnal(0.5, trough=0.0).points]
    assert min(rates) == pytest.approx(0.0, abs=1e-12)
    assert max(rates) == pytest.approx(0.5, rel=1e-2)
