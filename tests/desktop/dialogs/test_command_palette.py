"""How typed letters match names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.desktop.dialogs.command_palette import score


@pytest.mark.parametrize(
    ("typed", "better", "worse"),
    [
        ("sa", "Save", "Select all"),
        ("host", "host-a1", "show other stuff"),
        ("ng", "Add a node group", "Arrange"),
        ("redo", "Redo", "Rename a dog"),
    ],
)
def test_word_starts_and_runs_of_letters_win(typed, better, worse) -> None:
    assert score(typed, better) > score(typed, worse)


def test_letters_that_are_missing_or_out_of_order_do_not_match() -> None:
    assert score("xyz", "Save") == 0
    assert score("evas", "Save") == 0


@given(st.text(alphabet="abcdefgh ", min_size=1, max_size=12))
def test_every_text_matches_itself(text) -> None:
    assert score(text, text) > 0
