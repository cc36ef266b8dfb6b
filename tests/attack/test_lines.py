"""Some of the random console lines of `make attack`."""

from __future__ import annotations

from attack.lines import attack


def test_random_lines_are_answered_and_break_no_law() -> None:
    made = attack(240, seed=11)
    assert made.found == []
    assert made.count.total() == 240
