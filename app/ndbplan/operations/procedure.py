"""A procedure as it is asked for: what kind, of what, under which conditions.

operation_of(Estimation(plan), Procedure(kind="add-nodes", groups=2))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ndbplan.base.errors import UserError
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE, Conditions
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.operations.change import change
from ndbplan.operations.operation import Operation
from ndbplan.operations.roll_out import roll_out, upgrade
from ndbplan.plan.plan import Plan

Kind = Literal["add-nodes", "change", "roll-out", "upgrade"]
KINDS: tuple[Kind, ...] = get_args(Kind)
OF_KIND: dict[Kind, tuple[str, str]] = {
    "change": ("running", "--from"),
    "roll-out": ("names", "--set"),
    "upgrade": ("version", "--to-version"),
}
"""What only one kind asks for, and how the command line is told."""


class ProcedureError(UserError):
    """A procedure of which something is not said."""


@dataclass(frozen=True)
class Procedure:
    """Which procedure."""

    kind: Kind = "add-nodes"
    groups: int = 1
    """Node groups that are added."""
    names: tuple[str, ...] = ()
    """Parameters that are rolled out."""
    version: str = ""
    """Version after an upgrade."""
    running: Plan | None = None
    """What runs before a change."""
    conditions: Conditions = IDLE


def operation_of(now: Estimation, asked: Procedure) -> Operation:
    """Its steps. Raises ProcedureError, and what the procedures raise, such as CannotChangeError."""
    for kind, (field, where) in OF_KIND.items():
        if kind != asked.kind and getattr(asked, field):
            raise ProcedureError(
                f"{asked.kind} has no use for it", where=where, fix=f"leave it out, or ask for {kind}"
            )
    if asked.kind == "change":
        if asked.running is None:
            raise ProcedureError(
                "what runs is not named", where="--from", fix="name a plan or its config.ini"
            )
        return change(now, asked.running, asked.conditions)
    if asked.kind == "add-nodes":
        return add_nodes(now, asked.groups, asked.conditions)
    if asked.kind == "roll-out":
        if not asked.names:
            fix = "name some, such as RedoBuffer"
            raise ProcedureError("no parameter is named", where="--set", fix=fix)
        return roll_out(now, asked.names, asked.conditions)
    if not asked.version:
        raise ProcedureError("the new version is not named", where="--to-version", fix="name it, such as 8.4")
    return upgrade(now, asked.version, asked.conditions)
