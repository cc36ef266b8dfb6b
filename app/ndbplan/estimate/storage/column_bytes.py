"""Bytes of a column's values as operations carry them: length bytes included, blobs whole.

Sources: those of `ndb.columns`.
"""

from __future__ import annotations

from ndbplan.base.quantity import Quantity, Term
from ndbplan.estimate.storage.rows import StoredColumn, blob_mean_bytes, stored_column
from ndbplan.ndb.columns import COLUMN_TYPES, Storage
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column

DECIDES = 0.20
"""Share of a figure that rests on one assumption from which on this is said wherever the figure is."""
_UNKNOWN_AT_MOST = 10
"""Blobs of a length that nobody stated are at most so many times as long as is assumed."""
_UNKNOWN = "assumption: the plan does not state the mean length"


def is_blob(column: Column) -> bool:
    """Whether the column is a BLOB, TEXT, JSON or GEOMETRY."""
    return COLUMN_TYPES[column.type].is_blob


def filled(column: Column) -> float:
    """Share of rows in which the column is not NULL."""
    return 1.0 - column.null_fraction if column.nullable else 1.0


def in_memory(column: Column, version: NdbVersion) -> StoredColumn:
    """How the value looks in memory and in log records, wherever it is stored."""
    return stored_column(column, version, in_memory=True)


def stored_bytes(column: Column, version: NdbVersion) -> Quantity:
    """Bytes of a value that is not NULL, length bytes included; for a blob the whole value without its head.

    A length the plan does not state has the whole possible range (for a blob up to ten times the assumption).
    """
    stored = in_memory(column, version)
    if stored.type.storage is Storage.BLOB:
        mean = blob_mean_bytes(column)
        if column.average_bytes is not None:
            return Quantity.exact(mean, "bytes")
        why = (Term(f"mean length of {column.name}", mean, "bytes", _UNKNOWN),)
        most = min(_UNKNOWN_AT_MOST * mean, float(COLUMN_TYPES[column.type].most_bytes))
        return Quantity(mean, 0.0, most, "bytes", why)
    if not stored.length_is_assumed:
        return Quantity.exact(stored.mean_bytes, "bytes")
    least, most = stored.type.length_bytes, stored.type.length_bytes + stored.type.max_bytes
    why = (Term(f"mean length of {column.name}", stored.mean_bytes, "bytes", _UNKNOWN),)
    return Quantity(stored.mean_bytes, least, most, "bytes", why)


def assumed_mean_bytes(column: Column, version: NdbVersion) -> float | None:
    """Mean length that is assumed of the values of a column, in bytes; None: it is stated, or fixed."""
    if column.average_bytes is not None:
        return None
    stored = in_memory(column, version)
    if stored.type.storage is Storage.BLOB:
        return blob_mean_bytes(column)
    return stored.mean_bytes - stored.type.length_bytes if stored.length_is_assumed else None


def row_payload_bytes(columns: tuple[Column, ...], version: NdbVersion) -> Quantity:
    """Mean bytes of the values of one row in these columns, NULLs and blobs included."""
    stored = (stored_bytes(column, version).because() * filled(column) for column in columns)
    return sum(stored, start=Quantity.exact(0.0, "bytes"))
