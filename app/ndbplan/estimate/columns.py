"""Bytes of a column's values as the API sends them: fixed sizes, lengths of variable values, blobs."""

from __future__ import annotations

import math
from functools import lru_cache

from ndbplan.estimate.quantity import Quantity, Term
from ndbplan.ndb.charsets import default_collation, max_char_bytes
from ndbplan.ndb.rowformat import BLOB_TYPES, Storage, StoredType, stored_type
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column

UNKNOWN_FILL = 0.5
"""Share of its declared length that a variable value takes when the plan does not say (assumption)."""
UNKNOWN_BLOB_BYTES = 2000
"""Mean length of a blob when the plan does not say (assumption)."""


def is_blob(column: Column) -> bool:
    """Whether the column is a BLOB, TEXT, JSON or GEOMETRY."""
    return column.type in BLOB_TYPES


@lru_cache(maxsize=4096)
def _type_of(
    type_name: str, length: int | None, scale: int | None, collation: str | None, version: NdbVersion
) -> StoredType:
    return stored_type(
        type_name, length, scale, max_char_bytes(collation or default_collation(version)), version
    )


def column_type(column: Column, version: NdbVersion) -> StoredType:
    """How NDB keeps this column."""
    return _type_of(column.type, column.length, column.scale, column.collation, version)


def stored_bytes(column: Column, version: NdbVersion) -> Quantity:
    """Bytes of a value that is not NULL, length bytes included; for a blob the whole value without its head.

    A variable value whose mean length the plan does not state counts with half of the declared length, its
    range from nothing to all of it.
    """
    kind = column_type(column, version)
    if kind.storage is Storage.BITS:
        return Quantity.exact(4 * math.ceil(kind.bits / 32), "bytes")
    if kind.storage is Storage.FIXED:
        return Quantity.exact(kind.max_bytes, "bytes")
    length_bytes = kind.length_bytes if kind.storage is Storage.VARIABLE else 0
    if column.average_bytes is not None:
        return _of_mean(column.average_bytes, length_bytes)
    if kind.storage is Storage.BLOB:
        mean, most = float(UNKNOWN_BLOB_BYTES), 10.0 * UNKNOWN_BLOB_BYTES
    else:
        mean, most = kind.max_bytes * UNKNOWN_FILL, float(kind.max_bytes)
    term = Term(
        f"mean length of {column.name}", mean, "bytes", "assumption: the plan does not state average_bytes"
    )
    return Quantity(length_bytes + mean, length_bytes, length_bytes + most, "bytes", (term,))


def _of_mean(mean: float, length_bytes: int) -> Quantity:
    term = Term("stated mean length", mean, "bytes", "plan")
    return Quantity.exact(length_bytes + mean, "bytes", (term,))


def filled(column: Column) -> float:
    """Share of rows in which the column is not NULL."""
    return 1.0 - column.null_fraction if column.nullable else 1.0
