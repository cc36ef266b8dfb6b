"""Demos in the window: scenes by keys, what was shown comes back, scenes of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QTextLayout, QTextOption
from PySide6.QtWidgets import QApplication

from desktop.conftest import Shown
from ndbplan.demo.files import DEMOS, beside, project_of
from ndbplan.demo.model import Demo, Panel
from ndbplan.desktop import start
from ndbplan.desktop.analyses.area import TABS
from ndbplan.desktop.analyses.operations import OperationsPanel
from ndbplan.desktop.dialogs.demos_dialog import DemosDialog
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.windows import Windows
from ndbplan.edits.parameters import set_parameter

SCENES = """format: 1
name: mine
title: Mine
starts: [{name: plan, file: mine.ndbplan}]
scenes:
  - title: The load
    text: 'It takes {simulate: accepted_per_s}.'
    panel: Simulation
    chart: rates
    at: 10s
    select: [data1]
  - {title: The table, text: Asked., at: 5s, consoles: ['mysql> SELECT node_id FROM ndbinfo.logbuffers;']}
  - {title: Larger, text: '{simulate: nothing}', variant: Larger, panel: Memory}
"""


@pytest.fixture
def window(shown: Shown, tmp_path: Path) -> MainWindow:
    """A window with a saved plan of two variants, and a demo of it beside the file."""
    window = shown("redo-overload", 1366, 768)
    document = window.document
    document.edit_as_variant("Larger", lambda plan: set_parameter(plan, "data_node", "RedoBuffer", "96M"))
    document.show_variant(0)
    document.save(tmp_path / "mine.ndbplan")
    beside(tmp_path / "mine.ndbplan").write_text(SCENES, encoding="utf-8")
    return window


def state(window: MainWindow) -> tuple[object, ...]:
    document, canvas, panels = window.document, window.canvas, window.panels
    centre = canvas.mapToScene(canvas.viewport().rect().center())
    panel = window.demos.views.simulation
    return (
        document.project, document.shown, document.undo_stack.count(), document.undo_stack.index(),
        document.is_modified, window.selection.ids, panels.tab, round(canvas.zoom, 3), canvas.is_fitted,
        round(centre.x() / 8), round(centre.y() / 8), panels.analyses_frame.isHidden(),
        panels.inspector_frame.isHidden(), window.side.isHidden(), window.top_bar.isHidden(),
        panel.result, panel.scrubber.at_s, window.actions_table["present"].isChecked(),
    )  # fmt: skip


def begun(qtbot: Any, window: MainWindow) -> Demo:
    demo = window.demos.own()
    assert demo is not None
    window.demos.play_own(demo)
    with qtbot.waitActive(window):
        window.activateWindow()
    window.canvas.setFocus()
    qtbot.waitUntil(lambda: window.demos.player.is_ready, timeout=20_000)
    return demo


def test_scenes_are_stepped_and_what_was_shown_comes_back(qtbot: Any, window: MainWindow) -> None:
    window.selection.set(["ndb3"])
    window.panels.analyses.show_tab("Failures")
    window.canvas.set_zoom(0.8)
    window.canvas.look_at(QPointF(300, 200))
    before = state(window)
    begun(qtbot, window)
    player = window.demos.player
    simulation = window.demos.views.simulation
    qtbot.waitUntil(lambda: simulation.result is not None, timeout=20_000)
    assert window.actions_table["present"].isChecked()
    assert player.card.title.text() == "The load"
    assert player.card.text.text().replace("\u2060", "").startswith("It takes 3\u202f490\u00a0tx/s")
    assert (window.selection.ids, window.panels.tab) == (("data1",), "Simulation")
    qtbot.waitUntil(lambda: simulation.scrubber.at_s == 10.0, timeout=20_000)
    assert simulation.charts is not None
    assert simulation.charts.alone is simulation.charts.rates
    # The card lies beside the canvas, not over it.
    assert window.canvas.viewport().width() <= player.card.x() + 1
    qtbot.keyClick(window.canvas, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: bool(player.sheet.answers), timeout=20_000)
    assert "8 rows in set" in player.sheet.answers[0].toPlainText()
    assert player.sheet.size() == window.panels.analyses_frame.size()
    # The canvas shows what the consoles were asked of, not what is estimated.
    qtbot.waitUntil(lambda: simulation.scrubber.at_s == 5.0, timeout=20_000)
    assert window.panels.analyses.run_lasts_s == 60
    qtbot.keyClick(window.canvas, Qt.Key.Key_Right)
    assert window.document.project.names[window.document.shown] == "Larger"
    qtbot.waitUntil(lambda: "says nothing there" in player.card.text.text(), timeout=20_000)
    assert not player.sheet.isVisible()
    qtbot.keyClick(window.canvas, Qt.Key.Key_Left)
    assert player.card.title.text() == "The table"
    qtbot.keyClick(window.canvas, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not player.is_playing, timeout=10_000)
    qtbot.waitUntil(lambda: state(window) == before, timeout=10_000)
    assert not player.card.isVisible()
    assert [key.isEnabled() for key in player._keys] == [False] * len(player._keys)


def test_no_line_of_a_scene_ends_within_a_number(qtbot: Any, window: MainWindow) -> None:
    """As wide as it may get: the label itself lays the text out."""
    begun(qtbot, window)
    card = window.demos.player.card
    card.say(["Of 10.5 s and 4\u2009320 tx/s it takes 96 %, which is 1.5 GiB, in 48 min 45 s."])
    whole = ("10.5 s", "4 320 tx/s", "96 %", "1.5 GiB", "48 min", "45 s")
    for width in range(60, 400, 5):
        laid = QTextLayout(card.text.text(), card.text.font())
        lines = _lines(laid, width)
        for figure in whole:
            assert any(figure in line for line in lines), (width, lines)


def _lines(laid: QTextLayout, width: int) -> list[str]:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WordWrap)
    laid.setTextOption(option)
    laid.beginLayout()
    found = []
    while (line := laid.createLine()).isValid():
        line.setLineWidth(width)
        found.append(laid.text()[line.textStart() : line.textStart() + line.textLength()])
    laid.endLayout()
    return [" ".join(line.replace("\u2060", "").split()) for line in found]


def test_behind_the_last_scene_it_ends(qtbot: Any, window: MainWindow) -> None:
    begun(qtbot, window)
    qtbot.keyClick(window.canvas, Qt.Key.Key_End)
    assert window.demos.player.card.next.text() == "Done"
    qtbot.mouseClick(window.demos.player.card.next, Qt.MouseButton.LeftButton)
    assert not window.demos.player.is_playing
    assert not window.actions_table["present"].isChecked()


def test_a_view_becomes_a_scene_that_shows_it_again(qtbot: Any, window: MainWindow) -> None:
    simulation = window.demos.views.simulation
    window.document.show_named("Larger")
    window.selection.set(["data2"])
    window.panels.analyses.show_tab("Simulation")
    simulation.show_moment("blobs-5k", 12.0, "buffers")
    qtbot.waitUntil(lambda: simulation.result is not None, timeout=20_000)
    window.canvas.set_zoom(0.6)
    window.canvas.look_at(QPointF(250, 150))
    window.actions_table["add_scene"].trigger()
    scene = DEMOS.read(beside(Path(str(window.document.path)))).value.scenes[-1]
    assert (scene.variant, scene.select, scene.panel, scene.workload) == (
        "Larger", ("data2",), "Simulation", "blobs-5k",
    )  # fmt: skip
    assert (scene.at, scene.chart, scene.zoom) == (12.0, "buffers", 0.6)
    assert scene.centre == pytest.approx((250, 150), abs=2)
    assert window.document.undo_stack.count() == 1


def test_a_plan_without_a_file_has_no_scenes_yet(shown: Shown) -> None:
    window = shown("starter", 1366, 768)
    window.actions_table["add_scene"].trigger()
    assert window.messages.text == "Save the plan first: its scenes lie in a file beside it."


def test_scenes_are_written_and_ordered_in_the_dialog(qtbot: Any, window: MainWindow) -> None:
    window.demos.open()
    dialog = window.findChild(DemosDialog)
    assert isinstance(dialog, DemosDialog)
    assert dialog.scenes.count() == 3
    dialog.scenes.setCurrentRow(2)
    dialog.scene_title.setText("Twice as large")
    dialog.scene_title.textEdited.emit("Twice as large")
    dialog.text.setPlainText("Fills later.")
    dialog.up.click()
    dialog.scenes.setCurrentRow(0)
    dialog.delete.click()
    dialog.add.click()

    def kept() -> Demo:
        return DEMOS.read(beside(Path(str(window.document.path)))).value

    assert [scene.title for scene in kept().scenes] == ["Twice as large", "The table", "Scene 3"]
    assert kept().scenes[0].text == "Fills later."
    dialog.which.setCurrentIndex(1)
    assert dialog.scene_title.isReadOnly()
    # Lines end where the window does, not where those of the file did.
    texts = [scene.text for scene in dialog.chosen[0].worded(dialog.chosen[1]).scenes]
    assert any("\n" in text.strip() for text in texts)
    for row, text in enumerate(texts):
        dialog.scenes.setCurrentRow(row)
        assert dialog.text.toPlainText().split("\n\n") == [
            " ".join(part.split()) for part in text.strip().split("\n\n")
        ]
    assert not dialog.delete.isVisibleTo(dialog)
    done: list[bool] = []
    dialog.which.setCurrentIndex(0)
    path = Path(str(window.document.path)).with_suffix(".html")
    dialog.export_to(path, lambda: done.append(True))
    qtbot.waitUntil(lambda: bool(done), timeout=20_000)
    assert path.read_bytes().startswith(b"<!doctype html>"), dialog.state.text()
    dialog.reject()


def test_a_demo_that_comes_along_has_a_window_of_its_own(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "_when_shown", lambda *_a, **_k: None)
    windows = Windows(qapp, start.open_window)
    window = windows.start(sample="starter")
    demo = DEMOS.find("growing").value
    before = window.document.project
    window.demos.play(demo, demo.starts[0])
    assert window.document.project is before
    _, other = windows.open_windows
    assert other.document.project == project_of(demo, demo.starts[0])
    assert other.document.project.names == ("Main", "Four data nodes")
    assert other.demos.player.card.title.text() == "Two nodes hold all rows"
    # Nothing lies over its scenes, such as the samples that an empty window shows.
    assert other.canvas.isVisible()
    assert other.actions_table["present"].isChecked()
    other.demos.player.end()
    assert windows.open_windows == [window]
    windows.quit()
    windows.end()
    windows.deleteLater()
    qapp.processEvents()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def test_a_scene_may_show_each_panel() -> None:
    assert {*get_args(Panel)} == {"", *(name for name, _module, _panel in TABS)}


def test_one_operation_has_all_the_room_and_its_own_notes(qtbot: Any, shown: Shown) -> None:
    window = shown("add-nodes", 1366, 768)
    panel = window.panels.analyses.show_tab("Operations")
    assert isinstance(panel, OperationsPanel)
    qtbot.waitUntil(lambda: len(panel._lanes) > 5, timeout=60_000)
    everything = panel._notes.text()
    panel.show_only("add_nodes")
    assert panel._notes.text().startswith("Add a node group: ")
    panel.show_only("node")
    assert "Add a node group" not in panel._notes.text()
    panel.show_only("")
    assert panel._notes.text() == everything
