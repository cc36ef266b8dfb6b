"""What a fix may not do."""

from __future__ import annotations

from ndbplan.checks.harm import harm
from ndbplan.checks.problem import Problem, Severity


def _full(*disks: str, measure: float = 1.2) -> Problem:
    return Problem("disk-space", Severity.ERROR, "disk d0 of h1", "is full", None, disks, measure=measure)


def test_a_row_that_tells_of_one_more_disk_is_harm() -> None:
    assert harm([_full("a")], [_full("a", "b")]) == "is full"
    assert harm([_full("a", "b")], [_full("a")]) == ""
    assert harm([_full("a")], [_full("a")]) == ""


def test_a_fuller_disk_is_harm_and_a_hint_is_none() -> None:
    assert harm([_full("a")], [_full("a", measure=1.5)]) == "is full"
    hint = Problem("disk-page-buffer", Severity.HINT, "DiskPageBufferMemory", "is small")
    assert harm([], [hint]) == ""


def test_of_several_problems_of_a_place_the_worst_counts() -> None:
    """Either disk may be the fuller one, as long as none is fuller than the fullest was."""
    before = [_full("a", "b", measure=1.2), _full("a", "b", measure=1.5)]
    assert harm(before, [_full("a", "b", measure=1.2), _full("a", "b", measure=1.8)]) == "is full"
    assert harm(before, [_full("a", "b", measure=1.3), _full("a", "b", measure=1.5)]) == ""
