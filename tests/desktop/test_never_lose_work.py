"""The same file in two windows, files that somebody else writes, drops on the window, sessions restored."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog

from ndbplan.desktop.dialogs.conflict_dialog import ConflictDialog, differences
from ndbplan.desktop.document import files
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.preferences import SESSION, WINDOW, Preferences
from ndbplan.desktop.document.shared_file import SharedFile, Theirs, is_open_elsewhere
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.variants import added
from ndbplan.plan.file import load, save
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan

LEFT = Qt.MouseButton.LeftButton
WAIT_MS = 10_000


@pytest.fixture
def open_window(qtbot, qapp, tmp_path):
    theme.install(qapp, "dark")
    opened: list[MainWindow] = []

    def make(*, shown: bool = True) -> MainWindow:
        number = len(opened)
        window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / f"journals-{number}")
        window.files.ask_unsaved = lambda: "discard"
        window.resize(1280, 800)
        if shown:
            window.show()
            window.finish_building()
        opened.append(window)
        return window

    yield make
    for window in opened:
        window.close()
        window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    path = tmp_path / "shop.ndbplan"
    save(sample_plan("starter"), path)
    return path


def with_cores(plan: Plan, cores: int) -> Plan:
    return edits.update(plan, "host-a1", cores=cores)


def set_cores(window: MainWindow, cores: int) -> None:
    window.document.edit("Set cores", lambda plan: with_cores(plan, cores))


def test_a_file_that_another_window_has_open_says_so(open_window, plan_file) -> None:
    first, second = open_window(), open_window()
    first.files.open(plan_file)
    assert not first.messages.isVisible()
    second.files.open(plan_file)
    assert "is open in another window of this program too" in second.messages.text
    first.files.new()
    third = open_window()
    third.files.open(plan_file)
    assert "is open" not in third.messages.text, "who has closed it holds it no more"


def test_a_file_with_the_longest_name_says_so_too(tmp_path, qapp) -> None:
    path = tmp_path / f"{'é' * 123}.ndbplan"
    save(sample_plan("starter"), path)
    document = Document()
    shared = SharedFile(document)
    document.open(path)
    assert is_open_elsewhere(path)
    shared.close()
    assert not is_open_elsewhere(path)


def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(plan_file, qapp) -> None:
    os.mkfifo(plan_file.with_name(f".{plan_file.name}.lock"))
    document = Document()
    shared = SharedFile(document)
    document.open(plan_file)
    assert (is_open_elsewhere(plan_file), shared.holder) == (False, "")


def test_a_file_that_another_process_has_open_says_which(open_window, plan_file) -> None:
    code = (
        "import sys\n"
        "from PySide6.QtCore import QLockFile\n"
        f"lock = QLockFile({str(plan_file.with_name('.shop.ndbplan.lock'))!r})\n"
        "print(lock.tryLock(0), flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline().strip() == "True"
        window = open_window()
        window.files.open(plan_file)
        assert f"is open in another window of ndbplan (process {other.pid} here)" in window.messages.text
        other.kill()
        other.wait()
    window.files.new()
    window.messages.hide()
    window.files.open(plan_file)
    assert not window.messages.isVisible(), "a process that is gone holds nothing"


@pytest.mark.parametrize("answer", ["mine", "theirs", "copy", "cancel"])
def test_a_save_never_overwrites_what_somebody_else_saved_unasked(
    open_window, plan_file, tmp_path, answer, monkeypatch
) -> None:
    first, second = open_window(), open_window()
    first.files.open(plan_file)
    second.files.open(plan_file)
    set_cores(second, 8)
    assert second.files.save()
    set_cores(first, 64)
    asked: list[list[str]] = []

    def ask(_path: Path, theirs: Theirs) -> str:
        assert theirs.project is not None
        asked.append(differences(theirs.project, first.document.project))
        return answer

    first.files.ask_whose = ask
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda _window, _title, start, _kinds: (start, ""))
    done = first.files.save()
    assert asked == [["cores of host host-a1: 8 -> 64"]]
    assert done is (answer != "cancel")
    kept = load(plan_file).host("host-a1").cores
    assert kept == (64 if answer == "mine" else 8)
    if answer == "copy":
        assert load(tmp_path / f"{plan_file.stem} copy.ndbplan").host("host-a1").cores == 64
    if answer == "theirs":
        assert first.document.plan.host("host-a1").cores == 8
        assert not first.document.is_modified
        assert "Undo brings yours back" in first.messages.text
        first.document.undo_stack.undo()
        assert first.document.plan.host("host-a1").cores == 64, "undo brings one's own back"
        assert first.document.is_modified
    if answer == "mine":
        theirs = tmp_path / f"{plan_file.stem} theirs.ndbplan"
        assert theirs.name in first.messages.text
        for cores in (65, 66):
            set_cores(first, cores)
            assert first.files.save(), "what was kept is not asked about again"
        assert load(theirs).host("host-a1").cores == 8, "also after saves that follow"
        assert len(asked) == 1


def test_a_change_by_somebody_else_is_told_when_it_comes_and_can_be_taken(
    open_window, plan_file, qtbot
) -> None:
    window = open_window()
    window.files.open(plan_file)
    save(with_cores(sample_plan("starter"), 48), plan_file)
    qtbot.waitUntil(lambda: "was saved by somebody else" in window.messages.text, timeout=WAIT_MS)
    qtbot.mouseClick(window.messages._button, LEFT)
    assert window.document.plan.host("host-a1").cores == 48
    assert not window.document.is_modified
    set_cores(window, 12)
    save(with_cores(sample_plan("starter"), 50), plan_file)
    qtbot.waitUntil(lambda: "Your changes are kept" in window.messages.text, timeout=WAIT_MS)
    assert window.document.plan.host("host-a1").cores == 12


def test_ones_own_save_is_nobody_elses(open_window, plan_file, qtbot) -> None:
    window = open_window()
    window.files.open(plan_file)
    told: list[int] = []
    window.files.shared.changed_elsewhere.connect(lambda: told.append(1))
    asked: list[int] = []
    window.files.ask_whose = lambda _path, _theirs: asked.append(1) or "cancel"
    for cores in (3, 5):
        set_cores(window, cores)
        with qtbot.waitSignal(window.files.shared._watcher.directoryChanged, timeout=WAIT_MS):
            assert window.files.save()
    assert not told
    assert not asked


def test_a_file_that_is_broken_is_asked_about_and_one_that_is_gone_is_written_again(
    open_window, plan_file, qtbot
) -> None:
    window = open_window()
    window.files.open(plan_file)
    plan_file.write_text("nonsense")
    qtbot.waitUntil(lambda: "Save asks what is to stay" in window.messages.text, timeout=WAIT_MS)
    said: list[str] = []
    window.files.ask_whose = lambda _path, theirs: said.append(theirs.error) or "mine"
    assert window.files.save()
    assert len(said) == 1
    assert said[0]
    assert not window.document.is_modified
    assert plan_file.with_stem("shop theirs").read_text() == "nonsense"
    plan_file.unlink()
    qtbot.waitUntil(lambda: "Save writes it again" in window.messages.text, timeout=WAIT_MS)
    # What only this window has is not closed without a question.
    assert window.document.is_modified
    assert window.files.save()
    assert load(plan_file) == window.document.plan
    assert not window.document.is_modified
    assert len(said) == 1, "nobody's change is overwritten"


def test_a_save_over_theirs_does_not_happen_where_theirs_cannot_be_kept(
    open_window, plan_file, monkeypatch
) -> None:
    window = open_window()
    window.files.open(plan_file)
    save(with_cores(sample_plan("starter"), 8), plan_file)
    set_cores(window, 64)
    window.files.ask_whose = lambda _path, _theirs: "mine"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_atomically", full)
    assert not window.files.save()
    assert "No space left on device" in window.messages.text
    assert window.document.is_modified
    assert load(plan_file).host("host-a1").cores == 8


def test_a_read_only_file_says_so_and_is_saved_under_another_name(open_window, plan_file, tmp_path) -> None:
    plan_file.chmod(0o444)
    window = open_window()
    window.files.open(plan_file)
    assert "read-only" in window.messages.text
    before = plan_file.read_bytes()
    set_cores(window, 5)
    window.files.ask_save = lambda: tmp_path / "copy.ndbplan"
    assert window.files.save()
    assert plan_file.read_bytes() == before
    assert load(tmp_path / "copy.ndbplan").host("host-a1").cores == 5


def test_the_dialog_is_as_high_as_what_differs(qtbot, qapp, tmp_path) -> None:
    """One line stood above an empty half of the dialog."""
    mine = Project.of(sample_plan("starter"))
    one = Project.of(with_cores(mine.main, 8))
    tables = tuple(validated.changed(t, rows=n) for n, t in enumerate(mine.main.tables))
    many = Project.of(mine.main.replace(tables=tables, ndb_version="8.0"))
    heights = []
    for theirs in (one, many):
        dialog = ConflictDialog(None, tmp_path / "shop.ndbplan", Theirs(theirs), mine)
        qtbot.addWidget(dialog)
        dialog.show()
        assert not dialog.differences.verticalScrollBar().isVisible()
        free = (
            dialog.differences.viewport().height()
            - dialog.differences.visualItemRect(
                dialog.differences.item(dialog.differences.count() - 1)
            ).bottom()
        )
        assert 0 <= free < 60, free
        heights.append(dialog.height())
    assert heights[0] < heights[1] <= 380


def test_the_dialog_shows_what_differs_and_answers_by_its_buttons(qtbot, qapp, tmp_path) -> None:
    theirs, mine = Project.of(with_cores(sample_plan("starter"), 8)), Project.of(sample_plan("starter"))
    for button, answer in (("keep_mine", "mine"), ("take_theirs", "theirs"), ("take", "copy")):
        dialog = ConflictDialog(None, tmp_path / "shop.ndbplan", Theirs(theirs), mine)
        dialog.show()
        assert dialog.differences.item(0).text() == "cores of host host-a1: 8 -> 32"
        qtbot.mouseClick(getattr(dialog, button), LEFT)
        assert dialog.answer == answer
    dialog = ConflictDialog(None, tmp_path / "shop.ndbplan", Theirs(None, "it is gone"), mine)
    assert not dialog.take_theirs.isEnabled()
    dialog.reject()
    assert dialog.answer == "cancel"
    more = added(theirs, "B", 0, with_cores(theirs.main, 2), "new")
    assert differences(more, added(mine, "B", 0)) == [
        "cores of host host-a1: 8 -> 32 (Main)",
        "note (B): new -> none",
        "cores of host host-a1: 2 -> 32 (B)",
    ]
    assert differences(more, mine)[0] == "variants: Main, B -> Main"
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def drag(event_type: type, window: MainWindow, data: QMimeData) -> bool:
    at, canvas = QPoint(200, 200), window.canvas.viewport()
    if event_type is QDragEnterEvent:
        event = QDragEnterEvent(at, Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
    else:
        event = QDropEvent(QPointF(at), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(canvas, event)
    return event.isAccepted()


def of_files(*paths: Path) -> QMimeData:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def test_the_window_is_marked_while_files_hang_over_it_and_says_what_a_drop_does(
    open_window, plan_file, tmp_path
) -> None:
    window = open_window()
    data = of_files(plan_file)
    assert drag(QDragEnterEvent, window, data)
    assert window.file_drops.isVisible()
    assert window.file_drops.geometry() == window.rect()
    assert window.file_drops.words.text() == "Drop to open shop.ndbplan"
    QApplication.sendEvent(window, QDragLeaveEvent())
    assert not window.file_drops.isVisible()
    drag(QDragEnterEvent, window, of_files(tmp_path / "config.ini", tmp_path / "a.sql"))
    assert window.file_drops.words.text() == "Drop to import 2 files"
    drag(QDragEnterEvent, window, data)
    drag(QDropEvent, window, data)
    assert not window.file_drops.isVisible()
    assert window.document.path == plan_file
    plain = QMimeData()
    plain.setText("hello")
    drag(QDragEnterEvent, window, plain)
    assert not window.file_drops.isVisible()


def test_a_new_window_is_as_the_last_one_was(open_window, plan_file, tmp_path, qapp) -> None:
    first = open_window()
    first.files.open(plan_file)
    first.panels.analyses.show_tab("Memory")
    first.workspace.setSizes([300, 600, 380])
    first.actions_table["inspector"].trigger()
    first.panels.colours.choose("memory")
    first.canvas.set_zoom(0.5)
    first.canvas.look_at(QPointF(400, 300))
    seen = first.canvas.visible_rect().center()
    sizes = first.workspace.sizes()
    first.close()
    second = open_window()
    assert second.session.file == plan_file
    assert second.panels.analyses.tab == "Memory"
    assert second.workspace.sizes()[0] == sizes[0]
    assert not second.panels.inspector_frame.isVisible()
    second.files.open(second.session.file)
    second.session.restore_view()
    assert second.canvas.zoom == pytest.approx(0.5)
    assert (second.canvas.visible_rect().center() - seen).manhattanLength() < 6
    assert second.panels.colours.name == "memory"
    second.close()
    plan_file.unlink()
    assert open_window().session.file is None


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"splitters": 3, "hidden": "x", "tab": 7, "zoom": "a", "file": ["b"]},
        {"splitters": {"workspace": "\ud800"}, "fits": False, "zoom": 10**400, "file": "\ud800"},
        {"fits": False, "zoom": math.nan, "centre": [10**400, math.nan], "colour": ["luck", 3]},
    ],
)
def test_what_cannot_be_read_of_a_session_is_forgotten(open_window, tmp_path, kept) -> None:
    preferences = Preferences(tmp_path / "preferences.json")
    preferences.put(SESSION, kept)
    preferences.put(WINDOW, "\ud800")
    window = open_window()
    window.session.restore_view()
    assert window.session.file is None
    assert window.document.plan == EMPTY_PLAN


def test_a_second_start_does_not_open_what_the_first_window_has_open(open_window, plan_file) -> None:
    first = open_window()
    first.files.open(plan_file)
    first.session.keep()
    second = open_window()
    assert second.session.file is None
    first.files.new()
    assert second.session.file == plan_file


def test_the_name_offered_for_a_read_only_file_is_free(open_window, plan_file, monkeypatch) -> None:
    plan_file.chmod(0o444)
    window = open_window()
    window.files.open(plan_file)
    offered = []
    monkeypatch.setattr(
        "PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *args: offered.append(args[2]) or ("", "")
    )
    assert window.files.ask_save() is None
    plan_file.with_stem(f"{plan_file.stem} copy").touch()
    assert window.files.ask_save() is None
    assert offered == [str(plan_file.with_stem(f"{plan_file.stem} copy{end}")) for end in ("", " 2")]


def test_a_file_in_a_folder_that_takes_none_is_read_only_and_is_saved_at_home(
    open_window, plan_file, tmp_path, monkeypatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr(Path, "home", lambda: home)
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != plan_file.parent and may(path, mode))
    offered = []
    monkeypatch.setattr(
        "PySide6.QtWidgets.QFileDialog.getSaveFileName", lambda *args: offered.append(args[2]) or ("", "")
    )
    window = open_window()
    window.files.open(plan_file)
    assert "read-only" in window.messages.text, "a save puts a new file beside it"
    assert window.files.ask_save() is None
    (home / Path(offered[0]).name).touch()
    assert window.files.ask_save() is None
    assert offered == [str(home / f"{plan_file.stem}{end}{plan_file.suffix}") for end in ("", " copy")]
