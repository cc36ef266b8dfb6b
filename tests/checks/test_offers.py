"""Which fixes stand by themselves, with rules made for it: each looks at two values and sets a third."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pytest

from ndbplan.checks.offers import with_offers
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES, Rule
from ndbplan.checks.run import check, load_rules
from ndbplan.checks.way import Trials
from ndbplan.edits.changes import SetField, SetParameter, value_changes
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan

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


def test_a_fix_that_mends_what_another_rule_found_is_called_what_it_does() -> None:
    """The later rule would set the second value; what is offered for its problem sets the first."""

    def find_one(plan: Plan, rules: Iterable[Rule] | None = None, /) -> Sequence[Problem]:
        if _is_set(plan, ONE):
            return []
        return [
            Problem(FIRST, Severity.WARNING, "cluster", "missing", fix=f"set {ONE}", edit=_sets(ONE)),
            Problem(SECOND, Severity.WARNING, "cluster", "missing too", fix=f"set {TWO}", edit=_sets(TWO)),
        ]

    offered = with_offers(EMPTY_PLAN, find_one(EMPTY_PLAN), find_one)
    assert [(problem.edit, problem.fix) for problem in offered] == [(_sets(ONE), f"set {ONE}")] * 2


def test_two_data_nodes_in_one_group_of_a_plan_with_one_replica() -> None:
    """What mends their group is the second replica: its button says so."""
    plan = SetParameter("data_node", "NoOfReplicas", 1)(sample_plan("starter"))
    for node in plan.data_nodes:
        plan = SetField(node.id, "node_group", 0)(plan)
    (size,) = [problem for problem in check(plan) if problem.rule == "node-group-size"]
    assert size.edit is not None
    assert [change.name for change in value_changes(plan, size.edit(plan))] == ["NoOfReplicas"]
    assert size.fix is not None
    assert "NoOfReplicas to 2" in size.fix
