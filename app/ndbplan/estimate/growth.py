"""Memory of the tables as they grow month by month, and when it runs out.

growth(plan, months=24).months_until_full
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ndbplan.estimate.memory import MemoryEstimate, memory
from ndbplan.estimate.quantity import Quantity, Term
from ndbplan.plan.plan import Plan

LONGEST_MONTHS = 1200


def after_months(plan: Plan, months: float) -> Plan:
    """The plan with the rows its tables have after so many months; counts per partition keep their shares."""
    if months == 0 or not any(table.growth_rows_per_month for table in plan.tables):
        return plan
    return plan.replace(
        tables=tuple(
            table.model_copy(update={"rows": table.rows + round(table.growth_rows_per_month * months)})
            if table.growth_rows_per_month
            else table
            for table in plan.tables
        )
    )


@dataclass(frozen=True)
class Growth:
    """Memory month by month."""

    months: tuple[int, ...]
    estimates: tuple[MemoryEstimate, ...]
    months_until_full: Quantity | None
    """Until the first node's tables need more than its DataMemory allows; None: not within 100 years."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """DataMemory of every node at each month, and the time left."""
        left = self.months_until_full
        return {
            "months": [
                {
                    "month": month,
                    "nodes": [
                        {
                            "node_id": node.node_id,
                            "data_memory_bytes": node.data_memory_bytes.to_json(why=why),
                            "fill": node.fill,
                        }
                        for node in estimate.nodes
                    ],
                }
                for month, estimate in zip(self.months, self.estimates, strict=True)
            ],
            "months_until_full": None if left is None else left.to_json(why=why),
        }


def growth(plan: Plan, months: int = 12, step: int = 1, reserve: float = 0.05) -> Growth:
    """Memory now and every `step` months up to `months`.

    A node counts as full when its tables need 1 - `reserve` of DataMemory: MinFreePct (5 %) is only for
    restarts (reference manual).
    """
    points = tuple(range(0, months + 1, max(1, step)))
    return Growth(points, tuple(memory(after_months(plan, m)) for m in points), _until_full(plan, reserve))


def _until_full(plan: Plan, reserve: float) -> Quantity | None:
    if not any(table.growth_rows_per_month for table in plan.tables):
        return None

    def first(reach: Callable[[Quantity], float]) -> float | None:
        def full(months: float) -> bool:
            return any(
                node.data_memory_limit_bytes
                and reach(node.data_memory_bytes) > (1 - reserve) * node.data_memory_limit_bytes
                for node in memory(after_months(plan, months)).nodes
            )

        if full(0):
            return 0.0
        if not full(LONGEST_MONTHS):
            return None
        low, high = 0.0, float(LONGEST_MONTHS)
        while high - low > 0.05:
            middle = (low + high) / 2
            low, high = (low, middle) if full(middle) else (middle, high)
        return high

    value = first(lambda q: q.value)
    if value is None:
        return None
    soonest, latest = first(lambda q: q.high), first(lambda q: q.low)
    return Quantity(
        value,
        min(value, soonest if soonest is not None else value),
        max(value, latest if latest is not None else float(LONGEST_MONTHS)),
        "months",
        (
            Term(
                "rows per month of all tables",
                sum(t.growth_rows_per_month for t in plan.tables),
                "rows",
                "plan",
            ),
            Term("part of DataMemory kept for restarts", reserve, "fraction", "manual: MinFreePct"),
        ),
    )
