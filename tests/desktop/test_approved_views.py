"""Analyses look as somebody approved them: the distribution map, the memory picture, a day with an operation.

python tests/desktop/test_approved_views.py FOLDER     # writes them anew, and large into FOLDER: look at them
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from ndbplan.desktop.analyses.day_strip import Day, DayStrip
from ndbplan.desktop.analyses.distribution_map_answer import MapQuestion, ask_map, parts_to_lose
from ndbplan.desktop.analyses.fill_map_view import FillMapView
from ndbplan.desktop.analyses.memory_answer import MemoryQuestion, WhatIf, ask_memory
from ndbplan.desktop.analyses.treemap_view import TreemapView
from ndbplan.desktop.look import theme
from ndbplan.estimate.load.maintenance_window import KeptOut, Offered, Windows
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))

from desktop.test_approved_pictures import THEMES, difference, shades

APPROVED = Path(__file__).with_name("approved_views.json")
_SIZE = 640, 360
_MOST = 2.0
"""Mean difference of two grey copies, of 255."""


def _map(sample: str, lost: int | None = None) -> QWidget:
    plan = sample_plan(sample)
    part = None if lost is None else parts_to_lose(plan)[lost]
    view = FillMapView()
    view.show_picture(ask_map(MapQuestion(plan, plan.tables[0].id, lost=part)).picture)
    return view


def _no_map() -> QWidget:
    view = FillMapView()
    view.show_picture(None)
    return view


def _memory(changed: WhatIf) -> QWidget:
    plan = sample_plan("starter")
    # What is known at first is enough: the months until memory is full are no part of the picture.
    found: list[Any] = []
    ask_memory(MemoryQuestion(plan, None, plan.data_nodes[0].node_id, changed), found.append)
    view = TreemapView("")
    view.show_contents([found[0].node, *found[0].disks])
    return view


def _day(*closed: KeptOut) -> QWidget:
    points = tuple(
        RatePoint(at_s=3600 * hour, rate_per_s=rate) for hour, rate in ((0, 900), (3, 200), (20, 3500))
    )
    load = OpenLoad(points=points, shape="linear", repeat_s=86_400)
    view = DayStrip()
    view.show_day(Day("Add groups", Windows(Offered(load), 4 * 3600.0, closed)))
    return view


VIEWS: dict[str, Callable[[], QWidget]] = {
    "map of nothing": _no_map,
    "map of two nodes": lambda: _map("starter"),
    "map of 144 nodes": lambda: _map("telecom-144"),
    "map without a rack": lambda: _map("telecom-144", 1),
    "memory": lambda: _memory(WhatIf()),
    "memory, three times the rows": lambda: _memory(WhatIf(rows_factor=3.0)),
    "day": _day,
    "day with a backup": lambda: _day(KeptOut(7200.0, 14_400.0, "backup")),
}


@cache
def view(name: str) -> QWidget:
    """One for both themes."""
    made = VIEWS[name]()
    made.resize(*_SIZE)
    return made


def picture(app: Any, name: str, mode: Any) -> QImage:
    theme.install(app, mode)
    found = view(name).grab().toImage()
    return found.copy(0, 0, found.width(), found.height())


@pytest.fixture(scope="module")
def approved() -> dict[str, bytes]:
    return {name: bytes.fromhex(told) for name, told in json.loads(APPROVED.read_text("utf-8")).items()}


@pytest.mark.parametrize("mode", THEMES)
@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_as_it_was_approved(qapp, approved, name: str, mode: str) -> None:
    assert difference(shades(picture(qapp, name, mode)), approved[f"{name}, {mode}"]) < _MOST


def test_views_are_told_apart(approved) -> None:
    told = [*approved.values()]
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
