"""Where a plan states a configuration parameter, and the edits that set it and take it out."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ndbplan.checks.problem import Edit
from ndbplan.configuration.stated import SECTIONS, Fate, Stated, stated
from ndbplan.edits.changes import SetParameter
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Process


def counting(plan: Plan, sections: Collection[str], name: str) -> Iterator[Stated]:
    """Every place where the plan states a parameter that ndb_mgmd takes; its name as the manual spells it."""
    for one in stated(plan):
        if one.section in sections and one.reading.name == name and one.reading.fate is Fate.COUNTS:
            yield one


def holding(plan: Plan, section: str, name: str) -> Iterator[tuple[Stated, tuple[Process, ...]]]:
    """Every place as of `counting`, with the nodes for which what it says holds.

    ndb_mgmd looks at what nodes end up with: a default that all of them replace does no harm.
    """
    nodes = [process for process in plan.processes if SECTIONS[process.kind] == section]
    own = {process.id for process in nodes if name.lower() in {each.lower() for each in process.parameters}}
    for one in counting(plan, (section,), name):
        held = tuple(
            process
            for process in nodes
            if (process.id in one.object_ids if one.object_ids else process.id not in own)
        )
        if held:
            yield one, held


def setting(scope: str, name: str, value: int | str) -> Edit:
    """The edit that sets a parameter."""
    return SetParameter(scope, name, value)


def without(scope: str, name: str) -> Edit:
    """The edit that takes a parameter back to its default."""
    return SetParameter(scope, name, None)
