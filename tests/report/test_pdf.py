"""The PDF: pages, bookmarks, embedded fonts of ours only, its figures as text, the plan attached."""

from __future__ import annotations

import io
import zlib
from dataclasses import replace

import pikepdf
import pytest
from pdfminer.high_level import extract_text

from ndbplan.report.document import Run
from ndbplan.report.pdf import signs_without_shape, source
from ndbplan.report.verify import verify
from ndbplan.report.write import write
from report.conftest import Example


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


def test_every_font_is_embedded_and_ours(content: bytes) -> None:
    names = set()
    with pikepdf.open(io.BytesIO(content)) as pdf:
        for one in pdf.objects:
            if isinstance(one, pikepdf.Dictionary) and one.get("/Type") == "/FontDescriptor":
                assert one.keys() & {"/FontFile", "/FontFile2", "/FontFile3"}
                names.add(str(one["/FontName"]).partition("+")[2].partition("-")[0])
    assert names == {"Inter", "JetBrainsMono"}


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


def test_letters_that_no_font_draws_are_told_on_the_first_page(example: Example) -> None:
    short = replace(example.made.document, front=(), sections=())
    foreign = replace(short, subtitle=(Run("顧客 Ελλάδα Кириллица → ≥"),))
    told = "U+5BA2, U+9867"
    assert signs_without_shape("顧客 Ελλάδα Кириллица → ≥ ſ \ufffd 2×3 µ ½ ✓") == "客顧"
    assert told in source(foreign)
    assert "U+" not in source(replace(short, subtitle=(Run("Ελλάδα"),)))
