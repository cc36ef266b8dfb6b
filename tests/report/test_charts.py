"""Scales of charts: round steps, few of them, whatever the range."""

from __future__ import annotations

import re

import pytest

from ndbplan.report.charts import svg_of, ticks
from ndbplan.report.document import LineChart, Mark, Run, Series
from ndbplan.report.svg import WIDTH

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


def test_no_word_of_a_scale_is_cut_at_the_edge() -> None:
    """The last step stands at the very end; a picture in a PDF ends there."""
    ends = (0.0, 24.0)
    series = Series("node 1", "", (0, 1), ends, (1.0, 2.0))
    mark = Mark(23.5, Run("error 1221 comes"))
    drawn = svg_of(LineChart("Growth", "months", "", (series,), (mark,)))
    words = re.findall(r'<text x="([\d.]+)" y="[\d.]+" class="([\w ]+)"[^>]*>([^<]*)<', drawn)
    assert {"24 months", "error 1221 comes"} <= {text for _, _, text in words}
    for x, kind, text in words:
        share = 0.0 if "end" in kind else 0.5 if "middle" in kind else 1.0
        # Inter has 0.55 of its size for a letter or a digit on average, at 10.5 px.
        assert float(x) + share * len(text) * 0.55 * 10.5 <= WIDTH, text
