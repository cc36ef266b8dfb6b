"""Undo keys reach the plan from a field whose text was taken over, and the text while it was not."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow
from pytestqt.qtbot import QtBot

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.widgets.forms import Form
from ndbplan.desktop.widgets.undo_keys import UndoKeys
from ndbplan.desktop.widgets.units import WHOLE
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def window(qtbot: QtBot) -> Any:
    made = QMainWindow()
    document = Document(sample_plan("starter"), made)
    form = Form(document, ["host-a1"])
    form.line("cores", WHOLE)
    form.refresh()
    document.changed.connect(lambda _before, _after: form.refresh())
    made.setCentralWidget(form)
    for name, keys in (("undo", "Ctrl+Z"), ("redo", "Ctrl+Shift+Z")):
        action = QAction(name, made)
        action.setShortcut(QKeySequence(keys))
        action.triggered.connect(getattr(document.undo_stack, name))
        made.addAction(action)
    UndoKeys(made)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is made)
    made.document, made.line = document, form.findChild(QLineEdit)
    made.line.setFocus()
    yield made
    # A key without Ctrl: else the application goes on as though it were held.
    qtbot.keyClick(made.line, Qt.Key.Key_Home)


def test_after_enter_undo_takes_the_plan_back_and_redo_brings_it(window: Any, qtbot: QtBot) -> None:
    before = window.document.plan
    window.line.selectAll()
    qtbot.keyClicks(window.line, "17")
    qtbot.keyClick(window.line, Qt.Key.Key_Return)
    after = window.document.plan
    assert after.host("host-a1").cores == 17
    qtbot.keyClick(window.line, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.document.plan is before
    assert window.line.text() == str(before.host("host-a1").cores)
    held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(window.line, Qt.Key.Key_Z, held)
    assert window.document.plan is after


def test_while_something_is_typed_undo_takes_back_the_text(window: Any, qtbot: QtBot) -> None:
    shown = window.line.text()
    window.document.edit("other", lambda plan: plan.replace(name="other"))
    plan = window.document.plan
    qtbot.keyClicks(window.line, "9")
    assert window.line.text() != shown
    qtbot.keyClick(window.line, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.line.text() == shown
    assert window.document.plan is plan
