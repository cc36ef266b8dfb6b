"""A sweep on a Dask cluster of two workers, one of which is killed: prints whether it gives the same rows,
and what it says when the other one dies too.

In a process of its own: Dask leaves threads behind that end with their process only.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ndbplan.advise import executors
from ndbplan.advise.sweep import Sweep, vary
from ndbplan.base.errors import UserError
from ndbplan.plan.samples import sample_plan


def main() -> None:
    """Kill a worker after the first row."""
    plan = sample_plan("redo-overload-8.4")
    sweep = Sweep(plan, (vary(plan, "RedoBuffer=16M..128M:24"),), ("restart", "memory"))
    here = list(sweep.rows())
    distributed: Any = import_module("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        there = sweep.rows(scheduler=cluster.scheduler_address)
        rows = [next(there)]
        # Nobody tells the scheduler: it has to notice.
        next(iter(cluster.workers.values())).process.process.kill()
        rows += there
        print("the same" if rows == here else f"{rows}\nbut here\n{here}")
        cluster.scale(0)
        executors._LOOKED_AFTER_S, executors._WITHOUT_WORKERS_S = 0.5, 1.0
        try:
            rows = list(sweep.rows(scheduler=cluster.scheduler_address))
        except UserError as error:
            print(error.line)


if __name__ == "__main__":
    main()
