"""Copy and paste as text: a piece of a plan that any window, or any mail, can carry."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits.growth import free_node_id
from ndbplan.edits.ids import NewIds
from ndbplan.edits.names import free_name, next_hostname, next_location_name
from ndbplan.edits.parts import add
from ndbplan.edits.validated import EditError, valid
from ndbplan.plan.fields import FARTHEST, Part, Point
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.places import inside
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, Process, SqlNode, process_node_ids
from ndbplan.plan.references import references, renamed, without
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Workload

T = TypeVar("T", bound=Part)
_MARK = "ndbplan-fragment"


class Fragment(Part):
    """Copied objects: hosts come with their disks and processes, disks and processes also alone."""

    kind: str = Field(default=_MARK, pattern=f"^{_MARK}$")
    locations: tuple[Location, ...] = ()
    hosts: tuple[Host, ...] = ()
    disks: tuple[Disk, ...] = ()
    processes: tuple[Process, ...] = ()
    tables: tuple[Table, ...] = ()
    workloads: tuple[Workload, ...] = ()


def copy(plan: Plan, object_ids: Collection[str]) -> str:
    """The text of the objects with these ids; a host brings its processes."""
    chosen = set(object_ids)
    chosen |= inside(plan.locations, chosen)
    chosen.update(h.id for h in plan.hosts if h.location_id in chosen)
    hosts = tuple(h for h in plan.hosts if h.id in chosen)
    on_them = {h.id for h in hosts}
    fragment = Fragment(
        locations=tuple(p for p in plan.locations if p.id in chosen),
        hosts=hosts,
        disks=tuple(d for h in plan.hosts if h.id not in on_them for d in h.disks if d.id in chosen),
        processes=tuple(p for p in plan.processes if p.id in chosen or p.host_id in on_them),
        tables=tuple(t for t in plan.tables if t.id in chosen),
        workloads=tuple(w for w in plan.workloads if w.id in chosen),
    )
    document = {"kind": _MARK, **fragment.model_dump(mode="json", exclude_defaults=True)}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _free_groups(plan: Plan, fragment: Fragment) -> dict[int | None, int]:
    """Other numbers for the node groups of copied data nodes that have no room for them."""
    there, copied = (
        Counter(node.node_group for node in nodes if node.node_group not in (None, NODE_GROUP_NONE))
        for nodes in (plan.data_nodes, [one for one in fragment.processes if isinstance(one, DataNode)])
    )
    full = [group for group, count in copied.items() if there[group] + count > no_of_replicas(plan)]
    free = (group for group in itertools.count() if group not in there and group not in copied)
    return dict(zip(full, free, strict=False))


def is_fragment(text: str) -> bool:
    """Whether a clipboard text is a piece of a plan."""
    return _MARK in text[:200]


def paste(
    plan: Plan, text: str, *, onto_host: str | None = None, offset: float = 40.0
) -> tuple[Plan, tuple[str, ...]]:
    """The plan with the copied objects added under free ids and names, and the ids they got.

    Disks and processes copied without their host go to `onto_host`. Raises EditError for other text.
    """
    try:
        if not is_fragment(text):
            raise ValueError
        fragment = TypeAdapter(Fragment).validate_python(json.loads(text))
    except (ValidationError, ValueError, RecursionError):
        raise _no_fragment() from None
    ids: dict[str, str] = {}

    new_ids = NewIds(plan)

    def fresh(part: Any) -> str:
        ids[part.id] = new_ids.of(type(part))
        return ids[part.id]

    def shifted(position: Point | None) -> Point | None:
        return None if position is None else _moved(position, offset)

    for location in fragment.locations:
        fresh(location)
    places = list(plan.locations)
    for location in fragment.locations:
        left = _left(plan, location, ids)
        beside = {place.name for place in places if place.parent_id == left.parent_id}
        name = next_location_name(left.name, beside) if left.name in beside else left.name
        moved = {"id": ids[location.id], "name": name, "position": shifted(location.position)}
        places.append(left.model_copy(update=moved))
    parts: list[Any] = places[len(plan.locations) :]
    names = {h.hostname for h in plan.hosts}
    for host in fragment.hosts:
        hostname = host.hostname if host.hostname not in names else next_hostname(host.hostname, names)
        names.add(hostname)
        parts.append(
            _left(plan, host, ids).model_copy(
                update={
                    "id": fresh(host),
                    "hostname": hostname,
                    "disks": tuple(d.model_copy(update={"id": fresh(d)}) for d in host.disks),
                    "position": shifted(host.position),
                    "slot": host.slot if host.location_id in ids else None,
                }
            )
        )
    plan, loose = _paste_loose_disks(plan, fragment, onto_host, ids, new_ids)
    taken: set[int] = set()
    groups = _free_groups(plan, fragment)
    for process in fragment.processes:
        host_id = ids.get(process.host_id or "", onto_host)
        if host_id is None and process.kind != "api":
            raise EditError("a node needs a host", fix="select the host to paste it onto")
        node_id = process.node_id
        in_use = taken | {n for p in plan.processes for n in process_node_ids(p)}
        if node_id in in_use:
            node_id = free_node_id(plan, process.kind, taken)
        taken.add(node_id)
        ids[process.id] = new_ids.of_node(process.kind, node_id)
        fields = {"id": ids[process.id], "node_id": node_id, "host_id": host_id}
        if isinstance(process, SqlNode) and process.pool_node_ids:
            pool: list[int] = []
            for _ in process.pool_node_ids:
                pool.append(free_node_id(plan, process.kind, taken))
                taken.add(pool[-1])
            fields["pool_node_ids"] = tuple(pool)
        if isinstance(process, DataNode):
            fields["disk_roles"] = _left(EMPTY_PLAN, process.disk_roles, ids)
            fields["node_group"] = groups.get(process.node_group, process.node_group)
        parts.append(process.model_copy(update=fields))
    table_names = {(t.database, t.name) for t in plan.tables}
    table_ids = {table.id: fresh(table) for table in fragment.tables}
    for table in fragment.tables:
        taken_names = {name for database, name in table_names if database == table.database}
        name = free_name(table.name, taken_names, "_")
        table_names.add((table.database, name))
        fields = {"id": table_ids[table.id], "name": name}
        parts.append(_left(plan, table, table_ids).model_copy(update=fields))
    for workload in fragment.workloads:
        parts.append(_paste_workload(plan, workload, ids, fresh(workload)))
    return add(plan, *parts), (*loose, *(part.id for part in parts))


def _moved(position: Point, offset: float) -> Point:
    """Aside, and still on the canvas."""
    return Point(x=min(position.x + offset, FARTHEST), y=min(position.y + offset, FARTHEST))


def _no_fragment() -> EditError:
    return EditError("the clipboard holds no piece of a plan", fix="copy hosts or nodes first")


def _left(plan: Plan, part: T, ids: Mapping[str, str]) -> T:
    """The part with what was copied along called by its new ids, and without what is not in the plan.

    Only for parts whose references can all be cleared.
    """
    absent = {r.id for r in references(part)} - ids.keys() - plan.by_id.keys()
    left = without(part, absent)
    if left is None:
        raise _no_fragment()
    return renamed(left, ids)


def _paste_loose_disks(
    plan: Plan, fragment: Fragment, onto_host: str | None, ids: dict[str, str], new_ids: NewIds
) -> tuple[Plan, tuple[str, ...]]:
    if not fragment.disks:
        return plan, ()
    if onto_host is None:
        raise EditError("a disk needs a host", fix="select the host to paste it onto")
    host = plan.host(onto_host)
    new: list[Disk] = []
    for disk in fragment.disks:
        ids[disk.id] = new_ids.of(Disk)
        there = (*host.disks, *new)
        name = free_name(disk.name, {d.name for d in there})
        # Two disks at one place: a path would name neither.
        place = free_name(disk.mount_point, {d.mount_point for d in there})
        fields = {"id": ids[disk.id], "name": name, "mount_point": place}
        new.append(valid(disk.model_copy(update=fields)))
    grown = host.model_copy(update={"disks": (*host.disks, *new)})
    hosts = tuple(grown if h is host else h for h in plan.hosts)
    return plan.replace(hosts=hosts), tuple(d.id for d in new)


def _paste_workload(plan: Plan, workload: Workload, ids: dict[str, str], new_id: str) -> Workload:
    """Its events leave out what is not there; its operations keep their tables, or the paste is refused."""
    happens_to = {r.id for event in workload.events for r in references(event)}
    absent = happens_to - ids.keys() - plan.by_id.keys()
    left = tuple(kept for event in workload.events if (kept := without(event, absent)) is not None)
    return renamed(workload.model_copy(update={"id": new_id, "events": left}), ids)
