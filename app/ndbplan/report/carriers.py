"""Files that carry a plan: how each kind is read.

carrier, evidence = inside(content, "report.pdf")
carrier.seen(content, is_picture=False)      # what its reader sees
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ndbplan.report.evidence import EvidenceError
from ndbplan.report.pictures import pdf_pieces, png_evidence, png_pieces, svg_evidence, svg_pieces
from ndbplan.report.visible import Piece, evidence_in, pieces_of


@dataclass(frozen=True)
class Carrier:
    """A kind of file that reports are written in."""

    suffix: str
    begins: tuple[bytes, ...]
    evidence: Callable[[bytes], str | None]
    """What travels inside; None: nothing."""
    pieces: Callable[[bytes], list[Piece]]
    picture: Callable[[bytes], list[Piece]] | None = None
    """The pieces of a picture of the canvas, where they are others than those of a report."""

    def seen(self, content: bytes, *, is_picture: bool) -> list[Piece]:
        """What the reader of a report, or of a picture of the canvas, sees."""
        return (self.picture or self.pieces)(content) if is_picture else self.pieces(content)


def _html_evidence(content: bytes) -> str | None:
    return evidence_in(content.decode("utf-8", "replace"))


def _html_pieces(content: bytes) -> list[Piece]:
    return pieces_of(content.decode("utf-8", "replace"))


def _pdf_evidence(content: bytes) -> str | None:
    from ndbplan.report.pdf import evidence_in as attached

    return attached(content)


def _pdf_pieces(content: bytes) -> list[Piece]:
    from ndbplan.report.pdf import pieces_of as lines_of

    return lines_of(content)


def _slides_evidence(content: bytes) -> str | None:
    from ndbplan.report.slides import evidence_in as of_slides

    return of_slides(content)


def _slides_pieces(content: bytes) -> list[Piece]:
    from ndbplan.report.slides import pieces_of as texts_of

    return texts_of(content)


CARRIERS: tuple[Carrier, ...] = (
    Carrier(".html", (b"<!doctype html", b"<!DOCTYPE html", b"<html"), _html_evidence, _html_pieces),
    Carrier(".pdf", (b"%PDF-",), _pdf_evidence, _pdf_pieces, pdf_pieces),
    Carrier(".png", (b"\x89PNG",), png_evidence, png_pieces),
    Carrier(".svg", (b"<?xml", b"<svg"), svg_evidence, svg_pieces),
    Carrier(".pptx", (b"PK",), _slides_evidence, _slides_pieces),
)


def inside(content: bytes, name: str) -> tuple[Carrier, str]:
    """The kind of a file and what travels in it. Raises EvidenceError where nothing does."""
    for carrier in CARRIERS:
        if content.startswith(carrier.begins):
            found = carrier.evidence(content)
            if found is not None:
                return carrier, found
            break
    raise EvidenceError(
        "no plan travels inside it", where=name, fix="name a report or a picture that ndbplan wrote"
    )
