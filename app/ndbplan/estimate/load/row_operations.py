"""Operations by key that one row of an operation asks of LDM threads: the row, parts of blobs, index entries.

Source: the manual and the product's NdbBlob: each part of a blob is a row of a hidden table, written and read
by its key; an update of the row's head follows the parts. Each entry of a unique index is a row of its own.
"""

from __future__ import annotations

from ndbplan.estimate.storage.column_bytes import is_blob
from ndbplan.estimate.storage.rows import blob_parts, unique_tables
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Operation, OperationKind


def write_operations(table: Table, operation: Operation, version: NdbVersion) -> float:
    """Operations that one row of an operation writes with: its own, blob heads and parts, index entries."""
    own = own_write_operations(table, operation, version)
    return own + sum(entry_write_operations(table, operation, version)) if own else 0.0


def own_write_operations(table: Table, operation: Operation, version: NdbVersion) -> float:
    """Of these those on the row and its blobs."""
    if operation.kind in (OperationKind.READ, OperationKind.SCAN):
        return 0.0
    touched = set(operation.columns) or {c.name for c in table.columns}
    count = 1.0
    parts = {part.column: part.parts_per_row for part in blob_parts(table, version)}
    for column in table.columns:
        if is_blob(column) and column.name in touched:
            share = 1.0 - column.null_fraction if column.nullable else 1.0
            if operation.kind is not OperationKind.DELETE:
                count += share
            twice = 2 if operation.kind is OperationKind.UPDATE else 1
            count += twice * parts.get(column.name, 0.0)
    return count


def entry_write_operations(table: Table, operation: Operation, version: NdbVersion) -> list[float]:
    """Entries of each unique index that one row of an operation writes: a change takes the old one away."""
    unique = unique_tables(table, version)
    if operation.kind in (OperationKind.READ, OperationKind.SCAN):
        return [0.0] * len(unique)
    touched = set(operation.columns) or {c.name for c in table.columns}
    if operation.kind is OperationKind.UPDATE:
        return [2 * one.rows_fraction if touched & set(one.index.columns) else 0.0 for one in unique]
    return [one.rows_fraction for one in unique]


def read_operations(table: Table, operation: Operation, version: NdbVersion) -> float:
    """Reads by a key for one row that is read or scanned: of blob parts, and of the row where it is read."""
    if operation.kind not in (OperationKind.READ, OperationKind.SCAN):
        return 0.0
    wanted = set(operation.columns) or {column.name for column in table.columns}
    parts = sum(part.parts_per_row for part in blob_parts(table, version) if part.column in wanted)
    return parts + (operation.kind is OperationKind.READ)
