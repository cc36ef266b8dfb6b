"""Marks say which blocks of a program were reached, and change nothing that it does."""

from __future__ import annotations

import builtins

import pytest

from mutants.marking import marked

SOURCE = '''
"""A text."""
LIMIT = 3
def told(value):
    """A text too."""
    found = []
    for one in range(value):
        if one > LIMIT:
            return found
        elif one == 2:
            found.append("two")
        found.append(one)
    try:
        return found[value]
    except IndexError:
        found.append(-1)
    return found
@compiled
def left_alone():
    return 1
class Half:
    def of(self, value):
        match value:
            case 1:
                return 0.5
        return value / 2
'''


def compiled(function: object) -> object:
    return function


@pytest.mark.parametrize(
    ("asked", "answer", "lines"),
    [
        ("told(0)", [-1], [6, 13, 14, 16, 17]),
        ("told(2)", [0, 1, -1], [6, 8, 10, 12, 13, 14, 16, 17]),
        ("told(3)", 2, [6, 8, 10, 11, 12, 13, 14]),
        ("told(9)", [0, 1, "two", 2, 3], [6, 8, 9, 10, 11, 12]),
        ("left_alone()", 1, []),
        ("Half().of(1)", 0.5, [23, 25]),
        ("Half().of(3)", 1.5, [23, 26]),
    ],
)
def test_the_first_line_of_each_block_that_runs_is_noted(
    asked: str, answer: object, lines: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: list[tuple[str, int]] = []
    tree = marked(SOURCE, "x.py", blocks)
    hits = bytearray(len(blocks))
    monkeypatch.setattr(builtins, "_ndbplan_reached", hits, raising=False)
    names: dict[str, object] = {"compiled": compiled}
    exec(compile(tree, "x.py", "exec"), names)
    assert eval(asked, names) == answer
    assert sorted({line for (_, line), hit in zip(blocks, hits, strict=True) if hit}) == lines
