"""How long it takes to rank every single change of a plan, to show one before it is made, to size a cluster.

Also how many cells of a sweep a minute holds, and what it costs to have them done elsewhere.

Run with `python tests/benchmarks/bench_deciding.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

from figures import Figure

from ndbplan.advise.figures import FIGURES
from ndbplan.advise.preview import Preview
from ndbplan.advise.sizing.choices import choices, client_host
from ndbplan.advise.sizing.search import size
from ndbplan.advise.sweep import Row, Sweep, vary
from ndbplan.advise.what_matters import what_matters
from ndbplan.base.garbage import seldom_collecting
from ndbplan.base.kept import keeping
from ndbplan.edits.assign import assign
from ndbplan.edits.growth import add_node_group
from ndbplan.estimate.estimation import Estimation
from ndbplan.importing.requirements import requirements_of
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

CHANGES = 500
TEN_MINUTES_S = 600.0
_FEW, _MANY = 40, 340
"""Cells of a short and of a long sweep."""


def main() -> list[Figure]:
    """Seconds of the processor for 500 changes, and milliseconds of one cell."""
    # A process full of what large plans left looks for garbage in each cell.
    figures = [_swept(), *_elsewhere()]
    four = add_node_group(sample_plan("starter"))
    for name, plan in (("four data nodes", four), ("telecom-144", sample_plan("telecom-144"))):
        for aim in ("max-load", "restart"):
            figures += _ranked(name, plan, aim)
    for sample in ("starter", "telecom-144"):
        figures += _previewed(sample)
    return [*figures, _sized()]


def _previewed(sample: str) -> list[Figure]:
    """One that leaves the load alone and one that is searched anew, what was before being known."""
    plan = sample_plan(sample)
    preview, figures = Preview(Estimation(plan, plan.workloads[0])), []
    # A window looks for garbage when nobody waits.
    with seldom_collecting():
        list(preview.of(plan.replace(name="another")))
        for text, what in (
            ("SendBufferMemory=4M", "the load stays"),
            ("RedoBuffer=128M", "the load is searched"),
            ("DataMemory=40G", "the load is searched, rows end it"),
        ):
            after = assign(plan, text)[0]
            began, shown = time.process_time(), time.perf_counter()
            list(preview.of(after))
            spent, seen = time.process_time() - began, time.perf_counter() - shown
            figures.append(Figure(f"{sample}, preview, {what}", spent * 1000, "ms"))
            figures.append(Figure(f"{sample}, preview, {what}, on the clock", seen * 1000, "ms"))
    return figures


def _sized() -> Figure:
    """The starter's tables on 2 to 72 node groups, as a command does it."""
    wanted = requirements_of(sample_plan("starter"), least_groups=2, most_groups=72)
    begun = (wanted.requirements, wanted.source, wanted.own)
    with keeping(), seldom_collecting():
        began = time.process_time()
        size(wanted.requirements, wanted.begun, choices(*begun), client_host(*begun))
        took_s = time.process_time() - began
    return Figure("2 to 72 node groups for the starter's tables", took_s, "s", 10)


def _ranked(sample: str, plan: Plan, aim: str) -> list[Figure]:
    now = estimation_of(plan, plan.workloads[0].id)
    with keeping(), seldom_collecting():
        FIGURES[aim].of(now)
        began = time.process_time()
        FIGURES[aim].of(Estimation(plan.replace(name="another"), plan.workloads[0]))
        once_s = time.process_time() - began
        began, first = time.process_time(), [0.0]
        found = what_matters(now, FIGURES[aim], found=lambda row: first.append(time.process_time() - began))
        whole_s = time.process_time() - began
    return [
        Figure(
            f"{sample}, {aim}: {CHANGES} changes (of {found.tried} that there are)",
            whole_s / found.tried * CHANGES,
            "s",
            baseline="the figure once, anew",
            baseline_value=once_s,
        ),
        Figure(f"{sample}, {aim}: until the first row", first[1] if len(first) > 1 else whole_s, "s"),
    ]


def _swept() -> Figure:
    """Cells of ten simulated minutes of the sample with two data nodes."""
    sweep = _sweep(_FEW)
    now = estimation_of(sweep.plan, sweep.plan.workloads[0].id)
    simulate(now)
    began = time.process_time()
    simulate(now)
    alone_s = time.process_time() - began
    began = time.process_time()
    rows = list(sweep.rows())
    each_s = (time.process_time() - began) / len(rows)
    # 10,000 a minute on two cores are 12 ms of the processor each.
    return Figure(
        "a cell of ten simulated minutes, two data nodes", each_s * 1000, "ms", 12.0,
        baseline="the simulation alone", baseline_value=alone_s * 1000,
    )  # fmt: skip


def _elsewhere() -> list[Figure]:
    """What a cell takes of all processors here, by two processes, and by two workers of Dask.

    Of a long and a short sweep the difference: what starts once does not count.
    """
    here = _of_a_cell(lambda sweep: list(sweep.rows()))
    pool = _of_a_cell(lambda sweep: list(sweep.rows(workers=2)))
    dask = _of_a_cell(_by_dask)
    return [
        Figure("of a cell in two processes, the executor's own share", 100 * (1 - here / pool), "%", 5.0),
        Figure(
            "a cell in two processes", pool * 1000, "ms",
            baseline="here", baseline_value=here * 1000,
        ),
        Figure(
            "a cell by two workers of Dask", dask * 1000, "ms",
            baseline="in two processes", baseline_value=pool * 1000, most_times=1.15,
        ),
    ]  # fmt: skip


def _of_a_cell(work: Callable[[Sweep], list[Row]]) -> float:
    spent = [_processors_s(partial(work, _sweep(count))) for count in (_FEW, _MANY)]
    return (spent[1] - spent[0]) / (_MANY - _FEW)


def _sweep(count: int) -> Sweep:
    plan = sample_plan("redo-overload-8.4")
    load = plan.workloads[0].model_copy(update={"duration_s": TEN_MINUTES_S})
    plan = plan.replace(workloads=(load,))
    return Sweep(plan, (vary(plan, f"redo.disk.write=100..800MB/s:{count}"),), ("accepted",))


def _processors_s(work: Callable[[], list[Row]]) -> float:
    """Seconds of this process and of those that it started and that have ended."""

    def used() -> float:
        return sum(of.ru_utime + of.ru_stime for of in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN)))

    before = used()
    work()
    return used() - before


def _by_dask(sweep: Sweep) -> list[Row]:
    cluster = import_module("distributed").LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster:
        return list(sweep.rows(scheduler=cluster.scheduler_address))


if __name__ == "__main__":
    from figures import show

    show(main())
