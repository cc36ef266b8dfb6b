"""Setting fields by their addresses, with the edits of the window.

plan, changes = assign(plan, "hosts[a1].memory=64 GB")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.frozen import FrozenMap
from ndbplan.base.shapes import Shape
from ndbplan.configuration.stated import link_scope
from ndbplan.edits import parts as edits
from ndbplan.edits import reading, validated
from ndbplan.edits.address import AddressError, places, split
from ndbplan.edits.arrays import put_devices, put_level
from ndbplan.edits.called import called
from ndbplan.edits.load_shapes import put_load_kind, put_points
from ndbplan.edits.parameters import put_origin, set_parameter
from ndbplan.edits.places import Path, Place, at
from ndbplan.edits.roles import move_process
from ndbplan.edits.spelled import spelled
from ndbplan.edits.tables import put_columns, put_primary_key
from ndbplan.edits.validated import EditError
from ndbplan.plan.fields import Assumable, Part
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, Link
from ndbplan.plan.tables import Column, LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import OpenLoad, Workload

_REFERRED: dict[str, tuple[type, str]] = {
    "location_id": (Location, "location"),
    "parent_id": (Location, "location"),
    "host_id": (Host, "host"),
    "tablespace_id": (Tablespace, "tablespace"),
    "logfile_group_id": (LogfileGroup, "log file group"),
    "table_id": (Table, "table"),
    "process_id_1": (Part, "process"),
    "process_id_2": (Part, "process"),
}


@dataclass(frozen=True)
class Change(Shape):
    """One field that was set."""

    JSON = "address before after"

    address: str
    before: Any
    """As JSON has it."""
    after: Any


def assign(plan: Plan, text: str) -> tuple[Plan, tuple[Change, ...]]:
    """The plan with every field that `ADDRESS=VALUE` names set, and which these are.

    An empty value takes back what was stated. A value that is there already changes nothing. Raises UserError
    that names the address, the value, the limit and what is there.
    """
    tokens, rest = split(text)
    if not rest.startswith("="):
        raise AddressError(f"'{text[:80]}' sets nothing: there is no =", fix="write ADDRESS=VALUE")
    typed = rest[1:]
    changes: list[Change] = []
    try:
        targets = places(plan, tokens)
    except AddressError as error:
        raise AddressError(
            error.line.removesuffix(f" — {error.fix}"), where=text[:120], fix=error.fix
        ) from None
    for place in targets:
        address = place.address(plan)
        before = at(plan, place.path)
        try:
            value = value_of(plan, place, typed)
            plan = put(plan, place.path, value)
        except UserError as error:
            raise _refusal(error, place, address, typed, before) from None
        # A node id or name may be part of the address: it is told as it was asked for.
        changes.append(Change(address, reading.plain(before), reading.plain(at(plan, place.path))))
    return plan, tuple(changes)


def _refusal(error: UserError, place: Place, address: str, typed: str, before: Any) -> UserError:
    """The error of one field, with its address, the value and what is there now."""
    shown = typed if len(typed) <= 60 else typed[:57] + "…"
    plain = reading.plain(before)
    is_number = isinstance(plain, int | float) and not isinstance(plain, bool)
    now = "not set" if before is None or before == () else spelled(place, plain) if is_number else str(plain)
    now = now if len(now) <= 60 else now[:57] + "…"
    return AddressError(f"{error.what} (it is {now})", where=f"{address}={shown}", fix=error.fix)


def value_of(plan: Plan, place: Place, typed: str) -> Any:
    """The value that a typed text means at a place. Raises UserError."""
    now = at(plan, place.path)
    if place.shape.kind == "parameter" and place.section:
        name = str(place.path[-1])
        if name == "value":
            name = at(plan, place.path[:-1]).name
        try:
            name = reading.parameter_name(place.section, name, plan.version)
            return reading.read_parameter(place.section, name, typed, plan.version)
        except UserError:
            # What a plan holds already may be set again, and taken back, whatever the version says.
            if now is not None and typed.strip() == reading.text_of(place.shape, now):
                return now
            if now is not None and not typed.strip():
                return None
            raise
    return read_field(plan, place.shape, place.path, typed)


def read_field(plan: Plan, shape: reading.Shape, path: Path, typed: str) -> Any:
    """The value of a field from its text; references by id or name, nothing for its default."""
    value = reading.read(shape, typed)
    if value is reading.UNSET:
        if shape.default is reading.UNSET:
            raise UserError("it must have a value", fix="write one behind the =")
        return shape.default
    if shape.kind == "text" and isinstance(value, str):
        return referred(plan, path, value)
    if shape.kind == "list" and str(path[-1]).endswith("_ids"):
        return tuple(referred(plan, path, one) if isinstance(one, str) else one for one in value)
    return value


def _on_host(plan: Plan, part: Any) -> str:
    """HOST/NAME of a disk; nothing for other parts."""
    host = plan.host_of_disk.get(part.id)
    return "" if host is None else f"{host.hostname}/{part.name}"


def referred(plan: Plan, path: Path, typed: str) -> str:
    """The id of what a reference names by id, name, host name or node id; other texts as they are."""
    field = str(path[-1])
    if len(path) > 1 and path[-2] == "disk_roles":
        host = plan.host(at(plan, path[:-2]).host_id)
        for disk in host.disks:
            if typed in (disk.id, disk.name):
                return disk.id
        names = [disk.name for disk in host.disks]
        raise UserError(f"host {host.hostname} has no disk '{typed[:60]}'", fix=reading.near(typed, names))
    if field == "id" or not field.endswith(("_id", "_ids", "_id_1", "_id_2")):
        return typed
    kind, what = _REFERRED.get(field, (Part, "object"))
    objects: list[Any] = [
        part
        for part in plan.objects()
        if isinstance(part, kind) and (what != "process" or hasattr(part, "node_id"))
    ]
    if any(part.id == typed for part in objects):
        return typed
    named = [part for part in objects if typed in called(plan, part) or typed == _on_host(plan, part)]
    if len(named) == 1:
        return str(named[0].id)
    if named:
        ids = ", ".join(part.id for part in named[:8])
        raise UserError(f"{len(named)} are called '{typed[:60]}'", fix=f"use an id: {ids}")
    known = [name for part in objects for name in called(plan, part)]
    raise UserError(f"there is no {what} '{typed[:60]}' in the plan", fix=reading.near(typed, known))


def put(plan: Plan, path: Path, value: Any) -> Plan:
    """The plan with a value at a path; what is set is no longer an assumption. Raises EditError."""
    before = at(plan, path)
    if type(before) is type(value) and before == value:
        return _pinned(plan, path)
    after = _put(plan, path, value)
    return after if after is plan else _stated(after, path)


def _pinned(plan: Plan, path: Path) -> Plan:
    """The plan in which a parameter that is set to what it is counts as set by hand."""
    if "parameters" not in path[:-1] or at(plan, path) is None:
        return plan
    if path[0] == "parameters":
        return put_origin(plan, str(path[1]), str(path[2]), None) if len(path) == 3 else plan
    part = at(plan, path[:2])
    scope = link_scope(part) if isinstance(part, Link) else str(part.id)
    return put_origin(plan, scope, str(path[-1]), None)


def _put(plan: Plan, path: Path, value: Any) -> Plan:
    if "origins" in path:
        raise EditError("who set a value is recorded when it is set", fix="set the parameter itself")
    if len(path) == 1:
        return _put_own(plan, str(path[0]), value)
    if path[0] == "parameters" and len(path) == 3:
        return set_parameter(plan, str(path[1]), str(path[2]), value)
    known = plan.by_id
    depth = next(
        (n for n in range(len(path) - 1, 0, -1) if getattr(at(plan, path[:n]), "id", None) in known), 0
    )
    if not depth:
        field = str(path[0])
        here = at(plan, path)
        if isinstance(here, Part) and not isinstance(value, Part):
            value = validated.made(type(here), value)
        new = _rebuilt(getattr(plan, field), path[1:], value)
        if field in ("parameters", "calibrations"):
            return validated.changed_plan(plan, {field: new})
        return edits.put(plan, **{field: new})
    part: Any = at(plan, path[:depth])
    rest, part_id = path[depth:], str(part.id)
    if rest[0] == "parameters" and len(rest) == 2:
        return set_parameter(plan, part_id, str(rest[1]), value)
    if isinstance(part, Workload) and rest == ("load", "kind"):
        return put_load_kind(plan, part_id, value)
    if isinstance(part, DataNode) and rest == ("host_id",):
        return move_process(plan, part_id, value)
    if isinstance(part, Table) and rest == ("primary_key",):
        return put_primary_key(plan, part_id, value)
    if isinstance(part, Disk) and rest == ("raid",):
        return put_level(plan, part_id, value)
    if isinstance(part, Disk) and rest == ("devices",):
        return put_devices(plan, part_id, value)
    field = str(rest[0])
    new = _rebuilt(getattr(part, field), rest[1:], value)
    if field == "kind":
        _refuse_kind(part)
    if isinstance(part, Table) and field == "columns" and all(isinstance(one, Column) for one in new):
        return put_columns(plan, part_id, new)
    plan = edits.update(plan, part_id, **{field: new})
    if field == "load" and isinstance(plan.by_id[part_id].load, OpenLoad):
        return put_points(plan, part_id, plan.by_id[part_id].load.points)
    return plan


def _put_own(plan: Plan, field: str, value: Any) -> Plan:
    """Set a field of the plan itself."""
    if field == "format_version":
        raise EditError("the program sets the format of the file", fix="leave it")
    if field in ("parameters", "calibrations") or not isinstance(getattr(plan, field), tuple | Part):
        return edits.set_plan(plan, **{field: value})
    if field == "assumed":
        return edits.set_plan(plan, assumed=value)
    raise EditError(f"{field} holds parts", fix=f"add and remove them, or set {field}[*].FIELD")


def _refuse_kind(part: Part) -> None:
    """The kind decides which fields there are; only of disks and links it is a field like another."""
    kind: Any = getattr(part, "kind", "")
    if len(reading.shape_of(type(part), "kind").choices) < 2:
        raise EditError(f"a part of kind {kind} cannot become another kind", fix="remove it and add another")


def _rebuilt(here: Any, path: Path, value: Any) -> Any:
    """A part, tuple or mapping with a value at a path inside it; the rest is shared."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(here, FrozenMap):
        return here.without(step) if value is None else here.with_(step, value)
    if isinstance(here, tuple):
        place = int(step)
        return (*here[:place], _rebuilt(here[place], rest, value), *here[place + 1 :])
    if step == "kind":
        _refuse_kind(here)
    return validated.changed(here, **{str(step): _rebuilt(getattr(here, str(step)), rest, value)})


def _stated(plan: Plan, path: Path) -> Plan:
    """Take what was set out of the assumptions of the part that holds it."""
    if path[-1] == "assumed":
        return plan
    n = next(n for n in range(len(path) - 1, -1, -1) if isinstance(at(plan, path[:n]), Assumable))
    part: Assumable = at(plan, path[:n])
    inside = path[n:]
    # One of several rates of a load says nothing about the others.
    last = len(inside) - 1
    steps = {str(s) for i, s in enumerate(inside) if i == last or not _several(plan, path[: n + i + 1])}
    left = tuple(name for name in part.assumed if name not in {*steps, ".".join(map(str, inside))})
    return plan if left == part.assumed else _put(plan, (*path[:n], "assumed"), left)


def _several(plan: Plan, path: Path) -> bool:
    value = at(plan, path)
    return isinstance(value, tuple) and len(value) > 1
