"""NDB_COLUMN in the comment of a column: how much of a BLOB lies in its row, and how large its parts are."""

from __future__ import annotations

import re
from typing import NamedTuple

from ndbplan.base.units import whole_number
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import INLINE_BYTES_MOST

_COMMENT = re.compile(r"NDB_COLUMN\s*=\s*([^;]*)")
_INLINE = re.compile(r"BLOB_INLINE_SIZE\s*=\s*([0-9]{1,12})")
_LARGEST = re.compile(r"MAX_BLOB_PART_SIZE(?!\s*=\s*0)")


class BlobSizes(NamedTuple):
    """What a comment says of a BLOB."""

    fields: dict[str, int]
    """Of Column."""
    lost: tuple[tuple[str, str], ...]
    """What does not count, and why."""


def blob_sizes(type_name: str, comment: str, version: NdbVersion) -> BlobSizes:
    """What the comment of a column says of its sizes."""
    fields, lost = dict[str, int](), list[tuple[str, str]]()
    match, kind, known = _COMMENT.search(comment), COLUMN_TYPES[type_name], features(version)
    if match is None:
        return BlobSizes(fields, ())
    if not kind.has_parts:
        clause = f"NDB_COLUMN={match[1].strip()[:60]}"
        return BlobSizes(fields, ((clause, f"{type_name.upper()} has no parts"),))
    unknown = f"NDB {version} is not known to have it in comments"
    inline = _INLINE.search(match[1])
    # 0 is the size of the type.
    if inline and (size := whole_number(inline[1])):
        if not known.blob_inline_by_comment:
            lost.append((f"BLOB_INLINE_SIZE={size}", unknown))
        elif size > INLINE_BYTES_MOST:
            lost.append((f"BLOB_INLINE_SIZE={size}", f"servers refuse more than {INLINE_BYTES_MOST}"))
        else:
            fields["blob_inline_bytes"] = size
    if kind.parts_grow and _LARGEST.search(match[1]):
        if known.blob_parts_by_comment:
            fields["blob_part_bytes"] = known.blob_part_bytes_most
        else:
            lost.append(("MAX_BLOB_PART_SIZE", unknown))
    return BlobSizes(fields, tuple(lost))
