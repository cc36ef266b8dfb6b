"""All fixes that are offered, done until none is left: what "Fix all" and `ndbplan fix` do.

    fixed = fix_all(plan)
    fixed.plan, fixed.problems, fixed.rounds

The order in which fixes are clicked one by one does not matter: the same plan comes out (see offers.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from ndbplan.base.errors import Cancelled
from ndbplan.base.kept import keeping
from ndbplan.checks.problem import Problem
from ndbplan.checks.run import check
from ndbplan.edits.changes import together
from ndbplan.plan.plan import Plan

MOST_ROUNDS = 3
"""Fixes that only come once others are done need a further round; there are never more than these."""


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
    plan: Plan, rules: Collection[str] | None = None, cancelled: Callable[[], bool] = lambda: False
) -> Fixed:
    """The plan after every fix that is offered, or those of some rules. Raises Cancelled."""
    done: list[Problem] = []
    rounds = 0
    with keeping():
        while True:
            problems = check(plan, cancelled)
            if cancelled():
                raise Cancelled
            offers = [p for p in problems if p.edit is not None and (rules is None or p.rule in rules)]
            if not offers or rounds == MOST_ROUNDS:
                return Fixed(plan, tuple(done), rounds, problems)
            plan = together(p.edit for p in offers)(plan)
            done += offers
            rounds += 1
