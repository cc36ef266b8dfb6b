"""Tables of numbers show their columns whole."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize

from ndbplan.desktop.widgets import numbers

_NAMES = ("Table", "Rows", "Total", "Fixed", "Variable", "Hash index")


@pytest.fixture
def table(qtbot) -> numbers.NumbersTable:
    made = numbers.NumbersTable("Memory", _NAMES)
    qtbot.addWidget(made)
    made.show_rows([[numbers.text("shop.order_line"), *(numbers.size(10**n) for n in range(9, 14))]])
    made.resize(300, 120)
    made.show()
    return made


def _cut(table: numbers.NumbersTable) -> list[str]:
    """The columns that are seen in part."""
    room, head = table.viewport().width(), table.horizontalHeader()
    ends = [(head.sectionViewportPosition(c), table.columnWidth(c)) for c in range(len(_NAMES))]
    return [name for name, (x, width) in zip(_NAMES, ends, strict=True) if x < room < x + width]


@pytest.mark.parametrize("width", [180, 300, 333, 420, 900])
def test_a_column_is_seen_whole_or_not_at_all(qtbot, table: numbers.NumbersTable, width: int) -> None:
    table.resize(QSize(width, 120))
    assert _cut(table) == []
    assert table.columnWidth(0) >= table.sizeHintForColumn(0) - 8


def test_columns_that_were_dragged_stay_so(qtbot, table: numbers.NumbersTable) -> None:
    table.horizontalHeader().resizeSection(1, 111)
    table.resize(500, 120)
    assert table.columnWidth(1) == 111


def test_no_part_of_an_ellipsis_stands_at_the_edge(qtbot, table: numbers.NumbersTable) -> None:
    """A dot of it stood beside each row, where a column had a few pixels."""
    table.show_rows([[numbers.text("shop"), *(numbers.size(10**9) for _ in range(5))]])
    room, head = table.viewport().width(), table.horizontalHeader()
    head.resizeSection(0, room - 14)
    table.clearSelection()
    edge = table.viewport().grab().toImage()
    colours = {edge.pixel(x, y) for x in range(room - 13, room) for y in range(4, 20)}
    assert len(colours) == 1


def test_long_names_are_whole_before_the_last_column_stretches(qtbot, table: numbers.NumbersTable) -> None:
    """A change stood cut in its middle, and half of the table was empty."""
    name = "Give the hosts of data nodes 8 times the cores"
    table.show_rows([[numbers.text(name), numbers.text("still the LDM threads")]], ["Change", "Why"])
    table.resize(QSize(900, 120))
    assert table.columnWidth(0) >= table.room_for([name])
    assert table.horizontalScrollBar().maximum() == 0
