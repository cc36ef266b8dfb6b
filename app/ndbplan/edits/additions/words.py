"""What a line says of a part to add: names, and fields with their values; and how these are used."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ndbplan.base.errors import UserError
from ndbplan.edits import parts as edits
from ndbplan.edits import reading, validated
from ndbplan.edits.address import AddressError, field_of, resolve
from ndbplan.edits.assign import assign, put, read_field
from ndbplan.edits.places import Path, address_of, at, walk
from ndbplan.plan.events import ParameterChange
from ndbplan.plan.fields import Part, correction, refusal
from ndbplan.plan.plan import Plan

Made = tuple[Plan, list[Path]]
"""A plan with new parts, and where these are."""
Maker = Callable[["Plan", "Words"], Made]


@dataclass(frozen=True)
class Words:
    """What follows the kind of thing to add: names, and fields with their values."""

    names: tuple[str, ...]
    fields: Mapping[str, str]

    def without(self, *taken: str) -> Words:
        """The fields that are still to be set."""
        return Words(self.names, {k: v for k, v in self.fields.items() if k not in taken})


def words_of(texts: Sequence[str]) -> Words:
    """Names and fields, apart. Raises AddressError for a field that is given twice."""
    names: list[str] = []
    fields: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            names.append(text)
        elif not name.strip():
            raise AddressError(
                f"'{text[:60]}' sets nothing: no field stands before the =", fix="write FIELD=VALUE"
            )
        elif name.strip() in fields:
            raise AddressError(f"{name.strip()[:60]} is given twice", fix="give it once")
        else:
            fields[name.strip()] = value
    return Words(tuple(names), fields)


def one_name(words: Words, what: str, *, needed: bool = False) -> str | None:
    """The one name that may stand there. Raises AddressError for more, or for none when one is needed."""
    if len(words.names) > 1:
        raise AddressError(
            f"'{words.names[1][:60]}' is one name too many for {what}", fix="write FIELD=VALUE"
        )
    if needed and not words.names:
        raise AddressError(f"{what} needs a name", fix=f"write it behind, such as 'add PLAN {what} NAME'")
    return words.names[0] if words.names else None


def no_name(words: Words, what: str) -> None:
    """Raises AddressError for a name of what has none."""
    if words.names:
        raise AddressError(
            f"'{words.names[0][:60]}' is a name, and {what}s have none", fix="write FIELD=VALUE"
        )


def path_of(plan: Plan, part: Any) -> Path:
    """Where a part is."""
    return next(place.path for place in walk(plan) if place.value is part)


def object_path(plan: Plan, object_id: str) -> Path:
    """Where the object with this id is."""
    return path_of(plan, plan.by_id[object_id])


def holder(plan: Plan, words: Words, key: str, collection: str, what: str) -> str:
    """The id of the object that `key=NAME` names; without it the only one there is."""
    inside = getattr(plan, collection)
    typed = words.fields.get(key)
    if typed is None and len(inside) == 1:
        return str(inside[0].id)
    if typed is None:
        known = [part.id for part in inside]
        raise AddressError(
            f"{key}= is missing: on which {what}?", fix=reading.near("", known, f"{key}= one of")
        )
    (place,) = resolve(plan, f"{collection}[{quoted(typed)}]")
    return str(place.value.id)


def quoted(text: str) -> str:
    """A name as a selector takes it, whatever it holds."""
    return json.dumps(text, ensure_ascii=False)


def set_fields(plan: Plan, object_id: str, words: Words) -> Plan:
    """The plan with the remaining fields set on a new object."""
    for name, value in words.fields.items():
        address = address_of(plan, object_path(plan, object_id))
        plan, _ = assign(plan, f"{address}.{name}={value}")
    return plan


def set_inside(plan: Plan, path: Path, words: Words) -> Plan:
    """The plan with the remaining fields set on what is at a path."""
    for name, value in words.fields.items():
        plan, _ = assign(plan, f"{address_of(plan, path)}.{name}={value}")
    return plan


def append(plan: Plan, path: Path, part: Any) -> tuple[Path, Plan]:
    """The plan with one more part at the end of a list, and where it is."""
    members = at(plan, path)
    if len(path) == 1:
        plan = edits.put(plan, **{str(path[0]): (*members, part)})
    else:
        plan = put(plan, path, (*members, part))
    return (*path, len(members)), plan


def typed_value(plan: Plan, model: type[Part], field: str, text: str) -> Any:
    """The value of one field of a part that is not in the plan yet."""
    try:
        return read_field(plan, reading.shape_of(model, field), (field,), text)
    except UserError as error:
        raise AddressError(error.what, where=f"{field}={text[:60]}", fix=error.fix) from None


def with_fields(plan: Plan, part: Any, words: Words) -> Any:
    """A part with fields set that is not in the plan yet."""
    for name, text in words.fields.items():
        field = field_named(type(part), name)
        part = validated.changed(part, **{field: typed_value(plan, type(part), field, text)})
    return part


def field_named(model: type[Part], name: str, what: str = "") -> str:
    """The field of a kind of part that is meant. Raises AddressError."""
    field = field_of(model, name)
    if field is None:
        raise AddressError(
            f"{what or model.__name__.lower()} has no field '{name[:60]}'",
            fix=reading.near(name, [f for f in model.model_fields if f not in ("kind", "assumed")], "it has"),
        )
    return field


def made(plan: Plan, model: type[Part], words: Words, what: str) -> Any:
    """A part of typed fields. Raises AddressError for one that is missing, unknown or refused."""
    values = {}
    for name, text in words.fields.items():
        field = field_named(model, name, what)
        values[field] = typed_value(plan, model, field, text)
    if model is ParameterChange and {"name", "value"} <= values.keys():
        values |= _parameter(plan, str(values["name"]), str(values["value"]))
    try:
        return TypeAdapter(model).validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        if first["type"] == "missing":
            raise AddressError(f"{what} needs {place}", fix=f"write {place}=VALUE") from None
        shown = f"{place}={values.get(place)}"[:80]
        raise AddressError(
            f"{shown} is refused: {refusal(first)}", where=what, fix=correction(first)
        ) from None


def _parameter(plan: Plan, name: str, typed: str) -> dict[str, Any]:
    """Name and value of a change of a data node parameter."""
    try:
        spelt = reading.parameter_name("DB", name, plan.version)
        value = reading.read_parameter("DB", spelt, typed, plan.version)
    except UserError as error:
        raise AddressError(error.what, where=f"{name[:60]}={typed[:60]}", fix=error.fix) from None
    return {"name": spelt, "value": value}
