from __future__ import annotations

import numpy as np
import pytest

from ndbplan.estimate.constants import Constants, constant_for, term_of
from ndbplan.ndb.constants import all_constants, constant
from ndbplan.plan.plan import EMPTY_PLAN, Calibration


def test_without_calibration_the_engines_constant_counts() -> None:
    assert constant_for(EMPTY_PLAN, "memory_touch_bytes_per_s") is constant("memory_touch_bytes_per_s")


def test_a_calibration_replaces_value_range_and_source() -> None:
    own = Calibration(constant="memory_touch_bytes_per_s", value=5e9, low=4e9, high=6e9, source="our nodes")
    found = constant_for(EMPTY_PLAN.replace(calibrations=(own,)), "memory_touch_bytes_per_s")
    assert (found.value, found.low, found.high) == (5e9, 4e9, 6e9)
    assert found.evidence == "calibration"
    assert "our nodes" in term_of(found).source


def test_a_calibration_without_a_range_is_right_within_ten_percent() -> None:
    own = Calibration(constant="memory_touch_bytes_per_s", value=5e9, source="x")
    found = constant_for(EMPTY_PLAN.replace(calibrations=(own,)), "memory_touch_bytes_per_s")
    assert found.low == pytest.approx(5e9 / 1.1)
    assert found.high == pytest.approx(5e9 * 1.1)


def test_the_last_calibration_counts_and_its_range_holds_its_value() -> None:
    first = Calibration(constant="memory_touch_bytes_per_s", value=5e9, source="x")
    last = Calibration(constant="memory_touch_bytes_per_s", value=7e9, low=8e9, source="y")
    found = constant_for(EMPTY_PLAN.replace(calibrations=(first, last)), "memory_touch_bytes_per_s")
    assert found.low <= found.value == 7e9 <= found.high


def test_a_drawn_world_has_every_constant_somewhere_in_its_range_and_certain() -> None:
    own = Calibration(constant="memory_touch_bytes_per_s", value=5e9, low=4e9, high=6e9, source="our nodes")
    constants = Constants((own,))
    first, second = (constants.drawn(np.random.default_rng(seed)) for seed in (1, 2))
    moved = 0
    for name, known in all_constants().items():
        one, drawn = constants[name], first[name]
        assert one.low <= drawn.value <= one.high
        assert drawn.low == drawn.value == drawn.high or one.low == one.high
        assert (drawn.value == second[name].value) == (one.low == one.high), name
        assert (drawn.unit, drawn.value != known.value) == (one.unit, one.low != one.high)
        moved += one.low != one.high
    assert moved > 100
    assert 4e9 <= first["memory_touch_bytes_per_s"].value <= 6e9
    again = constants.drawn(np.random.default_rng(1))
    assert [c.value for c in again.calibrations] == [c.value for c in first.calibrations]
