"""Analyses look as somebody approved them: with real data, of nothing, of one thing, and of 144 data nodes.

python tests/desktop/test_approved_views.py FOLDER     # writes them anew, and large into FOLDER: look at them
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEventLoop
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QWidget

from ndbplan.advise.doubling import Doubling
from ndbplan.base.frozen import FrozenMap
from ndbplan.base.quantity import Quantity
from ndbplan.describe.colouring import colour_by
from ndbplan.describe.estimated import known_of
from ndbplan.desktop.analyses import AnalysisArea
from ndbplan.desktop.analyses.bucket_view import BucketView, named_heaps
from ndbplan.desktop.analyses.day_behind import Day
from ndbplan.desktop.analyses.distribution_answer import Question, ask
from ndbplan.desktop.analyses.distribution_map_answer import MapQuestion, ask_map, parts_to_lose
from ndbplan.desktop.analyses.distribution_moves import buckets_of
from ndbplan.desktop.analyses.distribution_pictures import bars_of
from ndbplan.desktop.analyses.fill_map_view import FillMapView
from ndbplan.desktop.analyses.growth_chart import GrowthChart, growth_picture
from ndbplan.desktop.analyses.lanes import Block, Lane
from ndbplan.desktop.analyses.memory_answer import MemoryQuestion, WhatIf, ask_memory
from ndbplan.desktop.analyses.panel import Empty
from ndbplan.desktop.analyses.partition_bars import PartitionBars, Picture
from ndbplan.desktop.analyses.simulation.shown_run import ShownRun
from ndbplan.desktop.analyses.timeline import Timeline
from ndbplan.desktop.analyses.treemap_view import TreemapView
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.chart_content import Content
from ndbplan.desktop.widgets.charts import TimeChart
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.validated import changed
from ndbplan.estimate.load.maintenance_window import KeptOut, Offered, Windows
from ndbplan.estimate.timed import restart
from ndbplan.estimate.times.restart import Kind
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.workload import estimation_of

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from desktop.test_approved_pictures import THEMES, difference, shades
from report.conftest import priced

APPROVED = Path(__file__).with_name("approved_views.json")
_SIZE = 640, 360
AS_IT_IS = WhatIf()
ONE, RISING = "one node", "rising"
_MOST = 1.7
"""Mean difference of two grey copies, of 255."""


def _map(sample: str, lost: int | None = None) -> QWidget:
    return _map_of(sample_plan(sample), lost)


def _map_of(plan: Plan, lost: int | None = None) -> QWidget:
    part = None if lost is None else parts_to_lose(plan)[lost]
    view = FillMapView()
    view.show_picture(ask_map(MapQuestion(plan, plan.tables[0].id, lost=part)).picture)
    return view


def _no_map() -> QWidget:
    view = FillMapView()
    view.show_picture(None)
    return view


def _memory(changed: WhatIf, sample: str = "starter") -> QWidget:
    return _memory_of(sample_plan(sample), changed)


def _memory_of(plan: Plan, changed: WhatIf = AS_IT_IS) -> QWidget:
    # What is known at first is enough: the months until memory is full are no part of the picture.
    found: list[Any] = []
    ask_memory(MemoryQuestion(plan, None, plan.data_nodes[0].node_id, changed), found.append)
    view = TreemapView("")
    view.show_contents([found[0].node, *found[0].disks])
    return view


def _day(*closed: KeptOut) -> QWidget:
    return _day_of((0, 900), (3, 200), (20, 3500), closed=closed)


def _day_of(*rates: tuple[int, int], closed: tuple[KeptOut, ...] = ()) -> QWidget:
    points = tuple(RatePoint(at_s=3600 * hour, rate_per_s=rate) for hour, rate in rates)
    load = OpenLoad(points=points, shape="linear", repeat_s=86_400)
    return _on_day(Windows(Offered(load), 4 * 3600.0, closed))


def _on_day(windows: Windows) -> QWidget:
    view = Timeline("Restarts")
    whole = windows.duration_s
    parts = [Quantity(whole * share, whole * share, whole * share, "s", ()) for share in (0.1, 0.6, 0.3)]
    takes = Quantity(whole, 0.8 * whole, 1.3 * whole, "s", ())
    view.show_lanes(
        [Lane("Add groups", takes, tuple(map(Block, ("new nodes", "reorganise", "stop"), parts)))]
    )
    view.show_day(Day("Add groups", windows))
    return view


def _day_of_144() -> QWidget:
    """A node group more, on the plan's own load."""
    plan = sample_plan("telecom-144")
    now = estimation_of(plan, None)
    assert now.workload is not None
    takes = now.under(None).restart("rolling", None).duration_s.value
    return _on_day(Windows(Offered(now.workload.load), takes))


def _panel_of_nothing(name: str) -> QWidget:
    """An analysis of a plan in which nothing is: it says what is missing and offers the next step."""
    document = Document(EMPTY_PLAN)
    estimates = Estimates(document)
    area = AnalysisArea(document, Selection(document), estimates)
    document.setParent(area)
    area.resize(*_SIZE)
    area.show()
    area.show_tab(name)
    while area.context.tasks.is_busy or not estimates.is_fresh:
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    assert any(isinstance(one, Empty) and one.isVisible() for one in area.findChildren(QWidget))
    area.hide()
    return area


def _bars(sample: str, groups: int = 0, table: int = 0) -> QWidget:
    plan = sample_plan(sample)
    view = PartitionBars()
    view.show_picture(bars_of(ask(Question(plan, plan.tables[table].id, groups, None, None)), "rows"))
    return view


def _one_bar() -> QWidget:
    plan = sample_plan("starter")
    whole = bars_of(ask(Question(plan, plan.tables[0].id, 0, None, None)), "rows")
    view = PartitionBars()
    view.show_picture(Picture(whole.bars[:1]))
    return view


def _buckets(plan: Plan, groups: int = 0, before: Plan | None = None) -> QWidget:
    """Half of what moves to new node groups."""
    view = BucketView()
    view.show_buckets(buckets_of(ask(Question(plan, plan.tables[0].id, groups, before, None))))
    view.show_moment(0.5, 0.0)
    return view


def _doubled() -> QWidget:
    """To the second half of 144 data nodes."""
    plan = sample_plan("telecom-144")
    new = plan.data_nodes[72:]
    before = plan.replace(processes=tuple(one for one in plan.processes if one not in new))
    return _buckets(plan, before=before)


def _restarts(sample: str, *kinds: Kind) -> QWidget:
    lanes = []
    for kind in kinds:
        found = restart(sample_plan(sample), kind)
        lanes.append(Lane(kind, found.duration_s, tuple(Block(p.name, p.duration_s) for p in found.phases)))
    view = Timeline("Restarts")
    view.show_lanes(lanes)
    return view


def _growth(plan: Plan) -> QWidget:
    view = GrowthChart()
    view.show_picture(growth_picture(plan))
    return view


def _one_table() -> Plan:
    plan = sample_plan("starter")
    return plan.replace(tables=plan.tables[:1], workloads=())


def _no_lanes() -> QWidget:
    view = Timeline("Restarts")
    view.show_lanes([])
    return view


def _one_node() -> Plan:
    """A single data node with one LDM thread and one table."""
    plan = _one_table()
    others = plan.data_nodes[1:]
    parameters = plan.parameters.data_node | {"NoOfReplicas": 1, "ThreadConfig": "main,ldm,tc,recv,send"}
    return plan.replace(
        processes=tuple(one for one in plan.processes if one not in others),
        parameters=plan.parameters.model_copy(update={"data_node": FrozenMap(parameters)}),
    )


def _one_node_loaded() -> Plan:
    """The same with the one transaction that writes its table, too many of them at first."""
    workload = sample_plan("starter").workloads[0]
    points = (RatePoint(at_s=0, rate_per_s=100_000), RatePoint(at_s=30, rate_per_s=1000))
    load = OpenLoad(points=points, shape="linear")
    one = changed(workload, transactions=workload.transactions[-1:], load=load)
    return _one_node().replace(workloads=(one,))


def _rising() -> Plan:
    """144 data nodes under a load that rises from nothing to more than they take."""
    plan = sample_plan("telecom-144")
    points = (RatePoint(at_s=0, rate_per_s=10_000), RatePoint(at_s=40, rate_per_s=30_000_000))
    load = OpenLoad(points=points, shape="linear")
    return plan.replace(workloads=(changed(plan.workloads[0], load=load),))


def _canvas(plan: Plan, way: str, **more: Any) -> QWidget:
    """`more`: what a way to colour needs beside the plan, see `Known`."""
    document = Document(plan)
    view = CanvasView(Editor(document, Selection(document, document), document))
    document.setParent(view)
    known = replace(known_of(plan), **more)
    loads, colouring = known.loads, colour_by(way, known)
    view.show_loads(loads)
    view.show_colouring(colouring)
    view.resize(*_SIZE)
    view.fit()
    return view


def _doublings() -> QWidget:
    """As if twice the devices of a disk let a quarter more pass, and twice the cores two thirds."""
    plan = sample_plan("redo-overload-8.4")
    host = plan.hosts[0]
    found = {host.id: Doubling(0.66, "", ""), host.disks[0].id: Doubling(0.25, "", "")}
    found |= {host.disks[1].id: Doubling(0.05, "", ""), plan.hosts[1].id: Doubling(0.0, "", "")}
    return _canvas(plan, "doubling", doublings=FrozenMap(found))


@cache
def _run(sample: str) -> ShownRun:
    from ndbplan.simulate.run import simulate

    others = {ONE: _one_node_loaded, RISING: _rising}
    plan = others[sample]() if sample in others else sample_plan(sample)
    return ShownRun(simulate(estimation_of(plan, None), duration_s=40.0), plan)


class _Chart(TimeChart):
    """Of a run, in the colours of the theme of the moment."""

    def __init__(self, title: str, content: Callable[[ShownRun], Content], sample: str) -> None:
        super().__init__(title)
        self._told, self._sample = content, sample
        theme.theme().changed.connect(self._show)

    def _show(self) -> None:
        self.restyle()
        self.show_content(self._told(_run(self._sample)))
        self.draw()


def _chart(title: str, content: Callable[[ShownRun], Content], sample: str = "redo-overload") -> QWidget:
    return _Chart(title, content, sample)


VIEWS: dict[str, Callable[[], QWidget]] = {
    "map of nothing": _no_map,
    "map of two nodes": lambda: _map("starter"),
    "map of one node": lambda: _map_of(_one_node()),
    "map of 144 nodes": lambda: _map("telecom-144"),
    "map without a rack": lambda: _map("telecom-144", 1),
    "bars": lambda: _bars("starter", 1),
    "bars of one": _one_bar,
    "buckets": lambda: _buckets(sample_plan("starter"), 1),
    "buckets of one": lambda: _buckets(_one_node(), 1),
    "buckets of 144 nodes": _doubled,
    "restarts": lambda: _restarts("starter", "node", "initial", "system", "rolling"),
    "one restart": lambda: _restarts("starter", "node"),
    "no restart": _no_lanes,
    "restarts of 144 nodes": lambda: _restarts("telecom-144", "node", "initial", "system", "rolling"),
    "growth": lambda: _growth(sample_plan("starter")),
    "growth of one table": lambda: _growth(_one_table()),
    "growth of 144 nodes": lambda: _growth(sample_plan("telecom-144")),
    "canvas of 144 nodes": lambda: _canvas(sample_plan("telecom-144"), "memory"),
    "doublings": _doublings,
    "changes": lambda: _canvas(
        add_node_group(sample_plan("add-nodes-8.4")), "change", against=("Main", sample_plan("add-nodes-8.4"))
    ),
    "processors": lambda: _canvas(sample_plan("redo-overload-8.4"), "cpu"),
    "links": lambda: _canvas(sample_plan("starter"), "network"),
    "costs": lambda: _canvas(priced(sample_plan("starter")), "cost"),
    "rates": lambda: _chart("Transactions/s", ShownRun.rates),
    "latency": lambda: _chart("Latency, mean", ShownRun.latency),
    "redo buffers": lambda: _chart("Redo buffers", lambda run: run.buffers(run.result.parts[0].node_ids[0])),
    "rates of one node": lambda: _chart("Transactions/s", ShownRun.rates, ONE),
    "latency of one node": lambda: _chart("Latency, mean", ShownRun.latency, ONE),
    "rates of 144 nodes": lambda: _chart("Transactions/s", ShownRun.rates, RISING),
    "latency of 144 nodes": lambda: _chart("Latency, mean", ShownRun.latency, RISING),
    "redo log of 144 nodes": lambda: _chart(
        "Redo log used", lambda run: run.log(run.result.parts[0].node_ids[0]), "telecom-144"
    ),
    "redo log": lambda: _chart("Redo log used", lambda run: run.log(run.result.parts[0].node_ids[0])),
    "disk writes": lambda: _chart("Disk writes", lambda run: run.writes(run.result.disks[0].disk_ids[0])),
    "memory": lambda: _memory(WhatIf()),
    "memory of one of 144 nodes": lambda: _memory(WhatIf(), "telecom-144"),
    "memory of one table": lambda: _memory_of(_one_node()),
    "memory, three times the rows": lambda: _memory(WhatIf(rows_factor=3.0)),
    "disk writes of 144 nodes": lambda: _chart(
        "Disk writes", lambda run: run.writes(run.result.disks[0].disk_ids[0]), "telecom-144"
    ),
    "redo buffers of 144 nodes": lambda: _chart(
        "Redo buffers", lambda run: run.buffers(run.result.parts[0].node_ids[0]), "telecom-144"
    ),
    "day of 144 nodes": _day_of_144,
    "Memory of nothing": lambda: _panel_of_nothing("Memory"),
    "Distribution of nothing": lambda: _panel_of_nothing("Distribution"),
    "Simulation of nothing": lambda: _panel_of_nothing("Simulation"),
    "Operations of nothing": lambda: _panel_of_nothing("Operations"),
    "day": _day,
    "day of one rate": lambda: _day_of((0, 900)),
    "day with a backup": lambda: _day(KeptOut(7200.0, 14_400.0, "backup")),
}


@cache
def view(name: str) -> QWidget:
    """One for both themes."""
    made = VIEWS[name]()
    made.resize(*_SIZE)
    return made


def picture(app: Any, name: str, mode: Any) -> QImage:
    # First of all: what is made before its fonts are known keeps others.
    theme.install(app, mode)
    made = view(name)
    theme.theme().changed.emit()
    found = made.grab().toImage()
    return found.copy(0, 0, found.width(), found.height())


@pytest.fixture(scope="module")
def approved() -> dict[str, bytes]:
    return {name: bytes.fromhex(told) for name, told in json.loads(APPROVED.read_text("utf-8")).items()}


@pytest.mark.parametrize("mode", THEMES)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_as_it_was_approved(qapp, approved, name: str, mode: str) -> None:
    assert difference(shades(picture(qapp, name, mode)), approved[f"{name}, {mode}"]) < _MOST


@pytest.mark.parametrize(("width", "old", "new"), [(80.0, 4, 4), (8.5, 36, 36), (3.0, 1, 200), (1.0, 300, 0)])
def test_names_below_heaps_do_not_touch_and_the_first_new_one_is_named(
    width: float, old: int, new: int
) -> None:
    named = sorted(named_heaps(width, [False] * old + [True] * new))
    assert all((other - one) * width >= 22 for one, other in pairwise(named))
    assert not new or old in named
    assert len(named) == old + new or width < 22


def test_views_are_told_apart(approved) -> None:
    # What is empty says in one place what is missing, in letters too small for these copies.
    told = [shades for name, shades in approved.items() if "of nothing," not in name]
    apart = [difference(a, b) for n, a in enumerate(told) for b in told[n + 1 :]]
    assert min(apart) > _MOST


def main(folder: Path) -> None:
    """Write the small copies, and large ones to be looked at."""
    from ndbplan.desktop.start import make_application

    app, made = make_application(), {}
    folder.mkdir(parents=True, exist_ok=True)
    for name in VIEWS:
        for mode in THEMES:
            found = picture(app, name, mode)
            found.save(str(folder / f"{name}, {mode}.png"))
            made[f"{name}, {mode}"] = shades(found).hex()
    APPROVED.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
