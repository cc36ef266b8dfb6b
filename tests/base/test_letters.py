"""Which letters the bundled fonts draw is read from the fonts themselves; the others are numbers."""

from __future__ import annotations

import pytest

from ndbplan.base.letters import beyond_inter, lacking, scripts, spelt


@pytest.mark.parametrize(
    "words",
    [
        "Ελλάδα Кириллица → ≥ ½ ✓ “…”", "顧客 汉字 漢字 かな カナ 한국어", "مرحبا", "שלום", "नमस्ते", "বাংলা",
        "தமிழ்", "ไทย", "ქართული", "Հայերեն",
    ],
)  # fmt: skip
def test_letters_of_a_bundled_font_stay(words: str) -> None:
    assert lacking(words) == ""
    assert spelt(words) == words


def test_the_others_are_written_by_their_numbers_and_signs_without_a_shape_stay() -> None:
    assert lacking("b🙃a🙂🙃") == "🙂🙃"
    assert spelt("顧客 🙂🙃\ufe0f!") == "顧客 [U+1F642 U+1F643]\ufe0f!"
    assert spelt("\u2009a\u200d\u3000") == "\u2009a\u200d\u3000"
    # Of a font's segments that have a list of shapes, one without a shape.
    assert lacking("\u05ff\u0e3b") == "\u05ff\u0e3b"


def test_fonts_of_scripts_are_asked_for_only_where_inter_has_no_letter() -> None:
    assert not beyond_inter("Ελλάδα → 2×3")
    assert beyond_inter("表")
    assert len(scripts()) > 5
