"""The way from a plan to the one that is fixed: the rules take turns, each does what harms nothing.

    *steps, last = Trials(find).way(plan, problems)      # last.plan is the plan that is fixed

What is offered are parts of it (see offers.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ndbplan.base.errors import UserError
from ndbplan.checks.harm import RULES_OF_ROOM, harm
from ndbplan.checks.problem import Edit, Problem, Severity
from ndbplan.checks.rule import RULES, Rule, is_alone
from ndbplan.edits.changes import together, value_changes
from ndbplan.plan.plan import Plan


class Find(Protocol):
    """What rules find in a plan: all of them, or those that are given."""

    def __call__(self, plan: Plan, rules: Iterable[Rule] | None = None, /) -> Sequence[Problem]: ...


Finding = tuple[str, str, bool]
SINGLY_UP_TO = 6
"""Fixes of one rule that are tried one by one when they cannot all be done together."""
_MOST_TURNS = 6
"""How often all rules take turns: every step mends something, so ways end long before."""
ROOM = "no room: "


@dataclass(eq=False)
class Step:
    """What one rule does about its problems, and the problems of the plan after that.

    Rules whose fixes touch nothing that others look at make one step.
    """

    name: str
    """Of the rule; none for those that stand alone."""
    problems: list[Problem]
    edit: Edit
    before: Plan
    stood: Sequence[Problem]
    """The problems of the plan before."""
    plan: Plan
    after: Sequence[Problem]

    @property
    def alone(self) -> bool:
        """Whether it touches nothing that other rules look at."""
        return not self.name


def has_fix(problem: Problem) -> bool:
    return problem.edit is not None and not problem.waived


def fixes_by_rule(plan: Plan, problems: Iterable[Problem]) -> Iterator[tuple[str, list[Problem]]]:
    """Problems with a fix by rule, in the order in which rules take turns; `alone` ones are one group, the
    last: what is kept about other parts of the plan serves until then.
    """
    wanted: dict[str, list[Problem]] = {}
    alone: list[Problem] = []
    for problem in problems:
        if has_fix(problem):
            of_rule = alone if is_alone(plan, problem) else wanted.setdefault(problem.rule, [])
            of_rule.append(problem)
    yield from ((name, wanted[name]) for name in RULES if name in wanted)
    if alone:
        yield "", alone


class Trials:
    """Fixes tried on plans; each plan and fix once."""

    def __init__(self, find: Find) -> None:
        self.find = find
        self.refused: dict[Finding, str] = {}
        """Why the fix of a problem is not done."""
        self._kept: dict[tuple[int, str], tuple[Plan, Step | None]] = {}

    def way(self, plan: Plan, problems: Sequence[Problem]) -> Iterator[Step]:
        """The steps from a plan to the one in which no rule has anything left that it may do."""
        for _ in range(_MOST_TURNS):
            before = plan
            for name in (*RULES, ""):
                group = next((group for group in fixes_by_rule(plan, problems) if group[0] == name), None)
                step = self.step(plan, problems, group) if group else None
                if step is not None:
                    plan, problems = step.plan, step.after
                    yield step
            if plan is before:
                return

    def step(self, plan: Plan, problems: Sequence[Problem], group: tuple[str, list[Problem]]) -> Step | None:
        """What a rule may do about its problems in this plan: all, or those fixes that work one by one."""
        key = (id(plan), group[0])
        if key not in self._kept:
            self._kept[key] = (plan, self._step(plan, problems, *group))
        return self._kept[key][1]

    def _step(self, plan: Plan, before: Sequence[Problem], name: str, wanted: list[Problem]) -> Step | None:
        every, wanted = wanted, self._needed(plan, _without_contradictions(plan, wanted))
        if not wanted:
            return None
        whole, reason = self._tried(plan, before, name, wanted)
        edits = list(dict.fromkeys(problem.edit for problem in wanted))
        if whole is not None or len(edits) == 1 or len(edits) > SINGLY_UP_TO:
            # Those that gave way to these, which set the same value, are refused with them.
            self.refused.update({finding(problem): reason for problem in every if whole is None})
            return whole
        good: list[Problem] = []
        for edit in edits:
            these = [problem for problem in wanted if problem.edit is edit]
            one, reason = self._tried(plan, before, name, these)
            if one is None:
                self.refused.update({finding(problem): reason for problem in these})
            else:
                good += these
        return self._tried(plan, before, name, good)[0] if good else None

    def _needed(self, plan: Plan, wanted: list[Problem]) -> list[Problem]:
        """Problems of a rule without those that what is done for others before them mends as well.

        Only a value that nodes share can do that.
        """
        edits = list(dict.fromkeys(problem.edit for problem in wanted))
        if not 1 < len(edits) <= SINGLY_UP_TO or len({problem.rule for problem in wanted}) > 1:
            return wanted
        rule, needed, left = RULES[wanted[0].rule], list[Problem](), wanted
        for edit in edits:
            these = [problem for problem in left if problem.edit is edit]
            if not these or edit is None:
                continue
            needed += these
            before, plan = plan, edit(plan)
            left = [problem for problem in left if problem.edit is not edit]
            if left and any(change.scope not in plan.by_id for change in value_changes(before, plan)):
                found = {finding(problem) for problem in self.find(plan, [rule])}
                left = [problem for problem in left if finding(problem) in found]
        return needed

    def _tried(
        self, plan: Plan, before: Sequence[Problem], name: str, wanted: list[Problem]
    ) -> tuple[Step | None, str]:
        """The step that mends these problems, or why it may not."""
        edit: Edit = together(problem.edit for problem in wanted)
        try:
            changed = edit(plan)
        except UserError as error:
            return None, error.line
        if changed is plan:
            return None, ""
        after = self._after(changed, before, name)
        left = Counter(finding(p) for p in before)
        left.subtract(finding(p) for p in after)
        if any(left[key] < count for key, count in Counter(finding(p) for p in wanted).items()):
            return None, ""
        reason = harm(before, after)
        if reason and any(p.message == reason and p.rule in RULES_OF_ROOM for p in after):
            reason = ROOM + reason
        return (None, reason) if reason else (Step(name, wanted, edit, plan, before, changed, after), "")

    def _after(self, plan: Plan, before: Sequence[Problem], name: str) -> Sequence[Problem]:
        """What rules find after a step; one that stands alone changes it for such rules only."""
        if name:
            return self.find(plan)
        others = [problem for problem in before if RULES[problem.rule].alone is None]
        return [*others, *self.find(plan, [rule for rule in RULES.values() if rule.alone is not None])]


def _without_contradictions(plan: Plan, wanted: list[Problem]) -> list[Problem]:
    """Problems whose fixes give no value twice; of two that do, the first."""
    if len({problem.edit for problem in wanted}) < 2:
        return wanted
    given: dict[tuple[str, str], object] = {}
    kept = []
    for problem in wanted:
        assert problem.edit is not None
        try:
            changes = value_changes(plan, problem.edit(plan))
        except UserError:
            continue
        if all(given.get((c.scope, c.name), c.after) == c.after for c in changes):
            given.update({(c.scope, c.name): c.after for c in changes})
            kept.append(problem)
    return kept


def finding(problem: Problem) -> Finding:
    """What must be gone after a fix: an error that becomes a warning is not mended."""
    return (problem.rule, problem.where, problem.severity is Severity.HINT)
