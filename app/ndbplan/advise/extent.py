"""How much of a cluster a change touches: of changes that gain the same the smaller one is wanted.

    extent_of(plan, after) < extent_of(plan, other)

No price is guessed: machines count before what is lost, that before processes, values and their steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ndbplan.edits.changes import ASSUMED, ValueChange
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan

_MAKES_FILES_ANEW = ("initial_node", "initial_system")


class Extent(NamedTuple):
    """What a change touches; what weighs most stands first."""

    hosts: int
    """New ones, those that go, and those with other hardware."""
    is_initial: bool
    """Whether data nodes, or all of them at once, start without their files."""
    processes: int
    """New ones and those that go; all of them where the version is another."""
    values: int
    steps: float
    """How often numbers are doubled or halved."""


def extent_of(before: Plan, after: Plan, changes: Sequence[ValueChange]) -> Extent:
    """What `changes`, all that differs between two plans, touch."""
    told = [change for change in changes if not change.name.startswith(ASSUMED)]
    hosts = {host for change in told for host in _hosts(before, after, change)}
    parts = {**before.by_id, **after.by_id}
    processes = {one.scope for one in told if one.name == "object" and hasattr(parts[one.scope], "node_id")}
    if before.ndb_version != after.ndb_version:
        processes |= {process.id for process in after.processes}
    is_initial = any(
        change.is_parameter
        and catalogue.exists("DB", change.name)
        and catalogue.parameter("DB", change.name).restart in _MAKES_FILES_ANEW
        for change in told
    )
    return Extent(len(hosts), is_initial, len(processes), len(told), sum(map(_steps, told)))


def _hosts(before: Plan, after: Plan, change: ValueChange) -> Iterator[str]:
    """Hosts whose hardware a change makes another."""
    for plan in (before, after):
        if isinstance(plan.by_id.get(change.scope), Host):
            yield change.scope
        elif change.scope in plan.host_of_disk:
            yield plan.host_of_disk[change.scope].id


def _steps(change: ValueChange) -> float:
    """Doublings of a number; one step where it is none, or there was none."""
    numbers = (change.before, change.after)
    if all(isinstance(one, int | float) and not isinstance(one, bool) and one > 0 for one in numbers):
        return abs(math.log2(change.after / change.before))
    return 1.0
