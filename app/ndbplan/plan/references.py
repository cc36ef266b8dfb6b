"""What must hold inside a plan whatever the user does: ids are unique, everything named exists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ndbplan.base.errors import UserError
from ndbplan.plan.events import (
    DiskSlow,
    Event,
    HostFailure,
    LocationFailure,
    ManagementNodeDown,
    NetworkCut,
    NodeFailure,
    SqlNodeDown,
)
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.processes import ApiSlot, DataNode, DiskRole, ManagementNode, SqlNode, process_node_ids
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import JobLoad

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan


class BrokenReferenceError(UserError, ValueError):
    """A plan that contradicts itself; a ValueError so that validation reports it like any bad field."""


def first_broken(plan: Plan) -> BrokenReferenceError | None:
    """The first contradiction, or None."""
    return next(broken(plan), None)


def broken(plan: Plan) -> Iterator[BrokenReferenceError]:
    """Every contradiction inside the plan, in file order."""
    yield from _duplicate_ids(plan)
    by_id = plan.by_id
    for i, host in enumerate(plan.hosts):
        if host.location_id is not None and not isinstance(by_id.get(host.location_id), Location):
            yield _missing(f"hosts[{i}].location_id", "location", host.location_id)
    for i, process in enumerate(plan.processes):
        place = f"processes[{i}]"
        if process.host_id is not None and not isinstance(by_id.get(process.host_id), Host):
            yield _missing(f"{place}.host_id", "host", process.host_id)
        elif isinstance(process, DataNode):
            yield from _disk_roles(plan, process, f"{place}.disk_roles")
    for i, link in enumerate(plan.links):
        for field in ("process_id_1", "process_id_2"):
            process_id = getattr(link, field)
            if not hasattr(by_id.get(process_id), "node_id"):
                yield _missing(f"links[{i}].{field}", "process", process_id)
        if link.process_id_1 == link.process_id_2:
            yield BrokenReferenceError(
                f"the link joins '{link.process_id_1}' with itself; a link joins two nodes",
                where=f"links[{i}].process_id_2",
                fix="name another process",
            )
    for i, waiver in enumerate(plan.waivers):
        if waiver.object_id is not None and waiver.object_id not in by_id:
            yield _missing(f"waivers[{i}].object_id", "object", waiver.object_id)
    for i, tablespace in enumerate(plan.tablespaces):
        if not isinstance(by_id.get(tablespace.logfile_group_id), LogfileGroup):
            yield _missing(
                f"tablespaces[{i}].logfile_group_id", "log file group", tablespace.logfile_group_id
            )
    for i, table in enumerate(plan.tables):
        yield from _table(plan, table, f"tables[{i}]")
    for i, workload in enumerate(plan.workloads):
        for j, transaction in enumerate(workload.transactions):
            for k, operation in enumerate(transaction.operations):
                place = f"workloads[{i}].transactions[{j}].operations[{k}]"
                touched = by_id.get(operation.table_id)
                if not isinstance(touched, Table):
                    yield _missing(f"{place}.table_id", "table", operation.table_id)
                    continue
                yield from _columns(touched, operation.columns, f"{place}.columns")
        if isinstance(workload.load, JobLoad):
            for j, part in enumerate(workload.load.rows):
                if not isinstance(by_id.get(part.table_id), Table):
                    yield _missing(f"workloads[{i}].load.rows[{j}].table_id", "table", part.table_id)
        for j, event in enumerate(workload.events):
            yield from broken_event(plan, event, f"workloads[{i}].events[{j}]")


_HAPPENS_TO: dict[type, tuple[type, str]] = {
    NodeFailure: (DataNode, "data node"),
    ManagementNodeDown: (ManagementNode, "management node"),
    SqlNodeDown: (SqlNode, "SQL node"),
    HostFailure: (Host, "host"),
    LocationFailure: (Location, "location"),
    DiskSlow: (Disk, "disk"),
}
"""What the object of an event must be."""
CAN_BE_CUT_OFF = (Location, Host, DataNode, ManagementNode, SqlNode, ApiSlot)
"""What may stand on a side of a network cut."""


def broken_event(plan: Plan, event: Event, place: str) -> Iterator[BrokenReferenceError]:
    """What an event names that the plan does not have, or that is of another kind."""
    wanted = _HAPPENS_TO.get(type(event))
    if wanted is not None:
        kind, name = wanted
        object_id = getattr(event, "object_id", "")
        if not isinstance(plan.by_id.get(object_id), kind):
            yield _missing(f"{place}.object_id", name, object_id)
    if isinstance(event, NetworkCut):
        for field in ("object_ids", "other_ids"):
            for object_id in getattr(event, field):
                if not isinstance(plan.by_id.get(object_id), CAN_BE_CUT_OFF):
                    yield _missing(f"{place}.{field}", "location, host or node", object_id)
        for object_id in sorted({*event.object_ids} & {*event.other_ids}):
            yield BrokenReferenceError(
                f"'{object_id}' is on both sides of the cut; what is cut apart is on one of them",
                where=f"{place}.other_ids",
                fix="take it out of one side",
            )


def _duplicate_ids(plan: Plan) -> Iterator[BrokenReferenceError]:
    seen: dict[str, str] = {}
    for part in plan.objects():
        kind = type(part).__name__
        if part.id in seen:
            yield BrokenReferenceError(
                f"id '{part.id}' is used twice, by a {seen[part.id]} and a {kind}; an id names one object",
                where="ids",
                fix="give one of them another id",
            )
        seen[part.id] = kind
    node_ids: dict[int, str] = {}
    for i, process in enumerate(plan.processes):
        for node_id in process_node_ids(process):
            if node_id in node_ids:
                yield BrokenReferenceError(
                    f"node id {node_id} is used twice, by '{node_ids[node_id]}' and "
                    f"'{process.id}'; each node of a cluster has its own",
                    where=f"processes[{i}].node_id",
                    fix="give one of them a free node id",
                )
            node_ids[node_id] = process.id
    names: set[str] = set()
    for i, table in enumerate(plan.tables):
        if table.full_name in names:
            yield BrokenReferenceError(
                f"table {table.full_name} is there twice", where=f"tables[{i}].name", fix="rename one of them"
            )
        names.add(table.full_name)


def _disk_roles(plan: Plan, node: DataNode, place: str) -> Iterator[BrokenReferenceError]:
    for role in DiskRole:
        disk_id = node.disk_roles.disk_of(role)
        if disk_id is None:
            continue
        host = plan.host_of_disk.get(disk_id)
        if host is None:
            yield _missing(f"{place}.{role}", "disk", disk_id)
        elif host.id != node.host_id:
            yield BrokenReferenceError(
                f"disk '{disk_id}' is on host '{host.id}' but data node {node.node_id} runs on "
                f"'{node.host_id}'; a role needs a disk of the node's own host",
                where=f"{place}.{role}",
                fix="name a disk of that host or leave the role out",
            )


def _table(plan: Plan, table: Table, place: str) -> Iterator[BrokenReferenceError]:
    names = [column.name for column in table.columns]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        yield BrokenReferenceError(
            f"column '{repeated}' is there twice", where=f"{place}.columns", fix="rename one of them"
        )
    yield from _columns(table, table.primary_key, f"{place}.primary_key")
    for name in table.distribution_key:
        if name not in table.primary_key:
            yield BrokenReferenceError(
                f"'{name}' is not in the primary key ({', '.join(table.primary_key) or 'none'}); NDB "
                "distributes by columns of the primary key only",
                where=f"{place}.distribution_key",
                fix="name primary key columns",
            )
    values_of = table.distribution_key_table_id
    if values_of is not None and not isinstance(plan.by_id.get(values_of), Table):
        yield _missing(f"{place}.distribution_key_table_id", "table", values_of)
    for i, index in enumerate(table.indexes):
        yield from _columns(table, index.columns, f"{place}.indexes[{i}].columns")
    if table.tablespace_id is not None and not isinstance(plan.by_id.get(table.tablespace_id), Tablespace):
        yield _missing(f"{place}.tablespace_id", "tablespace", table.tablespace_id)


def _columns(table: Table, columns: tuple[str, ...], place: str) -> Iterator[BrokenReferenceError]:
    known = {column.name for column in table.columns}
    for name in columns:
        if name not in known:
            yield BrokenReferenceError(
                f"table {table.full_name} has no column '{name}'",
                where=place,
                fix=f"name one of {', '.join(sorted(known)[:8])}",
            )


def _missing(place: str, kind: str, name: str) -> BrokenReferenceError:
    return BrokenReferenceError(
        f"there is no {kind} '{name}' in the plan", where=place, fix=f"add the {kind}"
    )
