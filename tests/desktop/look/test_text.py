"""Texts that have no room end between two words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QFontMetrics

from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import between_words, sentence


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=9), min_size=2, max_size=8), st.integers(40, 300))
def test_a_text_without_room_is_cut_between_words(qapp, words: list[str], width: int) -> None:
    theme.load_fonts()
    metrics, text = QFontMetrics(theme.font(13)), " ".join(words)
    if metrics.horizontalAdvance(text) <= width:
        return
    shown = between_words(text, metrics, width)
    begun = shown.removesuffix("…")
    assert shown.endswith("…")
    assert metrics.horizontalAdvance(shown) <= width
    assert text.startswith(begun)
    # One word alone that has no room is cut all the same.
    assert text[len(begun) : len(begun) + 1] in ("", " ") or " " not in begun


def test_no_comma_stands_before_the_ellipsis(qapp) -> None:
    metrics = QFontMetrics(theme.font(13))
    text = "accepted 6000, of which much waits"
    width = metrics.horizontalAdvance("accepted 6000, of…") - 8
    assert between_words(text, metrics, width) == "accepted 6000…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("test.dd has columns on disk", "test.dd has columns on disk"),
        ("data1 has too little", "data1 has too little"),
        ("mysqld 150 waits", "mysqld 150 waits"),
        ("alpha is full", "alpha is full"),
        ("alphabet is full", "Alphabet is full"),
        ("the disks are 98 % full.", "The disks are 98\N{NO-BREAK SPACE}% full."),
        ("node group 0: both nodes. It stops", "Node group 0: both nodes. It stops"),
    ],
)
def test_a_sentence_has_a_capital_and_a_name_stays_as_it_is_written(text: str, shown: str) -> None:
    assert sentence(text, ["alpha"]) == shown
