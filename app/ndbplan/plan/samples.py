"""The sample plans that come with the program."""

from __future__ import annotations

from functools import cache

from ndbplan.base.resources import resource_path
from ndbplan.plan.file import SUFFIX, load
from ndbplan.plan.plan import Plan

TODAY = "-8.4"
"""Ends the name of a published sample's twin on today's version and hardware."""

PUBLISHED = ("add-nodes", "redo-overload", "tick-store", "disk-data", "node-restart", "terabyte-load")

GROUPS: dict[str, tuple[str, ...]] = {
    "To build on": ("starter", "telecom-144"),
    "Published experiments as plans": (*PUBLISHED, "measured-7.4.10"),
    "The same on today's version and hardware": tuple(f"{name}{TODAY}" for name in PUBLISHED),
}
"""Names of the samples under what they are."""

_ORDER = (
    "starter",
    "add-nodes",
    "redo-overload",
    "disk-data",
    "node-restart",
    "terabyte-load",
    "telecom-144",
    "tick-store",
    "measured-7.4.10",
    *GROUPS["The same on today's version and hardware"],
)


def sample_names() -> tuple[str, ...]:
    """Names of the samples, in the order to list them."""
    return _ORDER


@cache
def sample_plan(name: str) -> Plan:
    """The sample called `name`; KeyError when there is none."""
    if name not in _ORDER:
        raise KeyError(name)
    return load(resource_path(f"samples/{name}{SUFFIX}"))
