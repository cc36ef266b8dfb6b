"""Mutants are where they say, change one thing, and a few of them are noticed in the time of every run."""

from __future__ import annotations

import ast
import random
from dataclasses import replace
from pathlib import Path

import pytest

from mutants import run
from mutants.planting import planted, planted_in_constants
from mutants.reach import Choice
from mutants.server import changed_functions

SOURCE = '''
"""A text with 3 numbers."""
LIMIT: int = 7
def half(value: float, least: float = 0.5, *, up: bool = True) -> float:
    if not up and value <= LIMIT:  # 2 is no number of the program
        return max(least, value / 2 + 1)
    raise ValueError(f"{value} is above {LIMIT + 1}")
def share(part: float) -> float:
    return 1 if part > 0.5 - 1e-9 else list(zip((part,), (0.0 < part,), strict=True))
'''


def test_every_kind_of_change_is_planted_and_texts_are_left_alone() -> None:
    found = [(m.line, m.before.strip(), m.after.strip()) for m in planted(SOURCE, "x.py")]
    assert found == [
        (3, "7", "8"),
        (4, "0.5", "0.55"),
        (4, "True", "False"),
        (5, "not", ""),
        (5, "and", "or"),
        (5, "<=", "<"),
        (6, "max", "min"),
        (6, "/", "*"),
        (6, "2", "3"),
        (6, "+", "-"),
        (6, "1", "2"),
        (9, "1", "2"),
        (9, ">", ">="),
        (9, "0.5", "0.55"),
        (9, "-", "+"),
        (9, "0.0", "1.0"),
        (9, "<", ">="),
    ]


def test_each_mutant_is_a_program_that_differs_in_one_place() -> None:
    for mutant in planted(SOURCE, "x.py"):
        changed = mutant.applied(SOURCE)
        assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(SOURCE))
        assert len(changed) - len(SOURCE) == len(mutant.after) - len(mutant.before)


def test_every_file_of_the_program_can_be_planted() -> None:
    mutants = run.all_mutants(())
    assert len(mutants) > 5000
    for mutant in random.Random(4).sample(mutants, 200):
        if mutant.path.endswith(".py"):
            ast.parse(mutant.applied((run.CODE / mutant.path).read_text(encoding="utf-8")))


def test_values_of_constants_are_planted() -> None:
    found = list(planted_in_constants('[{"name": "a",\n "value": 0.5}, {"name": "b", "value": 0}]', "c.json"))
    assert [(m.text, m.line, m.before, m.after) for m in found] == [
        ("a", 2, "0.5", "0.55"),
        ("b", 2, "0", "1.0"),
    ]


def test_planted_changes_are_noticed_and_what_is_not_changed_survives(tmp_path: Path) -> None:
    path = "base/units.py"
    source = (run.CODE / path).read_text(encoding="utf-8")
    # A function whose every number and comparison is noticed: another draw is as good.
    mutants = [m for m in planted(source, path) if m.within == "_significant"]
    tree = run.Tree(tmp_path / "tree")
    drawn = random.Random(3).sample(mutants, 2)
    close = (
        "test_bytes_are_written_in_decimal_units",
        "test_values_with_units",
    )
    tests = Choice([f"tests/base/test_units.py::{test}" for test in close], is_alone=True)
    assert [m.what for m in drawn if tree.survives(m, tests)] == []
    unchanged = replace(drawn[0], after=drawn[0].before)
    assert tree.survives(unchanged, tests)


def test_what_may_be_asked_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["run.py", "--help"])
    with pytest.raises(SystemExit):
        run.main()
    assert "--sample" in capsys.readouterr().out


FUNCTIONS = """
from functools import cache
LIMIT = 7
class Half:
    least = 1
    @cache
    def of(self, value):
        return [one / 2 for one in value if one > 3]
"""


def test_functions_that_differ_are_found_by_the_place_of_the_outermost() -> None:
    def changed(before: str, after: str) -> list[str]:
        codes = (compile(text, "x.py", "exec") for text in (FUNCTIONS, FUNCTIONS.replace(before, after)))
        return [place[1] for place, _ in changed_functions(*codes)]

    assert changed("one / 2", "one * 2") == ["Half.of"]
    assert changed("one / 2", "one / 2") == []
    for before, after in (("LIMIT = 7", "LIMIT = 8"), ("least = 1", "least = 2")):
        with pytest.raises(LookupError):
            changed(before, after)


def test_what_is_listed_as_equivalent_is_a_mutant_of_the_program() -> None:
    rows = run._equivalent()
    found = {
        (path, mutant.text, f"{mutant.before.strip()} -> {mutant.after.strip()}")
        for path in {row["path"] for row in rows}
        for mutant in planted((run.CODE / path).read_text(encoding="utf-8"), path)
    }
    assert [row for row in rows if (row["path"], row["line"], row["change"]) not in found] == []
