"""How typed letters name things: words before letters, and a slip is forgiven."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.desktop.widgets.ranking import Name, ranked, score
from ndbplan.plan.samples import sample_names

_SAMPLES = [f"Sample {name}" for name in sample_names()]


@pytest.mark.parametrize(
    ("typed", "better", "worse"),
    [
        ("sa", "Save", "Select all"),
        ("host", "host-a1", "show other stuff"),
        ("ng", "Add a node group", "Arrange"),
        ("redo", "Redo", "Rename a dog"),
        ("memory", "DataMemory", "Memorandum"),
        ("data", "Data", "DataMemory"),
        ("fit", "Fit", "Benefit"),
        ("hostb1", "host-b1", "host-c1"),
        ("node add", "Add a node group", "Add a note"),
        ("add a group", "Add a node group", "Add a rack"),
        ("node restart", "Node restart", "LogLevelNodeRestart"),
    ],
)
def test_words_win_over_letters(typed: str, better: str, worse: str) -> None:
    assert score(typed, Name(better)) > score(typed, Name(worse))


def test_what_is_called_so_wins_over_what_speaks_of_it() -> None:
    names = [
        Name("Error 1221: redo buffer full", is_sentence=True),
        Name("Sample redo-overload", is_sentence=True),
        Name("RedoOverCommitLimit"),
        Name("RedoBuffer"),
        Name("WatchDogImmediateKill"),
        Name("Failures", called="kill loss"),
        Name("MaxDiskDataLatency"),
        Name("Tables from SQL", "DDL paste"),
        Name("DataMemory"),
        Name("Error 625: data memory full", is_sentence=True),
    ]
    for typed, first in (
        ("redo", [3, 2, 1, 0]),
        ("redo buffer", [3, 0]),
        ("kill", [5, 4]),
        ("ddl", [7, 6]),
        ("data memory", [8, 9]),
        ("error 625", [9]),
    ):
        assert ranked(typed, names) == first, typed


def test_a_kind_of_things_wins_over_a_sentence_that_speaks_of_them() -> None:
    names = [Name("Add a node group", "Edit Like the last one: hosts and nodes"), Name("Add 8 cores", "host")]
    assert ranked("add host", names) == [1, 0]


def test_a_slip_means_the_word_and_not_letters_strewn_over_another() -> None:
    names = [Name(text) for text in ("Sample telecom-144", *_SAMPLES, "Save", "Simulate", "Simulation")]
    assert names[ranked("smlte", names)[0]].text == "Simulate"
    assert names[ranked("simualte", names)[0]].text == "Simulate"


def test_likeness_is_only_asked_for_where_nothing_is_called_so() -> None:
    names = [Name("Fit"), Name("Fig")]
    assert ranked("fit", names) == [0]


def test_further_words_find_it_after_its_name() -> None:
    names = [Name("Dark", "theme appearance"), Name("Theme: Light")]
    assert ranked("theme", names) == [1, 0]
    assert ranked("zebra", names) == []


@given(st.text(alphabet="abcdefgh XYZ-/", min_size=1, max_size=12))
def test_every_text_is_found_by_itself(text: str) -> None:
    assert score(text, Name(text)) > 0
    assert score(text.upper(), Name(text)) > 0


@given(st.lists(st.text(alphabet="abcd ", min_size=1, max_size=8), max_size=8), st.text("abcd ", max_size=5))
def test_what_is_ranked_is_each_once_and_nothing_typed_keeps_the_order(texts: list[str], typed: str) -> None:
    names = [Name(text) for text in texts]
    found = ranked(typed, names)
    assert len(set(found)) == len(found) <= len(names)
    assert ranked("", names) == list(range(len(names)))
