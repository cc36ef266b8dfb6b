"""The stored type of a column of a plan: what its declaration means in a version.

stored_type(column, plan.version).max_bytes                # of VARCHAR(64) in utf8mb4: 256
"""

from __future__ import annotations

from dataclasses import replace

from ndbplan.base.kept import kept_by_value
from ndbplan.ndb import charsets
from ndbplan.ndb.columns import COLUMN_TYPES, Declared, Storage, StoredType
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Column

_MANY_TYPES = 4096
"""Kept: more than declarations there are in a plan."""
_BLOB = Storage.BLOB
"""Thousands of columns ask for it; Python 3.11 takes its time to find a member of an enumeration."""


def stored_type(column: Column, version: NdbVersion) -> StoredType:
    """How NDB stores the values of a column; of a blob with the sizes that its comment asks for."""
    length = len(column.members) or column.length
    stored = _stored_type(column.type, length, column.scale, column.collation, version)
    if stored.storage is _BLOB and (column.blob_inline_bytes or column.blob_part_bytes):
        inline = column.blob_inline_bytes or stored.inline_bytes
        return replace(
            stored,
            max_bytes=stored.max_bytes - stored.inline_bytes + inline,
            inline_bytes=inline,
            part_bytes=column.blob_part_bytes or stored.part_bytes,
        )
    return stored


@kept_by_value(_MANY_TYPES)
def _stored_type(
    type_name: str, length: int | None, scale: int | None, collation: str | None, version: NdbVersion
) -> StoredType:
    """Kept, as thousands of columns declare few different types."""
    collation = collation or charsets.default_collation(version)
    declared = Declared(length, scale, charsets.max_char_bytes(collation))
    return COLUMN_TYPES[type_name].stored(declared, features(version))
