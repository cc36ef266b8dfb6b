"""Parts of the window: one maximised and back, the presentation and back, charts in any room there is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit

from ndbplan.desktop.arrangement import first_size
from ndbplan.desktop.look import theme

_LONG_MS = 240_000
_LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def window(shown):
    return shown("redo-overload", 1366, 768)


def _parts(window) -> dict[str, bool]:
    return {name: part.isVisible() for name, part in window.arrangement._parts.items()}


ALL = {"side": True, "canvas": True, "analyses": True, "inspector": True}


class TestMaximise:
    def test_a_double_click_on_the_tabs_gives_the_analyses_the_window_and_back(self, window) -> None:
        tabs = window.panels.analyses.tabs
        at = tabs.tabRect(0).center()
        QTest.mouseDClick(tabs, _LEFT, pos=at)
        assert _parts(window) == {**dict.fromkeys(ALL, False), "analyses": True}
        assert window.panels.analyses_frame.height() > 600
        assert window.actions_table["maximise"].isChecked()
        QTest.mouseDClick(tabs, _LEFT, pos=at)
        assert _parts(window) == ALL
        assert not window.actions_table["maximise"].isChecked()

    def test_a_double_click_on_the_title_gives_the_inspector_the_window(self, window) -> None:
        head = window.panels.inspector.head
        QTest.mouseDClick(head, _LEFT, pos=QPoint(5, 5))
        assert _parts(window) == {**dict.fromkeys(ALL, False), "inspector": True}
        QTest.mouseDClick(head, _LEFT, pos=QPoint(5, 5))
        assert _parts(window) == ALL

    def test_the_key_maximises_the_part_with_the_focus_and_keeps_what_was_hidden(self, window) -> None:
        window.actions_table["side"].trigger()
        window.canvas.setFocus()
        window.actions_table["maximise"].trigger()
        assert _parts(window) == {**dict.fromkeys(ALL, False), "canvas": True}
        window.actions_table["maximise"].trigger()
        assert _parts(window) == {**ALL, "side": False}
        assert not window.actions_table["side"].isChecked()

    def test_who_clicks_a_tab_maximises_the_analyses(self, window) -> None:
        window.canvas.setFocus()
        tabs = window.panels.analyses.tabs
        QTest.mouseClick(tabs, _LEFT, pos=tabs.tabRect(4).center())
        window.actions_table["maximise"].trigger()
        assert _parts(window) == {**dict.fromkeys(ALL, False), "analyses": True}
        window.actions_table["maximise"].trigger()
        assert _parts(window) == ALL

    def test_showing_a_part_ends_it(self, window) -> None:
        window.canvas.setFocus()
        window.actions_table["maximise"].trigger()
        window.actions_table["inspector"].trigger()
        assert window.arrangement.maximised is None
        assert not window.panels.inspector_frame.isVisible()
        assert window.panels.analyses_frame.isVisible()


class TestPresentation:
    def test_the_first_escape_leaves_whatever_has_the_focus(self, qtbot, window) -> None:
        for focus in (window.canvas, window.panels.analyses.tabs):
            window.selection.set(["data1"])
            window.actions_table["present"].trigger()
            assert not window.top_bar.isVisible()
            with qtbot.waitActive(window):
                window.activateWindow()
            focus.setFocus()
            QTest.keyClick(focus, Qt.Key.Key_Escape)
            assert window.top_bar.isVisible()
            assert not window.isFullScreen()
            assert _parts(window) == ALL

    def test_a_maximised_window_is_maximised_again_and_hidden_parts_stay_hidden(self, window) -> None:
        window.showMaximized()
        window.actions_table["inspector"].trigger()
        window.actions_table["present"].trigger()
        assert window.isFullScreen()
        window.actions_table["present"].trigger()
        assert window.isMaximized()
        assert _parts(window) == {**ALL, "inspector": False}

    def test_a_panel_that_has_the_window_is_presented_and_has_it_afterwards(self, window) -> None:
        tabs, present = window.panels.analyses.tabs, window.actions_table["present"]
        QTest.mouseDClick(tabs, _LEFT, pos=tabs.tabRect(0).center())
        alone = {**dict.fromkeys(ALL, False), "analyses": True}
        present.trigger()
        assert _parts(window) == alone
        present.trigger()
        assert _parts(window) == alone
        QTest.mouseDClick(tabs, _LEFT, pos=tabs.tabRect(0).center())
        assert _parts(window) == ALL

    def test_a_panel_that_gets_it_meanwhile_hides_nothing_afterwards(self, window) -> None:
        """The sides stayed hidden: what the presentation showed was taken for what was on show before."""
        for trigger in ("present", "maximise", "present"):
            window.actions_table[trigger].trigger()
        assert _parts(window) == ALL

    def test_the_view_is_afterwards_what_it_was(self, qtbot, window) -> None:
        canvas = window.canvas
        canvas.set_zoom(1.5)
        canvas.look_at(canvas.canvas_scene.item_of("data1").rect_in_scene().center())
        before = canvas.transform(), canvas.mapToScene(0, 0)
        window.actions_table["present"].trigger()
        qtbot.waitUntil(lambda: canvas.zoom != 1.5)
        window.actions_table["present"].trigger()
        qtbot.waitUntil(lambda: canvas.zoom == 1.5)
        assert canvas.transform() == before[0]
        moved = canvas.mapToScene(0, 0) - before[1]
        assert max(abs(moved.x()), abs(moved.y())) < 2

    def test_the_canvas_may_be_larger_than_its_actual_size(self, qtbot, window) -> None:
        window.open_sample("tick-store")
        qtbot.waitUntil(lambda: window.canvas.zoom == 1.0)
        window.actions_table["present"].trigger()
        qtbot.waitUntil(lambda: window.canvas.zoom > 1.0)
        window.actions_table["present"].trigger()
        qtbot.waitUntil(lambda: window.canvas.zoom == 1.0)


def test_a_first_window_fits_its_screen(window) -> None:
    room = window.screen().availableGeometry().size()
    size = first_size(window)
    assert size.width() <= room.width()
    assert size.height() <= room.height()


class TestCharts:
    @pytest.fixture
    def charts(self, qtbot, window):
        window.navigation.simulate()
        panel = window.panels.analyses.panel("Simulation")
        qtbot.waitUntil(lambda: panel.result is not None, timeout=_LONG_MS)
        return panel.charts

    def test_in_a_small_window_no_chart_is_lower_than_a_few_lines(self, qtbot, window, charts) -> None:
        for size in ((1366, 768), (1280, 720), (1680, 1050), (2560, 1440)):
            window.resize(*size)
            qtbot.waitUntil(lambda: all(c.plot.height() >= 80 for c in charts.all if c.isVisible()))
            assert sum(c.isVisible() for c in charts.all) >= 3

    def test_charts_in_one_row_take_turns(self, qtbot, window, charts) -> None:
        qtbot.waitUntil(lambda: charts.buffers.isVisible() and not charts.log.isVisible())
        QTest.mouseClick(charts.to_log, _LEFT)
        assert charts.log.isVisible()
        assert not charts.buffers.isVisible()
        # A link that has just come has its place once the window has laid it out.
        QApplication.processEvents()
        QTest.mouseClick(charts.to_buffers, _LEFT)
        assert charts.buffers.isVisible()

    def test_a_double_click_on_its_title_shows_a_chart_alone(self, qtbot, window, charts) -> None:
        before = {c for c in charts.all if c.isVisible()}
        QTest.mouseDClick(charts.writes.title, _LEFT)
        assert [c for c in charts.all if c.isVisible()] == [charts.writes]
        assert QApplication.focusWidget() is charts.writes.plot
        QTest.keyClick(charts.writes.plot, Qt.Key.Key_M)
        assert {c for c in charts.all if c.isVisible()} == before

    def test_every_line_is_named_in_its_colour_at_any_width(self, qtbot, window, charts) -> None:
        for size in ((1366, 768), (1680, 1050), (2560, 1440)):
            window.resize(*size)
            qtbot.waitUntil(lambda: charts.width() > 0)
            for chart in (charts.writes, charts.rates):
                chart.show_values_at(10.0)
                named = chart.readout.text() + (
                    chart.readout.legend.text() if chart.readout.legend.isVisible() else ""
                )
                for series in chart._content.series:
                    assert series.name.replace(" ", "&nbsp;") in named
                    assert series.colour in named
                assert "…" not in named


def test_texts_are_larger_while_it_is_presented(qtbot, window) -> None:
    tabs, present = window.panels.analyses.tabs, window.actions_table["present"]
    before = tabs.fontMetrics().height()
    table = window.panels.analyses.show_tab("Memory").tables
    qtbot.waitUntil(lambda: table.model().rowCount() > 0)
    names = [table.model().headerData(column, Qt.Orientation.Horizontal) for column in range(3)]
    columns = [table.columnWidth(column) for column in range(3)]
    wanted = [table._wanted(column, name) for column, name in enumerate(names)]
    present.trigger()
    assert tabs.fontMetrics().height() > before
    # Those of other windows stay as they are.
    elsewhere = QLabel("elsewhere")
    elsewhere.ensurePolished()
    assert elsewhere.fontInfo().pixelSize() == 13
    for column, name in enumerate(names):
        # What room is left is shared by the columns that are seen, which may be fewer now.
        assert table.columnWidth(column) >= table._wanted(column, name) > wanted[column]
    present.trigger()
    assert tabs.fontMetrics().height() == before
    assert [table.columnWidth(column) for column in range(3)] == columns


def test_what_a_presentation_says_covers_no_banner(window) -> None:
    """How to leave it lay over what a replay says across the canvas, whichever came first."""
    banner, messages, present = window.canvas.banner, window.messages, window.actions_table["present"]

    def places() -> tuple[QRect, QRect]:
        said = QRect(banner.mapTo(window._body, QPoint(0, 0)), banner.size())
        return said, messages.geometry()

    banner.say("The cluster stopped: node group 0 is gone", "error")
    present.trigger()
    assert messages.isVisible()
    said, told = places()
    assert said.isValid()
    assert not said.intersects(told)
    banner.say("", "info")
    assert messages.y() < said.bottom()
    banner.say("Transactions stand still", "warning")
    said, told = places()
    assert not said.intersects(told)
    present.trigger()


def test_a_window_that_is_closed_while_it_presents_leaves_no_large_texts(window) -> None:
    window.actions_table["present"].trigger()
    assert theme.theme().text_scale > 1.0
    window.close()
    assert theme.theme().text_scale == 1.0


@pytest.mark.parametrize("gone", ["disabled", "hidden"])
def test_the_keyboard_stays_in_the_part_whose_button_goes(qtbot, window, gone: str) -> None:
    """After "Simulate them too" the canvas had the keys: Delete removed what was selected there."""
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=_LONG_MS)
    window.activateWindow()
    window.selection.set([window.document.plan.hosts[0].id])
    panel = window.panels.analyses.show_tab("Compare")
    button = panel.simulate
    button.setEnabled(True)
    button.setFocus()
    assert QApplication.focusWidget() is button
    if gone == "disabled":
        button.setEnabled(False)
    else:
        button.hide()
    focus = QApplication.focusWidget()
    frame = window.panels.analyses_frame
    assert focus is frame or frame.isAncestorOf(focus)
    assert not isinstance(focus, QLineEdit)
    before = window.document.plan
    QTest.keyClick(focus, Qt.Key.Key_Delete)
    QTest.keyClicks(focus, "x")
    assert window.document.plan is before
    window.actions_table["maximise"].trigger()
    assert _parts(window) == {**dict.fromkeys(ALL, False), "analyses": True}
