"""A crash loses nothing that was journalled; a clean end leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.recovery import Journal, crashed
from ndbplan.edits import parts as edits
from ndbplan.plan.file import PlanFileError
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def document(qtbot) -> Document:
    return Document(sample_plan("add-nodes"))


def _edit(document: Document) -> None:
    host = document.plan.hosts[0].id
    document.edit("Set cores", lambda p: edits.update(p, host, cores=p.host(host).cores + 1))


def _dead_process() -> int:
    """The id of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    return child.pid


def _as_though_crashed(folder: Path) -> None:
    for journal in folder.glob("*.journal"):
        document = json.loads(journal.read_text())
        document["process"] = _dead_process()
        journal.write_text(json.dumps(document))


def test_an_edit_is_journalled_soon_and_found_after_a_crash(document, tmp_path, qtbot) -> None:
    journal = Journal(document, tmp_path, document)
    _edit(document)
    qtbot.waitUntil(lambda: any(tmp_path.iterdir()), timeout=5000)
    assert crashed(tmp_path) == []
    _as_though_crashed(tmp_path)
    found = crashed(tmp_path)
    assert len(found) == 1
    assert found[0].plan() == document.plan
    assert found[0].path is None
    journal.close()


def test_saving_or_undoing_everything_removes_the_journal(document, tmp_path) -> None:
    journal = Journal(document, tmp_path / "journals", document)
    _edit(document)
    journal.write()
    assert list((tmp_path / "journals").iterdir())
    document.undo_stack.undo()
    journal.write()
    assert not list((tmp_path / "journals").iterdir())
    _edit(document)
    journal.write()
    document.save(tmp_path / "a.ndbplan")
    journal.write()
    assert not list((tmp_path / "journals").iterdir())
    journal.close()


def test_the_file_of_the_plan_is_remembered(document, tmp_path) -> None:
    document.save(tmp_path / "a.ndbplan")
    _edit(document)
    journal = Journal(document, tmp_path / "journals", document)
    journal.write()
    _as_though_crashed(tmp_path / "journals")
    found = crashed(tmp_path / "journals")[0]
    assert found.path == tmp_path / "a.ndbplan"
    assert found.name == "a.ndbplan"
    found.discard()
    assert crashed(tmp_path / "journals") == []
    journal.close()


def test_unreadable_journals_disturb_nobody(tmp_path) -> None:
    for name, text in (("a", "{"), ("b", "[]"), ("c", '{"process": "x"}'), ("d", "\x00")):
        (tmp_path / f"{name}.journal").write_text(text)
    assert crashed(tmp_path) == []
    assert crashed(tmp_path / "missing") == []


def test_a_journal_with_a_broken_plan_says_what_is_wrong(tmp_path) -> None:
    (tmp_path / "a.journal").write_text(
        json.dumps({"process": _dead_process(), "name": "x", "path": None, "plan": {"format_version": 99}})
    )
    with pytest.raises(PlanFileError):
        crashed(tmp_path)[0].plan()


def test_a_folder_that_cannot_be_made_is_no_reason_to_fail(document, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    journal = Journal(document, tmp_path / "file" / "journals", document)
    _edit(document)
    journal.write()
    assert document.is_modified
    journal.close()
