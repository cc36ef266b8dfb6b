"""Derivations: every term, its value and its source can be read, copied and reached by keyboard."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ndbplan.base.quantity import Quantity, Term
from ndbplan.desktop.widgets.explain import Explanation, QuantityLabel, as_text

_TIME = Quantity(
    248.0,
    210.0,
    300.0,
    "s",
    (
        Term("rows scanned", 1_500_000, "", "plan"),
        Term("work per row", 165e-6, "s", "measurement", (Term("clock", 2.33, "GHz", "assumption"),)),
    ),
)


def test_the_text_holds_all_terms_indented(qapp: QApplication) -> None:
    text = as_text(_TIME, "Reorganising")
    assert text.splitlines()[0] == "Reorganising: 4 min 8 s (likely between 3 min 30 s and 5 min)"
    assert "  rows scanned: 1\u2009500\u2009000   [plan]" in text
    assert "    clock: 2.33 GHz   [assumption]" in text


def test_a_label_opens_with_enter_and_escape_closes(qtbot: QtBot) -> None:
    label = QuantityLabel("Reorganising", _TIME)
    qtbot.addWidget(label)
    label.show()
    assert label.text() == "4 min 8 s"
    assert "Reorganising" in label.accessibleName()
    qtbot.keyClick(label, Qt.Key.Key_Return)
    popover = label.findChild(Explanation)
    assert popover is not None
    assert popover.isVisible()
    assert popover.tree.topLevelItemCount() == 2
    item = popover.tree.topLevelItem(1)
    assert item is not None
    assert [item.text(i) for i in range(3)] == ["work per row", "0.165 ms", "measurement"]
    assert item.child(0).text(0) == "clock"
    popover.copy()
    assert QGuiApplication.clipboard().text() == as_text(_TIME, "Reorganising")
    qtbot.keyClick(popover, Qt.Key.Key_Escape)
    assert not popover.isVisible()


def test_an_unknown_number_opens_nothing(qtbot: QtBot) -> None:
    label = QuantityLabel("Time to full", None)
    qtbot.addWidget(label)
    label.open()
    assert label.text() == "–"
    assert label.findChild(Explanation) is None


def test_a_click_through_the_window_opens_it(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    label = QuantityLabel("Reorganising", _TIME)
    QVBoxLayout(window).addWidget(label)
    window.resize(200, 80)
    window.show()
    QTest.mouseClick(
        window.windowHandle(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        label.mapTo(window, label.rect().center()),
    )
    popover = label.findChild(Explanation)
    assert popover is not None
    popover.close()
