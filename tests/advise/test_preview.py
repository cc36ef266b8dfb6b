"""A preview is what two fresh runs say, to the digit, whatever was looked at before."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest

from golden.commands import PLANS
from ndbplan.advise.candidates import single_changes
from ndbplan.advise.compare import judge
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.preview import HEADLINES, Preview
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.quantity import Quantity
from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import check
from ndbplan.checks.settled import Settled, settled
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan


def fresh(plan: Plan, name: str) -> Quantity | None:
    """A figure of a plan that nobody has looked at, with nothing kept."""
    own = Plan.model_validate_json(plan.model_dump_json())
    return FIGURES[name].of(Estimation(own, own.workloads[0]))


@pytest.fixture(scope="module")
def preview() -> Preview:
    plan = sample_plan("redo-overload-8.4")
    return Preview(Estimation(plan, plan.workloads[0]))


def test_a_preview_is_two_fresh_runs(preview: Preview) -> None:
    """Every eleventh change, one after the other in one store."""
    plan, seen = preview.now.plan, 0
    for change in islice(single_changes(plan), 0, None, 11):
        try:
            after = change.edit(plan)
        except UserError:
            continue
        for line in preview.of(after):
            name = line.figure.name
            if line.error:
                with pytest.raises(UserError):
                    fresh(after, name)
                continue
            assert line.after == fresh(after, name), (change.title, name)
            if seen == 0:
                assert line.before == fresh(plan, name), name
            if name != "cost":
                assert line.judged == judge(line.figure, line.before, line.after)
        seen += 1
    assert seen > 5


def _rows(plan: Plan) -> set[tuple[str, str, str]]:
    """What `check` tells of a plan that nobody has looked at."""
    own = Plan.model_validate_json(plan.model_dump_json())
    return {(one.rule, one.where, one.message) for one in check(own)}


def test_a_fix_settles_its_problem_whatever_figures_it_leaves_alone() -> None:
    """A fix of what another load than the one that is shown needs was told to change nothing."""
    plan = load(PLANS / "problems-7.2.ndbplan")
    preview, before = Preview(Estimation(plan, plan.workloads[0])), _rows(plan)
    for problem in check(plan):
        edit = problem.edit or next((way.edit for way in problem.solutions), None)
        if edit is None:
            continue
        after = edit(plan)
        found, there = preview.settles(after), _rows(after)
        settles = [(one.rule, one.where) for one in found.settles]
        assert (problem.rule, problem.where) in settles
        gone, come = before - there, there - before
        assert set(settles) <= {row[:2] for row in gone}
        # What stays in some of its places is told of fewer, or with other numbers.
        assert {row[0] for row in gone if row[:2] not in settles} <= {row[0] for row in come}
        assert {(one.rule, one.where) for one in found.brings} <= {row[:2] for row in come}
        assert Severity.ERROR not in [one.severity for one in found.brings]
        assert found.lines[0].startswith("settles 1 ") or len(settles) > 1
        assert RULES[problem.rule].title in found.lines[0] or len(settles) > 3
    swapped = Preview(Estimation(after, after.workloads[0])).settles(plan)
    assert (swapped.settles, swapped.brings) == (found.brings, found.settles)
    assert swapped.lines[0].startswith("brings ")


def test_a_problem_that_stays_in_one_of_its_places_is_not_settled() -> None:
    here, there = (Problem("a", Severity.WARNING, where, f"{where} 1", object_ids=(where,)) for where in "xy")
    both = replace(here, where="x and 1 more", alike=(here, there))
    less = replace(here, message="x 2")
    assert settled((both,), (less,)) == settled((less,), (both,)) == Settled((), ())
    (gone,) = settled((both,), ()).settles
    assert (gone.where, gone.line) == ("x and 1 more", "a (x and 1 more)")


def test_several_problems_of_one_rule_and_place_are_told_once() -> None:
    """`The version does not know a parameter (all data node settings)` stood twice in one line."""
    where = "all data node settings"
    alike = [Problem("unknown", Severity.WARNING, where, f"parameter {n}") for n in range(2)]
    others = [Problem(f"rule {n}", Severity.HINT, "host a", "busy") for n in range(4)]
    assert settled((), (*alike, *others)).lines == (
        "brings 2 warnings and 4 hints: 2 × unknown (all data node settings); rule 0 (host a); "
        "rule 1 (host a); and 2 more",
    )


def test_no_change_shows_no_difference(preview: Preview) -> None:
    same = preview.now.plan.replace(name="The same by another name")
    assert [line.figure.name for line in preview.of(same) if not line.is_same] == []


def test_nothing_is_worked_out_for_nobody(preview: Preview) -> None:
    with pytest.raises(Cancelled):
        next(preview.of(preview.now.plan, lambda: True))


def test_formulas_come_before_simulations() -> None:
    simulated = [FIGURES[name].simulated for name in HEADLINES]
    assert simulated == sorted(simulated)
