"""A logo for a report: from a picture file, and as writers draw it."""

from __future__ import annotations

from base64 import b64decode, b64encode
from pathlib import Path
from urllib.parse import unquote_to_bytes

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_whole

_KINDS = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}
_BEGINS = {"image/png": b"\x89PNG\r\n", "image/jpeg": b"\xff\xd8\xff"}
_MOST_BYTES = 500_000


def data_url(path: Path) -> str:
    """A picture as it stands in a document. Raises UserError for one that cannot be read, or is none."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise UserError(
            f"'{path.suffix}' is not a kind of picture that a report can have",
            where=str(path),
            fix="take a .png, .jpg or .svg",
        )
    content = read_whole(path, _MOST_BYTES)
    if not _is(kind, content):
        raise UserError("there is no picture in it", where=str(path), fix="take a .png, .jpg or .svg")
    return f"data:{kind};base64,{b64encode(content).decode()}"


def _is(kind: str, content: bytes) -> bool:
    begin = _BEGINS.get(kind)
    return content.startswith(begin) if begin else b"<svg" in content


class LogoError(UserError):
    """A logo that cannot be drawn."""

    def __init__(self) -> None:
        super().__init__("the picture cannot be drawn", where="logo", fix="take a whole .png, .jpg or .svg")


def content_of(url: str) -> bytes:
    """The bytes of a data URL. Raises LogoError."""
    head, _, data = url.partition(",")
    try:
        return b64decode(data, validate=True) if head.endswith(";base64") else unquote_to_bytes(data)
    except ValueError:
        raise LogoError from None
