"""The analyses on real samples, end to end: simulate, distribute, memory, operations, export."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_value
from ndbplan.describe.measured_runs import near_runs
from ndbplan.desktop.analyses import AnalysisArea
from ndbplan.desktop.analyses.area import TABS
from ndbplan.desktop.analyses.export_preview import Highlighter
from ndbplan.desktop.analyses.panel import Empty
from ndbplan.desktop.analyses.simulation import page
from ndbplan.desktop.analyses.simulation.summary import Summary
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.axes import nice_step, time_step_s
from ndbplan.desktop.widgets.explain import Explanation, QuantityLabel
from ndbplan.desktop.widgets.problem_list import ProblemRow, WaiverRow
from ndbplan.desktop.widgets.sections import Elided
from ndbplan.edits import parts as edits
from ndbplan.edits import validated, waivers
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import assign_role
from ndbplan.edits.validated import EditError
from ndbplan.plan.events import DiskSlow, LocationFailure, NodeFailure
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.bottleneck import Bottleneck
from ndbplan.simulate.kernel import ready as kernel
from ndbplan.simulate.moment import Moment

_LONG_MS = 240_000


class _Stand:
    """An analysis area with what it looks at."""

    def __init__(self, qtbot: QtBot, sample: str) -> None:
        self.qtbot = qtbot
        self.document = Document(sample_plan(sample))
        self.selection = Selection(self.document)
        self.estimates = Estimates(self.document)
        self.view = AnalysisArea(self.document, self.selection, self.estimates)
        qtbot.addWidget(self.view)
        self.view.resize(1000, 360)
        self.view.show()

    def until(self, true: Any) -> None:
        self.qtbot.waitUntil(true, timeout=_LONG_MS)

    def idle(self) -> None:
        self.until(lambda: not self.view.context.tasks.is_busy)

    def panel(self, name: str) -> Any:
        panel: Any = self.view.show_tab(name)
        if name in ("Memory", "Problems"):
            self.until(lambda: self.estimates.is_fresh)
        self.idle()
        return panel

    def simulated(self) -> Any:
        panel: Any = self.view.show_tab("Simulation")
        before = panel.result
        panel.simulate()
        self.until(lambda: panel.result is not None and panel.result is not before)
        self.until(lambda: all(chart.is_drawn for chart in panel.charts.all))
        return panel

    def close(self) -> None:
        self.view.close_tasks()
        self.estimates.close()


@pytest.fixture
def stand(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[_Stand]:
    made = _Stand(qtbot, getattr(request, "param", "redo-overload"))
    yield made
    made.close()


@pytest.mark.parametrize("stand", ["starter", "disk-data", "telecom-144"], indirect=True)
def test_every_tab_opens_on_every_sample(stand: _Stand) -> None:
    for name, _, _ in TABS:
        stand.panel(name)
        stand.view.repaint()


@pytest.mark.parametrize("stand", ["starter", "disk-data", "telecom-144"], indirect=True)
def test_no_line_is_cut_in_the_smallest_window(stand: _Stand) -> None:
    """What has no room is told in fewer words: a line that ends in … keeps its figures back."""
    stand.view.resize(718, 290)
    if len(stand.document.plan.data_nodes) < 100:
        # Of 144 nodes each takes seconds; its lines are those of fewer nodes.
        stand.simulated()
        stand.panel("What matters").search()
    stand.panel("Distribution")._choose_view("map")
    pictures = stand.panel("Memory")
    pictures._views["Picture"].click()
    pictures.pictures.what_if.groups.setValue(1)
    cut = []
    for name, _, _ in TABS:
        panel = stand.panel(name)
        QApplication.processEvents()
        lines = [one for one in panel.findChildren(Elided) if one.isVisible()]
        cut += [
            (name, one.text(), one.shown()) for one in lines if one.shown() not in (one.text(), *one._shorter)
        ]
    assert cut == []


@pytest.mark.parametrize("stand", ["starter"], indirect=True)
def test_in_the_smallest_window_a_run_says_whole_what_it_is_of_and_how_it_ends(
    stand: _Stand, qapp: QApplication
) -> None:
    """`…1 / nvme1` was the disk of either host, and the end of the cluster was cut within a word."""
    theme.install(qapp, "dark")
    plan = stand.document.plan
    arbiter = min(plan.management_nodes, key=lambda node: node.node_id)
    rack = plan.host(plan.data_nodes[0].host_id).location_id
    assert arbiter.host_id is not None
    assert rack is not None
    moved = edits.update(plan, arbiter.host_id, location_id=rack)
    event = LocationFailure(at_s=20, object_id=rack)
    stand.document.new(edits.update(moved, plan.workloads[0].id, duration_s=60.0, events=(event,)))
    stand.view.resize(718, 290)
    panel = stand.simulated()
    assert panel.result.cluster_stop is not None
    QApplication.processEvents()
    lines = [one for one in panel.findChildren(Elided) if one.isVisible()]
    assert len(lines) >= 2
    assert [one.shown() for one in lines if one.shown() not in (one.text(), *one._shorter)] == []
    boxes = [panel.charts.node, panel.charts.disk]
    assert [box.shown() for box in boxes] == [box.currentText() for box in boxes]
    assert panel.charts.buffers.title.text() == "Redo buffers"
    stand.view.resize(1400, 700)
    assert panel.charts.buffers.title.text().startswith("Redo buffers · ")


def test_every_tab_says_what_to_do_on_an_empty_plan(stand: _Stand) -> None:
    stand.document.new(EMPTY_PLAN)
    stand.until(lambda: stand.estimates.is_fresh)
    wanted: list[str] = []
    stand.view.step_wanted.connect(wanted.append)
    led = []
    for name, _, _ in TABS:
        panel = stand.panel(name)
        for empty in panel.findChildren(Empty):
            if empty.isVisible():
                empty.button.click()
                led.append(name)
    # Problems have fixes of their own.
    assert led == [name for name, _, _ in TABS if name != "Problems"]
    assert wanted == [
        "variant" if name == "Compare" else "tables" if name == "Tables" else "hosts" for name in led
    ]
    panel = stand.panel("Simulation")
    assert not panel.start.isEnabled()
    assert panel.workload.isHidden()
    assert panel.uncertain.isHidden()


def test_tabs_are_built_when_first_looked_at(stand: _Stand) -> None:
    assert len(stand.view._panels) == 1
    stand.panel("Memory")
    assert len(stand.view._panels) == 2


def test_panels_load_without_the_heavy_libraries() -> None:
    program = (
        "import sys, ndbplan.desktop.analyses.simulation, ndbplan.desktop.inspector; "
        "print(sorted({'numpy', 'numba', 'pyqtgraph', 'sqlglot', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class TestSimulation:
    def test_another_plan_begins_without_a_run(self, stand: _Stand) -> None:
        panel: Any = stand.view.show_tab("Simulation")
        panel.simulate()
        stand.until(lambda: panel.result is not None)
        # The same again, from another file: also then nothing of the run before is said of it.
        stand.document.new(stand.document.plan.replace(name="Another"))
        stand.view.show_tab("Simulation")
        assert panel.result is None
        assert panel.state.text() == ""

    def test_the_duration_is_that_of_the_plan_until_somebody_types_another(self, stand: _Stand) -> None:
        """A file whose workload had the same id was simulated for as long as the one before it."""
        panel: Any = stand.view.show_tab("Simulation")
        plan = stand.document.plan
        asked = plan.workloads[0].id
        stand.document.edit("longer", lambda plan: edits.update(plan, asked, duration_s=77.0))
        assert panel.duration.seconds() == 77
        panel.duration.setText("20 s")
        stand.document.edit("renamed", lambda plan: plan.replace(name="Other"))
        assert panel.duration.seconds() == 20
        for duration_s in (33.0, 33.0):
            panel.duration.setText("20 s")
            stand.document.new(edits.update(plan, asked, duration_s=duration_s))
            assert panel.duration.seconds() == 33

    """The overload of the redo buffers, seen in the window."""

    def test_a_run_that_waits_for_the_compiler_says_how_far_it_is(
        self, stand: _Stand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        go_on = threading.Event()

        def slowly(progress: Callable[[float, str], None], cancelled: Callable[[], bool]) -> None:
            progress(0.25, "Preparing the simulation engine: 12 of 48 parts compiled…")
            go_on.wait(30)

        monkeypatch.setattr(kernel, "is_prepared", lambda: False)
        monkeypatch.setattr(kernel, "wait_until_prepared", slowly)
        panel = stand.panel("Simulation")
        panel.simulate()
        stand.until(lambda: "12 of 48" in panel.state.text())
        assert panel.bar.value() == 250
        assert panel.bar.maximum() == 1000
        assert not panel.cancel.isHidden()
        go_on.set()
        stand.until(lambda: panel.result is not None)

    def test_who_cancels_while_it_is_compiled_waits_no_longer(
        self, stand: _Stand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waited = threading.Event()

        def slowly(progress: Callable[[float, str], None], cancelled: Callable[[], bool]) -> None:
            progress(0.25, "Preparing the simulation engine: 12 of 48 parts compiled…")
            stand_by = threading.Event()
            while not cancelled():
                stand_by.wait(0.005)
            waited.set()

        monkeypatch.setattr(kernel, "is_prepared", lambda: False)
        monkeypatch.setattr(kernel, "wait_until_prepared", slowly)
        monkeypatch.setattr(kernel, "prepare", lambda: pytest.fail("nobody wants it any more"))
        panel = stand.panel("Simulation")
        panel.simulate()
        stand.until(lambda: "12 of 48" in panel.state.text())
        panel.stop()
        stand.until(waited.is_set)
        stand.until(lambda: not stand.view.context.tasks.is_busy)
        assert panel.result is None
        assert panel.state.text() == "Cancelled"

    def test_the_overload_appears_at_a_moment_and_drives_the_canvas(self, stand: _Stand) -> None:
        moments: list[Moment] = []
        stand.view.moment.connect(moments.append)
        panel = stand.simulated()
        error = panel.result.first_error
        assert error.code == 1221
        assert f"first error {error.code}" in panel._first_error.text()
        assert panel.scrubber.at_s == pytest.approx(error.first_at_s.value, abs=0.1)
        at_error = moments[-1]
        assert at_error.disk_utilisation["data1-c0d1"] > 0.9
        assert max(at_error.redo_buffer_fill.values()) > 0.9
        panel.scrubber.go_to(0.5)
        assert max(moments[-1].redo_buffer_fill.values()) < 0.5
        assert not moments[-1].errors

    def test_ndbinfo_shows_the_scrubbers_moment(self, stand: _Stand) -> None:
        panel = stand.simulated()
        panel.tables.click()
        page = panel.ndbinfo
        assert panel._pages.currentWidget() is page
        assert page.table.currentText() == "logbuffers"
        panel.scrubber.go_to(1.0)
        early = page.text.toPlainText()
        panel.scrubber.go_to(10.0)
        late = page.text.toPlainText()
        assert early != late
        assert "mysql> SELECT * FROM ndbinfo.logbuffers;" in late
        assert "| 50331648 |" in late
        page.table.setCurrentText("memoryusage")
        page.table.activated.emit(page.table.currentIndex())
        assert "Data memory" in page.text.toPlainText()
        panel.tables.click()
        assert panel._pages.currentWidget() is panel.charts

    def test_the_lighter_load_stays_within(self, stand: _Stand) -> None:
        panel: Any = stand.view.show_tab("Simulation")
        panel.workload.setCurrentIndex(panel.workload.findData("blobs-1k"))
        panel.workload.activated.emit(panel.workload.currentIndex())
        assert stand.estimates.workload_id == "blobs-1k"
        panel = stand.simulated()
        assert len(panel.result.errors) == 0
        assert panel._first_error.isHidden()

    def test_lcp_on_its_own_disk_cures_it(self, stand: _Stand) -> None:
        panel = stand.simulated()
        assert panel.result.errors
        first = panel.result

        def cure(plan: Any) -> Any:
            for node, disk in (("ndb3", "data1-c0d0"), ("ndb4", "data2-c0d0")):
                plan = assign_role(plan, node, DiskRole.LCP, disk)
            return plan

        stand.document.edit("LCP away", cure)
        stand.until(lambda: panel.result is not None and panel.result is not first)
        assert len(panel.result.errors) == 0
        assert panel._first_error.text().startswith("no error any more")

    def test_twice_the_redo_buffer_only_delays_it(self, stand: _Stand) -> None:
        panel = stand.simulated()
        first = panel.result
        early = first.first_error.first_at_s.value
        size = stand.document.plan.parameters.data_node["RedoBuffer"]
        stand.document.edit("Twice", lambda plan: set_parameter(plan, "data_node", "RedoBuffer", 2 * size))
        stand.until(lambda: panel.result is not None and panel.result is not first)
        late = panel.result.first_error.first_at_s.value
        assert late > early + 5
        assert "before: 1221 at" in panel._first_error.text()
        stand.document.undo_stack.undo()

    def test_cancel_gives_the_button_back_at_once(self, stand: _Stand) -> None:
        panel: Any = stand.view.show_tab("Simulation")
        panel.duration.setText("20 d")
        panel.simulate()
        assert panel.start.isHidden()
        assert not panel.cancel.isHidden()
        panel.stop()
        assert not panel.start.isHidden()
        assert panel.state.text() == "Cancelled"
        stand.idle()
        assert panel.result is None

    def test_a_long_run_is_drawn_while_it_goes_on(self, stand: _Stand) -> None:
        panel = stand.simulated()
        before = panel.charts.rates._content
        panel.duration.setText("20 d")
        panel.simulate()
        stand.until(lambda: panel._streaming)
        shown = panel.charts.rates._content
        assert panel._task is not None, "it still runs"
        assert shown.length_s == 20 * 86400
        assert 0 < len(shown.times_s) * shown.bucket_s < 20 * 86400
        stand.until(lambda: len(panel.charts.rates._content.times_s) > len(shown.times_s))
        panel.stop()
        assert panel.charts.rates._content.length_s is None
        assert len(panel.charts.rates._content.times_s) == len(before.times_s)
        assert not panel._streaming
        stand.idle()
        assert len(panel.charts.rates._content.times_s) == len(before.times_s), "nothing comes after"

    def test_a_first_run_that_is_cancelled_leaves_no_charts(self, stand: _Stand) -> None:
        panel: Any = stand.view.show_tab("Simulation")
        panel.duration.setText("20 d")
        panel.simulate()
        stand.until(lambda: panel._streaming)
        assert panel._pages.currentWidget() is panel.charts
        panel.stop()
        assert panel._pages.currentWidget() is panel._empty
        stand.idle()

    @pytest.mark.parametrize("text", ["soon", "0.1 s", "90 d"])
    def test_a_bad_duration_is_refused_in_one_line(self, stand: _Stand, text: str) -> None:
        panel: Any = stand.view.show_tab("Simulation")
        panel.duration.setText(text)
        panel.simulate()
        assert "—" in panel.state.text()
        assert panel._task is None

    def test_why_nothing_is_simulated_is_told_whole(self, stand: _Stand) -> None:
        """It ended in `(data…` beside the button, above an empty panel."""
        panel: Any = stand.view.show_tab("Simulation")
        before = panel._empty.text.text()

        def one_replica(plan: Plan) -> Plan:
            for node in plan.data_nodes:
                plan = edits.update(plan, node.id, node_group=0)
            return set_parameter(plan, "data_node", "NoOfReplicas", 1)

        stand.document.edit("One", one_replica)
        stand.idle()
        panel.simulate()
        stand.until(lambda: panel._task is None)
        assert "node group 0" in panel.state.text()
        assert panel._empty.isVisible()
        assert panel._empty.text.text() == panel.state.text()
        stand.document.undo_stack.undo()
        stand.until(lambda: panel._empty.text.text() == before)

    def test_undo_takes_back_that_the_plan_has_changed(
        self, stand: _Stand, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of a run too long to follow each edit the line stayed, though the plan was the run's again."""
        monkeypatch.setattr(page, "_LIVE_BELOW_S", -1.0)
        panel = stand.simulated()
        host = stand.document.plan.hosts[0]
        stand.document.edit("Set cores", lambda plan: edits.update(plan, host.id, cores=host.cores + 1))
        assert "has changed" in panel.state.text()
        stand.document.undo_stack.undo()
        assert panel.state.text() == ""
        stand.document.undo_stack.redo()
        assert "has changed" in panel.state.text()

    def test_the_range_over_many_runs_is_shown_and_hidden(self, stand: _Stand) -> None:
        panel = stand.simulated()
        before = panel.summary._accepted.text()
        panel.uncertain.click()
        stand.until(lambda: panel._run.bands is not None)
        bands = panel._run.bands
        assert (bands.accepted.p10 <= bands.accepted.p90).all()
        assert "…" in panel.summary._accepted.text()
        assert "1221 in" in panel.summary._limit.text()
        accepted = panel.charts.rates._content.series[0]
        assert accepted.name == "accepted"
        assert len(accepted.low) == len(accepted.values)
        panel.uncertain.click()
        assert panel.charts.rates._content.series[0].low is None
        assert panel.summary._accepted.text() == before

    def test_latency_is_drawn_and_told_with_its_derivation(self, stand: _Stand) -> None:
        panel = stand.simulated()
        content = panel.charts.latency._content
        assert content.unit == "s"
        assert content.series[0].values.tolist() == panel.result.latency_s.tolist()
        shown = panel.summary._latency
        assert not shown.isHidden()
        assert shown.quantity is panel.result.latency_mean_s
        assert shown.text() == format_value(panel.result.latency_mean_s.value, "s")
        assert shown.quantity.why

    def test_latency_has_a_gap_while_nothing_is_answered(self, stand: _Stand) -> None:
        points = ((0.0, 0.0), (20.0, 4320.0), (40.0, 0.0))
        load = OpenLoad(points=tuple(RatePoint(at_s=at, rate_per_s=rate) for at, rate in points))
        stand.document.edit("Pause", lambda plan: edits.update(plan, "blobs-5k", load=load))
        panel = stand.simulated()
        chart = panel.charts.latency
        values = dict(zip(panel.result.times_s, chart._content.series[0].values, strict=True))
        assert math.isnan(values[10.0])
        assert values[30.0] > 0
        chart.show_values_at(10.0)
        assert "mean&nbsp;–" in chart.readout.text()
        chart.show_values_at(None)
        assert "–" not in chart.readout.text()
        assert chart.plot.getViewBox().viewRange()[1][1] < 1.0

    def test_no_latency_is_told_of_a_load_of_nothing(self, stand: _Stand) -> None:
        load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=0),))
        stand.document.edit("Nothing", lambda plan: edits.update(plan, "blobs-5k", load=load))
        panel = stand.simulated()
        assert panel.summary._latency.isHidden()
        assert panel.summary._latency_name.isHidden()

    def test_in_a_small_window_transactions_and_latency_take_turns(self, stand: _Stand) -> None:
        stand.view.resize(700, 300)
        charts = stand.simulated().charts
        assert (charts.rates.isHidden(), charts.latency.isHidden()) == (False, True)
        charts.to_latency.click()
        assert (charts.rates.isHidden(), charts.latency.isHidden()) == (True, False)
        charts.to_rates.click()
        assert (charts.rates.isHidden(), charts.latency.isHidden()) == (False, True)
        for size in ((1200, 420), (700, 600)):
            stand.view.resize(*size)
            assert all(chart.isVisible() for chart in charts.all)
            assert charts.to_latency.isHidden()
            places = [chart.geometry() for chart in charts.all]
            for i, one in enumerate(places):
                assert not any(one.intersects(other) for other in places[i + 1 :])

    @pytest.mark.parametrize("name", ["Simulation", "Distribution", "Operations"])
    @pytest.mark.parametrize("width", [464, 660, 1000])
    def test_controls_do_not_cover_one_another(self, stand: _Stand, name: str, width: int) -> None:
        stand.view.resize(width, 320)
        panel = stand.panel(name)
        stand.idle()
        kinds = (QComboBox, QLineEdit, QPushButton, QAbstractSpinBox, QCheckBox)
        controls = [
            (part, QRect(part.mapTo(panel, part.rect().topLeft()), part.size()))
            for part in panel.findChildren(QWidget)
            if isinstance(part, kinds) and part.isVisible() and not isinstance(part.parent(), kinds)
        ]
        assert len(controls) > 2
        for i, (part, rect) in enumerate(controls):
            assert rect.width() >= min(part.minimumSizeHint().width(), 96), part.accessibleName()
            assert panel.rect().contains(rect), part.accessibleName()
            assert not any(rect.intersects(other) for _, other in controls[i + 1 :]), part.accessibleName()

    def test_a_longer_run_is_shown_to_its_end(self, stand: _Stand) -> None:
        panel = stand.simulated()
        assert panel.charts.log.plot.getViewBox().viewRange()[0] == pytest.approx([0, 60])
        panel.duration.setText("5 min")
        stand.simulated()
        for chart in panel.charts.all:
            assert chart.plot.getViewBox().viewRange()[0] == pytest.approx([0, 300])

    def test_a_chart_shows_as_many_lines_as_it_was_given_last(self, stand: _Stand) -> None:
        charts = stand.simulated().charts
        assert [len(charts.rates.drawing.lines), len(charts.latency.drawing.lines)] == [3, 1]
        result = charts.buffers._content
        fewer = dataclasses.replace(result, series=result.series[:1])
        charts.buffers.show_content(fewer)
        charts.buffers.draw()
        (line,) = charts.buffers.drawing.lines
        assert line.getOriginalDataset()[1].tolist() == fewer.series[0].values.tolist()
        drawn = charts.buffers.plot.getPlotItem().items
        assert sum(type(item).__name__ == "PlotDataItem" for item in drawn) == 1

    def test_charts_of_any_width_show_the_same_time(self, stand: _Stand) -> None:
        stand.view.resize(700, 600)
        charts = stand.simulated().charts
        charts.writes.plot.setXRange(10, 20, padding=0)
        assert charts.writes.width() > charts.rates.width()
        for chart in charts.all:
            assert chart.plot.getViewBox().viewRange()[0] == pytest.approx([10, 20])

    def test_events_are_marked_on_the_charts(self, stand: _Stand) -> None:
        stand.document.edit(
            "Event",
            lambda plan: edits.update(plan, "blobs-5k", events=(DiskSlow(at_s=20, object_id="data1-c0d1"),)),
        )
        panel = stand.simulated()
        marks = panel.charts.rates._content.marks
        assert ("Disk becomes slow", 20) in {(mark.text, mark.at_s) for mark in marks}

    def test_charts_copy_their_series(self, stand: _Stand) -> None:
        charts = stand.simulated().charts
        charts.rates.copy_csv()
        lines = QGuiApplication.clipboard().text().splitlines()
        assert lines[0] == "t_s,accepted,refused,offered"
        assert len(lines) == len(charts._run.result.times_s) + 1
        charts.rates.copy_picture()
        assert not QGuiApplication.clipboard().pixmap().isNull()

    def test_the_crosshair_is_shared(self, stand: _Stand) -> None:
        charts = stand.simulated().charts
        charts.rates.cursor_moved.emit(10.0)
        for chart in charts.all:
            assert chart._cursor.isVisible()
            assert chart._cursor.value() == 10.0
            assert "10&nbsp;s" in chart.readout.text()
        charts.log.cursor_moved.emit(None)
        assert not any(chart._cursor.isVisible() for chart in charts.all)

    def test_the_crosshair_obeys_the_keyboard(self, stand: _Stand) -> None:
        panel = stand.simulated()
        plot = panel.charts.rates.plot
        stand.qtbot.keyClick(plot, Qt.Key.Key_Right)
        at_s = panel.charts.log._cursor.value()
        assert at_s > 0
        stand.qtbot.keyClick(plot, Qt.Key.Key_Return)
        assert panel.scrubber.at_s == pytest.approx(at_s)
        stand.qtbot.keyClick(plot, Qt.Key.Key_Escape)
        assert not panel.charts.log._cursor.isVisible()

    def test_playing_moves_on_and_stops_at_the_end(self, stand: _Stand) -> None:
        panel = stand.simulated()
        panel.scrubber.go_to(panel.result.duration_s - 0.2)
        panel.scrubber.play.click()
        stand.until(lambda: not panel.scrubber.play.isChecked())
        assert panel.scrubber.at_s == panel.result.duration_s

    def test_the_scrubber_obeys_the_keyboard(self, stand: _Stand) -> None:
        panel = stand.simulated()
        stand.qtbot.keyClick(panel.scrubber.track, Qt.Key.Key_Home)
        assert panel.scrubber.at_s == 0
        stand.qtbot.keyClick(panel.scrubber.track, Qt.Key.Key_Right)
        assert panel.scrubber.at_s == pytest.approx(panel.result.duration_s / 100)


@pytest.mark.parametrize("stand", ["add-nodes"], indirect=True)
class TestDistribution:
    """The published reorganisation of 3 million rows, seen in the window."""

    def test_a_group_more_moves_half_of_the_rows(self, stand: _Stand) -> None:
        panel = stand.panel("Distribution")
        stand.until(lambda: panel._answer is not None)
        assert _partitions(panel) == (8, 16)
        rows_moved = panel._answer.moved.rows_moved
        assert rows_moved == pytest.approx(1_499_531, rel=0.01)
        times = [
            n.quantity for n in panel.findChildren(QuantityLabel) if n.quantity and n.quantity.unit == "s"
        ]
        assert times
        assert times[0].value == pytest.approx(247.97, rel=0.15)
        assert times[0].low <= 247.97 <= times[0].high
        assert times[0].why
        assert "rows move to partition 8" in panel.bars.tip(0)
        assert "come from partition 0" in panel.bars.tip(8)

    def test_in_a_wide_window_no_figure_of_the_table_is_cut(self, stand: _Stand) -> None:
        panel = stand.panel("Distribution")
        head = panel.table.horizontalHeader()
        for width in (1120, 1600):
            stand.view.resize(width, 420)
            stand.until(lambda: panel.table.viewport().width() >= head.length())
            assert panel.bars.width() >= 300

    def test_bytes_keep_the_pages_of_the_old_partitions(self, stand: _Stand) -> None:
        panel = stand.panel("Distribution")
        panel._units["bytes"].click()
        bars = panel.bars._picture.bars
        assert bars[0].after == bars[0].before > 0
        assert bars[8].before == 0 < bars[8].after

    def test_adding_to_the_plan_keeps_the_comparison_until_undone(self, stand: _Stand) -> None:
        panel = stand.panel("Distribution")
        panel.add_groups()
        stand.idle()
        assert len(stand.document.plan.data_nodes) == 4
        assert panel.groups.value() == 0
        assert _partitions(panel) == (8, 16)
        stand.document.undo_stack.undo()
        stand.idle()
        assert panel.groups.value() == 1
        assert len(stand.document.plan.data_nodes) == 2

    def test_without_new_groups_it_shows_what_is(self, stand: _Stand) -> None:
        panel = stand.panel("Distribution")
        panel.groups.setValue(0)
        stand.idle()
        assert _partitions(panel) == (8, None)
        assert sum(bar.after for bar in panel.bars._picture.bars) == 3_000_000
        assert not panel.add_button.isEnabled()

    def test_partitions_are_picked_with_the_arrow_keys(self, stand: _Stand) -> None:
        panel = stand.panel("Distribution")
        stand.qtbot.keyClick(panel.bars, Qt.Key.Key_Right)
        assert panel.bars.picked == 0
        stand.qtbot.keyClick(panel.bars, Qt.Key.Key_Left)
        assert panel.bars.picked == 15

    def test_the_table_is_copied_as_csv(self, stand: _Stand) -> None:
        panel = stand.panel("Distribution")
        lines = panel.table.as_csv().splitlines()
        assert lines[0] == "Part.,Group,Nodes,Rows,After,Moves,LDM"
        assert len(lines) == 17
        assert sum(int(line.split('"')[-1].split(",")[1]) for line in lines[1:] if '"' in line) >= 0


def _partitions(panel: Any) -> tuple[int, int | None]:
    """Partitions before and after; the objects themselves are too large for a failure message."""
    answer = panel._answer
    return (
        answer.before.placement.partitions,
        None if answer.moved is None else answer.moved.after.placement.partitions,
    )


def test_memory_adds_up_and_selects(stand: _Stand) -> None:
    panel = stand.panel("Memory")
    now = stand.estimates.latest.now if stand.estimates.latest else None
    assert now is not None
    assert panel._total.quantity.value == now.memory.cluster_bytes.value
    assert panel.tables.model().rowCount() == len(stand.document.plan.tables)
    panel.nodes.clicked.emit(panel.nodes.model().index(0, 0))
    assert stand.selection.ids == ("ndb3",)


@pytest.mark.parametrize("stand", ["starter"], indirect=True)
def test_memory_without_tables_or_nodes_leads_to_them(stand: _Stand) -> None:
    """Beside the figures of the nodes stood a list of tables with nothing in it, and the other way round."""
    panel, wanted = stand.panel("Memory"), []
    panel.step_wanted.connect(wanted.append)
    whole = stand.document.plan
    for lacks, part in (
        (whole.replace(tables=(), workloads=()), panel._or_tables),
        (Plan(ndb_version=whole.ndb_version, tables=whole.tables), panel._or_nodes),
    ):
        stand.document.new(lacks)
        stand.until(lambda: stand.estimates.is_fresh)
        assert [one.empty.isVisible() for one in (panel._or_tables, panel._or_nodes)] == [
            one is part for one in (panel._or_tables, panel._or_nodes)
        ]
        part.empty.button.click()
    assert wanted == ["tables", "hosts"]


@pytest.mark.parametrize("stand", ["starter"], indirect=True)
def test_more_traffic_never_makes_a_restart_shorter(stand: _Stand) -> None:
    panel = stand.panel("Operations")
    assert panel.traffic.isHidden()
    panel.load_box.setCurrentIndex(1)
    panel.load_box.activated.emit(1)
    seconds = []
    for step in (panel.traffic.minimum(), panel.traffic.maximum()):
        panel.traffic.setValue(step)
        stand.idle()
        seconds.append({lane.name: lane.duration_s.value for lane in panel.lanes._lanes}["Node restart"])
    assert panel.traffic.isVisible()
    assert panel._traffic_text.text() == "× 3"
    assert seconds[0] < seconds[1]


@pytest.mark.parametrize("stand", ["starter"], indirect=True)
def test_the_chosen_procedure_has_a_lane_of_its_own(stand: _Stand) -> None:
    panel = stand.panel("Operations")
    last = []
    for index in range(panel.procedure_box.count()):
        panel.procedure_box.setCurrentIndex(index)
        panel.procedure_box.activated.emit(index)
        stand.idle()
        last.append(panel.lanes._lanes[-1].name)
        assert panel.groups.isHidden() == (index > 0)
    assert last == [
        "Add a node group",
        "Change DataMemory",
        "Change NoOfFragmentLogFiles",
        "Change NoOfReplicas",
        "Upgrade to 9.x",
    ]
    stand.document.edit("Name", lambda plan: edits.set_plan(plan, name="x"))
    assert panel.procedure_box.currentText() == "Upgrade to 9.x", "an edit keeps the choice"


def test_a_slider_that_changes_nothing_says_what_is_waited_for_instead(stand: _Stand) -> None:
    def seconds(panel: Any) -> float:
        return next(lane.duration_s.value for lane in panel.lanes._lanes if lane.name == "Node restart")

    panel = stand.panel("Operations")
    plain = seconds(panel)
    told = set()
    for slider in (panel.disk, panel.ldms):
        rest = slider.value()
        for value in (slider.minimum(), slider.maximum()):
            slider.setValue(value)
            stand.idle()
            same = abs(seconds(panel) - plain) <= 0.002 * plain and value != rest
            assert ("changes nothing here" in panel._notes.text()) == same
            told.add(same)
        slider.setValue(rest)
        stand.idle()
    assert False in told, "some slider changes something"


@pytest.mark.parametrize("stand", ["disk-data-8.4"], indirect=True)
def test_what_does_not_fit_stands_above_the_operations(stand: _Stand) -> None:
    panel = stand.panel("Operations")
    assert panel._note.isHidden()
    space = stand.document.plan.tablespaces[0]
    files = (validated.changed(space.data_files[0], count=4),)
    stand.document.edit("Data files", lambda plan: edits.update(plan, space.id, data_files=files))
    stand.idle()
    assert panel._note.isVisible()
    assert f"tablespace {space.name} needs" in panel._note.text()
    assert "tablespace" not in panel._notes.text()


@pytest.mark.parametrize("stand", ["tick-store"], indirect=True)
def test_what_is_said_of_several_operations_is_said_once(stand: _Stand) -> None:
    lines = stand.panel("Operations")._notes.text().splitlines()
    assert len({line.partition(": ")[2] for line in lines}) == len(lines)
    assert any(line.startswith("Node restart, Initial node restart, Rolling restart: ") for line in lines)
    assert "Backup: a diskless cluster makes no backup" in lines
    assert not any("parameters." in line for line in lines), "an address means nothing here"


@pytest.mark.parametrize("stand", ["terabyte-load"], indirect=True)
def test_the_slider_of_ldm_threads_shortens_a_restart_and_says_how_many(stand: _Stand) -> None:
    panel = stand.panel("Operations")
    assert panel._ldms_text.text() == "plan's"
    seconds = {}
    for step in (panel.ldms.value(), panel.ldms.maximum()):
        panel.ldms.setValue(step)
        stand.idle()
        seconds[panel._ldms_text.text()] = next(
            lane.duration_s.value for lane in panel.lanes._lanes if lane.name == "Node restart"
        )
    assert seconds["32"] < seconds["plan's"] / 2


@pytest.mark.parametrize("stand", ["node-restart"], indirect=True)
def test_faster_disks_and_more_threads_never_make_a_restart_slower(stand: _Stand) -> None:
    panel = stand.panel("Operations")

    def seconds() -> dict[str, float]:
        return {lane.name: lane.duration_s.value for lane in panel.lanes._lanes}

    slow = seconds()
    assert {"Node restart", "Initial node restart", "Rolling restart"} <= slow.keys()
    panel.disk.setValue(panel.disk.maximum())
    stand.idle()
    fast = seconds()
    assert all(fast[name] <= slow[name] for name in slow)
    stand.qtbot.keyClick(panel.lanes, Qt.Key.Key_Down)
    assert panel.lanes._picked == (0, -1)
    box = panel.lanes._box(1, 0)
    QTest.mouseClick(
        stand.view.windowHandle(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        panel.lanes.mapTo(stand.view, box.center().toPoint()),
    )
    popover = panel.lanes.findChild(Explanation)
    assert popover is not None
    assert popover.mark.text() == near_runs(stand.document.plan, "restart")
    popover.close()
    marks = {lane.name: lane.near_runs for lane in panel.lanes._lanes}
    kinds = {
        "First start": "first start",
        "Backup": "backup",
        "Restore it": "restore",
        "Add a node group": "reorganise",
    }
    assert {name: marks[name] for name in kinds} == {
        name: near_runs(stand.document.plan, kind) for name, kind in kinds.items()
    }


def test_a_number_tells_the_measured_runs_that_it_lies_nearest_to(stand: _Stand) -> None:
    panel = stand.panel("Memory")
    expected = near_runs(stand.document.plan, "storage")
    assert expected.startswith(("At a measured run", "Between measured runs", "Beyond all measured runs"))
    assert "; nearest: " in expected
    panel._total.open()
    popover = panel._total.findChild(Explanation)
    assert popover is not None
    assert popover.mark.isVisible()
    assert popover.mark.text() == expected
    popover.copy()
    assert QGuiApplication.clipboard().text().endswith(f"{expected}\n")
    popover.close()
    assert panel.tables.near_runs == panel.nodes.near_runs == panel.disks.near_runs == expected


def test_fix_all_does_every_fix_as_one_step_and_says_so_before(stand: _Stand) -> None:
    panel = stand.panel("Problems")
    before = stand.document.plan
    fixes = [p for p in stand.estimates.latest.problems if p.edit is not None]
    assert fixes
    assert all(p.fix in panel.fix_all.toolTip() for p in fixes)
    row = next(r for r in panel.list.findChildren(ProblemRow) if r._problem.edit is not None)
    assert " -> " in row.tell_what_fix_changes()[0]
    panel.fix_all.setFocus()
    panel.apply_all()
    assert not panel.fix_all.hasFocus()
    assert panel._buttons[""].hasFocus(), "not in whatever comes next"
    stand.until(lambda: stand.document.plan is not before)
    stand.until(lambda: stand.estimates.is_fresh)
    assert not [p for p in stand.estimates.latest.problems if p.edit is not None]
    stand.document.undo_stack.undo()
    assert stand.document.plan is before


@pytest.mark.parametrize("stand", ["redo-overload"], indirect=True)
def test_problems_say_what_the_rules_of_the_version_rest_on(stand: _Stand) -> None:
    panel = stand.panel("Problems")
    assert panel.unheld.text() == "The rules of NDB 7.1 are interpolated from manuals and 7.4.10."
    assert not panel.unheld.isHidden()
    stand.document.edit("Newer", lambda plan: edits.set_plan(plan, ndb_version="7.4.10"))
    stand.until(panel.unheld.isHidden)


def test_problems_are_filtered_by_severity(stand: _Stand) -> None:
    panel = stand.panel("Problems")
    assert stand.estimates.latest is not None
    errors = [p for p in stand.estimates.latest.problems if p.severity == "error"]
    panel._buttons["error"].click()
    assert len(panel.list._shown) == len(errors)
    assert panel._buttons["error"].text() == f"Errors  {len(errors)}"


def test_a_problem_is_accepted_with_a_reason_and_taken_back(stand: _Stand) -> None:
    panel = stand.panel("Problems")
    assert stand.estimates.latest is not None
    row = panel.list.findChildren(ProblemRow)[0]
    message = row._problem.message
    row.accept("measured on site")
    # The row stands for what is alike on both disks.
    places = len(row._problem.alike) or 1
    assert [w.reason for w in stand.document.plan.waivers] == ["measured on site"] * places
    stand.until(lambda: stand.estimates.is_fresh)
    assert message not in {problem.message for problem in stand.estimates.latest.problems}
    panel._buttons["waived"].click()
    waived = panel.findChildren(WaiverRow)
    assert len(waived) == places
    for one in waived:
        one.take_back()
    assert stand.document.plan.waivers == ()
    with pytest.raises(EditError, match="reason is refused"):
        waivers.accept(stand.document.plan, "disk-demand", None, "")


def test_the_export_follows_edits_and_is_written(stand: _Stand, tmp_path: Path) -> None:
    panel = stand.panel("Export preview")
    assert "config.ini" in panel._files
    stand.document.edit("Buffer", lambda p: set_parameter(p, "data_node", "RedoBuffer", 96 * 2**20))
    stand.until(lambda: "RedoBuffer=96M" in panel._files["config.ini"].replace(" ", ""))
    assert "RedoBuffer=96M" in panel.text.toPlainText().replace(" ", "")
    panel.export_to(tmp_path / "out")
    stand.idle()
    assert (tmp_path / "out" / "config.ini").read_text(encoding="utf-8") == panel._files["config.ini"]
    assert "files written" in panel._state.text()


def test_no_button_of_the_export_is_cut_in_a_small_window(stand: _Stand) -> None:
    panel = stand.panel("Export preview")
    panel.resize(330, 300)
    panel.show()
    stand.idle()
    for button in (panel.change_from, panel.export_button, panel.groups):
        assert button.width() >= button.sizeHint().width(), button.accessibleName()
        assert panel.rect().contains(button.mapTo(panel, button.rect().bottomRight()))


def test_names_of_exported_files_are_whole_where_there_is_room(stand: _Stand) -> None:
    """`systemd/app1/…d-145.service` stood beside an empty half."""
    stand.view.resize(1400, 400)
    panel = stand.panel("Export preview")
    stand.qtbot.waitUntil(lambda: panel.files.count() > 10, timeout=_LONG_MS)
    names = [panel.files.item(i).text() for i in range(panel.files.count())]
    room = panel.files.viewport().width()
    assert max(map(panel.files.fontMetrics().horizontalAdvance, names)) < room
    assert panel.text.width() > 2 * panel.files.width() - 60
    stand.view.resize(700, 400)
    assert panel.text.width() > panel.files.width()


def test_the_export_brings_what_runs_to_the_plan(stand: _Stand, tmp_path: Path) -> None:
    panel = stand.panel("Export preview")
    running = tmp_path / "running.ini"
    running.write_text(panel._files["config.ini"])
    stand.document.edit("Buffer", lambda p: set_parameter(p, "data_node", "RedoBuffer", 96 * 2**20))
    stand.idle()
    assert "Bring the cluster to this plan" not in panel._files["runbook.md"]
    panel.take_running(running)
    stand.idle()
    assert "running.ini" in panel.change_from.text()
    assert "What changes: RedoBuffer of" in panel._files["runbook.md"]
    panel.export_to(tmp_path / "out")
    stand.idle()
    assert (tmp_path / "out" / "runbook.sh").read_text(encoding="utf-8") == panel._files["runbook.sh"]
    running.unlink()
    panel.refresh()
    stand.idle()
    assert "running.ini" in panel._state.text(), "what cannot be read is said"
    panel._forget.click()
    stand.idle()
    assert "Bring the cluster to this plan" not in panel._files["runbook.md"]
    assert panel._forget.isHidden()


def test_a_folder_that_cannot_be_made_is_said_in_one_line(stand: _Stand, tmp_path: Path) -> None:
    panel = stand.panel("Export preview")
    (tmp_path / "file").write_text("x")
    panel.export_to(tmp_path / "file" / "below")
    stand.idle()
    assert "—" in panel._state.text()


def test_everything_that_takes_the_focus_has_a_name(stand: _Stand) -> None:
    stand.simulated()
    for name, _, _ in TABS:
        stand.panel(name)
        nameless = [
            w
            for w in stand.view.findChildren(QWidget)
            if w.isVisible()
            and w.window() is stand.view.window()
            and w.focusPolicy() & Qt.FocusPolicy.TabFocus
            and not (w.accessibleName() or getattr(w, "text", str)())
        ]
        assert nameless == []


@pytest.mark.parametrize(
    ("span", "most", "binary", "step"),
    [
        (4579, 3, False, 2000),
        (118e6, 2, False, 100e6),
        (48 * 2**20, 3, True, 16 * 2**20),
        (0.9, 4, False, 0.5),
    ],
)
def test_axis_steps_are_round(span: float, most: int, binary: bool, step: float) -> None:
    assert nice_step(span, most, binary=binary) == pytest.approx(step)


@pytest.mark.parametrize(
    ("span_s", "pixels", "step_s"),
    [(60, 270, 15), (600, 240, 120), (600, 120, 300), (5400, 300, 1800), (86400, 300, 21600)],
)
def test_times_under_an_axis_do_not_touch(span_s: float, pixels: float, step_s: int) -> None:
    assert time_step_s(span_s, pixels) == step_s


@pytest.mark.parametrize("suffix", ["ini", "md"])
def test_a_long_file_is_highlighted_to_its_end(qtbot: QtBot, suffix: str) -> None:
    editor = QPlainTextEdit()
    qtbot.addWidget(editor)
    highlighter = Highlighter(editor.document())
    lines = {
        "ini": ["# a comment", "[ndbd]", "NodeId=3"] * 400,
        "md": ["# heading", "```", "inside of a fence", "", "```", "plain"] * 200,
    }[suffix]
    highlighter.set_kind(suffix)
    highlighter.start_over()
    editor.setPlainText("\n".join(lines))
    qtbot.waitUntil(lambda: not highlighter._steps.isActive())

    def formats(number: int) -> list[str]:
        layout = editor.document().findBlockByNumber(number).layout()
        return [f.format.foreground().color().name() for f in layout.formats()]

    period = 3 if suffix == "ini" else 6
    for line in range(period):
        assert formats(len(lines) - period + line) == formats(line)
    assert formats(0)


@pytest.mark.parametrize("stand", ["telecom-144"], indirect=True)
def test_a_full_cluster_is_an_error_only_for_who_asks_for_more(stand: _Stand) -> None:
    panel = stand.panel("Distribution")
    assert panel.groups.value() == 0
    assert panel._error.isHidden()
    panel._views["bars"].click()
    panel.groups.setValue(1)
    stand.idle()
    assert "144" in panel._error.text()
    assert not panel._error.isHidden()
    stand.document.new(sample_plan("starter"))
    stand.idle()
    assert panel.groups.value() == 1
    assert panel._error.isHidden()


def test_a_stopped_cluster_shows_in_summary_charts_and_moment(qtbot: QtBot) -> None:
    from ndbplan.describe.estimated import known_of, loads_at

    stand = _Stand(qtbot, "starter")
    workload = stand.document.plan.workloads[0]
    failures = tuple(NodeFailure(at_s=30, object_id=n.id) for n in stand.document.plan.data_nodes)
    stand.document.edit(
        "Lose both", lambda plan: edits.update(plan, workload.id, events=failures, duration_s=60.0)
    )
    panel = stand.simulated()
    panel.duration.setText("60 s")
    panel = stand.simulated()
    stop = panel.result.cluster_stop
    assert stop.text.startswith("cluster stopped at 0:30: node group 0 is gone")
    assert stop.text in panel.summary._limit.text()
    assert panel.summary._limit.property("look") == "alarm"
    assert "4009" in panel._first_error.text()
    for chart in panel.charts.all:
        (shade,) = chart._content.shades
        assert (shade.from_s, shade.to_s, shade.text) == (30.0, 60.0, "stopped 0:30")
    latency = panel.charts.latency._content.series[0].values
    assert not math.isnan(latency[29])
    assert all(map(math.isnan, latency[30:]))

    moments: list[Moment] = []
    panel.moment.connect(moments.append)
    plan = stand.document.plan
    at_rest = known_of(plan).loads
    panel.scrubber.go_to(29.0)
    before = loads_at(moments[-1], plan, at_rest)
    assert (before.down, before.stopped, before.cpu) == ({}, "", at_rest.cpu)
    panel.scrubber.go_to(45.0)
    after = loads_at(moments[-1], plan, at_rest)
    assert after.stopped == stop.text
    assert after.down.keys() == {n.id for n in plan.data_nodes}
    assert after.cpu == after.memory == {}
    assert after.redo_buffers == {}

    # Without the failures all of it goes again.
    stand.document.edit("Keep both", lambda plan: edits.update(plan, workload.id, events=()))
    panel = stand.simulated()
    assert panel.result.cluster_stop is None
    assert panel.summary._limit.property("look") == "muted"
    assert not any(chart._content.shades for chart in panel.charts.all)


@pytest.mark.parametrize("stand", ["starter"], indirect=True)
def test_facts_of_a_distribution_have_room_for_their_values_in_large_letters(stand: _Stand) -> None:
    """As they are shown to an audience: the column was as wide as small letters need."""
    stand.view.resize(1600, 500)
    theme.theme().scale_text(stand.view, 1.3)
    panel = stand.panel("Distribution")
    facts, shown = panel._scroll.widget(), panel._scroll.viewport()
    stand.qtbot.waitUntil(lambda: facts.minimumSizeHint().width() <= shown.width(), timeout=9000)
    assert shown.width() < 0.4 * panel.width()


@pytest.mark.parametrize(
    ("width", "says"), [(1100, "on app-a1"), (770, "SQL node 147"), (690, "SQL node 147")]
)
def test_what_limits_a_run_is_named_whole_in_a_small_window(
    qtbot: QtBot, qapp, width: int, says: str
) -> None:
    """Beside the inspector of a screen of 1366 pixels it said `SQL node 1…`, of three that there were."""
    theme.install(qapp, "dark")
    where = "SQL node 147, app-a1, cluster connections"
    result = SimpleNamespace(
        accepted_per_s=Quantity.exact(48_132.0, "tx/s"),
        offered_per_s=56_000.0,
        latency_mean_s=Quantity.exact(0.0414, "s"),
        cluster_stop=None,
        bottleneck=Bottleneck("sql nodes", where, 1.0),
    )
    around = QWidget()
    qtbot.addWidget(around)
    QVBoxLayout(around).addWidget(summary := Summary(around))
    around.resize(width, 40)
    around.show()
    one, other = (
        SimpleNamespace(code=code, probability=0.9, comes_first=share)
        for code, share in ((1221, 0.2), (1234, 0.7))
    )
    many = SimpleNamespace(
        accepted_per_s=result.accepted_per_s, latency_mean_s=result.latency_mean_s, cluster_stop=None,
        errors=(one, other),
    )  # fmt: skip
    summary.show_result(cast(Any, result), cast(Any, many))
    assert summary._limit.toolTip().endswith("first 1234 in 70 %, 1221 in 20 % of runs")
    summary.show_result(cast(Any, result), None)
    qtbot.waitUntil(lambda: says in summary._limit.shown())
    assert "SQL node 147" in summary._limit.shown()
    assert "…" not in summary._limit.shown()
