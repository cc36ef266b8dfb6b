"""A document as PDF, set by Typst: vector drawings, bookmarks, page numbers, the bundled fonts and no others.

What travels with it is an attachment of the file. Typst is a package that holds its compiler.
"""

from __future__ import annotations

import hashlib
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ndbplan.base.letters import code_point, lacking, spelt
from ndbplan.base.resources import resource_path
from ndbplan.report.charts import spoken, svg_of
from ndbplan.report.document import (
    Block,
    Document,
    Headline,
    Line,
    LineChart,
    Listing,
    Paragraph,
    Run,
    Table,
)
from ndbplan.report.logo import LogoError, content_of
from ndbplan.report.texts import say, text
from ndbplan.report.visible import Piece, digest_of

if TYPE_CHECKING:
    from pypdf import PdfReader

ATTACHED = "ndbplan-evidence.json"
_SHORT, _LONG, _MOSTLY = 66, 60, 0.7
"""Letters of a line that fits half a page; lines, and share of short ones, of a listing in two columns."""
_SIGNS_NAMED = 6
_WIDE = 18
"""Letters of a column of words that takes part of what is left of the page."""
_LONGEST, _LONGEST_IN_CELL = 60, 24
"""Letters without a blank from which on a line may end between any two of them."""
_MAY_BREAK = "\u200b"


def pdf_of(document: Document, evidence: str, logo: str = "") -> bytes:
    """The file. `evidence` is attached; `logo`: a picture as a data URL."""
    made = _compiled(document, evidence, logo, format="pdf")
    assert isinstance(made, bytes)
    return made


def pages_of(document: Document, most: int, pixels_per_inch: float = 110.0) -> list[bytes]:
    """The first pages as PNG pictures, to look at before anything is written."""
    pages = _compiled(document, "{}", "", format="png", ppi=pixels_per_inch)
    return [pages] if isinstance(pages, bytes) else list(pages[:most])


def _compiled(document: Document, evidence: str, logo: str, **form: Any) -> Any:
    import typst

    try:
        return _set(source(document, logo), evidence, **form)
    except typst.TypstError as error:
        if logo and "image" in str(error):
            raise LogoError from None
        raise


def _set(main: str, evidence: str, **form: Any) -> Any:
    import typst

    files = {
        "main.typ": main.encode("utf-8"),
        ATTACHED: evidence.encode("utf-8"),
        "template.typ": resource_path("report/report.typ").read_bytes(),
    }
    # Its types know nothing of several files at once, which it takes by their names.
    compile_files: Any = typst.compile
    fonts = [str(resource_path("fonts"))]
    return compile_files(files, font_paths=fonts, ignore_system_fonts=True, timestamp=0, **form)


def _logo(logo: str) -> str:
    """A picture as Typst draws it. Its bytes stand in the source: files given to it by name must be text."""
    kind = logo.removeprefix("data:image/").partition(";")[0]
    form = {"jpeg": "jpg", "svg+xml": "svg"}.get(kind, kind)
    numbers = ",".join(map(str, content_of(logo)))
    return f'image(bytes(({numbers},)), format: {_string(form)}, height: 12mm, alt: "")'


def source(document: Document, logo: str = "") -> str:
    """What Typst sets. Letters that its fonts have no shape for are numbers, and the first page says so."""
    set_as_it_is = _source(document, logo)
    missing = lacking(set_as_it_is)
    if not missing:
        return set_as_it_is
    some = ", ".join(map(code_point, missing[:_SIGNS_NAMED]))
    more = f", … ({len(missing)})" if len(missing) > _SIGNS_NAMED else ""
    told = Paragraph(say("report.no_shape", signs=some + more), "warning")
    return spelt(_source(replace(document, front=(told, *document.front)), logo))


def _source(document: Document, logo: str) -> str:
    facts = document.facts
    return "\n".join(
        [
            '#import "template.typ": *',
            f"#show: report.with(title: {_string(document.title.text)}, "
            f"shown: {_string(_breaking(document.title.text))}, "
            f"about: {_content_of(document.subtitle)}, kicker: {_string(text('report.kicker'))}, "
            f"program: {_string(facts['program'])}, day: {_day(facts['date'])}, "
            f"logo: {_logo(logo) if logo else 'none'})",
            f"#pdf.attach({_string(ATTACHED)}, mime-type: \"application/json\", relationship: \"data\")",
            f"#headlines(({''.join(map(_headline, document.headlines))}))",
            *_blocks(document.front),
            *([f"#contents({_string(text('report.contents'))})"] if document.sections else []),
            *(part for section in document.sections for part in (
                f"#heading(level: 1)[{_text(section.title)}]", *_blocks(section.blocks))),
            *(f"#note[{_line(line)}]" for line in document.about),
        ]
    )  # fmt: skip


def _day(day: str) -> str:
    if not day:
        return "none"
    year, month, number = (int(part) for part in day.split("-"))
    return f"datetime(year: {year}, month: {month}, day: {number})"


def _string(words: str) -> str:
    """A text as Typst writes one."""
    parts = []
    for sign in words:
        if sign in '"\\':
            parts.append(f"\\{sign}")
        elif sign == "\n":
            parts.append("\\n")
        elif ord(sign) < 32:
            parts.append(f"\\u{{{ord(sign):x}}}")
        else:
            parts.append(sign)
    return f'"{"".join(parts)}"'


def _breaking(words: str, longest: int = _LONGEST) -> str:
    """The same, of which a name or an address that is longer than a line goes on in the next one."""
    return re.sub(rf"\S{{{longest},}}", lambda found: _MAY_BREAK.join(found[0]), words)


def _text(words: str, longest: int = _LONGEST) -> str:
    return f"#{_string(_breaking(words, longest))};"


def _run(run: Run, longest: int = _LONGEST) -> str:
    if run.kind == "code":
        return f"#raw({_string(_breaking(run.text, longest))});"
    kind = {"range": "span", "strong": "strong", "figure": "figure-text"}.get(run.kind)
    return f"#{kind}({_string(_breaking(run.text, longest))});" if kind else _text(run.text, longest)


def _line(line: Line, longest: int = _LONGEST) -> str:
    return "".join(_run(run, longest) for run in line)


def _content_of(line: Line) -> str:
    return f"[{_line(line)}]"


def _headline(one: Headline) -> str:
    span = "".join(run.text for run in one.span[1:-1])
    return f"({_string(one.title)}, {_string(one.value.text)}, {_string(span)}, {_content_of(one.about)}),"


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Paragraph):
            kind = block.kind or "plain"
            yield f"#{kind}[{_line(block.line)}]"
        elif isinstance(block, Table):
            yield _table(block)
        elif isinstance(block, Listing):
            yield f"#listing({_string(block.title)}, {_string(block.text)}, {_across(block.text)})"
        else:
            legend = ""
            if isinstance(block, LineChart) and len(block.series) > 1:
                legend = "".join(f"{_string(one.name)}, " for one in block.series)
            yield (
                f"#chart({_string(block.title)}, ({legend}), {_string(svg_of(block, alone=True))}, "
                f"{_string(spoken(block))})"
            )


def _across(words: str) -> int:
    """Columns of a listing: a long one whose lines are mostly short has two."""
    lines = words.splitlines()
    short = sum(len(line) <= _SHORT for line in lines)
    return 2 if len(lines) > _LONG and short >= _MOSTLY * len(lines) else 1


def _table(table: Table) -> str:
    heads = "".join(f"[{_text(head)}], " for head in table.heads)
    rows = "\n".join("".join(f"[{_line(cell, _LONGEST_IN_CELL)}], " for cell in row) for row in table.rows)
    sides = "".join("left, " if n in table.words else "right, " for n in range(len(table.heads)))
    return f"#rows({_string(table.title)}, ({_widths(table)}), ({sides}), ({heads}),\n({rows}))"


def _widths(table: Table) -> str:
    """Columns of long words share what numbers leave."""
    longest = [
        max([len("".join(run.text for run in row[n])) for row in table.rows], default=0)
        for n in range(len(table.heads))
    ]
    if max(longest[n] for n in table.words) <= _WIDE:
        return "".join("1fr, " if n == 0 else "auto, " for n in range(len(longest)))
    return "".join(
        f"{max(_WIDE // 2, min(60, letters))}fr, " if n in table.words else "auto, "
        for n, letters in enumerate(longest)
    )


def damaged() -> tuple[type[Exception], ...]:
    """What reading a damaged file raises: it fails in many ways."""
    from pypdf.errors import PyPdfError

    return (
        PyPdfError, zlib.error, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError,
    )  # fmt: skip


def evidence_in(content: bytes) -> str | None:
    """What is attached to a report; None: nothing, or it cannot be read."""
    from pypdf import PdfReader

    try:
        found = PdfReader(io.BytesIO(content)).attachments.get(ATTACHED)
        return found[0].decode("utf-8") if found else None
    except damaged():
        return None


def pieces_of(content: bytes) -> list[Piece]:
    """The title, the bookmarks with where they lead, and the lines of every page."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(content))
    title = reader.metadata.title if reader.metadata is not None else None
    return [
        Piece("title", "", title or ""),
        *(Piece("bookmarks", "", one) for one in _bookmarks(reader, reader.outline)),
        *(
            Piece(f"page {number}", "", line.strip())
            for number, page in enumerate(reader.pages, 1)
            for line in page.extract_text().splitlines()
            if line.strip()
        ),
    ]


def _bookmarks(reader: PdfReader, outline: list[Any]) -> Iterator[str]:
    """`Topology, page 2`, in their order."""
    for one in outline:
        if isinstance(one, list):
            yield from _bookmarks(reader, one)
        else:
            page = reader.get_destination_page_number(one)
            yield f"{one.title}, {'nowhere' if page is None else f'page {page + 1}'}"


def digest_of_pages(content: bytes) -> str:
    """SHA-256 of everything that the document says, and of all that is drawn on its pages."""
    return digest_of([*pieces_of(content), Piece("pages", "", drawing_of(content), True)])


def with_attached(page: bytes, evidence: str) -> bytes:
    """A drawn page with its evidence attached, and nothing in it that another drawing would not have."""
    from pypdf import PdfReader, PdfWriter
    from pypdf.generic import NameObject

    drawn, writer = PdfReader(io.BytesIO(page)), PdfWriter()
    for one in drawn.pages:
        resources: Any = one["/Resources"]
        for font in resources.get("/Font", {}).values():
            for kind in font["/DescendantFonts"]:
                # Qt puts letters before it that it draws by lot.
                kind["/FontDescriptor"][NameObject("/FontName")] = kind["/BaseFont"]
        writer.add_page(one)
    title = drawn.metadata.title if drawn.metadata is not None else None
    writer.metadata = {"/Title": title or "", "/Producer": "ndbplan"}
    writer.add_attachment(ATTACHED, evidence.encode("ascii"))
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def drawing_of(content: bytes) -> str:
    """SHA-256 of all that the pages are drawn with: lines, letters and the shapes of their fonts."""
    from pypdf import PdfReader

    try:
        pages = [_values(page, frozenset()) for page in PdfReader(io.BytesIO(content)).pages]
    except damaged():
        # What it shows is not what was drawn.
        return ""
    return hashlib.sha256(repr(pages).encode("utf-8")).hexdigest()


def _values(part: Any, above: frozenset[int]) -> object:
    """An object of a PDF with all that it refers to; what it lies in, and names of fonts, draw nothing."""
    from pypdf.generic import IndirectObject, StreamObject

    if isinstance(part, IndirectObject):
        return None if part.idnum in above else _values(part.get_object(), above | {part.idnum})
    if isinstance(part, list):
        return [_values(one, above) for one in part]
    if not isinstance(part, dict):
        return str(part)
    inside = [
        (str(key), shown)
        for key, value in sorted(part.items())
        if key not in ("/Parent", "/Length", "/Filter", "/FontName")
        and (shown := _values(value, above)) != []
    ]
    stream = part.get_data() if isinstance(part, StreamObject) else b""
    return inside, stream
