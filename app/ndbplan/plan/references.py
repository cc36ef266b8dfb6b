"""What parts of a plan name by id: one walk over the fields declared with `Ref`, and what must hold of them.

    [r.id for r in references(workload)]        # tables it touches, objects its events happen to
    renamed(workload, {"t1": "t2"})
    without(workload, {"t1"})                   # None when nothing is left of it

Checks, renames, removals and pastes all go this way: a field that names an object says so where it is
declared.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar, get_args

from annotated_types import MinLen

from ndbplan.base.errors import UserError
from ndbplan.plan.events import BetweenSides, NetworkCut, NetworkSlow
from ndbplan.plan.fields import Id, Part, Ref
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.places import MOST_LEVELS
from ndbplan.plan.processes import (
    ApiSlot,
    DataNode,
    DiskRole,
    Link,
    ManagementNode,
    Process,
    SqlNode,
    process_node_ids,
)
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Operation

T = TypeVar("T", bound=Part)

_PROCESSES = (ManagementNode, DataNode, SqlNode, ApiSlot)
KINDS: dict[str, tuple[str, tuple[type, ...]]] = {
    "locations": ("location", (Location,)),
    "hosts": ("host", (Host,)),
    "disks": ("disk", (Disk,)),
    "processes": ("process", _PROCESSES),
    "data_nodes": ("data node", (DataNode,)),
    "management_nodes": ("management node", (ManagementNode,)),
    "sql_nodes": ("SQL node", (SqlNode,)),
    "places": ("location, host or node", (Location, Host, *_PROCESSES)),
    "logfile_groups": ("log file group", (LogfileGroup,)),
    "tablespaces": ("tablespace", (Tablespace,)),
    "tables": ("table", (Table,)),
    "objects": ("object", (Part,)),
}
"""What a reference may name: its word, and the kinds of parts that it may be."""


def what_fits(plan: Objects, to: str) -> list[Any]:
    """The objects of a plan that a reference may name, processes by their node ids."""
    fitting = [part for part in plan.objects() if isinstance(part, KINDS[to][1])]
    return sorted(fitting, key=lambda part: getattr(part, "node_id", 0))


class BrokenReferenceError(UserError, ValueError):
    """A plan that contradicts itself; a ValueError so that validation reports it like any bad field."""


class Objects(Protocol):
    """What is asked of a plan: all its objects."""

    @property
    def by_id(self) -> dict[str, Any]: ...
    @property
    def host_of_disk(self) -> dict[str, Host]: ...
    def objects(self) -> Iterator[Any]: ...


class Design(Objects, Protocol):
    """What is asked of a plan when all of it is checked."""

    @property
    def processes(self) -> tuple[Process, ...]: ...
    @property
    def tables(self) -> tuple[Table, ...]: ...


class Reference(NamedTuple):
    """An id that a part of the plan names."""

    ref: Ref
    path: tuple[str | int, ...]
    """Fields and places in lists from the part down: ("transactions", 0, "operations", 2, "table_id")."""
    id: Id


class _Fields(NamedTuple):
    """What of the fields of a kind of part matters here."""

    refs: tuple[tuple[str, Ref], ...]
    naming: tuple[str, ...]
    """Fields with parts that name something."""
    inside: tuple[str, ...]
    """Those, and fields with parts that can be named: what may go when something goes."""
    needed: frozenset[str]
    """Lists of which one member must stay."""


@cache
def _fields_of(kind: type[Part]) -> _Fields:
    refs, naming, inside, needed = [], [], [], []
    for name, field in kind.model_fields.items():
        refs += [(name, one) for one in field.metadata if isinstance(one, Ref)]
        if any(isinstance(one, MinLen) for one in field.metadata):
            needed.append(name)
        below = [(part, _fields_of(part)) for part in _parts_in(field.annotation)]
        if any(fields.refs or fields.naming for _, fields in below):
            naming.append(name)
        if any(fields.refs or fields.inside or "id" in part.model_fields for part, fields in below):
            inside.append(name)
    return _Fields(tuple(refs), tuple(naming), tuple(inside), frozenset(needed))


def _parts_in(annotation: Any) -> Iterator[type[Part]]:
    """Kinds of parts that a field of this type may hold."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        yield annotation
    for argument in get_args(annotation):
        yield from _parts_in(argument)


def references(part: Part, path: tuple[str | int, ...] = ()) -> Iterator[Reference]:
    """Every id that a part, or a part in it, names; in the order of the fields."""
    kind = _fields_of(type(part))
    for name, ref in kind.refs:
        value = getattr(part, name)
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None:
                yield Reference(ref, (*path, name), one)
    for name in kind.naming:
        value = getattr(part, name)
        if isinstance(value, tuple):
            for i, one in enumerate(value):
                yield from references(one, (*path, name, i))
        else:
            yield from references(value, (*path, name))


def renamed(part: T, ids: Mapping[Id, Id]) -> T:
    """The part with what it names called by other ids; those not in `ids` keep theirs. Its own stay."""
    kind = _fields_of(type(part))
    fields: dict[str, Any] = {}
    for name, _ in kind.refs:
        value = getattr(part, name)
        named = isinstance(value, tuple)
        new = tuple(ids.get(one, one) for one in value) if named else ids.get(value, value)
        if new != value:
            fields[name] = new
    for name in kind.naming:
        _exchange(fields, part, name, lambda one: renamed(one, ids))
    return part.model_copy(update=fields) if fields else part


def without(part: T, gone: Container[Id]) -> T | None:
    """What is left of a part when these objects are gone; None: it goes too. Shares what stays.

    A list of ids, or a list that needs a member, takes its part along when it becomes empty: no id in it
    means everything, as on the other side of a cut.
    """
    if getattr(part, "id", None) in gone:
        return None
    kind = _fields_of(type(part))
    fields: dict[str, Any] = {}
    for name, ref in kind.refs:
        value = getattr(part, name)
        if isinstance(value, tuple):
            left = tuple(one for one in value if one not in gone)
            if value and not left:
                return None
            if len(left) < len(value):
                fields[name] = left
        elif value in gone:
            if ref.gone == "remove":
                return None
            fields[name] = None
    for name in kind.inside:
        _exchange(fields, part, name, lambda one: without(one, gone))
        if name in fields and (fields[name] is None or (not fields[name] and name in kind.needed)):
            return None
    return part.model_copy(update=fields) if fields else part


def _exchange(fields: dict[str, Any], part: Part, name: str, change: Callable[[Part], Part | None]) -> None:
    """Put into `fields` what a field becomes when its parts are changed, if any is; None: it is gone."""
    value = getattr(part, name)
    if not isinstance(value, tuple):
        new = change(value)
        if new is not value:
            fields[name] = new
        return
    changed = [change(one) for one in value]
    if any(new is not one for new, one in zip(changed, value, strict=True)):
        fields[name] = tuple(new for new in changed if new is not None)


_ORDER = ("locations", "hosts", "processes", "links", "waivers", "tablespaces", "tables", "workloads")
"""The collections in which something is named, in the order in which contradictions are told."""


def first_broken(plan: Design) -> BrokenReferenceError | None:
    """The first contradiction, or None."""
    return next(broken(plan), None)


def broken(plan: Design) -> Iterator[BrokenReferenceError]:
    """Every contradiction inside the plan: ids are unique, everything named exists."""
    yield from _duplicates(plan)
    for name in _ORDER:
        for i, part in enumerate(getattr(plan, name)):
            yield from broken_part(plan, part, f"{name}[{i}]")


def stays_whole(before: Design, after: Design) -> bool:
    """Whether a plan made from one without contradictions has none, as far as that shows in what is new.

    What stayed in it names what it named, so only new parts are looked at; False, and all of it has to be
    looked at, where something is gone that others may name.
    """
    new: list[tuple[str, Part]] = []
    for name in (*_ORDER, "logfile_groups"):
        were, are = getattr(before, name), getattr(after, name)
        if were is are:
            continue
        stayed = set(map(id, were)) & set(map(id, are))
        if not all(_can_be_named_as(before, after, part) for part in were if id(part) not in stayed):
            return False
        new += [(name, part) for part in are if id(part) not in stayed]
    return next(_duplicates(after), None) is None and not any(
        next(broken_part(after, part, name), None) for name, part in new
    )


def _can_be_named_as(before: Design, after: Design, was: Any) -> bool:
    """Whether what named a part that was exchanged may name what has its id now."""
    now: Any = after.by_id.get(was.id) if hasattr(was, "id") else was
    if type(now) is not type(was) or isinstance(was, Location):
        return False
    if isinstance(was, Host):
        return all(
            isinstance(after.by_id.get(disk.id), Disk) and after.host_of_disk[disk.id].id == was.id
            for disk in was.disks
        )
    return not isinstance(now, Table) or [c.name for c in now.columns] == [c.name for c in was.columns]


def broken_part(plan: Objects, part: Part, place: str) -> Iterator[BrokenReferenceError]:
    """What a part at a place names that the plan does not have, or that contradicts itself."""
    kind = _fields_of(type(part))
    for name, ref in kind.refs:
        value = getattr(part, name)
        if value is None:
            continue
        word, kinds = KINDS[ref.to]
        for one in value if isinstance(value, tuple) else (value,):
            if not isinstance(plan.by_id.get(one), kinds):
                yield BrokenReferenceError(
                    f"there is no {word} '{one}' in the plan",
                    where=f"{place}.{name}",
                    fix=f"add the {word}",
                )
    law = _LAWS.get(type(part))
    if law is not None:
        yield from law(plan, part, place)
    for name in kind.naming:
        value = getattr(part, name)
        if isinstance(value, tuple):
            for i, one in enumerate(value):
                yield from broken_part(plan, one, f"{place}.{name}[{i}]")
        else:
            yield from broken_part(plan, value, f"{place}.{name}")


def _place(plan: Objects, location: Location, place: str) -> Iterator[BrokenReferenceError]:
    """A location lies in no location that lies in it, and not too deep."""
    up, above = [location], plan.by_id.get(location.parent_id or "")
    while isinstance(above, Location) and above not in up:
        up.append(above)
        above = plan.by_id.get(above.parent_id or "")
    names = [one.name for one in up]
    if above == location:
        around = " in ".join(f"'{name}'" for name in (*names, location.name))
        yield BrokenReferenceError(
            f"locations lie in one another in a circle: {around}",
            where=f"{place}.parent_id",
            fix="take one of them out of the other",
        )
    elif above is None and len(names) > MOST_LEVELS:
        yield BrokenReferenceError(
            f"location '{location.name}' in '{names[1]}' is {len(names)} deep; a plan nests {MOST_LEVELS}",
            where=f"{place}.parent_id",
            fix="leave a level out",
        )


def _link(_plan: Objects, link: Link, place: str) -> Iterator[BrokenReferenceError]:
    if link.process_id_1 == link.process_id_2:
        yield BrokenReferenceError(
            f"the link joins '{link.process_id_1}' with itself; a link joins two nodes",
            where=f"{place}.process_id_2",
            fix="name another process",
        )


def _sides(_plan: Objects, event: BetweenSides, place: str) -> Iterator[BrokenReferenceError]:
    for object_id in sorted({*event.object_ids} & {*event.other_ids}):
        yield BrokenReferenceError(
            f"'{object_id}' is on both sides; what a link joins is on one of them",
            where=f"{place}.other_ids",
            fix="take it out of one side",
        )


def _operation(plan: Objects, operation: Operation, place: str) -> Iterator[BrokenReferenceError]:
    touched = plan.by_id.get(operation.table_id)
    if isinstance(touched, Table):
        yield from _columns(touched, operation.columns, f"{place}.columns")


def _disk_roles(plan: Objects, node: DataNode, place: str) -> Iterator[BrokenReferenceError]:
    for role in DiskRole:
        disk_id = node.disk_roles.disk_of(role)
        host = plan.host_of_disk.get(disk_id) if disk_id is not None else None
        if host is not None and host.id != node.host_id:
            yield BrokenReferenceError(
                f"disk '{disk_id}' is on host '{host.id}' but data node {node.node_id} runs on "
                f"'{node.host_id}'; a role needs a disk of the node's own host",
                where=f"{place}.disk_roles.{role}",
                fix="name a disk of that host or leave the role out",
            )


def _table(_plan: Objects, table: Table, place: str) -> Iterator[BrokenReferenceError]:
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
    for i, index in enumerate(table.indexes):
        yield from _columns(table, index.columns, f"{place}.indexes[{i}].columns")


def _columns(table: Table, columns: tuple[str, ...], place: str) -> Iterator[BrokenReferenceError]:
    known = {column.name for column in table.columns}
    for name in columns:
        if name not in known:
            yield BrokenReferenceError(
                f"table {table.full_name} has no column '{name}'",
                where=place,
                fix=f"name one of {', '.join(sorted(known)[:8])}",
            )


def _duplicates(plan: Design) -> Iterator[BrokenReferenceError]:
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


_LAWS: dict[type, Callable[[Objects, Any, str], Iterator[BrokenReferenceError]]] = {
    Location: _place,
    DataNode: _disk_roles,
    Link: _link,
    NetworkCut: _sides,
    NetworkSlow: _sides,
    Operation: _operation,
    Table: _table,
}
"""What a part of a kind must hold beyond that all it names exists."""
