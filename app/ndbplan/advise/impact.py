"""What an online reorganisation does to the workload meanwhile, from the simulation.

    impact_of_reorganise(estimation_of(plan, "busy-hour")).during.errors

The rows that move are added to the workload as what they are for the old nodes: a write of the whole row and
a delete, at the rate at which the estimate moves them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.grown import ReorganiseEstimate
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.estimate.times.reorganise import TableReorganise
from ndbplan.operations.meanwhile import who_waits
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import (
    LEAST_WEIGHT,
    MOST_WEIGHT,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)

if TYPE_CHECKING:
    from ndbplan.simulate.result import SimulationResult

_LEAST_S, _SECONDS = 10.0, 120.0
"""Length of the runs that are compared, when the reorganisation is not shorter."""


@dataclass(frozen=True)
class Impact(Shape):
    """A workload at its highest rate, without and with the reorganisation of the table that moves fastest."""

    JSON = (
        "table moved_rows_per_s offered_per_s accepted_before_per_s accepted_during_per_s "
        "errors_before=before.errors errors_during=during.errors bottleneck=during.bottleneck notes"
    )

    table: str
    moved_rows_per_s: Quantity
    before: SimulationResult
    during: SimulationResult
    offered_per_s: float
    accepted_before_per_s: Quantity
    accepted_during_per_s: Quantity
    """Transactions of the workload; those of the reorganisation are left out."""
    notes: tuple[str, ...]


def _fastest(plan: Plan, estimate: ReorganiseEstimate) -> TableReorganise | None:
    """The table whose rows move with most bytes of log per second."""

    def log_per_s(moving: TableReorganise) -> float:
        table = plan.table(moving.table)
        kinds = (OperationKind.INSERT, OperationKind.DELETE)
        each = sum(operation_redo(table, kind, plan.version).value for kind in kinds)
        return moving.rows_moved * each / moving.duration_s.value

    return max((table for table in estimate.tables if table.rows_moved), key=log_per_s, default=None)


def _steady(workload: Workload, rate_per_s: float, extra: Transaction | None, extra_per_s: float) -> Workload:
    """The workload's mix at a constant rate, with another transaction at its own rate."""
    weights = sum(t.weight for t in workload.transactions)
    total = rate_per_s + (extra_per_s if extra is not None else 0.0)

    def at_rate(transaction: Transaction, each_per_s: float) -> Transaction:
        """With its share of all as its weight, in the range that weights have."""
        share = each_per_s / total if total else 1.0
        weight = max(LEAST_WEIGHT, MOST_WEIGHT * share)
        return Transaction(name=transaction.name, weight=weight, operations=transaction.operations)

    mix = tuple(at_rate(t, t.weight / weights * rate_per_s) for t in workload.transactions)
    if extra is not None:
        mix = (*mix, at_rate(extra, extra_per_s))
    load = OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=total),))
    return Workload(id=workload.id, name=workload.name, transactions=mix, load=load)


def impact_of_reorganise(
    now: Estimation,
    groups: int = 1,
    cancelled: Callable[[], bool] | None = None,
) -> Impact | None:
    """Accepted rate and errors of a workload while the table that moves fastest is reorganised.

    None when no table moves rows. Raises what `reorganise` and `simulate` raise.
    """
    from ndbplan.simulate.model.workload import workload_of
    from ndbplan.simulate.run import simulate

    plan, workload = now.plan, now.workload or workload_of(now.plan, None)
    now = now.under(workload)
    estimate = now.reorganise(groups)
    table = _fastest(plan, estimate)
    if table is None:
        return None
    moved = table.rows_moved
    time = table.duration_s
    rate = Quantity.stated("rows that move", moved, "rows", "distribution") / time.named("duration")
    table_id = plan.table(table.table).id
    move = Transaction(
        name="reorganise",
        operations=(
            Operation(table_id=table_id, kind=OperationKind.INSERT),
            Operation(table_id=table_id, kind=OperationKind.DELETE),
        ),
    )
    offered = now.offered_per_s
    seconds = min(_SECONDS, max(_LEAST_S, time.value))
    runs = []
    for extra in (None, move):
        steady = _steady(workload, offered, extra, rate.value)
        varied = plan.replace(workloads=(steady,))
        runs.append(simulate(now.of(varied).under(steady), duration_s=seconds, cancelled=cancelled))
    before, during = runs
    share = offered / (offered + rate.value) if offered else 0.0
    threads = min((node.ldm_threads for node in now.machines.nodes), default=1)
    notes = (
        f"on each old node one of {threads} LDM threads at a time works for the reorganisation; operations "
        "on its fragments wait longer",
        "rows that are being moved are locked in batches; a scan of the whole table may wait until the end",
        who_waits(plan, (table.table, time)),
    )
    return Impact(
        table.table,
        rate,
        before,
        during,
        offered,
        before.accepted_per_s,
        during.accepted_per_s.scaled(share),
        notes,
    )
