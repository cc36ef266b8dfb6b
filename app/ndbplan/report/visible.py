"""What a reader of an HTML report sees, piece by piece: texts, drawings, and the values of charts."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

from ndbplan.exporting.evidence import digest
from ndbplan.report.evidence import CLOSING, OPENING

_SKIPPED = ("script", "style")
_SHOWN = (
    "aria-label",
    "alt",
    "data-values",
    "points",
    "d",
    "width",
    "x",
    "y",
    "title",
    "src",
    "href",
    "content",
)
_NO_END = frozenset(("meta", "img", "br", "link", "i"))


class Piece(NamedTuple):
    """A text of a file, or what a drawing shows."""

    section: str
    at: str
    """Address of the answer that it is; nothing: words, or a drawing."""
    text: str
    drawn: bool = False

    @property
    def where(self) -> str:
        """Where in the report it stands, and where the number comes from."""
        return f"{self.section}, {self.at}" if self.at else self.section


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[Piece] = []
        self.sections = ["head"]
        self.ats: list[str] = [""]
        self.skipping = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = {name: value or "" for name, value in attrs}
        if tag == "section":
            self.sections.append(known.get("id", ""))
        at = known.get("data-at", self.ats[-1])
        for name, value in known.items():
            if name in _SHOWN:
                values = value.split("|") if name == "data-values" else [value]
                numbers = known.get("data-numbers", "").split(",")
                for place, one in enumerate(values):
                    number = f"[{numbers[place]}]" if name == "data-values" and place < len(numbers) else ""
                    drawn = name != "data-values"
                    address = "" if drawn or not at else at_number(at, number)
                    self.pieces.append(Piece(self.sections[-1], address, one, drawn))
        if tag in _SKIPPED:
            self.skipping += 1
        if tag not in _NO_END:
            self.ats.append(at)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _NO_END:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _NO_END:
            return
        if tag == "section" and len(self.sections) > 1:
            self.sections.pop()
        if tag in _SKIPPED:
            self.skipping -= 1
        if len(self.ats) > 1:
            self.ats.pop()

    def handle_data(self, data: str) -> None:
        if self.skipping or not data.strip():
            return
        lines = data.splitlines() if "\n" in data else [data]
        for line in lines:
            if line.strip():
                self.pieces.append(Piece(self.sections[-1], self.ats[-1], line.strip()))


def at_number(at: str, number: str) -> str:
    """The address of one of a list: in place of `[*]`, or behind it."""
    return at.replace("[*]", number) if "[*]" in at else f"{at}{number}"


def pieces_of(html: str) -> list[Piece]:
    """Everything that a report shows, without what it carries."""
    reader = _Reader()
    reader.feed(without_evidence(html))
    reader.close()
    return reader.pieces


def without_evidence(html: str) -> str:
    """The file without what travels inside."""
    before, opening, rest = html.partition(OPENING)
    return before + rest.partition(CLOSING)[2] if opening else html


def evidence_in(html: str) -> str | None:
    """What travels inside an HTML report; None: nothing."""
    _, opening, rest = html.partition(OPENING)
    return rest.partition(CLOSING)[0] if opening else None


def digest_of(pieces: list[Piece]) -> str:
    """SHA-256 of everything that a file shows."""
    return digest([list(piece) for piece in pieces])


def digest_of_page(html: str) -> str:
    """SHA-256 of an HTML report with its styles and scripts, without what it carries."""
    return digest(without_evidence(html))
