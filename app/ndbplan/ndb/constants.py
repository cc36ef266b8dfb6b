"""Constants of the engine as data: value, range, unit, source and how good the evidence is.

    constant("redo_header_bytes").value   # 32

The data is `resources/ndb/constants.json`; a plan's calibrations are applied by `estimate.constants`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache

from ndbplan.base.resources import read_json
from ndbplan.ndb.version import NdbVersion, release

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


_FIELDS = [one.name for one in fields(Constant)]
"""Of a row; it also says what it was fitted on, and how well (`fitted_on`)."""


@cache
def _by_era() -> dict[str, dict[str, Constant]]:
    """Constants by name, as they are since each version that a row names under `since`, ascending."""
    rows = read_json("ndb/constants.json")["constants"]
    first = {row["name"]: Constant(**{k: row[k] for k in _FIELDS if k in row}) for row in rows}
    by_era = {"": first}
    later = {since for row in rows for since in row.get("since", {})}
    for era in sorted(later, key=release):
        first = dict(first)
        for row in rows:
            if era in row.get("since", {}):
                first[row["name"]] = replace(first[row["name"]], **row["since"][era])
        by_era[era] = first
    return by_era


@lru_cache(maxsize=256)
def era_of(version: NdbVersion) -> str:
    """The last version, up to this one, with constants of its own; empty: none."""
    eras = [era for era in _by_era() if not era or release(era) <= version]
    return eras[-1]


def all_constants(era: str = "") -> dict[str, Constant]:
    """Every constant by name, in file order, as it is since `era`."""
    return _by_era()[era]


def constant(name: str, era: str = "") -> Constant:
    """The constant called `name`. KeyError when there is none."""
    return all_constants(era)[name]


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
