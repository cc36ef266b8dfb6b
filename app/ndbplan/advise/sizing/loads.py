"""What a cluster that is sized has to take: a mix at a steady rate, rows that are loaded."""

from __future__ import annotations

from ndbplan.base.kept import kept_by_identity
from ndbplan.edits.ids import NewIds
from ndbplan.estimate.load.jobs import USUAL_BATCH
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import WantedJob
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import (
    LEAST_WEIGHT,
    JobLoad,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)

_LEAST_PER_S = 1e-9
"""A load that is none is written so: a rate has to be above 0."""


@kept_by_identity(size=64)
def steady(workload: Workload, rate_per_s: float) -> Workload:
    """The mix at a steady rate: one object, so that what is known of it is known whoever asks."""
    load = OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=max(rate_per_s, _LEAST_PER_S)),))
    return workload.model_copy(update={"load": load})


def job_of(plan: Plan, job: WantedJob) -> Workload:
    """A load job into all tables, by their rows."""
    rows = {table.id: max(1, table.rows) for table in plan.tables}
    in_all = sum(rows.values())
    transactions = tuple(
        Transaction(
            name=f"load {number}",
            weight=max(LEAST_WEIGHT, rows[table.id] / in_all),
            operations=(Operation(table_id=table.id, kind=OperationKind.INSERT, rows=USUAL_BATCH),),
        )
        for number, table in enumerate(plan.tables, 1)
    )
    load = JobLoad(
        tool=job.tool, threads=job.threads, total_bytes=None if job.size is None else round(job.size)
    )
    ids = NewIds(plan)
    return Workload(id=ids.of(Workload), name="load job", transactions=transactions, load=load)


def with_rows(table: Table, rows: int) -> Table:
    """The table with so many rows, spread evenly where they are others than it states."""
    if rows == table.rows:
        return table
    return table.model_copy(update={"rows": rows, "partition_rows": (), "partition_variable_bytes": ()})
