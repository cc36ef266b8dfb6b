"""What the Distribution panel says of skew, and the Memory panel of growth, against the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from ndbplan.base.units import format_count, format_percent
from ndbplan.configuration.settings import node_settings, usable_data_memory
from ndbplan.desktop.analyses import AnalysisArea
from ndbplan.desktop.analyses.growth_chart import GrowthPicture, growth_picture
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.estimate.space.disk_space import disk_space
from ndbplan.estimate.space.growth import fillings, growth
from ndbplan.estimate.storage.skew import skew_report
from ndbplan.estimate.stored import distribute
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


def _panel(qtbot: QtBot, plan: Plan, name: str) -> tuple[Any, Document]:
    document = Document(plan)
    estimates = Estimates(document)
    view = AnalysisArea(document, Selection(document), estimates)
    qtbot.addWidget(view)
    # As wide as in a usual window: a narrow one says less.
    view.resize(900, 400)
    view.show()
    panel = view.show_tab(name)
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=60_000)
    qtbot.waitUntil(lambda: not view.context.tasks.is_busy, timeout=60_000)
    return panel, document


def _texts(panel: Any) -> list[str]:
    return [found.text() for found in panel.findChildren(QLabel) if found.isVisibleTo(panel)]


def _said(qtbot: QtBot, panel: Any, fact: str, text: str) -> None:
    """Wait until the panel says this of a fact: an answer of an earlier question may come before."""

    def found() -> bool:
        texts = _texts(panel)
        return fact in texts and texts[texts.index(fact) + 1] == text

    qtbot.waitUntil(found, timeout=60_000)


def test_hot_keys_are_named_as_the_cause_and_the_loss_of_a_node_is_stated(qtbot: QtBot) -> None:
    plan = sample_plan("starter")
    table = plan.tables[0]
    rows = (14_000_000, 2_000_000, 2_000_000, 2_000_000)
    plan = edits.update(plan, table.id, rows=sum(rows), partition_rows=rows)
    panel, _ = _panel(qtbot, plan, "Distribution")
    panel.groups.setValue(0)
    _said(qtbot, panel, "Skew comes from", "the keys")
    loss = skew_report(distribute(plan, plan.table(table.id)), measured=True).worst_loss
    assert loss is not None
    _said(qtbot, panel, "After losing a node", f"{format_count(loss.factor)} × on node {loss.loaded_node}")


def test_expected_rows_have_no_skew_to_explain(qtbot: QtBot) -> None:
    panel, _ = _panel(qtbot, sample_plan("starter"), "Distribution")
    _said(qtbot, panel, "Skew comes from", "none")


def test_memory_says_when_it_is_full(qtbot: QtBot) -> None:
    plan = sample_plan("starter")
    panel, document = _panel(qtbot, plan, "Memory")
    qtbot.waitUntil(lambda: panel.full_in.isVisibleTo(panel), timeout=60_000)
    left = growth(plan, 0).months_until_full
    assert left is not None
    assert panel.full_in.quantity.value == left.value
    still = plan.replace(tables=tuple(validated.changed(t, growth_rows_per_month=0) for t in plan.tables))
    document.edit("No growth", still)
    qtbot.waitUntil(lambda: not panel.full_in.isVisibleTo(panel), timeout=60_000)


def test_disks_stand_beside_memory_and_the_chart_tells_when_they_are_full(qtbot: QtBot) -> None:
    plan = sample_plan("starter")
    disk = plan.hosts[0].disks[1]
    plan = edits.update(plan, disk.id, capacity_bytes=160 * 10**9)
    plan = edits.update(plan, plan.tables[3].id, growth_rows_per_month=60_000_000)
    panel, document = _panel(qtbot, plan, "Memory")
    qtbot.waitUntil(lambda: panel.chart.picture is not None, timeout=60_000)
    space = disk_space(plan, plan.workloads[0])
    assert panel.disks.model().rowCount() == len(space.disks)
    fullest = space.fullest
    assert fullest is not None
    assert panel._disk_ids[0] == fullest.disk_id == disk.id
    memory, first = panel.chart.picture.lines
    assert memory.full_at_months == panel.full_in.quantity.value
    # MinFreePct keeps a twentieth: the dot lies on the line of what rows can fill, which is drawn.
    assert memory.full_at == usable_data_memory(node_settings(plan, plan.data_nodes[0])) < 1
    assert np.interp(memory.full_at_months, panel.chart.picture.months, memory.shares) == pytest.approx(
        memory.full_at, rel=0.01
    )
    assert f", at {format_percent(memory.full_at)}" in panel.chart.toolTip()
    (left,) = (
        f.months_until_full for f in fillings(plan, workload=plan.workloads[0]) if f.object_id == disk.id
    )
    assert left is not None
    assert first.full_at_months == left.value
    for month, share in zip(panel.chart.picture.months, first.shares, strict=True):
        assert (share > 1) is (month >= left.value)
    assert f"host-a1 nvme1 is full in {left.value:.3g} months" in panel.chart.toolTip()
    before = panel.chart.grab().toImage()
    panel.chart.show_picture(GrowthPicture(panel.chart.picture.months, (memory,)))
    assert panel.chart.grab().toImage() != before
    panel.disks.clicked.emit(panel.disks.model().index(0, 0))
    assert panel.context.selection.ids == (disk.id,)
    still = plan.replace(tables=tuple(validated.changed(t, growth_rows_per_month=0) for t in plan.tables))
    document.edit("No growth", still)
    qtbot.waitUntil(lambda: panel.chart.picture is None, timeout=60_000)


def test_a_picture_of_growth_needs_growth() -> None:
    plan = sample_plan("add-nodes")
    assert growth_picture(plan) is None
