"""Files that carry a plan: how each kind is read.

carrier, evidence = inside(content, "report.pdf")
carrier.seen(content, is_picture=False)      # what its reader sees
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ndbplan.report.evidence import EvidenceError
from ndbplan.report.pictures import pdf_pieces, png_evidence, png_pieces, svg_evidence, svg_pieces
from ndbplan.report.visible import Piece, digest_of, digest_of_page, evidence_in, pieces_of


@dataclass(frozen=True)
class Carrier:
    """A kind of file that reports are written in."""

    suffix: str
    begins: tuple[bytes, ...]
    evidence: Callable[[bytes], str | None]
    """What travels inside; None: nothing."""
    pieces: Callable[[bytes], list[Piece]]
    whole: Callable[[bytes], str] | None = None
    """SHA-256 of all of a report, however it shows it."""
    picture: Callable[[bytes], list[Piece]] | None = None
    """The pieces of a picture of the canvas, where they are others than those of a report."""

    def seen(self, content: bytes, *, is_picture: bool) -> list[Piece]:
        """What the reader of a report, or of a picture of the canvas, sees. Raises EvidenceError."""
        return (self.picture or self.pieces)(content) if is_picture else self.pieces(content)

    def digest(self, content: bytes, *, is_picture: bool) -> str:
        """Of all of it but what it carries: what the file itself states where its plan stays out."""
        if is_picture or self.whole is None:
            return digest_of(self.seen(content, is_picture=is_picture))
        return self.whole(content)


def _damaged(kind: str) -> EvidenceError:
    return EvidenceError(
        "what it shows cannot be read: it is damaged", where=kind, fix="take the file as it was made"
    )


def _html_evidence(content: bytes) -> str | None:
    return evidence_in(content.decode("utf-8", "replace"))


def _html_pieces(content: bytes) -> list[Piece]:
    return pieces_of(content.decode("utf-8", "replace"))


def _pdf_evidence(content: bytes) -> str | None:
    from ndbplan.report.pdf import evidence_in as attached

    return attached(content)


def _pdf_pieces(content: bytes) -> list[Piece]:
    from ndbplan.report.pdf import damaged
    from ndbplan.report.pdf import pieces_of as lines_of

    try:
        return lines_of(content)
    except damaged():
        raise _damaged("PDF") from None


def _slides_evidence(content: bytes) -> str | None:
    from ndbplan.report.slides import evidence_in as of_slides

    return of_slides(content)


def _slides_pieces(content: bytes) -> list[Piece]:
    from ndbplan.report.slides import DAMAGED
    from ndbplan.report.slides import pieces_of as texts_of

    try:
        return texts_of(content)
    except DAMAGED:
        raise _damaged("slides") from None


def _html_whole(content: bytes) -> str:
    return digest_of_page(content.decode("utf-8", "replace"))


def _pdf_whole(content: bytes) -> str:
    from ndbplan.report.pdf import damaged, digest_of_pages

    try:
        return digest_of_pages(content)
    except damaged():
        raise _damaged("PDF") from None


def _slides_whole(content: bytes) -> str:
    from ndbplan.report.slides import DAMAGED, digest_of_slides

    try:
        return digest_of_slides(content)
    except DAMAGED:
        raise _damaged("slides") from None


CARRIERS: tuple[Carrier, ...] = (
    Carrier(
        ".html", (b"<!doctype html", b"<!DOCTYPE html", b"<html"), _html_evidence, _html_pieces, _html_whole
    ),
    Carrier(".pdf", (b"%PDF-",), _pdf_evidence, _pdf_pieces, _pdf_whole, pdf_pieces),
    Carrier(".png", (b"\x89PNG",), png_evidence, png_pieces),
    Carrier(".svg", (b"<?xml", b"<svg"), svg_evidence, svg_pieces),
    Carrier(".pptx", (b"PK",), _slides_evidence, _slides_pieces, _slides_whole),
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
