"""The steps of a change, a line each, for those who compare what runs with a plan."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ndbplan.configuration.needs import CannotChangeError
from ndbplan.estimate.estimation import Estimation
from ndbplan.operations.change import change
from ndbplan.operations.operation import Operation, Step
from ndbplan.operations.table_changes import left_to_people
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


@dataclass(frozen=True)
class InShort:
    """What brings what runs to a plan, for those who compare the two."""

    steps: tuple[str, ...] = ()
    """In their order, a line each."""
    refused: str = ""
    """Why it cannot be done; then there are no steps."""
    left_out: tuple[str, ...] = ()
    """What differs in tables and files and no step does: left to people, with why."""

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it in order, a line each."""
        steps = (f"{number:>3}. {step}" for number, step in enumerate(self.steps, 1))
        refused = (f"cannot be done: {self.refused}",) if self.refused else ()
        return (*steps, *self.left_out, *refused)


def order_or_refusal(plan: Plan, before: Plan) -> InShort:
    """The steps from what runs to a plan, or why it cannot be done."""
    left = tuple(left_to_people(before, plan))
    try:
        return InShort(tuple(in_short(change(Estimation(plan), before, timed=False))), left_out=left)
    except CannotChangeError as error:
        return InShort(refused=error.line, left_out=left)
