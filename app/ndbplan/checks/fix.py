"""All fixes that are offered, done until none is left: what "Fix all" and `ndbplan fix` do.

    fixed = fix_all(plan)
    fixed.plan, fixed.problems, fixed.rounds

The order in which fixes are clicked one by one does not matter: the same plan comes out (see offers.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from ndbplan.base.errors import Cancelled
from ndbplan.base.kept import keeping
from ndbplan.checks.problem import Problem
from ndbplan.checks.run import check
from ndbplan.edits.changes import together
from ndbplan.plan.plan import Plan

MOST_ROUNDS = 6
"""Fixes that only come once others are done need a further round, as does each way out that is taken; there
are never more than these."""


@dataclass(frozen=True)
class Fixed:
    """A plan with its fixes done."""

    plan: Plan
    problems: tuple[Problem, ...]
    """Those whose fix was done, in the order in which it was."""
    rounds: int
    left: tuple[Problem, ...]
    """What the rules find in the plan now."""


def fix_all(
    plan: Plan,
    rules: Collection[str] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
    ways_too: bool = True,
) -> Fixed:
    """The plan after every fix that is offered, or those of some rules. Raises Cancelled.

    `ways_too`: also what is recommended for problems with several ways out, where that buys nothing.
    """
    done: list[Problem] = []
    rounds = 0
    with keeping():
        while True:
            problems = check(plan, cancelled)
            if cancelled():
                raise Cancelled
            here = [p for p in problems if rules is None or p.rule in rules]
            offers = [p for p in here if p.edit is not None]
            # Ways out come after all fixes: one may not be needed any more, and they may cross one another.
            if not offers and ways_too:
                offers = [p for p in here if p.free_way is not None][:1]
            if not offers or rounds == MOST_ROUNDS:
                return Fixed(plan, tuple(done), rounds, problems)
            plan = together(p.free_way for p in offers)(plan)
            done += [_taken(problem) for problem in offers]
            rounds += 1


def _taken(problem: Problem) -> Problem:
    """The problem with the words of what was done about it."""
    return problem if problem.edit is not None else replace(problem, fix=problem.solutions[0].title)
