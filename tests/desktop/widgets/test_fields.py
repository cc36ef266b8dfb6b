"""Fields: what is typed becomes one undoable edit, or one line about what is wrong."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.widgets.fields import MIXED, ChoiceField, FlagField, LineField
from ndbplan.desktop.widgets.forms import Form
from ndbplan.desktop.widgets.units import BYTES_PER_S, MEMORY, TEXT, WHOLE
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def document() -> Document:
    return Document(sample_plan("redo-overload"))


def _form(qtbot: QtBot, document: Document, *ids: str) -> Form:
    form = Form(document, ids)
    qtbot.addWidget(form)
    document.changed.connect(lambda _before, _after: form.refresh())
    form.show()
    return form


def _type(qtbot: QtBot, field: LineField, text: str) -> None:
    field.line.setFocus()
    field.line.selectAll()
    qtbot.keyClicks(field.line, text)
    qtbot.keyClick(field.line, Qt.Key.Key_Return)


def test_enter_makes_one_undoable_edit(qtbot: QtBot, document: Document) -> None:
    form = _form(qtbot, document, "data1")
    memory = form.line("memory_bytes", MEMORY)
    form.refresh()
    assert memory.line.text() == "8 GiB"
    _type(qtbot, memory, "64 GiB")
    assert document.plan.host("data1").memory_bytes == 64 * 2**30
    assert document.undo_stack.count() == 1
    assert document.undo_stack.undoText() == "Set Memory of data1"
    document.undo_stack.undo()
    assert memory.line.text() == "8 GiB"


def test_leaving_without_typing_changes_nothing(qtbot: QtBot, document: Document) -> None:
    form = _form(qtbot, document, "data1")
    memory = form.line("memory_bytes", MEMORY)
    form.refresh()
    qtbot.keyClick(memory.line, Qt.Key.Key_Return)
    memory.line.clearFocus()
    assert document.undo_stack.count() == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [("lots", "is not a size in bytes"), ("0", "must be above 0"), ("", "cannot be empty")],
)
def test_what_is_wrong_is_said_below_and_the_plan_stays(
    qtbot: QtBot, document: Document, text: str, said: str
) -> None:
    form = _form(qtbot, document, "data1")
    memory = form.line("memory_bytes", MEMORY)
    form.refresh()
    before = document.plan
    memory.line.setFocus()
    memory.line.setText(text)
    qtbot.keyClick(memory.line, Qt.Key.Key_Return)
    assert document.plan is before
    assert said in memory.error.text()
    assert not memory.error.isHidden()
    assert memory.line.property("invalid") is True
    qtbot.keyClick(memory.line, Qt.Key.Key_Escape)
    assert memory.line.text() == "8 GiB"
    assert memory.error.isHidden()


def test_assumed_is_shown_and_goes_when_confirmed_or_changed(qtbot: QtBot, document: Document) -> None:
    disk = document.plan.by_id["data1-c0d1"]
    assert {"random_read_iops", "sequential_read_bytes_per_s"} <= set(disk.assumed)
    form = _form(qtbot, document, disk.id)
    iops = form.line("random_read_iops", WHOLE)
    speed = form.line("sequential_read_bytes_per_s", BYTES_PER_S)
    form.refresh()
    assert not iops.assumed.isHidden()
    iops.assumed.click()
    assert iops.assumed.isHidden()
    assert "random_read_iops" not in document.plan.by_id[disk.id].assumed
    assert document.plan.by_id[disk.id].random_read_iops == disk.random_read_iops
    _type(qtbot, speed, "500 MB/s")
    assert speed.assumed.isHidden()
    assert document.plan.by_id[disk.id].sequential_read_bytes_per_s == 500e6
    assert "sequential_read_bytes_per_s" not in document.plan.by_id[disk.id].assumed


def test_several_objects_change_together_in_one_step(qtbot: QtBot, document: Document) -> None:
    document.edit("x", lambda plan: _with_cores(plan, "data1", 4))
    form = _form(qtbot, document, "data1", "data2")
    cores = form.line("cores", WHOLE)
    form.refresh()
    assert cores.line.text() == ""
    assert cores.line.placeholderText() == "several values"
    _type(qtbot, cores, "32")
    assert {document.plan.host(i).cores for i in ("data1", "data2")} == {32}
    assert document.undo_stack.count() == 2
    assert cores.line.text() == "32"


def _with_cores(plan: Plan, host_id: str, cores: int) -> Plan:
    from ndbplan.edits import parts as edits

    return edits.update(plan, host_id, cores=cores)


def test_a_choice_that_is_refused_goes_back(qtbot: QtBot, document: Document) -> None:
    from ndbplan.base.errors import UserError

    taken: list[object] = []

    def commit(value: object) -> None:
        if value == "b":
            raise UserError("b cannot be", fix="take a")
        taken.append(value)

    field = ChoiceField("Letter", [("a", "A"), ("b", "B"), ("c", "C")], commit)
    qtbot.addWidget(field)
    field.show_value("a")
    field.box.setCurrentIndex(1)
    field.box.activated.emit(1)
    assert field.box.currentText() == "A"
    assert "b cannot be" in field.error.text()
    field.box.setCurrentIndex(2)
    field.box.activated.emit(2)
    assert taken == ["c"]
    assert field.error.isHidden()


def test_a_choice_of_several_objects_says_that_they_differ(qtbot: QtBot) -> None:
    field = ChoiceField("Letter", [("a", "A")], lambda _value: True)
    qtbot.addWidget(field.box)
    field.show_value(MIXED)
    said = field.box.grab().toImage()
    field.box.setPlaceholderText("")
    assert field.box.grab().toImage() != said


def test_a_flag_is_three_states_only_while_mixed(qtbot: QtBot) -> None:
    taken: list[object] = []
    field = FlagField("Logged", taken.append)
    qtbot.addWidget(field)
    field.show_value(MIXED)
    assert field.check.checkState() is Qt.CheckState.PartiallyChecked
    field.check.click()
    assert taken in ([True], [False])
    assert not field.check.isTristate()


def test_every_editor_has_a_name_for_screen_readers(qtbot: QtBot, document: Document) -> None:
    form = _form(qtbot, document, "data1")
    form.line("hostname", TEXT)
    form.choice("location_id", [(None, "none")])
    form.refresh()
    editors = [
        w
        for w in form.findChildren(QWidget)
        if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.window() is form
    ]
    assert len(editors) >= 2
    assert [w for w in editors if not w.accessibleName()] == []


def test_who_has_pressed_enter_goes_on_behind_what_was_typed(qtbot: QtBot, document: Document) -> None:
    form = _form(qtbot, document, "data1")
    memory, other = form.line("memory_bytes", MEMORY), form.line("cores", WHOLE)
    form.refresh()
    form.activateWindow()
    memory.line.setFocus()
    qtbot.waitUntil(memory.line.hasFocus)
    _type(qtbot, memory, "64 GiB")
    assert memory.line.text() == "64 GiB"
    assert memory.line.cursorPosition() == len("64 GiB"), "the caret stands where typing goes on"
    other.line.setFocus()
    document.undo_stack.undo()
    assert memory.line.cursorPosition() == 0, "of a value that nobody types the beginning is seen"
