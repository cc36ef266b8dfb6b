"""Finds which values any figure depends on, and writes the marks: modelled.json and witnesses.json.

    PYTHONPATH=app:tests python tests/marks/derive.py

A value is modelled when some change of it moves some figure of some plan; the change that did is its witness.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from marks.changes import FIELDS, parameter_keys, parameter_values, with_field, with_value
from marks.figures import PARTS_OF_FIGURES, PLANS, figures, plan_called
from ndbplan.base.resources import resource_path
from ndbplan.configuration.stated import SCOPES
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan

WITNESSES = Path(__file__).parent / "witnesses.json"
MOST_WAYS = 10
_SHOWN_BY = {"NoOfReplicas": ["disk-data-8.4", 0, "distribution"]}
"""Where the first plan hides what a parameter moves first: two data nodes make no group of three."""
_BEFORE: dict[tuple[str, str], str | None] = {}

Key = tuple[str, str]
"""Scope of a parameter, or kind of part, and a name."""

KINDS = {kind.__name__: kind for kind in FIELDS}


def before_of(name: str, part: str) -> str | None:
    """The figures of a plan as it is, computed once."""
    if (name, part) not in _BEFORE:
        _BEFORE[name, part] = figures(plan_called(name), part)
    return _BEFORE[name, part]


def changed(plan: Plan, key: Key, number: int) -> Plan | None:
    """The plan with the value changed in the way of this number; None: there is nothing to change."""
    group, name = key
    if group in KINDS:
        ways = FIELDS[KINDS[group]][name]
        return with_field(plan, KINDS[group], name, ways[number]) if number < len(ways) else None
    if not catalogue.knows(SCOPES[group], name, plan.version):
        return None
    values = parameter_values(catalogue.parameter(SCOPES[group], name, plan.version))
    return with_value(plan, group, name, values[number]) if number < len(values) else None


def moved(
    name: str, plan: Plan, parts: tuple[str, ...] = PARTS_OF_FIGURES, *, also_lost: bool = False
) -> str | None:
    """The first part of the figures of a plan that is another than before; None: none is.

    `also_lost`: figures that cannot be had any more count too.
    """
    for part in parts:
        before = before_of(name, part)
        after = figures(plan, part) if before is not None else None
        if before is not None and after != before and (after is not None or also_lost):
            return part
    return None


def found_in(name: str, keys: list[Key], number: int) -> Iterator[tuple[Key, str]]:
    """Those of many values that move a figure of a plan, with the part: all at once, then in halves."""
    after = plan_called(name)
    there = []
    for key in keys:
        step = changed(after, key, number)
        if step is not None:
            after = step
            there.append(key)
    if not there or moved(name, after, also_lost=len(there) > 1) is None:
        return
    if len(there) == 1:
        part = moved(name, after)
        if part is not None:
            yield there[0], part
        return
    middle = len(there) // 2
    yield from found_in(name, there[:middle], number)
    yield from found_in(name, there[middle:], number)


def all_keys() -> list[Key]:
    """Everything that has a mark."""
    return [*parameter_keys(), *((kind.__name__, name) for kind, names in FIELDS.items() for name in names)]


def group_of(key: Key) -> str:
    """Section of the catalogue, or kind of part."""
    return SCOPES.get(key[0], key[0])


def search() -> dict[str, dict[str, list[Any]]]:
    """[plan, way, part] of every value that moves a figure."""
    keys, witnesses = all_keys(), dict[str, dict[str, list[Any]]]()
    for number in range(MOST_WAYS):
        for name in PLANS:
            for key, part in found_in(name, keys, number):
                witnesses.setdefault(group_of(key), {})[key[1]] = [name, number, part]
                print(*key, name, number, part, file=sys.stderr, flush=True)
            keys = [key for key in keys if key[1] not in witnesses.get(group_of(key), {})]
    witnesses["DB"] |= _SHOWN_BY
    return witnesses


def write(witnesses: dict[str, dict[str, list[Any]]]) -> None:
    """Write both files."""
    WITNESSES.write_text(json.dumps(witnesses, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    modelled = {group: {name: part for name, (_, _, part) in of.items()} for group, of in witnesses.items()}
    carried: dict[str, list[str]] = {}
    for key in all_keys():
        if key[1] not in modelled.get(group_of(key), {}):
            carried.setdefault(group_of(key), []).append(key[1])
    document = {
        "title": "Values that figures depend on, a part that each moves, and those only carried",
        "source": "derived: tests/marks/derive.py changes every value and compares all figures",
        "modelled": modelled,
        "carried": {group: sorted(names) for group, names in carried.items()},
    }
    text = json.dumps(document, indent=1, sort_keys=True) + "\n"
    resource_path("ndb/modelled.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(search())
