"""The whole window: it opens fast, does what its actions say, asks before it forgets, and leaves nothing."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QCloseEvent, QColor
from PySide6.QtWidgets import QApplication, QWidget

from ndbplan.desktop.actions import SPECS
from ndbplan.desktop.canvas.overlaps import NameTag
from ndbplan.desktop.dialogs.command_palette import Command
from ndbplan.desktop.document.preferences import APPEARANCE, Preferences
from ndbplan.desktop.document.tasks import wait_for_leaving
from ndbplan.desktop.layout.collision import moved_to
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.fields import Point
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def window(shown):
    return shown("starter", 1280, 800)


def _edit(window: MainWindow) -> None:
    window.document.edit("Set cores", lambda p: edits.update(p, "host-a1", cores=p.host("host-a1").cores + 1))


def test_every_action_of_the_table_is_there_with_a_name_and_no_key_is_used_twice(window) -> None:
    seen: dict[str, str] = {}
    for spec in SPECS:
        action = window.actions_table[spec.name]
        assert action.text()
        assert action.toolTip()
        for key in action.shortcuts():
            text = key.toString()
            assert text not in seen, f"{text}: {spec.name} and {seen.get(text)}"
            seen[text] = spec.name


def test_everything_that_takes_the_focus_has_an_accessible_name(window) -> None:
    own = ("top_bar", "palette", "outline", "canvas", "gallery", "status_bar", "message_bar", "main_window")
    for widget in window.findChildren(QWidget):
        module = type(widget).__module__
        if module.startswith("ndbplan.desktop.") and module.split(".")[2] in own:
            takes_focus = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            assert not takes_focus or widget.accessibleName() or getattr(widget, "text", str)(), widget


def test_title_and_mark_follow_the_document(window, tmp_path) -> None:
    assert "Starter" in window.windowTitle()
    assert not window.top_bar.names.edited.text()
    _edit(window)
    assert "*" in window.windowTitle()
    assert "edited" in window.top_bar.names.edited.text()
    window.document.save(tmp_path / "mine.ndbplan")
    assert window.windowTitle().startswith("mine.ndbplan —")


def test_undo_names_the_step(window) -> None:
    _edit(window)
    undo = window.actions_table["undo"]
    assert undo.isEnabled()
    assert undo.text() == "Undo set cores"
    undo.trigger()
    assert not undo.isEnabled()
    assert window.actions_table["redo"].text() == "Redo set cores"


def test_closing_with_unsaved_edits_asks_and_cancel_keeps_the_window(window) -> None:
    _edit(window)
    asked = []
    window.files.ask_unsaved = lambda: asked.append(1) or "cancel"
    event = QCloseEvent()
    window.closeEvent(event)
    assert not event.isAccepted()
    assert asked == [1]
    assert window.document.is_modified


def test_saving_at_close_into_a_place_that_fails_keeps_the_window_with_one_message(window, tmp_path) -> None:
    _edit(window)
    window.files.ask_unsaved = lambda: "save"
    window.files.ask_save = lambda: tmp_path / "missing" / "a.ndbplan"
    event = QCloseEvent()
    window.closeEvent(event)
    assert not event.isAccepted()
    assert window.messages.level == "error"
    assert "missing" in window.messages.text
    assert window.document.is_modified


def test_a_bad_file_is_said_in_one_line_and_the_open_plan_stays(window, tmp_path) -> None:
    plan = window.document.plan
    for name, content in (
        ("a", b"{"),
        ("b", b"\xff\xfe\x00"),
        ("c", b'{"format_version": 0}'),
        ("d", b"[[[["),
    ):
        path = tmp_path / f"{name}.ndbplan"
        path.write_bytes(content)
        assert not window.files.open(path)
        assert str(path) in window.messages.text
        assert "\n" not in window.messages.text
    assert not window.files.open(tmp_path / "missing.ndbplan")
    assert window.document.plan is plan


def test_a_file_of_a_newer_format_is_read_only(window, tmp_path) -> None:
    path = tmp_path / "newer.ndbplan"
    path.write_text('{"format_version": 99, "name": "shop", "moods": 1}')
    assert window.files.open(path)
    assert window.document.plan.name == "shop"
    assert "moods" in window.messages.text
    _edit_name(window)
    assert not window.files.save()
    assert "another name" in window.messages.text
    assert "moods" in path.read_text()


def _edit_name(window) -> None:
    window.document.edit("Rename", lambda plan: edits.set_plan(plan, name="other"))


def test_save_reopen_and_recent(window, tmp_path) -> None:
    _edit(window)
    plan = window.document.plan
    path = tmp_path / "shop.ndbplan"
    window.files.ask_save = lambda: path
    assert window.files.save()
    assert window.messages.level == "done"
    window.files.new()
    assert window.document.plan.hosts == ()
    assert window.files.open(path)
    assert window.document.plan == plan
    assert window.preferences.recent == [path]


def test_cancelling_a_file_dialog_does_nothing(window) -> None:
    _edit(window)
    plan = window.document.plan
    window.files.ask_save = lambda: None
    window.files.ask_open = lambda: None
    assert not window.files.save()
    window.files.ask_unsaved = lambda: "discard"
    assert not window.files.open()
    assert window.document.plan is plan


def test_the_outline_leads_and_follows_the_selection(window) -> None:
    outline = window.outline
    window.selection.set(["host-b1"])
    chosen = [index.data() for index in outline.selectionModel().selectedIndexes()]
    assert chosen == ["host-b1"]
    outline.setCurrentIndex(outline._items["host-a1"].index())
    assert window.selection.ids == ("host-a1",)
    window.editor.rename("host-a1", "renamed")
    assert outline._items["host-a1"].text() == "renamed"
    window.editor.delete()
    assert "host-a1" not in outline._items
    window.document.undo_stack.undo()
    assert outline._items["host-a1"].text() == "renamed"


def test_the_outline_is_readable_after_the_theme_was_switched(window) -> None:
    for mode in ("light", "dark"):
        window.appearance.set_theme(mode)
        inks = [item.data(Qt.ItemDataRole.ForegroundRole) for item in window.outline._items.values()]
        names = {ink.name() for ink in inks if ink is not None}
        t = theme.tokens()
        assert names <= {QColor(each).name() for each in (t.muted, *(t.group(n) for n in range(8)))}


def test_a_section_of_the_outline_is_no_selection(window) -> None:
    outline = window.outline
    outline.setCurrentIndex(outline._items["section Tables"].index())
    assert window.selection.ids == ()


def test_the_palette_adds_by_keyboard(window, qtbot) -> None:
    window.selection.set(["host-a1"])
    entry = window.palette_panel.entries["sata"]
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert window.document.undo_stack.undoText().startswith("Add")
    assert len(window.document.plan.host("host-a1").disks) == 3


def test_the_command_palette_runs_actions_and_goes_to_objects(window, qtbot) -> None:
    window._open_commands()
    commands = window.commands
    commands.field.setText("b1")
    assert commands.matching("hostb1")[0].text == "host-b1"
    commands.field.setText("host-b1")
    qtbot.keyClick(commands.field, Qt.Key.Key_Return)
    assert window.selection.ids == ("host-b1",)
    assert not commands.isVisible()
    window._open_commands()
    commands.field.setText("add a node group")
    qtbot.keyClick(commands.field, Qt.Key.Key_Return)
    assert len(window.document.plan.data_nodes) == 4
    window._open_commands()
    qtbot.keyClick(commands.field, Qt.Key.Key_Escape)
    assert not commands.isVisible()


def test_the_command_palette_offers_additions_samples_and_only_what_can_be_done(window) -> None:
    def offers() -> dict[str, Command]:
        return {command.text: command for command in window.commands._commands()}

    offered = offers()
    assert "Delete" not in offered
    window.selection.set(["host-a1"])
    assert "Delete" in offers()
    offered["Add NVMe 3.2 TB"].run()
    assert window.document.undo_stack.undoText().startswith("Add")
    offered["Sample add-nodes"].run()
    assert window.document.plan.name == "Online add node, 2 GB table"


def test_an_import_from_the_gallery_is_shown_and_counts_as_unsaved(window, qtbot, tmp_path) -> None:
    from ndbplan.desktop.dialogs.import_dialog import ImportDialog

    (tmp_path / "s.sql").write_text("CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=NDB;")
    for is_new in (False, True):
        window.document.new(sample_plan("starter"))
        window.show_gallery()
        window.import_files([tmp_path / "s.sql"])
        dialog = window.findChild(ImportDialog)
        dialog.target.setCurrentIndex(int(is_new))
        qtbot.waitUntil(lambda dialog=dialog: dialog.take.isEnabled(), timeout=30_000)
        dialog.put_in()
        assert window.pages.currentWidget() is window.workspace
        assert window.document.is_modified
        assert "d.t" in {table.full_name for table in window.document.plan.tables}
        qtbot.waitUntil(lambda: window.findChild(ImportDialog) is None)
    window.document.new(sample_plan("starter"))


def test_the_gallery_opens_a_sample(window, qtbot) -> None:
    window.show_gallery()
    card = next(c for c in window.gallery.cards if c.about.name == "redo-overload")
    assert card.about.source
    qtbot.keyClick(card, Qt.Key.Key_Return)
    assert window.document.plan is sample_plan("redo-overload")
    assert window.pages.currentWidget() is window.workspace
    assert not window.document.is_modified


def test_presentation_hides_the_tools_and_gives_them_back(window) -> None:
    window.actions_table["present"].trigger()
    assert not window.side.isVisible()
    assert not window.top_bar.isVisible()
    assert window.canvas.isVisible()
    window.actions_table["present"].trigger()
    assert window.side.isVisible()
    assert window.top_bar.isVisible()


def test_light_and_dark(window, qapp) -> None:
    window.canvas.viewport().grab()
    window.actions_table["theme_light"].trigger()
    assert theme.tokens() is theme.LIGHT
    assert window.canvas.canvas_scene.look.tokens is theme.LIGHT
    assert window.actions_table["theme_light"].isChecked()
    assert window.preferences.get(APPEARANCE) == "light"
    host = window.canvas.canvas_scene.item_of("host-a1").rect_in_scene()
    spot = window.canvas.mapFromScene(host.bottomRight()) - QPoint(8, 6)
    assert window.canvas.viewport().grab().toImage().pixelColor(spot).name() == theme.LIGHT.card
    window.actions_table["theme_dark"].trigger()
    assert window.canvas.canvas_scene.look.tokens is theme.DARK


def test_estimates_reach_the_canvas(window, qtbot) -> None:
    estimates = window.panels.estimates
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=20_000)
    loads = window.canvas.canvas_scene.look.loads
    host = window.document.plan.data_nodes[0].host_id
    assert loads.memory[host] > 0
    assert loads.cpu[host] > 0
    assert any(loads.disks.values())


def test_the_version_is_chosen_in_the_top_bar(window) -> None:
    menu = window.top_bar.version.menu()
    next(a for a in menu.actions() if a.text() == "NDB 8.0").trigger()
    assert window.document.plan.ndb_version == "8.0"
    assert "8.0" in window.top_bar.version.text()
    window.document.undo_stack.undo()
    assert "8.4" in window.top_bar.version.text()


def test_a_window_that_is_closed_is_collected(qtbot, qapp, tmp_path) -> None:
    import weakref

    made = MainWindow(Preferences(tmp_path / "p.json"), tmp_path / "journals")
    made.open_sample("starter")
    made.show()
    made.finish_building()
    made.close()
    canvas = weakref.ref(made.canvas.canvas_scene)
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    del made
    gc.collect()
    assert canvas() is None or not _valid(canvas())


def _valid(thing: object) -> bool:
    import shiboken6

    return shiboken6.isValid(thing)


def test_export_writes_into_a_folder_and_says_so(window, tmp_path, qtbot) -> None:
    from ndbplan.desktop.export_flow import export_to

    window.finish_building()
    export_to(window.document.plan, tmp_path / "out", window.tasks, window.messages)
    assert window.messages.level == "info"
    qtbot.waitUntil(lambda: not window.tasks.is_busy, timeout=20_000)
    assert window.messages.level == "done", window.messages.text
    assert list((tmp_path / "out").rglob("config.ini"))
    plan = set_parameter(window.document.plan, "data_node", "DataMemory", 2**27)
    export_to(plan, tmp_path / "out", window.tasks, window.messages)
    qtbot.waitUntil(lambda: not window.tasks.is_busy, timeout=20_000)
    assert "the plan still has 1 error, see Problems" in window.messages.text
    config = next((tmp_path / "out").rglob("config.ini"))
    config.write_text("by hand")
    asked: list[str] = []
    for answer in (False, True):
        export_to(
            plan,
            tmp_path / "out",
            window.tasks,
            window.messages,
            ask=lambda _folder, names, answer=answer: asked.extend(names) or answer,
        )
        qtbot.waitUntil(lambda: not window.tasks.is_busy, timeout=20_000)
        assert (config.read_text() == "by hand") is not answer
    assert asked == ["config.ini", "config.ini"]
    (tmp_path / "file").write_text("")
    export_to(window.document.plan, tmp_path / "file", window.tasks, window.messages)
    qtbot.waitUntil(lambda: not window.tasks.is_busy, timeout=20_000)
    assert window.messages.level == "error"


def test_the_window_is_shown_before_charts_kernels_or_parsers_are_loaded(tmp_path: Path) -> None:
    code = (
        "import sys; from ndbplan.desktop.start import make_application, open_window;"
        "app = make_application(); window = open_window(app, sample='add-nodes');"
        "heavy = {'pyqtgraph', 'numba', 'sqlglot', 'numpy', 'jinja2', 'click'} & set(sys.modules);"
        "assert window.isVisible(); print(sorted(heavy)); import os; sys.stdout.flush(); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr


def test_no_object_of_qt_outlives_its_window(qapp, tmp_path) -> None:
    """What does would be destroyed by whichever thread looks for garbage."""
    theme.install(qapp, "dark")
    gc.collect()
    before = {id(thing) for thing in gc.get_objects() if isinstance(thing, QObject)}
    window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    window.open_sample("starter")
    window.finish_building()
    for part in (*window.document.plan.hosts, *window.document.plan.processes, *window.document.plan.tables):
        window.selection.set([part.id])
        qapp.processEvents()
    window.close()
    window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert wait_for_leaving(10_000)
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, QObject) and id(thing) not in before and shiboken6.isValid(thing)
    ]
    assert [f"{type(thing).__name__} {thing.objectName()}" for thing in left if thing.parent() is None] == []


def test_moving_apart_is_offered_as_long_as_something_covers_something(window) -> None:
    scene, status = window.canvas.canvas_scene, window.status
    rack_a, rack_b = (place.id for place in window.document.plan.locations[:2])
    target = scene.layout.locations[rack_b].rect
    over = moved_to(scene.layout, rack_a, target._replace(y=target.y - 60))
    window.document.edit("Move Rack A", lambda plan: edits.move(plan, over))
    assert window.messages.text == "Rack A and Rack B cover one another."
    _edit(window)
    window.messages.say("error", "Something else.")
    QApplication.processEvents()
    assert status.apart.text() == "1 overlap · Move apart"
    status.layout().activate()
    where, said = status.apart.x(), status.estimates.text()
    status.estimates.setText("estimating…")
    status.layout().activate()
    assert status.apart.x() == where, "a button moves from under the pointer"
    status.estimates.setText(said)
    assert not window.messages.geometry().contains(status.apart.mapTo(window.messages.parent(), QPoint(1, 1)))
    # The name of the rack below is written above what covers it.
    assert [item.name for item in scene.items() if isinstance(item, NameTag)] == ["Rack B"]
    status.apart.click()
    assert scene.overlaps.pairs == ()
    assert status.apart.isHidden()
    assert not window.actions_table["move_apart"].isEnabled()
    window.document.undo_stack.undo()
    assert status.apart.isVisible()


def test_an_ellipsis_stands_at_its_word() -> None:
    """`Working out …` stood beside `Simulating…` and the menu's `I measured…`."""
    import ast

    import ndbplan.desktop

    apart = []
    for path in Path(ndbplan.desktop.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                apart += [node.value] if re.search(r"\w …$|\w *\.\.\.$", node.value) else []
    assert apart == []


@pytest.mark.parametrize(("share", "how"), [(0.9, "partly out of sight"), (1.5, "out of sight")])
def test_what_is_seen_in_part_is_not_called_out_of_sight(window, share: float, how: str) -> None:
    window.canvas.set_zoom(1.0)
    seen = window.canvas.visible_rect()
    at = Point(x=seen.left() + share * seen.width(), y=seen.center().y())
    assert window.editor.add_offer("host-small", position=at)
    name = window.document.plan.hosts[-1].hostname
    assert window.messages.text == f"{name} is {how}."
