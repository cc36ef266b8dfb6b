"""Which fixes stand by themselves, with rules made for it: each looks at two values and sets a third."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from ndbplan.checks.offers import with_offers
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES, Rule
from ndbplan.checks.run import load_rules
from ndbplan.checks.way import Trials
from ndbplan.edits.changes import SetParameter
from ndbplan.plan.plan import EMPTY_PLAN, Plan

load_rules()
EARLY, FIRST, SECOND = list(RULES)[:3]
"""In the order in which rules take turns."""
ONE, TWO, THREE = "MaxNoOfTables", "MaxNoOfAttributes", "MaxNoOfTriggers"


def _sets(name: str) -> SetParameter:
    return SetParameter("data_node", name, 1000)


def _is_set(plan: Plan, name: str) -> bool:
    return name in plan.parameters.data_node


def find(plan: Plan, rules: Iterable[Rule] | None = None, /) -> Sequence[Problem]:
    """Two values are missing; where only the first is there, an earlier rule hints at a third one."""
    found = []
    if _is_set(plan, ONE) and not _is_set(plan, TWO) and not _is_set(plan, THREE):
        found.append(Problem(EARLY, Severity.HINT, "cluster", "a third one", edit=_sets(THREE)))
    for rule, name in ((FIRST, ONE), (SECOND, TWO)):
        if not _is_set(plan, name):
            found.append(Problem(rule, Severity.WARNING, "cluster", f"{name} is missing", edit=_sets(name)))
    return found


def test_fixes_are_one_where_the_first_alone_would_lead_elsewhere() -> None:
    """Both together leave the third value alone; the first by itself would have it set by the next click."""
    one, two = with_offers(EMPTY_PLAN, find(EMPTY_PLAN), find)
    assert one.edit is not None
    assert one.edit is two.edit
    parameters = one.edit(EMPTY_PLAN).parameters.data_node
    assert (ONE in parameters, TWO in parameters, THREE in parameters) == (True, True, False)


@pytest.mark.parametrize("harmless", [ONE, TWO])
def test_of_two_fixes_of_a_rule_the_one_that_harms_nothing_is_done(harmless: str) -> None:
    def find_harm(plan: Plan, rules: Iterable[Rule] | None = None, /) -> Sequence[Problem]:
        missing = [
            Problem(FIRST, Severity.WARNING, name, "is missing", edit=_sets(name))
            for name in (ONE, TWO)
            if not _is_set(plan, name)
        ]
        other = TWO if harmless == ONE else ONE
        return [*missing, *([Problem(SECOND, Severity.ERROR, "", "harm")] if _is_set(plan, other) else [])]

    trials = Trials(find_harm)
    (step,) = trials.way(EMPTY_PLAN, find_harm(EMPTY_PLAN))
    assert set(step.plan.parameters.data_node) == {harmless}
    assert list(trials.refused.values()) == ["harm"]


def test_fixes_stand_alone_where_each_order_has_the_same_end() -> None:
    def find_two(plan: Plan, rules: Iterable[Rule] | None = None, /) -> Sequence[Problem]:
        return [problem for problem in find(plan, rules) if problem.rule != EARLY]

    one, two = with_offers(EMPTY_PLAN, find_two(EMPTY_PLAN), find_two)
    assert (one.edit, two.edit) == (_sets(ONE), _sets(TWO))
