"""The variants of a project as JSON: the first is the plan of the file, each other what it changes of that.

    {"format_version": 2, "name": …, "hosts": […],
     "variants": [{"name": "Main"},
                  {"name": "More cores", "changes": {"hosts": {"a1": {"cores": 48}}}}]}

A project of one variant that nobody has named is the plan alone.
"""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from ndbplan.plan.fields import Label, Note, Part
from ndbplan.plan.file_errors import PlanFileError, readable
from ndbplan.plan.patch import Json, PatchError, applied, difference
from ndbplan.plan.plan import FORMAT_VERSION, Plan
from ndbplan.plan.project import MAIN, MOST_VARIANTS, Project, Variant, sharing

VARIANTS = "variants"
_NO_PARTS: Json = {name: [] for name, field in Plan.model_fields.items() if field.default == ()}
"""What a document leaves out: a variant may add a host to a plan that somebody has taken all hosts out of."""


class StatedVariant(Part):
    """A variant as the file has it."""

    name: Label = MAIN
    note: Note = ""
    changes: dict[str, Any] = Field(
        default={},
        description="What it changes of the file's plan, as a merge patch that names members of lists by "
        "their id, or by their name; null takes away, $order tells the order of a list.",
    )


class StatedVariants(Part):
    """What the file says of variants."""

    variants: tuple[StatedVariant, ...] = Field(
        default=(StatedVariant(),), min_length=1, max_length=MOST_VARIANTS
    )


def whole(plan: Plan) -> Json:
    """A plan as JSON, without what has its default."""
    return {"format_version": FORMAT_VERSION, **plan.model_dump(mode="json", exclude_defaults=True)}


def to_json(project: Project) -> Json:
    """The document of a project, as its file has it; written out: it is no result but the file itself."""
    document = whole(project.main)
    first = project.variants[0]
    if len(project.variants) == 1 and first.name == MAIN and not first.note:
        return document
    plans: dict[int, Json] = {id(project.main): document}
    stated = []
    for variant in project.variants:
        own = plans.setdefault(id(variant.plan), {}) or whole(variant.plan)
        stated.append(StatedVariant(name=variant.name, note=variant.note, changes=difference(document, own)))
    return {
        **document,
        VARIANTS: [
            {"name": one.name, **one.model_dump(mode="json", exclude_defaults=True)} for one in stated
        ],
    }


def from_json(document: Json, name: str) -> Project:
    """The project in a document of this format. Raises PlanFileError; `name` says which file."""
    own = {key: value for key, value in document.items() if key != VARIANTS}
    main = _plan(own, name)
    if VARIANTS not in document:
        return Project.of(main)
    try:
        first, *others = StatedVariants.model_validate({VARIANTS: document[VARIANTS]}).variants
        if first.changes:
            raise PlanFileError(
                "the first variant is the plan of the file itself and has no changes",
                where=f"{name}: {VARIANTS}[0].changes",
                fix=f'list it first, as {{"name": "{MAIN}"}}',
            )
        variants = [Variant(name=first.name, note=first.note, plan=main)]
        for number, one in enumerate(others, 1):
            plan = changed(main, own, one.changes, name, f"{VARIANTS}[{number}].changes")
            variants.append(Variant(name=one.name, note=one.note, plan=plan))
        return Project(variants=tuple(variants))
    except ValidationError as error:
        raise readable(error, name) from None


def changed(main: Plan, document: Json, changes: Json, name: str, place: str) -> Plan:
    """What changes make of a plan, given also as its document; what they leave alone are the same objects."""
    if "format_version" in changes:
        raise PlanFileError(
            "a variant has the format of its file", where=f"{name}: {place}.format_version", fix="remove it"
        )
    try:
        after = applied({**_NO_PARTS, **document}, changes)
    except PatchError as error:
        raise PlanFileError(str(error), where=f"{name}: {place}", fix="correct the changes") from None
    known = {field: getattr(main, field) for field in Plan.model_fields if field not in changes}
    for field in changes:
        stated, old = after.get(field), document.get(field)
        if isinstance(stated, list) and isinstance(old, list) and len(old) == len(getattr(main, field)):
            # Members that are left alone come as the parts they are, and are not validated again.
            parts = dict(zip(map(id, old), getattr(main, field), strict=True))
            after[field] = [parts.get(id(member), member) for member in stated]
    return sharing(_plan({**after, **known}, name, f"{place}: "), main)


def _plan(document: Json, name: str, inside: str = "") -> Plan:
    try:
        return Plan.model_validate({**document, "format_version": FORMAT_VERSION})
    except ValidationError as error:
        raise readable(error, name, inside) from None
