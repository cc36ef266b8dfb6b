"""Events as people type them: `node_failure at=60s object=ndb3`, `network_cut at=1min object=rack-a,b1`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError
from ndbplan.cli.parameters import UsageError

if TYPE_CHECKING:
    from ndbplan.plan.events import Event
    from ndbplan.plan.plan import Plan

_FIX = (
    "write for example 'node_failure at=60s object=ndb3 back_after=2min', 'location_failure at=60s "
    "object=rack-a' or its JSON"
)
_NAMES = {
    "at": "at_s", "for": "duration_s", "duration": "duration_s", "back_after": "back_after_s",
    "object": "object_id", "node": "object_id", "disk": "object_id", "host": "object_id",
    "location": "object_id", "rack": "object_id", "objects": "object_id",
    "from": "other_ids", "other": "other_ids", "others": "other_ids",
}  # fmt: skip
_LISTS = {"object_id", "object_ids", "other_ids"}


def event_of(plan: Plan, text: str) -> Event:
    """An event from JSON, or from its kind and `name=value` pairs. Raises UsageError.

    Objects go by id, nodes also by node id, hosts by host name, locations by name; several with commas.
    """
    from pydantic import TypeAdapter, ValidationError

    from ndbplan.plan.events import Event, named_by

    fields = _fields(text)
    known = _ids(plan)
    for name in _LISTS & fields.keys():
        value = fields[name]
        many = [value] if isinstance(value, str) else value
        if isinstance(many, list | tuple):
            found = [known.get(str(one), one) for one in many]
            fields[name] = found[0] if isinstance(value, str) else found
    adapter: TypeAdapter[Event] = TypeAdapter(Event)
    try:
        event = adapter.validate_python(fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise UsageError(
            f"'{text[:80]}' is no event: {place or 'kind'}: {first['msg']}", where="--event", fix=_FIX
        ) from None
    for named in named_by(event):
        if named not in plan.by_id:
            raise UsageError(
                f"the plan has no object '{named[:64]}'",
                where="--event",
                fix="name it by its id in the plan file, a node also by its node id, a host by its host name",
            )
    return event


def _ids(plan: Plan) -> dict[str, str]:
    """Id of each object that has another name; an id itself comes first."""
    found = {location.name: location.id for location in plan.locations}
    found |= {host.hostname: host.id for host in plan.hosts}
    found |= {str(process.node_id): process.id for process in plan.processes}
    return {name: object_id for name, object_id in found.items() if name not in plan.by_id}


def _fields(text: str) -> dict[str, Any]:
    from ndbplan.base.units import parse_duration_s

    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"'{text[:80]}' is no JSON ({error})", where="--event", fix=_FIX) from None
        assert isinstance(found, dict)
        return found
    kind, *pairs = text.replace(",", " ").split() or [""]
    fields: dict[str, Any] = {"kind": kind}
    last = ""
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals and last in _LISTS:
            # `object=a,b`: another one of the list.
            fields[last] = [*_listed(fields[last]), pair]
            continue
        if not equals or not value:
            raise UsageError(f"'{pair[:80]}' is no name=value", where="--event", fix=_FIX)
        name = last = _NAMES.get(name, name)
        try:
            if name == "value" and value.lstrip("-").isdecimal():
                fields[name] = int(value)
            elif name in _LISTS and name in fields:
                fields[name] = [*_listed(fields[name]), value]
            else:
                fields[name] = parse_duration_s(value) if name.endswith("_s") else value
        except UserError as error:
            raise UsageError(error.what, where=f"--event {name}", fix=error.fix) from None
    if kind == "network_cut":
        if "object_id" in fields:
            fields["object_ids"] = fields.pop("object_id")
        for name in ("object_ids", "other_ids"):
            if name in fields:
                fields[name] = _listed(fields[name])
    return fields


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
