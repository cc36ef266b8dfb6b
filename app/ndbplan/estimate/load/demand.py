"""What a workload asks of the cluster and of each data node: operations, log, rows and bytes per second.

    loads = table_loads(tables, workload, version, by_choice=True, stored=True)
    node_loads(loads, *shares)[0].redo_bytes_per_s

The rate is the highest the workload offers. A table's operations spread over its partitions as its rows do,
unless they choose their keys otherwise (`key_choice`).

Sources: the manual on transactions for who does what (every replica writes, one reads); bytes are those of
`log_records` and `row_cost`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.units import format_percent
from ndbplan.estimate.load.backup_log import backup_log_bytes
from ndbplan.estimate.load.log_records import operation_redo, stored_redo
from ndbplan.estimate.load.row_operations import (
    changed_blobs,
    disk_reads,
    entry_write_operations,
    own_write_operations,
    read_operations,
    write_operations,
)
from ndbplan.estimate.storage.column_bytes import row_payload_bytes, stored_bytes
from ndbplan.estimate.storage.row_cost import row_cost, stored_costs
from ndbplan.estimate.storage.rows import stored_name
from ndbplan.estimate.storage.shares import NodeShare, Shares, alike
from ndbplan.estimate.storage.spread import Fullest
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import (
    EVENLY,
    ClosedLoad,
    JobLoad,
    KeyChoice,
    Load,
    Operation,
    OperationKind,
    Transaction,
    Workload,
)

_SUMMED = (*OperationKind, "operations", "read operations", "disk reads", "in", "out", "disk", "backup log")

_NO_LOG = Quantity.exact(0.0, "bytes/s")
_FASTEST_CYCLE_S = 1e-5
"""No client finishes a transaction faster; keeps a latency of nothing from asking for infinite rates."""


def offered_per_s(load: Load) -> float:
    """Highest transaction rate of a load; clients of a closed load wait for their idle latency at least.

    The rate of a job depends on its rows: ask for the load of its clients (`Job.workload`).
    """
    if isinstance(load, JobLoad):
        raise TypeError("the rate of a job depends on its rows")
    if isinstance(load, ClosedLoad):
        return load.clients / idle_cycle_s(load)
    return max(point.rate_per_s for point in load.points)


def idle_cycle_s(load: ClosedLoad) -> float:
    """Seconds from one transaction of a client to its next on an idle cluster."""
    return max(_FASTEST_CYCLE_S, load.latency_s + load.think_time_s)


def mix_of(workload: Workload) -> tuple[tuple[Transaction, float], ...]:
    """Each kind of transaction and its share of all."""
    weights = sum(t.weight for t in workload.transactions)
    return tuple((t, t.weight / weights) for t in workload.transactions)


def at_rate(workload: Workload, factor: float) -> Workload:
    """The workload with its rate (or its clients, or a loader's threads) times a factor."""
    load = workload.load
    if isinstance(load, JobLoad):
        threads = max(1, round(load.threads * factor))
        return workload.model_copy(update={"load": load.model_copy(update={"threads": threads})})
    if isinstance(load, ClosedLoad):
        clients = max(1, round(load.clients * factor))
        return workload.model_copy(update={"load": load.model_copy(update={"clients": clients})})
    points = tuple(p.model_copy(update={"rate_per_s": p.rate_per_s * factor}) for p in load.points)
    return workload.model_copy(update={"load": load.model_copy(update={"points": points})})


@dataclass(frozen=True, slots=True)
class TableLoad:
    """Operations of a workload on one table, all rates per second over the whole cluster.

    Where they are told apart by where they go (`stored_loads`, `chosen_loads`), those on the hidden table of
    a unique index are a load of their own: its rows are the entries.
    """

    table: Table
    inserts_per_s: float
    updates_per_s: float
    deletes_per_s: float
    disk_updates_per_s: float
    """Updates that change a column on disk."""
    blob_updates_per_s: tuple[tuple[str, float], ...]
    """Updates that change a blob on disk, by its column."""
    reads_per_s: float
    read_operations_per_s: float
    """Reads by a key: those of rows, and of the parts of blobs that are read or scanned."""
    scanned_rows_per_s: float
    disk_reads_per_s: float
    """Pages on disk that reads and scans ask for, whether the cache has them or not."""
    write_operations_per_s: float
    """Operations that write, those of blobs (and of unique indexes not told apart) included; a table without
    logging asks them of threads like any other."""
    redo_bytes_per_s: Quantity
    """Log records for one replica set."""
    payload_bytes_per_s: float
    """Bytes of values that clients send."""
    read_bytes_per_s: float
    """Bytes of values that clients receive."""
    backup_log_bytes_per_s: float
    """What a backup that runs logs of the changes, each once."""
    checkpoint_row_bytes: float
    """Bytes a row takes in a checkpoint, likewise."""
    choice: KeyChoice
    """How the operations choose their keys; EVENLY too when all of a table are summed up."""
    unique_index: int | None
    """Which of the table's unique indexes this is about, counted from 0; None: the table."""
    rows: float
    """Rows of the table, or entries of the index."""

    @property
    def name(self) -> str:
        """What it is about: the table, or one of its unique indexes."""
        return stored_name(self.table, self.unique_index)

    @property
    def writes_per_s(self) -> float:
        """Rows written per second, in any way."""
        return self.inserts_per_s + self.updates_per_s + self.deletes_per_s

    @property
    def rows_per_s(self) -> float:
        """Rows touched per second, in any way."""
        return self.writes_per_s + self.reads_per_s + self.scanned_rows_per_s


@dataclass(frozen=True, slots=True)
class NodeLoad:
    """What one data node has to do, per second."""

    node_id: int
    redo_bytes_per_s: Quantity
    redo_by_log_part: tuple[tuple[int, float], ...]
    """Log records per second of each log part the node writes."""
    writes_per_s: float
    """Rows written, primary and backup replicas; entries of unique indexes do not count."""
    inserts_per_s: float
    updates_per_s: float
    deletes_per_s: float
    write_operations_per_s: float
    hottest_ldm_share: float
    """Of the node's write operations what its busiest LDM thread does; more than 1 when a loader comes to
    the node for a while only."""
    hottest_reading_ldm_share: float
    """The same of reads and scans."""
    hottest_ldm_range: tuple[float, float]
    """Ends of that share as factors: what chance makes of it when the values of the keys are not known."""
    hottest_log_part_range: tuple[float, float]
    """The same of the log part that is written fastest; of a loader the upper end: while it writes there."""
    reads_per_s: float
    read_operations_per_s: float
    """Those, and the parts of blobs, each of which is read by its key."""
    scanned_rows_per_s: float
    write_payload_bytes_per_s: float
    read_payload_bytes_per_s: float
    backup_log_bytes_per_s: float
    """What a backup that runs logs of the changes here: each on the node that has the primary replica."""
    inserted_checkpoint_bytes_per_s: float
    """Bytes that inserted rows take in a checkpoint."""
    first: NodeLoad | None = field(default=None, compare=False, repr=False)
    """The first node that has the same to do; None: this is the one."""

    @property
    def alike(self) -> NodeLoad:
        """One and the same object for all nodes with this load: what is computed of it holds for all."""
        return self.first or self

    @property
    def hottest_log_part(self) -> tuple[int, float]:
        """(log part, bytes per second) of the part that is written fastest."""
        return max(self.redo_by_log_part, key=lambda item: item[1], default=(0, 0.0))


class _Target(NamedTuple):
    """What operations are summed up for."""

    table_id: str
    choice: KeyChoice
    unique_index: int | None


class _Rates:
    """Sums of the operations on one target, per second."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = dict.fromkeys(_SUMMED, 0.0)
        self.blobs: dict[str, float] = {}
        self.redo = _NO_LOG
        self.why: list[Term] = []

    def log(self, name: str, rows_per_s: float, one: Quantity) -> None:
        """Add the log of so many rows."""
        self.redo += (one.because() * rows_per_s).in_unit("bytes/s")
        if one.value:
            rows = Term("rows per second", rows_per_s, "rows/s", "plan")
            each = one.as_term("log of one row")
            self.why.append(Term(name, rows_per_s * one.value, "bytes/s", "formula", (rows, each)))

    def entries(self, operation: Operation, count_per_s: float) -> None:
        """Add entries of a unique index: a change of one is a delete and an insert."""
        half = count_per_s / 2 if operation.kind is OperationKind.UPDATE else count_per_s
        if operation.kind is not OperationKind.DELETE:
            self.sums[OperationKind.INSERT] += half
        if operation.kind is not OperationKind.INSERT:
            self.sums[OperationKind.DELETE] += half
        self.sums["operations"] += count_per_s


@kept_by_identity(size=64)
def table_loads(
    tables: tuple[Table, ...],
    workload: Workload,
    version: NdbVersion,
    by_choice: bool = False,
    stored: bool = False,
) -> tuple[TableLoad, ...]:
    """What a workload, which is not a job, does to each table it touches, over the whole cluster.

    `stored`: apart from each unique index, as both lie in fragments of their own; `by_choice`: apart for
    each way of choosing keys too.
    """
    by_id = {table.id: table for table in tables}
    rate = offered_per_s(workload.load)
    weights = sum(t.weight for t in workload.transactions)
    rates_of: dict[_Target, _Rates] = {}
    for transaction in workload.transactions:
        per_s = rate * transaction.weight / weights
        for operation in transaction.operations:
            table = by_id[operation.table_id]
            rows_per_s = per_s * operation.rows
            target = _Target(table.id, operation.choice if by_choice else EVENLY, None)
            rates = rates_of.setdefault(target, _Rates())
            sums = rates.sums
            sums[operation.kind] += rows_per_s
            if operation.kind is OperationKind.UPDATE and _changes_disk(table, operation):
                sums["disk"] += rows_per_s
                for name in changed_blobs(table, operation):
                    rates.blobs[name] = rates.blobs.get(name, 0.0) + rows_per_s
            sums["read operations"] += rows_per_s * read_operations(table, operation, version)
            sums["disk reads"] += per_s * disk_reads(table, operation, version)
            payload = _payload_bytes(table, operation, version)
            sums["out" if operation.kind in (OperationKind.READ, OperationKind.SCAN) else "in"] += (
                rows_per_s * payload
            )
            kept = backup_log_bytes(table, operation.kind, version, operation.columns)
            sums["backup log"] += rows_per_s * kept
            name = f"{operation.kind.value} on {table.full_name}, {transaction.name}"
            if not stored:
                sums["operations"] += rows_per_s * write_operations(table, operation, version)
                rates.log(name, rows_per_s, operation_redo(table, operation.kind, version, operation.columns))
                continue
            own, *indexes = stored_redo(table, operation.kind, version, operation.columns)
            sums["operations"] += rows_per_s * own_write_operations(table, operation, version)
            rates.log(name, rows_per_s, own)
            entries = entry_write_operations(table, operation, version)
            for i, (one, count) in enumerate(zip(indexes, entries, strict=True)):
                if count:
                    # Whatever rows are chosen, the values of a unique index are all different.
                    hidden = rates_of.setdefault(_Target(table.id, EVENLY, i), _Rates())
                    hidden.entries(operation, rows_per_s * count)
                    hidden.log(f"{stored_name(table, i)}: {name}", rows_per_s, one)
    return tuple(
        _table_load(by_id[target.table_id], target, rates, version, stored)
        for target, rates in rates_of.items()
    )


def _table_load(table: Table, target: _Target, rates: _Rates, version: NdbVersion, stored: bool) -> TableLoad:
    sums, at = rates.sums, target.unique_index
    rows, cost = float(table.rows), row_cost(table, version)
    each = 1.0
    if stored:
        cost = stored_costs(table, version)[0 if at is None else at + 1]
    if at is not None:
        # Costs are those of a row of the table, which has an entry in the index or not.
        each = cost.rows or 1.0
        rows *= cost.rows
    return TableLoad(
        table=table,
        inserts_per_s=sums[OperationKind.INSERT],
        updates_per_s=sums[OperationKind.UPDATE],
        deletes_per_s=sums[OperationKind.DELETE],
        disk_updates_per_s=sums["disk"],
        blob_updates_per_s=tuple(rates.blobs.items()),
        reads_per_s=sums[OperationKind.READ],
        read_operations_per_s=sums["read operations"],
        scanned_rows_per_s=sums[OperationKind.SCAN],
        disk_reads_per_s=sums["disk reads"],
        write_operations_per_s=sums["operations"],
        redo_bytes_per_s=rates.redo.because(*rates.why),
        payload_bytes_per_s=sums["in"],
        read_bytes_per_s=sums["out"],
        backup_log_bytes_per_s=sums["backup log"],
        checkpoint_row_bytes=cost.checkpoint_bytes / each,
        choice=target.choice,
        unique_index=at,
        rows=rows,
    )


def _changes_disk(table: Table, operation: Operation) -> bool:
    on_disk = {c.name for c in table.columns if c.storage == "disk"}
    return bool(on_disk & set(operation.columns) if operation.columns else on_disk)


def _payload_bytes(table: Table, operation: Operation, version: NdbVersion) -> float:
    key = tuple(c for c in table.columns if c.name in table.primary_key)
    if operation.kind is OperationKind.DELETE:
        return sum(stored_bytes(c, version).value for c in key)
    columns = table.columns
    if operation.columns:
        columns = tuple(c for c in table.columns if c.name in operation.columns or c in key)
    return row_payload_bytes(columns, version).value


@kept_by_identity(size=64)
def node_loads(loads: tuple[TableLoad, ...], *held: Shares) -> tuple[NodeLoad, ...]:
    """Load of every data node that gets some, by node id. `held`: of each load, what of it each node gets."""
    whole = [load.redo_bytes_per_s.as_term(f"log of {load.name}, whole cluster") for load in loads]
    by_node: dict[int, NodeLoad] = {}
    for own, node_ids in alike(held):
        sums = _Sums()
        for load, share, log in zip(loads, own, whole, strict=True):
            if share is not None:
                sums.add(load, share, log)
        first = sums.node_load(node_ids[0])
        by_node[first.node_id] = first
        by_node.update({i: replace(first, node_id=i, first=first) for i in node_ids[1:]})
    return tuple(by_node[node_id] for node_id in sorted(by_node))


class _Sums:
    """Adds up the loads of one node."""

    def __init__(self) -> None:
        self.redo = [0.0, 0.0, 0.0]
        self.terms: list[Term] = []
        self.parts: dict[int, float] = {}
        self.ldms: dict[int, float] = {}
        self.reading: dict[int, float] = {}
        self.fullest_part, self.fullest_ldm = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        self.moving = self.moving_reads = 0.0
        self.operations = 0.0
        self.inserts = self.updates = self.deletes = self.operations = 0.0
        self.reads = self.read_operations = self.scanned = self.payload_in = self.payload_out = 0.0
        self.backup_log = self.grown = 0.0

    def add(self, load: TableLoad, share: NodeShare, whole: Term) -> None:
        """Add what one table asks of the node; `whole`: its log over all nodes, as a term."""
        redo = load.redo_bytes_per_s
        if redo.value:
            # Once for each table and node: numbers, not quantities, for speed.
            self.redo[0] += share.replicas * redo.value
            self.redo[1] += share.replicas * redo.low
            self.redo[2] += share.replicas * redo.high
            for part, fraction in share.by_log_part:
                self.parts[part] = self.parts.get(part, 0.0) + fraction * redo.value
            fullest = share.fullest_log_part
            if share.at_once:
                mean = max((fraction for _, fraction in share.by_log_part), default=0.0)
                fullest = Fullest(mean, mean, max(mean, fullest.value))
            _add(self.fullest_part, redo.value, fullest)
            name = f"log of {load.name}, {format_percent(share.replicas)} of the rows"
            self.terms.append(Term(name, share.replicas * redo.value, "bytes/s", "distribution", (whole,)))
        _add(self.fullest_ldm, load.write_operations_per_s, share.fullest_ldm)
        read = load.reads_per_s + load.scanned_rows_per_s
        if share.at_once:
            # A loader comes to each LDM thread in turn, and may be at the one that has most other work.
            self.moving += share.fullest_ldm.value * load.write_operations_per_s
            self.moving_reads += share.fullest_reading_ldm.value * read
        else:
            for ldm, fraction in share.by_ldm:
                busy = fraction * load.write_operations_per_s
                self.ldms[ldm] = self.ldms.get(ldm, 0.0) + busy
            for ldm, fraction in share.reads_by_ldm:
                self.reading[ldm] = self.reading.get(ldm, 0.0) + fraction * read
        if load.unique_index is None:
            self.inserts += share.replicas * load.inserts_per_s
            self.updates += share.replicas * load.updates_per_s
            self.deletes += share.replicas * load.deletes_per_s
        self.operations += share.replicas * load.write_operations_per_s
        self.reads += share.reads * load.reads_per_s
        self.read_operations += share.reads * load.read_operations_per_s
        self.scanned += share.reads * load.scanned_rows_per_s
        self.payload_in += share.primaries * load.payload_bytes_per_s
        self.payload_out += share.reads * load.read_bytes_per_s
        self.backup_log += share.primaries * load.backup_log_bytes_per_s
        self.grown += share.replicas * load.inserts_per_s * load.checkpoint_row_bytes

    def node_load(self, node_id: int) -> NodeLoad:
        log, *ends = self.redo
        operations, read = self.operations, self.reads + self.scanned
        busiest = max(self.ldms.values(), default=0.0) + self.moving
        reading = max(self.reading.values(), default=0.0) + self.moving_reads
        return NodeLoad(
            node_id=node_id,
            redo_bytes_per_s=Quantity.spanning(log, ends, "bytes/s", self.terms),
            redo_by_log_part=tuple(sorted(self.parts.items())),
            writes_per_s=self.inserts + self.updates + self.deletes,
            inserts_per_s=self.inserts,
            updates_per_s=self.updates,
            deletes_per_s=self.deletes,
            write_operations_per_s=self.operations,
            hottest_ldm_share=busiest / operations if operations else 0.0,
            hottest_reading_ldm_share=reading / read if read else 0.0,
            hottest_ldm_range=_ends(self.fullest_ldm),
            hottest_log_part_range=_ends(self.fullest_part),
            reads_per_s=self.reads,
            read_operations_per_s=self.read_operations,
            scanned_rows_per_s=self.scanned,
            write_payload_bytes_per_s=self.payload_in,
            read_payload_bytes_per_s=self.payload_out,
            backup_log_bytes_per_s=self.backup_log,
            inserted_checkpoint_bytes_per_s=self.grown,
        )


def _add(sums: list[float], amount: float, share: Fullest) -> None:
    """The fullest places of all tables meet, as those of tables with one distribution key do."""
    for i, part in enumerate(share):
        sums[i] += amount * part


def _ends(sums: list[float]) -> tuple[float, float]:
    value, low, high = sums
    return (low / value, high / value) if value > 0 else (1.0, 1.0)
