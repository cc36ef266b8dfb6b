"""Laws about fixes over random plans: any order gives the same plan, once is enough, none brings a problem.

NDBPLAN_LAW_PLANS=10000 tests/checks/test_laws.py  looks at so many plans instead of a sample.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from random import Random

import pytest

from ndbplan.base.kept import Kept, keeping
from ndbplan.checks.fix import MOST_ROUNDS, fix_all
from ndbplan.checks.harm import harm
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import RULES, is_alone
from ndbplan.checks.run import check, find
from ndbplan.edits.changes import value_changes
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.plan import Plan
from random_plans import random_plan

_BATCH = 2
_COUNT = int(os.environ.get("NDBPLAN_LAW_PLANS", "2"))
_FIRST = int(os.environ.get("NDBPLAN_LAW_FIRST", "0"))
_MOST_CLICKS = 200
_WAYS = 2
"""Of the fixes of a plan so many are looked at where each asks all rules of a fresh plan."""


def offered(plan: Plan) -> list[Problem]:
    return [problem for problem in check(plan) if problem.edit is not None]


def clicked(plan: Plan, random: Random) -> Plan:
    """The plan after fixes in random order: some of those offered, and then some of those that are left."""
    for _ in range(_MOST_CLICKS):
        fixes = offered(plan)
        if not fixes:
            return plan
        for problem in random.sample(fixes, max(1, len(fixes) // 2)):
            assert problem.edit is not None
            plan = problem.edit(plan)
    raise AssertionError("fixes without end")


def look_at(seed: int) -> None:
    plan = random_plan(seed)
    before, fixes = check(plan), offered(plan)
    fixed = fix_all(plan, ways_too=False)
    assert fixed.rounds <= MOST_ROUNDS
    assert offered(fixed.plan) == [], "a second time does more"
    for problem in fixes:
        assert problem.edit is not None
        assert harm(before, find(problem.edit(plan))) == "", problem.fix
    given: dict[tuple[str, str], object] = {}
    for problem in fixes:
        assert problem.edit is not None
        for change in value_changes(plan, problem.edit(plan)):
            if change.name not in ("connections", "object"):
                assert given.setdefault((change.scope, change.name), change.after) == change.after
    was = Counter((p.rule, p.where) for p in before)
    mended = Counter((p.rule, p.where) for p in fixed.problems)
    left = Counter((p.rule, p.where) for p in fixed.left if p.severity != "hint")
    for key, count in mended.items():
        assert left[key] <= max(0, was[key] - count), key
    assert not value_changes(fixed.plan, clicked(plan, Random(seed))), "the order matters"


MISSING = {"node-kinds", "management-nodes", "sql-nodes", "node-group-size"}
"""Rules about nodes that are missing: once there is one, others may ask for more."""


def errors(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity == "error"]


@pytest.mark.parametrize("seed", [0, 5, 116, 777, 4623])
def test_ways_out_that_are_taken_do_no_harm(seed: int) -> None:
    plan = random_plan(seed)
    before = check(plan)
    fixed = fix_all(plan)
    assert fixed.rounds <= MOST_ROUNDS
    assert harm(errors(before), errors(fixed.left), anywhere=True) == ""
    for problem in before:
        for way in problem.solutions:
            after = find(way.edit(plan))
            hosts = way.buys and len(way.edit(plan).hosts) > len(plan.hosts)
            if problem.rule in MISSING:
                assert harm(errors(before), errors(after), anywhere=True) == "", way.title
            else:
                assert harm(before, after, anywhere=hosts) == "", way.title


@pytest.mark.parametrize("batch", range(_FIRST // _BATCH, (_FIRST + _COUNT) // _BATCH))
def test_laws_of_fixes(batch: int) -> None:
    for seed in range(batch * _BATCH, (batch + 1) * _BATCH):
        try:
            look_at(seed)
        except AssertionError as broken:
            raise AssertionError(f"plan {seed}: {broken}") from broken


_BROKE_ONCE = [116, 167, 189, 442, 525, 777, 1000, 4623, 20037, 20325]
_AND_LARGE = [71, 728, 912, 8759] if _COUNT > 2 else []
"""Those with most fixes, of which each takes as long as three others: for `make attack`."""


@pytest.mark.parametrize("seed", _BROKE_ONCE + _AND_LARGE)
def test_plans_that_broke_a_law_once(seed: int) -> None:
    """Rules that set the redo log after one another, files on the disks of a host that a node leaves, room
    that one fix takes and another one hides, an arbitrator that another fix had made safe, small changes that
    add up, a disk that is called otherwise when it is the last one, two nodes that swap their places, a disk
    that is no longer the emptiest one, and a value for one node that cures another one too.
    """
    look_at(seed)


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_fixes_that_stand_alone_change_nothing_for_others(first: int) -> None:
    for seed in range(first, first + 10):
        plan = random_plan(seed)
        before = find(plan)
        for one in [p for p in before if p.edit is not None and is_alone(plan, p)]:
            assert one.edit is not None
            new = _of_others(find(one.edit(plan))) - _of_others(before)
            assert not new, f"plan {seed}: {one.rule}"


def _of_others(problems: list[Problem]) -> Counter[tuple[object, ...]]:
    told = [(p.rule, p.where, p.severity, p.measure, p.message) for p in problems if p.severity != "hint"]
    return Counter(each for each in told if RULES[str(each[0])].alone is None)


@pytest.mark.parametrize("seed", [3, 167, 525])
def test_a_plan_that_is_reached_in_many_ways_has_the_problems_of_a_fresh_one(seed: int) -> None:
    """What is kept from other plans while fixes are looked for is what a look with nothing kept finds."""
    plan = random_plan(seed)
    every = offered(plan)
    for problem in every[:: 1 + len(every) // _WAYS]:
        assert problem.edit is not None
        changed = problem.edit(plan)
        warm = [_told(one) for one in check(changed)]
        with keeping(Kept()):
            fresh = [_told(one) for one in check(loads(dumps(changed), name="fresh"))]
        assert warm == fresh
        check(plan)


def _told(problem: Problem) -> tuple[object, ...]:
    return (problem.to_json(), problem.object_ids, problem.measure, problem.edit is None)


def test_random_plans_are_plans_and_reach_broad_ground() -> None:
    plans = [random_plan(seed) for seed in range(60)]
    assert plans[17] == random_plan(17)
    assert all(loads(dumps(plan), name="random") == plan for plan in plans[:40])
    assert len({plan.ndb_version for plan in plans}) > 12
    assert {len(plan.management_nodes) for plan in plans} >= {0, 1, 2}
    assert any(plan.tablespaces for plan in plans)
    assert any(w.load.kind == "closed" for plan in plans for w in plan.workloads)
    assert any(len(plan.processes_of_host[host.id]) > 1 for plan in plans for host in plan.hosts)
    assert any(not host.disks for plan in plans for host in plan.hosts)
    rules = {problem.rule for plan in plans[:12] for problem in find(plan)}
    assert len(rules) > 30
