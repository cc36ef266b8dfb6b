"""The start of an operation on the schedule of a load: proposed, dragged, and what stands in a step."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTextBrowser

from ndbplan.base.quantity import Quantity
from ndbplan.cli import all_commands
from ndbplan.desktop.analyses import AnalysisArea
from ndbplan.desktop.analyses.day_behind import HEAD, Day, clock
from ndbplan.desktop.analyses.lanes import Block, Lane
from ndbplan.desktop.analyses.timeline import Timeline
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
def lanes(qtbot):
    made = Timeline("Restarts")
    qtbot.addWidget(made)
    made.resize(900, 200)
    takes = Quantity(7200.0, 6000.0, 9000.0, "s", ())
    made.show_lanes([Lane("Add groups", takes, (Block("copy", takes),))])
    made.show_day(Day("Add groups", Windows(Offered(LOAD), 7200.0, [KeptOut(9000.0, 12_000.0, "backup")])))
    made.show()
    return made


def _drag(lanes, from_s: float, by_s: float) -> None:
    scale = lanes.scale()
    at, by = QPoint(round(scale.x(from_s)), 60), QPoint(round(scale.width * by_s / scale.span_s), 0)
    QTest.mousePress(lanes, Qt.MouseButton.LeftButton, pos=at)
    QTest.mouseMove(lanes, at + by)
    QTest.mouseRelease(lanes, Qt.MouseButton.LeftButton, pos=at + by)


def test_the_operation_is_dragged_along_the_day(lanes, qtbot) -> None:
    begun = lanes.start_s
    assert begun == lanes.day.windows.best.start_s
    with qtbot.waitSignal(lanes.moved):
        _drag(lanes, begun + 1800, 7200)
    assert lanes.start_s == pytest.approx(begun + 7200, abs=200)
    assert lanes._box(0, 0).x() == pytest.approx(lanes.scale().x(lanes.start_s))
    _drag(lanes, begun + 3600, -7000)
    assert lanes.start_s == begun, "near the best start it comes to rest there"
    QTest.keyClick(lanes, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert lanes.start_s == pytest.approx(begun - 900)
    QTest.keyClick(lanes, Qt.Key.Key_Home)
    assert lanes.start_s == begun
    lanes.move_to(-3600.0)
    assert lanes.start_s == 82_800
    assert lanes.findChild(Explanation) is None, "who drags a step does not ask how it is done"


def test_steps_stand_still_while_the_day_is_drawn_past_them(lanes) -> None:
    lanes.show_whole(False)
    begun, box = lanes.start_s, lanes._box(0, 0)
    _drag(lanes, begun + 1800, 3600)
    assert lanes.start_s == pytest.approx(begun + 3600, abs=60)
    assert lanes._box(0, 0) == box
    assert lanes.scale().from_s == lanes.start_s


def test_what_is_offered_lies_behind_the_bars_on_their_axis(lanes) -> None:
    """As high as it is then, hatched where it is to be kept out of, and the bar over both."""
    lanes.move_to(8000.0)
    ground, high = lanes.grab().toImage(), lanes.height() - 20
    scale, peak = lanes.scale(), lanes.day.windows.schedule.peak_per_s
    bare = Timeline("nothing")
    bare.resize(lanes.size())
    empty = bare.grab().toImage().pixelColor(400, 3).name()
    for hour in (8, 12, 19, 22):
        rate = 2000 * _RATES[hour] / peak
        x, top = round(scale.x(3600 * hour + 1)), high - (high - HEAD) * rate
        assert ground.pixelColor(x + 2, round(top) + 6).name() != empty
        assert ground.pixelColor(x + 2, round(top) - 6).name() == empty or rate > 0.95
    kept, free = (
        {ground.pixelColor(round(scale.x(at_s)) + n, HEAD + 3).name() for n in range(12)}
        for at_s in (9900, 32_000)
    )
    assert (len(kept), free) == (2, {empty}), "backup"
    bar = lanes._box(0, 0)
    assert ground.pixelColor(round(bar.right()) - 4, round(bar.y()) + 3).name() == lanes.colour_of("copy")


def test_what_stands_in_the_way_is_said_and_painted(lanes) -> None:
    clear = lanes.grab().toImage()
    lanes.move_to(8000.0)
    assert "backup" in lanes.day.in_words(lanes.day.windows.at(lanes.start_s))
    assert lanes.grab().toImage() != clear
    lanes.move_to(40_000.0)
    assert "backup" not in lanes.day.in_words(lanes.day.windows.at(lanes.start_s))
    assert lanes.day.at(86_400 + 10_000).endswith("backup")


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
        qtbot.waitUntil(lambda: panel.lanes.day is not None, timeout=_LONG_MS)
        yield panel
        view.close_tasks()
        estimates.close()

    def test_the_proposal_is_that_of_the_command_line(self, panel, tmp_path) -> None:
        path = tmp_path / "plan.ndbplan"
        save(panel.context.plan, path)
        arguments = ["procedure", str(path), "--under", panel.context.plan.workloads[0].name, "--json"]
        told = json.loads(CliRunner().invoke(all_commands(), arguments, catch_exceptions=False).output)
        best = panel.lanes.day.windows.best
        assert told["best_window"]["start_s"] == pytest.approx(best.start_s, rel=1e-4)
        assert told["best_window"]["highest_per_s"] == pytest.approx(best.highest_per_s, rel=1e-4)
        assert [one["why"] for one in told["kept_out"]] == [o.why for o in panel.lanes.day.windows.kept_out]
        assert panel.lanes.start_s == best.start_s
        assert not panel.to_best.isEnabled()

    def test_where_it_was_put_it_stays_until_another_one_is_chosen(self, panel, qtbot) -> None:
        panel.lanes.move_to(36_000.0)
        assert "10:00 to" in panel.window_line.text()
        assert panel.lanes.day.proposed() in panel.window_line.text()
        assert panel.to_best.isEnabled()
        before = panel.lanes.day
        panel.disk.setValue(panel.disk.value() + 1)
        qtbot.waitUntil(lambda: panel.lanes.day is not before, timeout=_LONG_MS)
        assert panel.lanes.start_s == 36_000.0
        panel.load_box.setCurrentIndex(0)
        panel.compute()
        qtbot.waitUntil(lambda: panel.lanes.day is None, timeout=_LONG_MS)
        assert panel.window_line.isHidden()

    def test_a_step_opens_with_its_commands(self, panel) -> None:
        lanes = panel.lanes
        row = len(lanes._lanes) - 1
        column = next(i for i, b in enumerate(lanes._lanes[row].blocks) if "NODEGROUP" in b.name)
        panel.steps.click()
        QTest.mouseClick(lanes, Qt.MouseButton.LeftButton, pos=lanes._box(row, column).center().toPoint())
        popover = lanes.findChild(Explanation)
        text = popover.findChild(QTextBrowser).toPlainText()
        assert "CREATE NODEGROUP" in text
        assert "Rollback:" in text
        popover.close()
        assert lanes.tip((row, column)).count("\n") >= 1

    def test_steps_have_whiskers(self, panel) -> None:
        lanes = panel.lanes
        panel.steps.click()
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
