"""How many operations and scans are under way at coordinators, and how many may be.

Source: answers of 8.4.8 (console-8.4.8-sql: 100,000 changed rows in one transaction with
MaxNoOfConcurrentOperations=16384 are refused with 261, several such together with 234, scans beyond
MaxNoOfConcurrentScans with 245); the manual, MaxDMLOperationsPerTransaction and MaxNoOfConcurrentScans (of
each transaction coordinator). A transaction has one coordinator, whose records it takes alone: they are
not shared by the data nodes, as those of many transactions are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.load.row_operations import read_operations, write_operations
from ndbplan.ndb.threads.layout import ThreadCounts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind, Transaction


@dataclass(frozen=True)
class TransactionSize:
    """Operations of a transaction, those of blobs and of unique indexes included; rows of scans are not."""

    writes: float
    reads: float

    @property
    def operations(self) -> float:
        """Both: each has a record of the coordinator while it is under way."""
        return self.writes + self.reads

    def counted(self, *, writes_alone: bool) -> float:
        """What the limit of one transaction counts: from 8.0 on its writes (error 261)."""
        return self.writes if writes_alone else self.operations


def size_of(tables: Iterable[Table], transaction: Transaction, version: NdbVersion) -> TransactionSize:
    """Of one transaction of a workload."""
    by_id = {table.id: table for table in tables}
    writes = reads = 0.0
    for operation in transaction.operations:
        table = by_id[operation.table_id]
        writes += operation.rows * write_operations(table, operation, version)
        if operation.kind is OperationKind.READ:
            reads += operation.rows * read_operations(table, operation, version)
    return TransactionSize(writes, reads)


def operations_of_one(settings: NodeSettings) -> int:
    """How many one transaction may have on a coordinator with these settings."""
    return min(
        settings.number("MaxNoOfConcurrentOperations"), settings.number("MaxDMLOperationsPerTransaction")
    )


def scan_share(transactions: Iterable[Transaction]) -> float:
    """Share of the time of a mean transaction in which it has a scan open.

    Its statements follow one another, each with a trip of its own, and are taken to be equally long.
    """
    scans = trips = 0.0
    for transaction in transactions:
        kinds = [operation.kind for operation in transaction.operations]
        scans += transaction.weight * kinds.count(OperationKind.SCAN)
        trips += transaction.weight * len(kinds)
    return scans / trips if trips else 0.0


def scans_of_node(settings: NodeSettings, threads: ThreadCounts) -> int:
    """Scans that a data node's coordinators can have open: MaxNoOfConcurrentScans for each TC instance."""
    return settings.number("MaxNoOfConcurrentScans") * max(1, threads.tc)
