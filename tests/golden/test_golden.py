"""Every command says to every kept plan what it said before."""

from __future__ import annotations

import pytest

from golden.commands import RESULTS, asked_together, names
from golden.kept import answers, differences, kept, known_wrong

ASKED = [(plan, titles) for plan in names() for titles in asked_together(plan)]


@pytest.mark.parametrize(("plan", "asked"), ASKED, ids=[f"{plan}-{titles[0]}" for plan, titles in ASKED])
def test_every_number_is_as_it_was(plan: str, asked: tuple[str, ...]) -> None:
    before = {file: lines for title in asked for file, lines in kept(plan, title).items()}
    found = list(differences(plan, before, answers(plan, asked)))
    assert not found, "\n".join(
        [
            *found,
            "If this is what you meant: `make golden`, look at its difference, and say why in the commit.",
        ]
    )


def test_no_results_of_plans_and_commands_that_are_gone() -> None:
    files = {(file.parent.name, file.stem) for file in RESULTS.glob("*/*")}
    assert files == {(plan, title) for plan, asked in ASKED for title in asked}


def test_what_is_known_to_be_wrong_is_still_there() -> None:
    """Whoever cures it takes its entry away."""
    lines = [(plan, file, line) for plan in names() for file, all_ in kept(plan).items() for line in all_]
    cured = [wrong for wrong in known_wrong() if not any(wrong.is_about(*place) for place in lines)]
    assert not cured
