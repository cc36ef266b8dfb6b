"""What a person does to the plan, whichever view they do it in."""

from __future__ import annotations

import json

import pytest
from PySide6.QtGui import QGuiApplication

from ndbplan.describe.titles import display_name
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.selection import Selection
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def editor(qtbot):
    document = Document(sample_plan("starter"))
    made = Editor(document, Selection(document, document), document)
    made.errors = []
    made.failed.connect(made.errors.append)
    return made


def test_delete_takes_the_selection_and_undo_brings_the_identical_plan_back(editor) -> None:
    before = editor.plan
    editor.selection.set(["host-a1"])
    assert editor.delete()
    assert "host-a1" not in editor.plan.by_id
    assert editor.selection.ids == (before.host("host-a1").location_id,)
    editor.document.undo_stack.undo()
    assert editor.plan is before


def test_deleting_goes_on_with_what_held_it(editor) -> None:
    disk = editor.plan.host("host-a1").disks[1].id
    editor.selection.set([disk])
    editor.delete()
    assert editor.selection.ids == ("host-a1",)
    editor.selection.set([editor.plan.locations[0].id])
    editor.delete()
    assert editor.selection.ids == ()
    assert not editor.delete()


def test_copy_and_paste_bring_a_host_with_everything_under_free_names(editor) -> None:
    before = editor.plan
    editor.selection.set(["host-a1"])
    assert editor.copy()
    assert json.loads(QGuiApplication.clipboard().text())["kind"] == "ndbplan-fragment"
    assert editor.paste()
    new = editor.plan.by_id[editor.selection.current]
    old = before.host("host-a1")
    assert new.id != old.id
    assert new.cores == old.cores
    assert len(new.disks) == len(old.disks)
    assert len(editor.plan.data_nodes) == len(before.data_nodes) + 1
    assert [p.id for p in before.processes] == [p.id for p in editor.plan.processes][: len(before.processes)]
    editor.document.undo_stack.undo()
    assert editor.plan is before


def test_pasting_into_another_window(editor, qtbot) -> None:
    editor.selection.set(["host-a1", "host-b1"])
    editor.copy()
    other = Editor(Document(EMPTY_PLAN), Selection(Document(EMPTY_PLAN)))
    assert other.paste()
    assert [h.hostname for h in other.plan.hosts] == ["host-a1", "host-b1"]


def test_cut_is_one_step(editor) -> None:
    before = editor.plan
    editor.selection.set([editor.plan.data_nodes[1].id])
    assert editor.cut()
    assert editor.document.undo_stack.count() == 1
    editor.document.undo_stack.undo()
    assert editor.plan is before


def test_a_loose_node_is_pasted_onto_the_selected_host_or_says_what_to_select(editor) -> None:
    editor.selection.set([editor.plan.sql_nodes[0].id])
    editor.copy()
    editor.selection.set(["host-b1"])
    assert editor.paste()
    assert editor.plan.by_id[editor.selection.current].host_id == "host-b1"
    editor.selection.clear()
    plan = editor.plan
    assert not editor.paste()
    assert editor.plan is plan
    assert "select the host" in editor.errors[-1]


def test_pasting_anything_else_says_so(editor) -> None:
    for text in ("hello", "{}", '{"kind": "ndbplan-fragment", "hosts": 3}', "[" * 5000):
        QGuiApplication.clipboard().setText(text)
        plan = editor.plan
        assert not editor.paste()
        assert editor.plan is plan
    assert len(editor.errors) == 4


def test_duplicate_leaves_the_clipboard_alone(editor) -> None:
    QGuiApplication.clipboard().setText("mine")
    editor.selection.set(["app-a1"])
    assert editor.duplicate()
    assert QGuiApplication.clipboard().text() == "mine"
    assert len(editor.plan.hosts) == 6


def test_a_palette_entry_is_added_to_what_is_selected(editor) -> None:
    editor.selection.set(["host-b1"])
    assert editor.add_beside_selection("nvme")
    disk = editor.plan.by_id[editor.selection.current]
    assert editor.plan.host_of_disk[disk.id].id == "host-b1"
    assert editor.add_beside_selection("data")
    assert editor.plan.by_id[editor.selection.current].host_id == "host-b1"
    assert editor.add_beside_selection("host-small")
    new = editor.plan.by_id[editor.selection.current]
    assert new.location_id == editor.plan.host("host-b1").location_id


def test_without_a_selection_a_node_asks_for_its_host(editor) -> None:
    plan = editor.plan
    assert not editor.add_beside_selection("sql")
    assert not editor.add_beside_selection("sata")
    assert editor.plan is plan
    assert len(editor.errors) == 2
    assert editor.add_beside_selection("api")


def test_all_node_ids_taken_is_said_not_raised(editor) -> None:
    for _ in range(300):
        if not editor.add_offer("api"):
            break
    assert len(editor.errors) == 1
    assert "node id" in editor.errors[0]


def test_adding_a_node_group_selects_its_nodes(editor) -> None:
    before = editor.plan
    assert editor.add_node_group()
    assert len(editor.selection.ids) == 2
    assert len(editor.plan.data_nodes) == len(before.data_nodes) + 2
    editor.document.undo_stack.undo()
    assert editor.plan is before


def test_objects_have_the_names_people_know(editor) -> None:
    plan = editor.plan
    assert display_name(plan, plan.host("host-a1")) == "host-a1"
    assert display_name(plan, plan.data_nodes[0]) == f"ndbmtd {plan.data_nodes[0].node_id}"
    assert display_name(plan, plan.tables[0]) == plan.tables[0].full_name


def test_arranging_twice_is_one_step(editor) -> None:
    editor.selection.set(["app-a1"])
    editor.add_offer("host-small", position=None)
    count = editor.document.undo_stack.count()
    editor.arrange_all()
    assert editor.document.undo_stack.count() == count
