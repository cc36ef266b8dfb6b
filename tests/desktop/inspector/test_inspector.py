"""The inspector on real samples: edits, roles, breakdowns, problems, parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLabel,
    QPushButton,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ndbplan.advise.max_load import max_load
from ndbplan.base.units import format_bytes, format_bytes_binary
from ndbplan.checks.problem import Problem, Severity
from ndbplan.configuration.settings import node_settings
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.inspector import Inspector
from ndbplan.desktop.inspector.mysqld_scope import MysqldScope
from ndbplan.desktop.inspector.pages.workloads import WorkloadPage
from ndbplan.desktop.inspector.parameters import ParametersPanel
from ndbplan.desktop.widgets.explain import QuantityLabel
from ndbplan.desktop.widgets.fields import ChoiceField, LineField
from ndbplan.desktop.widgets.grid import Grid
from ndbplan.desktop.widgets.problem_list import ProblemRow
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.events import added
from ndbplan.plan.events import NetworkCut, kinds
from ndbplan.plan.hardware import Location
from ndbplan.plan.plan import Calibration
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of


class _Stand:
    """An inspector with what it looks at."""

    def __init__(self, qtbot: QtBot, sample: str) -> None:
        self.qtbot = qtbot
        self.document = Document(sample_plan(sample))
        self.selection = Selection(self.document)
        self.estimates = Estimates(self.document)
        self.view = Inspector(self.document, self.selection, self.estimates)
        qtbot.addWidget(self.view)
        self.view.resize(320, 900)
        self.view.show()

    def select(self, *ids: str) -> None:
        self.selection.set(ids)
        self.settle()

    def settle(self) -> None:
        """Let new widgets be laid out and shown."""
        QApplication.processEvents()

    def until_fresh(self) -> None:
        self.qtbot.waitUntil(lambda: self.estimates.is_fresh, timeout=20_000)

    def field(self, name: str) -> LineField:
        found = self.view.findChildren(LineField, name)
        assert found, f"no field {name}"
        return found[-1]

    def type(self, name: str, text: str) -> None:
        field = self.field(name)
        field.line.setFocus()
        field.line.setText(text)
        self.qtbot.keyClick(field.line, Qt.Key.Key_Return)

    def texts(self) -> list[str]:
        self.settle()
        return [label.text() for label in self.view.findChildren(QLabel) if label.isVisible()]

    def close(self) -> None:
        self.view.close_tasks()
        self.estimates.close()


@pytest.fixture
def stand(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[_Stand]:
    made = _Stand(qtbot, getattr(request, "param", "redo-overload"))
    yield made
    made.close()


@pytest.mark.parametrize("stand", ["starter", "disk-data", "telecom-144"], indirect=True)
def test_one_object_of_each_kind_can_be_shown(stand: _Stand) -> None:
    kinds: dict[type, str] = {}
    for part in stand.document.plan.objects():
        kinds.setdefault(type(part), part.id)
    for object_id in kinds.values():
        stand.select(object_id)
        stand.view.repaint()
    stand.select(*kinds.values())
    assert any("Select one kind" in text for text in stand.texts())
    links = [
        one for one in stand.view.findChildren(QPushButton) if one.accessibleName().startswith("Select only")
    ]
    assert len(links) == len(kinds)
    assert {one.x() for one in links} == {0}, "all begin at the left edge"
    assert all(one.width() <= one.sizeHint().width() for one in links), "and are no wider than their words"
    stand.select()
    assert stand.document.plan.name in stand.texts()


def test_a_host_is_edited_and_the_title_follows(stand: _Stand) -> None:
    stand.select("data1")
    stand.type("hostname", "db-one.example")
    assert stand.document.plan.host("data1").hostname == "db-one.example"
    assert "db-one.example" in stand.texts()
    stand.document.undo_stack.undo()
    assert stand.field("hostname").line.text() == "data1"


def test_replicas_that_the_product_refuses_stand_where_they_were_typed(stand: _Stand) -> None:
    """Estimates go on with the default; the field showed it beside an error about the number typed."""
    stand.select()
    assert stand.field("NoOfReplicas").line.text() == "2"
    stand.type("NoOfReplicas", "9")
    stand.settle()
    assert stand.document.plan.parameters.data_node["NoOfReplicas"] == 9
    assert stand.field("NoOfReplicas").line.text() == "9"
    stand.document.undo_stack.undo()
    assert stand.field("NoOfReplicas").line.text() == "2"


def test_why_a_disk_is_full_is_broken_down_by_purpose(stand: _Stand) -> None:
    stand.until_fresh()
    stand.select("data1-c0d1")
    texts = stand.texts()
    assert stand.estimates.latest is not None
    now = stand.estimates.latest.now
    assert now is not None
    demand = now.disks.of("data1-c0d1")
    assert demand is not None
    assert demand.utilisation.value > 1
    assert {"Redo log writes", "Local checkpoint", "Capacity"} <= set(texts)
    assert "The disk cannot keep up" in texts
    shown = [n.quantity.value for n in stand.view.findChildren(QuantityLabel) if n.quantity is not None]
    asked = [rate for _, rate in demand.by_purpose]
    assert all(any(abs(value - rate) < 1 for value in shown) for rate in asked)


def test_how_full_a_disk_is_is_broken_down_by_what_lies_there(stand: _Stand) -> None:
    stand.until_fresh()
    stand.select("data1-c0d1")
    assert stand.estimates.latest is not None
    now = stand.estimates.latest.now
    assert now is not None
    space = now.disk_space.of("data1-c0d1")
    assert space is not None
    assert {"Redo log", "Checkpoints", "Backups", "With DataMemory full"} <= set(stand.texts())
    shown = [n.quantity.value for n in stand.view.findChildren(QuantityLabel) if n.quantity is not None]
    assert {size.value for _, size in space.by_role} <= set(shown)
    assert "The disk is too small" not in stand.texts()
    stand.document.edit(
        "Small", lambda p: edits.update(p, "data1-c0d1", capacity_bytes=int(space.used_bytes.value / 2))
    )
    stand.until_fresh()
    assert "The disk is too small" in stand.texts()


def test_roles_are_switched_on_the_disk_page(stand: _Stand) -> None:
    stand.select("data1-c0d0")
    stand.until_fresh()
    node = stand.document.plan.by_id["ndb3"]
    assert node.disk_roles.lcp != "data1-c0d0"
    switch = next(
        w
        for w in stand.view.findChildren(QWidget)
        if w.accessibleName() == "Data node 3 writes LCP here" and w.isVisible()
    )
    switch.click()  # type: ignore[attr-defined]
    assert stand.document.plan.by_id["ndb3"].disk_roles.lcp == "data1-c0d0"
    stand.until_fresh()
    assert stand.estimates.latest is not None
    assert stand.estimates.latest.now is not None
    eased = stand.estimates.latest.now.disks.of("data1-c0d1")
    assert eased is not None
    assert eased.utilisation.value < 0.95
    stand.document.undo_stack.undo()
    assert stand.document.plan.by_id["ndb3"].disk_roles.lcp != "data1-c0d0"


def test_problems_of_the_selection_are_listed_and_go_there_on_click(stand: _Stand) -> None:
    stand.until_fresh()
    stand.select("data1-c0d1")
    rows = [row for row in stand.view.findChildren(ProblemRow) if row.isVisible()]
    assert rows
    stand.select()
    assert stand.estimates.latest is not None
    target = next(p for p in stand.estimates.latest.problems if p.object_ids)
    row = next(
        r
        for r in stand.view.findChildren(ProblemRow)
        if r.isVisible() and r.accessibleName() == f"{target.severity}: {target.message}"
    )
    stand.qtbot.keyClick(row, Qt.Key.Key_Return)
    assert set(stand.selection.ids) == set(target.object_ids)


def test_a_problem_is_clicked_through_the_window(stand: _Stand) -> None:
    stand.until_fresh()
    stand.settle()
    row = next(r for r in stand.view.findChildren(ProblemRow) if r._problem.object_ids)
    window = QWidget()
    stand.qtbot.addWidget(window)
    alone = ProblemRow(stand.view._context, row._problem)
    QVBoxLayout(window).addWidget(alone)
    window.show()
    QTest.mouseClick(
        window.windowHandle(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        alone._text.mapTo(window, alone._text.rect().center()),
    )
    assert set(stand.selection.ids) == set(row._problem.object_ids)


@pytest.mark.parametrize(
    ("message", "said"),
    [("ODirect is off", "Data node 3: ODirect is off"), ("node 3 is full", "Node 3 is full")],
)
def test_a_row_says_which_node_it_is_about(stand: _Stand, message: str, said: str) -> None:
    problem = Problem("direct-io", Severity.HINT, "data node 3", message)
    row = ProblemRow(stand.view._context, problem)
    stand.qtbot.addWidget(row)
    assert [one.text() for one in row.findChildren(QLabel) if one.property("look") == "problemText"] == [said]


def test_a_fix_is_one_undoable_edit(stand: _Stand) -> None:
    problem = Problem(
        rule="cores",
        severity=Severity.WARNING,
        where="host data1",
        message="8 cores are few",
        fix="give it 16 cores",
        object_ids=("data1",),
        edit=lambda plan: edits.update(plan, "data1", cores=16),
    )
    row = ProblemRow(stand.view._context, problem)
    stand.qtbot.addWidget(row)
    row.show()
    button = row.findChild(QPushButton)
    assert button is not None
    stand.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert stand.document.plan.host("data1").cores == 16
    assert stand.document.undo_stack.undoText() == "Fix: give it 16 cores"


def test_columns_are_edited_in_the_grid_and_keys_follow_a_rename(stand: _Stand) -> None:
    stand.select("blobs_5k")
    table = stand.document.plan.table("blobs_5k")
    assert table.primary_key == ("id",)
    grid = next(g for g in stand.view.findChildren(Grid) if g.view.accessibleName() == "columns")
    assert grid.model.setData(grid.model.index(0, 0), "key_id")
    renamed = stand.document.plan.table("blobs_5k")
    assert renamed.columns[0].name == "key_id"
    assert renamed.primary_key == ("key_id",)
    refusals: list[str] = []
    grid.model.refused.connect(refusals.append)
    assert not grid.model.setData(grid.model.index(1, 0), "key_id")
    assert "there twice" in refusals[-1]
    grid.model.add()
    assert len(stand.document.plan.table("blobs_5k").columns) == len(table.columns) + 1
    grid.model.remove([len(table.columns)])
    assert len(stand.document.plan.table("blobs_5k").columns) == len(table.columns)


def test_a_workload_takes_its_load_from_a_file(stand: _Stand, tmp_path: Path) -> None:
    stand.select("blobs-5k")
    (page,) = stand.view.findChildren(WorkloadPage)
    before = stand.document.plan
    path = tmp_path / "load.csv"
    path.write_text("seconds,rate\n0,100\n60,many\n")
    page.read_schedule(path)
    assert stand.document.plan is before
    assert "load.csv line 3: 'many' is not a rate" in page._said.text()
    page.read_schedule(tmp_path / "none.csv")
    assert "cannot be read" in page._said.text()
    path.write_text("seconds,rate\n0,100\n60,4000\n")
    page.read_schedule(path)
    stand.settle()
    points = stand.document.plan.workload("blobs-5k").load.points
    assert [(p.at_s, p.rate_per_s) for p in points] == [(0, 100), (60, 4000)]
    stand.document.undo_stack.undo()
    assert stand.document.plan is before


def test_a_workload_changes_between_rate_and_clients(stand: _Stand) -> None:
    stand.select("blobs-5k")
    stand.type("points", "5000")
    assert stand.document.plan.workload("blobs-5k").load.points[0].rate_per_s == 5000
    choice = stand.view.findChildren(QWidget, "kind")[-1]
    choice.box.setCurrentIndex(1)  # type: ignore[attr-defined]
    choice.box.activated.emit(1)  # type: ignore[attr-defined]
    assert stand.document.plan.workload("blobs-5k").load.kind == "closed"
    stand.type("clients", "16")
    assert stand.document.plan.workload("blobs-5k").load.clients == 16


def test_memory_is_counted_as_its_parameters_are(stand: _Stand) -> None:
    stand.select(stand.document.plan.data_nodes[0].id)
    stand.until_fresh()
    limit = node_settings(stand.document.plan, stand.document.plan.data_nodes[0]).number("DataMemory")
    texts = stand.texts()
    assert format_bytes_binary(limit) in texts
    assert format_bytes(limit) not in texts


def test_a_workload_becomes_a_job_that_loads_rows(stand: _Stand) -> None:
    stand.select("blobs-5k")
    choice = stand.view.findChildren(QWidget, "kind")[-1]
    choice.box.setCurrentIndex(2)  # type: ignore[attr-defined]
    choice.box.activated.emit(2)  # type: ignore[attr-defined]
    stand.settle()
    assert stand.document.plan.workload("blobs-5k").load.kind == "job"
    stand.type("threads", "4")
    stand.type("source_bytes_per_s", "100 MB/s")
    stand.type("total_bytes", "10 GB")
    load = stand.document.plan.workload("blobs-5k").load
    assert (load.threads, load.source_bytes_per_s, load.total_bytes) == (4, 100e6, 10_000_000_000)
    stand.until_fresh()
    assert "REDO LOG OF ONE OPERATION" in stand.texts(), "the estimates follow a job"


def test_everything_that_takes_the_focus_has_a_name(stand: _Stand) -> None:
    stand.view._expanded["parameters"] = True
    stand.until_fresh()
    for object_id in ("data1", "data1-c0d1", "ndb3", "sql49", "blobs_5k", "blobs-5k"):
        stand.select(object_id)
        nameless = [
            type(w).__name__
            for w in stand.view.findChildren(QWidget)
            if w.isVisible()
            and w.window() is stand.view
            and w.focusPolicy() & Qt.FocusPolicy.TabFocus
            and not (w.accessibleName() or getattr(w, "text", str)())
        ]
        assert nameless == [], object_id


def test_a_measured_rate_is_stated_with_its_source(stand: _Stand) -> None:
    grid = next(g for g in stand.view.findChildren(Grid) if g.view.accessibleName() == "calibrations")
    grid.model.add()
    assert grid.model.setData(grid.model.index(0, 0), "redo_page_overhead")
    assert grid.model.setData(grid.model.index(0, 1), "3")
    assert grid.model.setData(grid.model.index(0, 4), "fio on site")
    (calibration,) = stand.document.plan.calibrations
    assert (calibration.constant, calibration.value, calibration.source) == (
        "redo_page_overhead",
        3.0,
        "fio on site",
    )
    assert not grid.model.setData(grid.model.index(0, 4), "")
    grid.model.remove([0])
    assert stand.document.plan.calibrations == ()


def test_a_constant_of_another_version_is_kept_when_somebody_looks_at_it(stand: _Stand) -> None:
    old = Calibration(constant="node_restart_s_per_gb_2009", value=91.0, source="our cluster")
    stand.document.edit("Measured", lambda plan: plan.replace(calibrations=(old,)))
    grid = next(g for g in stand.view.findChildren(Grid) if g.view.accessibleName() == "calibrations")
    index = grid.model.index(0, 0)
    assert index.data() == old.constant
    delegate = grid.view.itemDelegate()
    box = delegate.createEditor(grid, QStyleOptionViewItem(), index)
    delegate.setEditorData(box, index)
    assert isinstance(box, QComboBox)
    assert box.currentText() == old.constant
    delegate.setModelData(box, grid.model, index)
    box.hidePopup()
    assert stand.document.plan.calibrations == (old,)


def test_a_side_of_a_cut_has_a_line_for_each_member(stand: _Stand) -> None:
    def sides() -> tuple[tuple[str, ...], tuple[str, ...]]:
        event = stand.document.plan.workload("blobs-5k").events[0]
        assert isinstance(event, NetworkCut)
        return event.object_ids, event.other_ids

    def boxes() -> list[QComboBox]:
        fields = [f for f in stand.view.findChildren(ChoiceField) if f.isVisible()]
        return [f.box for name in ("object_ids", "other_ids") for f in fields if f.objectName() == name]

    def choose(line: int, hostname: str) -> None:
        box = boxes()[line]
        index = next(i for i in range(box.count()) if hostname in box.itemText(i))
        box.setCurrentIndex(index)
        box.activated.emit(index)
        stand.settle()

    stand.select("blobs-5k")
    stand.document.edit("Add", lambda plan: added(plan, "blobs-5k", "network_cut"))
    stand.settle()
    assert sides() == (("data1",), ())
    assert len(boxes()) == 3
    hostname = {host.id: host.hostname for host in stand.document.plan.hosts}
    choose(1, hostname["app1"])
    assert sides() == (("data1", "app1"), ())
    choose(3, hostname["data2"])
    assert sides() == (("data1", "app1"), ("data2",))
    choose(0, "take out")
    assert sides() == (("app1",), ("data2",))


def test_events_are_added_edited_and_removed(stand: _Stand) -> None:
    place = Location(id="rack", name="Rack")
    stand.document.edit("Add", lambda plan: edits.add(plan, place))
    stand.select("blobs-5k")
    for kind in kinds():
        stand.document.edit("Add", lambda plan, k=kind: added(plan, "blobs-5k", k))
        stand.settle()
    events = stand.document.plan.workload("blobs-5k").events
    assert [event.kind for event in events] == list(kinds())
    stand.type("groups", "2")
    assert stand.document.plan.workload("blobs-5k").events[list(kinds()).index("nodes_added")].groups == 2
    stand.type("value", "128M")
    assert stand.document.plan.workload("blobs-5k").events[-1].value == 128 * 2**20
    field = stand.field("value")
    field.line.setText("1")
    stand.qtbot.keyClick(field.line, Qt.Key.Key_Return)
    assert "outside the range" in field.error.text()
    remove = [
        b for b in stand.view.findChildren(QPushButton) if b.accessibleName().startswith("Remove event: Data")
    ][-1]
    remove.click()
    assert len(stand.document.plan.workload("blobs-5k").events) == len(kinds()) - 1


def test_what_is_assumed_inside_a_load_is_marked_and_confirmed(stand: _Stand) -> None:
    stand.select("blobs-5k-16-clients")
    load = stand.document.plan.workload("blobs-5k-16-clients").load
    stand.document.edit(
        "Assume",
        lambda plan: edits.update(
            plan, "blobs-5k-16-clients", load=validated.changed(load, assumed=("latency_s",))
        ),
    )
    field = stand.field("latency_s")
    assert not field.assumed.isHidden()
    field.assumed.click()
    assert stand.document.plan.workload("blobs-5k-16-clients").load.assumed == ()
    assert field.assumed.isHidden()


class TestParameters:
    """The configuration section."""

    def _panel(self, stand: _Stand, *ids: str) -> ParametersPanel:
        panel = ParametersPanel(stand.view._context, ids)
        stand.qtbot.addWidget(panel)
        panel.show()
        stand.document.changed.connect(lambda _before, _after: panel.refresh())
        return panel

    def _index(self, panel: ParametersPanel, name: str) -> QModelIndex:
        row = next(i for i, p in enumerate(panel.model.parameters) if p.name == name)
        return panel.model.index(row, 1)

    def test_search_and_changed_only_narrow_the_list(self, stand: _Stand) -> None:
        panel = self._panel(stand)
        model = panel.view.model()
        everything = model.rowCount()
        panel.search.setText("redobuffer")
        names = [model.index(i, 0).data() for i in range(model.rowCount())]
        assert "RedoBuffer" in names
        assert len(names) < everything
        panel.search.clear()
        panel.changed_only.setChecked(True)
        names = {model.index(i, 0).data() for i in range(model.rowCount())}
        assert set(stand.document.plan.parameters.data_node) <= names
        assert len(names) < everything / 3

    def test_sizes_are_typed_as_people_do_and_checked_against_the_range(self, stand: _Stand) -> None:
        panel = self._panel(stand)
        said: list[str] = []
        panel.model.refused.connect(said.append)
        index = self._index(panel, "DataMemory")
        assert panel.model.setData(index, "4 GiB")
        assert stand.document.plan.parameters.data_node["DataMemory"] == 4 * 2**30
        assert panel.model.data(index) == "4G"
        assert not panel.model.setData(index, "5 B")
        assert "outside the range" in said[-1]
        assert not panel.model.setData(index, "plenty")
        assert "DataMemory" in said[-1]
        assert stand.document.plan.parameters.data_node["DataMemory"] == 4 * 2**30

    def test_a_value_that_reads_two_ways_is_asked_about(self, stand: _Stand) -> None:
        panel = self._panel(stand)
        before = stand.document.plan
        assert not panel.model.setData(self._index(panel, "MaxNoOfTables"), "1,500")
        assert stand.document.plan is before
        [button] = panel.readings.findChildren(QPushButton)
        button.click()
        assert stand.document.plan.parameters.data_node["MaxNoOfTables"] == 1500

    def test_one_node_overrides_the_cluster_and_can_be_reset(self, stand: _Stand) -> None:
        panel = self._panel(stand, "ndb3")
        index = self._index(panel, "RedoBuffer")
        inherited = panel.model.data(index)
        assert panel.model.setData(index, "96M")
        plan = stand.document.plan
        assert plan.by_id["ndb3"].parameters["RedoBuffer"] == 96 * 2**20
        assert "RedoBuffer" not in plan.by_id["ndb4"].parameters
        assert panel.model.put(index.row(), None)
        assert panel.model.data(index) == inherited
        assert "RedoBuffer" not in stand.document.plan.by_id["ndb3"].parameters

    def test_the_program_decides_for_one_node_too_by_link_or_typed(self, stand: _Stand) -> None:
        panel = self._panel(stand, "ndb3")
        index = self._index(panel, "DataMemory")
        panel.view.setCurrentIndex(panel._filter.mapFromSource(index))
        assert not panel._size.isHidden()
        assert panel.model.setData(index, "Auto")
        plan = stand.document.plan
        own = plan.by_id["ndb3"].parameters["DataMemory"]
        assert plan.by_id["ndb3"].origins["DataMemory"].by == "program"
        assert "DataMemory" not in plan.by_id["ndb4"].parameters
        host = plan.by_id["ndb3"].host_id
        stand.document.edit(
            "More memory",
            lambda plan: edits.update(plan, host, memory_bytes=4 * plan.host(host).memory_bytes),
        )
        assert stand.document.plan.by_id["ndb3"].parameters["DataMemory"] > own

    def test_what_the_program_decided_is_shown_follows_and_can_be_pinned(self, stand: _Stand) -> None:
        panel = self._panel(stand)
        index = self._index(panel, "DataMemory")
        before = stand.document.plan
        assert panel.model.hand_over(index.row())
        decided = stand.document.plan.parameters.data_node["DataMemory"]
        panel.decided_only.setChecked(True)
        model = panel.view.model()
        assert [model.index(i, 0).data() for i in range(model.rowCount())] == ["DataMemory"]
        panel.view.setCurrentIndex(model.index(0, 0))
        assert "Set by the program, rule from-host" in panel._about.text()
        stand.document.edit(
            "More memory",
            lambda plan: plan.replace(
                hosts=tuple(h.model_copy(update={"memory_bytes": 4 * h.memory_bytes}) for h in plan.hosts)
            ),
        )
        assert stand.document.plan.parameters.data_node["DataMemory"] > decided
        stand.document.undo_stack.undo()
        assert stand.document.plan.parameters.data_node["DataMemory"] == decided
        panel.pin_selected()
        assert model.rowCount() == 0
        for _ in range(2):
            stand.document.undo_stack.undo()
        assert stand.document.plan is before

    def test_options_of_mysqld_are_set_checked_added_and_taken_back(self, stand: _Stand) -> None:
        before = stand.document.plan
        first = before.sql_nodes[0].id
        panel = self._panel(stand, first)
        mysqld = next(chip for chip in panel.findChildren(QToolButton) if chip.text() == "mysqld")
        mysqld.click()
        said: list[str] = []
        panel.model.refused.connect(said.append)
        index = self._index(panel, "ndb-batch-size")
        assert panel.model.data(index) == "32K"
        assert panel.model.setData(index, "64 KiB")
        assert panel.model.data(index) == "64K"
        assert not panel.model.setData(index, "9G")
        assert "ndb-batch-size: goes from 0 to 31536000" in said[-1]
        assert panel.model.setData(self._index(panel, "ndb-use-transactions"), "off")
        plan = stand.document.plan
        assert dict(plan.by_id[first].options) == {"ndb-batch-size": 65536, "ndb-use-transactions": "off"}
        panel.search.setText("skip_name_resolve")
        assert not panel._add.isHidden()
        panel.add_option()
        assert stand.document.plan.by_id[first].options["skip-name-resolve"] == "ON"
        assert panel.model.data(self._index(panel, "skip-name-resolve")) == "ON"
        panel.changed_only.setChecked(True)
        assert panel.view.model().rowCount() == 3
        for _ in range(3):
            stand.document.undo_stack.undo()
        assert stand.document.plan is before
        assert panel.view.model().rowCount() == 0

    def test_an_option_that_the_plan_says_otherwise_is_not_added(self, stand: _Stand) -> None:
        panel = self._panel(stand, stand.document.plan.sql_nodes[0].id)
        panel._set_scope(MysqldScope("sql", panel._process_ids))
        panel.search.setText("ndb_connectstring=a")
        before = stand.document.plan
        panel.add_option()
        assert stand.document.plan is before
        assert "follows from the management nodes" in panel._error.text()


def test_what_would_help_is_found_tried_and_remembered(stand: _Stand) -> None:
    stand.select("data1-c0d1")
    stand.until_fresh()
    search = stand.view._remedies
    search.search("blobs-5k")
    stand.qtbot.waitUntil(lambda: search.answer("blobs-5k") is not None, timeout=240_000)
    stand.settle()
    tries = [b for b in stand.view.findChildren(QPushButton) if b.accessibleName().startswith("Try: ")]
    groups = len(stand.document.plan.data_nodes)
    next(b for b in tries if "node group" in b.accessibleName()).click()
    assert len(stand.document.plan.data_nodes) == groups + 2
    assert search.answer("blobs-5k") is None
    stand.document.undo_stack.undo()
    assert len(stand.document.plan.data_nodes) == groups
    found = search.answer("blobs-5k")
    assert found is not None
    assert all(remedy.after.value > remedy.before.value for remedy in found.remedies)


def test_the_highest_load_is_of_a_time_that_one_chooses(stand: _Stand) -> None:
    stand.select("data1-c0d1")
    stand.until_fresh()
    workload = stand.document.plan.workloads[0]
    search = stand.view._remedies
    field = stand.view._advice._duration
    assert field.line.text() == "1 min", "as long as the workload lasts"
    for_a_minute = max_load(
        estimation_of(stand.document.plan, workload.id), duration_s=60.0, with_next=False
    ).max_per_s
    field.line.setText("10 min")
    field.line.editingFinished.emit()
    search.search(workload.id)
    stand.qtbot.waitUntil(lambda: search.answer(workload.id) is not None, timeout=240_000)
    assert "Sustained for 10 min, nothing refused" in stand.texts()
    found = search.answer(workload.id)
    assert found is not None
    assert found.highest is not None
    assert any(found.highest.end_text in text for text in stand.texts())
    assert found.highest.max_per_s.value < 0.5 * for_a_minute.value, "rows fill DataMemory"
    assert all(remedy.duration_s == 600.0 for remedy in found.remedies)
    search.choose_duration(workload.id, 60.0)
    assert search.answer(workload.id) is None, "an answer for another time is none"
    search.choose_duration(workload.id, 600.0)
    assert search.answer(workload.id) is found
    field.line.setText("0.5 s")
    field.line.editingFinished.emit()
    assert "0.5 s" in field.error.text()
    assert search.duration_s(workload.id) == 600.0
    field.line.setText("")
    field.line.editingFinished.emit()
    assert search.duration_s(workload.id) == workload.duration_s


def test_a_search_is_cancelled_by_an_edit(stand: _Stand) -> None:
    stand.select("data1-c0d1")
    search = stand.view._remedies
    search.search("blobs-5k")
    assert search.is_searching("blobs-5k")
    stand.document.edit("Cores", lambda plan: edits.update(plan, "data1", cores=17))
    assert not search.is_searching("blobs-5k")
    stand.select("data2")
    stand.qtbot.waitUntil(lambda: not stand.view._context.tasks.is_busy, timeout=240_000)
    assert search.answer("blobs-5k") is None


@pytest.mark.parametrize("stand", ["starter"], indirect=True)
def test_a_location_is_put_where_it_makes_no_circle(stand: _Stand) -> None:
    plan = edits.add(stand.document.plan, Location(id="room", name="Room 1", location_domain_id=7))
    stand.document.edit("Nest", lambda _: edits.update(plan, "rack-a", parent_id="room"))
    stand.select("room")
    (inside,) = stand.view.findChildren(ChoiceField, "parent_id")
    assert [inside.box.itemText(i) for i in range(inside.box.count())] == ["nothing", "Rack B", "Rack C"]
    stand.document.edit("Domain", lambda p: edits.update(p, "rack-a", location_domain_id=None))
    stand.select("rack-a")
    assert stand.field("location_domain_id").line.placeholderText() == "7, of Room 1"


def test_a_link_shows_every_letter_of_a_name(stand: _Stand) -> None:
    """A single `&` would be taken for the sign before a key, and not be shown."""
    table = stand.document.plan.tables[0]
    stand.document.edit("Rename", lambda plan: edits.update(plan, table.id, name="you&me"))
    stand.settle()
    links = [one.text() for one in stand.view.findChildren(QPushButton) if "you" in one.text()]
    assert links == [f"{table.database}.you&&me"]
