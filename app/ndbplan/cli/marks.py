"""How near what a command answers lies to runs that were measured: a mark on each part of a result.

shape = marked(plan, shape, "load")                                  # of the whole result
shape = marked(plan, shape, {"memory": "storage", "redo": "load"})   # of its parts
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ndbplan.ndb.constants import all_constants

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
WIDE = 6.0
"""A range of such a factor names what to measure."""
_MATTERS = 0.2
"""Share of the width of a range, on the scale of factors, that a constant must have to be told."""
_UNSURE = ("measured", "fitted", "assumed")
"""Evidence that a measurement of one's own is better than."""
BACKUP = {"restore": "restore", "create_files": "files"}


def marked(plan: Plan, shape: dict[str, Any], kinds: Mapping[str, str] | str) -> dict[str, Any]:
    """The result with `nearness`: of its kind, or in each part that it has by the kind of the part.

    What bears a mark of its own keeps it.
    """
    from ndbplan.estimate.stored import situation
    from ndbplan.ndb.nearness import nearness

    here = situation(plan)
    if isinstance(kinds, str):
        return {**shape, "nearness": nearness(kinds, here).to_json()}
    for part, kind in kinds.items():
        if isinstance(shape.get(part), dict):
            shape[part].setdefault("nearness", nearness(kind, here).to_json())
    return shape


def mark_farthest(plans: Iterable[Plan], row: dict[str, Any], kind: str) -> None:
    """Give a row of several plans the mark of the one farthest from measured runs; counts get none."""
    from ndbplan.estimate.stored import reach

    if kind:
        row["nearness"] = max((reach(plan, kind) for plan in plans), key=lambda one: one.distance).to_json()


def worth_measuring(plan: Plan, reasons: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What to measure where a range is as wide as a factor of 6: of its constants the one known worst.

    `reasons`: a result with its derivations. Each constant is told once, with the widest figure it is in.
    """
    from ndbplan.estimate.constants import constant_for

    widest: dict[str, Mapping[str, Any]] = {}
    for path, figure in _wide(reasons):
        if path not in widest or _width(figure) > _width(widest[path]):
            widest[path] = figure
    worth: dict[str, dict[str, Any]] = {}
    for path, figure in sorted(widest.items(), key=lambda one: -_width(one[1])):
        known = [constant_for(plan, name) for name in set(_constants(figure["why"]))]
        unsure = [one for one in known if one.evidence in _UNSURE and 0 < one.low < one.high]
        worst = max(unsure, key=lambda one: (one.high / one.low, one.name), default=None)
        if worst is None or worst.name in worth:
            continue
        if math.log(worst.high / worst.low) >= _MATTERS * math.log(_width(figure)):
            worth[worst.name] = {
                "figure": path,
                "factor": round(_width(figure), 1),
                "constant": worst.name,
                "what": worst.meaning,
                "set": f"ndbplan add PLAN calibration {worst.name} value=MEASURED",
            }
    return list(worth.values())


def _wide(shape: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Figures with such a range, by their path without the numbers of rows."""
    if isinstance(shape, Mapping):
        if {"value", "low", "high", "why"} <= shape.keys():
            if _width(shape) >= WIDE:
                yield path, shape
            return
        for key, value in shape.items():
            yield from _wide(value, f"{path}.{key}" if path else key)
    elif isinstance(shape, list):
        for value in shape:
            yield from _wide(value, path)


def _width(figure: Mapping[str, Any]) -> float:
    low, high = figure["low"], figure["high"]
    return float(high / low) if low > 0 else 0.0


def _constants(why: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Names of the constants in a derivation."""
    for term in why:
        if term["source"].endswith("]") and "[" in term["source"]:
            name = term["source"].rsplit("[", 1)[1][:-1]
            if name in all_constants():
                yield name
        yield from _constants(term.get("why", ()))
