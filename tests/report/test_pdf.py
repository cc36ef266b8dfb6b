"""The PDF: pages, bookmarks, embedded fonts of ours only, its figures as text, the plan attached."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import pikepdf
import pytest
from pdfminer.high_level import extract_pages, extract_text
from pdfminer.layout import LTChar
from pypdf import PdfReader

from ndbplan.base.resources import resource_path
from ndbplan.report.document import Paragraph, Run, Section, Table
from ndbplan.report.pdf import source
from ndbplan.report.verify import verify
from ndbplan.report.write import write
from report.conftest import Example, without


@pytest.fixture(scope="module")
def content(example: Example) -> bytes:
    return write(example.made, ".pdf")


def test_pages_bookmarks_and_properties(example: Example, content: bytes) -> None:
    with pikepdf.open(io.BytesIO(content)) as pdf:
        assert len(pdf.pages) > 5
        with pdf.open_outline() as outline:
            assert [one.title for one in outline.root] == [s.title for s in example.made.document.sections]
        assert str(pdf.docinfo["/Title"]) == example.made.document.title.text
        assert str(pdf.docinfo["/CreationDate"]).startswith("D:20260509")
        assert [*pdf.attachments] == ["ndbplan-evidence.json"]


def _fonts(content: bytes) -> set[str]:
    """Families of the fonts of a file, each of which is inside it."""
    names = set()
    with pikepdf.open(io.BytesIO(content)) as pdf:
        for one in pdf.objects:
            if isinstance(one, pikepdf.Dictionary) and one.get("/Type") == "/FontDescriptor":
                assert one.keys() & {"/FontFile", "/FontFile2", "/FontFile3"}
                names.add(str(one["/FontName"]).partition("+")[2].partition("-")[0])
    return names


def test_every_font_is_embedded_and_ours(content: bytes) -> None:
    assert _fonts(content) == {"Inter", "JetBrainsMono"}


def test_drawings_are_vectors(content: bytes) -> None:
    with pikepdf.open(io.BytesIO(content)) as pdf:
        images = [
            one for one in pdf.objects if isinstance(one, pikepdf.Stream) and one.get("/Subtype") == "/Image"
        ]
    assert images == []


def test_the_text_holds_the_figures(example: Example, content: bytes) -> None:
    text = extract_text(io.BytesIO(content))
    for one in example.made.document.headlines:
        assert one.value.text in text, one.title


def test_it_verifies_and_a_changed_page_does_not(content: bytes) -> None:
    found = verify(content, "report.pdf")
    assert found.differ == ()
    assert found.figures > 1000
    altered = verify(_with_one_digit_swapped(content), "report.pdf")
    assert altered.differ
    assert altered.differ[0].written != altered.differ[0].computed
    assert "page 1" in altered.differ[0].where


@pytest.mark.parametrize("has_plan", [True, False])
@pytest.mark.parametrize("part", ["title", "bookmarks"])
def test_another_title_or_bookmark_is_found(
    example: Example, content: bytes, has_plan: bool, part: str
) -> None:
    made = content if has_plan else without(example, "plan", ".pdf")
    assert not verify(made, "report.pdf").differ
    with pikepdf.open(io.BytesIO(made)) as pdf:
        if part == "title":
            pdf.docinfo["/Title"] = pikepdf.String("Another cluster")
        else:
            with pdf.open_outline() as outline:
                outline.root[0].title = "Another section"
        written = io.BytesIO()
        pdf.save(written)
    differ = verify(written.getvalue(), "report.pdf").differ
    assert differ[0].where == (part if has_plan else "file")


def _with_one_digit_swapped(content: bytes) -> bytes:
    """The first page with two neighbouring glyphs of its first headline in turn."""
    with pikepdf.open(io.BytesIO(content)) as pdf:
        page = pdf.pages[0]
        commands = list(pikepdf.parse_content_stream(page))
        shown = [n for n, one in enumerate(commands) if str(one.operator) in ("Tj", "TJ")]
        for number in shown[3:12]:
            operand = commands[number].operands[0]
            pieces = operand if isinstance(operand, pikepdf.Array) else [operand]
            glyphs = bytes(pieces[0])
            if len(glyphs) >= 4 and glyphs[:2] != glyphs[2:4]:
                swapped = pikepdf.String(glyphs[2:4] + glyphs[:2] + glyphs[4:])
                if isinstance(operand, pikepdf.Array):
                    operand[0] = swapped
                else:
                    commands[number] = pikepdf.ContentStreamInstruction([swapped], commands[number].operator)
                break
        page.Contents = pdf.make_stream(pikepdf.unparse_content_stream(commands))
        written = io.BytesIO()
        pdf.save(written)
    return written.getvalue()


@pytest.mark.parametrize("broken", [b"%PDF-1.7\n", b"%PDF-1.7\n" + zlib.compress(b"x" * 100)])
def test_a_broken_file_is_refused(broken: bytes) -> None:
    from ndbplan.report.evidence import EvidenceError

    with pytest.raises(EvidenceError, match="no plan travels"):
        verify(broken, "report.pdf")


def test_letters_that_no_font_draws_are_numbers_and_told_on_the_first_page(example: Example) -> None:
    """Chinese and Arabic are drawn with fonts of ours; an emoji is its number; nothing is a box."""
    short = replace(example.made.document, front=(), sections=(), subtitle=(Run("顧客 عميل 🙂 Ελλάδα"),))
    content = write(replace(example.made, document=short), ".pdf")
    words = extract_text(io.BytesIO(content))
    assert "顧客" in words
    assert "[U+1F642] Ελλάδα" in words
    assert "written by their numbers in Unicode: U+1F642." in " ".join(words.split())
    assert _fonts(content) == {"Inter", "NotoSansArabic", "DroidSansFallback"}
    assert "U+" not in source(replace(short, subtitle=(Run("顧客 Ελλάδα"),)))


def test_the_template_names_every_font_of_ours() -> None:
    """Else the compiler takes one of its own."""
    import typst

    named = resource_path("report/report.typ").read_text("utf-8")
    own = {*typst.Fonts(include_system_fonts=False).families()}
    ours = {
        *typst.Fonts(include_system_fonts=False, font_paths=[str(resource_path("fonts"))]).families()
    } - own
    assert {"Inter", "JetBrains Mono", "Droid Sans Fallback"} <= ours
    assert [name for name in ours if f'"{name}"' not in named] == []


def test_no_name_runs_over_what_stands_beside_it_or_off_the_page(example: Example) -> None:
    """A table may be called by 64 letters, and an address in a note by any number."""
    name = "shop.a_table_with_a_name_as_long_as_a_server_takes_one_0123456789_end" * 3
    rows = tuple(((Run(name),), *(((Run("123 456 789"),),) * 7)) for _ in range(4))
    table = Table("Tables", ("Table", *(f"Figure {n}" for n in range(7))), rows)
    note = Paragraph((Run("see https://example.net/" + "a1b2c3d4" * 30),))
    sections = (Section("one", "Names", (note, table)),)
    document = replace(example.made.document, title=Run("N" * 63), front=(), sections=sections)
    made = replace(example.made, document=document)
    checked = 0
    for page in extract_pages(io.BytesIO(write(made, ".pdf"))):
        by_line: dict[float, list[LTChar]] = {}
        for one in _letters(page):
            by_line.setdefault(round(one.y0, 1), []).append(one)
        for letters in by_line.values():
            letters.sort(key=lambda one: one.x0)
            assert letters[-1].x1 < page.width - 40
            for left, right in pairwise(letters):
                assert right.x0 > left.x1 - 0.15 * left.size, (left.get_text(), right.get_text())
                checked += 1
    assert checked > 500


def _letters(part: object) -> Iterator[LTChar]:
    if isinstance(part, LTChar):
        if part.get_text().strip("\u200b \n"):
            yield part
    elif isinstance(part, Iterable):
        for one in part:
            yield from _letters(one)


@pytest.mark.parametrize("lines", [34, 36, 40])
def test_a_heading_stays_with_what_its_section_shows(example: Example, lines: int) -> None:
    """However much stands before it."""
    filler = tuple(Paragraph((Run("filler"),)) for _ in range(lines))
    table = Table("rows", ("what", "many"), tuple(((Run(f"row {n}"),), (Run("1"),)) for n in range(9)))
    sections = (
        Section("one", "Before", filler),
        Section("two", "Behind", (Paragraph((Run("a sentence"),), "lead"), table)),
    )
    made = replace(example.made, document=replace(example.made.document, front=(), sections=sections))
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(write(made, ".pdf"))).pages]
    of_heading = next(n for n, words in enumerate(pages) if "a sentence" in words)
    assert "row 0" in pages[of_heading]
    assert "Behind" in pages[of_heading]
