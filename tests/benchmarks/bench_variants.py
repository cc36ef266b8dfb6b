"""telecom-144: how soon the window shows another variant, with all that is known of it."""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

from figures import Figure

os.environ["QT_QPA_PLATFORM"] = "offscreen"
ROUNDS = 12


def main() -> list[Figure]:
    """Show two variants in turn that differ in all hosts, until estimates are there and all is painted."""
    from ndbplan.base.kept import keeping
    from ndbplan.desktop.start import make_application

    app: Any = make_application()
    with keeping():
        return _times(app)


def _times(app: Any) -> list[Figure]:
    from ndbplan.desktop.start import open_window
    from ndbplan.edits.parts import update_each
    from ndbplan.plan.plan import Plan

    window = open_window(app, sample="telecom-144")
    app.processEvents()
    window.finish_building()
    estimates, document = window.panels.estimates, window.document
    _until_fresh(app, estimates)

    def more_cores(plan: Plan) -> Plan:
        return update_each(
            plan, {host.id: lambda h: h.model_copy(update={"cores": 2 * h.cores}) for host in plan.hosts}
        )

    document.edit_as_variant("More cores", more_cores)
    _until_fresh(app, estimates)
    times_ms = []
    for turn in range(ROUNDS):
        began = time.thread_time()
        document.show_variant(turn % 2)
        _until_fresh(app, estimates)
        window.canvas.viewport().repaint()
        times_ms.append((time.thread_time() - began) * 1000)
    document.undo_stack.setClean()
    window.close()
    window.deleteLater()
    app.processEvents()
    return [
        Figure(
            "another variant is shown and painted, its estimates too", statistics.median(times_ms), "ms", 50
        ),
        Figure("the slowest of them", max(times_ms), "ms"),
        Figure("four variants compared afresh, without simulations", _compared_ms(), "ms", 400),
    ]


def _compared_ms() -> float:
    """Four variants of telecom-144 that share what they do not change, with nothing known of any.

    Another plan was compared before: modules are loaded, which a command counts as its start.
    """
    from ndbplan.advise.compare import compare
    from ndbplan.advise.figures import FIGURES
    from ndbplan.base.garbage import seldom_collecting
    from ndbplan.base.kept import Kept, keeping
    from ndbplan.edits.assign import assign
    from ndbplan.estimate.estimation import Estimation, chosen_workload
    from ndbplan.plan.samples import sample_plan

    plan = sample_plan("telecom-144")
    changes = ("RedoBuffer=128M", "hosts[dn-a01].cores=48", "hosts[*].memory=1TiB")
    plans = [plan, *(assign(plan, text)[0] for text in changes)]
    figures = [figure for figure in FIGURES.values() if not figure.simulated]
    small = Estimation(sample_plan("starter"), None)
    compare([("", small), ("", small)], figures)
    # As in a command; a window looks for garbage when nobody waits.
    with seldom_collecting(), keeping(Kept()):
        began = time.thread_time()
        nows = [Estimation(one, chosen_workload(one, None)) for one in plans]
        compare([(str(place), now) for place, now in enumerate(nows)], figures)
        return (time.thread_time() - began) * 1000


def _until_fresh(app: Any, estimates: Any) -> None:
    while not estimates.is_fresh:
        app.processEvents()


if __name__ == "__main__":
    import sys

    from figures import show

    sys.exit(0 if show(main()) else 1)
