"""A list to choose from with little room: entries can be told apart, and the tip says the whole."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.combo_box import ComboBox

NAMES = [f"data-node-of-the-billing-cluster-{n:03d} / {disk}" for n in (1, 2) for disk in ("nvme0", "nvme1")]


def test_long_names_that_differ_at_their_end_are_told_apart(qtbot: QtBot, qapp: QApplication) -> None:
    theme.install(qapp)
    holder = QWidget()
    qtbot.addWidget(holder)
    row = QHBoxLayout(holder)
    box = ComboBox(Qt.TextElideMode.ElideLeft)
    box.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
    box.addItems(NAMES)
    row.addWidget(QLabel("Disk writes"))
    row.addWidget(box)
    holder.show()
    holder.resize(290, 50)
    row.activate()
    assert holder.width() == 290, "the longest name holds the window open"
    seen = []
    for entry in range(box.count()):
        box.setCurrentIndex(entry)
        seen.append(box.shown())
    assert len(set(seen)) == len(NAMES)
    assert seen[0].startswith("…")
    at = box.mapToGlobal(QPoint(5, 5))
    QApplication.sendEvent(box, QHelpEvent(QEvent.Type.ToolTip, QPoint(5, 5), at))
    assert QToolTip.text() == NAMES[-1]
    QToolTip.hideText()


def test_what_is_too_long_is_told_shorter_and_whole_where_there_is_room(
    qtbot: QtBot, qapp: QApplication
) -> None:
    theme.install(qapp)
    box = ComboBox(shorter=lambda name: name.rpartition(".")[2])
    qtbot.addWidget(box)
    box.addItems(["billing.customer", "billing.order_line"])
    box.show()
    whole = box.whole_width()
    for entry, short in enumerate(("customer", "order_line")):
        box.setCurrentIndex(entry)
        box.resize(whole, box.height())
        assert box.shown() == box.currentText()
        box.resize(whole - 40, box.height())
        assert box.shown() == short


@pytest.mark.parametrize("look", ["", "small"])
@pytest.mark.parametrize("entries", [2, 9, 16])
def test_a_list_that_opens_shows_all_of_its_entries_and_leaves_the_field_in_sight(
    look: str, entries: int, qtbot: QtBot, qapp: QApplication
) -> None:
    """The last entry of small ones lay behind an arrow, and the list over the field that it belongs to."""
    theme.install(qapp)
    box = ComboBox()
    qtbot.addWidget(box)
    box.setProperty("look", look)
    box.addItems([f"a long name that says whose table it is {n}" for n in range(entries)])
    box.show()
    box.resize(80, box.height())
    box.showPopup()
    view = box.view()
    assert view.viewport().width() >= view.sizeHintForColumn(0), "no entry is cut"
    assert view.verticalScrollBar().maximum() == 0
    assert view.viewport().rect().contains(view.visualRect(box.model().index(entries - 1, 0)).center())
    assert view.mapToGlobal(QPoint(0, 0)).y() >= box.mapToGlobal(QPoint(0, box.height())).y() - 1
    box.hidePopup()
