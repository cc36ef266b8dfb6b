"""Pictures of the canvas carry their plan: a text chunk of a PNG, metadata of an SVG, attached to a PDF.

content = carrying(content, ".png", plan, look="light")
evidence_in(content)
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from html import unescape

from ndbplan.exporting.evidence import NAME, SVG_CLOSING, SVG_OPENING, dumps, picture_evidence, svg_carrying
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project
from ndbplan.report.compose import Options
from ndbplan.report.evidence import carried
from ndbplan.report.visible import Piece, digest_of, pieces_of

DRAWN = "picture"
"""Section of a piece that is all that is drawn."""
_PNG = b"\x89PNG\r\n\x1a\n"


def carrying(content: bytes, suffix: str, plan: Plan, look: str, without: str = "") -> bytes:
    """The picture with its plan inside; `without` says what stays out: `prices` or `plan`."""
    project = carried(Project.of(plan), Options(without=without))
    evidence = picture_evidence(project, {"look": look}, {"without": without} if without else {})
    if evidence["plan"] is None:
        evidence["text"] = digest_of(_PIECES[suffix](content))
    return with_text(content, suffix, dumps(evidence))


def with_text(content: bytes, suffix: str, told: str) -> bytes:
    """The picture with a text inside that no viewer shows."""
    if suffix == ".png":
        inside = NAME.encode() + b"\0\0" + zlib.compress(told.encode("ascii"), 9)
        chunk = b"zTXt" + inside
        end = len(_PNG) + 25
        check = struct.pack(">I", zlib.crc32(chunk))
        return content[:end] + struct.pack(">I", len(inside)) + chunk + check + content[end:]
    if suffix == ".pdf":
        from ndbplan.report.pdf import with_attached

        return with_attached(content, told)
    return svg_carrying(content.decode("utf-8"), told).encode()


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each chunk of a PNG, as far as it can be read."""
    place = len(_PNG)
    while place + 12 <= len(content):
        length = int(struct.unpack_from(">I", content, place)[0])
        yield content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        place += length + 12


_MOST_BYTES = 100_000_000


def png_evidence(content: bytes) -> str | None:
    """What travels in a PNG; None: nothing."""
    for kind, inside in _chunks(content):
        name, _, packed = inside.partition(b"\0")
        if kind == b"zTXt" and name == NAME.encode():
            try:
                return zlib.decompressobj().decompress(packed[1:], _MOST_BYTES).decode("ascii")
            except (zlib.error, UnicodeDecodeError):
                return None
    return None


def svg_evidence(content: bytes) -> str | None:
    """What travels in an SVG; None: nothing."""
    _, opening, rest = content.decode("utf-8", "replace").partition(SVG_OPENING)
    return unescape(rest.partition(SVG_CLOSING)[0]) if opening else None


def png_pieces(content: bytes) -> list[Piece]:
    """What is drawn, as one piece."""
    pixels = b"".join(inside for kind, inside in _chunks(content) if kind in (b"IHDR", b"IDAT"))
    return [Piece(DRAWN, "", hashlib.sha256(pixels).hexdigest(), True)]


def svg_pieces(content: bytes) -> list[Piece]:
    """Every text and every line that is drawn; then all of it, with colours and sizes, as one piece."""
    before, opening, rest = content.decode("utf-8", "replace").partition(SVG_OPENING)
    drawing = before + rest.partition(SVG_CLOSING)[2] if opening else before
    return [*pieces_of(drawing), Piece(DRAWN, "", hashlib.sha256(drawing.encode()).hexdigest(), True)]


def pdf_pieces(content: bytes) -> list[Piece]:
    """What is drawn, as one piece: Qt writes figures as shapes without a text."""
    from ndbplan.report.pdf import drawing_of

    return [Piece(DRAWN, "", drawing_of(content), True)]


_PIECES = {".png": png_pieces, ".svg": svg_pieces, ".pdf": pdf_pieces}
