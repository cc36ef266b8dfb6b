"""Pictures of 144 data nodes: how long the maps take to work out, and to paint.

Run with `python tests/benchmarks/bench_pictures.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from figures import Figure, show

_TIMES = 5
_FRAME_MS = 33.0
"""What a picture that moves may take for a frame."""


def main() -> list[Figure]:
    """Milliseconds of the processor, the least of several."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication, QWidget

    from ndbplan.configuration.failing_parts import Part
    from ndbplan.describe.contents import disk_contents, node_contents
    from ndbplan.desktop.analyses.bucket_view import BucketView
    from ndbplan.desktop.analyses.distribution_answer import Question, ask
    from ndbplan.desktop.analyses.distribution_map_answer import MapQuestion, ask_map
    from ndbplan.desktop.analyses.distribution_moves import buckets_of
    from ndbplan.desktop.analyses.fill_map_view import FillMapView
    from ndbplan.desktop.analyses.treemap_view import TreemapView
    from ndbplan.desktop.look import theme
    from ndbplan.estimate.estimation import Estimation, chosen_workload
    from ndbplan.plan.samples import sample_plan

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    theme.install(app, "dark")
    plan = sample_plan("telecom-144")
    now = Estimation(plan, chosen_workload(plan))
    now.work_out()
    one = MapQuestion(plan, plan.tables[0].id)
    rack = MapQuestion(plan, plan.tables[0].id, lost=Part("rack", "Rack B"))
    figures = [
        _took("map of one table", lambda: ask_map(one)),
        _took("map of all 20 tables", lambda: ask_map(MapQuestion(plan, None))),
        _took("map without a rack", lambda: ask_map(rack)),
        _took("contents of a node", lambda: node_contents(now, 1)),
    ]

    def painted(name: str, widget: QWidget, before: Callable[[], object]) -> None:
        widget.resize(900, 300)

        def paint() -> None:
            before()
            widget.grab()

        paint()
        figures.append(_took(f"painting {name}", paint, at_most=_FRAME_MS))

    view = FillMapView()
    picture = ask_map(rack).picture
    painted("the map", view, lambda: view.show_picture(picture))
    memory = TreemapView("memory")
    disks = [disk_contents(now, disk.id) for disk in plan.hosts[0].disks]
    contents = [node_contents(now, 1), *disks]
    painted("memory and disks", memory, lambda: memory.show_contents(contents))
    starter = sample_plan("starter")
    buckets = buckets_of(ask(Question(starter, starter.tables[0].id, 17, None, None)))
    assert buckets is not None
    moves = BucketView()
    moves.show_buckets(buckets)
    painted("3840 buckets in 36 heaps on their way", moves, lambda: moves.show_moment(0.5, 0.0))
    return figures


def _took(name: str, work: Callable[[], object], at_most: float | None = None) -> Figure:
    times = []
    for _ in range(_TIMES):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return Figure(name, min(times) * 1000, "ms", at_most)


if __name__ == "__main__":
    show(main())
