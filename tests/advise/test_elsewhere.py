"""What other processes work out is what this one would: the same bytes, in the same order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ndbplan.advise import survival, what_matters
from ndbplan.advise.figures import FIGURES
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import Workload


def handed_over(
    function: Callable[[Any], Any], pieces: Sequence[Any], *, workers: int, scheduler: str | None
) -> Iterator[Any]:
    """Another process gets copies, and hands over copies."""
    assert (workers, scheduler) == (3, None)
    assert len(pieces) > workers
    for piece in pieces:
        yield pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(piece)))))


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Estimation:
    for module in (survival, what_matters):
        monkeypatch.setattr(module, "each_of", handed_over)
    plan = sample_plan("redo-overload-8.4")
    return Estimation(plan, plan.workloads[0])


def test_changes_that_matter(now: Estimation) -> None:
    here = what_matters.what_matters(now, FIGURES["restart"])
    there = what_matters.what_matters(now, FIGURES["restart"], workers=3)
    assert here.changes
    assert there.to_json() == here.to_json()
    assert [row.edit(now.plan) for row in there.changes] == [row.edit(now.plan) for row in here.changes]


@pytest.mark.parametrize("loaded", [True, False])
def test_pairs_that_fail(now: Estimation, loaded: bool) -> None:
    workload: Workload | None = now.workload if loaded else None
    here = survival.survive(now.under(workload), depth=2)
    there = survival.survive(now.under(workload), depth=2, workers=3)
    assert len(here.failures) > 20
    assert there.to_json(why=True) == here.to_json(why=True)
