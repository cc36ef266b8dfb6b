"""A crash loses nothing; a clean end leaves nothing behind; what a crash left is offered beside the file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ndbplan.desktop.document import recovery
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.recovery import Crashed, Journal, crashed
from ndbplan.edits import parts as edits
from ndbplan.edits import variants
from ndbplan.plan import file
from ndbplan.plan.journal import Heading, JournalFile
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def document(qtbot) -> Document:
    return Document(sample_plan("add-nodes"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journals"


def _edit(document: Document) -> None:
    host = document.plan.hosts[0].id
    document.edit("Set cores", lambda p: edits.update(p, host, cores=p.host(host).cores + 1))


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def _after_a_crash(journal: Journal, folder: Path) -> list[Crashed]:
    """What the next start finds, had the program ended now."""
    assert journal._file is not None
    journal._file.close()
    return crashed(folder)


def test_each_edit_is_in_the_journal_before_the_next(document, folder) -> None:
    journal = Journal(document, folder, document)
    for _ in range(30):
        _edit(document)
        assert crashed(folder) == []
        assert document.plan == _read(folder)
    document.undo_stack.undo()
    assert document.plan == _read(folder)
    found = _after_a_crash(journal, folder)
    assert len(found) == 1
    assert found[0].project == document.project
    assert found[0].path is None
    journal.close()


def _read(folder: Path) -> Plan:
    from ndbplan.plan import journal

    (path,) = _files(folder)
    left = journal.read(path)
    assert left is not None
    return left.plan


def test_every_step_among_variants_is_in_the_journal(document, folder) -> None:
    from ndbplan.plan import journal as lines

    journal = Journal(document, folder, document)
    _edit(document)
    steps = [
        lambda: document.edit_variants("New", lambda project: variants.added(project, "B", 0)),
        lambda: _edit(document),
        lambda: document.show_variant(0),
        lambda: _edit(document),
        lambda: document.edit_variants("Rename", lambda project: variants.renamed(project, 0, "A")),
        lambda: document.edit_variants("Promote", lambda project: variants.promoted(project, 1)),
        document.undo_stack.undo,
        document.undo_stack.undo,
        lambda: document.edit_variants("Remove", lambda project: variants.removed(project, 0)),
    ]
    for step in steps:
        step()
        left = lines.read(_files(folder)[0])
        assert left is not None
        assert left.project == document.project
    journal.close()


def test_edits_in_a_hurry_are_flushed_all_the_same(document, folder, qtbot, monkeypatch) -> None:
    flushed = []
    monkeypatch.setattr(JournalFile, "flush", lambda self: flushed.append(self.path.stat().st_size))
    monkeypatch.setattr(recovery, "FLUSH_MS", 30)
    journal = Journal(document, folder, document)

    def edited_on() -> bool:
        _edit(document)
        return len(flushed) >= 2

    # Edits come all the time, sooner after one another than the journal waits.
    qtbot.waitUntil(edited_on, timeout=5000)
    assert flushed == sorted(flushed)
    journal.close()


def test_saving_or_undoing_everything_removes_the_journal_at_once(document, folder, tmp_path) -> None:
    journal = Journal(document, folder, document)
    _edit(document)
    assert _files(folder)
    document.undo_stack.undo()
    assert not _files(folder)
    document.undo_stack.redo()
    assert _read(folder) == document.plan
    document.save(tmp_path / "a.ndbplan")
    assert not _files(folder)
    document.undo_stack.undo()
    assert _read(folder) == document.plan
    journal.close()
    assert not _files(folder)


def test_what_is_saved_already_is_not_offered(document, folder, tmp_path, monkeypatch) -> None:
    journal = Journal(document, folder, document)
    document.save(tmp_path / "a.ndbplan")
    _edit(document)
    # The program is killed behind the writing of the file, before the journal is gone.
    file.save(document.plan, tmp_path / "a.ndbplan")
    assert _after_a_crash(journal, folder) == []
    assert not _files(folder)
    journal.close()


def test_both_are_shown_and_which_is_newer(document, folder, tmp_path) -> None:
    path = tmp_path / "a.ndbplan"
    journal = Journal(document, folder, document)
    document.save(path)
    _edit(document)
    os.utime(path, (1, 1))
    found = _after_a_crash(journal, folder)[0]
    assert (found.path, found.name) == (path, "a.ndbplan")
    assert found.saved == file.load_project(path)
    assert not found.is_older
    os.utime(path, (4e9, 4e9))
    assert crashed(folder)[0].is_older
    path.write_text("{")
    assert crashed(folder)[0].saved is None
    path.unlink()
    assert crashed(folder)[0].saved is None
    found.discard()
    assert crashed(folder) == []
    journal.close()


def test_another_plan_in_the_window_has_a_journal_of_its_own(document, folder, tmp_path) -> None:
    journal = Journal(document, folder, document)
    _edit(document)
    document.new(sample_plan("starter"))
    assert not _files(folder)
    lost = edits.update(sample_plan("starter"), sample_plan("starter").hosts[0].id, cores=3)
    _edit(document)
    document.recover(lost, tmp_path / "lost.ndbplan")
    assert len(_files(folder)) == 1
    assert _read(folder) == lost
    found = _after_a_crash(journal, folder)[0]
    assert (found.name, found.path) == ("lost.ndbplan", tmp_path / "lost.ndbplan")
    journal.close()


def test_a_long_journal_starts_anew_and_nothing_is_lost_meanwhile(document, folder, monkeypatch) -> None:
    monkeypatch.setattr(recovery, "_START_ANEW_BYTES", 2000)
    monkeypatch.setattr(recovery, "_START_ANEW_TIMES", 0)
    journal = Journal(document, folder, document)
    names = set()
    for _ in range(60):
        _edit(document)
        assert _read(folder) == document.plan
        names.add(_files(folder)[0].name)
    assert len(names) > 1
    journal.close()


def test_a_journal_is_written_only_when_there_is_something_unsaved(document, folder) -> None:
    journal = Journal(document, folder, document)
    assert not _files(folder)
    journal.close()
    assert not folder.exists()


def test_unreadable_journals_disturb_nobody(tmp_path) -> None:
    for name, text in (("a", "{"), ("b", "[]"), ("c", '{"process": "x"}'), ("d", "\x00"), ("e", "[" * 10**6)):
        (tmp_path / f"{name}.journal").write_text(text)
    (tmp_path / "f.journal").mkdir()
    (tmp_path / "g.journal").symlink_to(tmp_path / "g.journal")
    assert crashed(tmp_path) == []
    assert crashed(tmp_path / "missing") == []
    assert len(list(tmp_path.iterdir())) == 7


def test_a_folder_that_cannot_be_made_is_said_once_and_disturbs_nobody(document, tmp_path, qtbot) -> None:
    (tmp_path / "file").write_text("")
    journal = Journal(document, tmp_path / "file" / "journals", document)
    with qtbot.waitSignal(journal.failed) as said:
        _edit(document)
    assert "a crash would lose them" in said.args[0]
    with qtbot.assertNotEmitted(journal.failed):
        _edit(document)
    assert document.is_modified
    assert not journal.is_safe()
    journal.close()


def test_a_full_disk_keeps_what_was_written(document, folder, monkeypatch) -> None:
    journal = Journal(document, folder, document)
    _edit(document)
    kept = document.plan

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "_write", full)
        _edit(document)
        assert _read(folder) == kept
    _edit(document)
    assert _read(folder) == document.plan
    assert len(_files(folder)) == 1
    journal.close()


def test_a_program_that_was_killed_holds_nothing(tmp_path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom ndbplan.plan.journal import JournalFile, Heading\n"
        "from ndbplan.plan.plan import EMPTY_PLAN\n"
        "log = JournalFile.begin(Path(sys.argv[1]), Heading('x', None), EMPTY_PLAN)\n"
        "print('there', flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "j")], stdout=subprocess.PIPE, stdin=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"there\n"
        assert crashed(tmp_path / "j") == []
        child.kill()
        child.wait()
    assert [one.project.main for one in crashed(tmp_path / "j")] == [EMPTY_PLAN]


def _fail(_journal: JournalFile) -> None:
    raise OSError(5, "Input/output error")


def test_recovering_keeps_the_old_journal_until_the_new_one_is_safe(qtbot, tmp_path, monkeypatch) -> None:
    from ndbplan.desktop.dialogs.recovery_dialog import RecoveryDialog
    from ndbplan.desktop.document.preferences import Preferences
    from ndbplan.desktop.main_window import MainWindow
    from ndbplan.desktop.recovery_offer import offer_recovery, recover

    folder = tmp_path / "crashed"
    for name in ("one", "two"):
        JournalFile.begin(folder, Heading(name, None), sample_plan("starter").replace(name=name)).close()
    (folder / "odd.journal").write_text("?")
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "own")
    qtbot.addWidget(window)
    window.finish_building()
    offer_recovery(window, folder)
    assert "two" in window.messages.text
    assert "one" in window.messages.text

    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "flush", _fail)
        dialog = RecoveryDialog(window, crashed(folder), lambda one: recover(window, one))
        assert dialog.table.rowCount() == 2
        dialog.recover()
    assert window.document.is_modified
    assert len(crashed(folder)) == 2

    window.document.new()
    dialog = RecoveryDialog(window, crashed(folder), lambda one: recover(window, one))
    dialog.table.selectRow(1)
    dialog.recover()
    assert window.document.plan.name == "one"
    assert [one.name for one in crashed(folder)] == ["two"]

    dialog = RecoveryDialog(window, crashed(folder), lambda one: recover(window, one))
    dialog.give_up.click()
    assert crashed(folder)
    dialog.give_up.click()
    assert crashed(folder) == []
    assert (folder / "odd.journal").exists()
    window.document.new()


def test_an_edit_that_did_not_fit_is_recovered_with_the_next(document, folder, monkeypatch) -> None:
    journal = Journal(document, folder, document)
    _edit(document)

    def full(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    gone = document.plan.hosts[-1].id
    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "_write", full)
        document.edit("Remove", lambda plan: edits.remove(plan, [gone]))
        assert not journal.is_safe()
    _edit(document)
    assert journal.is_safe()
    assert _after_a_crash(journal, folder)[0].project == document.project
    journal.close()


def test_a_plan_that_does_not_fit_on_the_disk_is_not_called_safe(document, folder, monkeypatch) -> None:
    """The line that names another plan fits where that plan itself does not."""
    journal = Journal(document, folder, document)
    _edit(document)

    def full(*_args: object) -> JournalFile:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(JournalFile, "begin", full)
        document.recover(sample_plan("starter"), Path("/lost.ndbplan"))
        assert not journal.is_safe()
        assert all("lost" not in path.read_text() for path in _files(folder))
    journal.close()


def test_what_is_no_file_is_not_waited_for(folder, tmp_path) -> None:
    plan_file = tmp_path / "a.ndbplan"
    JournalFile.begin(folder, Heading("a", plan_file), EMPTY_PLAN).close()
    os.mkfifo(plan_file)
    os.mkfifo(folder / "b.journal")
    assert [one.saved for one in crashed(folder)] == [None]


def test_a_flush_that_fails_is_tried_with_the_whole_plan_and_then_said(
    document, folder, qtbot, monkeypatch
) -> None:
    """What a disk did not take in the background may be lost, and the system forgets that it was."""
    failures = [True]

    def fails(_handle: int) -> None:
        if not failures or failures.pop():
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(recovery, "FLUSH_MS", 1)
    monkeypatch.setattr(os, "fsync", fails)
    journal = Journal(document, folder, document)
    said: list[str] = []
    journal.failed.connect(said.append)
    failures += [False] * 10 + [True]
    _edit(document)
    first = _files(folder)
    qtbot.waitUntil(lambda: _files(folder) not in ([], first))
    assert said == []
    failures.clear()
    with qtbot.waitSignal(journal.failed):
        _edit(document)
    assert "Input/output error" in said[0]
    assert document.plan == _read(folder)
    journal.close()
