"""Removing by address, and what goes along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.shapes import Shape
from ndbplan.edits import parts as edits
from ndbplan.edits import reading
from ndbplan.edits.address import AddressError, places, split
from ndbplan.edits.assign import Change, put
from ndbplan.edits.called import called
from ndbplan.edits.places import Path, Place, address_of, at, walk
from ndbplan.edits.validated import EditError
from ndbplan.plan.fields import Part
from ndbplan.plan.plan import Plan


@dataclass(frozen=True)
class Removal(Shape):
    """A plan without something."""

    JSON = "removed along changed"

    plan: Plan
    removed: tuple[str, ...]
    """Addresses of what was named, in the plan before."""
    along: tuple[str, ...]
    """Addresses of what could not live without it."""
    changed: tuple[Change, ...]
    """Fields of other parts that spoke of it."""


def remove(plan: Plan, addresses: Iterable[str]) -> Removal:
    """The plan without what the addresses name, in one step, as the window deletes it.

    Objects take with them what cannot live without them; a field that is named is no longer stated. Raises
    UserError.
    """
    named = [place for address in addresses for place in _named(plan, address)]
    unique = {place.path: place for place in named}
    after = plan
    ids = [place.value.id for place in unique.values() if _is_object(plan, place)]
    others = [place for place in unique.values() if not _is_object(plan, place)]
    # From the last place of a list to its first: what stands before keeps its place.
    for place in sorted(others, key=lambda one: _order(one.path), reverse=True):
        try:
            after = _without(after, place)
        except UserError as error:
            address = address_of(plan, place.path)
            raise AddressError(f"it cannot go: {error.what}", where=address, fix=error.fix) from None
    after = edits.remove(after, ids)
    return Removal(
        after,
        tuple(address_of(plan, path) for path in unique),
        _along(plan, after, tuple(unique)),
        _changed(plan, after, tuple(unique)),
    )


def _named(plan: Plan, address: str) -> tuple[Place, ...]:
    tokens, rest = split(address)
    if rest.strip():
        raise AddressError(
            f"'{address[:80]}' is not an address: '{rest[:40]}' follows it", fix="take it away"
        )
    if len(tokens) == 1 and not tokens[0].selectors and tokens[0].name in plan.by_id:
        return tuple(one for one in walk(plan) if getattr(one.value, "id", None) == tokens[0].name)
    named = places(plan, tokens)
    for place in named:
        if len(place.path) == 1 and place.shape.kind in ("list", "part"):
            raise AddressError(
                f"{place.path[0]} holds the parts of a plan", fix=f"name {place.path[0]}[*] for all"
            )
    return named


def _is_object(plan: Plan, place: Place) -> bool:
    return isinstance(place.value, Part) and getattr(place.value, "id", None) in plan.by_id


def _order(path: Path) -> tuple[tuple[int, str], ...]:
    return tuple((step, "") if isinstance(step, int) else (0, step) for step in path)


def _without(plan: Plan, place: Place) -> Plan:
    """The plan without one member of a list, or with one field no longer stated."""
    *owner, last = place.path
    if not isinstance(last, int):
        if place.shape.default is reading.UNSET:
            raise EditError("it must have a value", fix="remove the part that holds it")
        return put(plan, place.path, place.shape.default)
    members = at(plan, tuple(owner))
    if len(members) == 1 and isinstance(members[0], Part) and len(owner) > 1:
        holder = address_of(plan, tuple(owner[:-1]))
        try:
            return _put_members(plan, tuple(owner), ())
        except UserError:
            raise EditError("it is the last one, and one must stay", fix=f"remove {holder}") from None
    return _put_members(plan, tuple(owner), (*members[:last], *members[last + 1 :]))


def _put_members(plan: Plan, path: Path, members: tuple[Any, ...]) -> Plan:
    """The plan with another tuple at a path. Raises EditError."""
    if len(path) > 1:
        return put(plan, path, members)
    field = str(path[0])
    if field == "calibrations":
        return edits.set_plan(plan, calibrations=members)
    return edits.put(plan, **{field: members})


def _along(before: Plan, after: Plan, named: tuple[Path, ...]) -> tuple[str, ...]:
    """What is gone though it was not named: the outermost of each branch."""
    kept = {id(place.value) for place in walk(after) if isinstance(place.value, Part)}
    addresses = {place.address(after) for place in walk(after) if isinstance(place.value, Part)}
    gone: list[Path] = []
    for place in walk(before):
        if not isinstance(place.path[-1], int) or not isinstance(place.value, Part):
            continue
        counted = not called(before, place.value)
        there = id(place.value) in kept or (not counted and place.address(before) in addresses)
        if not there and not _is_inside(place.path, (*named, *gone)):
            gone.append(place.path)
    inside_of_named = [
        place.path
        for place in walk(before)
        if isinstance(place.path[-1], int)
        and isinstance(place.value, Part)
        and place.path not in named
        and hasattr(place.value, "id")
        and _is_inside(place.path, named)
    ]
    return tuple(address_of(before, path) for path in (*inside_of_named, *gone))


def _is_inside(path: Path, of: tuple[Path, ...]) -> bool:
    return any(path[: len(one)] == one for one in of)


def _changed(before: Plan, after: Plan, named: tuple[Path, ...]) -> tuple[Change, ...]:
    """Fields of parts that stayed which are no longer what they were."""
    new = _references(after)
    changes = []
    for address, (path, value) in _references(before).items():
        if address in new and new[address][1] != value and not _is_inside(path, named):
            changes.append(Change(address, reading.plain(value), reading.plain(new[address][1])))
    return tuple(changes)


def _references(plan: Plan) -> Mapping[str, tuple[Path, Any]]:
    """Values by address, of all parts that are not counted: a member that goes moves those behind it."""
    references: dict[str, tuple[Path, Any]] = {}
    for place in walk(plan):
        if isinstance(place.value, Part | dict) or not place.path:
            continue
        if isinstance(place.value, tuple) and place.value and isinstance(place.value[0], Part):
            continue
        parts = [at(plan, place.path[: n + 1]) for n, step in enumerate(place.path) if isinstance(step, int)]
        if all(called(plan, part) for part in parts):
            references[address_of(plan, place.path)] = (place.path, place.value)
    return references
