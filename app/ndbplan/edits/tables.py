"""Edits of a table's columns and keys that other parts of the plan follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table


def put_columns(plan: Plan, table_id: str, columns: tuple[Column, ...]) -> Plan:
    """Exchange the columns of a table; keys, indexes and operations follow a column that is renamed."""
    table = _table(plan, table_id)
    names: dict[str, str] = {}
    if len(columns) == len(table.columns):
        pairs = zip(table.columns, columns, strict=True)
        names = {old.name: new.name for old, new in pairs if old.name != new.name}
    if len(names) != 1:
        return edits.update(plan, table_id, columns=columns)

    def follow(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(key, key) for key in keys)

    keys: dict[str, Any] = {
        "primary_key": follow(table.primary_key),
        "distribution_key": follow(table.distribution_key),
        "indexes": tuple(validated.changed(i, columns=follow(i.columns)) for i in table.indexes),
    }
    return edits.update(_operations_follow(plan, table_id, names), table_id, columns=columns, **keys)


def put_primary_key(plan: Plan, table_id: str, names: tuple[str, ...] | None) -> Plan:
    """Give a table another primary key; its distribution key keeps what is still part of it."""
    key = names or ()
    kept = tuple(name for name in _table(plan, table_id).distribution_key if name in key)
    return edits.update(plan, table_id, primary_key=key, distribution_key=kept)


def _table(plan: Plan, table_id: str) -> Table:
    table: Table = plan.by_id[table_id]
    return table


def _operations_follow(plan: Plan, table_id: str, names: Mapping[str, str]) -> Plan:
    """Operations of workloads that name a column that is renamed."""
    for workload in plan.workloads:
        transactions = tuple(
            t.model_copy(
                update={
                    "operations": tuple(
                        o.model_copy(update={"columns": tuple(names.get(c, c) for c in o.columns)})
                        if o.table_id == table_id and names.keys() & set(o.columns)
                        else o
                        for o in t.operations
                    )
                }
            )
            for t in workload.transactions
        )
        if transactions != workload.transactions:
            renamed = workload.model_copy(update={"transactions": transactions})
            plan = plan.replace(workloads=tuple(renamed if w is workload else w for w in plan.workloads))
    return plan
