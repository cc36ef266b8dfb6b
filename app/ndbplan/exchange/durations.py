"""How long each step of a runbook is expected to take, from the estimates."""

from __future__ import annotations

from dataclasses import replace

from ndbplan.base.errors import UserError
from ndbplan.estimate.backup import create_disk_data
from ndbplan.estimate.procedure import add_nodes
from ndbplan.estimate.quantity import Quantity
from ndbplan.estimate.restart import restart
from ndbplan.exchange.steps import RunbookPart
from ndbplan.plan.plan import Plan


def with_durations(plan: Plan, part: RunbookPart, add_groups: int = 1) -> RunbookPart:
    """The part with expected durations where there is an estimate; unchanged for a plan without one."""
    try:
        expected = _expected(plan, part, add_groups)
    except UserError:
        return part
    steps = tuple(
        replace(step, expected=expected[step.name]) if step.name in expected else step for step in part.steps
    )
    return replace(part, steps=steps)


def _expected(plan: Plan, part: RunbookPart, add_groups: int) -> dict[str, Quantity]:
    """Durations by the name of the step; the add-node procedure of the estimates uses the same names."""
    if part.name == "add-nodes":
        return {step.key: step.duration_s for step in add_nodes(plan, add_groups).steps}
    if part.name == "start":
        found = {"data-nodes": restart(plan, "start").duration_s}
        if any(step.name == "disk-data" for step in part.steps):
            found["disk-data"] = create_disk_data(plan).duration_s
        return found
    names = {step.name for step in part.steps}
    return {
        f"restart-{node.node_id}": restart(plan, "node", node.node_id).duration_s
        for node in plan.data_nodes
        if f"restart-{node.node_id}" in names
    }
