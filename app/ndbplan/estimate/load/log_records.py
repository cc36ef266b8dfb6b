"""Bytes that one operation writes to the redo log, for each replica.

    operation_redo(table, OperationKind.INSERT, plan.version).value     # bytes for one row and replica

Bytes are those of the log records. What reaches the device is more by `redo_page_overhead`.
Formula: 4 * (8 + key words + attribute words + 9) for each logged operation (NDB 7.4.10, DblqhMain.cpp;
confirmed on 44 000 operations), blobs and unique indexes as measured on a running 7.4.10 cluster.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, Term, rising, total
from ndbplan.estimate.storage.column_bytes import filled, in_memory, is_blob, stored_bytes
from ndbplan.estimate.storage.rows import blob_parts, key_columns
from ndbplan.ndb.columns import BLOB_HEAD_BYTES
from ndbplan.ndb.constants import constant
from ndbplan.ndb.rows import WORD_BYTES, mean_words
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import OperationKind, Transaction

_FORMULA = "NDB source, dblqh writeLogHeader, writeKey, writeAttrinfoLab, writeCommitLog"
_BLOB_FORMULA = "measured on 7.4.10: NULL in the row, then an update of head and inline bytes, then the parts"


def _words(count: int) -> Quantity:
    return Quantity.exact(count, "words")


_NOTHING = _words(0)
_HEADER = _words(1)
"""Attribute header: id and length of one column."""
_PART_NUMBER = _words(1)
"""What the key of a blob part has beside that of its row."""
_PART_LENGTH_BYTES = 2
"""Length bytes before the data of a blob part."""
_Named = tuple[str, Quantity]
"""Bytes, and the name of what takes them."""


def _record(key: Quantity, attributes: Quantity) -> Quantity:
    """Bytes of one logged operation with this many key and attribute words."""
    head = constant("redo_header_bytes").value + constant("redo_commit_bytes").value
    return head + (key + attributes).in_unit("bytes") * WORD_BYTES


def _data_words(column: Column, version: NdbVersion) -> Quantity:
    """Words of a value that is not NULL, its length bytes included."""
    return rising(mean_words, stored_bytes(column, version).because(), unit="words")


def attribute(column: Column, version: NdbVersion) -> Quantity:
    """Attribute-info words of a column: one of header, then the value unless it is NULL."""
    if is_blob(column):
        return _HEADER
    return _HEADER + _data_words(column, version) * filled(column)


def _key(table: Table, version: NdbVersion) -> Quantity:
    return _sum(_data_words(column, version) for column in key_columns(table))


def _sum(words: Iterable[Quantity]) -> Quantity:
    return sum(words, start=_NOTHING)


def key_attributes(table: Table, version: NdbVersion) -> Quantity:
    """Attribute words of the primary key, headers included."""
    return _sum(attribute(column, version) for column in key_columns(table))


def changed_columns(table: Table, columns: Sequence[str]) -> tuple[Column, ...]:
    """Columns that an update of these changes; without names all but the primary key."""
    wanted = set(columns)
    return tuple(
        c for c in table.columns if c.name not in table.primary_key and (not wanted or c.name in wanted)
    )


def _part_bytes(table: Table, column: Column, version: NdbVersion) -> int:
    """Bytes of a full part; 0: the column has no parts."""
    return next((part.part_bytes for part in blob_parts(table, version) if part.column == column.name), 0)


def head_words(column: Column, version: NdbVersion) -> Quantity:
    """Attribute words of a blob that is not NULL: its head and what of it lies in the row."""
    form = in_memory(column, version).type

    def head(size: float) -> float:
        if not form.length_bytes:
            # Blobs of version 1 have a head and room for all bytes that may lie in the row.
            return 1 + math.ceil(form.max_bytes / WORD_BYTES)
        return 1 + math.ceil((BLOB_HEAD_BYTES + min(size, form.inline_bytes)) / WORD_BYTES)

    return rising(head, stored_bytes(column, version).because(), unit="words")


def part_heads(table: Table, version: NdbVersion) -> Quantity:
    """Attribute words of a part beside its data: the key, and two numbers with their headers."""
    return key_attributes(table, version) + _words(4)


def parts_bytes(table: Table, column: Column, version: NdbVersion, one: float) -> Quantity:
    """Bytes of the records of all parts of a value; `one`: of each, without its data and their header."""
    form, part_bytes = in_memory(column, version).type, _part_bytes(table, column, version)
    if not part_bytes:
        return Quantity.exact(0.0, "bytes")
    # Parts on disk, and all parts of version 1, are filled up to their whole size.
    is_filled = column.storage == "disk" or not form.length_bytes

    def cost(size: float) -> float:
        full, last = divmod(math.ceil(max(0.0, size - form.inline_bytes)), part_bytes)
        if is_filled:
            each = 1 + math.ceil(part_bytes / WORD_BYTES)
            return (full + (last > 0)) * (one + WORD_BYTES * each)
        sizes = [part_bytes] * full + ([last] if last else [])
        words = {size: 1 + math.ceil((_PART_LENGTH_BYTES + size) / WORD_BYTES) for size in set(sizes)}
        return sum(one + WORD_BYTES * words[size] for size in sizes)

    return rising(cost, stored_bytes(column, version).because(), unit="bytes")


def _blob_write(table: Table, column: Column, version: NdbVersion) -> list[_Named]:
    """Log of writing one blob: update of head and inline part, then its parts."""
    key = _key(table, version)
    head = _record(key, head_words(column, version))
    records = [(f"update of head and inline part of {column.name}", head * filled(column))]
    one = _record(key + _PART_NUMBER, part_heads(table, version)).value
    inserts = parts_bytes(table, column, version, one)
    if inserts.high:
        records.append((f"parts of {column.name}", inserts * filled(column)))
    return records


def _blob_delete(table: Table, column: Column, version: NdbVersion) -> list[_Named]:
    part_bytes = _part_bytes(table, column, version)
    if not part_bytes:
        return []
    form = in_memory(column, version).type
    length = stored_bytes(column, version).because()
    one = _record(_key(table, version) + _PART_NUMBER, _NOTHING).value

    def cost(size: float) -> float:
        return one * math.ceil(max(0.0, size - form.inline_bytes) / part_bytes)

    deletes = rising(cost, length, unit="bytes") * filled(column)
    return [(f"deletes of parts of {column.name}", deletes)] if deletes.high else []


def _unique_index(
    table: Table, index: Index, version: NdbVersion, changed: Sequence[Column] | None, kind: OperationKind
) -> list[_Named]:
    """Log of the hidden table of a unique index: delete of the old entry, insert of the new one."""
    if changed is not None and not {c.name for c in changed} & set(index.columns):
        return []
    columns = [table.column(name) for name in index.columns]
    present = math.prod(filled(c) for c in columns)
    key = _sum(_data_words(c, version) for c in columns)
    records: list[_Named] = []
    if kind is not OperationKind.INSERT:
        records.append((f"delete from unique index {index.name}", _record(key, _NOTHING) * present))
    if kind is not OperationKind.DELETE:
        # The entry holds the index columns and the base row's fragment and primary key, behind two bytes of
        # length when a column of that key has a length.
        has_length = any(in_memory(c, version).type.length_bytes for c in key_columns(table))
        entry = key + _words(len(columns)) + _key(table, version) + _words(2 + has_length)
        records.append((f"insert into unique index {index.name}", _record(key, entry) * present))
    return records


def _records(table: Table, kind: OperationKind, version: NdbVersion, columns: Sequence[str]) -> list[_Named]:
    """Log of the row and its blob parts, which lie together."""
    key = _key(table, version)
    blobs = [c for c in table.columns if is_blob(c)]
    if kind is OperationKind.INSERT:
        others = [c for c in table.columns if c.name not in table.primary_key]
        row = key_attributes(table, version) + _sum(attribute(c, version) for c in others)
        records = [("insert of the row", _record(key, row))]
        for blob in blobs:
            records += _blob_write(table, blob, version)
        return records
    if kind is OperationKind.UPDATE:
        changed = changed_columns(table, columns)
        plain = _sum(attribute(c, version) for c in changed if not is_blob(c))
        records = [("update of the row", _record(key, plain))]
        for blob in (c for c in changed if is_blob(c)):
            records += _blob_delete(table, blob, version) + _blob_write(table, blob, version)
        return records
    if kind is OperationKind.DELETE:
        records = [("delete of the row", _record(key, _NOTHING))]
        for blob in blobs:
            records += _blob_delete(table, blob, version)
        return records
    return []


def _stored_records(
    table: Table, kind: OperationKind, version: NdbVersion, columns: Sequence[str]
) -> list[list[_Named]]:
    """Log of the row with its blob parts, then of each unique index."""
    own = _records(table, kind, version, columns)
    changed = changed_columns(table, columns) if kind is OperationKind.UPDATE else None
    unique = [index for index in table.indexes if index.kind != "ordered"]
    if not own:
        return [[], *([] for _ in unique)]
    return [own, *(_unique_index(table, index, version, changed, kind) for index in unique)]


@kept_by_identity(size=4096)
def operation_redo(
    table: Table, kind: OperationKind, version: NdbVersion, columns: tuple[str, ...] = ()
) -> Quantity:
    """Redo log bytes of one operation on one row, for each replica.

    An insert logs every column and the primary key twice, an update the changed columns (all outside the
    primary key when `columns` is empty), a delete the key; reads, scans and NOLOGGING tables log nothing.
    Blob and unique-index operations are included. Raises KeyError for a column the table has not.
    """
    for name in columns:
        table.column(name)
    if not table.logging:
        term = Term("the table is not logged (NOLOGGING)", 0.0, "bytes", "plan")
        return Quantity.exact(0.0, "bytes", (term,))
    records = [record for stored in _stored_records(table, kind, version, columns) for record in stored]
    return _logged(table, records)


@kept_by_identity(size=4096)
def stored_redo(
    table: Table, kind: OperationKind, version: NdbVersion, columns: tuple[str, ...] = ()
) -> tuple[Quantity, ...]:
    """The same apart by where it is written: with the row, then in the hidden table of each unique index.

    A unique index is distributed by its own key, so its log goes to log parts of its own.
    """
    stored = _stored_records(table, kind, version, columns)
    if not table.logging:
        return tuple(operation_redo(table, kind, version, columns) for _ in stored)
    return tuple(_logged(table, records) for records in stored)


def _logged(table: Table, records: Sequence[_Named]) -> Quantity:
    source = _BLOB_FORMULA if any(is_blob(c) for c in table.columns) else _FORMULA
    whole = sum((size for _, size in records), start=Quantity.exact(0, "bytes"))
    return whole.because(*(Term(name, size.value, "bytes", source) for name, size in records))


def transaction_redo(tables: Iterable[Table], transaction: Transaction, version: NdbVersion) -> Quantity:
    """Redo log bytes of one transaction for each replica, over all log parts."""
    by_id = {table.id: table for table in tables}
    parts = []
    for o in transaction.operations:
        table = by_id[o.table_id]
        name = f"{o.rows:g} × {o.kind.value} on {table.full_name}"
        parts.append((name, operation_redo(table, o.kind, version, o.columns) * o.rows))
    return total(parts, "bytes")
