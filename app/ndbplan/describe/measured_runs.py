"""How near a figure lies to runs that were measured, in words.

near_runs(plan, "storage")      # "Beyond all measured runs; nearest: 8.4.8, 1 M rows; 7.4.10, 1 M rows."
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan

_MARKS = {
    "measured": "At a measured run",
    "between": "Between measured runs",
    "beyond": "Beyond all measured runs",
}


def near_runs(plan: Plan, kind: str) -> str:
    """The mark of figures of a kind, the runs that are most like the plan, and what its rules rest on."""
    from ndbplan.estimate.stored import reach

    near = reach(plan, kind)
    nearest = f"; nearest: {'; '.join(near.nearest)}" if near.nearest else ""
    rules = f" {near.rules[0].upper()}{near.rules[1:]}." if near.rules else ""
    return f"{_MARKS[near.mark]}{nearest}.{rules}"
