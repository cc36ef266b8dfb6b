"""Every command says to every kept plan what it said before."""

from __future__ import annotations

import pytest

from golden.commands import RESULTS, folder_of, names, titles
from golden.kept import answers, differences, kept, known_wrong


@pytest.mark.parametrize(("plan", "title"), [(plan, title) for plan in names() for title in titles(plan)])
def test_every_number_is_as_it_was(plan: str, title: str) -> None:
    found = list(differences(plan, kept(plan, title), answers(plan, [title])))
    assert not found, "\n".join(
        [
            *found,
            "If this is what you meant: `make golden`, look at its difference, and say why in the commit.",
        ]
    )


def test_no_results_of_plans_that_are_gone() -> None:
    assert {folder.name for folder in RESULTS.iterdir()} == set(names())
    for plan in names():
        assert {file.stem for file in folder_of(plan).iterdir()} == set(titles(plan))


def test_what_is_known_to_be_wrong_is_still_there() -> None:
    """Whoever cures it takes its entry away."""
    lines = [(plan, file, line) for plan in names() for file, all_ in kept(plan).items() for line in all_]
    cured = [wrong for wrong in known_wrong() if not any(wrong.is_about(*place) for place in lines)]
    assert not cured
