"""Jobs that load a fixed number of rows: how many transactions they are, and how fast the loader can be.

    job_of(plan, workload).rate_per_s       transactions per second with a cluster that keeps up
    steady(plan, workload)                  the workload with the rate of its loader, for estimates

A loader is limited by its threads and by how fast its source is read; the rest is up to the cluster.

Source: arithmetic of the stated job; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, rising
from ndbplan.base.units import how_many
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.storage.column_bytes import row_payload_bytes
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import (
    ClosedLoad,
    JobLoad,
    JobTool,
    Operation,
    OperationKind,
    Transaction,
    Workload,
)

_ROWS_PER_S = {
    JobTool.NDB_IMPORT: "ndb_import_thread_rows_per_s",
    JobTool.LOAD_DATA: "load_data_thread_rows_per_s",
    JobTool.NDB_RESTORE: "ndb_restore_thread_rows_per_s",
    JobTool.PROGRAM: "program_thread_rows_per_s",
}
USUAL_BATCH = 100.0
"""Rows that loaders send in one transaction where the workload does not say [assumed]."""
_LEAST_ROWS = 1e-9
"""A transaction of a job has some rows; keeps one without any from an infinite rate."""
TOOL_NAMES = {
    JobTool.NDB_IMPORT: "ndb_import",
    JobTool.LOAD_DATA: "LOAD DATA",
    JobTool.NDB_RESTORE: "ndb_restore",
    JobTool.PROGRAM: "a program of its own",
}


@dataclass(frozen=True)
class Job:
    """A load job against the tables of a plan."""

    workload: Workload
    """The job as clients that wait for their answers, with as many threads and at the loader's rate."""
    transactions: float
    rows: tuple[tuple[str, float], ...]
    """Table id and rows that are loaded into it."""
    rate_per_s: Quantity
    """Transactions per second that the loader sends to a cluster that keeps up."""
    limited_by: tuple[Literal["loader", "source disk"], str]
    """What limits the loader by itself, and where."""

    def before(self, tables: Iterable[Table]) -> tuple[Table, ...]:
        """The tables as they are when the job begins: they hold so many rows fewer."""
        loaded = dict(self.rows)
        return tuple(
            table.model_copy(
                update={
                    "rows": max(0, table.rows - round(loaded[table.id])),
                    "partition_rows": (),
                    "partition_variable_bytes": (),
                }
            )
            if table.id in loaded
            else table
            for table in tables
        )


def _inserted(transaction: Transaction) -> dict[str, float]:
    rows: dict[str, float] = {}
    for operation in transaction.operations:
        if operation.kind is OperationKind.INSERT:
            rows[operation.table_id] = rows.get(operation.table_id, 0.0) + operation.rows
    return rows


def _only_listed(load: JobLoad, transactions: tuple[Transaction, ...]) -> tuple[Transaction, ...]:
    """The transactions with inserts into the job's tables alone; a table they leave out gets one itself."""
    listed = {part.table_id for part in load.rows}
    kept = []
    for t in transactions:
        operations = tuple(o for o in t.operations if o.table_id in listed and o.kind is OperationKind.INSERT)
        if operations:
            kept.append(t.model_copy(update={"operations": operations}))
    for table_id in sorted(listed - {k for t in kept for k in _inserted(t)}):
        insert = Operation(table_id=table_id, kind=OperationKind.INSERT, rows=USUAL_BATCH)
        kept.append(Transaction(name="load", operations=(insert,)))
    return tuple(kept)


def _runs(load: JobLoad, transactions: tuple[Transaction, ...]) -> list[float]:
    """How often each kind of transaction runs when rows of each table are stated: the rows of a table are
    split among the kinds that insert into it as the mix does."""
    stated = {part.table_id: float(part.rows) for part in load.rows}
    by_mix: dict[str, float] = {}
    for t in transactions:
        for table_id, rows in _inserted(t).items():
            by_mix[table_id] = by_mix.get(table_id, 0.0) + t.weight * rows
    return [
        max((stated[k] * t.weight / by_mix[k] for k in _inserted(t) if k in stated), default=0.0)
        for t in transactions
    ]


@kept_by_identity(size=96)
def job_of(version: NdbVersion, constants: Constants, tables: tuple[Table, ...], workload: Workload) -> Job:
    """A workload with a JobLoad as a job."""
    load = workload.load
    assert isinstance(load, JobLoad)
    by_id = {table.id: table for table in tables}
    transactions = workload.transactions
    if load.rows:
        transactions = _only_listed(load, transactions)
        runs = _runs(load, transactions)
        transactions = tuple(
            t.model_copy(update={"weight": n}) for t, n in zip(transactions, runs, strict=True) if n > 0
        )
    weights = sum(t.weight for t in transactions)
    each: dict[str, float] = {}
    for t in transactions:
        for table_id, rows in _inserted(t).items():
            each[table_id] = each.get(table_id, 0.0) + t.weight / weights * rows
    rows_each = sum(each.values())
    payload = {table_id: row_payload_bytes(by_id[table_id].columns, version).value for table_id in each}
    bytes_each = sum(rows * payload[table_id] for table_id, rows in each.items())
    if load.rows:
        count = weights
    elif load.total_bytes is not None:
        count = load.total_bytes / bytes_each if bytes_each > 0 else 0.0
    else:
        count = max((by_id[table_id].rows / rows for table_id, rows in each.items()), default=0.0)
    rate, limit = _rate(constants, load, rows_each, bytes_each)
    clients = ClosedLoad(clients=load.threads, latency_s=load.threads / rate.value)
    through = workload.through or ("sql" if load.tool is JobTool.LOAD_DATA else "api")
    as_clients = workload.model_copy(
        update={"transactions": transactions, "load": clients, "through": through}
    )
    return Job(as_clients, count, tuple((k, count * rows) for k, rows in each.items()), rate, limit)


def _rate(
    constants: Constants, load: JobLoad, rows_each: float, bytes_each: float
) -> tuple[Quantity, tuple[Literal["loader", "source disk"], str]]:
    """(transactions per second of the loader alone, what limits it)."""
    one = constants[_ROWS_PER_S[load.tool]]
    if load.rows_per_s_per_thread is not None:
        stated = Quantity.stated("rows of one thread", load.rows_per_s_per_thread, "rows/s")
        one = stated * constants["loader_rate_stated"]
    threads = Quantity.stated("threads", load.threads, "count")
    batch = Quantity.stated("rows of a transaction", rows_each, "rows")
    by_threads = (threads * one / batch.within(_LEAST_ROWS)).in_unit("tx/s")
    name = f"{TOOL_NAMES[load.tool]}, {how_many(load.threads, 'thread')}"
    source = load.source_bytes_per_s
    if source is None or bytes_each <= 0:
        return by_threads, ("loader", name)
    speed = Quantity.stated("source files are read at", source, "bytes/s")
    read = (speed / Quantity.stated("values of a transaction", bytes_each, "bytes", "formula")).in_unit(
        "tx/s"
    )
    both = rising(min, read, by_threads.named("threads alone"), unit="tx/s")
    if read.value < by_threads.value:
        return both, ("source disk", f"files of {name}")
    return both, ("loader", name)
