"""Constants of the engine as data: value, range, unit, source and how good the evidence is.

    constant("redo_header_bytes").value   # 32

The data is `resources/ndb/constants.json`; a plan's calibrations are applied by `estimate.constants`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ndbplan.base.resources import read_json

EVIDENCE = ("source", "manual", "measured", "fitted", "assumed", "calibration")
"""How a constant is known, best first in no strict order; `calibration` is the user's own measurement."""


@dataclass(frozen=True, slots=True)
class Constant:
    """One constant: low <= value <= high in its unit, with its source and kind of evidence."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    source: str
    evidence: str
    meaning: str = ""


@cache
def all_constants() -> dict[str, Constant]:
    """Every constant by name, in file order."""
    return {row["name"]: Constant(**row) for row in read_json("ndb/constants.json")["constants"]}


def constant(name: str) -> Constant:
    """The constant called `name`. KeyError when there is none."""
    return all_constants()[name]


@dataclass(frozen=True, slots=True)
class RetiredConstant:
    """A constant of earlier versions of the program, which plans may still calibrate."""

    name: str
    meaning: str
    """What it told."""
    instead: str
    """What to calibrate now."""


@cache
def retired_constants() -> dict[str, RetiredConstant]:
    """Every constant that an earlier version of the program had and this one has no more, by name."""
    return {row["name"]: RetiredConstant(**row) for row in read_json("ndb/constants.json")["retired"]}
