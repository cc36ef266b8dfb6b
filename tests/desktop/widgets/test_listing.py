"""Lists: rows are there as a whole, whatever height is left to them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from ndbplan.desktop.widgets.listing import Rows


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
