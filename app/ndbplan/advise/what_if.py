"""What if there were more rows, or more node groups: another plan, to be looked at or taken.

    what_if(plan, rows_factor=2.0, groups=1)          # twice the rows, on one node group more

The rows come first, so that the tables are reorganised with all of them.
"""

from __future__ import annotations

from ndbplan.base.units import format_count, how_many
from ndbplan.edits.parts import update_each
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table


def more_rows(plan: Plan, factor: float, table_id: str | None = None) -> Plan:
    """The plan with so many times the rows in a table, or in all; counts per partition keep their shares.

    Raises EditError for a factor below 0 and for more rows than a table of the plan may have.
    """
    if factor == 1.0:
        return plan

    def times(table: Table) -> Table:
        return table.model_copy(update={"rows": round(table.rows * factor)})

    wanted = [table.id for table in plan.tables if table_id in (None, table.id)]
    return update_each(plan, dict.fromkeys(wanted, times))


def what_if(plan: Plan, rows_factor: float = 1.0, groups: int = 0, table_id: str | None = None) -> Plan:
    """The plan with more rows, then with more node groups and its tables reorganised over them.

    Raises UserError where node groups cannot be added online, or no more of them.
    """
    changed = more_rows(plan, rows_factor, table_id)
    return Estimation(changed).reorganise(groups).plan_after if groups else changed


def title_of(rows_factor: float, groups: int, table: str = "") -> str:
    """What such a change is called in the history: `2 times the rows of shop.orders, 1 more node group`."""
    parts = []
    if rows_factor != 1.0:
        parts.append(f"{format_count(rows_factor)} times the rows{f' of {table}' if table else ''}")
    if groups:
        parts.append(how_many(groups, "more node group"))
    return ", ".join(parts)
