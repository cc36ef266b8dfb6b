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
    ways = [Solution(title, "with the fixes of what it brings", edit)]
    try:
        after = edit(plan)
        memory = short_of_memory(Estimation(after))
        disks = short_of_space(Estimation(memories(after, memory)))
    except UserError:
        return WaysOut((), "")
    bought = [f"{hosts_named(after, memory)} {format_bytes_binary(max(memory.values()))}"] if memory else []
    bought += [f"disks {format_bytes(max(disks.values()))}"] if disks else []
    if bought:
        given = together([edit, partial(memories, sizes=memory), partial(capacities, sizes=disks)])
        what = " and ".join(bought)
        ways.append(Solution(f"{title}, and give {what}", "there is no room for it so far", given, buys=True))
    found = that_mend(look, plan, ways, problem.rule, problem.object_ids)
    if not found and problem.severity is Severity.ERROR:
        # A plan that is refused has hidden what else there is to say of it.
        found = that_mend(errors_only(look), plan, ways, problem.rule, problem.object_ids)
    return WaysOut(found, "")
