"""How near what a command answers lies to runs that were measured: a mark on each part of a result.

shape = marked(plan, shape, "load")                                  # of the whole result
shape = marked(plan, shape, {"memory": "storage", "redo": "load"})   # of its parts
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan

ESTIMATE = {
    "memory": "storage",
    "redo": "load",
    "checkpoint": "load",
    "disks": "load",
    "disk_space": "storage",
    "network": "load",
    "cpu": "load",
    "disk_data": "load",
    "growth": "storage",
    "distribution": "storage",
}
"""Kind of measurement that each part of `ndbplan estimate` is held against."""
BACKUP = {"restore": "restore", "create_files": "files"}


def marked(plan: Plan, shape: dict[str, Any], kinds: Mapping[str, str] | str) -> dict[str, Any]:
    """The result with `nearness`: of its kind, or in each part that it has by the kind of the part.

    What bears a mark of its own keeps it.
    """
    from ndbplan.estimate.timed import situation
    from ndbplan.ndb.nearness import nearness

    here = situation(plan)
    if isinstance(kinds, str):
        return {**shape, "nearness": nearness(kinds, here).to_json()}
    for part, kind in kinds.items():
        if isinstance(shape.get(part), dict):
            shape[part].setdefault("nearness", nearness(kind, here).to_json())
    return shape
