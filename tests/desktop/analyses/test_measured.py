"""What was measured over the charts of a run, events dragged in the charts, the jump to the first error."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest

from ndbplan.base.shapes import printed
from ndbplan.cli import all_commands
from ndbplan.desktop.analyses import AnalysisArea
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.edits import parts as edits
from ndbplan.edits import variants
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.events import NodeFailure
from ndbplan.plan.file import save
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

_LONG_MS = 240_000


class Stand:
    """A simulation that was run for half a minute."""

    def __init__(self, qtbot) -> None:
        self.qtbot = qtbot
        plan = sample_plan("redo-overload")
        event = NodeFailure(at_s=20.0, object_id=plan.data_nodes[1].id)
        workload = plan.workloads[0]
        self.plan = edits.update(plan, workload.id, duration_s=30.0, events=(event,))
        self.document = Document(self.plan)
        self.estimates = Estimates(self.document)
        self.view = AnalysisArea(self.document, Selection(self.document), self.estimates)
        qtbot.addWidget(self.view)
        self.view.resize(1000, 400)
        self.view.show()
        self.panel = self.view.show_tab("Simulation")
        self.panel.simulate()
        self.drawn()

    def drawn(self) -> None:
        self.qtbot.waitUntil(
            lambda: not self.view.context.tasks.is_busy and self.panel.result is not None, timeout=_LONG_MS
        )
        self.qtbot.waitUntil(lambda: all(c.is_drawn for c in self.panel.charts.all), timeout=_LONG_MS)

    def take(self, path: Path) -> None:
        self.panel.measured.take([path])
        self.drawn()

    def series(self, chart: str) -> dict:
        return {one.name: one for one in getattr(self.panel.charts, chart)._content.series}

    def close(self) -> None:
        self.view.close_tasks()
        self.estimates.close()


@pytest.fixture
def stand(qtbot):
    made = Stand(qtbot)
    yield made
    made.close()


def test_a_measured_series_lies_over_the_simulated_one(stand, tmp_path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(stand.panel.result.to_csv())
    stand.take(path)
    rates = stand.series("rates")
    known = np.isfinite(rates["accepted measured"].values)
    assert known.sum() > 25
    same = np.isclose(rates["accepted measured"].values, rates["accepted"].values, rtol=1e-3)
    assert same[known].all()
    assert {"part 0 measured", "part 3 measured"} <= stand.series("buffers").keys()
    assert {"written", "written measured", "busy measured"} <= stand.series("writes").keys()
    assert "run.csv" in stand.panel.state.text()
    stand.panel.measured.begin_at(10.0)
    later = stand.series("rates")["accepted measured"].values
    assert np.isnan(later[:10]).all()
    assert later[10] == pytest.approx(rates["accepted"].values[0], rel=1e-3)
    stand.panel.measured.forget()
    assert "accepted measured" not in stand.series("rates")


def test_the_command_line_says_the_same(stand, tmp_path) -> None:
    plan, csv = tmp_path / "plan.ndbplan", tmp_path / "run.csv"
    save(stand.plan, plan)
    csv.write_text("t_s,accepted_per_s\n0,4000\n10,3000\n20,2000\n")
    stand.take(csv)
    held = stand.panel.measured.held(stand.panel.result, stand.plan)
    done = CliRunner().invoke(
        all_commands(), ["simulate", str(plan), "--measured", str(csv), "--json"], catch_exceptions=False
    )
    told = json.loads(done.output)["measured"]
    assert told == json.loads(json.dumps(printed(held.to_json())))
    assert told["lines"][0]["measured_mean"] == 3000.0


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"\xff\xfe\x00", "no series over time"),
        ("b.csv", b"t_s,accepted_per_s\nnever,1\n", "'never' is not a moment"),
        ("c.ndbplan", b"{}", "drop it on the canvas"),
    ],
)  # fmt: skip
def test_what_is_no_series_is_refused_and_nothing_changes(stand, tmp_path, name, content, says) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    before = stand.series("rates").keys()
    stand.take(path)
    assert says in stand.panel.state.text()
    assert stand.series("rates").keys() == before


def test_the_other_end_of_a_pipe_is_not_waited_for(stand, tmp_path) -> None:
    os.mkfifo(tmp_path / "run.csv")
    stand.take(tmp_path / "run.csv")
    assert "this is not a file" in stand.panel.state.text()


def test_a_file_dropped_on_the_charts_is_laid_over_them(stand, tmp_path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("t_s,accepted_per_s\n0,4000\n30,3000\n")
    charts, files = stand.panel.charts, QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(path))])
    how = (Qt.DropAction.CopyAction, files, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    entered = QDragEnterEvent(QPointF(50, 50).toPoint(), *how)
    QGuiApplication.sendEvent(charts, entered)
    assert entered.isAccepted()
    QGuiApplication.sendEvent(charts, QDropEvent(QPointF(50, 50), *how))
    stand.drawn()
    assert "accepted measured" in stand.series("rates")


def test_an_event_is_dragged_in_a_chart(stand) -> None:
    grip = stand.panel.charts.log.drawing.grips[0]
    grip.setValue(12.34)
    grip.sigPositionChangeFinished.emit(grip)
    assert stand.document.plan.workloads[0].events[0].at_s == 12.3
    stand.drawn()
    stand.document.edit("No event", lambda p: edits.update(p, p.workloads[0].id, events=()))
    stale = stand.panel.charts.log.drawing.grips[0]
    stale.setValue(3.0)
    stale.sigPositionChangeFinished.emit(stale)
    assert stand.document.plan.workloads[0].events == ()


def test_a_click_on_the_first_error_goes_there(stand) -> None:
    stand.panel.scrubber.go_to(1.0)
    QTest.mouseClick(stand.panel._first_error, Qt.MouseButton.LeftButton)
    assert stand.panel.scrubber.at_s == pytest.approx(
        stand.panel.result.first_error.first_at_s.value, abs=0.1
    )
    stand.panel.scrubber.go_to(1.0)
    QTest.keyClick(stand.panel._first_error, Qt.Key.Key_Return)
    assert stand.panel.scrubber.at_s > 1.0


def test_keys_copy_a_chart(stand) -> None:
    plot, both = stand.panel.charts.rates.plot, Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(plot, Qt.Key.Key_C, both)
    assert QGuiApplication.clipboard().text().startswith("t_s,accepted")
    QTest.keyClick(plot, Qt.Key.Key_C, both | Qt.KeyboardModifier.ShiftModifier)
    assert not QGuiApplication.clipboard().image().isNull()


def test_variants_lie_over_the_charts_too(stand) -> None:
    plan = stand.document.plan
    larger = set_parameter(plan, "data_node", "RedoBuffer", 128 << 20)
    idle = plan.replace(workloads=())
    for name, other in (("More & more", larger), ("Idle", idle)):
        stand.document.edit_variants(
            name, lambda p, name=name, other=other: variants.added(p, name, 0, other)
        )
    stand.document.show_variant(0)
    stand.drawn()
    menu = stand.panel.save_menu.variants
    first, second = menu.actions()
    assert first.text() == "More && more"
    first.trigger()
    stand.drawn()
    beside = stand.series("rates")["More & more"]
    alone = simulate(estimation_of(larger), duration_s=30.0)
    assert np.allclose(beside.values, np.interp(stand.panel.result.times_s, alone.times_s, alone.accepted))
    assert {"More & more"} <= stand.series("buffers").keys() & stand.series("writes").keys()
    # A variant without that load says so, and the others stay.
    second.trigger()
    stand.drawn()
    assert "Idle: " in stand.panel.state.text()
    assert "More & more" in stand.series("log")
    first.trigger()
    assert "More & more" not in stand.series("rates")
