"""What holds an id longer than the plan has the object says so, and nothing happens."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.selection import Selection
from ndbplan.edits import parts as edits
from ndbplan.plan.plan import GoneError
from ndbplan.plan.samples import sample_plan


def test_an_id_that_is_gone_is_an_error_for_people() -> None:
    plan = sample_plan("starter")
    for ask in (plan.by_id.__getitem__, plan.host, plan.table, plan.workload):
        with pytest.raises(GoneError, match="'nobody'"):
            ask("nobody")
    with pytest.raises(GoneError):
        plan.host(plan.tables[0].id)
    assert issubclass(GoneError, UserError)
    assert issubclass(GoneError, KeyError)
    assert plan.by_id.get("nobody") is None
    assert "nobody" not in plan.by_id


def test_an_action_on_what_undo_has_removed(qtbot) -> None:
    document = Document(sample_plan("starter"))
    editor = Editor(document, Selection(document))
    assert editor.add_offer("host-large") or editor.add_offer("rack")
    new = editor.selection.current
    assert new is not None
    before = document.plan
    document.undo_stack.undo()
    for stale in (
        lambda: editor.do("Rename", lambda p: edits.update(p, new, name="x")),
        lambda: editor.do("Move", lambda p: edits.move(p, {new: None})),
        lambda: editor.do("Title", lambda p: p.replace(name=p.by_id[new].name)),
    ):
        with qtbot.waitSignal(editor.failed) as said:
            assert stale() is False
        assert new in said.args[0]
    assert document.plan is not before
    assert not document.is_modified


def test_one_that_slips_through_is_said_and_is_no_fault(qtbot, tmp_path, monkeypatch) -> None:
    from ndbplan.desktop import start
    from ndbplan.desktop.document.preferences import Preferences
    from ndbplan.desktop.main_window import MainWindow

    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    qtbot.addWidget(window)

    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    start._report_faults(SimpleNamespace(active=window, open_windows=[window]))
    try:
        window.document.plan.by_id["nobody"]
    except GoneError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    assert "'nobody'" in window.messages.text
    assert "fault" not in window.messages.text
