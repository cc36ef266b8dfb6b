"""Edits: pure functions from a Plan to a Plan that share every part they do not touch.

    plan = add_host(plan, host)
    plan = update(plan, "host-a1", memory_bytes=parse_bytes("512 GiB"))
    plan = assign_role(plan, "ndb3", DiskRole.REDO, "host-a1-nvme0")

Each raises EditError (or pydantic's ValidationError turned into one) and leaves the plan as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import is_
from typing import Any, TypeVar

from pydantic import ValidationError

from ndbplan.base.errors import UserError
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.configuration.stated import link_scope
from ndbplan.edits.ids import NewIds
from ndbplan.edits.origins import still_true, still_true_of_cluster, with_origin
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import Parameters, Part, Point, refusal
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.origins import Origin, Origins
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole, DiskRoles, Link, process_node_ids
from ndbplan.plan.references import renamed, without
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

T = TypeVar("T", bound=Part)
_COLLECTIONS: dict[type, str] = {
    Location: "locations",
    Host: "hosts",
    LogfileGroup: "logfile_groups",
    Tablespace: "tablespaces",
    Table: "tables",
    Workload: "workloads",
    Link: "links",
}


_COUNTED_FOR = {"columns", "partition_rows"}
"""Fields of a table whose change makes pages that were counted meaningless."""


class EditError(UserError):
    """An edit that the plan cannot take; the plan is unchanged."""


def _checked(plan: Plan) -> Plan:
    if plan.broken is not None:
        raise EditError(plan.broken.what, where=plan.broken.where, fix=plan.broken.fix)
    return plan


def checked(before: Plan, after: Plan) -> Plan:
    """`after`, when a plan file may hold it: whatever made it, what is not in `before` is validated.

    Raises EditError. Every change of a document goes through here, so that no edit can make a plan that is
    saved and then refused.
    """
    fields: dict[str, Any] = {}
    for name in Plan.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if new is old:
            continue
        if not (isinstance(new, tuple) and new and isinstance(new[0], Part)):
            fields[name] = new.model_dump(mode="json") if isinstance(new, Part) else new
            continue
        known = set(map(id, old))
        for part in new:
            if id(part) not in known:
                valid(part)
    if fields:
        changed_plan(before, fields)
    return _checked(after)


def changed(part: T, **fields: Any) -> T:
    """A validated copy of one part with these fields exchanged; it shares the others. Raises EditError."""
    if all(getattr(part, name) == value for name, value in fields.items()):
        return part
    if isinstance(part, Table) and _COUNTED_FOR & fields.keys():
        fields = {"partition_variable_bytes": (), **fields}
    if "parameters" in fields and "origins" not in fields and getattr(part, "origins", None):
        given: Any = part
        fields["origins"] = still_true(given.origins, given.parameters, fields["parameters"])
    try:
        valid = type(part).model_validate(
            {**{n: getattr(part, n) for n in type(part).model_fields}, **fields}
        )
        return part.model_copy(update={name: getattr(valid, name) for name in fields})
    except ValidationError as error:
        raise _refused(error) from None


def _refused(error: ValidationError) -> EditError:
    first = error.errors(include_url=False)[0]
    cause = (first.get("ctx") or {}).get("error")
    place = ".".join(str(step) for step in first["loc"])
    if isinstance(cause, UserError):
        return EditError(cause.what, where=place, fix=cause.fix)
    given = first["input"]
    # A number as a person writes it: 0, not 0.0.
    shown = f"{given:g}" if isinstance(given, float) else repr(given)[:60]
    return EditError(f"{shown} is refused: {refusal(first)}", where=place, fix="correct the value")


def made(kind: type[T], value: Any) -> T:
    """A part of a kind from what its JSON holds. Raises EditError."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise _refused(error) from None


def valid(part: T) -> T:
    """The part itself, when a plan file may hold what it holds. Raises EditError."""
    made(type(part), part.model_dump(mode="json", exclude_defaults=True))
    return part


def add(plan: Plan, *parts: Any) -> Plan:
    """Add locations, hosts, processes, tables, tablespaces, log file groups or workloads, in one step."""
    fields: dict[str, tuple[Any, ...]] = {}
    for part in parts:
        name = _COLLECTIONS.get(type(part), "processes")
        fields[name] = (*fields.get(name, getattr(plan, name)), valid(part))
    return _checked(plan.replace(**fields))


def put_tables(plan: Plan, tables: Iterable[Table]) -> Plan:
    """Add tables, or exchange those of the same id, in one step."""
    new = {table.id: table for table in tables}
    kept = tuple(new.pop(table.id, table) for table in plan.tables)
    if not new and all(map(is_, kept, plan.tables)):
        return plan
    return _checked(plan.replace(tables=(*kept, *new.values())))


def put(plan: Plan, **collections: tuple[Any, ...]) -> Plan:
    """Exchange whole collections of the plan, such as its links. Raises EditError."""
    return _checked(plan.replace(**collections))


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
    new = changed(part, **fields)
    if new is part:
        return plan
    plan = _swap(plan, part, new)
    if new.id != part.id:
        plan = _renamed(plan, part.id, new.id)
    return _checked(plan)


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
    return _checked(plan.replace(**parts))


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
    it had, a location frees its hosts, a table its operations, and a workload without operations goes too.
    Events of what is gone go with it. What goes and what stays is declared where a field names an object.
    """
    known = plan.by_id.keys()
    gone = set(object_ids) & known
    if not gone:
        return plan
    while True:
        left = {name: _without(getattr(plan, name), gone) for name in _NAMED_IN}
        after = plan.replace(**left)
        along = known - after.by_id.keys()
        if along == gone:
            return _checked(after)
        gone = set(along)


def _without(parts: tuple[Any, ...], gone: set[str]) -> tuple[Any, ...]:
    kept = tuple(left for part in parts if (left := without(part, gone)) is not None)
    return parts if len(kept) == len(parts) and all(map(is_, kept, parts)) else kept


def set_plan(plan: Plan, **fields: Any) -> Plan:
    """Set fields of the plan itself: name, notes, ndb_version, parameters, calibrations, backups_kept."""
    if "ndb_version" in fields:
        NdbVersion.parse(fields["ndb_version"])
    return changed_plan(plan, fields)


def changed_plan(plan: Plan, fields: Mapping[str, Any]) -> Plan:
    """A plan with validated values in some of its own fields; the rest is shared."""
    try:
        probe = Plan.model_validate({name: fields[name] for name in fields})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise EditError(
            f"{first['input']!r:.60} is refused: {refusal(first)}",
            where=".".join(str(step) for step in first["loc"]),
            fix="correct the value",
        ) from None
    made = {name: getattr(probe, name) for name in fields}
    if "parameters" in made and "origins" not in made:
        made["origins"] = still_true_of_cluster(plan.origins, plan.parameters, made["parameters"])
    return plan.replace(**made)


def set_parameter(
    plan: Plan, scope: str, name: str, value: int | str | None, origin: Origin | None = None
) -> Plan:
    """Set a configuration parameter for all nodes of a kind; None takes it back to the default.

    `scope` is data_node, management, sql, tcp, the id of one process, or a connection (`stated.link_scope`);
    `origin` says who sets it: None, a person does.
    """
    if scope in type(plan.parameters).model_fields:
        stated = getattr(plan.parameters, scope)
        origins = with_origin(getattr(plan.origins, scope), stated, name, value, origin)
        return plan.replace(
            parameters=changed(plan.parameters, **{scope: with_parameter(stated, name, value)}),
            origins=changed(plan.origins, **{scope: origins}),
        )
    if scope.startswith("link:"):
        links = tuple(
            part_with_parameter(link, name, value, origin) if link_scope(link) == scope else link
            for link in plan.links
        )
        return plan.replace(links=links)
    return update_each(plan, {scope: lambda part: part_with_parameter(part, name, value, origin)})


def part_with_parameter(part: T, name: str, value: int | str | None, origin: Origin | None = None) -> T:
    """A process or link with a parameter of its own set; see set_parameter."""
    given: Any = part
    return changed(
        part,
        parameters=with_parameter(given.parameters, name, value),
        origins=with_origin(given.origins, given.parameters, name, value, origin),
    )


def stated_at(plan: Plan, scope: str) -> tuple[Parameters, Origins]:
    """What is stated at a scope, and who set it."""
    if scope in type(plan.parameters).model_fields:
        return getattr(plan.parameters, scope), getattr(plan.origins, scope)
    links = {link_scope(link): link for link in plan.links} if scope.startswith("link:") else {}
    part: Any = links[scope] if scope in links else plan.by_id[scope]
    return part.parameters, part.origins


def put_origin(plan: Plan, scope: str, name: str, origin: Origin | None) -> Plan:
    """The plan that says who set a stated parameter; None: a person did, and nothing moves it."""
    before = stated_at(plan, scope)[1]
    origins = before.without(name) if origin is None else before.with_(name, origin)
    if origins == before:
        return plan
    if scope in type(plan.parameters).model_fields:
        return plan.replace(origins=changed(plan.origins, **{scope: origins}))
    if scope.startswith("link:"):
        links = (changed(i, origins=origins) if link_scope(i) == scope else i for i in plan.links)
        return plan.replace(links=tuple(links))
    return update_each(plan, {scope: lambda part: changed(part, origins=origins)})


def with_parameter(values: Parameters, name: str, value: int | str | None) -> Parameters:
    """The parameters with one set, or taken out for None; the same name in other letters gives way to it."""
    others = [each for each in values if each.lower() == name.lower() and each != name]
    if value is None:
        return values.without(name)
    for each in others:
        values = values.without(each)
    return values.with_(name, value)


def move(plan: Plan, positions: Mapping[str, Point | None]) -> Plan:
    """Put hosts and locations at places on the canvas; None lets them flow again."""
    touched = {object_id for object_id, p in positions.items() if plan.by_id[object_id].position != p}
    if not touched:
        return plan

    def placed(part: Any) -> Any:
        return part.model_copy(update={"position": positions[part.id]}) if part.id in touched else part

    return plan.replace(hosts=_mapped(plan.hosts, placed), locations=_mapped(plan.locations, placed))


def move_process(plan: Plan, process_id: str, host_id: str) -> Plan:
    """Move a process to another host; a data node's roles go to the disks of the same names there."""
    process = plan.by_id[process_id]
    if process.host_id == host_id:
        return plan
    fields: dict[str, Any] = {"host_id": host_id}
    if isinstance(process, DataNode):
        names = {disk.name: disk.id for disk in plan.host(host_id).disks}
        known = plan.by_id
        roles = {
            r.value: names.get(known[disk_id].name) if disk_id else None
            for r in DiskRole
            for disk_id in [process.disk_roles.disk_of(r)]
        }
        fields["disk_roles"] = DiskRoles(**roles)
    return update(plan, process_id, **fields)


def assign_role(plan: Plan, process_id: str, role: DiskRole, disk_id: str | None) -> Plan:
    """Let a data node write one purpose to a disk of its host; None: back to the disk of its DataDir."""
    return update_each(plan, {process_id: lambda node: with_role(node, role, disk_id)})


def with_role(node: Any, role: DiskRole, disk_id: str | None) -> DataNode:
    """A data node that writes one purpose to this disk."""
    if not isinstance(node, DataNode):
        raise EditError(f"'{node.id}' is not a data node; only data nodes have disk roles")
    return changed(node, disk_roles=node.disk_roles.model_copy(update={role.value: disk_id}))


def free_name(wish: str, taken: Collection[str], separator: str = "-", most: int = 64) -> str:
    """`wish`, or `wish-2`, `wish-3` …, whichever is not taken; a long wish is cut to have room."""
    candidate, number = wish[:most], 1
    while candidate in taken:
        number += 1
        end = f"{separator}{number}"
        candidate = f"{wish[: most - len(end)]}{end}"
    return candidate


def free_node_id(plan: Plan, kind: str, taken: Collection[int] = ()) -> int:
    """The next free node id: data nodes from 1 up, the others behind the highest possible data node."""
    used = {n for process in plan.processes for n in process_node_ids(process)} | set(taken)
    top = plan.features.data_nodes_most
    if kind == "data":
        last = max((n.node_id for n in plan.data_nodes), default=0)
        pool: list[int] = [*range(last + 1, top + 1), *range(1, last)]
    else:
        pool = [*range(top + 1, 256), *range(top, 0, -1)]
    for node_id in pool:
        if node_id not in used:
            return node_id
    most = f"{top} data nodes in NDB {plan.version}" if kind == "data" else "255 nodes"
    raise EditError(f"no node id is free: a cluster has at most {most}", fix="remove a node first")


def add_node_group(plan: Plan, groups: int = 1) -> Plan:
    """Add node groups: per group as many hosts and data nodes as NoOfReplicas, like the last group's.

    The new nodes get the next node ids, the next group number when the plan numbers its groups, hosts with
    the same hardware and disks, and the same roles on them.
    """
    replicas = no_of_replicas(plan)
    if len(plan.data_nodes) < replicas:
        raise EditError(
            f"the plan has {len(plan.data_nodes)} data nodes; a node group needs {replicas}",
            fix="add data nodes first: a new group copies the last one",
        )
    for _ in range(groups):
        stated = {node.node_group is not None for node in plan.data_nodes}
        if len(stated) > 1 or free_node_id(plan, "data") < plan.data_nodes[-1].node_id:
            plan = _numbered(plan, replicas)
        models = plan.data_nodes[-replicas:]
        numbers = [n.node_group for n in plan.data_nodes if n.node_group is not None]
        group = max((n for n in numbers if n < 65536), default=-1) + 1 if numbers else None
        hosts: dict[str, str] = {}
        for model in models:
            if model.host_id not in hosts:
                plan, hosts[model.host_id] = twin_host(plan, plan.host(model.host_id))
            plan = twin_node(plan, model, hosts[model.host_id], group)
    return plan


def _numbered(plan: Plan, replicas: int) -> Plan:
    """The plan with every node group stated that the product would form, so that new nodes keep out of them.

    Nodes without a number fill, in node-id order, the lowest group that has room.
    """
    members: dict[int, int] = {}
    for node in plan.data_nodes:
        if node.node_group is not None:
            members[node.node_group] = members.get(node.node_group, 0) + 1
    group = 0
    for node in plan.data_nodes:
        if node.node_group is None:
            while members.get(group, 0) >= replicas:
                group += 1
            members[group] = members.get(group, 0) + 1
            plan = update(plan, node.id, node_group=group)
    return plan


def twin_host(plan: Plan, model: Host) -> tuple[Plan, str]:
    """The plan with a host of the same hardware and disks under the next free name, and its id."""
    taken = {host.hostname for host in plan.hosts}
    hostname = next_hostname(model.hostname, taken)
    ids = NewIds(plan)
    disks = tuple(disk.model_copy(update={"id": ids.of(Disk)}) for disk in model.disks)
    twin = model.model_copy(
        update={"id": ids.of(Host), "hostname": hostname, "disks": disks, "position": None}
    )
    return add(plan, twin), twin.id


def twin_node(plan: Plan, model: DataNode, host_id: str, group: int | None) -> Plan:
    """The plan with a data node of the same settings on another host, with the same roles on its disks."""
    node_id = free_node_id(plan, "data")
    twin = model.model_copy(
        update={"id": NewIds(plan).of_node("data", node_id), "node_id": node_id, "node_group": group}
    )
    plan = add(plan, twin.model_copy(update={"host_id": model.host_id}))
    return move_process(plan, twin.id, host_id)


def next_hostname(model: str, taken: Collection[str]) -> str:
    """A free name like `model`: host-a1 → host-a2, 10.0.0.3 → 10.0.0.4, fd00::1 → fd00::2."""
    if re.fullmatch(r"[0-9]+(\.[0-9]+){3}", model):
        return _next_address(model, taken)
    if ":" in model:
        return _next_address_of_ipv6(model, taken)
    stem, dot, domain = model.partition(".")
    # A label has up to 63 characters, a name 253.
    most = min(63, 253 - len(dot + domain))
    digits = len(stem) - len(stem.rstrip("0123456789"))
    base, number = (stem[:-digits], int(stem[-digits:])) if digits else (f"{stem}-", 1)
    while True:
        number += 1
        end = f"{number:0{digits}d}"
        candidate = f"{base[: most - len(end)]}{end[-most:]}{dot}{domain}"
        if candidate not in taken:
            return candidate


def _next_address_of_ipv6(model: str, taken: Collection[str]) -> str:
    from ipaddress import AddressValueError, IPv6Address

    try:
        address = IPv6Address(model)
    except AddressValueError:
        # It looks like one, and no host has it: any that is free.
        address = IPv6Address("fd00::")
    while True:
        address = IPv6Address((int(address) + 1) % 2**128)
        if str(address) not in taken:
            return str(address)


def _next_address(model: str, taken: Collection[str]) -> str:
    number = 0
    for part in model.split("."):
        number = number * 256 + int(part)
    while True:
        number = (number + 1) % 2**32
        candidate = ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
        if candidate not in taken and 0 < number & 255 < 255:
            return candidate
