"""Events as people type them: `node_failure at=60s object=ndb3`, `network_cut at=1min object=rack-a,b1`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError
from ndbplan.base.once import each_key_once
from ndbplan.cli.parameters import UsageError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from ndbplan.plan.events import Event
    from ndbplan.plan.plan import Plan

_FIX = (
    "write for example 'node_failure at=60s object=ndb3 back_after=2min', 'location_failure at=60s "
    "object=rack-a' or its JSON"
)
_DECIMALS = re.compile(r"[0-9]+[.,][0-9]+")
_BETWEEN = re.compile(r"(?<![\s,])[\s,]++(?=[^\s,=]+\s*=)")
_LISTS = {"object_id", "object_ids", "other_ids"}


@cache
def _adapter() -> TypeAdapter[Event]:
    """What tells the kinds of events apart; building it takes longer than an event."""
    from pydantic import TypeAdapter

    from ndbplan.plan.events import Event

    return TypeAdapter(Event)


def event_of(plan: Plan, text: str) -> Event:
    """An event from JSON, or from its kind and `name=value` pairs. Raises UsageError.

    Objects go by id, nodes also by node id, hosts and locations by name, disks by HOST/NAME; several
    with commas.
    """
    from pydantic import ValidationError

    from ndbplan.plan.fields import refusal
    from ndbplan.plan.references import broken_part, references

    known = _ids(plan)
    fields = _fields(text, known)
    for name in _LISTS & fields.keys():
        value = fields[name]
        many = [value] if isinstance(value, str) else value
        if isinstance(many, list | tuple):
            ids = [known.get(str(one), one) for one in many]
            fields[name] = ids[0] if isinstance(value, str) else ids
    try:
        event = _adapter().validate_python(fields)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise UsageError(
            f"'{text[:80]}' is not an event: {place or 'kind'}: {refusal(first)}", where="--event", fix=_FIX
        ) from None
    for named in (reference.id for reference in references(event)):
        if named not in plan.by_id:
            raise UsageError(
                f"the plan has no object '{named[:64]}'",
                where="--event",
                fix="name it by its id in the plan file, a node also by its node id, a host by its host name",
            )
    for broken in broken_part(plan, event, "--event"):
        raise UsageError(broken.what, where="--event", fix=f"{event.kind} happens to another kind of thing")
    return event


def _ids(plan: Plan) -> dict[str, str]:
    """Id of each object that has another name; an id itself comes first."""
    ids = {location.name: location.id for location in plan.locations}
    ids |= {host.hostname: host.id for host in plan.hosts}
    ids |= {f"{host.hostname}/{disk.name}": disk.id for host in plan.hosts for disk in host.disks}
    ids |= {str(process.node_id): process.id for process in plan.processes}
    return {name: object_id for name, object_id in ids.items() if name not in plan.by_id}


def _fields(text: str, known: Mapping[str, str]) -> dict[str, Any]:
    from ndbplan.base.units import by_hand, parse_duration_s, parse_factor, whole_number

    if text.lstrip().startswith("{"):
        try:
            typed = json.loads(text, object_pairs_hook=each_key_once)
        except UserError as error:
            raise UsageError(error.what, where="--event", fix=error.fix) from None
        except (ValueError, RecursionError) as error:
            raise UsageError(f"'{text[:80]}' is not JSON ({error})", where="--event", fix=_FIX) from None
        assert isinstance(typed, dict)
        return typed
    from ndbplan.plan.events import field_typed

    # A value ends where the next `name=` begins, so that it may hold spaces and commas.
    kind, *pairs = _BETWEEN.split(text.strip(" \t\n,"))
    fields: dict[str, Any] = {"kind": kind}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        value = value.strip("'\"")
        if not equals or not value:
            raise UsageError(f"'{pair[:80]}' is not a name=value", where="--event", fix=_FIX)
        name = field_typed(kind, name)
        try:
            number = whole_number(value.removeprefix("-")) if name == "value" else None
            if number is not None:
                fields[name] = -number if value.startswith("-") else number
            elif name in _LISTS:
                fields[name] = [*fields.get(name, ()), *_listed(value, known)]
            elif name.endswith("_s"):
                fields[name] = parse_duration_s(by_hand(value))
            else:
                fields[name] = parse_factor(by_hand(value)) if _DECIMALS.fullmatch(value) else value
        except UserError as error:
            raise UsageError(error.what, where=f"--event {name}", fix=error.fix) from None
    named = fields.get("object_id", [])
    if len(named) > 1:
        raise UsageError(
            f"'{text[:80]}' names {len(named)} objects", where="--event", fix=f"{kind} happens to one of them"
        )
    if named:
        fields["object_id"] = named[0]
    return fields


def _listed(value: str, known: Mapping[str, str]) -> list[str]:
    """Names between commas, or between spaces where they are no name as a whole."""
    names: list[str] = []
    for piece in filter(None, (piece.strip().strip("'\"") for piece in value.split(","))):
        names += [piece] if piece in known else piece.split() or [piece]
    return names
