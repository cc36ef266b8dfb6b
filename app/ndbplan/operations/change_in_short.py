"""The steps of a change, a line each, for those who compare what runs with a plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from ndbplan.configuration.needs import CannotChangeError
from ndbplan.estimate.estimation import Estimation
from ndbplan.operations.change import change
from ndbplan.operations.operation import Operation, Step
from ndbplan.plan.plan import Plan

_RESTART = re.compile(r"Restart data nodes? ([0-9, ]+)( with --initial)?")


def in_short(operation: Operation) -> Iterator[str]:
    """The steps of an operation in order, a line each; restarts that follow one another are one line."""

    def kind(step: Step) -> str:
        match = _RESTART.fullmatch(step.name)
        return step.key if match is None else match[2] or ""

    for how, steps in groupby(operation.steps, kind):
        same = list(steps)
        if len(same) == 1:
            yield same[0].name
        else:
            nodes = ", ".join(found[1] for step in same if (found := _RESTART.fullmatch(step.name)))
            yield f"Restart data nodes {nodes}{how}, one after the other; each is STARTED before the next"


def order_or_refusal(plan: Plan, before: Plan) -> tuple[tuple[str, ...], str]:
    """The steps from what runs to a plan, a line each; or none, and why it cannot be done."""
    try:
        return tuple(in_short(change(Estimation(plan), before, timed=False))), ""
    except CannotChangeError as error:
        return (), error.line
