"""How long each step of a runbook is expected to take, from the estimates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.times.backup import create_disk_data
from ndbplan.estimate.times.restart import IDLE, restart
from ndbplan.exporting.steps import RunbookPart, Step, WaitStarted
from ndbplan.operations.procedure import (
    Builder,
    ProcedureStep,
    add_nodes,
    reload_configuration,
    restart_each,
    restart_sql_nodes,
)
from ndbplan.plan.plan import Plan

_PATIENCE = 3.0


def with_durations(plan: Plan, part: RunbookPart, add_groups: int = 1) -> RunbookPart:
    """The part with expected durations where there is an estimate; unchanged for a plan without one."""
    try:
        expected = _expected(plan, part, add_groups)
    except UserError:
        return part
    steps = tuple(_with(step, expected.get(step.name)) for step in part.steps)
    return replace(part, steps=steps)


def _with(step: Step, expected: Quantity | None) -> Step:
    """The step with its duration; waiting in it does not end before three times the longest estimate."""
    if expected is None:
        return step
    patience_s = math.ceil(_PATIENCE * expected.high)
    commands = tuple(
        replace(command, timeout_s=max(command.timeout_s, patience_s))
        if isinstance(command, WaitStarted)
        else command
        for command in step.commands
    )
    return replace(step, expected=expected, commands=commands)


def _expected(plan: Plan, part: RunbookPart, add_groups: int) -> dict[str, Quantity]:
    """Durations by the name of the step; the procedures of the estimates use the same names."""
    if part.name == "add-nodes":
        return _by_name(add_nodes(plan, add_groups).steps)
    build = Builder(plan)
    reload_configuration(build)
    if plan.sql_nodes:
        restart_sql_nodes(build)
    if part.name == "rolling-restart":
        restart_each(build, "node", IDLE)
        return _by_name(build.steps)
    found = _by_name(build.steps)
    found["data-nodes"] = restart(plan, "start").duration_s
    if any(step.name == "disk-data" for step in part.steps):
        found["disk-data"] = create_disk_data(plan).duration_s
    return found


def _by_name(steps: Iterable[ProcedureStep]) -> dict[str, Quantity]:
    return {step.key: step.duration_s for step in steps}
