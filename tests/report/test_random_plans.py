"""Extreme plans become reports that verify, or are refused in a line; `make attack` does 200."""

from __future__ import annotations

from random import Random

import pytest

from attack.plans import asked, extreme, verified_report


@pytest.mark.parametrize("seed", range(20))
def test_a_report_of_an_extreme_plan_verifies(seed: int) -> None:
    random = Random(1000 + seed)
    plan = None
    while plan is None:
        plan = extreme(random)
    if seed % 4:
        # What is simulated takes longest.
        plan = plan.replace(workloads=())
    assert asked("report", verified_report, plan) is None
