"""All rules together: samples, waivers, cancelling, fixes that mend what they say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ndbplan.base.kept import Kept, keeping
from ndbplan.base.resources import resource_path
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import (
    TOPICS,
    check,
    check_all,
    find,
    first_fixes,
    found_errors,
    has_errors,
    in_words,
    load_rules,
    standing,
)
from ndbplan.checks.unwise import redo
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import move, remove, update
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan import file
from ndbplan.plan.fields import Point
from ndbplan.plan.plan import EMPTY_PLAN, Plan, Waiver
from ndbplan.plan.samples import sample_plan
from one_rule import accepting_others
from random_plans import random_plan

SAMPLES = sorted(path.stem for path in resource_path("samples").glob("*.ndbplan"))


def sample(name: str) -> Plan:
    return file.load(resource_path(f"samples/{name}.ndbplan"))


def rules(plan: Plan) -> set[str]:
    return {problem.rule for problem in check(plan)}


@pytest.mark.parametrize("plan", [sample("redo-overload"), sample("disk-data"), *map(random_plan, range(2))])
def test_problems_stand_as_they_are_listed(plan: Plan) -> None:
    found = [(problem.rule, problem.severity, problem.message) for problem in check(plan)]
    with keeping(Kept()):
        assert [(one.rule, one.severity, one.message) for one in standing(plan)] == found


@pytest.mark.parametrize("name", SAMPLES)
def test_problems_name_their_rule_and_what_to_do(name: str) -> None:
    plan = sample(name)
    for problem in check(plan):
        assert problem.rule in RULES
        assert problem.message
        assert problem.where
        assert set(problem.object_ids) <= plan.by_id.keys()
        shape = problem.to_json()
        assert list(shape) == ["rule", "severity", "where", "message", "fix", "solutions"]
        assert shape["severity"] in ("error", "warning", "hint")


@pytest.mark.parametrize("name", ["starter", "add-nodes", "telecom-144"])
def test_good_samples_have_no_errors(name: str) -> None:
    assert not has_errors(check(sample(name)))


def test_overload_is_an_error_on_its_disk() -> None:
    plan = sample("redo-overload")
    found = [p for p in check(plan) if p.rule == "disk-demand" and p.severity is Severity.ERROR]
    assert found
    assert all("RedoBuffer only delays them" in p.message for p in found)


def test_an_empty_plan_lacks_every_kind_of_node() -> None:
    assert [p.rule for p in check(EMPTY_PLAN) if p.severity is Severity.ERROR] == ["node-kinds"] * 3


def test_worst_first() -> None:
    ranks = [p.severity.rank for p in check(sample("redo-overload"))]
    assert ranks == sorted(ranks)


def test_cancelled_means_nothing() -> None:
    assert check(sample("redo-overload"), cancelled=lambda: True) == ()


def test_a_waiver_takes_its_problem_away_and_keeps_the_reason() -> None:
    plan = sample("redo-overload")
    assert "management-nodes" in rules(plan)
    waived = plan.replace(waivers=(Waiver(rule="management-nodes", reason="a test bench"),))
    assert "management-nodes" not in rules(waived)
    kept = [p for p in check_all(waived) if p.rule == "management-nodes"]
    assert [p.waived for p in kept] == ["a test bench"]


def test_a_waiver_for_one_object_leaves_the_others() -> None:
    plan = sample("redo-overload")
    disk = next(p for p in check(plan) if p.rule == "disk-demand").object_ids[0]
    waived = plan.replace(waivers=(Waiver(rule="disk-demand", object_id=disk, reason="known"),))
    left = [p for p in check(waived) if p.rule == "disk-demand"]
    assert left
    assert all(disk not in p.object_ids for p in left)


def broken_plans() -> dict[str, Plan]:
    """Plans in which one rule with an edit finds something, by rule name."""
    starter, overload = sample("starter"), sample("redo-overload")
    groups = update(starter, starter.data_nodes[1].id, node_group=1)
    rank = set_parameter(starter, starter.management_nodes[0].id, "ArbitrationRank", 0)
    slots = remove(starter, [slot.id for slot in starter.api_slots])
    misspelt = set_parameter(starter, "data_node", "datamemory", 2**30)
    unknown = set_parameter(starter, "data_node", "FooBar", 1)
    value = set_parameter(starter, "data_node", "TimeBetweenLocalCheckpoints", 32)
    single = set_parameter(starter, "data_node", "NoOfReplicas", 1)
    shared = sample("telecom-144")
    node = shared.data_nodes[0]
    shared = update(
        shared, node.id, disk_roles=node.disk_roles.model_copy(update={"undo": node.disk_roles.redo})
    )
    assert overload.data_nodes
    return {
        "node-group-size": groups,
        "management-nodes": rank,
        "spare-api-slots": slots,
        "unknown-parameter": unknown,
        "parameter-value": value,
        "number-of-replicas": single,
        "shared-device": shared,
        "misspelt": misspelt,
    }


@pytest.mark.parametrize("name", list(broken_plans()))
def test_the_edit_of_a_rule_mends_what_it_found(name: str) -> None:
    plan = broken_plans()[name]
    wanted = "unknown-parameter" if name == "misspelt" else name
    problem = next(
        p for p in check(accepting_others(plan, wanted)) if p.rule == wanted and p.edit is not None
    )
    assert problem.edit is not None
    assert problem.fix
    mended = problem.edit(plan)
    assert problem.message not in [p.message for p in find(mended)]


def test_every_rule_has_a_title() -> None:
    load_rules()
    assert all(rule.title and rule.topic for rule in RULES.values())


def test_a_drag_on_the_canvas_is_not_checked_again() -> None:
    plan = sample("starter")
    before = check(plan)
    host = plan.hosts[0].id
    dragged = move(plan, {host: Point(x=10, y=20)})
    assert check(dragged) == before
    smaller = update(dragged, plan.data_nodes[0].host_id, memory_bytes=2**30)
    assert check(smaller) != before


def test_rules_stand_in_one_order_whoever_imports_them_first() -> None:
    program = (
        "import ndbplan.checks.unwise.timing, ndbplan.checks.run as run; run.load_rules(); "
        "from ndbplan.checks.rule import RULES; print(*RULES)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    load_rules()
    assert done.stdout.split() == list(RULES)
    topics = [topic.rpartition(".")[2] for topic in TOPICS]
    found = [topics.index(rule.topic) for rule in RULES.values()]
    assert found == sorted(found)


def test_a_rule_that_fails_says_so_and_the_others_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    load_rules()
    plan = sample("redo-overload")
    before = check(plan)
    broken = RULES["node-kinds"]

    def fails(_now: Estimation) -> Iterator[Problem]:
        yield Problem("", Severity.HINT, "here", "found before the fault")
        next(iter(()))

    monkeypatch.setitem(RULES, broken.name, replace(broken, find=fails))
    with keeping(Kept()):
        found = check(plan)
    told = [p for p in found if p.rule == broken.name]
    assert [p.message for p in told if p.where == "here"] == ["found before the fault"]
    (fault,) = [p for p in told if p.where == "ndbplan"]
    assert "node-kinds" in fault.message
    assert [p for p in before if p.rule != broken.name] == [p for p in found if p.rule != broken.name]


def test_a_fix_that_cannot_be_worked_out_costs_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    load_rules()
    plan = sample("redo-overload")
    broken = RULES["node-kinds"]

    def edit(_plan: Plan) -> Plan:
        raise KeyError("gone")

    def advice() -> str:
        raise IndexError

    def finds(_now: Estimation) -> Iterator[Problem]:
        yield Problem("", Severity.WARNING, "here", "a finding", "mend it", edit=edit, advice=advice)

    monkeypatch.setitem(RULES, broken.name, replace(broken, find=finds))
    with keeping(Kept()):
        assert "a finding" in [p.message for p in check(plan)]


def test_a_plan_whose_threads_are_refused_keeps_its_other_problems() -> None:
    """Ways out of what lies in its hosts' memory ask for figures that there are not."""
    plan = sample_plan("starter")
    node = plan.data_nodes[0]
    plan = update(
        plan,
        node.id,
        parameters={"AutomaticThreadConfig": 0, "ThreadConfig": "ldm={count=4},query={count=3}"},
    )
    for host in plan.hosts:
        plan = update(plan, host.id, memory_bytes=140 * 2**30)
    rules = {problem.rule for problem in check(plan)}
    assert {"thread-config-of-node", "data-memory-of-host"} <= rules


def test_errors_are_found_without_the_search_for_their_fixes(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = set_parameter(sample_plan("redo-overload"), "data_node", "NoOfFragmentLogFiles", 3)
    whole = [one for one in find(plan) if one.severity is Severity.ERROR]
    assert "redo-log-size" in {one.rule for one in whole}

    def searched(*_: object) -> tuple[str, None]:
        pytest.fail("a fix was searched for")

    monkeypatch.setattr(redo, "cure_of_short_log", searched)
    monkeypatch.setattr(redo, "_longer_log", searched)
    found = found_errors(plan)
    assert [(one.rule, one.message, one.object_ids) for one in found] == [
        (one.rule, one.message, one.object_ids) for one in whole
    ]
    monkeypatch.undo()
    with keeping(Kept()):
        (short,) = (one for one in found_errors(plan) if one.rule == "redo-log-size")
    (known,) = (one for one in whole if one.rule == "redo-log-size")
    assert in_words(short).fix == known.fix


def test_the_first_fix_of_each_rule_is_what_it_has_in_mind_and_no_other_rule_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ndbplan.checks.run.with_offers", lambda *_: pytest.fail("offers were searched for"))
    fixed = 0
    for plan in map(random_plan, range(24)):
        wanted = {one.rule: one for one in reversed(find(plan)) if one.severity is Severity.ERROR}
        fixes = list(first_fixes(plan))
        assert len({found.rule for found, _ in fixes}) == len(fixes)
        for found, edit in fixes:
            own = wanted[found.rule]
            assert (found.message, found.fix) == (own.message, own.fix)
            assert own.edit is not None
            assert edit(plan) == own.edit(plan)
            fixed += 1
    assert fixed > 20
