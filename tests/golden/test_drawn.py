"""Every command says to drawn plans what it said before: branches that nobody thought of."""

from __future__ import annotations

import pytest

from golden.commands import DRAWN, drawn_files, titles
from golden.kept import answers, differences, kept


@pytest.mark.parametrize(
    ("plan", "title"), [(plan, title) for plan in drawn_files() for title in titles(plan)]
)
def test_every_number_is_as_it_was(plan: str, title: str) -> None:
    found = list(differences(plan, kept(plan, title), answers(plan, [title])))
    assert not found, "\n".join([*found, f"If you meant it: tests/golden/rewrite.py {plan}"])


def test_no_results_of_plans_and_commands_that_are_gone() -> None:
    files = {(file.parent.name, file.stem) for file in DRAWN.glob("*/*")}
    assert files == {(plan, title) for plan in drawn_files() for title in titles(plan)}
