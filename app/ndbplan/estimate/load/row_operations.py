"""Operations by key that one row of an operation asks of LDM threads: the row, parts of blobs, index entries.

Source: the manual and the product's NdbBlob: each part of a blob is a row of a hidden table, written and read
by its key; an update of the row's head follows the parts. Each entry of a unique index is a row of its own.
"""

from __future__ import annotations

import math

from ndbplan.estimate.storage.column_bytes import is_blob
from ndbplan.estimate.storage.rows import blob_parts, row_layout, unique_tables
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


def disk_reads(table: Table, operation: Operation, version: NdbVersion) -> float:
    """Accesses of pages on disk for what one transaction reads or scans; those that the cache answers too.

    Columns in memory need none. A scan asks for each page that has one of its rows once: the rows lie evenly
    on the pages of the table, so it is an access a row for few rows, and each page once for a whole table.
    Parts of blobs on disk are read by their keys.

    Source: NDB, Dbtup::execACC_SCANREQ (a scan that wants columns on disk goes page by page) and Dbtup::
    load_diskpage (one that comes by an index, or a read by key, asks for the page of the row).
    """
    if operation.kind not in (OperationKind.READ, OperationKind.SCAN):
        return 0.0
    wanted = [c for c in table.columns if not operation.columns or c.name in operation.columns]
    names = {column.name for column in wanted}
    parts = [p for p in blob_parts(table, version) if p.layout.disk_words and p.column in names]
    accesses = operation.rows * sum(part.parts_per_row for part in parts)
    layout = row_layout(table, version)
    if layout.disk_words and any(column.storage == "disk" for column in wanted):
        whole = operation.kind is OperationKind.READ
        pages = table.rows / layout.rows_per_disk_page
        accesses += operation.rows if whole else pages_of_rows(operation.rows, pages)
    return accesses


def changed_blobs(table: Table, operation: Operation) -> tuple[str, ...]:
    """Columns of blobs on disk that an update changes: parts of others stay where they are."""
    return tuple(
        column.name
        for column in table.columns
        if column.storage == "disk"
        and is_blob(column)
        and (not operation.columns or column.name in operation.columns)
    )


def pages_of_rows(rows: float, pages: float) -> float:
    """How many of some pages have at least one of so many rows that lie anywhere on them."""
    if pages <= 1 or rows <= 1:
        return min(rows, 1.0)
    return -pages * math.expm1(rows * math.log1p(-1 / pages))
