"""The main pages as slides for editing: native tables, charts and shapes, nothing drawn.

Of a long table the first rows are shown; appendices and listings stay in the document.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import takewhile
from typing import Any

from ndbplan.exporting.evidence import digest
from ndbplan.report.document import (
    BarChart,
    Block,
    Document,
    LineChart,
    Listing,
    Paragraph,
    Section,
    Table,
    TileMap,
)
from ndbplan.report.logo import LogoError, content_of
from ndbplan.report.slide_parts import (
    HEIGHT,
    MARGIN,
    WIDTH,
    Area,
    below,
    first_of,
    inches_of,
    put_bars,
    put_curves,
    put_lines,
    put_table,
    put_tiles,
    words_of,
)
from ndbplan.report.texts import text
from ndbplan.report.visible import Piece

EVIDENCE = "ndbplan/evidence.json"
_MOST_WORDS = 8
"""Paragraphs of the second slide."""
_LETTERS = 98
"""Of a line over the whole slide."""
_FIRST, _TITLE, _LINE = 1.2, 0.36, 0.33
"""Inches above the first thing of a slide, of the title of a table or drawing, and of a line."""
_GAP, _LEAST_TABLE = 0.2, 2.0
"""Inches under a table or drawing, and of a table that leaves room for what is said of it."""
_FIXED = (1980, 1, 1, 0, 0, 0)
"""The time of every file inside: the same slides are the same bytes."""
_CREATED = re.compile(rb"<dcterms:(created|modified)[^<]*</dcterms:(?:created|modified)>")


def slides_of(document: Document, evidence: str, logo: str = "") -> bytes:
    """The file. `evidence` lies inside as a file of its own; `logo`: a picture as a data URL."""
    from pptx import Presentation
    from pptx.util import Inches

    deck: Any = Presentation()
    deck.slide_width, deck.slide_height = Inches(WIDTH), Inches(HEIGHT)
    properties = deck.core_properties
    properties.title, properties.author = document.title.text, f"ndbplan {document.facts['program']}"
    day = document.facts["date"]
    properties.created = properties.modified = datetime.fromisoformat(day) if day else datetime(*_FIXED)
    _title_slide(deck, document, logo)
    _figures_slide(deck, document)
    for section in document.sections:
        if not section.appendix:
            _section_slides(deck, section)
    made = io.BytesIO()
    deck.save(made)
    return _packed(made.getvalue(), evidence.encode("utf-8"))


def _packed(content: bytes, evidence: bytes = b"") -> bytes:
    """The same archive with fixed times, inside of workbooks too, and what travels with it."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            inside = old.read(name)
            if name.endswith(".xlsx"):
                inside = _packed(inside)
            elif name == "docProps/core.xml" and not evidence:
                inside = _CREATED.sub(b"", inside)
            elif name == "[Content_Types].xml" and evidence:
                kind = b'<Default Extension="json" ContentType="application/json"/>'
                inside = inside.replace(b"<Default ", kind + b"<Default ", 1)
            new.writestr(zipfile.ZipInfo(name, _FIXED), inside, zipfile.ZIP_DEFLATED)
        if evidence:
            new.writestr(zipfile.ZipInfo(EVIDENCE, _FIXED), evidence, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _slide(deck: Any, title: str) -> Any:
    """A slide with a title and nothing else."""
    from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
    from pptx.util import Inches, Pt

    slide = deck.slides.add_slide(deck.slide_layouts[5])
    shape = slide.shapes.title
    shape.left, shape.top = Inches(MARGIN), Inches(0.35)
    shape.width, shape.height = Inches(WIDTH - 2 * MARGIN), Inches(0.75)
    shape.text_frame.text = title
    shape.text_frame.margin_left = 0
    shape.text_frame.vertical_anchor = MSO_ANCHOR.MIDDLE
    paragraph = shape.text_frame.paragraphs[0]
    paragraph.font.size, paragraph.font.bold = Pt(22), True
    paragraph.alignment = PP_ALIGN.LEFT
    return slide


def _title_slide(deck: Any, document: Document, logo: str) -> None:
    from pptx.util import Inches

    slide = deck.slides.add_slide(deck.slide_layouts[6])
    lines = [(text("report.kicker"), 14, False), (document.title.text, 40, True)]
    area = Area(MARGIN, 2.6, WIDTH - 2 * MARGIN, 2.4)
    put_lines(slide, area, [*lines, (words_of(document.subtitle), 18, False)])
    if logo and not logo.startswith("data:image/svg"):
        try:
            picture = io.BytesIO(content_of(logo))
            slide.shapes.add_picture(picture, Inches(MARGIN), Inches(0.5), height=Inches(0.9))
        except (OSError, ValueError):
            raise LogoError from None


def _figures_slide(deck: Any, document: Document) -> None:
    slide = _slide(deck, text("report.figures"))
    for number, one in enumerate(document.headlines):
        left, top = MARGIN + number % 5 * 2.45, 1.3 + number // 5 * 1.8
        about = "\n".join(filter(None, (words_of(one.span[1:-1]), words_of(one.about))))
        put_lines(
            slide,
            Area(left, top, 2.3, 1.7),
            [(one.title, 12, False), (one.value.text, 20, True), (about, 11, False)],
        )
    said = [block for block in document.front if isinstance(block, Paragraph)][:_MOST_WORDS]
    if said:
        put_lines(slide, Area(MARGIN, 5.0, WIDTH - 2 * MARGIN, 2.2), [_said(block) for block in said])


def _said(block: Paragraph) -> tuple[str, int, bool]:
    """A paragraph as a line, with its size and whether it is strong."""
    bullet = "• " if block.kind == "item" else ""
    size = {"lead": 16, "note": 12}.get(block.kind, 14)
    return f"{bullet}{words_of(block.line)}", size, block.kind == "subtitle"


def _heights(said: Sequence[Paragraph]) -> list[float]:
    """Inches that paragraphs take."""
    return [_LINE * (1 + len(_said(one)[0]) // _LETTERS) for one in said]


class _Pages:
    """The slides of a section: what still fits under what stands there does, else another one begins."""

    def __init__(self, deck: Any, title: str) -> None:
        self._deck, self._title = deck, title
        self._slide: Any = None
        self._top = _FIRST

    def _room(self, inches: float) -> Area:
        """The rest of a slide that has so much room, or of a new one."""
        if self._slide is None or (self._top > _FIRST and below(self._top).height < inches):
            self._slide, self._top = _slide(self._deck, self._title), _FIRST
        return below(self._top)

    def say(self, said: list[Paragraph], before: float = 0.0) -> None:
        """Paragraphs, together with what needs so many inches after them where all that fits a slide."""
        if not said:
            return
        lines, heights = [_said(one) for one in said], _heights(said)
        if sum(heights) + before <= below(_FIRST).height:
            self._room(sum(heights) + before)
        for line, height in zip(lines, heights, strict=True):
            area = self._room(height)
            put_lines(self._slide, area._replace(height=height), [line])
            self._top += height
        self._top += 0.08

    def put(self, block: Table | LineChart | BarChart | TileMap, after: float = 0.0) -> None:
        """A table or drawing under its title; a long table leaves so many inches for what is said of it."""
        area = self._room(_TITLE + inches_of(block))
        put_lines(self._slide, area._replace(height=_TITLE), [(block.title, 14, True)])
        self._top += _TITLE
        area = below(self._top)
        note = ""
        if isinstance(block, Table):
            rest = area.height - after - _GAP if after else 0.0
            shown, high = put_table(
                self._slide, block, area._replace(height=rest) if rest > _LEAST_TABLE else area
            )
            note = first_of(shown, len(block.rows)) if shown < len(block.rows) else ""
        elif isinstance(block, LineChart):
            high = put_curves(self._slide, block, area)
        elif isinstance(block, BarChart):
            high = put_bars(self._slide, block, area)
        else:
            high = put_tiles(self._slide, block, area)
            hosts = sum(len(tiles) for _, tiles in block.groups)
            note = "" if high else text("slides.too_many").replace("{count}", str(hosts))
        self._top += high + _GAP
        if note:
            put_lines(self._slide, Area(MARGIN, HEIGHT - 0.55, WIDTH - 2 * MARGIN, 0.35), [(note, 11, False)])


def _section_slides(deck: Any, section: Section) -> None:
    pages, waiting = _Pages(deck, section.title), list[Paragraph]()
    for number, block in enumerate(section.blocks):
        if isinstance(block, Paragraph):
            waiting.append(block)
        elif not isinstance(block, Listing):
            # A note is about what stands before it.
            notes = [one for one in waiting if one.kind == "note"]
            pages.say(notes)
            pages.say([one for one in waiting if one not in notes], _TITLE + inches_of(block))
            waiting = []
            pages.put(block, sum(_heights(_about(section.blocks[number + 1 :]))))
    pages.say(waiting)


def _about(after: Sequence[Block]) -> list[Paragraph]:
    """What is said of a block: the notes that follow, and at the end of a section all that does."""
    following = takewhile(lambda one: isinstance(one, Paragraph), after)
    said = [one for one in following if isinstance(one, Paragraph)]
    return said if len(said) == len(after) else [one for one in said if one.kind == "note"]


DAMAGED = (zipfile.BadZipFile, zlib.error, KeyError, ValueError, NotImplementedError, EOFError, OSError)
"""What reading a damaged file raises."""


def evidence_in(content: bytes) -> str | None:
    """What travels in slides; None: nothing."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.read(EVIDENCE).decode("utf-8")
    except DAMAGED:
        return None


def digest_of_slides(content: bytes) -> str:
    """SHA-256 of every part of the file, without what it carries."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [name for name in sorted(archive.namelist()) if name != EVIDENCE]
        return digest([[name, hashlib.sha256(archive.read(name)).hexdigest()] for name in parts])


_SAID = re.compile(r"<(?:a:t|c:v)>([^<]*)<")


def pieces_of(content: bytes) -> list[Piece]:
    """Every text of the slides and every value of their charts."""
    return list(_pieces(content))


def _pieces(content: bytes) -> Iterator[Piece]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            if name.startswith(("ppt/slides/slide", "ppt/charts/chart")) and name.endswith(".xml"):
                for words in _SAID.findall(archive.read(name).decode("utf-8")):
                    yield Piece(name.removeprefix("ppt/").removesuffix(".xml"), "", words)
