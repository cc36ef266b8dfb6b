"""Controls for more node groups: their words fit into the room there is."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ndbplan.desktop.analyses.distribution_growth import GrowthControls
from ndbplan.desktop.look import theme


@pytest.mark.parametrize("width", [500, 509, 600, 800])
def test_no_word_is_cut(qtbot: QtBot, qapp: QApplication, width: int) -> None:
    theme.install(qapp)
    controls = GrowthControls()
    qtbot.addWidget(controls)
    controls.show()
    controls.fit(width)
    row = controls.layout()
    assert row is not None
    # A window keeps the least width of its last words until its layout is looked at.
    row.activate()
    controls.resize(width, 40)
    assert controls.add_button.width() >= controls.add_button.sizeHint().width()
    assert controls.width() == width
