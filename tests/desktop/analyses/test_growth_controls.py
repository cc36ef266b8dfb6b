"""Controls for more node groups: their words fit into the room there is."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from ndbplan.desktop.analyses.distribution_growth import GrowthControls
from ndbplan.desktop.look import theme


@pytest.mark.parametrize("width", [500, 509, 600, 800])
def test_no_word_is_cut(qtbot: QtBot, width: int) -> None:
    theme.load_fonts()
    controls = GrowthControls()
    qtbot.addWidget(controls)
    controls.show()
    controls.fit(width)
    controls.resize(width, 40)
    assert controls.add_button.width() >= controls.add_button.sizeHint().width()
    assert controls.width() == width
