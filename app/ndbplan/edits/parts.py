"""Adding, changing, removing parts: functions from a Plan to a Plan that share what they do not touch.

    plan = add(plan, host)
    plan = update(plan, "host-a1", memory_bytes=parse_bytes("512 GiB"))

Each raises EditError and leaves the plan as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import is_
from typing import Any

from ndbplan.edits.validated import EditError, T, changed, changed_plan, unbroken, valid
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.places import chain
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Link
from ndbplan.plan.references import renamed, without
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

_COLLECTIONS: dict[type, str] = {
    Location: "locations",
    Host: "hosts",
    LogfileGroup: "logfile_groups",
    Tablespace: "tablespaces",
    Table: "tables",
    Workload: "workloads",
    Link: "links",
}


def add(plan: Plan, *parts: Any) -> Plan:
    """Add locations, hosts, processes, tables, tablespaces, log file groups or workloads, in one step."""
    fields: dict[str, tuple[Any, ...]] = {}
    for part in parts:
        name = _COLLECTIONS.get(type(part), "processes")
        fields[name] = (*fields.get(name, getattr(plan, name)), valid(part))
    return unbroken(plan, plan.replace(**fields))


def put_tables(plan: Plan, tables: Iterable[Table]) -> Plan:
    """Add tables, or exchange those of the same id, in one step."""
    new = {table.id: table for table in tables}
    kept = tuple(new.pop(table.id, table) for table in plan.tables)
    if not new and all(map(is_, kept, plan.tables)):
        return plan
    return unbroken(plan, plan.replace(tables=(*kept, *new.values())))


def put(plan: Plan, **collections: tuple[Any, ...]) -> Plan:
    """Exchange whole collections of the plan, such as its links. Raises EditError."""
    return unbroken(plan, plan.replace(**collections))


def add_disk(plan: Plan, host_id: str, disk: Disk) -> Plan:
    """Add a disk to a host."""
    return update(plan, host_id, disks=(*plan.host(host_id).disks, disk))


def update(plan: Plan, object_id: str, **fields: Any) -> Plan:
    """Set fields of the object with this id (any kind). A new `id` is followed by every reference to it."""
    part = plan.by_id.get(object_id)
    if part is None:
        raise EditError(
            f"there is no '{object_id}' in the plan", fix="it may have been deleted; select another"
        )
    if isinstance(part, Host) and fields.get("location_id", part.location_id) != part.location_id:
        fields = {"slot": None, **fields}
    new = changed(part, **fields)
    if new is part:
        return plan
    after = _swap(plan, part, new)
    if new.id != part.id:
        after = _renamed(after, part.id, new.id)
    if isinstance(part, Host | Disk) and all(isinstance(value, int | float) for value in fields.values()):
        # Numbers of hardware name nothing, and nothing names them.
        return after
    return unbroken(plan, after)


def update_each(plan: Plan, changes: Mapping[str, Callable[[Any], Any]]) -> Plan:
    """What each change makes of the object with its id, in one step; `id` and what hosts hold stay.

    The references of the plan are looked at once, when all is done. Raises EditError.
    """
    swapped: dict[str, dict[int, Any]] = {}
    for object_id, change in changes.items():
        part = plan.by_id.get(object_id)
        if part is None:
            raise EditError(
                f"there is no '{object_id}' in the plan", fix="it may have been deleted; select another"
            )
        new = change(part)
        if new is not part:
            swapped.setdefault(_COLLECTIONS.get(type(part), "processes"), {})[id(part)] = new
    if not swapped:
        return plan
    parts = {name: tuple(new.get(id(p), p) for p in getattr(plan, name)) for name, new in swapped.items()}
    return unbroken(plan, plan.replace(**parts))


def update_disks(plan: Plan, changes: Mapping[str, Callable[[Disk], Disk]]) -> Plan:
    """What each change makes of the disk with its id, in one step. Raises EditError."""

    def of(host: Host) -> Host:
        return changed(host, disks=tuple(changes.get(d.id, _same)(d) for d in host.disks))

    return update_each(plan, {plan.host_of_disk[disk_id].id: of for disk_id in changes})


def _same(disk: Disk) -> Disk:
    return disk


def _swap(plan: Plan, old: Any, new: Any) -> Plan:
    if isinstance(old, Disk):
        host = plan.host_of_disk[old.id]
        disks = tuple(new if disk is old else disk for disk in host.disks)
        return _swap(plan, host, host.model_copy(update={"disks": disks}))
    name = _COLLECTIONS.get(type(old), "processes")
    return plan.replace(**{name: tuple(new if part is old else part for part in getattr(plan, name))})


def _mapped(parts: Iterable[T], change: Callable[[T], T]) -> tuple[T, ...]:
    return tuple(change(part) for part in parts)


_NAMED_IN = (
    "locations",
    "hosts",
    "processes",
    "logfile_groups",
    "tablespaces",
    "tables",
    "links",
    "waivers",
    "workloads",
)
"""Collections whose parts are named, or name others."""


def _renamed(plan: Plan, old: str, new: str) -> Plan:
    def follow(part: Any) -> Any:
        return renamed(part, {old: new})

    return plan.replace(**{name: _mapped(getattr(plan, name), follow) for name in _NAMED_IN})


def remove(plan: Plan, object_ids: Collection[str]) -> Plan:
    """Remove objects and what cannot live without them.

    A host takes its disks and processes with it (API slots lose only their host), a disk leaves the roles
    it had, what is in a location comes into the one around that, a table takes its operations, and a workload
    without operations goes too. Events of what is gone go with it. What goes and what stays is declared where
    a field names an object.
    """
    known = plan.by_id.keys()
    gone = set(object_ids) & known
    if not gone:
        return plan
    lifted = _lifted(plan, gone)
    while True:
        left = {name: _without(getattr(lifted, name), gone) for name in _NAMED_IN}
        after = lifted.replace(**left)
        along = known - after.by_id.keys()
        if along == gone:
            return unbroken(plan, after)
        gone = set(along)


def _lifted(plan: Plan, gone: Collection[str]) -> Plan:
    """Hosts and locations in locations that go, in the nearest around them that stays."""

    def lifted(part: T, field: str) -> T:
        held: str | None = getattr(part, field)
        if held not in gone:
            return part
        around = chain(plan.locations, held)
        left = next((place.id for place in around if place.id not in gone), None)
        return part.model_copy(update={field: left})

    hosts = _mapped(plan.hosts, lambda host: lifted(host, "location_id"))
    locations = _mapped(plan.locations, lambda place: lifted(place, "parent_id"))
    changed = any(
        a is not b for a, b in zip((*hosts, *locations), (*plan.hosts, *plan.locations), strict=True)
    )
    return plan.replace(hosts=hosts, locations=locations) if changed else plan


def _without(parts: tuple[Any, ...], gone: set[str]) -> tuple[Any, ...]:
    kept = tuple(left for part in parts if (left := without(part, gone)) is not None)
    return parts if len(kept) == len(parts) and all(map(is_, kept, parts)) else kept


def set_plan(plan: Plan, **fields: Any) -> Plan:
    """Set fields of the plan itself, such as its name, version, parameters or currency."""
    if "ndb_version" in fields:
        NdbVersion.parse(fields["ndb_version"])
    return changed_plan(plan, fields)


def move(plan: Plan, positions: Mapping[str, Point | None]) -> Plan:
    """Put hosts, locations and slots without a host at places on the canvas; None lets them flow again."""
    touched = {object_id for object_id, p in positions.items() if plan.by_id[object_id].position != p}
    if not touched:
        return plan

    def placed(part: Any) -> Any:
        return part.model_copy(update={"position": positions[part.id]}) if part.id in touched else part

    return plan.replace(
        hosts=_mapped(plan.hosts, placed),
        locations=_mapped(plan.locations, placed),
        processes=_mapped(plan.processes, placed),
    )
