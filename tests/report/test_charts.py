"""Scales of charts: round steps, few of them, whatever the range."""

from __future__ import annotations

import pytest

from ndbplan.report.charts import ticks

DAY = 86400.0
SPANS = [
    *(10.0**power * times for power in range(-5, 7) for times in (1, 1.5, 2.2, 4, 6.1, 9.5)),
    *(days * DAY for days in (20, 41.9, 42, 42.1, 83, 85, 400, 3650)),
]


@pytest.mark.parametrize("unit", ["s", "tx/s"])
def test_three_to_seven_numbers_a_step_apart_span_a_range(unit: str) -> None:
    for span, low in ((one, low) for one in SPANS for low in (0.0, one / 3)):
        found = ticks(low, low + span, unit)
        assert 3 <= len(found) <= 7
        step = found[1] - found[0]
        assert found == pytest.approx([found[0] + i * step for i in range(len(found))])
        # Nothing is left out at either end.
        assert low - 1e-9 * span <= found[0] < low + step
        assert low + span - step < found[-1] <= low + span + 1e-9 * span
        assert found[0] / step == pytest.approx(round(found[0] / step))


def test_months_are_told_in_weeks() -> None:
    assert ticks(0.0, 42 * DAY, "s") == [week * 7 * DAY for week in range(7)]
    assert ticks(0.0, 43 * DAY, "s") == [week * 7 * DAY for week in (0, 2, 4, 6)]
