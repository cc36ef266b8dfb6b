"""A console by its keys."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from ndbplan.desktop.live.console import Console
from ndbplan.train.completion import Offered


def test_what_is_typed_over_the_answers_goes_into_the_line(qtbot) -> None:
    console = Console("ndb_mgm>", lambda _text: Offered("", ()))
    qtbot.addWidget(console)
    console.say("Node 3: started")
    said: list[tuple[str, str]] = []
    console.entered.connect(lambda *line: said.append(line))
    QTest.keyClicks(console.output, "ALL STATUS")
    QTest.keyClick(console.output, Qt.Key.Key_Return)
    assert said == [("ndb_mgm>", "ALL STATUS")]
    # What is copied there is still the answers' own.
    console.output.selectAll()
    QTest.keyClick(console.output, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "Node 3: started"
