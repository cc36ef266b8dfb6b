"""Previews, what matters most, sizing and sweeps in the window: they show, and change nothing unasked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from ndbplan.advise.candidates import single_changes
from ndbplan.base.units import format_value
from ndbplan.describe.inputs import value_in_words
from ndbplan.desktop.analyses.mattering import MatteringPanel
from ndbplan.desktop.canvas.input.drops import Drop
from ndbplan.desktop.dialogs import size_dialog
from ndbplan.desktop.dialogs.size_dialog import SizeDialog
from ndbplan.desktop.dialogs.sweep_dialog import SweepDialog
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome
from ndbplan.desktop.widgets import units
from ndbplan.desktop.widgets.forms import _typed
from ndbplan.desktop.widgets.preview_card import Looker, PreviewCard, preview_on
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.validated import EditError
from ndbplan.plan.file import dumps
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

_WAIT_MS = 600_000
"""While another process compiles what a task needs, the task waits, for minutes on a busy machine."""


def enter(widget: QWidget) -> None:
    at = QPointF(2, 2)
    QApplication.sendEvent(widget, QEnterEvent(at, at, at))


def leave(widget: QWidget) -> None:
    QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))


def refuse(plan: Plan) -> Plan:
    raise EditError("there is no room", fix="make some")


def test_hovering_shows_and_changes_nothing(qtbot: Any, shown: Any) -> None:
    window = shown("redo-overload-8.4", 1200, 800)
    document, previews = window.document, window.panels.estimates.previews
    before, steps = dumps(document.project), document.undo_stack.count()
    entry = window.palette_panel.entries["host-small"]
    enter(entry)
    looker = window.findChild(Looker)
    looker.look_at_once()
    qtbot.waitUntil(lambda: not previews.is_busy, timeout=_WAIT_MS)
    assert looker.card.isVisible()
    assert "new" in looker.card.changes.text()
    leave(entry)
    assert not looker.card.isVisible()
    entries = list(window.palette_panel.entries.values())
    for number in range(1000):
        one = entries[number % len(entries)]
        enter(one)
        if number % 50 == 0:
            looker.look_at_once()
        leave(one)
    assert not previews.is_busy
    assert not looker.card.isVisible()
    drop = Drop(window.canvas, "nvme")
    host = window.canvas.canvas_scene.item_of(document.plan.hosts[0].id)
    drop.move(host.rect_in_scene().center())
    looker.look_at_once()
    qtbot.waitUntil(lambda: not previews.is_busy, timeout=_WAIT_MS)
    assert "new" in looker.card.changes.text()
    drop.cancel()
    assert not looker.card.isVisible()
    assert dumps(document.project) == before
    assert document.undo_stack.count() == steps
    menu = window.top_bar.version.menu()
    menu.hovered.emit(menu.actions()[-1])
    looker.look_at_once()
    assert looker.card.title.text() == menu.actions()[-1].text()
    menu.aboutToHide.emit()
    assert not previews.is_busy


def _is_whole(card: PreviewCard) -> None:
    """Nothing of what the card says is cut off."""
    QApplication.processEvents()
    for one in card.findChildren(QLabel, options=Qt.FindChildOption.FindDirectChildrenOnly):
        if one.isVisible():
            assert one.width() >= one.minimumSizeHint().width(), one.text()
            assert one.height() >= max(one.minimumSizeHint().height(), one.heightForWidth(one.width())), (
                one.text()
            )


def test_a_card_never_lies_on_what_is_looked_at(shown: Any) -> None:
    """It covered a menu that leaves no room for it below or above: nobody saw between what was chosen."""
    card = PreviewCard(shown("starter", 1200, 800))
    free = card.screen().availableGeometry()
    tall = (60, free.height() - 120)
    for left in (0, 40, free.width() // 2, free.width() - 90):
        for top, height in (tall, (20, 24), (free.height() - 40, 24), (free.height() // 3, 60)):
            near = QRect(free.left() + left, free.top() + top, 80, height)
            card.begin("NDB 8.4", near)
            assert free.contains(card.geometry()), near
            assert not card.geometry().intersects(near), near
    card.hide()


def test_a_card_is_as_large_as_long_numbers_and_many_lines_ask_for(qtbot: Any, shown: Any) -> None:
    """`67 227 tx/s` stood as `227 tx/s`, and lines above and below were cut through."""
    window = shown("starter", 1200, 800)
    plan = window.document.plan
    more = next(one for one in single_changes(plan) if one.title.startswith("One more SQL node"))
    button = QWidget(window)
    preview_on(button, window.panels.estimates.previews, more.title, more.edit)
    enter(button)
    looker = window.findChild(Looker)
    looker.look_at_once()
    qtbot.waitUntil(lambda: not window.panels.estimates.previews.is_busy, timeout=_WAIT_MS)
    assert any("tx/s → " in text for text in looker.card.texts)
    assert looker.card.state.text().startswith("As before")
    _is_whole(looker.card)


def test_a_part_that_needs_a_host_first_says_that_alone(shown: Any) -> None:
    """`Select the host … — look at it again` was the card."""
    window = shown("starter", 1200, 800)
    edit = window.editor.rehearsed("data")
    with pytest.raises(EditError) as refused:
        edit(window.document.plan)
    assert refused.value.line == "Select the host for the data node first, or drag it there."


def test_a_card_tells_which_problems_a_change_settles_and_brings(qtbot: Any, shown: Any) -> None:
    """A fix whose problem no headline figure shows was told to change nothing."""
    window = shown("starter", 1200, 800)
    previews = window.panels.estimates.previews
    one, other = QWidget(window), QWidget(window)

    def with_memory(size: int) -> Any:
        return lambda plan: edits.update(plan, "host-a1", memory_bytes=size)

    preview_on(one, previews, "Less memory", with_memory(2**32))
    preview_on(other, previews, "As it is", with_memory(window.document.plan.host("host-a1").memory_bytes))
    enter(one)
    looker = window.findChild(Looker)
    looker.look_at_once()
    qtbot.waitUntil(lambda: not previews.is_busy, timeout=_WAIT_MS)
    assert looker.card.problems.text().startswith("Brings 1 error")
    assert looker.card.problems.isVisible()
    _is_whole(looker.card)
    leave(one)
    enter(other)
    looker.look_at_once()
    qtbot.waitUntil(lambda: not previews.is_busy, timeout=_WAIT_MS)
    assert not looker.card.problems.isVisible()


def test_a_card_tells_the_figures_or_why_not(qtbot: Any, shown: Any) -> None:
    window = shown("redo-overload-8.4", 1200, 800)
    previews = window.panels.estimates.previews
    one, other = QWidget(window), QWidget(window)
    preview_on(one, previews, "Add a node group", add_node_group)
    preview_on(other, previews, "Refused", refuse)
    enter(one)
    looker = window.findChild(Looker)
    looker.look_at_once()
    qtbot.waitUntil(lambda: not previews.is_busy, timeout=_WAIT_MS)
    assert "Highest load for an hour" in looker.card.texts
    assert "▲" in looker.card.texts
    _is_whole(looker.card)
    leave(one)
    enter(other)
    looker.look_at_once()
    qtbot.waitUntil(lambda: not previews.is_busy, timeout=_WAIT_MS)
    assert looker.card.state.text().startswith("there is no room")


def test_a_card_says_under_which_load_nothing_changes(qtbot: Any, shown: Any) -> None:
    """A problem of another workload may be cured by what leaves the figures of this one alone."""
    window = shown("starter", 1200, 800)
    previews = window.panels.estimates.previews
    button = QWidget(window)
    preview_on(button, previews, "Another name", lambda plan: plan.replace(name="Another"))
    enter(button)
    looker = window.findChild(Looker)
    looker.look_at_once()
    qtbot.waitUntil(lambda: not previews.is_busy, timeout=_WAIT_MS)
    workload_id = window.panels.estimates.workload_id
    assert workload_id is not None
    name = window.document.plan.workload(workload_id).name
    assert looker.card.state.text() == f"None of the headline figures changes under “{name}”."


def test_what_matters_comes_row_by_row_and_becomes_a_variant(qtbot: Any, shown: Any) -> None:
    window = shown("redo-overload-8.4", 1366, 768)
    panel = window.panels.analyses.show_tab("What matters")
    assert isinstance(panel, MatteringPanel)
    panel.aim.setCurrentIndex(panel.aim.findData("restart"))
    panel.search()
    qtbot.waitUntil(lambda: bool(panel.rows), timeout=_WAIT_MS)
    qtbot.waitUntil(lambda: panel._task is None, timeout=_WAIT_MS)
    assert panel.rows
    gains = [row.gain for row in panel.rows]
    assert gains == sorted(gains, reverse=True)
    model = panel.table.model()
    heads = [
        model.headerData(n, Qt.Orientation.Horizontal, Qt.ItemDataRole.DisplayRole)
        for n in range(model.columnCount())
    ]
    before = panel.rows[0].before
    assert before is not None
    # What is the same in each row is told once, what nobody states not at all.
    costs = ["Cost"] if any(row.cost is not None for row in panel.rows) else []
    instead = f"Instead of {format_value(before.value, before.unit)}"
    assert heads == ["Change", instead, "Gain", *costs, "Why the limit moves"]
    assert panel.table.horizontalScrollBar().maximum() == 0
    assert model.index(0, len(heads) - 1).data(Qt.ItemDataRole.ToolTipRole) == panel.rows[0].why
    assert "changes gain and do no harm" in panel.line.text()
    panel.table.selectRow(0)
    title = panel.rows[0].title
    # Of long titles and reasons the table cuts words.
    assert panel.line.text() == f"{title}: {panel.rows[0].why}"
    panel.apply_as_variant()
    assert len(window.document.project.variants) == 2
    assert window.document.project.names[1].startswith(title[:20])
    assert panel.rows == [], "they were of another plan"
    panel.search()
    assert panel._empty.heading.text() == "Looking at every single change", "it asked what would help most"
    panel.search()
    assert panel.start.text() == "Look for it"
    assert panel._empty.heading.text() == "Stopped"


@pytest.fixture
def document(qapp: QApplication) -> Document:
    return Document(sample_plan("redo-overload-8.4"))


def test_sizing_answers_with_plans_and_opens_one(qtbot: Any, document: Document) -> None:
    dialog = SizeDialog(document)
    qtbot.addWidget(dialog)
    dialog.stated["answers"] = 1
    dialog.fields["budget"]._commit(None)
    dialog.search()
    qtbot.waitUntil(lambda: dialog.task is None, timeout=_WAIT_MS)
    assert dialog.answers.model().rowCount() + dialog.excuses.model().rowCount() > 0, dialog.state.text()
    # Rows differ in the middle of what hosts are called: all of it is there.
    hosts = [dialog.answers.model().index(row, 2).data() for row in range(dialog.answers.model().rowCount())]
    assert hosts
    assert dialog.answers.columnWidth(2) >= dialog.answers.room_for(hosts)
    # What no answer has takes no room from what they have.
    cost = next(
        n for n in range(6) if dialog.answers.model().headerData(n, Qt.Orientation.Horizontal) == "Cost"
    )
    assert dialog.answers.isColumnHidden(cost)
    if dialog.chosen is not None:
        dialog.open_answer()
        assert len(document.project.variants) == 2


def test_a_load_that_came_or_went_meanwhile_is_no_fault(qtbot: Any, document: Document) -> None:
    dialog = SizeDialog(document)
    qtbot.addWidget(dialog)
    load = document.plan.workloads[0]
    other = load.model_copy(update={"name": "another"})
    document.edit("Rename", lambda plan: plan.replace(workloads=(other, *plan.workloads[1:])))
    dialog._found(Outcome(error="no table has rows"))
    assert "another: " in dialog.said.text()


def test_requirements_that_make_no_sense_are_refused_where_they_are_typed(
    qtbot: Any, document: Document
) -> None:
    dialog = SizeDialog(document)
    qtbot.addWidget(dialog)
    dialog.fields["headroom"].line.setText("9000 %")
    dialog.fields["headroom"].line.editingFinished.emit()
    assert not dialog.fields["headroom"].error.isHidden()
    assert "headroom" not in dialog.stated


def test_a_load_job_and_durability_are_asked_for_as_they_are_typed(qtbot: Any, document: Document) -> None:
    dialog = SizeDialog(document)
    qtbot.addWidget(dialog)

    def type_into(name: str, text: str) -> None:
        dialog.fields[name].line.setText(text)
        dialog.fields[name].line.editingFinished.emit()

    type_into("size", "600 GB")
    dialog.search()
    assert dialog.task is None
    assert "has no time" in dialog.state.text()
    type_into("within", "2 h")
    type_into("time_between_global_checkpoints_ms", "500")
    asked = dialog._requirements()
    assert asked["job"] == {"size": 6e11, "within": 7200.0}
    assert asked["durability"] == {"time_between_global_checkpoints_ms": 500}
    type_into("time_between_global_checkpoints_ms", "5")
    assert not dialog.fields["time_between_global_checkpoints_ms"].error.isHidden()


def test_hardware_version_and_a_file_of_tables_are_asked_for(
    qtbot: Any, document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(size_dialog, "sized_in_thread", lambda _plan, stated, _task: asked.append(stated))
    monkeypatch.setattr(SizeDialog, "_found", lambda self, _outcome: self._end())
    dialog = SizeDialog(document)
    qtbot.addWidget(dialog)

    def look() -> None:
        dialog.search()
        qtbot.waitUntil(lambda: dialog.task is None, timeout=_WAIT_MS)

    look()
    assert asked[-1]["hardware"] == {}, "nothing is stated: the same as the command line looks at"
    rows = dialog.hardware.rows
    for name in ("sata", "sas", "cloud"):
        rows["disks"].chips[name].click()
    rows["nodes_per_host"].chips[2].click()
    dialog.hardware.clients._take("host-large")
    field = dialog.fields["ndb_version"]
    field.line.setText("seven")
    field.line.editingFinished.emit()
    assert "seven" in field.error.text()
    field.line.setText("8.0.17")
    field.line.editingFinished.emit()
    tables = tmp_path / "tables.sql"
    dialog.tables.load(tables)
    assert "tables.sql" in dialog.state.text(), "a file that is not there is named"
    tables.write_text("CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=NDB;")
    dialog.tables.load(tables)
    look()
    assert asked[-1]["hardware"] == {"disks": ["nvme"], "nodes_per_host": [1], "clients": "host-large"}
    assert asked[-1]["ndb_version"] == "8.0.17"
    assert "d.t" in asked[-1]["sql"]
    rows["disks"].chips["nvme"].click()
    dialog.search()
    assert dialog.state.text() == "Disks: none is chosen, at least 1 is needed — press one"


@pytest.mark.parametrize(
    ("field", "value", "unit", "typed", "told"),
    [
        ("memory_bytes", 2**35, units.MEMORY, "32GiB", "32 GiB"),
        ("cores", 32, units.WHOLE, "32", "32"),
        ("clock_ghz", 1.45, units.NUMBER, "1.45", "1.45"),
        ("network_bytes_per_s", 1.25e9, units.BYTES_PER_S, "1.25GB/s", "1.25 GB/s"),
    ],
)
def test_a_field_is_varied_in_its_unit_and_its_values_are_told_though_others_are_assumed(
    field: str, value: float, unit: Any, typed: str, told: str
) -> None:
    """`34359738368` was typed, and each cell of the table read `hostname, cores, sockets …`."""
    plan = sample_plan("redo-overload-8.4")
    assert field in plan.host("data1").assumed
    address = f"hosts[data1].{field}"
    assert _typed(plan, address, value, unit) == typed
    assert value_in_words(plan, address, typed, (typed, "1")) == told


def test_long_names_of_inputs_leave_the_figure_in_sight(qtbot: Any, document: Document) -> None:
    dialog = SweepDialog(document, None, "NoOfFragmentLogFiles=16,64")
    qtbot.addWidget(dialog)
    dialog.inputs[1].setText("NoOfFragmentLogParts=4,8")
    dialog.measure.setCurrentIndex(dialog.measure.findData("max-load"))
    dialog.show()
    dialog.resize(980, 600)
    dialog.run()
    dialog.stop_task()
    qtbot.wait(50)
    assert dialog.table.width() >= dialog.table.width_of_all()
    assert dialog.table.horizontalScrollBar().maximum() == 0
    assert dialog.chart.width() >= 300


def test_a_sweep_shows_every_cell_and_opens_one(qtbot: Any, document: Document) -> None:
    before = document.plan
    dialog = SweepDialog(document, None, "DataMemory=4G,8G")
    qtbot.addWidget(dialog)
    dialog.inputs[1].setText("NoOfReplicas=1,2")
    dialog.measure.setCurrentIndex(dialog.measure.findData("memory"))
    dialog.run()
    qtbot.waitUntil(lambda: dialog.task is None, timeout=_WAIT_MS)
    assert [row.number for row in dialog.rows] == [0, 1, 2, 3]
    assert len(dialog.chart.dots) == 4
    values = {dialog._sweep.cells[row.number]: row.figures[0][0] for row in dialog.rows}
    memory, replicas = sorted(dialog.swings.swings, key=lambda one: one.address)
    widths = [one.high - one.low for one in dialog.swings.swings]
    assert widths == sorted(widths, reverse=True)
    # The starter has two replicas, and neither amount of memory: the one in the middle stands for it.
    assert (memory.low, memory.high) == (values["8G", "2"], values["4G", "2"])
    assert {replicas.low, replicas.high} == {values["8G", "1"], values["8G", "2"]}
    assert memory.now == replicas.now == values["8G", "2"]
    assert "8G" in dialog.swings.accessibleDescription()
    dialog.resize(900, 600)
    middle = dialog.chart._cell((1, 1)).center()
    assert dialog.chart.number_at(middle) == 3
    dialog.chart.chosen.emit(3)
    dialog.open_cell()
    assert document.plan.parameters.data_node["DataMemory"] == 8 * 2**30
    assert document.project.main is before
    dialog.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    dialog.filter.setText("8g")
    assert dialog.table.model().rowCount() == 2
    dialog.table.selectRow(1)
    dialog.open_cell()
    assert dict(document.plan.parameters.data_node)["NoOfReplicas"] == 1
    assert document.plan.parameters.data_node["DataMemory"] == 8 * 2**30
    dialog.chart.chosen.emit(0)
    assert dialog.filter.text() == ""
    assert dialog.chosen is not None
    assert dialog.chosen.number == 0
    dialog.inputs[0].setText("DataMemory=1G..3G:2000")
    dialog.run()
    assert "4000 combinations are too many" in dialog.state.text()
    dialog.inputs[0].setText("RedoBuffer=32M,64M")
    dialog.inputs[1].setText("")
    dialog.run()
    qtbot.waitUntil(lambda: dialog.task is None, timeout=_WAIT_MS)
    assert "all alike" in dialog.state.text()
