"""Each sample has a tour of three to five steps that name what there is."""

from __future__ import annotations

import pytest

from ndbplan.describe.tours import TARGETS, tour_of
from ndbplan.plan.samples import sample_names, sample_plan


@pytest.mark.parametrize("name", sample_names())
def test_each_sample_has_three_to_five_steps_that_can_be_shown(name: str) -> None:
    plan, steps = sample_plan(name), tour_of(name)
    assert 3 <= len(steps) <= 5
    for step in steps:
        assert step.title
        assert step.text.endswith(".")
        assert step.target in TARGETS
        for object_id in step.select or ():
            assert object_id in plan.by_id, step
        assert (step.at_s is None) == (not step.workload), "a moment is one of a run"
        if step.at_s is not None:
            workload = plan.workload(step.workload)
            assert workload.id == step.workload
            assert 0 <= step.at_s < workload.duration_s
            assert step.tab == "Simulation"
        if step.target in ("rates", "latency", "buffers", "log", "writes", "summary", "foot"):
            assert step.at_s is not None


def test_what_is_no_sample_has_none() -> None:
    assert tour_of("mine") == ()
