"""Scales of charts: a value stands beside each, and little does not look like much."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyqtgraph as pg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QFontMetrics

from ndbplan.base.units import format_duration, parse_bytes, use_system
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.axes import time_step_s, value_axis
from ndbplan.desktop.widgets.chart_content import Content, Series
from ndbplan.desktop.widgets.chart_readout import AXIS_WIDTH
from ndbplan.desktop.widgets.charts import TimeChart


@given(high=st.floats(1e-3, 1e12), size=st.integers(20, 2000), unit=st.sampled_from(["MiB", "tx/s"]))
def test_a_scale_has_a_value_however_low_it_is(qapp, high: float, size: int, unit: str) -> None:
    ((_, values),) = value_axis(pg, lambda: unit).tickValues(0.0, high, float(size))
    assert any(0 < value <= high for value in values)


@pytest.mark.parametrize("unit", ["MiB", "bytes/s"])
@pytest.mark.parametrize("system", ["decimal", "binary"])
def test_values_beside_a_scale_are_round_in_the_units_that_were_chosen(
    system: str, unit: str, qapp, request
) -> None:
    """A step of 5 MB/s read 4.77 MiB/s, and one of 2 MiB read 2.1 MB."""
    request.addfinalizer(lambda: use_system(""))
    use_system(system)
    axis = value_axis(pg, lambda: unit)
    for high in (9e6, 70e6, 1.4e9):
        ((step, values),) = axis.tickValues(0.0, high, 250.0)
        for value, name in zip(values, axis.tickStrings(values, 1.0, step), strict=True):
            assert parse_bytes(name.removesuffix("/s")) == pytest.approx(value), name


@pytest.mark.parametrize(("most", "top"), [(0.5, 10.0), (40.0, 40.0)])
def test_the_scale_goes_up_to_what_is_asked_at_least(qtbot, most: float, top: float) -> None:
    chart = TimeChart("One")
    qtbot.addWidget(chart)
    series = [Series("one", "#000000", np.array([0.0, most]))]
    chart.show_content(Content(np.array([0.0, 1.0]), 1.0, "MiB", series, least_top=10.0))
    chart.draw()
    assert chart.plot.viewRange()[1][1] == pytest.approx(1.06 * top)


@given(log_span=st.floats(0.5, 8.5), pixels=st.integers(110, 1500))
def test_times_below_an_axis_do_not_run_into_one_another(qapp, log_span: float, pixels: int) -> None:
    """Of a run of three weeks each day was named, over the names of its neighbours."""
    theme.load_fonts()
    metrics, span_s = QFontMetrics(theme.font(11)), 10**log_span
    step_s = time_step_s(span_s, pixels)
    times = [step_s * i for i in range(1, int(span_s / step_s) + 1)]
    for one, two in pairwise(times):
        apart = (two - one) / span_s * pixels
        wide = sum(metrics.horizontalAdvance(format_duration(time)) for time in (one, two)) / 2
        assert wide < apart, (format_duration(one), format_duration(two))


_MOST = {"": 2e11, "ms": 6e4, "MB/s": 1e6, "MiB": 1e14}


@given(share=st.floats(-13, 0), unit=st.sampled_from(sorted(_MOST)))
def test_what_stands_beside_a_scale_has_room(qapp, share: float, unit: str) -> None:
    theme.load_fonts()
    high = max(0.01, _MOST[unit] * 10**share)
    axis = value_axis(pg, lambda: unit)
    ((step, values),) = axis.tickValues(0.0, high, 250.0)
    names, metrics = axis.tickStrings(values, 1.0, step), QFontMetrics(theme.font(10))
    assert len({*names}) == len(names)
    assert max(map(metrics.horizontalAdvance, names)) < AXIS_WIDTH
