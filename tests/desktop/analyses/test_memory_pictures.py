"""What fills a node and its disks, as areas; what if there were more, and the one edit that makes it so."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from PySide6.QtCore import QLocale, QPointF, Qt
from pytestqt.qtbot import QtBot

from ndbplan.advise.figures import FIGURES
from ndbplan.advise.what_if import what_if
from ndbplan.base.units import format_value
from ndbplan.desktop.analyses import AnalysisArea
from ndbplan.desktop.analyses.growth_chart import _names_below, _ticks
from ndbplan.desktop.analyses.memory_pictures import WhatIfControls
from ndbplan.desktop.analyses.treemap_view import title_in
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.look.text import text_width
from ndbplan.edits import parts as edits
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.plan.file import dumps
from ndbplan.plan.samples import sample_plan


class _Stand:
    """The pictures of the Memory panel on a sample."""

    def __init__(self, qtbot: QtBot, sample: str) -> None:
        self.qtbot = qtbot
        self.document = Document(sample_plan(sample))
        self.estimates = Estimates(self.document)
        self.selection = Selection(self.document)
        self.view = AnalysisArea(self.document, self.selection, self.estimates)
        qtbot.addWidget(self.view)
        self.view.resize(1100, 380)
        self.view.show()
        self.panel: Any = self.view.show_tab("Memory")
        qtbot.waitUntil(lambda: self.estimates.is_fresh, timeout=60_000)
        self.panel._views["Picture"].click()
        self.idle()

    @property
    def pictures(self) -> Any:
        return self.panel.pictures

    def idle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.view.context.tasks.is_busy, timeout=60_000)

    def ask(self, rows: float, groups: int) -> None:
        self.pictures.what_if.rows.setValue(rows)
        self.pictures.what_if.groups.setValue(groups)
        self.pictures.compute()
        self.idle()


@pytest.fixture
def stand(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[_Stand]:
    one = _Stand(qtbot, getattr(request, "param", "starter"))
    yield one
    one.view.close_tasks()
    one.estimates.close()


@pytest.mark.parametrize("stand", ["starter", "telecom-144"], indirect=True)
def test_areas_are_the_bytes_of_memory_and_disks(stand: _Stand) -> None:
    plan = stand.document.plan
    now = Estimation(plan, chosen_workload(plan))
    node_id = stand.pictures.nodes.currentData()
    memory = next(node for node in now.memory.nodes if node.node_id == node_id)
    for view, wholes in (
        (stand.pictures.memory, [float(memory.ram_limit_bytes)]),
        (
            stand.pictures.disks,
            [float(plan.by_id[one.object_id].capacity_bytes) for one in stand.pictures.disks.contents],
        ),
    ):
        assert len(view.contents) == len(wholes) > 0
        for contents, whole in zip(view.contents, wholes, strict=True):
            tiles = [tile for tile in view.tiles if tile.contents is contents]
            assert sum(tile.part.size_bytes for tile in tiles) == pytest.approx(whole)
            area = sum(tile.rect.width() * tile.rect.height() for tile in tiles)
            for tile in tiles:
                share = tile.rect.width() * tile.rect.height() / area
                assert share == pytest.approx(tile.part.size_bytes / whole, abs=1e-6)


def test_what_if_leaves_plan_and_history_alone_until_it_is_made_so(stand: _Stand) -> None:
    plan, text = stand.document.plan, dumps(stand.document.plan)
    stand.ask(3.0, 1)
    assert stand.document.plan is plan
    assert dumps(stand.document.plan) == text
    assert stand.document.undo_stack.count() == 0
    assert not stand.document.is_modified
    workload = chosen_workload(plan)
    then = Estimation(what_if(plan, 3.0, 1), workload)
    for name in ("memory", "disk-space"):
        before, after = FIGURES[name].of(Estimation(plan, workload)), FIGURES[name].of(then)
        assert before is not None
        assert after is not None
        pair = " → ".join(format_value(q.value, q.unit) for q in (before, after))
        assert pair in stand.pictures.line.text()
    assert "4 data nodes · those there now keep the pages that rows leave" in stand.pictures.line.text()
    (shown,) = stand.pictures.memory.contents
    (data,) = (part for part in shown.parts if part.name == "DataMemory")
    used = sum(part.size_bytes for part in data.parts if part.kind != "free")
    assert used == pytest.approx(then.memory.nodes[0].data_memory_bytes.value)

    stand.pictures.what_if.button.click()
    stand.idle()
    assert stand.document.undo_stack.count() == 1
    assert stand.document.undo_stack.undoText() == "3 times the rows, 1 more node group"
    assert [t.rows for t in stand.document.plan.tables] == [3 * t.rows for t in plan.tables]
    assert len(stand.document.plan.data_nodes) == 4
    assert stand.pictures.what_if.value.is_nothing
    stand.document.undo_stack.undo()
    assert dumps(stand.document.plan) == text


@pytest.mark.parametrize("stand", ["telecom-144"], indirect=True)
def test_what_cannot_be_is_said_and_cannot_be_made(stand: _Stand) -> None:
    stand.ask(1.0, 1)
    assert "144 data nodes" in stand.pictures.line.text()
    assert not stand.pictures.what_if.button.isEnabled()
    stand.ask(2.0, 0)
    assert stand.pictures.what_if.button.isEnabled()


def test_rows_of_one_table_alone(stand: _Stand) -> None:
    table = stand.document.plan.tables[2]
    box = stand.pictures.what_if.table
    box.setCurrentIndex(box.findData(table.id))
    stand.ask(2.0, 0)
    assert stand.pictures.answer.plan.table(table.id).rows == 2 * table.rows
    stand.pictures.make_it_so()
    assert stand.document.undo_stack.undoText() == f"2 times the rows of {table.full_name}"
    stand.idle()


def test_tiles_are_picked_told_and_lead_to_the_plan(stand: _Stand) -> None:
    view, plan = stand.pictures.memory, stand.document.plan
    place = next(t.rect.center() for t in view.tiles if t.part.name == "Rows of shop.order_line")
    tip = view.tip(place)
    assert tip.splitlines()[0] == "Rows of shop.order_line"
    assert "in DataMemory" in tip
    stand.qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=place.toPoint())
    assert stand.selection.ids == (next(t.id for t in plan.tables if t.full_name == "shop.order_line"),)
    assert "52 % taken" in view.tip(QPointF(20, 8))
    seen = set()
    view._pick(None)
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Up):
        stand.qtbot.keyClick(view, key)
        assert view.picked.part.name in view.accessibleDescription()
        seen.add(view.picked.part.name)
    assert len(seen) > 2
    stand.qtbot.keyClick(view, Qt.Key.Key_Return)
    assert stand.selection.ids[0] in plan.by_id
    disk = stand.pictures.disks
    stand.qtbot.mouseClick(disk, Qt.MouseButton.LeftButton, pos=disk.tiles[0].rect.center().toPoint())
    assert stand.selection.ids == (disk.contents[0].object_id,)


def test_the_node_of_what_is_selected_comes(stand: _Stand) -> None:
    plan = stand.document.plan
    stand.selection.set([plan.hosts[2].disks[0].id])
    other = next(host for host in plan.hosts if host.hostname == "host-b1")
    for part_id in (plan.data_nodes[1].id, plan.data_nodes[0].id, other.id, other.disks[0].id):
        stand.selection.set([part_id])
        stand.idle()
        wanted = 1 if part_id == plan.data_nodes[0].id else 2
        assert stand.pictures.nodes.currentData() == wanted
        assert stand.pictures.memory.contents[0].title.startswith(f"Data node {wanted} ")


def test_an_edit_is_followed_and_what_is_missing_is_said(stand: _Stand) -> None:
    host = stand.document.plan.hosts[0]
    stand.document.edit("Less", lambda plan: edits.update(plan, host.id, memory_bytes=64 * 2**30))
    stand.qtbot.waitUntil(lambda: stand.estimates.is_fresh, timeout=60_000)
    stand.idle()
    stand.selection.set([stand.document.plan.data_nodes[0].id])
    stand.idle()
    assert stand.pictures.memory.contents[0].missing_bytes > 0
    assert "more is needed" in stand.pictures.memory.accessibleDescription()
    assert stand.pictures.chart.picture is not None
    assert stand.pictures.chart.isVisible()


@pytest.mark.parametrize(
    ("language", "typed", "value"),
    [("de_DE.UTF-8", "1,5", 1.5), ("de_DE.UTF-8", "1.5", 1.5), ("en_US.UTF-8", "1.5", 1.5)],
)
def test_a_factor_is_read_as_people_write_it(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, language: str, typed: str, value: float
) -> None:
    """Where people write 1,5 the box of Qt took 1.5 for 15, and showed 1,0 beside the 1.0 of all else."""
    monkeypatch.setenv("LC_ALL", language)
    before = QLocale()
    QLocale.setDefault(QLocale(language.partition(".")[0]))
    try:
        box = WhatIfControls().rows
    finally:
        QLocale.setDefault(before)
    qtbot.addWidget(box)
    assert box.text() == "Rows × 1.0"
    box.selectAll()
    qtbot.keyClicks(box, typed)
    assert box.value() == value


@pytest.mark.parametrize("width", range(90, 700, 37))
def test_names_of_months_touch_nowhere(qapp, width: int) -> None:
    """`month 120month 240` stood below the growth of 144 data nodes at 1366 pixels."""
    for last in (12.0, 36.0, 240.0):
        ticks = _ticks(last, max(1, int(width / 66)))
        placed = _names_below({month: 40 + width * month / last for month in ticks}, 40.0, 52.0 + width)
        ends = [(left, left + text_width(words, 11, 400)) for left, words in placed]
        assert all(one[1] < other[0] for one, other in pairwise(ends))
        assert placed
        assert ends[0][0] >= 40.0
        assert ends[-1][1] <= 52.0 + width + 0.5


def test_disks_of_a_host_are_told_apart_in_little_room(qapp) -> None:
    """Three stood side by side as `dn-a01 / nv…`."""
    assert title_in("dn-a01 / nvme1", 500.0) == "dn-a01 / nvme1"
    assert title_in("dn-a01 / nvme1", 60.0) == "nvme1"
    assert title_in("Data node 1 on dn-a01", 60.0) == "Data node 1 on dn-a01"
