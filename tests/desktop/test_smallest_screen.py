"""The window on a screen of 1024 by 700 pixels: it fits, and no word or figure of a panel is cut."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ndbplan.desktop.analyses.area import TABS
from ndbplan.desktop.document.tasks import Tasks
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.widgets.fields import LineField
from ndbplan.desktop.widgets.sections import Elided, NameButton
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.disk_data import with_tablespace
from ndbplan.edits.offers import workload_of_tables
from ndbplan.plan.events import NodeFailure
from ndbplan.plan.plan import Plan

SIZE = (1022, 660)
"""Pixels that a window manager's frame leaves."""


@pytest.fixture
def window(shown: Callable[[str, int, int], MainWindow]) -> MainWindow:
    return shown("starter", *SIZE)


def rested(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(
        lambda: window.panels.estimates.is_fresh and not any(t.is_busy for t in window.findChildren(Tasks)),
        timeout=60_000,
    )
    for _ in range(5):
        QApplication.processEvents()


def cut(root: QWidget) -> list[tuple[str, str]]:
    """What is shown in part: kind and text."""
    found = []
    for widget in root.findChildren(QWidget):
        if not isinstance(widget, QLabel | QAbstractButton) or not widget.isVisible() or not widget.text():
            continue
        if isinstance(widget, Elided):
            if widget.shown() not in (widget.text(), *widget._shorter):
                found.append(("line", widget.text()))
        elif isinstance(widget, QLabel) and not widget.wordWrap() and not widget.text().startswith("<"):
            if widget.width() < widget.fontMetrics().horizontalAdvance(widget.text()) or beyond(widget):
                found.append(("label", widget.text()))
        elif isinstance(widget, NameButton):
            # Cut by the font, whose metrics tell how much of the name has room.
            if beyond(widget) or widget.fontMetrics().horizontalAdvance(widget.text()) > widget.width():
                found.append(("name", widget.text()))
        elif isinstance(widget, QAbstractButton) and (
            widget.width() < widget.minimumSizeHint().width()
            or (
                isinstance(widget, QToolButton | QPushButton)
                and widget.width() < widget.sizeHint().width() - 1
            )
            or beyond(widget)
        ):
            found.append(("button", widget.text()))
    return found


def beyond(widget: QWidget) -> bool:
    """Whether something ends to the right of what scrolls it and cannot be scrolled there."""
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea) and not above.horizontalScrollBar().isVisible():
            view = above.viewport()
            return widget.mapTo(view, QPoint(widget.width(), 0)).x() > view.width() + 1
        above = above.parentWidget()
    return False


def test_the_window_fits_and_each_panel_is_whole(window: MainWindow, qtbot: QtBot) -> None:
    assert (window.width(), window.height()) == SIZE
    assert window.minimumSizeHint().width() <= SIZE[0]
    rested(window, qtbot)
    window.navigation.simulate()
    rested(window, qtbot)
    found = {}
    for name, _, _ in TABS:
        window.panels.analyses.show_tab(name)
        rested(window, qtbot)
        found[name] = cut(window.panels.analyses.stack.currentWidget())
    assert {name: what for name, what in found.items() if what} == {}
    assert cut(window.top_bar) == []


def test_charts_in_little_room_are_high_enough_to_be_read(window: MainWindow, qtbot: QtBot) -> None:
    rested(window, qtbot)
    window.navigation.simulate()
    rested(window, qtbot)
    charts = window.panels.analyses.panel("Simulation").charts
    qtbot.waitUntil(lambda: all(c.is_drawn for c in charts.all), timeout=20_000)
    seen = set()
    for link in (charts.to_log, charts.to_writes, charts.back):
        shown = [c for c in charts.all if c.isVisible()]
        seen.update(shown)
        assert len(shown) == 2
        assert min(c.plot.getViewBox().height() for c in shown) > 60
        qtbot.mouseClick(link, Qt.MouseButton.LeftButton)
    assert seen == {charts.rates, charts.buffers, charts.log, charts.writes}
    # What is clicked on the canvas is shown, whose turn it is or not.
    window.selection.set([window.document.plan.hosts[0].disks[1].id])
    assert charts.writes.isVisible()
    window.selection.set([window.document.plan.data_nodes[0].id])
    assert charts.buffers.isVisible()


def test_the_replay_and_what_fails_first_have_room(window: MainWindow, qtbot: QtBot) -> None:
    rested(window, qtbot)
    plan = window.document.plan
    event = NodeFailure(at_s=20.0, object_id=plan.data_nodes[1].id)
    window.document.edit(
        "Fail", lambda p: edits.update(p, p.workloads[0].id, events=(event,), duration_s=60.0)
    )
    rested(window, qtbot)
    window.navigation.simulate()
    panel = window.panels.analyses.panel("Simulation")
    # Between the parts of a run no task is at work.
    qtbot.waitUntil(lambda: panel.result is not None, timeout=60_000)
    rested(window, qtbot)
    assert panel.result.first_error is not None
    assert panel.scrubber.track.width() >= 70
    assert panel._first_error.isVisible()
    assert cut(panel) == []


def test_no_mark_hides_digits_of_an_assumed_value(window: MainWindow, qtbot: QtBot) -> None:
    rested(window, qtbot)
    window.panels.inspector_frame.setMinimumWidth(280)
    window.workspace.setSizes([216, 10_000, 280])
    window.editor.do("A load", lambda p: edits.add(p, workload_of_tables(p)))
    window.selection.set([window.document.plan.workloads[-1].id])
    rested(window, qtbot)
    fields = [f for f in window.panels.inspector.findChildren(LineField) if f.assumed.isVisible()]
    assert fields
    for field in fields:
        ends = field.editor.fontMetrics().horizontalAdvance(field.editor.text()) + 8
        assert ends <= field.assumed.x() or field.assumed.text() == "•", field.label
        assert "assumed" in field.assumed.accessibleName()


LONG = "Größter Serverraum über der Straße – östliche Außenwand & <3>"


def with_long_names(plan: Plan) -> Plan:
    """Names of 60 letters wherever there are names, and disk data without room for one more node group."""
    host = LONG[:10].replace(" ", "-").replace("ö", "oe").replace("ß", "ss").lower() + "-mit-langem-namen" * 3
    for number, one in enumerate(plan.hosts):
        plan = edits.update(plan, one.id, hostname=f"{host[:50]}{number}.example.de")
        for disk in one.disks:
            plan = edits.update(plan, disk.id, name=f"{LONG[:50]} {disk.name}")
    for part in (*plan.locations, *plan.workloads):
        plan = edits.update(plan, part.id, name=f"{part.name[:6]} {LONG[:50]}")
    plan, space_id = with_tablespace(plan)
    table = plan.tables[3]
    keyed = {name for index in table.indexes for name in index.columns} | {*table.primary_key}
    columns = tuple(
        column if column.name in keyed else validated.changed(column, storage="disk")
        for column in table.columns
    )
    return edits.update(plan, table.id, tablespace_id=space_id, columns=columns)


def test_on_1366_pixels_at_one_and_a_half_the_window_fits(window: MainWindow, qtbot: QtBot) -> None:
    """It was 978 wide where the screen has 910: the words of buttons that have an icon give way."""
    texts = {button.text() for button in window.top_bar.findChildren(QPushButton)}
    assert {"Fit", "Arrange"} <= texts
    window.resize(900, 480)
    QApplication.processEvents()
    assert window.width() == 900
    assert cut(window.top_bar) == []
    shown_as = {
        button.text() or button.accessibleName() for button in window.top_bar.findChildren(QPushButton)
    }
    assert shown_as >= texts - {""}
    rested(window, qtbot)
    window.navigation.simulate()
    panel = window.panels.analyses.panel("Simulation")
    shown = [panel.workload, panel.duration, panel.cancel, panel.uncertain, panel.bar]
    assert all(one.isVisible() for one in shown)
    QApplication.processEvents()
    edges = [(w.x(), w.x() + w.width()) for w in shown]
    assert all(right < left for (_, right), (left, _) in pairwise(edges)), edges
    rested(window, qtbot)
    window.resize(*SIZE)
    QApplication.processEvents()
    assert {button.text() for button in window.top_bar.findChildren(QPushButton)} == texts


def test_the_chosen_table_is_told_by_its_name(window: MainWindow, qtbot: QtBot) -> None:
    """`shop.cust…` stood beside room that the list of loads did not need."""
    panel = window.panels.analyses.show_tab("Distribution")
    rested(window, qtbot)
    box = panel.table_box
    assert box.count() == 6
    for entry in range(box.count()):
        box.setCurrentIndex(entry)
        assert box.shown() in (box.currentText(), box.currentText().rpartition(".")[2])
    assert panel.growth.load_box.shown() == "no load"


@pytest.mark.parametrize("width", [1022, 1366])
def test_long_names_are_cut_with_an_ellipsis_and_push_nothing_out(
    width: int, shown: Callable[[str, int, int], MainWindow], qtbot: QtBot
) -> None:
    window = shown("starter", width, SIZE[1])
    window.document.edit("Long names", with_long_names)
    rested(window, qtbot)
    window.navigation.simulate()
    rested(window, qtbot)
    found, plan = {}, window.document.plan
    for part in (
        None, plan.hosts[0], plan.hosts[0].disks[0], plan.data_nodes[0], plan.locations[0], plan.tables[3],
        plan.tablespaces[0], plan.workloads[0],
    ):  # fmt: skip
        window.selection.set([part.id] if part is not None else [])
        rested(window, qtbot)
        found[type(part).__name__] = cut(window.panels.inspector)
    for name, _, _ in TABS:
        window.panels.analyses.show_tab(name)
        rested(window, qtbot)
        found[name] = cut(window.panels.analyses.stack.currentWidget())
    assert "\n".join(f"{name}: {one}" for name, what in found.items() for one in what) == ""


def test_backup_and_restore_are_in_sight_when_the_palette_leads_there(
    window: MainWindow, qtbot: QtBot
) -> None:
    """The command opened Operations, whose backups lie below what a small screen shows."""
    window._open_commands()
    window.commands.field.setText("backup and restore")
    qtbot.keyClick(window.commands.field, Qt.Key.Key_Return)
    panel = window.panels.analyses.panel("Operations")
    rested(window, qtbot)
    names = [lane.name for lane in panel.lanes._lanes]
    seen = panel.lanes.visibleRegion().boundingRect()
    for name in ("Backup", "Restore it"):
        assert seen.contains(panel.lanes._box(names.index(name), 0).toRect()), name
        assert names.index(name) < panel.lanes._lanes_seen(), name
    panel.lanes.setFocus()
    for _ in range(30):
        qtbot.keyClick(panel.lanes, Qt.Key.Key_Up)
    rested(window, qtbot)
    row, _ = panel.lanes._picked
    assert row < panel.lanes._lanes_seen()
    assert panel.lanes.visibleRegion().contains(panel.lanes._box(row, 0).center().toPoint())
