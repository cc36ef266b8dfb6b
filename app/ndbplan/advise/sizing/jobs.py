"""A load job of the requirements: whether its rows get in within their time."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ndbplan.advise.max_load import max_load
from ndbplan.advise.sizing.loads import job_of, with_rows
from ndbplan.advise.sizing.verdict import BARELY, LOADER, Met, kind_of
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import job_of as loading
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import WantedJob


def when_done(plan: Plan, wanted: WantedJob) -> Estimation | None:
    """The plan with the rows of the job, beside no fewer than it has; None: there are none."""
    job = loading(plan, job_of(plan, wanted))
    if job is None:
        return None
    rows = dict(job.rows)
    tables = tuple(with_rows(one, max(one.rows, round(rows.get(one.id, 0)))) for one in plan.tables)
    return Estimation(plan.replace(tables=tables))


def of_loader(plan: Plan, wanted: WantedJob) -> Iterator[Met]:
    """The limit of a job that takes too long even on a cluster that keeps up."""
    job = loading(plan, job_of(plan, wanted))
    if job is None:
        return
    least = (Quantity.exact(job.transactions, "tx") / job.rate_per_s).in_unit("s")
    if least.value * BARELY > wanted.within:
        title = f"load job (as fast as its {job.limited_by[0]} can by itself)"
        yield Met(title, least, Quantity.exact(wanted.within, "s"), LOADER)


def of_cluster(plan: Plan, wanted: WantedJob, cancelled: Callable[[], bool]) -> Iterator[Met]:
    """How long the job takes, simulated to its end."""
    taken = max_load(Estimation(plan, job_of(plan, wanted)), cancelled=cancelled)
    limit = taken.limited_by
    gets_in = taken.takes_s is not None
    needed = taken.takes_s or Quantity.exact(max(taken.duration_s, wanted.within / BARELY), "s")
    title = f"load job ({limit.text})" if gets_in else f"load job ({limit.text}; not all rows get in)"
    kind = "job" if gets_in else kind_of(limit)
    yield Met(title, needed, Quantity.exact(wanted.within, "s"), kind, gets_in)
