"""Assumed lengths are seen in their fields, and those that decide are named where the memory is shown."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QLineEdit, QPushButton, QWidget

from ndbplan.base.units import use_system
from ndbplan.desktop.document.preferences import UNITS, Preferences
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.widgets.fields import LineField
from ndbplan.desktop.widgets.grid import GridModel
from ndbplan.desktop.widgets.units import BYTES
from ndbplan.edits import parts as edits
from ndbplan.edits.offers import make_table
from ndbplan.plan.tables import Column

LEFT = Qt.MouseButton.LeftButton
WAIT_MS = 20_000


@pytest.fixture
def window(qtbot, qapp, tmp_path):
    theme.install(qapp, "light")
    made = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    made.files.ask_unsaved = lambda: "discard"
    made.resize(1366, 768)
    made.show()
    made.finish_building()
    made.steps.do("hosts")
    table = make_table(made.document.plan)
    columns = (table.columns[0], Column(name="doc", type="json"), Column(name="n", type="int"))
    table = table.model_copy(update={"rows": 20_000_000, "assumed": (), "columns": columns})
    made.document.edit("Add a table", lambda plan: edits.add(plan, table))
    yield made
    made.close()
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def average_bytes(window: MainWindow) -> tuple[GridModel, int]:
    (table,) = window.document.plan.tables
    window.selection.set((table.id,))
    models = [m for m in window.panels.inspector.findChildren(GridModel) if m.cells[0].name == "name"]
    model = next(m for m in models if "average_bytes" in [cell.name for cell in m.cells])
    return model, [cell.name for cell in model.cells].index("average_bytes")


def test_an_assumed_length_is_shown_as_assumed_and_typed_over(window) -> None:
    model, place = average_bytes(window)
    doc = model.index(1, place)
    assert model.data(doc) == "1 000 assumed"
    assert model.data(doc, Qt.ItemDataRole.EditRole) == "", "who types begins with nothing"
    assert model.data(doc, Qt.ItemDataRole.ForegroundRole).name() == theme.tokens().warning.lower()
    assert "type what you measured" in model.data(doc, Qt.ItemDataRole.ToolTipRole)
    assert model.data(model.index(0, place)) == "", "a number always has its bytes"
    assert model.setData(doc, "200")
    model.refresh()
    assert model.data(doc) == "200"
    assert window.document.plan.tables[0].column("doc").average_bytes == 200


def test_the_memory_says_what_rests_on_one_assumption_and_leads_there(window, qtbot) -> None:
    panel = window.panels.analyses.show_tab("Memory")
    qtbot.waitUntil(
        lambda: "rests on the mean length of test.t1.doc" in panel.tighten.words.toolTip(), timeout=WAIT_MS
    )
    height = panel.tighten.height()
    (button,) = panel.tighten.findChildren(QPushButton)
    assert button.text() == "test.t1.doc"
    window.selection.set(())
    qtbot.mouseClick(button, LEFT)
    assert window.selection.ids == (window.document.plan.tables[0].id,)
    model, place = average_bytes(window)
    model.setData(model.index(1, place), "200")
    qtbot.waitUntil(lambda: "No single assumption" in panel.tighten.words.text(), timeout=WAIT_MS)
    assert panel.tighten.height() == height, "nothing moves"


def test_the_units_of_bytes_are_chosen_once_and_change_everywhere(window, tmp_path, request) -> None:
    request.addfinalizer(lambda: use_system(""))
    host = window.document.plan.hosts[0]
    window.selection.set((host.id,))

    def shown() -> tuple[str, str, str]:
        fields = window.panels.inspector.findChildren(LineField)
        memory = [f for f in fields if f.label == "Memory"][-1]
        card = window.canvas.canvas_scene.item_of(host.id).card
        return memory.line.text(), card.subtitle, window.status.summary.text()

    before = shown()
    window.actions_table["units_binary"].trigger()
    assert window.preferences.get(UNITS) == "binary"
    assert window.actions_table["units_binary"].isChecked()
    assert not window.actions_table["units_usual"].isChecked()
    window.actions_table["units_decimal"].trigger()
    assert all(one != other for one, other in zip(shown(), before, strict=True))
    window.actions_table["units_usual"].trigger()
    assert shown() == before
    window.actions_table["units_binary"].trigger()
    assert Preferences(tmp_path / "preferences.json").get(UNITS) == "binary"


@pytest.mark.parametrize(("system", "other"), [("binary", r"[KMGT]B\b"), ("decimal", r"[KMGT]iB\b")])
def test_nothing_is_read_in_other_units_than_those_chosen(
    system: str, other: str, window, qtbot, request
) -> None:
    """Fields, palette, title and problems kept the usual units, or said 3 200 000 000 000 B."""
    request.addfinalizer(lambda: use_system(""))
    disk = window.document.plan.hosts[0].disks[0]
    window.selection.set((disk.id,))
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=WAIT_MS)
    window.panels.analyses.show_tab("Problems")
    window.actions_table[f"units_{system}"].trigger()
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=WAIT_MS)
    texts = [entry.offer.text for entry in window.palette_panel.entries.values()]
    for widget in (window.panels.inspector, window.panels.analyses.stack.currentWidget(), window.status):
        shown = [one for one in widget.findChildren(QWidget) if one.isVisible()]
        texts += [one.text() for one in shown if isinstance(one, QLabel | QLineEdit | QAbstractButton)]
    assert sum(bool(re.search(r"\d[\d.]* [KMGT]i?B", text)) for text in texts) > 8
    assert [text for text in texts if re.search(other, text) or re.search(r"\d B\b", text)] == []
    field = next(f for f in window.panels.inspector.findChildren(LineField) if f.label == "Capacity")
    assert BYTES.show(disk.capacity_bytes) in (field.line.text(), field.line.toolTip().split("\n")[-1][:-9])
    # Who presses Enter in a field that was read changes nothing.
    field.line.setFocus()
    QTest.keyClick(field.line, Qt.Key.Key_Return)
    assert window.document.plan.by_id[disk.id].capacity_bytes == disk.capacity_bytes
