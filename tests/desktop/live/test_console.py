"""A console by its keys."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QTextCursor
from PySide6.QtTest import QTest

from ndbplan.desktop.live.console import Console, Log
from ndbplan.plan.samples import sample_plan
from ndbplan.train.completion import Offered
from ndbplan.train.consoles import Consoles
from ndbplan.train.live import LiveCluster
from ndbplan.train.seat import Seat


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


def test_the_end_of_each_line_of_the_log_is_in_sight_however_narrow_it_is(qtbot) -> None:
    """At 1366 pixels it said when and who, and of what happened `Nod`."""
    log = Log()
    qtbot.addWidget(log)
    log.resize(430, 160)
    log.show()
    lines = [f"2026-01-05 08:00:{i:02} [MgmtSrvr] ALERT    -- Node 3: Forced shutdown {i}" for i in range(30)]
    for line in lines:
        log.take((line,), is_other=False)
    assert log.horizontalScrollBar().maximum() == 0
    assert log.verticalScrollBar().value() == log.verticalScrollBar().maximum()
    log.moveCursor(QTextCursor.MoveOperation.End)
    assert log.viewport().rect().contains(log.cursorRect())


def test_a_log_that_is_another_one_is_seen_at_its_end(qtbot) -> None:
    log = Log()
    qtbot.addWidget(log)
    log.resize(300, 120)
    log.show()
    for is_other in (False, True):
        log.take(
            tuple(f"2026-01-05 08:00:{i:02} [MgmtSrvr] INFO {'x' * 200}" for i in range(30)),
            is_other=is_other,
        )
        assert log.verticalScrollBar().value() == log.verticalScrollBar().maximum() > 0


@pytest.mark.parametrize("prompt", ["ndb_mgm>", "mysql>", "mysql3>", "!", "{host}$"])
def test_an_empty_console_says_a_line_that_can_be_typed(qtbot, prompt: str) -> None:
    plan = sample_plan("redo-overload")
    prompt = prompt.format(host=plan.host(plan.data_nodes[0].host_id).hostname)
    console = Console(prompt, lambda _text: Offered("", ()))
    qtbot.addWidget(console)
    line, _, more = console.input.placeholderText().partition(" · ")
    assert "Tab" in more
    seat = Seat(Consoles(LiveCluster.begin(plan.replace(ndb_version="8.4.8"), hours=0.1)))
    seat.answer("! wait 60s")
    answer = seat.answer(f"{prompt} {line}")
    assert answer
    assert not any(word in answer.lower() for word in ("error", "unknown", "invalid", "not found", "refused"))
