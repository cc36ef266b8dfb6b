"""Rules about what was measured and put into the plan."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import rule, warning
from ndbplan.edits.parts import set_plan
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.constants import all_constants, retired_constants
from ndbplan.plan.plan import Plan


@rule("calibrations", "A calibration has no effect")
def calibrations(now: Estimation) -> Iterator[Problem]:
    for calibration in now.plan.calibrations:
        name = calibration.constant
        if name in all_constants():
            continue
        old = retired_constants().get(name)
        instead = f"; {old.instead}" if old is not None else ""
        meaning = f" ({old.meaning})" if old is not None else ""
        yield warning(
            "the plan's measurements",
            f"the calibration of {name}{meaning} to {calibration.value:g} has no effect: no estimate "
            f"reads it in this version of the program{instead}",
            "remove it",
            [],
            partial(_without, name=name),
        )


def _without(plan: Plan, name: str) -> Plan:
    return set_plan(plan, calibrations=tuple(c for c in plan.calibrations if c.constant != name))
