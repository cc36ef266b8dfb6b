"""A logo for a report, from a picture file."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_whole

_KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}
_MOST_BYTES = 500_000


def data_url(path: Path) -> str:
    """A picture as it stands in a document. Raises UserError for one that cannot be read, or is none."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise UserError(
            f"'{path.suffix}' is no picture that a report can have",
            where=str(path),
            fix="take a .png, .jpg or .svg",
        )
    return f"data:{kind};base64,{b64encode(read_whole(path, _MOST_BYTES)).decode()}"
