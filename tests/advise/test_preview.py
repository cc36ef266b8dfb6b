"""A preview is what two fresh runs say, to the digit, whatever was looked at before."""

from __future__ import annotations

from itertools import islice

import pytest

from ndbplan.advise.candidates import single_changes
from ndbplan.advise.compare import judge
from ndbplan.advise.figures import FIGURES
from ndbplan.advise.preview import HEADLINES, Preview
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.estimation import Estimation
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


def test_no_change_shows_no_difference(preview: Preview) -> None:
    same = preview.now.plan.replace(name="The same by another name")
    assert [line.figure.name for line in preview.of(same) if not line.is_same] == []


def test_nothing_is_worked_out_for_nobody(preview: Preview) -> None:
    with pytest.raises(Cancelled):
        next(preview.of(preview.now.plan, lambda: True))


def test_formulas_come_before_simulations() -> None:
    simulated = [FIGURES[name].simulated for name in HEADLINES]
    assert simulated == sorted(simulated)
