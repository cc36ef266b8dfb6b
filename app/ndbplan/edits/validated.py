"""What a plan file may hold: parts and plans, validated before they leave an edit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from ndbplan.base.errors import UserError
from ndbplan.edits.origins import still_true, still_true_of_cluster
from ndbplan.plan.fields import Part, correction, refusal
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table

T = TypeVar("T", bound=Part)
_COUNTED_FOR = {"columns", "partition_rows"}
"""Fields of a table whose change makes pages that were counted meaningless."""


class EditError(UserError):
    """An edit that the plan cannot take; the plan is unchanged."""


def unbroken(before: Plan, after: Plan) -> Plan:
    """What a plan became, when its parts name only parts that it has. Raises EditError."""
    broken = after.broken_since(before)
    if broken is not None:
        raise EditError(broken.what, where=broken.where, fix=broken.fix)
    return after


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
    return unbroken(before, after)


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


def with_rows(table: Table, rows: int) -> Table:
    """The table with another number of rows, of which nobody has counted where they lie. Raises EditError."""
    return changed(table, rows=rows, partition_rows=(), partition_variable_bytes=())


def _refused(error: ValidationError) -> EditError:
    first = error.errors()[0]
    cause = (first.get("ctx") or {}).get("error")
    place = ".".join(str(step) for step in first["loc"])
    if isinstance(cause, UserError):
        return EditError(cause.what, where=place, fix=cause.fix)
    if first["type"] == "missing":
        missing = first["loc"][-1]
        return EditError(f"{missing} is missing", where=place, fix=f"state {missing}")
    given = first["input"]
    # A number as a person writes it: 0, not 0.0.
    shown = f"{given:g}" if isinstance(given, float) else repr(given)[:60]
    return EditError(f"{shown} is refused: {refusal(first)}", where=place, fix=correction(first))


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


def changed_plan(plan: Plan, fields: Mapping[str, Any]) -> Plan:
    """A plan with validated values in some of its own fields; the rest is shared."""
    try:
        probe = Plan.model_validate({name: fields[name] for name in fields})
    except ValidationError as error:
        first = error.errors()[0]
        raise EditError(
            f"{first['input']!r:.60} is refused: {refusal(first)}",
            where=".".join(str(step) for step in first["loc"]),
            fix=correction(first),
        ) from None
    made = {name: getattr(probe, name) for name in fields}
    if "parameters" in made and "origins" not in made:
        made["origins"] = still_true_of_cluster(plan.origins, plan.parameters, made["parameters"])
    return plan.replace(**made)
