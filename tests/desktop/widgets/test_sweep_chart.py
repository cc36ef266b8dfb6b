"""The picture of a sweep: names of values beside one another can be read."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop.look.test_theme import contrast
from ndbplan.desktop.look import paint, theme
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
    axes = {"disk": speeds} if inputs == 1 else {"RedoBuffer": ["16M", "32M"], "disk": speeds}
    chart.show_axes(axes, "Highest load", "")
    for n in range(8):
        chart.add(n, Dot((n,) if inputs == 1 else (0, n), 1.0 + n))
    picture = chart.grab().toImage()
    ground = picture.pixelColor(1, picture.height() - 2)
    # Below the axis with its lowest value.
    rows = range(picture.height() - 39, picture.height() - 22)
    inked = [x for x in range(picture.width()) if any(picture.pixelColor(x, y) != ground for y in rows)]
    names = 1 + sum(b - a > _APART_PX for a, b in pairwise(inked))
    assert 2 <= names <= 8
    assert names in {len(speeds[::step]) for step in range(1, 9)}


@pytest.mark.parametrize("inputs", [1, 2])
def test_the_figure_and_each_input_are_named_with_round_values(
    qtbot: QtBot, qapp: QApplication, inputs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A picture of dots over 16M, 32M and 64M, from 13 223 tx/s to 314 024 tx/s, said not what it shows."""
    theme.install(qapp, "light")
    said: list[str] = []
    monkeypatch.setattr(paint, "text", lambda _painter, _rect, words, *_how: said.append(words))
    chart = SweepChart()
    qtbot.addWidget(chart)
    chart.resize(500, 400)
    axes = {"RedoBuffer": ["16M", "32M", "64M"], "redo.disk.write": ["100 MB/s", "200 MB/s"]}
    chart.show_axes(dict([*axes.items()][:inputs]), "Highest load for an hour", "tx/s")
    for n in range(3):
        chart.add(n, Dot((n, 0)[:inputs], 65_934.0, 13_223.0, 314_024.0))
    chart.grab()
    assert {"Highest load for an hour", *[*axes][:inputs]} <= set(said)
    scale = [words for words in said if words.endswith("tx/s")]
    assert scale == (
        ["100\u2009000 tx/s", "200\u2009000 tx/s", "300\u2009000 tx/s"]
        if inputs == 1
        else ["65\u2009934 tx/s"] * 3
    )


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_figures_are_read_on_every_square(
    qtbot: QtBot, qapp: QApplication, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """White stood on a pale square where two thirds of the highest figure were reached."""
    theme.install(qapp, mode)
    inks: dict[str, str] = {}
    monkeypatch.setattr(
        paint, "text", lambda _painter, rect, words, ink, *_how: inks.update({f"{words}@{rect.x():g}": ink})
    )
    chart = SweepChart()
    qtbot.addWidget(chart)
    chart.resize(900, 200)
    values = [str(n) for n in range(9)]
    chart.show_axes({"RedoBuffer": ["16M"], "DataMemory": values}, "Highest load", "tx/s")
    for n in range(9):
        chart.add(n, Dot((0, n), 100.0 + n))
    squares = chart.grab().toImage()
    told = {words: ink for words, ink in inks.items() if words.split("@")[0].endswith("tx/s")}
    assert len(told) == 9
    for words, ink in told.items():
        ground = squares.pixelColor(round(float(words.split("@")[1])) + 3, 60).name()
        assert contrast(ink, ground) >= 4.3, (words, ink, ground)
