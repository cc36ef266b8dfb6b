"""Controls for more node groups: their words fit into the room there is."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ndbplan.desktop.analyses.distribution_growth import GrowthControls
from ndbplan.desktop.analyses.simulation.duration_field import DurationField
from ndbplan.desktop.look import theme
from ndbplan.edits.parts import update
from ndbplan.plan.samples import sample_plan


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


@pytest.mark.parametrize("scale", [1.0, 1.15, 1.4])
@pytest.mark.parametrize("seconds", [60.0, 78.0, 4500.0, 93784.0, 30 * 86400.0])
def test_a_duration_is_seen_whole(qtbot: QtBot, qapp: QApplication, scale: float, seconds: float) -> None:
    theme.install(qapp)
    field = DurationField()
    qtbot.addWidget(field)
    field.show()
    font = field.font()
    font.setPixelSize(round(13 * scale))
    field.setFont(font)
    plan = sample_plan("starter")
    workload = plan.workloads[0]
    field.follow(update(plan, workload.id, duration_s=seconds), workload.id)
    assert field.seconds() == seconds
    assert field.fontMetrics().horizontalAdvance(field.text()) <= field.width() - 24
