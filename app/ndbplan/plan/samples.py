"""The sample plans that come with the program."""

from __future__ import annotations

from functools import cache

from ndbplan.base.resources import resource_path
from ndbplan.plan.file import SUFFIX, load
from ndbplan.plan.plan import Plan

_ORDER = (
    "starter",
    "add-nodes",
    "redo-overload",
    "disk-data",
    "node-restart",
    "terabyte-load",
    "telecom-144",
)


def sample_names() -> tuple[str, ...]:
    """Names of the samples, in the order to show them."""
    return _ORDER


@cache
def sample_plan(name: str) -> Plan:
    """The sample called `name`; KeyError when there is none."""
    if name not in _ORDER:
        raise KeyError(name)
    return load(resource_path(f"samples/{name}{SUFFIX}"))
