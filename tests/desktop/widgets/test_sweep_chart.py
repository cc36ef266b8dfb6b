"""The picture of a sweep: names of values beside one another can be read."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.sweep_chart import Dot, SweepChart

_APART_PX = 7
"""More than between two words of a name."""


@pytest.mark.parametrize("width", [300, 460, 900])
@pytest.mark.parametrize("inputs", [1, 2])
def test_names_of_values_do_not_run_into_one_another(
    qtbot: QtBot, qapp: QApplication, width: int, inputs: int
) -> None:
    """Eight speeds of a disk were one word of 56 letters in a window of 1280 pixels."""
    theme.install(qapp, "light")
    chart = SweepChart()
    qtbot.addWidget(chart)
    chart.resize(width, 300)
    speeds = [f"{100 * n} MB/s" for n in range(1, 9)]
    chart.show_axes([speeds] if inputs == 1 else [["16M", "32M"], speeds], "")
    for n in range(8):
        chart.add(n, Dot((n,) if inputs == 1 else (0, n), 1.0 + n))
    picture = chart.grab().toImage()
    ground = picture.pixelColor(1, picture.height() - 2)
    # Below the axis with its lowest value.
    rows = range(picture.height() - 31, picture.height() - 14)
    inked = [x for x in range(picture.width()) if any(picture.pixelColor(x, y) != ground for y in rows)]
    names = 1 + sum(b - a > _APART_PX for a, b in pairwise(inked))
    assert 2 <= names <= 8
    assert names in {len(speeds[::step]) for step in range(1, 9)}
