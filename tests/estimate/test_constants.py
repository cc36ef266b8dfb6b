from __future__ import annotations

import pytest

from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.ndb.constants import constant
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
