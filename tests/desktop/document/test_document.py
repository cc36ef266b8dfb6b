"""The document: undo returns the identical plan, equal keys merge, files come and go."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.selection import Selection
from ndbplan.edits import parts as edits
from ndbplan.edits.validated import EditError
from ndbplan.plan.file import PlanFileError
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

HOST = Host(id="host-a1", hostname="host-a1", memory_bytes=64_000_000_000)


def test_undo_and_redo_give_back_the_identical_plans(qtbot) -> None:
    document = Document()
    seen = []
    document.changed.connect(lambda before, after: seen.append((before, after)))
    document.edit("Add host-a1", lambda plan: edits.add(plan, HOST))
    grown = document.plan
    document.undo_stack.undo()
    assert document.plan is EMPTY_PLAN
    document.undo_stack.redo()
    assert document.plan is grown
    assert seen == [(EMPTY_PLAN, grown), (grown, EMPTY_PLAN), (EMPTY_PLAN, grown)]
    assert document.undo_stack.undoText() == "Add host-a1"


def test_steps_with_one_key_become_one_until_the_merge_ends(qtbot) -> None:
    document = Document(edits.add(EMPTY_PLAN, HOST))
    start = document.plan
    for cores in (9, 10, 11):
        document.edit("Set cores", lambda p, c=cores: edits.update(p, "host-a1", cores=c), "host-a1.cores")
    assert document.undo_stack.count() == 1
    document.end_merge()
    document.edit("Set cores", lambda p: edits.update(p, "host-a1", cores=12), "host-a1.cores")
    assert document.undo_stack.count() == 2
    document.undo_stack.undo()
    assert document.plan.host("host-a1").cores == 11
    document.undo_stack.undo()
    assert document.plan is start


def test_an_edit_that_fails_or_changes_nothing_leaves_no_trace(qtbot) -> None:
    document = Document(edits.add(EMPTY_PLAN, HOST))
    plan = document.plan
    with pytest.raises(EditError):
        document.edit("Set cores", lambda p: edits.update(p, "host-a1", cores=0))
    assert not document.edit("Set cores", lambda p: edits.update(p, "host-a1", cores=8))
    assert document.plan is plan
    assert not document.is_modified


def test_saving_makes_clean_and_undo_past_it_dirty(qtbot, tmp_path: Path) -> None:
    document = Document()
    document.edit("Add", lambda plan: edits.add(plan, HOST))
    assert document.is_modified
    document.save(tmp_path / "a.ndbplan")
    assert not document.is_modified
    assert document.title == "a.ndbplan"
    document.undo_stack.undo()
    assert document.is_modified
    other = Document()
    other.open(tmp_path / "a.ndbplan")
    assert other.plan.host("host-a1") == HOST
    assert not other.is_modified


def test_a_failed_open_or_save_leaves_the_document_as_it_is(qtbot, tmp_path: Path) -> None:
    document = Document()
    document.edit("Add", lambda plan: edits.add(plan, HOST))
    plan = document.plan
    with pytest.raises(PlanFileError):
        document.open(tmp_path / "missing.ndbplan")
    with pytest.raises(PlanFileError):
        document.save(tmp_path / "missing" / "a.ndbplan")
    assert document.plan is plan
    assert document.path is None
    assert document.is_modified


def test_a_recovered_plan_counts_as_unsaved(qtbot, tmp_path: Path) -> None:
    document = Document()
    document.recover(edits.add(EMPTY_PLAN, HOST), tmp_path / "a.ndbplan")
    assert document.is_modified
    document.save()
    assert not document.is_modified
    assert (tmp_path / "a.ndbplan").exists()


def test_the_selection_forgets_what_leaves_the_plan(qtbot) -> None:
    document = Document()
    document.edit("Add", lambda plan: edits.add(plan, HOST))
    selection = Selection(document)
    selection.set(["host-a1"])
    document.undo_stack.undo()
    assert selection.ids == ()


def test_selecting_more_keeps_the_order_and_the_current_one(qtbot) -> None:
    selection = Selection(Document())
    selection.set(["a", "b", "a"])
    assert selection.ids == ("a", "b")
    selection.add(["c", "a"])
    assert selection.ids == ("b", "c", "a")
    assert selection.current == "a"
    selection.toggle("a")
    selection.toggle("d")
    assert selection.ids == ("b", "c", "d")


def test_a_plan_that_nobody_named_is_called_like_its_file(tmp_path) -> None:
    from ndbplan.exporting.export import render_files
    from ndbplan.plan.samples import sample_plan

    document = Document(sample_plan("starter").replace(name=EMPTY_PLAN.name))
    document.save(tmp_path / "shop-cluster.ndbplan")
    assert document.plan.name == "shop-cluster"
    assert not document.is_modified
    assert "shop-cluster" in render_files(document.plan, ["config"])["config.ini"]
    document.save(tmp_path / "other.ndbplan")
    assert document.plan.name == "shop-cluster", "a name that somebody gave stays"
    document.undo_stack.undo()
    assert document.plan.name == EMPTY_PLAN.name


def test_a_file_name_that_no_plan_can_have_leaves_it_unnamed(tmp_path) -> None:
    document = Document(EMPTY_PLAN)
    path = tmp_path / ("x" * 200 + ".ndbplan")
    document.save(path)
    assert document.plan.name == EMPTY_PLAN.name
    assert path.exists()


def test_a_pipe_is_refused_and_stays_a_pipe(tmp_path) -> None:
    """The window would stand still until somebody writes into it."""
    pipe = tmp_path / "a.ndbplan"
    os.mkfifo(pipe)
    document = Document(sample_plan("starter"))
    for act in (document.open, document.save):
        with pytest.raises(PlanFileError, match="is no file"):
            act(pipe)
    assert pipe.is_fifo()
