"""All tables in one grid: typed, filtered, sorted and pasted, with totals of what is shown."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton

from ndbplan.desktop.analyses.tables import TablesPanel, load_shares
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.edits import parts, validated
from ndbplan.edits.pasted_tables import put_pasted
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

WAIT_MS = 20_000
ROWS, GROWTH, AVERAGE, STORAGE, LOAD = 2, 3, 4, 5, 6


@pytest.fixture
def window(qtbot, qapp, tmp_path):
    theme.install(qapp, "light")
    made = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    made.files.ask_unsaved = lambda: "discard"
    made.resize(1366, 768)
    made.show()
    made.finish_building()
    made.open_sample("starter")
    yield made
    made.close()
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def panel_of(window: MainWindow, qtbot) -> TablesPanel:
    panel = window.panels.analyses.show_tab("Tables")
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh and bool(panel.model.figures), timeout=WAIT_MS)
    return panel


def shown(panel: TablesPanel, row: int, column: int) -> str:
    return panel.shown.data(panel.shown.index(row, column)) or ""


def test_rows_are_typed_in_the_grid_as_one_undoable_step(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    index = panel.shown.index(0, ROWS)
    panel.view.setCurrentIndex(index)
    panel.view.edit(index)
    editor = panel.view.findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, "12M")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    # The editor hands its text over in the next turn of the event loop.
    qtbot.waitUntil(lambda: window.document.plan.tables[0].rows == 12_000_000, timeout=WAIT_MS)
    assert "rows" not in window.document.plan.tables[0].assumed
    window.document.undo_stack.undo()
    assert window.document.plan.tables[0].rows != 12_000_000
    assert not panel.shown.flags(panel.shown.index(0, STORAGE)) & Qt.ItemFlag.ItemIsEditable


def _type(qtbot, panel: TablesPanel, text: str) -> None:
    qtbot.waitUntil(lambda: panel.view.findChild(QLineEdit) is not None, timeout=WAIT_MS)
    editor = panel.view.findChild(QLineEdit)
    editor.selectAll()
    qtbot.keyClicks(editor, text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.view.findChild(QLineEdit) is None, timeout=WAIT_MS)


def test_enter_goes_on_to_the_row_below_unless_it_is_refused(window, qtbot) -> None:
    """Who typed the rows of one table after another overwrote the first."""
    panel = panel_of(window, qtbot)
    window.document.edit("Empty", lambda p: parts.update(p, p.tables[1].id, rows=0))
    panel.ask_rows()
    assert panel.view.currentIndex() == panel.shown.index(1, ROWS)
    _type(qtbot, panel, "3M")
    assert panel.view.currentIndex() == panel.shown.index(2, ROWS)
    assert window.document.plan.tables[1].rows == 3_000_000
    panel.view.edit(panel.view.currentIndex())
    _type(qtbot, panel, "many")
    assert panel.view.currentIndex() == panel.shown.index(2, ROWS)


def test_numbers_are_whole_however_large(window, qtbot) -> None:
    """900 000 000 000 000 rows read 900 000 00…"""
    panel = panel_of(window, qtbot)
    table = window.document.plan.tables[0]
    edit = {"rows": 9 * 10**14, "growth_rows_per_month": 8 * 10**14}
    window.document.edit("Grow", lambda plan: parts.update(plan, table.id, **edit))
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=WAIT_MS)
    metrics = panel.view.fontMetrics()
    for column in (ROWS, GROWTH, AVERAGE, STORAGE, LOAD):
        text = shown(panel, 0, column)
        assert panel.view.columnWidth(column) > metrics.horizontalAdvance(text), text


def test_what_is_no_number_is_refused_in_one_line(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    assert not panel.shown.setData(panel.shown.index(0, ROWS), "many")
    assert "'many' is not a number" in panel.error.toolTip() or "many" in panel.error.text()


def test_the_filter_and_the_totals_go_together(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    tables = window.document.plan.tables
    assert panel.shown.rowCount() == len(tables)
    assert f"{len(tables)} tables" in panel.totals.text()
    assert "100 % of the load" in panel.totals.text()
    panel.filter.setFocus()
    qtbot.keyClicks(panel.filter, tables[0].name.upper())
    assert panel.shown.rowCount() == 1
    assert f"1 of {len(tables)} table " in panel.totals.text() + " "
    assert shown(panel, 0, 1) == tables[0].name


def test_columns_sort_by_their_numbers(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    panel.view.sortByColumn(ROWS, Qt.SortOrder.DescendingOrder)
    names = [shown(panel, row, 1) for row in range(panel.shown.rowCount())]
    expected = [t.name for t in sorted(window.document.plan.tables, key=lambda t: -t.rows)]
    assert names == expected
    # An edit in a sorted grid is one of the table that is seen there.
    assert panel.shown.setData(panel.shown.index(0, GROWTH), "7k")
    table = next(t for t in window.document.plan.tables if t.name == expected[0])
    assert table.growth_rows_per_month == 7000


def test_figures_are_pasted_from_a_spreadsheet(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    first, second = window.document.plan.tables[:2]
    QGuiApplication.clipboard().setText(
        f"table\trows\tgrowth\n{first.full_name}\t20M\t1M\n{second.name}\t3 000 000\t\nnobody\t5\t5\n"
    )
    panel.view.setFocus()
    qtbot.keyClick(panel.view, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    after = {table.id: table for table in window.document.plan.tables}
    assert (after[first.id].rows, after[first.id].growth_rows_per_month) == (20_000_000, 1_000_000)
    assert after[second.id].rows == 3_000_000
    assert after[second.id].growth_rows_per_month == second.growth_rows_per_month
    assert "no table is called nobody" in panel.error.toolTip() or "nobody" in panel.error.text()
    window.document.undo_stack.undo()
    assert window.document.plan.tables[0] == first, "one step"


def asked(panel: TablesPanel) -> list[QPushButton]:
    return [button for button in panel.readings.findChildren(QPushButton) if not button.isHidden()]


@pytest.mark.parametrize(("meant", "rows"), [(0, [900_000, 1500]), (1, [900, 1500])])
def test_a_paste_asks_once_how_thousands_are_written(window, qtbot, meant, rows) -> None:
    panel = panel_of(window, qtbot)
    before = window.document.plan
    first, second = before.tables[:2]
    QGuiApplication.clipboard().setText(f"{first.name}\t900.000\n{second.name}\t1,500")
    panel.paste()
    assert window.document.plan is before
    assert [button.text() for button in asked(panel)] == ["900000", "900"]
    asked(panel)[meant].click()
    assert [table.rows for table in window.document.plan.tables[:2]] == rows
    assert not asked(panel)


def test_a_figure_of_the_grid_that_reads_two_ways_is_asked_about(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    before = window.document.plan
    assert not panel.shown.setData(panel.shown.index(0, ROWS), "1,500")
    assert "reads two ways: 1500 or 1.5" in panel.error.text()
    assert window.document.plan is before
    [button] = asked(panel)
    button.click()
    assert 1500 in [table.rows for table in window.document.plan.tables]
    assert not panel.error.text()


def test_figures_without_names_go_into_the_tables_below_as_they_are_shown(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    before = window.document.plan.tables
    panel.shown.sort(1, Qt.SortOrder.DescendingOrder)
    shown = [
        before[panel.shown.mapToSource(panel.shown.index(row, 0)).row()].id for row in range(len(before))
    ]
    panel.view.setCurrentIndex(panel.shown.index(1, GROWTH - 1))
    QGuiApplication.clipboard().setText("20M\t5\n3000\t7\n")
    panel.paste()
    after = [window.document.plan.by_id[table_id] for table_id in shown]
    assert [(t.rows, t.growth_rows_per_month) for t in after[1:3]] == [(20_000_000, 5), (3000, 7)]
    assert after[0] in before
    QGuiApplication.clipboard().setText("\n".join("1" for _ in before))
    panel.paste()
    assert "begin farther above" in panel.error.text() + panel.error.toolTip()
    assert [window.document.plan.by_id[table_id] for table_id in shown] == after, "whole or not at all"


def test_pasted_text_is_read_whole_or_not_at_all() -> None:
    plan = sample_plan("starter")
    first = plan.tables[0]
    assert put_pasted(plan, "") == (plan, ())
    assert put_pasted(plan, f"{first.name}\t{first.rows}")[0] is plan, "what is so already changes nothing"
    growth, _ = put_pasted(plan, f"name\tgrowth\n{first.name}\t5")
    assert growth.tables[0].growth_rows_per_month == 5
    assert growth.tables[0].rows == first.rows
    both, _ = put_pasted(plan, f"name\trows\tgrowth\n{first.name}\t7\t5")
    assert (both.tables[0].rows, both.tables[0].growth_rows_per_month) == (7, 5)
    for typed, rows in (("1 500", 1500), ("2,500,000", 2_500_000), ("2.500.000", 2_500_000)):
        assert put_pasted(plan, f"{first.name}\t{typed}")[0].tables[0].rows == rows
    for wrong in ("many", "1,500", "900.000", "1.5", "-3"):
        with pytest.raises(Exception, match=f"{first.full_name}|rows"):
            put_pasted(plan, f"{first.name}\t{wrong}")


def test_load_shares_are_shares() -> None:
    assert load_shares(EMPTY_PLAN, None) == {}
    shares = load_shares(sample_plan("starter"), None)
    assert sum(shares.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("long_names", [False, True])
def test_every_figure_is_in_sight_in_little_room(window, qtbot, long_names: bool) -> None:
    """The load of 144 data nodes lay behind a scroll bar at 1280 pixels, beside names with room to spare."""

    def large(plan):
        name = "a_database_with_a_name_of_many_letters" if long_names else "hlr"
        return plan.replace(
            tables=tuple(
                validated.changed(t, database=name, rows=900_000_000_000, growth_rows_per_month=100_000_000)
                for t in plan.tables
            )
        )

    window.resize(1280, 700)
    panel = panel_of(window, qtbot)
    window.document.edit("Large", large)
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=WAIT_MS)
    view = panel.view
    assert view.horizontalScrollBar().maximum() == 0
    for column in range(ROWS, LOAD + 1):
        assert view.columnWidth(column) >= view.width_of(column), column
    assert sum(map(view.columnWidth, range(LOAD + 1))) == view.viewport().width()


def test_a_digit_more_moves_no_column(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    before = [panel.view.columnWidth(column) for column in range(LOAD + 1)]
    for rows in (7, 10_000_000):
        window.document.edit("Rows", lambda plan, n=rows: parts.update(plan, plan.tables[0].id, rows=n))
        qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=WAIT_MS)
        assert [panel.view.columnWidth(column) for column in range(LOAD + 1)] == before


def test_a_column_that_was_dragged_stays_as_wide(window, qtbot) -> None:
    panel = panel_of(window, qtbot)
    head = panel.view.horizontalHeader()
    edge = head.sectionViewportPosition(1) + head.sectionSize(1) - 1
    wide, middle = head.sectionSize(1), head.height() // 2
    QTest.mousePress(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(edge, middle))
    QTest.mouseMove(head.viewport(), QPoint(edge - 20, middle))
    QTest.mouseMove(head.viewport(), QPoint(edge - 40, middle))
    QTest.mouseRelease(head.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(edge - 40, middle))
    assert head.sectionSize(1) == wide - 40
    window.document.edit("Rows", lambda plan: parts.update(plan, plan.tables[0].id, rows=7))
    qtbot.waitUntil(lambda: window.panels.estimates.is_fresh, timeout=WAIT_MS)
    assert head.sectionSize(1) == wide - 40
