"""A change of a plan that somebody may make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ndbplan.plan.plan import Plan

Edit = Callable[[Plan], Plan]


@dataclass(frozen=True)
class Change:
    """One change that somebody may make."""

    title: str
    edit: Edit
    what: str
    """parameter, threads, table, disk, role, memory, cores, network, group, replica, sql, api,
    management, backup, version or fix."""
    is_carried: bool = False
    """Whether it changes only what no estimate and no simulation depends on: rules alone may read it."""
    doubles: tuple[str, ...] = ()
    """Hosts, disks or SQL nodes of which it makes something twice what it is."""
    only_holds_back: bool = False
    """Whether it makes room for what waits to be written, and lets nothing be written faster."""
    one_of: str = ""
    """Of changes that differ in size only, the first that can be done is enough to lift a limit."""
    includes: str = ""
    """Title of a change that this one makes too: where it gains no more, that one is told alone."""
    more_disks: int | None = None
    """New disks of each host, of a layout."""
