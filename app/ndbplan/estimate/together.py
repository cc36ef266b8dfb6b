"""Ranges of operations by constants that were measured together.

together(plan, "start", duration_s, lambda moved: restart(moved).duration_s)

A measured time leaves open which of its constants took how much of it: each of them is known badly, their
sum well. So the range of an operation is that of what no measurement told, and of each unknown that they left
open (`Calibration.shared`), which moves several constants at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ndbplan.base.quantity import END_DEVIATIONS, Quantity
from ndbplan.estimate.constants import known_together
from ndbplan.plan.plan import Calibration, Plan

OF_A_RUN = {"start": 0.05, "backup": 0.05, "reorganise": 0.12}
"""Standard deviation, as a logarithm, of a run from what known constants say: so 62 of 66
recorded starts lie in ranges that one other start calibrated, with the 0.03 of repeated ones 59. Recorded
reorganisations, of which some had other work beside them, differ by 0.12 from what the model says."""
_MOVED = 1e-3
"""Of the logarithm: what an unknown moves a figure by at least that it has a part in."""


def together(plan: Plan, kind: str, found: Quantity, ask: Callable[[Plan], Quantity]) -> Quantity:
    """A figure of a plan, its range by what is known together; itself where nothing is.

    `kind`: of operation, one of OF_A_RUN; `ask`: the figure of the plan with other calibrations.
    """
    known = known_together(plan.calibrations)
    if not known or found.low <= 0.0:
        return found
    alone = ask(_with(plan, known, None, 0))
    if alone.low <= 0.0:
        return found
    square = 0.0
    for source in sorted({one.source for one in known.values()}):
        for unknown in range(max(len(one.shared) for one in known.values() if one.source == source)):
            moved = ask(_with(plan, known, source, unknown)).value
            square += math.log(moved / alone.value) ** 2
    if square < _MOVED**2:
        # What was measured together has no part in it.
        return found
    square += OF_A_RUN[kind] ** 2
    low, high = (
        math.hypot(math.log(alone.value / end) / END_DEVIATIONS, math.sqrt(square)) * END_DEVIATIONS
        for end in (alone.low, alone.high)
    )
    # Without the measurements it was no less certain.
    before = ask(
        plan.replace(calibrations=tuple(one for one in plan.calibrations if one not in known.values()))
    )
    if before.low > 0.0:
        narrower = min(1.0, math.log(before.high / before.low) / max(_MOVED, low + high))
        low, high = low * narrower, high * narrower
    return found.between(found.value * math.exp(-low), found.value * math.exp(high))


def _with(plan: Plan, known: dict[str, Calibration], source: str | None, unknown: int) -> Plan:
    """The plan whose constants are what they are but for one unknown of a source, by a standard deviation."""
    moved = []
    for one in plan.calibrations:
        if known.get(one.constant) is not one:
            moved.append(one)
            continue
        value = one.value
        if one.source == source and unknown < len(one.shared):
            value *= math.exp(one.shared[unknown])
        moved.append(one.model_copy(update={"value": value, "low": value, "high": value, "shared": ()}))
    return plan.replace(calibrations=tuple(moved))
