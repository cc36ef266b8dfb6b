"""The command palette covers what there is; the focus goes where a person sends it and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QToolButton

from ndbplan import desktop
from ndbplan.desktop.analyses.area import TABS
from ndbplan.desktop.dialogs.gallery import blurb
from ndbplan.desktop.dialogs.guide_window import GuideWindow, pages
from ndbplan.desktop.dialogs.sql_dialog import SqlDialog
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.edits import parts as edits
from ndbplan.plan.samples import sample_names

_LONG_MS = 60_000


@pytest.fixture
def window(shown):
    return shown("starter", 1400, 900)


def _run(window: MainWindow, typed: str) -> None:
    window._open_commands()
    QTest.keyClicks(window.commands.field, typed)
    QTest.keyClick(window.commands.field, Qt.Key.Key_Return)


class TestPalette:
    @pytest.mark.parametrize("mode", ["light", "dark"])
    def test_it_is_read_after_the_theme_was_switched_while_it_is_open(self, window, mode) -> None:
        """The system may switch at any time: dark words stood on a dark ground."""
        theme.theme().set_mode("dark" if mode == "light" else "light")
        window._open_commands()
        theme.theme().set_mode(mode)
        picture = window.commands.grab().toImage()
        assert picture.pixelColor(picture.width() // 2, 4).name() == QColor(theme.tokens().panel).name()

    @pytest.mark.parametrize(("typed", "first"), [("rpo", "Backup and restore"), ("rto", "Operations")])
    def test_what_is_promised_of_a_recovery_is_found_by_its_letters(self, window, typed, first) -> None:
        """`rpo` found ServerPort alone, which has these letters across two of its words."""
        window._open_commands()
        found = [command.text for command in window.commands.matching(typed)]
        window.commands.hide()
        assert found[0] == first
        assert not any("Port" in text for text in found)

    def test_a_sample_is_found_by_its_title(self, window) -> None:
        """The gallery shows titles: who remembers one got a parameter that is called a little like it."""
        window._open_commands()
        found = {name: window.commands.matching(blurb(name).title)[0].text for name in sample_names()}
        window.commands.hide()
        assert found == {name: f"Sample {name}" for name in sample_names()}

    def test_a_parameter_opens_its_field(self, qtbot, window) -> None:
        window.selection.set([window.document.plan.hosts[0].disks[0].id])
        _run(window, "datamemory")
        assert window.selection.ids == ()
        panel = window.panels.inspector._parameters[1]
        row = panel._filter.mapToSource(panel.view.currentIndex()).row()
        assert panel.model.parameters[row].name == "DataMemory"
        qtbot.waitUntil(lambda: isinstance(QApplication.focusWidget(), QLineEdit))
        editor = QApplication.focusWidget()
        assert panel.view.isAncestorOf(editor)
        QTest.keyClick(editor, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(editor, "64G")
        QTest.keyClick(editor, Qt.Key.Key_Return)
        stated = 64 * 2**30
        qtbot.waitUntil(lambda: window.document.plan.parameters.data_node.get("DataMemory") == stated)
        # Its part took its height in later turns, and lay below what is seen.
        cell = panel.view.visualRect(panel.view.currentIndex())
        seen = window.panels.inspector._scroll.viewport()
        corner = panel.view.viewport().mapTo(seen, cell.topLeft())
        assert seen.rect().contains(QRect(corner, cell.size()))

    def test_a_plan_is_made_without_a_mouse(self, qtbot, window) -> None:
        """All that a person adds with the mouse is in the palette, under the words that buttons have."""
        window.files.new()
        for typed in ("add host", "add data node", "add host", "add data node", "add management", "add sql"):
            _run(window, typed)
        plan = window.document.plan
        assert (len(plan.hosts), len(plan.data_nodes), len(plan.processes)) == (2, 2, 4)
        for typed in ("tables from sql", "create table"):
            _run(window, typed)
            qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), SqlDialog))
            QApplication.activeModalWidget().reject()
        _run(window, "add a table")
        assert window.selection.ids == (window.document.plan.tables[0].id,)
        _run(window, "tables")
        assert QApplication.focusWidget() is window.panels.analyses.tabs
        _run(window, "workload from the tables")
        assert len(window.document.plan.workloads) == 1
        _run(window, "add a tablespace")
        assert window.document.plan.tablespaces

    def test_parameters_of_other_kinds_are_found_too(self, window) -> None:
        window._open_commands()
        (first, *_) = window.commands.matching("PortNumber")
        assert first.text == "PortNumber"
        first.run()
        assert window.panels.inspector._parameters[1].model.scope.name == "management"
        window.commands.hide()

    def test_the_first_that_is_offered_is_what_was_meant(self, window) -> None:
        window._open_commands()
        meant = {
            "dark": "Theme: Dark",
            "smlte": "Simulate",
            "ng": "Add a node group",
            "orders": "shop.orders",
            "sample tick": "Sample tick-store",
            "failures": "Failures",
            "what may fail": "What may fail",
            "problem": "Problems",
            "partition of a key": "Where a key lies",
            "full screen": "Presentation",
            "max load": "What would help",
            "1221": "Error 1221: redo buffer full",
            "410": "Error 410: redo log space low",
            "disk space": "Colour by disk space",
            "colour network": "Colour by network",
            "827": "Error 827: data memory full, row storage",
            "export files": "Export",
            "sweep": "Vary inputs",
            "keyboard shortcuts": "Keys and gestures",
            "settings": "Theme: Dark",
            "dark mode": "Theme: Dark",
            "calibrate": "I measured",
            "kill a node": "Failures",
            "price": "Colour by cost",
            "larger text": "Presentation",
            "monte carlo": "Simulation",
            "noofreplicas": "NoOfReplicas",
            "redo": "RedoBuffer",
            "restart": "Operations",
            "data memory": "DataMemory",
            "load": "Add a workload",
            "disk": "Add NVMe 3.2 TB",
            "max": "What would help",
            "partition": "Distribution",
            "ddl": "Tables from SQL",
            "node group": "Add a node group",
        }
        assert {typed: window.commands.matching(typed)[0].text for typed in meant} == meant
        window.commands.hide()

    def test_everything_there_is_can_be_found(self, qtbot, window) -> None:
        window.document.edit("One replica", lambda p: edits.remove(p, ["ndb2"]))
        qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=_LONG_MS)
        window._open_commands()
        offered = {command.text for command in window.commands._known}
        assert {f"Sample {name}" for name in sample_names()} <= offered
        assert {title for _, title in pages()} <= offered
        assert {name for name, _, _ in TABS} <= offered
        assert {table.full_name for table in window.document.plan.tables} <= offered
        problems = [c for c in window.commands._known if c.icon == "triangle-alert"]
        standing = [p for p in window.panels.estimates.latest.problems if not p.waived]
        assert len(problems) == len(standing) > 0
        window.commands.hide()

    def test_the_canvas_is_coloured_by_what_is_named(self, window) -> None:
        window._open_commands()
        (space,) = [c for c in window.commands._known if c.text == "Colour by disk space"]
        space.run()
        assert window.panels.colours.name == "space"
        (usual,) = [c for c in window.commands._known if c.text == "Colour by what it is"]
        usual.run()
        assert not window.panels.colours.name
        assert not [c for c in window.commands._known if c.text == "Colour by changes"], (
            "there is one variant"
        )
        window.commands.hide()

    def test_a_problem_leads_to_its_object(self, qtbot, window) -> None:
        window.document.edit("One replica", lambda p: edits.remove(p, ["ndb2"]))
        qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=_LONG_MS)
        window._open_commands()
        problem = next(p for p in window.panels.estimates.latest.problems if p.object_ids and not p.waived)
        command = next(c for c in window.commands._known if problem.message.startswith(c.text.rstrip("…")))
        command.run()
        assert window.selection.ids == problem.object_ids[:1]
        window.commands.hide()

    def test_nothing_found_says_so_and_enter_searches_the_guide(self, window) -> None:
        window._open_commands()
        QTest.keyClicks(window.commands.field, "quorum queue")
        assert window.commands.none.isVisible()
        assert "Nothing is called “quorum queue”" in window.commands.none.text()
        (only,) = window.commands.matching("quorum queue")
        assert only.text == "Search the guide for “quorum queue”"
        QTest.keyClick(window.commands.field, Qt.Key.Key_Return)
        (guide,) = window.findChildren(GuideWindow)
        assert guide.isVisible()
        assert guide.search.text() == "quorum queue"
        guide.close()

    def test_an_error_leads_to_where_the_guide_explains_it(self, window) -> None:
        _run(window, "error 1221")
        (guide,) = window.findChildren(GuideWindow)
        assert guide.isVisible()
        assert guide.search.text() == "1221"
        assert "1221" in guide.page.toPlainText()
        guide.close()

    def test_a_page_of_the_guide_opens_there(self, window) -> None:
        _run(window, "What may fail")
        (guide,) = window.findChildren(GuideWindow)
        assert guide.contents.currentItem().text() == "What may fail"
        guide.close()


class TestFocus:
    def test_it_never_falls_into_a_field_whose_text_the_next_key_would_replace(self, window) -> None:
        panel = window.panels.analyses.show_tab("Problems")
        for hidden in (panel._buttons[""], window.panels.analyses.tabs):
            hidden.setFocus()
            hidden.hide()
            focus = QApplication.focusWidget()
            assert focus is window.panels.analyses_frame
            hidden.show()
        panel._buttons["error"].setFocus()
        panel._buttons["error"].setEnabled(False)
        assert not isinstance(QApplication.focusWidget(), QLineEdit)
        name = window.document.plan.name
        QTest.keyClicks(QApplication.focusWidget(), "x")
        assert window.document.plan.name == name

    def test_after_a_sample_was_opened_keys_change_nothing(self, window) -> None:
        window.show_gallery()
        QTest.keyClick(window.gallery.cards[0], Qt.Key.Key_Return)
        assert QApplication.focusWidget() is window.canvas
        assert window.selection.ids == ()
        plan = window.document.plan
        QTest.keyClicks(QApplication.focusWidget(), "abc")
        assert window.document.plan is plan

    def test_tab_still_goes_from_field_to_field(self, qtbot, window) -> None:
        window.selection.set(["host-a1"])
        with qtbot.waitActive(window):
            window.activateWindow()
        first = window.panels.inspector._page.findChildren(QLineEdit)[0]
        qtbot.waitUntil(first.isVisible)
        first.setFocus()
        QTest.keyClick(first, Qt.Key.Key_Tab)
        after = window.focusWidget()
        assert window.panels.inspector.isAncestorOf(after)
        assert after is not first

    def test_a_page_that_is_made_anew_leaves_the_keyboard_where_it_was(self, qtbot, window) -> None:
        """After RAID 0 by the arrow the keyboard was the canvas's: the next arrow chose another disk."""
        disk = window.document.plan.hosts[0].disks[0].id
        window.selection.set([disk])
        with qtbot.waitActive(window):
            window.activateWindow()

        def name() -> str:
            QApplication.processEvents()
            return str(window.focusWidget().accessibleName())

        boxes = window.panels.inspector._page.findChildren(QComboBox)
        array = next(box for box in boxes if box.accessibleName() == "Array")
        qtbot.waitUntil(array.isVisible)
        array.setFocus()
        assert name() == "Array"
        for level in ("0", "1", "10"):
            QTest.keyClick(window.focusWidget(), Qt.Key.Key_Down)
            assert name() == "Array"
            assert window.document.plan.by_id[disk].raid == level
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        assert name() == "Devices"
        assert window.selection.ids == (disk,)

    def test_tab_leaves_every_field_of_many_lines(self) -> None:
        """Else nobody gets out of it without a mouse."""
        for path in Path(desktop.__path__[0]).rglob("*.py"):
            source = path.read_text(encoding="utf-8")
            made = len(re.findall(r"QPlainTextEdit\(|QTextEdit\(|\(QPlainTextEdit\):", source))
            assert source.count("setTabChangesFocus(True)") == made, path.name

    def test_enter_that_ends_a_rename_stays_on_the_canvas(self, qtbot, window) -> None:
        window.selection.set(["host-a1"])
        QTest.keyClick(window.canvas, Qt.Key.Key_F2)
        field = QApplication.focusWidget()
        assert isinstance(field, QLineEdit)
        QTest.keyClicks(field, "host-x")
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert window.document.plan.host("host-a1").hostname == "host-x"
        assert QApplication.focusWidget() is window.canvas
        assert window.selection.ids == ("host-a1",)

    def test_a_field_that_is_clicked_during_a_rename_has_the_focus(self, qtbot, window) -> None:
        window.selection.set(["host-a1"])
        QTest.keyClick(window.canvas, Qt.Key.Key_F2)
        QTest.keyClicks(QApplication.focusWidget(), "host-y")
        other = QLineEdit(window)
        other.show()
        other.setFocus(Qt.FocusReason.MouseFocusReason)
        assert window.document.plan.host("host-a1").hostname == "host-y"
        assert QApplication.focusWidget() is other

    def test_what_is_hidden_over_the_canvas_with_the_focus_selects_nothing(self, window) -> None:
        window.selection.set(["host-a1"])
        button = window.canvas.findChild(QToolButton)
        button.setFocus()
        button.hide()
        assert window.selection.ids == ("host-a1",)

    def test_a_refused_name_keeps_what_was_typed(self, window) -> None:
        window.selection.set(["host-a1"])
        QTest.keyClick(window.canvas, Qt.Key.Key_F2)
        field = QApplication.focusWidget()
        QTest.keyClicks(field, "no good name!")
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert QApplication.focusWidget() is field
        assert field.text() == "no good name!"
        assert field.property("invalid")
        assert window.messages.isVisible()
        field.selectAll()
        QTest.keyClicks(field, "good-name")
        QTest.keyClick(field, Qt.Key.Key_Return)
        assert window.document.plan.host("host-a1").hostname == "good-name"
