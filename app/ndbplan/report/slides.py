"""The main pages as slides for editing: native tables and charts, nothing drawn.

Of a long table the first rows are shown; appendices and listings stay in the document.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ndbplan.report.document import BarChart, Document, Line, LineChart, Paragraph, Section, Table
from ndbplan.report.pdf import content_of
from ndbplan.report.texts import text
from ndbplan.report.visible import Piece

EVIDENCE = "ndbplan/evidence.json"
_MOST_ROWS, _MOST_COLUMNS, _MOST_BARS, _MOST_WORDS = 12, 7, 14, 8
_WIDTH, _HEIGHT, _MARGIN = 13.333, 7.5, 0.6
_FIXED = (1980, 1, 1, 0, 0, 0)
"""The time of every file inside: the same slides are the same bytes."""
_CREATED = re.compile(rb"<dcterms:(created|modified)[^<]*</dcterms:(?:created|modified)>")


def slides_of(document: Document, evidence: str, logo: str = "") -> bytes:
    """The file. `evidence` lies inside as a file of its own; `logo`: a picture as a data URL."""
    from pptx import Presentation
    from pptx.util import Inches

    deck: Any = Presentation()
    deck.slide_width, deck.slide_height = Inches(_WIDTH), Inches(_HEIGHT)
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


def _words(line: Line) -> str:
    return "".join(run.text for run in line)


def _slide(deck: Any, title: str) -> Any:
    """A slide with a title and nothing else."""
    from pptx.util import Inches, Pt

    slide = deck.slides.add_slide(deck.slide_layouts[5])
    shape = slide.shapes.title
    shape.left, shape.top = Inches(_MARGIN), Inches(0.35)
    shape.width, shape.height = Inches(_WIDTH - 2 * _MARGIN), Inches(0.8)
    shape.text_frame.text = title
    paragraph = shape.text_frame.paragraphs[0]
    paragraph.font.size, paragraph.font.bold = Pt(26), True
    _to_the_left(paragraph)
    return slide


def _to_the_left(paragraph: Any) -> None:
    from pptx.enum.text import PP_ALIGN

    paragraph.alignment = PP_ALIGN.LEFT


def _box(slide: Any, area: tuple[float, float, float, float], lines: list[tuple[str, int, bool]]) -> None:
    """Lines of text, each with its size in points and whether it is strong."""
    from pptx.util import Inches, Pt

    frame = slide.shapes.add_textbox(*(Inches(one) for one in area)).text_frame
    frame.word_wrap = True
    for number, (words, size, strong) in enumerate(lines):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text = words
        paragraph.font.size, paragraph.font.bold = Pt(size), strong


def _title_slide(deck: Any, document: Document, logo: str) -> None:
    from pptx.util import Inches

    slide = deck.slides.add_slide(deck.slide_layouts[6])
    lines = [(text("report.kicker"), 14, False), (document.title.text, 40, True)]
    _box(slide, (_MARGIN, 2.6, _WIDTH - 2 * _MARGIN, 2.4), [*lines, (_words(document.subtitle), 18, False)])
    if logo and not logo.startswith("data:image/svg"):
        slide.shapes.add_picture(
            io.BytesIO(content_of(logo)), Inches(_MARGIN), Inches(0.5), height=Inches(0.9)
        )


def _figures_slide(deck: Any, document: Document) -> None:
    slide = _slide(deck, text("report.figures"))
    for number, one in enumerate(document.headlines):
        left, top = _MARGIN + number % 5 * 2.45, 1.4 + number // 5 * 1.75
        about = "\n".join(filter(None, (_words(one.span[1:-1]), _words(one.about))))
        _box(
            slide,
            (left, top, 2.4, 1.7),
            [(one.title, 12, False), (one.value.text, 22, True), (about, 11, False)],
        )
    said = [block for block in document.front if isinstance(block, Paragraph)][:_MOST_WORDS]
    told = [(_bullet(block), 14 if block.kind == "lead" else 12, block.kind == "subtitle") for block in said]
    if told:
        _box(slide, (_MARGIN, 5.0, _WIDTH - 2 * _MARGIN, 2.2), told)


def _bullet(block: Paragraph) -> str:
    return f"{'• ' if block.kind == 'item' else ''}{_words(block.line)}"


def _section_slides(deck: Any, section: Section) -> None:
    said = [block for block in section.blocks if isinstance(block, Paragraph)]
    if said:
        slide = _slide(deck, section.title)
        lines = [(_bullet(block), 16, block.kind == "subtitle") for block in said[:_MOST_WORDS]]
        _box(slide, (_MARGIN, 1.4, _WIDTH - 2 * _MARGIN, 5.4), lines)
    for block in section.blocks:
        if isinstance(block, Table):
            _table(_slide(deck, f"{section.title}: {block.title}"), block)
        elif isinstance(block, LineChart):
            _curves(_slide(deck, f"{section.title}: {block.title}"), block)
        elif isinstance(block, BarChart):
            _bars(_slide(deck, f"{section.title}: {block.title}"), block)


def _area() -> tuple[Any, Any, Any, Any]:
    from pptx.util import Inches

    return Inches(_MARGIN), Inches(1.4), Inches(_WIDTH - 2 * _MARGIN), Inches(5.5)


def _table(slide: Any, table: Table) -> None:
    from pptx.util import Inches, Pt

    rows, columns = table.rows[:_MOST_ROWS], min(_MOST_COLUMNS, len(table.heads))
    left, top, width, _ = _area()
    shape = slide.shapes.add_table(len(rows) + 1, columns, left, top, width, Inches(0.35 * (len(rows) + 1)))
    for y, cells in enumerate(
        (table.heads[:columns], *([_words(cell) for cell in row[:columns]] for row in rows))
    ):
        for x, words in enumerate(cells[:columns]):
            cell = shape.table.cell(y, x)
            cell.text = words
            for paragraph in cell.text_frame.paragraphs:
                paragraph.font.size = Pt(12)


def _made(untyped: Any) -> Any:
    return untyped()


def _curves(slide: Any, chart: LineChart) -> None:
    from pptx.chart.data import XyChartData
    from pptx.enum.chart import XL_CHART_TYPE

    data: Any = _made(XyChartData)
    for one in chart.series:
        series = data.add_series(one.name)
        for x, y in zip(one.xs, one.ys, strict=True):
            series.add_data_point(x, y)
    made = slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER_LINES_NO_MARKERS, *_area(), data).chart
    made.has_legend = len(chart.series) > 1


def _bars(slide: Any, chart: BarChart) -> None:
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    bars = chart.bars[:_MOST_BARS][::-1]
    data: Any = _made(CategoryChartData)
    data.categories = [f"{_words(bar.label)} ({bar.value.text})" for bar in bars]
    kind = XL_CHART_TYPE.BAR_CLUSTERED
    if chart.timeline:
        # What lies before each step is a bar that is not seen.
        data.add_series("", [bar.start for bar in bars])
        kind = XL_CHART_TYPE.BAR_STACKED
    data.add_series(chart.title, [bar.size for bar in bars])
    made = slide.shapes.add_chart(kind, *_area(), data).chart
    made.has_legend = False
    made.plots[0].gap_width = 60
    if chart.timeline:
        made.plots[0].series[0].format.fill.background()


def evidence_in(content: bytes) -> str | None:
    """What travels in slides; None: nothing."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.read(EVIDENCE).decode("utf-8")
    except (zipfile.BadZipFile, KeyError, ValueError, NotImplementedError, EOFError, OSError):
        return None


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
