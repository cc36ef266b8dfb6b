"""Changes of single values as data: edits that can be compared, put together and told before they are done.

change = SetParameter("data_node", "RedoBuffer", 64 * MIB)
plan = change(plan)
[c.line for c in value_changes(before, plan)]     # ['RedoBuffer of all data nodes: 32M -> 64M']
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby
from typing import Any

from pydantic import BaseModel

from ndbplan.base.errors import readable
from ndbplan.base.shapes import Shape
from ndbplan.configuration.stated import SCOPES, SECTIONS, link_scope
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.growth import free_node_id
from ndbplan.edits.ids import NewIds
from ndbplan.edits.origins import with_origin
from ndbplan.edits.parameters import part_with_parameter, put_origin, set_parameter, stated_at
from ndbplan.edits.roles import assign_role, with_role
from ndbplan.plan.field_words import grouped, parameter_words, title_of, value_words
from ndbplan.plan.origins import Origin, SetByProgram
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DiskRole
from ndbplan.plan.tables import Table

_SCOPE_NAMES = {
    "data_node": "all data nodes",
    "management": "all management nodes",
    "sql": "all SQL and API nodes",
    "tcp": "all TCP connections",
    "shm": "all shared memory connections",
    "system": "the system",
}


@dataclass(frozen=True)
class SetParameter:
    """A configuration parameter set for a scope (see `edits.set_parameter`); None: back to its default."""

    scope: str
    name: str
    value: int | str | None
    origin: Origin | None = None
    """Who sets it; None: a person."""

    def __call__(self, plan: Plan) -> Plan:
        of_kind = getattr(plan.parameters, self.scope, None)
        if of_kind is not None and of_kind.get(self.name) == self.value:
            return plan
        return set_parameter(plan, self.scope, self.name, self.value, self.origin)

    @property
    def part_id(self) -> str | None:
        """The object that it changes without looking at others; None: it is not one."""
        return None if self.scope in SCOPES or self.scope.startswith("link:") else self.scope

    def of(self, part: Any) -> Any:
        """The object after the change."""
        return part_with_parameter(part, self.name, self.value, self.origin)


@dataclass(frozen=True)
class SetField:
    """One field of the object with this id."""

    object_id: str
    name: str
    value: Hashable
    """Changes are told apart by what they are."""

    def __call__(self, plan: Plan) -> Plan:
        return edits.update(plan, self.object_id, **{self.name: self.value})

    @property
    def part_id(self) -> str | None:
        """The object that it changes without looking at others; None: others name it by this."""
        return None if self.name == "id" else self.object_id

    def of(self, part: Any) -> Any:
        """The object after the change."""
        return validated.changed(part, **{self.name: self.value})


@dataclass(frozen=True)
class SetRole:
    """The disk to which a data node writes one purpose."""

    process_id: str
    role: DiskRole
    disk_id: str | None

    def __call__(self, plan: Plan) -> Plan:
        return assign_role(plan, self.process_id, self.role, self.disk_id)

    @property
    def part_id(self) -> str:
        """The object that it changes without looking at others."""
        return self.process_id

    def of(self, part: Any) -> Any:
        """The object after the change."""
        return with_role(part, self.role, self.disk_id)


@dataclass(frozen=True)
class KeepLinks:
    """At most `count` connections of their own between two nodes."""

    process_ids: frozenset[str]
    count: int = 0

    def __call__(self, plan: Plan) -> Plan:
        kept, seen = [], 0
        for link in plan.links:
            if {link.process_id_1, link.process_id_2} == self.process_ids:
                seen += 1
                if seen > self.count:
                    continue
            kept.append(link)
        return plan if len(kept) == len(plan.links) else plan.replace(links=tuple(kept))


@dataclass(frozen=True)
class FreeApiSlots:
    """API slots added until so many are free for any host."""

    count: int

    def __call__(self, plan: Plan) -> Plan:
        while sum(slot.host_id is None for slot in plan.api_slots) < self.count:
            node_id = free_node_id(plan, "api")
            plan = edits.add(plan, ApiSlot(id=NewIds(plan).of_node("api", node_id), node_id=node_id))
        return plan


@dataclass(frozen=True)
class Together:
    """Several changes as one."""

    changes: tuple[Any, ...]

    def __call__(self, plan: Plan) -> Plan:
        for single, run in groupby(self.changes, _is_of_one_part):
            changes = list(run)
            plan = _each(plan, changes) if single else reduce(_done, changes, plan)
        return plan


def _done(plan: Plan, change: Any) -> Plan:
    changed: Plan = change(plan)
    return changed


def _is_of_one_part(change: Any) -> bool:
    return isinstance(change, SetParameter | SetField | SetRole) and change.part_id is not None


def _each(plan: Plan, changes: list[Any]) -> Plan:
    """Changes of objects one by one: those of all objects in one step."""
    by_part: dict[str, list[Any]] = {}
    for change in changes:
        if change.part_id in plan.host_of_disk:
            # A disk is a part of its host.
            return reduce(_done, changes, plan)
        by_part.setdefault(change.part_id, []).append(change)
    return edits.update_each(plan, {part_id: partial(_all_of, these) for part_id, these in by_part.items()})


def _all_of(changes: list[Any], part: Any) -> Any:
    return reduce(lambda changed, change: change.of(changed), changes, part)


def together(changes: Iterable[Any]) -> Any:
    """The changes as one, each once."""
    each = tuple(dict.fromkeys(changes))
    return each[0] if len(each) == 1 else Together(each)


def by_program(change: Any, origin: SetByProgram) -> Any:
    """The same change with the program as who sets its parameters; other changes have no origin."""
    if isinstance(change, SetParameter):
        return replace(change, origin=origin)
    if isinstance(change, Together):
        return Together(tuple(by_program(each, origin) for each in change.changes))
    return change


def credited(before: Plan, after: Plan, origin: SetByProgram) -> Plan:
    """`after` with the program as who set every parameter that it has other than `before`."""
    for change in value_changes(before, after):
        if change.is_parameter and change.after is not None:
            stated, origins = stated_at(before, change.scope)
            said = with_origin(origins, stated, change.name, change.after, origin).get(change.name)
            after = put_origin(after, change.scope, change.name, said)
    return after


@dataclass(frozen=True)
class ValueChange(Shape):
    """One value of a plan before and after an edit; None: it is not there."""

    JSON = "where name before=plain_before after=plain_after"

    scope: str
    """Id of the object, or the scope of a parameter of all nodes of a kind."""
    name: str
    before: Any
    after: Any
    where: str = ""
    """The place in words."""
    is_parameter: bool = False
    names: tuple[str | None, str | None] = (None, None)
    """What the objects are called whose ids the values are."""

    @property
    def line(self) -> str:
        """The change in one line."""
        if self.name == "object":
            return f"{self.where}: {'new' if self.before is None else 'gone'}"
        return f"{self.what}: {' -> '.join(self.shown)}"

    @property
    def what(self) -> str:
        """What is changed, and of what: `capacity of disk nvme0 of host-a1`."""
        title = self.name if self.is_parameter else title_of(self.name)
        return f"{title} of {self.where}" if self.where else title

    @property
    def shown(self) -> tuple[str, str]:
        """Both values as people read them."""
        before, after = (
            self._shown(name or value)
            for name, value in zip(self.names, (self.before, self.after), strict=True)
        )
        # What differs in its last digits alone is told with all of them.
        return (before, after) if before != after else (_exact(self.before), _exact(self.after))

    def _shown(self, value: Any) -> str:
        if value is None and self.is_parameter:
            return "default"
        if self.is_parameter and isinstance(value, int) and not isinstance(value, bool):
            return parameter_words(self.name, value)
        words = None if self.is_parameter else value_words(self.name.rpartition(".")[2], value)
        if words is not None:
            return words
        if isinstance(value, tuple):
            value = _plain(value) or "none"
        return readable(str(value), 80)

    @property
    def plain_before(self) -> str | float | None:
        """The value before, as text where it is neither text nor number."""
        return _plain(self.before)

    @property
    def plain_after(self) -> str | float | None:
        """The value after, likewise."""
        return _plain(self.after)


def _exact(value: Any) -> str:
    return grouped(value) if isinstance(value, int | float) else str(value)


def _plain(value: Any) -> str | float | None:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return value if isinstance(value, int | float | str | None) else str(value)


_ELSEWHERE = {
    "format_version", "name", "notes", "assumed", "parameters", "origins", "links", "ndb_version",
    "locations", "hosts", "processes", "logfile_groups", "tablespaces", "tables", "workloads",
}  # fmt: skip
"""Fields of a plan that say nothing of the cluster, or are looked at by themselves."""
_OF_THE_PLAN = tuple(name for name in Plan.model_fields if name not in _ELSEWHERE)


def value_changes(before: Plan, after: Plan) -> tuple[ValueChange, ...]:
    """Every value in which two plans differ, parameters one by one; what both share is not looked at."""
    return tuple(_value_changes(before, after))


def _value_changes(before: Plan, after: Plan) -> Iterator[ValueChange]:
    if before is after:
        return
    for scope in SCOPES:
        old, new = getattr(before.parameters, scope), getattr(after.parameters, scope)
        yield from _parameters(scope, _SCOPE_NAMES[scope], old, new)
    yield from _links(before, after)
    if before.ndb_version != after.ndb_version:
        yield ValueChange("", "ndb_version", before.ndb_version, after.ndb_version, "the plan")
    for name in _OF_THE_PLAN:
        for path, old, new in _within(name, getattr(before, name), getattr(after, name)):
            yield ValueChange("", path, old, new, "the plan")
    old_parts, new_parts = before.by_id, after.by_id
    for object_id in dict.fromkeys((*old_parts, *new_parts)):
        one, other = old_parts.get(object_id), new_parts.get(object_id)
        if one is other:
            continue
        where = _where(after if other is not None else before, other if other is not None else one)
        if one is None or other is None:
            yield ValueChange(object_id, "object", one and "there", other and "there", where)
            continue
        if type(one) is not type(other) or _is_another(one, other):
            # Plans of different origin call different things by one id: they share no field.
            yield ValueChange(object_id, "object", _where(before, one), _where(after, other), where)
            continue
        yield from _fields((before, after), where, one, other)


def _is_another(one: Any, other: Any) -> bool:
    """Whether tables with one id have neither their name nor half of their columns in common."""
    if not isinstance(one, Table) or one.full_name == other.full_name:
        return False
    names, others = ({column.name for column in table.columns} for table in (one, other))
    return 2 * len(names & others) < max(len(names), len(others))


def _links(before: Plan, after: Plan) -> Iterator[ValueChange]:
    if before.links is after.links or before.links == after.links:
        return
    ends_before, ends_after = ([link_scope(link) for link in plan.links] for plan in (before, after))
    if ends_before != ends_after:
        yield ValueChange("links", "connections", len(before.links), len(after.links), "the plan")
        return
    for scope, one, other in zip(ends_before, before.links, after.links, strict=True):
        nodes = [after.by_id[end].node_id for end in (other.process_id_1, other.process_id_2)]
        where = f"the connection of nodes {nodes[0]} and {nodes[1]}"
        yield from _parameters(scope, where, one.parameters, other.parameters)


def _fields(plans: tuple[Plan, Plan], where: str, one: Any, other: Any) -> Iterator[ValueChange]:
    object_id = other.id
    for name in type(other).model_fields:
        old, new = getattr(one, name), getattr(other, name)
        if old is new or old == new:
            continue
        if name == "parameters":
            yield from _parameters(object_id, where, old, new)
        elif name == "assumed":
            yield from _assumed(object_id, where, one, other)
        elif name == "disk_roles":
            for role in DiskRole:
                if old.disk_of(role) != new.disk_of(role):
                    title = f"disk of {role.value.replace('_', ' ').upper()}"
                    yield _reference(plans, object_id, title, (old.disk_of(role), new.disk_of(role)), where)
        elif name.endswith("_id"):
            yield _reference(plans, object_id, name, (old, new), where)
        elif name not in ("disks", "position", "slot", "origins"):
            for path, before, after in _within(name, old, new):
                yield ValueChange(object_id, path, before, after, where)


ASSUMED = "assumed."
"""Before the name of a field whose value stays, and that somebody states now or no longer."""


def _assumed(object_id: str, where: str, one: Any, other: Any) -> Iterator[ValueChange]:
    """What only one of both says that nobody stated; where the value differs too, that is told by itself."""
    for name in dict.fromkeys((*one.assumed, *other.assumed)):
        before, after = ("assumed" if name in part.assumed else "stated" for part in (one, other))
        if before != after and getattr(one, name, None) == getattr(other, name, None):
            yield ValueChange(object_id, f"{ASSUMED}{name}", before, after, where)


def _within(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Address and both values of all that differs inside a value: fields of columns, indexes, operations."""
    if old == new:
        return
    if isinstance(old, BaseModel) and type(old) is type(new):
        for name in type(old).model_fields:
            yield from _within(f"{path}.{name}", getattr(old, name), getattr(new, name))
        return
    members, others = _by_address(old), _by_address(new)
    if not members and not others:
        before, after = ("there" if isinstance(value, BaseModel) else value for value in (old, new))
        yield path, before, after
        return
    for key in dict.fromkeys((*members, *others)):
        one, other = members.get(key), others.get(key)
        if one is None or other is None:
            yield f"{path}[{key}]", one and "there", other and "there"
        else:
            yield from _within(f"{path}[{key}]", one, other)
    if members.keys() == others.keys() and list(members) != list(others):
        yield f"order of {path}", ", ".join(map(str, members)), ", ".join(map(str, others))


def _by_address(value: Any) -> dict[Any, BaseModel]:
    """The members of a list of parts by what an address calls them: their name, else their place."""
    if not isinstance(value, tuple) or not all(isinstance(member, BaseModel) for member in value):
        return {}
    names = [getattr(member, "name", None) for member in value]
    unnamed = None in names or len(set(names)) < len(names)
    return dict(zip(range(len(value)) if unnamed else names, value, strict=True))


def _reference(
    plans: tuple[Plan, Plan], object_id: str, name: str, ids: tuple[Any, Any], where: str
) -> ValueChange:
    """A field that names another object; people read what that is called."""
    parts = [plan.by_id.get(i or "") for plan, i in zip(plans, ids, strict=True)]
    names = [_name(part) for part in parts]
    if names[0] == names[1]:
        # Disks of different hosts have one name.
        names = [part and _where(plan, part) for plan, part in zip(plans, parts, strict=True)]
    return ValueChange(object_id, name, *ids, where, names=(names[0], names[1]))


def _name(part: Any) -> str | None:
    return getattr(part, "hostname", None) or getattr(part, "name", None)


def _parameters(
    scope: str, where: str, old: Mapping[str, int | str], new: Mapping[str, int | str]
) -> Iterator[ValueChange]:
    if old is new:
        return
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            yield ValueChange(scope, name, old.get(name), new.get(name), where, is_parameter=True)


def _where(plan: Plan, part: Any) -> str:
    if getattr(part, "kind", None) in SECTIONS and hasattr(part, "node_id"):
        names = {"data": "data node", "management": "management node", "sql": "SQL node", "api": "API slot"}
        return f"{names[part.kind]} {part.node_id}"
    if part.id in plan.host_of_disk:
        return f"disk {part.name} of {plan.host_of_disk[part.id].hostname}"
    if hasattr(part, "hostname"):
        return f"host {part.hostname}"
    kind = type(part).__name__.lower()
    return f"{kind} {getattr(part, 'full_name', getattr(part, 'name', part.id))}"
