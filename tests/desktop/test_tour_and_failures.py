"""A sample opens where its point is; failures are a table, colours on the canvas, and can be watched."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QStyleOptionViewItem, QTableView

from ndbplan.describe.tours import tour_of
from ndbplan.desktop.analyses.area import TABS
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.inspector.advice import RemedyCard
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.plan.samples import sample_names

_LONG_MS = 240_000
_LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def window(qtbot, qapp, tmp_path):
    theme.install(qapp, "dark")
    made = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    made.files.ask_unsaved = lambda: "discard"
    made.resize(1500, 950)
    made.show()
    made.finish_building()
    yield made
    made.files.ask_unsaved = lambda: "discard"
    made.close()
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def _idle(qtbot, window) -> None:
    area = window.panels.analyses
    qtbot.waitUntil(lambda: not area.context.tasks.is_busy, timeout=_LONG_MS)


def _tab(window) -> str:
    return TABS[window.panels.analyses.tabs.currentIndex()][0]


class TestTour:
    def test_a_sample_of_the_gallery_opens_on_its_moment(self, qtbot, window) -> None:
        window.show_gallery()
        card = next(c for c in window.gallery.cards if c.about.name == "redo-overload")
        QTest.mouseClick(card, _LEFT)
        assert _tab(window) == "Simulation"
        panel = window.panels.analyses.panel("Simulation")
        qtbot.waitUntil(lambda: panel.result is not None, timeout=_LONG_MS)
        _idle(qtbot, window)
        assert panel.result.workload == "2 x 5120 B, 4320 tx/s"
        assert panel.scrubber.at_s == 10.0
        assert window.tour.card.isVisible()
        assert window.tour.spot.target is panel.charts.writes
        qtbot.waitUntil(window.tour.spot.isVisible)
        assert window.selection.ids == ("data1-c0d1",)

    def test_the_starter_shows_a_limit_and_leads_to_what_would_help(self, qtbot, window) -> None:
        window.show_sample("starter")
        panel = window.panels.analyses.panel("Simulation")
        qtbot.waitUntil(lambda: panel.result is not None, timeout=_LONG_MS)
        _idle(qtbot, window)
        assert panel.result.accepted_per_s.value < 0.95 * panel.result.offered_per_s
        inspector = window.panels.inspector
        window.selection.set(["host-a1-nvme0"])
        panel.summary._help.click()
        qtbot.waitUntil(lambda: bool(inspector.findChildren(RemedyCard)), timeout=_LONG_MS)
        qtbot.waitUntil(lambda: not inspector._advice.visibleRegion().isEmpty())
        cards = inspector.findChildren(RemedyCard)
        assert any("SQL node" in one._remedy.title for one in cards)
        # Nothing is wider than the inspector: what is cut beside it would be cut in height too.
        qtbot.waitUntil(lambda: all(one.height() >= one.heightForWidth(one.width()) for one in cards))
        before, after = panel.charts.rates.drawing.lines[:2]
        assert before.zValue() > after.zValue(), "what is accepted lies over what is offered"

    def test_next_and_back_go_through_the_steps_and_done_ends_it(self, qtbot, window) -> None:
        window.show_sample("redo-overload")
        panel = window.panels.analyses.panel("Simulation")
        qtbot.waitUntil(lambda: panel.result is not None, timeout=_LONG_MS)
        _idle(qtbot, window)
        steps = tour_of("redo-overload")
        first = panel.result
        for number, step in enumerate(steps):
            assert window.tour.step == step
            assert f"{number + 1} of {len(steps)}" in window.tour.card.place_text.text()
            assert panel.scrubber.at_s == step.at_s
            QTest.mouseClick(window.tour.card.next, _LEFT)
        assert panel.result is first, "a run that is there is not made again"
        assert not window.tour.card.isVisible()
        assert not window.tour.spot.isVisible()
        window.tour.start("redo-overload")
        QTest.mouseClick(window.tour.card.next, _LEFT)
        QTest.mouseClick(window.tour.card.back, _LEFT)
        assert window.tour.step == steps[0]

    def test_another_plan_ends_it(self, qtbot, window) -> None:
        window.show_sample("node-restart")
        assert window.tour.card.isVisible()
        assert _tab(window) == "Operations"
        window.files.new()
        assert not window.tour.card.isVisible()
        _idle(qtbot, window)

    def test_the_card_lies_inside_of_the_canvas_at_any_size(self, qtbot, window) -> None:
        window.show_sample("add-nodes")
        card = window.tour.card
        for size in ((1366, 768), (1100, 700), (2000, 1200), (911, 500)):
            window.resize(*size)
            qtbot.waitUntil(lambda: window.canvas.rect().contains(card.geometry()))
            assert card.height() >= card.layout().totalHeightForWidth(card.width())
        _idle(qtbot, window)

    def test_the_card_lies_where_least_of_the_hosts_is_hidden(self, qtbot, window) -> None:
        window.resize(1366, 768)
        window.show_sample("starter")
        _idle(qtbot, window)
        view, card = window.canvas, window.tour.card
        QTest.mouseClick(card.next, _LEFT)
        hosts = [view.canvas_scene.item_of(host.id).rect_in_scene() for host in window.document.plan.hosts]
        shown = [view.mapFromScene(rect).boundingRect() for rect in hosts]

        def hidden(place: QRect) -> int:
            return sum(under.width() * under.height() for rect in shown if (under := rect & place).isValid())

        lower_left = card.geometry().translated(12 - card.x(), 0)
        assert hidden(card.geometry()) < hidden(lower_left)
        assert not card.geometry().intersects(window.panels.colours.legend.geometry())
        advice = window.panels.inspector._advice
        qtbot.waitUntil(lambda: not advice.visibleRegion().isEmpty(), timeout=_LONG_MS)
        _idle(qtbot, window)

    def test_every_step_points_at_something(self, qtbot, window) -> None:
        # One window for all: a window takes longer than a tour.
        for name in sample_names():
            if name == "telecom-144":
                window.resize(1200, 800)
            window.show_sample(name)
            for step in tour_of(name):
                assert window.tour.step == step, name
                if step.target != "canvas":
                    qtbot.waitUntil(lambda: window.tour.spot.target is not None, timeout=_LONG_MS)
                assert not step.tab or _tab(window) == step.tab, name
                QTest.mouseClick(window.tour.card.next, _LEFT)
            _idle(qtbot, window)


def whole(table: QTableView, index: QModelIndex) -> bool:
    """Whether a text has the room that it asks for in a column of this width."""
    option = QStyleOptionViewItem()
    table.initViewItemOption(option)
    option.rect = QRect(0, 0, table.columnWidth(index.column()), 10_000)
    asked = table.itemDelegateForIndex(index).sizeHint(option, index)
    wraps = asked.height() > option.fontMetrics.lineSpacing() * 1.9
    fits = wraps or asked.width() <= table.columnWidth(index.column())
    return fits and asked.height() <= table.rowHeight(index.row())


class TestFailures:
    @pytest.fixture
    def panel(self, qtbot, window):
        window.open_sample("starter")
        panel = window.panels.analyses.show_tab("Failures")
        qtbot.waitUntil(lambda: panel.report is not None, timeout=_LONG_MS)
        return panel

    def test_every_single_failure_has_a_row_the_worst_first(self, panel) -> None:
        model = panel.rows
        texts = [model.data(model.index(row, 1)) for row in range(model.rowCount())]
        assert len(texts) == len(panel.report.failures) == 24
        assert texts == sorted(texts)
        assert texts[0] == "asks the arbitrator"
        whole = model.data(model.index(0, 1), Qt.ItemDataRole.ToolTipRole)
        assert whole == "goes on if the arbitrator (node 145) answers"
        assert "none of 24 single failures stops" in panel.line.text()

    def test_rows_are_no_higher_than_two_lines_in_the_smallest_window(self, qtbot, window, panel) -> None:
        """What the cluster does took three lines in each: two rows were seen at once."""
        window.resize(1366, 741)
        QApplication.processEvents()
        line = panel.table.fontMetrics().height()
        asking = [row for row, text in enumerate(panel.rows.texts(1)) if text.startswith("asks")]
        assert asking
        assert max(panel.table.rowHeight(row) for row in asking[:2]) < 3 * line

    def test_no_text_of_a_row_is_cut(self, qtbot, window, panel) -> None:
        """Hosts whose names differ by part of a pixel both read `host-…`; all reasons ended in `…`."""
        rows, table = panel.rows, panel.table
        every = [rows.index(row, column) for row in range(rows.rowCount()) for column in range(5)]
        present = window.actions_table["present"]
        present.trigger()
        qtbot.waitUntil(lambda: all(whole(table, index) for index in every))
        present.trigger()
        qtbot.waitUntil(lambda: all(whole(table, index) for index in every))
        for room in (0, 560, 676, 762, 1100):
            if room:
                table.setFixedWidth(room)
            assert not [rows.data(index) for index in every if not whole(table, index)], room
        table.setColumnWidth(4, table.columnWidth(4) - 60)
        assert not [rows.data(index) for index in every if not whole(table, index)], "narrower by hand"
        why = rows.index(0, rows.columnCount() - 1)
        assert rows.data(why, Qt.ItemDataRole.ToolTipRole) == panel.report.failures[0].why
        table.selectRow(0)
        assert rows.data(why) in panel.line.text()

    def test_the_usual_reason_is_as_short_as_its_line_lets_it(self, qtbot, window, panel) -> None:
        """`node group 0 lost no memb…` stood in each line of 144 data nodes at 1280 pixels."""
        window.document.edit("One more node group", add_node_group)
        qtbot.waitUntil(lambda: "node group 0 lost no member" in panel.rows.texts(4), timeout=_LONG_MS)
        row = [*panel.rows.texts(4)].index("node group 0 lost no member")
        panel.table.selectRow(row)
        assert panel.line.text().endswith("node group 0 lost no member in this failure")

    def test_what_a_loss_means_is_seen_beside_the_longest_names(self, panel, window, qtbot) -> None:
        """A host name of 63 letters left no room for anything but itself."""
        long = "daten-host-mit-sehr-langem-namen-im-ersten-schrank-a1.example.d"
        host = window.document.plan.hosts[0].id
        window.document.edit("Rename", lambda plan: edits.update(plan, host, hostname=long))
        qtbot.waitUntil(lambda: any(long in text for text in panel.rows.texts(0)), timeout=_LONG_MS)
        table = panel.table
        assert table.horizontalScrollBar().value() == 0
        ends = table.columnViewportPosition(1) + table.columnWidth(1)
        assert table.columnWidth(0) >= 240
        assert ends <= table.viewport().width()

    @pytest.mark.parametrize("room", range(560, 1000, 55))
    def test_no_column_lies_half_beyond_the_edge(self, panel, room: int) -> None:
        """At 1280x720 `15 min` stood there as `15 r`."""
        table = panel.table
        table.setFixedWidth(room)
        edge = table.viewport().width()
        for column in range(panel.rows.columnCount()):
            start = table.columnViewportPosition(column)
            assert start >= edge or start + table.columnWidth(column) <= edge, column

    def test_the_canvas_is_coloured_while_it_is_on_show(self, qtbot, window, panel) -> None:
        look = window.canvas.canvas_scene.look
        qtbot.waitUntil(lambda: bool(look.colouring.shades))
        assert look.colouring.shades["ndb1"].text == "asks"
        assert look.colouring.shades["app-a1"].text == "goes on"
        coloured = window.canvas.grab().toImage()
        window.panels.analyses.show_tab("Memory")
        assert not look.colouring.shades
        assert window.canvas.grab().toImage() != coloured
        window.panels.analyses.show_tab("Failures")
        qtbot.waitUntil(lambda: bool(look.colouring.shades))

    def test_a_row_selects_and_a_selection_marks_its_row(self, window, panel) -> None:
        row = next(i for i, f in enumerate(panel.rows.failures) if str(f.dead[0]) == "host:app-b1")
        QTest.mouseClick(
            panel.table.viewport(), _LEFT, pos=panel.table.visualRect(panel.rows.index(row, 0)).center()
        )
        assert window.selection.ids == ("app-b1",)
        window.selection.set(["ndb2"])
        chosen = panel.table.selectionModel().selectedRows()
        assert str(panel.rows.failures[chosen[0].row()].dead[0]) == "node:2"

    def test_the_inspector_says_what_the_loss_of_the_selected_means(self, qtbot, window, panel) -> None:
        def told() -> list[str]:
            return [w.text() for w in window.panels.inspector.findChildren(QLabel) if w.isVisible()]

        window.selection.set(["rack-a"])
        qtbot.waitUntil(lambda: "If it fails: goes on if the arbitrator (node 145) answers" in told())
        window.selection.set([window.document.plan.tables[0].id])
        assert not any("If it fails" in line for line in told())
        window.selection.set(["host-a1"])
        window.document.edit("One replica", lambda p: edits.remove(p, ["ndb2"]))
        qtbot.waitUntil(lambda: "If it fails: stops: node group 0 is gone" in told())

    def test_the_table_follows_the_plan_and_kinds_are_filtered(self, qtbot, window, panel) -> None:
        QTest.mouseClick(panel._kinds["rack"], _LEFT)
        assert [f.dead[0].kind for f in panel.rows.failures] == ["rack"] * 3
        window.document.edit("One replica", lambda p: edits.remove(p, ["ndb2"]))
        qtbot.waitUntil(lambda: panel.report is not None, timeout=_LONG_MS)
        assert "stop the cluster" in panel.line.text()
        window.files.new()
        assert panel.rows.rowCount() == 0
        assert not window.canvas.canvas_scene.look.colouring.shades

    def test_a_failure_is_watched_in_the_simulation(self, qtbot, window, panel) -> None:
        row = next(i for i, f in enumerate(panel.rows.failures) if str(f.dead[0]) == "switch:Rack B")
        panel.table.selectRow(row)
        QTest.mouseClick(panel.watch, _LEFT)
        (event,) = window.document.plan.workloads[0].events
        assert (event.kind, event.object_ids) == ("network_cut", ("rack-b",))
        simulation = window.panels.analyses.panel("Simulation")
        qtbot.waitUntil(lambda: simulation.result is not None, timeout=_LONG_MS)
        simulation.scrubber.stop()
        assert _tab(window) == "Simulation"
