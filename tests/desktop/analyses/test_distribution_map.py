"""The map of the Distribution panel, what a loss does to it, and the buckets that move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from ndbplan.base.units import format_count
from ndbplan.desktop.analyses import AnalysisArea
from ndbplan.desktop.analyses.distribution import ALL_TABLES
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.heat import heat
from ndbplan.desktop.look.text import text_width
from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.storage.lost_primaries import loss_of_primaries
from ndbplan.estimate.storage.skew import distribution_json
from ndbplan.plan.samples import sample_plan


class _Stand:
    """The Distribution panel on a sample."""

    def __init__(self, qtbot: QtBot, sample: str) -> None:
        self.qtbot = qtbot
        self.document = Document(sample_plan(sample))
        self.estimates = Estimates(self.document)
        self.view = AnalysisArea(self.document, Selection(self.document), self.estimates)
        qtbot.addWidget(self.view)
        self.view.resize(1000, 380)
        self.view.show()
        self.panel: Any = self.view.show_tab("Distribution")
        self.idle()

    def idle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.view.context.tasks.is_busy, timeout=60_000)

    def map(self) -> Any:
        self.panel._views["map"].click()
        self.idle()
        return self.panel.map

    def lose(self, name: str) -> Any:
        page = self.map()
        page.lost.setCurrentIndex(page.lost.findText(name))
        page.lost.activated.emit(page.lost.currentIndex())
        self.idle()
        return page


@pytest.fixture
def stand(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[_Stand]:
    one = _Stand(qtbot, getattr(request, "param", "starter"))
    yield one
    one.view.close_tasks()
    one.estimates.close()


@pytest.mark.parametrize("stand", ["telecom-144"], indirect=True)
def test_many_partitions_come_as_a_map_with_the_sums_of_the_command_line(stand: _Stand) -> None:
    panel, plan = stand.panel, stand.document.plan
    assert panel.view == "map"
    told = distribution_json(Estimation(plan).distribution[0])["skew"]["nodes"]
    picture = panel.map.view.picture
    shown = {f"node {c.short}": s for c, s in zip(picture.columns, picture.found.column_sums, strict=True)}
    assert shown == {node["name"]: node["rows"] for node in told}
    # By rack: 36 neighbours each, and a bracket below them.
    assert [name for name, _, _ in panel.map.view.frame.brackets] == ["Rack A", "Rack B", "Rack C", "Rack D"]
    panel.map.shown.setCurrentIndex(2)
    panel.map.shown.activated.emit(2)
    stand.idle()
    sums = panel.map.view.picture.found.column_sums.tolist()
    assert sums == sorted(sums, reverse=True)
    assert not panel.map.view.frame.brackets
    # What there is to paint is painted, and a click leads to the canvas.
    view = panel.map.view
    rect = view.frame.rect(4, 7)
    colour = view.grab().toImage().pixelColor(rect.center().toPoint())
    assert colour == heat(theme.tokens(), view.picture.value(view.picture.found.fill[4, 7]))
    stand.qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=rect.center().toPoint())
    assert panel.context.selection.ids == view.picture.columns[7].ids


def test_few_partitions_come_as_bars_and_are_mapped_when_asked_for(stand: _Stand) -> None:
    assert stand.panel.view == "bars"
    page = stand.map()
    assert stand.panel.view == "map"
    assert page.view.picture.found.held.shape == (8, 2)
    assert "in the band that chance alone makes" in page.line.text()
    # The map shows the plan as it is, whatever the bars offer to add.
    assert stand.panel._answer.moved is None
    assert stand.panel.growth.isHidden()
    stand.panel._views["bars"].click()
    stand.idle()
    assert stand.panel._answer.moved is not None


def test_arrows_move_the_cell_and_enter_selects(stand: _Stand) -> None:
    view = stand.map().view
    key = stand.qtbot.keyClick
    key(view, Qt.Key.Key_Right)
    assert view.picked == (0, 0)
    key(view, Qt.Key.Key_Right)
    key(view, Qt.Key.Key_Up)
    assert view.picked == (7, 1)
    assert "Node 2, LDM 8" in view.accessibleDescription()
    assert "host-b1" in view.accessibleDescription()
    key(view, Qt.Key.Key_Return)
    assert stand.panel.context.selection.ids == (stand.document.plan.data_nodes[1].id,)


def test_tips_say_cells_and_sums(stand: _Stand) -> None:
    page = stand.map()
    frame, found = page.view.frame, page.view.picture.found
    lane, column = map(int, (found.used.argmax(axis=0)[0], 0))
    tip = page.view.tip(frame.rect(lane, column).center())
    assert f"{format_count(found.held[lane, column])} rows, ± 0 % against an even share" in tip
    assert "chance make" in tip
    empty = next(i for i in range(8) if not found.used[i, 0])
    assert "holds nothing of it" in page.view.tip(frame.rect(empty, 0).center())
    above = QPointF(frame.middle(1), 12)
    assert f"{format_count(found.column_sums[1])} rows" in page.view.tip(above)
    beside = QPointF(frame.area.right() + 20, frame.rect(lane, 0).center().y())
    assert f"{format_count(found.lane_sums[lane])}" in page.view.tip(beside)


@pytest.mark.parametrize("stand", ["telecom-144"], indirect=True)
@pytest.mark.parametrize(("width", "height"), [(620, 380), (718, 290), (780, 290), (805, 290), (1000, 520)])
def test_in_a_small_window_nothing_of_the_map_covers_or_cuts_another_part(
    stand: _Stand, qapp: QApplication, width: int, height: int
) -> None:
    """Its two boxes lay over one another at 1366 pixels, and signs of the legend fell off its end."""
    theme.install(qapp, "dark")
    page = stand.lose("Lose everything in Rack B")
    stand.view.resize(width, height)
    QApplication.processEvents()
    boxes = [page.shown, page.lost]
    for box in boxes:
        assert box.width() >= box.minimumWidth()
        assert box.geometry().right() <= page.controls.width()
    assert boxes[0].geometry().right() < boxes[1].geometry().left()
    frame = page.view.frame
    assert frame.area.height() >= 60
    signs = [(sign, text, begin) for line in frame.legend for sign, text, begin in line]
    assert {"cross", "took", "line"} <= {sign for sign, _, _ in signs}
    assert height < 500 or {"band", "empty"} <= {sign for sign, _, _ in signs}
    for sign, text, begin in signs:
        assert begin + (15 if sign else 0) + text_width(text, 11, 400) <= frame.width
    assert width < 718 or page.line.shown() in (page.line.text(), *page.line._shorter)


@pytest.mark.parametrize("stand", ["telecom-144"], indirect=True)
def test_a_lost_rack_shows_where_primaries_go(stand: _Stand) -> None:
    page = stand.lose("Lose everything in Rack B")
    plan, found = stand.document.plan, page.view.picture.found
    racks = {h.id for h in plan.hosts if h.location_id == plan.locations[1].id}
    dead = {n.node_id for n in plan.data_nodes if n.host_id in racks}
    assert set(found.lost) == dead
    after = loss_of_primaries(Estimation(plan).distribution[0], dead)
    assert dict(zip(found.columns, found.column_sums.tolist(), strict=True)) == {
        node: after.rows_by_node.get(node, 0) for node in found.columns
    }
    assert format_count(sum(after.moved.values())) in page.line.text()
    assert "the cluster goes on" in page.line.text()
    assert stand.panel.measure == "primaries"
    assert not stand.panel._units["rows"].isEnabled()
    stand.lose("Lose nothing")
    assert stand.panel.measure == "rows"
    assert stand.panel._units["rows"].isEnabled()


def test_the_selection_of_the_canvas_is_what_is_lost(stand: _Stand) -> None:
    page = stand.lose("Lose the selection")
    assert "Select a data node" in page.line.text()
    stand.panel.context.selection.set([stand.document.plan.hosts[0].id])
    stand.idle()
    assert page.view.picture.found.lost == (1,)
    assert dict(page.view.picture.moved) == {(0, 1): 10_000_000}


def test_the_menu_of_a_cell_loses_its_node_host_or_rack(stand: _Stand) -> None:
    page = stand.map()
    names = [page.lost.itemText(at) for at in page.ways_to_lose(1)]
    assert names == ["Lose node 2", "Lose host host-b1", "Lose everything in Rack B"]
    asked: list[int] = []
    page.view.menu_wanted.disconnect()
    page.view.menu_wanted.connect(lambda column, _place: asked.append(column))
    stand.qtbot.keyClick(page.view, Qt.Key.Key_Left)
    stand.qtbot.keyClick(page.view, Qt.Key.Key_Left)
    stand.qtbot.keyClick(page.view, Qt.Key.Key_Menu)
    assert asked == [1]
    page.lose(page.ways_to_lose(1)[2])
    stand.idle()
    assert page.view.picture.found.lost == (2,)


def test_a_table_without_rows_says_so(stand: _Stand) -> None:
    table = stand.document.plan.tables[0]
    stand.document.edit("Empty", lambda plan: edits.update(plan, table.id, rows=0))
    assert "no rows yet" in stand.map().line.text()


def test_all_tables_together(stand: _Stand) -> None:
    box = stand.panel.table_box
    box.setCurrentIndex(box.findData(ALL_TABLES))
    box.activated.emit(box.currentIndex())
    stand.idle()
    assert stand.panel.view == "map"
    found = stand.panel.map.view.picture.found
    assert found.held.sum() == 2 * sum(table.rows for table in stand.document.plan.tables)
    assert not stand.panel._views["moves"].isEnabled()


def test_lightness_alone_tells_low_from_high() -> None:
    for tokens, rising in ((theme.DARK, 1), (theme.LIGHT, -1)):
        shades = [heat(tokens, value / 10) for value in range(-10, 11)]
        light = [rising * (0.299 * c.red() + 0.587 * c.green() + 0.114 * c.blue()) for c in shades]
        assert light == sorted(light)
        assert light[-1] - light[0] > 80


class TestMoves:
    """Buckets of the starter's first table on their way to one more node group."""

    def _page(self, stand: _Stand) -> Any:
        stand.panel._views["moves"].click()
        stand.idle()
        return stand.panel.moves

    def test_the_slider_goes_from_what_is_to_what_will_be(self, stand: _Stand) -> None:
        page, change = self._page(stand), stand.panel._answer.moved
        moves = page.view.buckets.moves
        assert moves.at(*page.passes).rows[: len(change.before.rows)].tolist() == change.before.rows.tolist()
        page.slider.setValue(page.slider.maximum())
        assert page.passes == (1.0, 1.0)
        assert moves.at(*page.passes).rows.tolist() == change.after.rows.tolist()
        assert page.line.text().startswith(f"Done: {format_count(change.rows_moved)} rows")

    def test_each_moment_looks_different_and_rows_are_told(self, stand: _Stand) -> None:
        page = self._page(stand)
        seen = set()
        for value in (0, 300, 740, 900, 1000):
            page.slider.setValue(value)
            seen.add(bytes(page.view.grab().toImage().constBits()))
        assert len(seen) == 5
        page.slider.setValue(300)
        now = page.view.buckets.moves.at(*page.passes)
        place = QPointF(page.view.width() - 14, 60)
        assert f"{format_count(int(now.rows[-1]))} rows" in page.view.tip(place)

    def test_it_plays_pauses_and_stops_where_nobody_looks(self, stand: _Stand) -> None:
        page = self._page(stand)
        page.button.click()
        assert page.is_playing
        stand.qtbot.waitUntil(lambda: page.slider.value() > 0, timeout=10_000)
        page.button.click()
        assert not page.is_playing
        page.slider.setValue(page.slider.maximum())
        page.button.click()
        assert page.slider.value() < page.slider.maximum()
        stand.panel._views["bars"].click()
        assert not page.is_playing

    def test_where_nothing_moves_it_says_why(self, stand: _Stand) -> None:
        page = self._page(stand)
        stand.panel.groups.setValue(0)
        stand.idle()
        assert page.view.buckets is None
        assert page._nothing.heading.text() == "Nothing moves"
