"""Locks of rows under a workload: how long they are kept, and how often the most wanted row is.

    hottest_rows(plan, workload)[0]     # (table, locks per second)

Source: manual, "Limits Relating to Transaction Handling", and constants["row_lock_s"].
"""

from __future__ import annotations

from dataclasses import replace

from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.load.key_choice import hot_key
from ndbplan.estimate.loaded import rate_of
from ndbplan.estimate.storage.key_values import key_values
from ndbplan.ndb.constants import Constant
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import ClosedLoad, KeyChoice, OperationKind, Workload


def row_lock_s(plan: Plan, workload: Workload) -> Constant:
    """How long a transaction keeps a row locked; clients that state their latency keep none longer."""
    found, load = constant_for(plan, "row_lock_s"), workload.load
    if not isinstance(load, ClosedLoad) or load.latency_s <= 0:
        return found
    value, low, high = (min(load.latency_s, part) for part in (found.value, found.low, found.high))
    return replace(found, value=value, low=low, high=high)


def hottest_rows(plan: Plan, workload: Workload) -> list[tuple[Table, float]]:
    """How often per second the most wanted row of each table is locked by updates and deletes.

    Two transactions never have it at once: one waits until the other has committed. Source: manual, "Limits
    Relating to Transaction Handling" (exclusive locks of rows), and constants["row_lock_s"].
    """
    weights = sum(t.weight for t in workload.transactions)
    rate = rate_of(plan, workload)
    found: dict[str, float] = {}
    for transaction in workload.transactions:
        for operation in transaction.operations:
            table = plan.table(operation.table_id)
            if operation.kind not in (OperationKind.UPDATE, OperationKind.DELETE) or not table.rows:
                continue
            wanted = min(1.0, operation.rows * _hottest_row(plan, table, operation.choice))
            per_s = rate * transaction.weight / weights * wanted
            found[table.id] = found.get(table.id, 0.0) + per_s
    return [(plan.table(table_id), per_s) for table_id, per_s in found.items() if per_s > 0]


def _hottest_row(plan: Plan, table: Table, choice: KeyChoice) -> float:
    """Share of the accesses to a table that its most wanted row gets."""
    if choice.kind == "in_turn":
        return 0.0
    values = min(table.rows, key_values(plan.tables, table).count) or table.rows
    share = hot_key(values, choice.exponent).share if choice.kind == "power_law" else 1.0 / values
    return share * values / table.rows
