"""Limits are drawn on axes by mouse and keys; what lies outside leaves the widget and its table."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from ndbplan.desktop.dialogs.size_dialog import SizeDialog
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome
from ndbplan.desktop.widgets.brush_axes import Axis, BrushAxes
from ndbplan.plan.samples import sample_plan

LEFT = Qt.MouseButton.LeftButton
ROWS = [(10.0, 900.0), (20.0, 300.0), (40.0, None)]


@pytest.fixture
def axes(qtbot: Any) -> BrushAxes:
    made = BrushAxes("Clusters")
    qtbot.addWidget(made)
    made.resize(400, 168)
    made.show_rows([Axis("Cost", "EUR"), Axis("Restart", "s")], ROWS)
    return made


def _place(axes: BrushAxes, row: int, axis: int, down: float = 0.0) -> QPoint:
    place = axes.place_of(row, axis)
    assert place is not None
    return QPoint(round(place.x()), round(place.y() + down))


def _drag(axes: BrushAxes, begin: QPoint, end: QPoint) -> None:
    QTest.mousePress(axes, LEFT, Qt.KeyboardModifier.NoModifier, begin)
    QTest.mouseMove(axes, end)
    QTest.mouseRelease(axes, LEFT, Qt.KeyboardModifier.NoModifier, end)


def test_a_drag_along_an_axis_keeps_what_it_passes_over(axes: BrushAxes) -> None:
    told: list[frozenset[int]] = []
    axes.brushed.connect(told.append)
    _drag(axes, _place(axes, 0, 0, 4), _place(axes, 1, 0, -4))
    assert told[-1] == axes.within() == {0, 1}
    _drag(axes, _place(axes, 1, 1, 6), _place(axes, 1, 1, -8))
    assert axes.within() == {1}, "every limit counts, and what has no value is within none"
    assert "1 of 3 kept" in axes.accessibleDescription()
    assert "Restart" in axes.accessibleDescription()
    middle = QPoint(round(axes._x(1)), (_place(axes, 0, 1).y() + _place(axes, 1, 1).y()) // 2)
    QTest.mouseClick(axes, LEFT, Qt.KeyboardModifier.NoModifier, middle)
    assert axes.within() == {0, 1}
    axes.free(0)
    axes.limit(1, 0.0, 1000.0)
    assert axes.within() == {0, 1}, "the third has no such value"
    axes.show_rows([Axis("Cost", "EUR"), Axis("Restart", "s")], ROWS)
    assert axes.within() == {0, 1, 2}


def test_a_click_on_a_line_chooses_it(axes: BrushAxes) -> None:
    chosen: list[int] = []
    axes.chosen.connect(chosen.append)
    one, two = _place(axes, 0, 0), _place(axes, 0, 1)
    QTest.mouseClick(axes, LEFT, Qt.KeyboardModifier.NoModifier, (one + two) / 2)
    QTest.mouseClick(axes, LEFT, Qt.KeyboardModifier.NoModifier, _place(axes, 2, 0))
    assert chosen == [0]


def test_keys_move_the_ends_of_a_limit_from_value_to_value(axes: BrushAxes) -> None:
    QTest.keyClick(axes, Qt.Key.Key_Down)
    assert axes.limits == {0: (10.0, 20.0)}
    QTest.keyClick(axes, Qt.Key.Key_Up, Qt.KeyboardModifier.ShiftModifier)
    assert axes.limits == {0: (20.0, 20.0)}
    assert axes.within() == {1}
    QTest.keyClick(axes, Qt.Key.Key_Delete)
    QTest.keyClick(axes, Qt.Key.Key_Right)
    QTest.keyClick(axes, Qt.Key.Key_Down)
    assert axes.limits == {1: (300.0, 300.0)}


def test_answers_outside_the_limits_leave_the_table(qtbot: Any) -> None:
    from ndbplan.advise.sizing.choices import choices, client_host
    from ndbplan.advise.sizing.search import size
    from ndbplan.importing.requirements import requirements_of

    wanted = requirements_of(sample_plan("starter"), answers=3)
    begun = (wanted.requirements, wanted.source, wanted.own)
    sized = size(wanted.requirements, wanted.begun, choices(*begun), client_host(*begun))
    dialog = SizeDialog(Document(sample_plan("starter")))
    qtbot.addWidget(dialog)
    dialog._found(Outcome(value=sized))
    assert dialog.chosen == 0
    names = [axis.name for axis in dialog.axes._axes]
    assert "Cost" not in names, "no price is stated"
    axis = names.index("Fullest disk")
    fills = [row[axis] for row in dialog.axes._rows]
    emptiest, fullest = min(fills), max(fills)
    assert emptiest < fullest
    dialog.axes.limit(axis, 0.0, (emptiest + fullest) / 2)
    shown = {
        dialog.answers.row_of(dialog.answers.model().index(row, 0))
        for row in range(3)
        if not dialog.answers.isRowHidden(row)
    }
    assert shown == {row for row in range(3) if fills[row] < (emptiest + fullest) / 2}
    assert dialog.chosen is None or dialog.chosen in shown
    dialog.axes.chosen.emit(min(shown))
    assert dialog.chosen == min(shown)
    assert "drawn worlds" in dialog.about.text()
