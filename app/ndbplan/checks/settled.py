"""Which problems a change settles and which it brings: what `check` tells of a plan before and after it.

found = settled(standing(plan), standing(edit(plan)))
found.lines         # `settles 1 error and 2 warnings: A disk cannot keep up (disk d0 of h1); …`
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ndbplan.base.shapes import Shape
from ndbplan.base.units import how_many
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES

_MOST_TOLD = 3
"""Problems that a line names; of the rest it says how many they are."""


@dataclass(frozen=True)
class Standing(Shape):
    """A problem in short."""

    JSON = "rule severity where title"

    rule: str
    severity: Severity
    where: str

    @property
    def title(self) -> str:
        """What is wrong, whatever the numbers are."""
        return RULES[self.rule].title if self.rule in RULES else self.rule

    @property
    def line(self) -> str:
        """`A disk cannot keep up (disk d0 of h1)`."""
        return f"{self.title} ({self.where})"


@dataclass(frozen=True)
class Settled(Shape):
    """What a change makes of the problems of a plan; what stays of one in any place is neither."""

    JSON = "settles brings"

    settles: tuple[Standing, ...]
    brings: tuple[Standing, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Both in words, those that are worst first; nothing of what is none."""
        told = (("settles", self.settles), ("brings", self.brings))
        return tuple(f"{verb} {_counts(these)}: {_titles(these)}" for verb, these in told if these)


def settled(before: Sequence[Problem], after: Sequence[Problem]) -> Settled:
    """By rule and place: a problem of which only the numbers change stays."""
    one, other = _unlike(before, after), _unlike(after, before)
    return Settled(tuple(_not_in(other, one)), tuple(_not_in(one, other)))


def _unlike(problems: Sequence[Problem], others: Sequence[Problem]) -> list[Problem]:
    """Those that are not told word for word there too: one rule may find several things in one place."""
    same = {(one.rule, one.where, one.message) for one in others}
    return [one for one in problems if (one.rule, one.where, one.message) not in same]


def _not_in(others: Sequence[Problem], problems: Sequence[Problem]) -> Iterator[Standing]:
    there = {place for problem in others for place in _places(problem)}
    for problem in problems:
        if there.isdisjoint(_places(problem)):
            yield Standing(problem.rule, problem.severity, problem.where)


def _places(problem: Problem) -> Iterator[tuple[str, str]]:
    for one in problem.alike or (problem,):
        yield from ((one.rule, place) for place in one.object_ids or (one.where,))


def _counts(these: Sequence[Standing]) -> str:
    counts = [(severity, sum(one.severity is severity for one in these)) for severity in Severity]
    return " and ".join(how_many(count, severity.value) for severity, count in counts if count)


def _titles(these: Sequence[Standing]) -> str:
    # A counter keeps the order in which it met them.
    often = list(Counter(one.line for one in these).items())
    told, more = often[:_MOST_TOLD], sum(count for _, count in often[_MOST_TOLD:])
    lines = [line if count == 1 else f"{count} × {line}" for line, count in told]
    return "; ".join([*lines, *([f"and {more} more"] if more else [])])
