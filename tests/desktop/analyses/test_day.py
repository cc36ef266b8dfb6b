"""The start of an operation on the schedule of a load: proposed, dragged, and what stands in a step."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTextBrowser

from ndbplan.cli import all_commands
from ndbplan.desktop.analyses import AnalysisArea
from ndbplan.desktop.analyses.day_strip import Day, DayStrip, clock
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.widgets.explain import Explanation
from ndbplan.edits import parts as edits
from ndbplan.estimate.load.maintenance_window import KeptOut, Offered, Windows
from ndbplan.plan.events import Backup
from ndbplan.plan.file import save
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint

_LONG_MS = 60_000
_RATES = (9, 6, 4, 3, 3, 4, 8, 14, 22, 27, 29, 30, 31, 30, 28, 27, 28, 31, 35, 37, 33, 26, 18, 12)
POINTS = tuple(RatePoint(at_s=3600 * i, rate_per_s=2000 * rate) for i, rate in enumerate(_RATES))
LOAD = OpenLoad(points=POINTS, shape="linear", repeat_s=86_400)


@pytest.fixture
def strip(qtbot):
    made = DayStrip()
    qtbot.addWidget(made)
    made.resize(900, 84)
    day = Day("Add groups", Windows(Offered(LOAD), 7200.0, [KeptOut(9000.0, 12_000.0, "backup")]))
    made.show_day(day)
    made.show()
    return made


def test_the_operation_is_dragged_along_the_day(strip, qtbot) -> None:
    begun = strip.start_s
    assert begun == strip.day.windows.best.start_s
    at = QPoint(round(strip.x_of(begun + 1800)), 30)
    to = at + QPoint(round(strip.x_of(7200) - strip.x_of(0)), 0)
    with qtbot.waitSignal(strip.moved):
        QTest.mousePress(strip, Qt.MouseButton.LeftButton, pos=at)
        QTest.mouseMove(strip, to)
        QTest.mouseRelease(strip, Qt.MouseButton.LeftButton, pos=to)
    assert strip.start_s == pytest.approx(begun + 7200, abs=200)
    QTest.keyClick(strip, Qt.Key.Key_Home)
    assert strip.start_s == begun
    QTest.keyClick(strip, Qt.Key.Key_Left)
    assert strip.start_s == pytest.approx(begun - 900)
    strip.move_to(-3600.0)
    assert strip.start_s == 82_800


def test_what_stands_in_the_way_is_said_and_painted(strip) -> None:
    clear = strip.grab().toImage()
    strip.move_to(8000.0)
    assert "backup" in strip.day.in_words(strip.day.windows.at(strip.start_s))
    assert strip.grab().toImage() != clear
    strip.move_to(40_000.0)
    assert "backup" not in strip.day.in_words(strip.day.windows.at(strip.start_s))


def test_clocks() -> None:
    assert [clock(s) for s in (0, 8135, 86_400, 90_000)] == ["00:00", "02:16", "24:00", "1 d 01:00"]
    assert clock(75, fine=True) == "00:01:15"


class TestPanel:
    @pytest.fixture
    def panel(self, qtbot):
        plan = sample_plan("starter")
        events = (Backup(at_s=9000.0),)
        plan = edits.update(plan, plan.workloads[0].id, load=LOAD, duration_s=86_400.0, events=events)
        document = Document(plan)
        estimates = Estimates(document)
        view = AnalysisArea(document, Selection(document), estimates)
        qtbot.addWidget(view)
        view.resize(1100, 600)
        view.show()
        panel = view.show_tab("Operations")
        panel.load_box.setCurrentIndex(1)
        panel.compute()
        qtbot.waitUntil(lambda: panel.strip.day is not None, timeout=_LONG_MS)
        yield panel
        view.close_tasks()
        estimates.close()

    def test_the_proposal_is_that_of_the_command_line(self, panel, tmp_path) -> None:
        path = tmp_path / "plan.ndbplan"
        save(panel.context.plan, path)
        arguments = ["procedure", str(path), "--under", panel.context.plan.workloads[0].name, "--json"]
        told = json.loads(CliRunner().invoke(all_commands(), arguments, catch_exceptions=False).output)
        best = panel.strip.day.windows.best
        assert told["best_window"]["start_s"] == pytest.approx(best.start_s, rel=1e-4)
        assert told["best_window"]["highest_per_s"] == pytest.approx(best.highest_per_s, rel=1e-4)
        assert [one["why"] for one in told["kept_out"]] == [o.why for o in panel.strip.day.windows.kept_out]
        assert panel.strip.start_s == best.start_s
        assert not panel.to_best.isEnabled()

    def test_where_it_was_put_it_stays_until_another_one_is_chosen(self, panel, qtbot) -> None:
        panel.strip.move_to(36_000.0)
        assert "10:00 to" in panel.window_line.text()
        assert panel.to_best.isEnabled()
        before = panel.strip.day
        panel.disk.setValue(panel.disk.value() + 1)
        qtbot.waitUntil(lambda: panel.strip.day is not before, timeout=_LONG_MS)
        assert panel.strip.start_s == 36_000.0
        panel.load_box.setCurrentIndex(0)
        panel.compute()
        qtbot.waitUntil(lambda: panel.strip.day is None, timeout=_LONG_MS)
        assert panel.strip.isHidden()

    def test_a_step_opens_with_its_commands(self, panel) -> None:
        lanes = panel.lanes
        row = len(lanes._lanes) - 1
        column = next(i for i, b in enumerate(lanes._lanes[row].blocks) if "NODEGROUP" in b.name)
        lanes._open((row, column))
        popover = lanes.findChild(Explanation)
        text = popover.findChild(QTextBrowser).toPlainText()
        assert "CREATE NODEGROUP" in text
        assert "Rollback:" in text
        popover.close()
        assert lanes.tip((row, column)).count("\n") >= 1

    def test_steps_have_whiskers(self, panel) -> None:
        lanes = panel.lanes
        row = len(lanes._lanes) - 1
        widest = max(range(len(lanes._lanes[row].blocks)), key=lambda i: lanes._box(row, i).width())
        box, time = lanes._box(row, widest), lanes._lanes[row].blocks[widest].duration_s
        assert time.low < time.value < time.high
        end = box.x() + box.width() * time.low / time.value
        image = lanes.grab().toImage()
        row_y = round(box.top() - (2.5 if widest % 2 else 5.0))
        inked = {image.pixelColor(round(end) + 3, row_y + dy).name() for dy in (-1, 0, 1)}
        beside = image.pixelColor(QPointF(box.x() + 3, row_y).toPoint()).name()
        assert inked != {beside}
