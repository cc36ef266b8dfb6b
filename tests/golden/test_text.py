"""Results as text: nothing that matters is lost, and rounding is no difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.kept import Wrong, differences
from golden.text import digest, lines_of, same

NUMBERS = st.floats(1e-6, 1e12) | st.floats(-1e12, -1e-6)


@given(NUMBERS, st.floats(1.0001, 1.02))
def test_a_factor_of_a_hundredth_of_a_percent_shows(number: float, factor: float) -> None:
    quantity = {"value": number, "low": number, "high": number, "unit": "s"}
    (before,) = lines_of(quantity, "x")
    (now,) = lines_of({**quantity, "high": number * factor}, "x")
    assert not same(before, now)


@given(NUMBERS)
def test_rounding_does_not(number: float) -> None:
    (before,), (now,) = lines_of(number, "x"), lines_of(number * (1 + 1e-9), "x")
    assert same(before, now)


@given(st.lists(st.floats(1, 1e6), min_size=9, max_size=60), st.data())
def test_one_other_number_in_a_long_list_shows(numbers: list[float], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(numbers) - 1))
    changed = [*numbers[:place], numbers[place] + max(numbers), *numbers[place + 1 :]]
    assert not same(digest("x", numbers), digest("x", changed))


@given(st.lists(st.text("ab", max_size=3), min_size=9, max_size=40), st.data())
def test_one_other_text_in_a_long_list_shows(texts: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(texts) - 1))
    changed = [*texts[:place], "other", *texts[place + 1 :]]
    assert digest("x", texts) != digest("x", changed)


def test_every_leaf_has_a_line() -> None:
    shape = {
        "a": {"b": 1, "c": [1.5, 2.5]},
        "q": {"value": 2.0, "low": 1.0, "high": 3.0, "unit": "bytes"},
        "rows": [{"n": 1, "t": "x\ny"}, {"n": None, "t": True}],
        "none": {},
        "long": [{"v": i, "in": [i, i]} for i in range(9)],
    }
    assert list(lines_of(shape)) == [
        "a.b = 1",
        "a.c = [1.5, 2.5]",
        "q = 2 [1, 3] bytes",
        "rows[0].n = 1",
        'rows[0].t = "x\\ny"',
        "rows[1].n = null",
        "rows[1].t = true",
        "none = {}",
        "long: 9 entries",
        "long[*].v: 9, min 0, max 8, mean 4, last 8 | 0 1 1 2 3 4 4 5 6 7 7 8",
        "long[*].in[*]: 18, min 0, max 8, mean 4, last 8 | 0 1 1 2 3 4 4 5 6 7 7 8",
    ]


def test_differences_name_plan_file_and_both_lines() -> None:
    before = {"a.txt": ["x = 1", "y = 2.00000000"], "gone.txt": []}
    now = {"a.txt": ["x = 2", "y = 2.00000001"]}
    assert list(differences("plan", before, now)) == [
        "plan/a.txt:",
        "  - x = 1",
        "  + x = 2",
        "plan/gone.txt: is no longer made",
    ]


def test_a_line_that_came_in_between_is_the_only_difference() -> None:
    before, now = {"a": ["x = 1", "z = 3"]}, {"a": ["x = 1", "y = 2", "z = 3"]}
    assert list(differences("p", before, now)) == ["p/a:", "  + y = 2"]


@pytest.mark.parametrize(
    ("line", "is_about"),
    [("redo.nodes[3].fill = 0.5 s", True), ("redo.nodes[3].part = 1", False), ("xredo.nodes[3].fill", False)],
)
def test_known_wrong_lines_are_found_by_their_path(line: str, is_about: bool) -> None:
    wrong = Wrong("star*", "estimate.txt", "redo.nodes[*].fill", "why", "until")
    assert wrong.is_about("starter", "estimate.txt", line) is is_about
