"""What one file holds: one or more variants of a plan, which share in memory what they have in common.

project = Project.of(plan)
project = project.with_plan(0, changed)
project.main                                # the plan of the first variant
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

from pydantic import Field, model_validator

from ndbplan.base.errors import UserError
from ndbplan.plan.fields import Label, Note, Part
from ndbplan.plan.plan import Plan

MAIN = "Main"
"""What the first variant is called that nobody has named."""
MOST_VARIANTS = 100


class NoVariantError(UserError, ValueError):
    """Variants that one file cannot hold together; a ValueError so that validation reports it."""


class Variant(Part):
    """A plan with a name of its own among those of a file."""

    name: Label = MAIN
    note: Note = ""
    plan: Plan = Plan()


class Project(Part):
    """The variants of one file, at least one; the first is the main one."""

    variants: tuple[Variant, ...] = Field(default=(Variant(),), min_length=1, max_length=MOST_VARIANTS)

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = self.names
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise NoVariantError(
                f"two variants are called '{repeated}'; each has a name of its own",
                where="variants",
                fix="rename one of them",
            )
        return self

    @classmethod
    def of(cls, what: Plan | Project) -> Project:
        """A plan as a project of one variant, which validates nothing; a project as it is."""
        if isinstance(what, Project):
            return what
        return Project.model_construct(variants=(Variant.model_construct(name=MAIN, note="", plan=what),))

    @property
    def main(self) -> Plan:
        """The plan of the first variant."""
        return self.variants[0].plan

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variants, in order."""
        return tuple(variant.name for variant in self.variants)

    def with_plan(self, place: int, plan: Plan) -> Project:
        """The project with another plan in the variant at this place; the same where it is that one."""
        variant = self.variants[place]
        if variant.plan is plan:
            return self
        changed = variant.model_copy(update={"plan": plan})
        return Project.model_construct(
            variants=(*self.variants[:place], changed, *self.variants[place + 1 :])
        )


def sharing(plan: Plan, other: Plan) -> Plan:
    """The plan, with the objects of another for all parts in which both are equal."""
    shared = _shared(plan, other)
    assert isinstance(shared, Plan)
    return shared


def _shared(value: Any, other: Any) -> Any:
    if value is other or type(value) is not type(other):
        return value
    if isinstance(value, tuple):
        return _shared_members(value, other)
    if not isinstance(value, Part):
        return other if value == other else value
    fields = {name: _shared(getattr(value, name), getattr(other, name)) for name in type(value).model_fields}
    if all(one is getattr(other, name) for name, one in fields.items()):
        return other
    changed = {name: one for name, one in fields.items() if one is not getattr(value, name)}
    if isinstance(value, Plan):
        return value.replace(**changed) if changed else value
    return value.model_copy(update=changed) if changed else value


def _shared_members(value: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """A list in which members with the id or at the place of one of the other's are that one when equal."""
    known = {getattr(member, "id", place): member for place, member in enumerate(other)}
    members = tuple(
        _shared(member, known.get(getattr(member, "id", place))) for place, member in enumerate(value)
    )
    if len(members) == len(other) and all(a is b for a, b in zip(members, other, strict=True)):
        return other
    return members
