"""Bytes that one change of a row writes to the log of a backup that runs, on the node that saves the row.

    backup_log_bytes(table, OperationKind.UPDATE, plan.version, ("a",))      # 36: a key and one column of INT

An insert has all columns, an update the key and what it changes, a delete the key. Parts of blobs are rows of
their own; entries of unique indexes are not saved.

Source: NDB `Backup::execFIRE_TRIG_ORD`, `Backup::sendCreateTrig` (updates report changed columns alone).
"""

from __future__ import annotations

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.load.log_records import (
    attribute,
    changed_columns,
    head_words,
    key_attributes,
    part_heads,
    parts_bytes,
)
from ndbplan.estimate.storage.column_bytes import filled, is_blob
from ndbplan.estimate.storage.rows import blob_parts
from ndbplan.ndb.constants import constant
from ndbplan.ndb.rows import WORD_BYTES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column, Table
from ndbplan.plan.workloads import OperationKind


@kept_by_identity(size=4096)
def backup_log_bytes(
    table: Table, kind: OperationKind, version: NdbVersion, columns: tuple[str, ...] = ()
) -> float:
    """Mean bytes of one operation on one row; reads and scans write nothing."""
    if kind is OperationKind.INSERT:
        written = tuple(c for c in table.columns if c.name not in table.primary_key)
    elif kind is OperationKind.UPDATE:
        written = changed_columns(table, columns)
    elif kind is OperationKind.DELETE:
        return _entry(key_attributes(table, version)) + _deleted_parts(table, version)
    else:
        return 0.0
    words = sum((_words_of(column, version) for column in written), start=key_attributes(table, version))
    part = _entry(part_heads(table, version))
    blobs = (column for column in written if is_blob(column))
    return _entry(words) + sum(
        filled(column) * parts_bytes(table, column, version, part).value for column in blobs
    )


def _entry(words: Quantity) -> float:
    return constant("backup_log_entry_bytes").value + WORD_BYTES * words.value


def _words_of(column: Column, version: NdbVersion) -> Quantity:
    words = attribute(column, version)
    return words + (head_words(column, version) - words) * filled(column) if is_blob(column) else words


def _deleted_parts(table: Table, version: NdbVersion) -> float:
    """Entries of the parts of a deleted row: the key of each has the number of the part."""
    count = sum(parts.parts_per_row for parts in blob_parts(table, version))
    return count * (_entry(key_attributes(table, version)) + 2 * WORD_BYTES)
