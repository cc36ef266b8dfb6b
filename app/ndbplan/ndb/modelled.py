"""Which values any figure of the program depends on, and which it only carries into what it writes.

    moves("DB", "DataMemory")       # "memory": a part of the figures that a change of it moves
    moves("DB", "LogLevelStartup")  # "": carried; no estimate, simulation, time or space depends on it

Derived by changing every value and comparing all figures (`resources/ndb/modelled.json` says how).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ndbplan.base.resources import read_json


@cache
def _marks() -> dict[str, dict[str, str]]:
    """What each value moves, by section or kind of part and name; nothing where it is carried."""
    document: dict[str, Any] = read_json("ndb/modelled.json")
    modelled, carried = document["modelled"], document["carried"]
    return {
        group: {**dict.fromkeys(carried.get(group, ()), ""), **modelled.get(group, {})}
        for group in {*modelled, *carried}
    }


def moves(group: str, name: str) -> str | None:
    """A part of the figures that a value moves; nothing: it is only carried. None: there is no mark.

    `group`: a section of the parameter catalogue, or the kind of part that has the field (Host, Table …).
    """
    return _marks().get(group, {}).get(name)


_WORDS = {
    "distribution": "the distribution of rows",
    "disk_data": "disk data",
    "disk_space": "the space on disks",
    "cpu": "processors",
    "disks": "the load of disks",
    "checkpoint": "checkpoints",
    "redo": "the redo log",
    "restart": "restart times",
    "backup": "backups",
    "restore": "restoring a backup",
    "reorganise": "reorganisations",
    "simulate": "simulations",
    "growth": "growth",
    "outages": "simulated failures",
    "survive": "what may fail",
    "cost": "what the plan costs",
}
"""Parts of the figures as people read them; others are words already."""


def mark_words(group: str, name: str) -> str:
    """Whether a value is modelled, in one sentence; nothing where there is no mark."""
    part = moves(group, name)
    if part is None:
        return ""
    if not part:
        return "Carried only: no figure depends on it."
    return f"Modelled: it moves figures of {_WORDS.get(part, part)}, among others."
