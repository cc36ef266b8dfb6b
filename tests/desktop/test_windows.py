"""Several plans in one process: windows of their own, one for each file, and all of them come back."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent

from ndbplan.desktop import start
from ndbplan.desktop.document.preferences import OPEN_FILES, SESSION, Preferences
from ndbplan.desktop.one_process import hand_over, meeting_point
from ndbplan.desktop.windows import Windows
from ndbplan.edits import parts as edits
from ndbplan.edits.variants import added
from ndbplan.plan.file import load, save
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    names = ["one", "two"]
    for name in names:
        save(edits.set_plan(sample_plan("starter"), name=name), tmp_path / f"{name}.ndbplan")
    return [tmp_path / f"{name}.ndbplan" for name in names]


@pytest.fixture
def session(qtbot, qapp, monkeypatch):
    """Makes the windows of a session; those that are left are closed in the end."""
    monkeypatch.setattr(start, "_when_shown", lambda *_a, **_k: None)
    monkeypatch.setattr(start, "_FIRST_PAINT_MS", 0)
    made: list[Windows] = []

    def begin() -> Windows:
        made.append(Windows(qapp, start.open_window))
        return made[-1]

    yield begin
    for windows in made:
        windows.quit()
        windows.end()
        windows.deleteLater()
    qapp.processEvents()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def titles(windows: Windows) -> list[str]:
    return [window.document.title for window in windows.open_windows]


def test_each_plan_has_a_window_and_a_file_has_one_only(session, files) -> None:
    windows = session()
    first = windows.start(files[0])
    first.actions_table["new_window"].trigger()
    second = windows.open_windows[1]
    assert second.document.plan.hosts == ()
    assert second.files.open(files[0]), "it is shown where it is open"
    assert second.document.path is None
    assert second.files.open(files[1])
    assert windows.open(files[1]) is second
    assert titles(windows) == ["one.ndbplan", "two.ndbplan"]
    first.document.edit("Name it", lambda plan: edits.set_plan(plan, name="other"))
    assert second.document.plan.name == "two"
    first.document.undo_stack.undo()


def test_what_was_open_when_the_program_ended_comes_back_and_a_closed_window_does_not(session, files) -> None:
    windows = session()
    windows.start(files[0])
    windows.open(files[1])
    windows.open_windows[0].actions_table["quit"].trigger()
    assert windows.open_windows == []
    again = session()
    again.start()
    assert sorted(titles(again)) == ["one.ndbplan", "two.ndbplan"]
    again.open_windows[0].close()
    assert len(again.open_windows) == 1
    left = titles(again)
    again.quit()
    third = session()
    third.start()
    assert titles(third) == left


def test_each_file_is_looked_at_as_it_was_and_the_one_in_front_comes_first(
    session, files, qtbot, qapp
) -> None:
    """Of two plans the first kept its tab and zoom, and came to the front, whichever was looked at."""
    windows = session()
    first, second = windows.start(files[0]), windows.open(files[1])
    for window, tab, zoom in ((first, "Memory", 0.5), (second, "Failures", 1.5)):
        while window.build_next():
            pass
        window.panels.show_tab(tab)
        window.canvas.set_zoom(zoom)
    second.activateWindow()
    qtbot.waitUntil(lambda: qapp.activeWindow() is second)
    windows.quit()
    again = session()
    front = again.start()
    assert front.document.title == "two.ndbplan"
    seen = {window.document.title: window for window in again.open_windows}
    for name, tab, zoom in (("one.ndbplan", "Memory", 0.5), ("two.ndbplan", "Failures", 1.5)):
        while seen[name].build_next():
            pass
        assert seen[name].panels.tab == tab
        assert seen[name].canvas.zoom == pytest.approx(zoom)


def test_what_is_open_is_noted_for_a_program_that_is_killed(session, files, qtbot, qapp) -> None:
    """It was noted at the end alone: killed, the program came back with the gallery."""
    windows = session()
    windows.start(files[0])
    windows.open(files[1])
    names = [str(file) for file in files]
    noted = [Preferences().get(OPEN_FILES), Preferences().get(SESSION).get("file", "")]
    assert noted == [[], ""], "what ends the program at once is not opened again unasked"
    windows.open_windows[0].canvas.set_zoom(0.5)
    windows.open_windows[0].activateWindow()
    qtbot.waitUntil(lambda: qapp.activeWindow() is windows.open_windows[0])
    windows._noting.setInterval(1)
    qtbot.waitUntil(lambda: Preferences().get(OPEN_FILES) == names)
    windows._noting.setInterval(10_000)
    assert Preferences().get(SESSION)["file"] == names[0]
    assert Preferences().get(SESSION)["zoom"] == 0.5


def test_a_plan_that_is_to_be_saved_first_keeps_the_program(session, files) -> None:
    windows = session()
    window = windows.start(files[0])
    window.document.edit("Name it", lambda plan: edits.set_plan(plan, name="other"))
    window.files.ask_unsaved = lambda: "cancel"
    windows.quit()
    assert titles(windows) == ["one.ndbplan"]
    window.files.ask_unsaved = lambda: "discard"


def test_a_variant_that_is_named_is_shown(session, files, qtbot) -> None:
    plan = load(files[0])
    save(added(Project.of(plan), "B", 0, edits.set_plan(plan, notes="two")), files[0])
    windows = session()
    window = windows.start(files[0], variant="B")
    assert window.document.plan.notes == "two"
    windows.listen()
    for name in ("Main", "none such", "B"):
        other = threading.Thread(target=lambda name=name: hand_over(files[0], name))
        other.start()
        qtbot.waitUntil(lambda other=other: not other.is_alive(), timeout=10_000)
        other.join()
        assert window.document.project.names[window.document.shown] == (name if name == "B" else "Main")
    assert len(windows.open_windows) == 1


def test_another_start_hands_its_plan_over(session, files, qtbot) -> None:
    assert not hand_over(files[1]), "nobody is there yet"
    windows = session()
    windows.start(files[0])
    windows.listen()
    answers: list[bool] = []
    for path in (files[1], None):
        other = threading.Thread(target=lambda path=path: answers.append(hand_over(path)))
        other.start()
        qtbot.waitUntil(lambda other=other: not other.is_alive(), timeout=10_000)
        other.join()
    assert answers == [True, True]
    assert titles(windows)[:2] == ["one.ndbplan", "two.ndbplan"]
    assert len(windows.open_windows) == 3
    place = meeting_point()
    assert place is not None
    assert place.parent.stat().st_mode & 0o077 == 0
    windows.end()
    place.unlink(missing_ok=True)
    assert not hand_over(files[1])
