"""Addresses: how a field of a plan is named in one line, and back.

    hosts[a1].disks[nvme0].capacity_bytes       members by id, else by host name, name, node id or db.table
    processes[ndb1].parameters.RedoBuffer       configuration parameters by the manual's name
    workloads[peak].load.points[0].rate_per_s   what has neither id nor name by its place, from 0
    hosts[*].cores                              all of them
    RedoBuffer   redo.disk.write                a parameter or a disk role alone: all that have it

A name that holds `]` or `"` stands in double quotes, as in JSON. Where several members have one name, their
place among these follows: `transactions[update][1]`. Endings that only tell the unit, or that it is a
reference, may be left out where that is clear: `memory` for `memory_bytes`, `location` for `location_id`.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.frozen import FrozenMap
from ndbplan.base.units import whole_number
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.stated import SCOPES, SECTIONS
from ndbplan.edits.called import called
from ndbplan.edits.places import (
    Path,
    Place,
    address_of,
    members,
    section_of_field,
    section_of_part,
    shape_of_field,
    walk,
)
from ndbplan.edits.reading import Shape, near, parameter_name, shape_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.fields import Part
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole

_ENDINGS = ("_bytes_per_s", "_bytes", "_per_s", "_s", "_id", "_ids", "_ghz", "_iops")
_SHORT = {
    "write": "sequential_write_bytes_per_s",
    "read": "sequential_read_bytes_per_s",
    "latency": "sync_write_latency_s",
    "mount": "mount_point",
    "group": "node_group",
    "inside": "parent_id",
    "balance": "partition_balance",
    "version": "ndb_version",
    "rate": "rate_per_s",
}
_NAME = re.compile(r"[^\s.\[\]=\"]+")


class AddressError(UserError):
    """An address that names nothing in the plan, or not one thing."""


class Token(NamedTuple):
    """One step of an address as typed: a name and its selectors."""

    name: str
    selectors: tuple[str, ...]
    is_quoted: tuple[bool, ...]


def split(text: str) -> tuple[tuple[Token, ...], str]:
    """The steps of an address at the beginning of a text, and what follows. Raises AddressError."""
    tokens: list[Token] = []
    at = 0
    while True:
        match = _NAME.match(text, at)
        if match is None:
            raise AddressError(
                f"'{text[:80]}' is not an address: a name is missing at position {at + 1}",
                fix="write for example hosts[a1].cores or RedoBuffer",
            )
        at = match.end()
        selectors: list[str] = []
        quoted: list[bool] = []
        while text[at : at + 1] == "[":
            selector, is_quoted, at = _selector(text, at + 1)
            selectors.append(selector)
            quoted.append(is_quoted)
        tokens.append(Token(match[0], tuple(selectors), tuple(quoted)))
        if text[at : at + 1] != ".":
            return tuple(tokens), text[at:]
        at += 1


def _selector(text: str, at: int) -> tuple[str, bool, int]:
    if text[at : at + 1] == '"':
        try:
            selector, end = json.JSONDecoder().raw_decode(text, at)
        except ValueError:
            selector, end = None, at
        if isinstance(selector, str) and text[end : end + 1] == "]":
            return selector, True, end + 1
        raise AddressError(
            f"'{text[:80]}': the quoted name in brackets does not end with \"]",
            fix='close it; a quote inside is written \\"',
        )
    end = text.find("]", at)
    if end < 0:
        raise AddressError(f"'{text[:80]}': the bracket is not closed", fix="write for example hosts[a1]")
    return text[at:end].strip(), False, end + 1


def resolve(plan: Plan, address: str) -> tuple[Place, ...]:
    """The places that an address names: one, or all that `[*]`, a parameter or a role alone stands for.

    Raises AddressError, which names the step that leads nowhere and the nearest that does.
    """
    tokens, rest = split(address)
    if rest.strip():
        raise AddressError(
            f"'{address[:80]}' is not an address: '{rest[:40]}' follows it", fix="take it away"
        )
    return places(plan, tokens)


def places(plan: Plan, tokens: tuple[Token, ...]) -> tuple[Place, ...]:
    """The places that the steps of an address name; see resolve."""
    start = _alone(plan, tokens)
    reached, left = start if start is not None else ([Place((), plan, Shape("part"))], tokens)
    said = ""
    while left:
        token, left = left[0], left[1:]
        jump = _jump(plan, reached, token, left, said)
        if jump is not None:
            reached, left = jump
        else:
            reached = [place for one in reached for place in _step(plan, one, token, said)]
        said = f"{said}.{token.name}" if said else token.name
    unique = {place.path: place for place in reached}
    return tuple(unique.values())


def _alone(plan: Plan, tokens: tuple[Token, ...]) -> tuple[list[Place], tuple[Token, ...]] | None:
    """Where an address begins that does not begin with a field of the plan; None: it does."""
    first = tokens[0]
    if first.name in Plan.model_fields:
        return None
    role = _role(first.name)
    if role is not None and not first.selectors:
        if not plan.data_nodes:
            raise AddressError(f"{first.name}: no data node writes anything yet", fix="add data nodes")
        nodes = [place for place in members(plan, ("processes",)) if isinstance(place.value, DataNode)]
        return _of_role(plan, nodes, role, tokens[1:], first.name)
    if len(tokens) == 1 and not first.selectors and any(catalogue.exists(s, first.name) for s in SECTION_SET):
        return parameter_places(plan, first.name), ()
    if not first.selectors and first.name in plan.by_id:
        return [place for place in walk(plan) if getattr(place.value, "id", None) == first.name], tokens[1:]
    fields = [*Plan.model_fields, *(role.value for role in DiskRole)]
    if len(tokens) > 1 or first.selectors:
        raise AddressError(
            f"a plan has no '{first.name[:60]}'",
            where=first.name[:60],
            fix=near(first.name, [*fields, *plan.by_id], "it has"),
        )
    if field_of(Plan, first.name) is not None:
        return None
    names = [e.name for s in SCOPES.values() for e in catalogue.parameters(s, plan.version)]
    hint = near(first.name, [*fields, *names, *plan.by_id])
    raise AddressError(
        f"'{first.name[:60]}' is neither a field of the plan nor a parameter, a disk role or an id",
        fix=hint if hint.startswith("did") else "write for example hosts[a1].cores or RedoBuffer",
    )


SECTION_SET = tuple(dict.fromkeys(SCOPES.values()))


def parameter_places(plan: Plan, name: str) -> list[Place]:
    """Every place that has a parameter: the clusterwide value of each kind of node, and what nodes state."""
    scopes = [s for s, section in SCOPES.items() if catalogue.knows(section, name, plan.version)]
    if not scopes:
        section = next(s for s in SECTION_SET if catalogue.exists(s, name))
        parameter_name(section, name, plan.version)
    stated: list[Place] = []
    for scope in scopes:
        section = SCOPES[scope]
        spelt = parameter_name(section, name, plan.version)
        value = getattr(plan.parameters, scope).get(spelt)
        stated.append(Place(("parameters", scope, spelt), value, Shape("parameter", default=None), section))
    for i, process in enumerate(plan.processes):
        section = SECTIONS[process.kind]
        stated += _stated(process.parameters, ("processes", i), section, name)
    for i, link in enumerate(plan.links):
        stated += _stated(link.parameters, ("links", i), link.kind.upper(), name)
    return stated


def _stated(parameters: FrozenMap[str, Any], path: Path, section: str, name: str) -> list[Place]:
    return [
        Place((*path, "parameters", key), value, Shape("parameter", default=None), section)
        for key, value in parameters.items()
        if key.lower() == name.lower()
    ]


def _role(name: str) -> DiskRole | None:
    word = re.sub(r"[\s_-]+", "", name.lower())
    return next((role for role in DiskRole if role.value.replace("_", "") == word), None)


def _of_role(
    plan: Plan, nodes: list[Place], role: DiskRole, left: tuple[Token, ...], said: str
) -> tuple[list[Place], tuple[Token, ...]]:
    """The roles themselves, or with `disk` behind them the disks that carry them."""
    if not left:
        shape = shape_of(type(nodes[0].value.disk_roles), role.value)
        return [
            Place((*n.path, "disk_roles", role.value), n.value.disk_roles.disk_of(role), shape) for n in nodes
        ], ()
    if left[0].name != "disk" or left[0].selectors:
        raise AddressError(
            f"{said}: a role has only its disk, not '{left[0].name[:60]}'", fix=f"write {said}.disk.write"
        )
    disks = {disk.id: disk for n in nodes if (disk := disk_for(plan, n.value, role)) is not None}
    if not disks:
        raise AddressError(f"{said}.disk: no host of a data node has a disk", fix="add a disk")
    hosts = range(len(plan.hosts))
    there = [disk for host in hosts for disk in members(plan, ("hosts", host, "disks"))]
    return [disk for disk in there if disk.value.id in disks], left[1:]


def _jump(
    plan: Plan, reached: list[Place], token: Token, left: tuple[Token, ...], said: str
) -> tuple[list[Place], tuple[Token, ...]] | None:
    """A role or a parameter named on a process or link itself; None: the step is an ordinary field."""
    parts = [place.value for place in reached]
    if token.selectors or not parts or any(not isinstance(part, Part) for part in parts):
        return None
    if any(field_of(type(part), token.name) is not None for part in parts):
        return None
    role = _role(token.name)
    if role is not None and all(isinstance(part, DataNode) for part in parts):
        return _of_role(plan, reached, role, left, f"{said}.{token.name}" if said else token.name)
    if not left and all("parameters" in type(part).model_fields for part in parts):
        sections = [section_of_part(part) for part in parts]
        if any(section and catalogue.exists(section, token.name) for section in sections):
            step = Token("parameters", (), ())
            inside = [place for one in reached for place in _step(plan, one, step, said)]
            return [place for one in inside for place in _step(plan, one, token, said)], ()
    return None


def field_of(model: type[Part], name: str) -> str | None:
    """The field of a kind of part with this name, or with it and an ending; None when there is none."""
    fields = model.model_fields
    if name in fields:
        return name
    wanted = name.lower().replace("-", "_")
    if wanted in fields:
        return wanted
    if _SHORT.get(wanted) in fields:
        return _SHORT[wanted]
    fitting = [field for field in fields if any(field == wanted + ending for ending in _ENDINGS)]
    return fitting[0] if len(fitting) == 1 else None


def _step(plan: Plan, place: Place, token: Token, said: str) -> list[Place]:
    here = place.value
    where = f"{address_of(plan, place.path)}" if place.path else "a plan"
    if isinstance(here, FrozenMap):
        return [_key(plan, place, token, where)]
    if isinstance(here, tuple):
        rest = "" if token.name == "*" else f".{token.name[:60]}"
        raise AddressError(f"{where} is a list", fix=f"write {where}[*]{rest}, or [NAME] for one of them")
    if not isinstance(here, Part):
        hint = "it is not set; set it whole, as JSON" if here is None and place.shape.kind == "part" else ""
        raise AddressError(
            f"{where} has nothing inside, so no '{token.name[:60]}'",
            fix=hint or f"write {said or token.name} alone",
        )
    field = field_of(type(here), token.name)
    if field is None:
        what = "a plan" if here is plan else f"a {_kind(here)}"
        raise AddressError(
            f"{what} has no field '{token.name[:60]}'",
            where="" if here is plan else where,
            fix=near(token.name, type(here).model_fields, "it has"),
        )
    section = section_of_field(plan, here, field)
    inside = [Place((*place.path, field), getattr(here, field), shape_of_field(here, field), section)]
    for i, selector in enumerate(token.selectors):
        inside = _select(plan, inside, selector, token.is_quoted[i])
    return inside


def _key(plan: Plan, place: Place, token: Token, where: str) -> Place:
    if token.selectors:
        raise AddressError(f"{where}.{token.name[:60]} is not a list", fix="leave the brackets out")
    name = token.name
    if place.section and name not in place.value:
        try:
            name = parameter_name(place.section, name, plan.version)
        except UserError as error:
            raise AddressError(error.what, where=where, fix=error.fix) from None
    shape = Shape("parameter", default=None)
    return Place((*place.path, name), place.value.get(name), shape, place.section)


def _select(plan: Plan, several: list[Place], selector: str, is_quoted: bool) -> list[Place]:
    if len(several) == 1 and isinstance(several[0].value, tuple):
        return _member(plan, several[0], selector, is_quoted)
    # Several of one name: the place among them follows.
    number = whole_number(selector)
    if len(several) > 1 and number is not None and not is_quoted:
        if number < len(several):
            return [several[number]]
        raise AddressError(
            f"there are only {len(several)} of that name, counted from 0", fix="write a lower number"
        )
    where = address_of(plan, several[0].path)
    raise AddressError(f"{where} is not a list, so it has no [{selector[:60]}]", fix="leave the brackets out")


def _member(plan: Plan, place: Place, selector: str, is_quoted: bool) -> list[Place]:
    inside = members(plan, place.path)
    where = address_of(plan, place.path)
    if selector == "*" and not is_quoted:
        if not inside:
            raise AddressError(f"{where} is empty", fix="add something to it first")
        return inside
    tiers = [called(plan, one.value) for one in inside]
    if tiers and any(tiers):
        for tier in range(max(map(len, tiers))):
            named = [
                one for one, names in zip(inside, tiers, strict=True) if selector in names[tier : tier + 1]
            ]
            if len(named) > 1 and hasattr(named[0].value, "id"):
                ids = ", ".join(one.value.id for one in named[:8])
                raise AddressError(
                    f"{where} has {len(named)} called '{selector[:60]}'", fix=f"use an id: {ids}"
                )
            if named:
                return named
        known = [name for names in tiers for name in names[1:]] + [names[0] for names in tiers if names]
        raise AddressError(f"{where} has no '{selector[:60]}'", fix=near(selector, known, "there are"))
    if not inside:
        raise AddressError(f"there is no {where}[{selector[:60]}]: {where} is empty", fix="add one first")
    number = whole_number(selector)
    if number is None or number >= len(inside):
        raise AddressError(
            f"{where} has no member [{selector[:60]}]",
            fix=f"its members have no names; count: from 0 to {len(inside) - 1}",
        )
    return [inside[number]]


def _kind(part: Part) -> str:
    """What people call it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(part).__name__.lstrip("_")).lower()
