"""The way of a first plan: every step can be done where it is missing, and the row goes when all is done."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QRectF, Qt
from PySide6.QtWidgets import QPushButton

from ndbplan.desktop.canvas.sight import is_seen
from ndbplan.desktop.dialogs.sql_dialog import SqlDialog
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.layout.collision import covered
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.edits import parts as edits
from ndbplan.edits.first_steps import STEPS
from ndbplan.edits.offers import DEFAULT_HOST, make_host, make_process, make_table
from ndbplan.plan.fields import Point
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def open_window(qtbot, qapp, tmp_path):
    theme.install(qapp, "dark")
    opened = []

    def make() -> MainWindow:
        window = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
        window.files.ask_unsaved = lambda: "discard"
        window.resize(1280, 800)
        window.show()
        window.finish_building()
        opened.append(window)
        return window

    yield make
    for window in opened:
        window.close()
        window.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def ticked(window: MainWindow) -> list[str]:
    return [key for key, button in window.steps.row.buttons.items() if "done" in button.toolTip()]


def test_from_nothing_to_a_plan_that_can_be_simulated_by_clicks_on_what_is_missing(open_window, qtbot):
    window = open_window()
    simulation = window.panels.analyses.show_tab("Simulation")
    assert not window.top_bar.simulate.isEnabled()
    assert "No data node yet" in window.top_bar.simulate.toolTip()
    qtbot.mouseClick(simulation._empty.button, LEFT)
    plan = window.document.plan
    assert len(plan.data_nodes) == 2
    assert len({node.host_id for node in plan.data_nodes}) == 2
    assert len(plan.management_nodes) == len(plan.sql_nodes) == 2
    assert plan.parameters.data_node["AutomaticThreadConfig"] == 1
    assert simulation._empty.heading.text() == "No table yet"
    qtbot.mouseClick(simulation._empty.button, LEFT)
    (dialog,) = window.findChildren(SqlDialog)
    dialog.reject()
    table = make_table(window.document.plan)
    window.document.edit("Add a table", lambda p: edits.add(p, table))
    assert simulation._empty.heading.text() == "No workload yet"
    assert not window.top_bar.simulate.isEnabled()
    qtbot.mouseClick(simulation._empty.button, LEFT)
    (workload,) = window.document.plan.workloads
    kinds = {op.kind.value for t in workload.transactions for op in t.operations}
    assert kinds == {"read", "insert"}, "a table of a key alone is not updated"
    assert window.top_bar.simulate.isEnabled()
    assert simulation._empty.heading.text() == "Nothing simulated yet"
    window.document.undo_stack.undo()
    assert not window.top_bar.simulate.isEnabled()
    assert "No workload yet" in window.top_bar.simulate.toolTip()


def test_tables_of_statements_are_said_to_have_no_rows_until_they_have_some(open_window, qtbot):
    """They were simulated empty, and nothing said so."""
    window = open_window()
    window.steps.do("hosts")
    assert "no rows" not in window.messages.text
    window.steps.do("tables")
    (dialog,) = window.findChildren(SqlDialog)
    dialog.text.setPlainText("CREATE TABLE a (i INT PRIMARY KEY); CREATE TABLE b (i INT PRIMARY KEY);")
    qtbot.waitUntil(dialog.take.isEnabled, timeout=60_000)
    dialog.add_tables()
    assert window.messages.text.startswith("2 tables have no rows yet")
    qtbot.mouseClick(window.messages._button, LEFT)
    panel = window.panels.analyses.panel("Tables")
    assert window.panels.tab == "Tables"
    assert panel.view.state() == panel.view.State.EditingState
    window.document.undo_stack.undo()
    window.document.undo_stack.redo()
    assert window.messages.isVisible()
    for table in window.document.plan.tables:
        window.document.edit("Rows", lambda plan, i=table.id: edits.update(plan, i, rows=5))
    assert not window.messages.isVisible()


@pytest.mark.parametrize("at", [(0.0, 0.0), (-328.0, -24.0), (900.0, 412.0)])
def test_a_small_cluster_comes_in_rows_beside_a_host_that_was_placed(open_window, qtbot, at) -> None:
    """Its hosts stood like a staircase, as the flow leaves gaps for what was placed, and the view zoomed."""
    window = open_window()
    scene, view = window.canvas.canvas_scene, window.canvas
    host = make_host(window.document.plan, DEFAULT_HOST, position=Point(x=at[0], y=at[1]))
    window.document.edit("Add a host", lambda plan: edits.add(plan, host))
    seen = view.visible_rect()
    qtbot.mouseClick(window.panels.analyses.show_tab("Simulation")._empty.button, LEFT)
    boxes = {i: box.rect for i, box in scene.layout.hosts.items() if i != host.id}
    assert len(boxes) == 4
    assert len({rect.x for rect in boxes.values()}) == len({rect.y for rect in boxes.values()}) == 2
    assert covered(scene.layout) == ()
    assert (scene.layout.hosts[host.id].x, scene.layout.hosts[host.id].y) == at
    assert view.visible_rect() == seen
    unseen = [i for i, rect in boxes.items() if not is_seen(view, QRectF(*rect))]
    assert ("out of sight" in window.messages.text) == bool(unseen)


def test_the_row_ticks_what_is_done_and_goes_when_all_is(open_window, qtbot):
    window = open_window()
    row = window.steps.row
    assert row.isVisible()
    assert ticked(window) == []
    qtbot.mouseClick(row.buttons["hosts"], LEFT)
    assert ticked(window) == ["hosts"]
    window.canvas.editor.do("Add a table", lambda plan: edits.add(plan, make_table(plan)))
    qtbot.mouseClick(row.buttons["load"], LEFT)
    assert ticked(window) == ["hosts", "tables", "load"]
    window.steps.done("simulate")
    assert row.isVisible()
    window.steps.done("export")
    assert not row.isVisible()
    window.close()
    assert open_window().steps.row is None, "what is done once is not shown again"


def test_another_plan_begins_with_no_step_done(open_window, qtbot):
    """A new plan in the window of one that was simulated had Simulate ticked already."""
    window = open_window()
    window.open_sample("starter")
    window.steps.done("simulate")
    assert "simulate" in ticked(window)
    window.files.new()
    assert ticked(window) == []


def test_the_first_step_is_done_when_the_cluster_starts_and_answers(open_window, qtbot):
    window = open_window()
    hosts = window.steps.row.buttons["hosts"]

    def add(plan: Plan, kind: str) -> Plan:
        host = plan.hosts[0] if plan.hosts else make_host(plan, DEFAULT_HOST)
        plan = plan if plan.hosts else edits.add(plan, host)
        return edits.add(plan, make_process(plan, kind, host.id))

    window.canvas.editor.do("Add a data node", lambda plan: add(plan, "data"))
    assert hosts.toolTip() == "Still missing: 1 data node, 1 management node, 1 SQL node"
    window.canvas.editor.do("Add a management node", lambda plan: add(plan, "management"))
    assert ticked(window) == []
    qtbot.mouseClick(hosts, LEFT)
    assert ticked(window) == ["hosts"]
    plan = window.document.plan
    assert (len(plan.data_nodes), len(plan.management_nodes), len(plan.sql_nodes)) == (2, 1, 2)


def test_sent_away_it_does_not_come_back(open_window, qtbot):
    window = open_window()
    qtbot.mouseClick(window.steps.row.close_button, LEFT)
    assert not window.steps.row.isVisible()
    window.open_sample("starter")
    assert not window.steps.row.isVisible()
    window.close()
    assert open_window().steps.row is None


@pytest.mark.parametrize("key", [step.key for step in STEPS if step.key != "export"])
def test_a_click_on_any_step_of_an_empty_plan_does_it_or_says_what_comes_first(open_window, qtbot, key):
    window = open_window()
    qtbot.mouseClick(window.steps.row.buttons[key], LEFT)
    dialogs = window.findChildren(SqlDialog)
    did = bool(window.document.plan.data_nodes) or bool(dialogs) or window.messages.isVisible()
    assert did
    for dialog in dialogs:
        dialog.reject()


def test_the_row_lies_inside_of_the_canvas_and_moves_nothing(open_window, qtbot):
    window = open_window()
    window.open_sample("starter")
    canvas, row = window.canvas, window.steps.row
    place = canvas.geometry()
    view = canvas.transform()
    assert canvas.rect().contains(row.geometry())
    for width in (524, 420, 340):
        canvas.resize(width, canvas.height())
        assert canvas.rect().contains(row.geometry()), width
        buttons = [*row.buttons.values(), row.close_button]
        assert all(one.width() >= one.minimumSizeHint().width() for one in buttons)
        assert row.rect().contains(row.close_button.geometry())
    canvas.setGeometry(place)
    assert row.buttons["hosts"].text() == "1  Hosts"
    qtbot.mouseClick(row.close_button, LEFT)
    assert canvas.geometry() == place
    assert canvas.transform() == view


def test_the_row_keeps_its_width_when_steps_are_ticked(open_window, qtbot):
    window = open_window()
    before = [button.geometry() for button in window.steps.row.buttons.values()]
    window.open_sample("starter")
    assert len(ticked(window)) == 3
    window.steps.row.layout().activate()
    after = [button.geometry() for button in window.steps.row.buttons.values()]
    assert [g.x() for g in after] == [g.x() for g in before]


def test_the_inspector_makes_a_load_from_the_tables_too(open_window, qtbot):
    window = open_window()
    window.open_sample("starter")
    window.selection.set(())
    links = window.panels.inspector.findChildren(QPushButton)
    button = next(b for b in links if b.text() == "From the tables" and b.isVisible())
    before = len(window.document.plan.workloads)
    qtbot.mouseClick(button, LEFT)
    new = window.document.plan.workloads[-1]
    assert len(window.document.plan.workloads) == before + 1
    assert window.selection.ids == (new.id,)
    assert {t.assumed for t in new.transactions} == {("weight",)}


def test_fitting_keeps_the_plan_out_of_the_row(open_window, qtbot):
    window = open_window()
    window.open_sample("starter")
    window.canvas.editor.do("Remove the loads", lambda plan: plan.replace(workloads=()))
    assert window.steps.row.isVisible(), "a step is missing again"
    window.canvas.fit()
    canvas, row = window.canvas, window.steps.row
    lowest = canvas.mapFromScene(canvas.canvas_scene.content_rect().bottomLeft()).y()
    assert lowest <= row.y()
    row.end()
    window.canvas.fit()
    assert canvas.mapFromScene(canvas.canvas_scene.content_rect().bottomLeft()).y() <= canvas.height()


def test_a_plan_that_is_opened_whole_needs_no_way(open_window):
    window = open_window()
    row = window.steps.row
    assert row.isVisible()
    window.files.start_with(lambda: sample_plan("starter"))
    assert not row.isVisible()
    window.files.new()
    assert row.isVisible(), "it was not sent away"


def test_a_message_covers_nothing_that_is_worked_on(open_window):
    window = open_window()
    window.messages.say("warning", "somebody else was here", "Look", print)
    assert not window.messages.geometry().intersects(window.pages.geometry())
    assert not window.messages.geometry().intersects(
        window.status.zoom.geometry().translated(window.status.pos())
    )
    window.messages.say("warning", "somebody else was here " * 20)
    assert window.messages.geometry().bottom() == window.status.geometry().bottom()
    window.actions_table["present"].trigger()
    assert window.rect().contains(window.messages.geometry()), "without a status bar"
    assert not window.messages.geometry().intersects(
        window.panels.analyses_frame.rect().translated(
            window.panels.analyses_frame.mapTo(window.messages.parentWidget(), QPoint(0, 0))
        )
    )
    window.actions_table["present"].trigger()


def test_what_a_second_node_on_a_host_changes_is_said(open_window, qtbot):
    """DataMemory went from 32G to 16G without a word."""
    window = open_window()
    window.editor.add_beside_selection("data")
    host = window.document.plan.hosts[0]
    before = window.document.plan.parameters.data_node["DataMemory"]
    window.editor.add_offer("data", onto=host.id)
    assert window.document.plan.parameters.data_node["DataMemory"] < before
    assert window.messages.text.startswith("Settings follow the hosts: ")
    assert "DataMemory 32G → 16G" in window.messages.text
    assert window.messages.isVisible()
    window.document.undo_stack.undo()
    assert not window.messages.isVisible()
    window.editor.add_offer("nvme", onto=host.id)
    assert not window.messages.isVisible(), "where nothing follows nothing is said"


def test_the_row_lies_over_nothing_of_what_an_empty_canvas_says(open_window, qapp):
    """In a low window it lay over its buttons."""
    window = open_window()
    window.files.new()
    for height in (400, 270):
        window.canvas.setFixedHeight(height)
        qapp.processEvents()
        row, says = window.steps.row, window.empty
        assert row.isVisible()
        assert says.isVisible()
        lowest = max(button.mapTo(window.canvas, button.rect().bottomLeft()).y() for button in _buttons(says))
        assert lowest < row.y(), height


def _buttons(widget) -> list[QPushButton]:
    return [one for one in widget.findChildren(QPushButton) if one.isVisible()]
