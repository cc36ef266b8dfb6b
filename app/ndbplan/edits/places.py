"""Places inside a plan: the path of each value, what it can hold, and the address that leads there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args

from ndbplan.base.frozen import FrozenMap
from ndbplan.configuration.stated import SCOPES, SECTIONS
from ndbplan.edits.called import called, telling
from ndbplan.edits.ids import is_made
from ndbplan.edits.reading import Shape, shape_of
from ndbplan.plan.events import ParameterChange
from ndbplan.plan.fields import Part
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Link
from ndbplan.plan.workloads import Load

Step = str | int
Path = tuple[Step, ...]
"""Field names, places in tuples, keys of mappings, from the plan down."""
LOADS = get_args(get_args(Load)[0])
"""Kinds of loads; a workload may change from one to another."""


@dataclass(frozen=True)
class Place:
    """A place inside one plan."""

    path: Path
    value: Any
    shape: Shape
    """What it can hold."""
    section: str = ""
    """Section of the parameter catalogue, when it is a configuration parameter."""

    def address(self, plan: Plan) -> str:
        """The address that names it."""
        return address_of(plan, self.path)


def section_of_part(part: Any) -> str:
    if isinstance(part, Link):
        return part.kind.upper()
    return SECTIONS.get(getattr(part, "kind", ""), "")


def section_of_field(plan: Plan, part: Any, field: str) -> str:
    """Section of the catalogue that a field of a part speaks of; nothing when it holds no parameters."""
    if part is plan.parameters:
        return SCOPES[field]
    if field == "value" and isinstance(part, ParameterChange):
        return "DB"
    return section_of_part(part) if field == "parameters" else ""


def shape_of_field(part: Any, field: str) -> Shape:
    """What a field of this part can hold; a load may become one of another kind."""
    if field == "kind" and type(part) in LOADS:
        kinds = (model.model_fields["kind"].default for model in LOADS)
        return Shape("choice", choices=tuple(kinds), default=part.kind)
    return shape_of(type(part), field)


def members(plan: Plan, path: Path) -> list[Place]:
    """What is in the tuple at a path."""
    *owner, field = path
    part = at(plan, tuple(owner))
    shape = shape_of(type(part), str(field)).item or Shape("part")
    return [Place((*path, i), one, shape) for i, one in enumerate(getattr(part, str(field)))]


def at(plan: Plan, path: Path) -> Any:
    """What stands at a path."""
    here: Any = plan
    for step in path:
        if isinstance(here, FrozenMap):
            here = here.get(step)
        elif isinstance(step, int):
            here = here[step]
        else:
            here = getattr(here, step)
    return here


_HELD = ("hosts", "locations", "tables", "tablespaces", "logfile_groups", "workloads")


def address_of_part(plan: Plan, object_id: str) -> str:
    """The address of an object by its id, or by its name where the program made the id."""
    host = plan.host_of_disk.get(object_id)
    if host is not None:
        disk = _selector_of(plan, host.disks, [one.id for one in host.disks].index(object_id))
        return f"{address_of_part(plan, host.id)}.disks[{disk}]"
    part = plan.by_id[object_id]
    held = next((name for name in _HELD if part in getattr(plan, name)), "processes")
    inside = getattr(plan, held)
    return f"{held}[{_selector_of(plan, inside, inside.index(part))}]"


def address_of(plan: Plan, path: Path) -> str:
    """The address of a path, with ids and names in the brackets; it leads back to the same place."""
    text = ""
    here: Any = plan
    for step in path:
        if isinstance(step, int):
            text += f"[{_selector_of(plan, here, step)}]"
            here = here[step]
            continue
        text += f".{step}" if text else str(step)
        here = here.get(step) if isinstance(here, FrozenMap) else getattr(here, step)
    return text


def _selector_of(plan: Plan, inside: tuple[Any, ...], i: int) -> str:
    names = called(plan, inside[i])
    if not names:
        return str(i)
    if hasattr(inside[i], "id"):
        return _bracketed(names[1 if is_made(names[0]) and names[1] in telling(inside) else 0])
    alike = [n for n, one in enumerate(inside) if called(plan, one)[:1] == names[:1]]
    place = f"][{alike.index(i)}" if len(alike) > 1 else ""
    return _bracketed(names[0]) + place


def _bracketed(name: str) -> str:
    odd = "]" in name or name.startswith('"') or name == "*" or name != name.strip() or not name
    return json.dumps(name, ensure_ascii=False) if odd else name


def walk(plan: Plan) -> Iterator[Place]:
    """Every part, list and value of a plan, each before what is inside it."""
    yield from _inside(plan, Place((), plan, Shape("part")))


def _inside(plan: Plan, place: Place) -> Iterator[Place]:
    here = place.value
    if isinstance(here, Part):
        for field in type(here).model_fields:
            if field == "origins":
                # Who set a value follows from what sets it; nobody sets that.
                continue
            section = section_of_field(plan, here, field)
            shape = shape_of_field(here, field)
            inner = Place((*place.path, field), getattr(here, field), shape, section)
            yield inner
            yield from _inside(plan, inner)
    elif isinstance(here, FrozenMap):
        shape = Shape("parameter", default=None)
        for key, value in here.items():
            yield Place((*place.path, key), value, shape, place.section)
    elif isinstance(here, tuple) and place.shape.item is not None and place.shape.item.kind == "part":
        for i, one in enumerate(here):
            inner = Place((*place.path, i), one, place.shape.item)
            yield inner
            yield from _inside(plan, inner)


def fields(plan: Plan) -> Iterator[Place]:
    """Every value of a plan that can be set by itself: no parts and no lists of parts."""
    for place in walk(plan):
        if place.shape.kind in ("part", "map") and place.value is not None:
            continue
        if place.shape.kind == "list" and place.shape.item is not None and place.shape.item.kind == "part":
            continue
        yield place
