"""A fix that does harm by itself, with what goes with it: fixes of what it brings, and room that is bought.

with_room(plan, problem, look)       # Solution("Set … and give 2 hosts 64 GiB", …)
"""

from __future__ import annotations

from functools import partial

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_bytes, format_bytes_binary
from ndbplan.checks.problem import Look, Problem, Severity, Solution, WaysOut
from ndbplan.checks.solutions import errors_only, that_mend
from ndbplan.checks.unwise.memory_cures import (
    capacities,
    hosts_named,
    memories,
    short_of_memory,
    short_of_space,
)
from ndbplan.edits.changes import together
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan


def with_room(plan: Plan, problem: Problem, look: Look) -> WaysOut:
    """The fix of a problem together with what it needs; none where that mends nothing without harm."""
    edit, words = problem.edit, problem.fix or problem.rule
    if edit is None:
        return WaysOut((), "")
    title = words[:1].upper() + words[1:]
    alone = Solution(title, "with the fixes of what it brings", edit, asks=True)
    found = _that_mend(plan, problem, alone, look)
    if found:
        return WaysOut(found, "")
    try:
        after = edit(plan)
        memory = short_of_memory(Estimation(after))
        disks = short_of_space(Estimation(memories(after, memory)))
    except UserError:
        return WaysOut((), "")
    bought = [f"{hosts_named(after, memory)} {format_bytes_binary(max(memory.values()))}"] if memory else []
    bought += [f"disks {format_bytes(max(disks.values()))}"] if disks else []
    if not bought:
        return WaysOut((), "")
    given = together([edit, partial(memories, sizes=memory), partial(capacities, sizes=disks)])
    title += f", and give {' and '.join(bought)}"
    larger = Solution(title, "there is no room for it so far", given, buys=True)
    return WaysOut(_that_mend(plan, problem, larger, look), "")


def _that_mend(plan: Plan, problem: Problem, way: Solution, look: Look) -> tuple[Solution, ...]:
    found = that_mend(look, plan, [way], problem.rule, problem.object_ids)
    if not found and problem.severity is Severity.ERROR:
        # A plan that is refused has hidden what else there is to say of it.
        found = that_mend(errors_only(look), plan, [way], problem.rule, problem.object_ids)
    return found
