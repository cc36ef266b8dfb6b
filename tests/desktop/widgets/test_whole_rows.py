"""Views of rows end with a whole one, also where rows differ in height."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView
from pytestqt.qtbot import QtBot

from ndbplan.desktop.widgets.whole_rows import Table


def _table(qtbot: QtBot, heights: list[int], room: int) -> Table:
    table = Table()
    qtbot.addWidget(table)
    model = QStandardItemModel(table)
    for row in range(len(heights)):
        model.appendRow([QStandardItem(f"row {row}")])
    table.setModel(model)
    table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    table.horizontalHeader().hide()
    for row, height in enumerate(heights):
        table.verticalHeader().resizeSection(row, height)
    table.resize(300, room)
    table.show()
    qtbot.waitExposed(table)
    return table


@pytest.mark.parametrize("room", [150, 167, 190, 211, 240])
def test_rows_of_several_heights_end_with_a_whole_one(qtbot: QtBot, room: int) -> None:
    table = _table(qtbot, [34, 51, 34, 68, 34, 51, 34, 34, 85, 34], room)
    seen = table.viewport().height()
    ends = [table.rowViewportPosition(r) + table.rowHeight(r) for r in range(table.model().rowCount())]
    assert seen in ends, f"a row is cut at {seen}: {ends}"
    bar = table.verticalScrollBar()
    bar.setValue(bar.maximum())
    assert table.rowViewportPosition(9) + table.rowHeight(9) <= table.viewport().height(), "the last is there"


def test_rows_that_all_have_room_leave_it_as_it_is(qtbot: QtBot) -> None:
    table = _table(qtbot, [34, 51, 34], 300)
    assert table.viewportMargins().bottom() == 0


def test_a_row_that_is_higher_than_the_room_is_seen_as_far_as_may_be(qtbot: QtBot) -> None:
    table = _table(qtbot, [400, 51, 34], 200)
    assert table.viewportMargins().bottom() == 0
