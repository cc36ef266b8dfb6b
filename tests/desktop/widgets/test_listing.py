"""Rows are there as a whole, whatever height is left to them, and below the names of their columns."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QRect, QStringListModel
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionHeader, QStyleOptionViewItem
from pytestqt.qtbot import QtBot

from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.whole_rows import Lines, Rows, Table, Tree


@pytest.mark.parametrize("height", [*range(100, 130), 900])
def test_no_row_is_cut_in_half(qtbot: QtBot, height: int) -> None:
    """The list of a report's sections ended in the upper half of a check box."""
    rows = Rows()
    qtbot.addWidget(rows)
    rows.addItems([f"Section {n}" for n in range(16)])
    rows.resize(200, height)
    rows.show()
    port = rows.viewport()
    last = rows.itemAt(QPoint(20, port.height() - 1)) or rows.item(15)
    assert rows.visualItemRect(last).bottom() < port.height()
    # No room is lost but for a part of a row.
    assert port.height() > min(height, 400) - 2 * rows.sizeHintForRow(0), (
        "no room is lost but for a part of a row"
    )


def _table() -> Table:
    table = Table()
    table.setModel(QStringListModel([f"Row {n}" for n in range(40)], table))
    return table


def _tree() -> Tree:
    tree = Tree()
    tree.setHeaderHidden(True)
    tree.setModel(QStringListModel([f"Row {n}" for n in range(40)], tree))
    return tree


@pytest.mark.parametrize("make", [_table, _tree])
@pytest.mark.parametrize("height", [*range(100, 131, 5), 2000])
def test_tables_and_trees_end_with_a_whole_row(
    qtbot: QtBot, make: Callable[[], Table | Tree], height: int
) -> None:
    """Under the last whole failure stood the tops of the letters of the next one."""
    view = make()
    qtbot.addWidget(view)
    view.resize(200, height)
    view.show()
    bar = view.verticalScrollBar()
    for place in (0, 3, bar.maximum()):
        bar.setValue(place)
        port = view.viewport()
        last = view.indexAt(QPoint(20, port.height() - 1)) or view.model().index(39, 0)
        if last.isValid():
            assert view.visualRect(last).bottom() < port.height()
    row = view.visualRect(view.model().index(bar.maximum(), 0)).height()
    assert view.viewport().height() > min(height, 400) - 3 * row - 10
    assert view.visualRect(view.model().index(39, 0)).bottom() < view.viewport().height(), (
        "the last is reached"
    )


def test_names_of_columns_stand_above_what_is_in_them(qtbot: QtBot, qapp: QApplication) -> None:
    """Texts of cells began three pixels beside the names of their columns, and numbers ended five."""
    theme.install(qapp, "light")
    table = _table()
    qtbot.addWidget(table)
    table.show()
    option = QStyleOptionViewItem()
    table.initViewItemOption(option)
    option.rect, option.text = table.visualRect(table.model().index(0, 0)), "Row 0"
    option.features |= QStyleOptionViewItem.ViewItemFeature.HasDisplay
    style, header = table.style(), table.horizontalHeader()
    words = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, table)
    name = QStyleOptionHeader()
    header.initStyleOption(name)
    name.rect = QRect(0, 0, header.sectionSize(0), header.height())
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, table) + 1
    begins = style.subElementRect(QStyle.SubElement.SE_HeaderLabel, name, header).left()
    assert words.left() + margin == begins


@pytest.mark.parametrize("height", range(120, 200, 13))
def test_a_text_ends_with_a_whole_line(height: int, qtbot: QtBot) -> None:
    """A presentation cut `FileSystemPathDD` in its middle."""
    text = Lines()
    qtbot.addWidget(text)
    text.setPlainText("\n".join(f"{n} {'wide ' * 60}" for n in range(90)))
    text.resize(300, height)
    text.show()
    assert text.horizontalScrollBar().isVisible()
    bar = text.verticalScrollBar()
    for at in (0, 30, bar.maximum()):
        bar.setValue(at)
        bottom, block = text.viewport().height(), text.firstVisibleBlock()
        while block.isValid():
            line = text.blockBoundingGeometry(block).translated(text.contentOffset())
            # Letters do not reach into the first and last pixels of their line.
            assert not line.top() + 4 < bottom < line.bottom() - 4, (at, block.text()[:3])
            block = block.next()
