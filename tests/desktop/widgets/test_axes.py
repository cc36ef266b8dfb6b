"""Scales of charts: a value stands beside each, and little does not look like much."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.desktop.widgets.axes import value_axis
from ndbplan.desktop.widgets.chart_content import Content, Series
from ndbplan.desktop.widgets.charts import TimeChart


@given(high=st.floats(1e-3, 1e12), size=st.integers(20, 2000), unit=st.sampled_from(["MiB", "tx/s"]))
def test_a_scale_has_a_value_however_low_it_is(qapp, high: float, size: int, unit: str) -> None:
    ((_, values),) = value_axis(pg, lambda: unit).tickValues(0.0, high, float(size))
    assert any(0 < value <= high for value in values)


@pytest.mark.parametrize(("most", "top"), [(0.5, 10.0), (40.0, 40.0)])
def test_the_scale_goes_up_to_what_is_asked_at_least(qtbot, most: float, top: float) -> None:
    chart = TimeChart("One")
    qtbot.addWidget(chart)
    series = [Series("one", "#000000", np.array([0.0, most]))]
    chart.show_content(Content(np.array([0.0, 1.0]), 1.0, "MiB", series, least_top=10.0))
    chart.draw()
    assert chart.plot.viewRange()[1][1] == pytest.approx(1.06 * top)
