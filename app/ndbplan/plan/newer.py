"""A file that a newer program wrote: what this one understands of it, and what it leaves out."""

from __future__ import annotations

import copy
import re
from typing import Any, TypeVar

from pydantic import ValidationError

from ndbplan.base.units import whole_number
from ndbplan.plan.fields import Part
from ndbplan.plan.file_errors import PlanFileError, path_of, readable
from ndbplan.plan.patch import PatchError, applied
from ndbplan.plan.plan import FORMAT_VERSION, Plan
from ndbplan.plan.project import MOST_VARIANTS, Project, Variant, sharing
from ndbplan.plan.project_json import VARIANTS, StatedVariant
from ndbplan.plan.references import BrokenReferenceError

T = TypeVar("T", bound=Part)


def understood(document: dict[str, Any], name: str) -> tuple[Project, tuple[str, ...]]:
    """What this program knows of a document of a newer format, and where stands what it left out.

    Unknown fields, kinds and values are left out. Raises PlanFileError where nothing is left.
    """
    own = {key: value for key, value in document.items() if key != VARIANTS}
    own["format_version"] = FORMAT_VERSION
    main, left_out = _part(Plan, own, name)
    stated = document.get(VARIANTS, [])
    if not isinstance(stated, list):
        return Project.of(main), (*left_out, VARIANTS)
    variants = [Variant(plan=main)]
    for number, one in enumerate(stated):
        place = f"{VARIANTS}[{number}]"
        try:
            entry, less = _part(StatedVariant, one, name)
            plan, within = _part(Plan, applied(own, entry.changes if number else {}), name)
        except (PlanFileError, PatchError):
            left_out += (place,)
            continue
        variant = Variant(name=entry.name, note=entry.note, plan=sharing(plan, main))
        others = variants if number else []
        if len(others) == MOST_VARIANTS or any(entry.name == known.name for known in others):
            left_out += (place,)
            continue
        variants = [*others, variant]
        less += tuple(f"changes.{way}" for way in within if way not in left_out)
        left_out += tuple(f"{place}.{way}" for way in less)
    return Project(variants=tuple(variants)), left_out


def _part(kind: type[T], document: Any, name: str) -> tuple[T, tuple[str, ...]]:
    """A part with as much of its document as is known, and the ways to what is not."""
    document = copy.deepcopy(document)
    left_out: list[str] = []
    while True:
        try:
            return kind.model_validate(document), tuple(left_out)
        except ValidationError as error:
            places = [_without(document, place) for place in _places(error)]
            if not any(places):
                raise readable(error, name) from None
            left_out += [place for place in places if place]


def _places(error: ValidationError) -> list[tuple[int | str, ...]]:
    """Where the errors are, those behind others in a list first, so that they keep their places."""
    places: list[tuple[int | str, ...]] = []
    for one in error.errors():
        cause = (one.get("ctx") or {}).get("error")
        if isinstance(cause, BrokenReferenceError):
            steps = re.findall(r"[^.\[\]]+", cause.where)
            numbers = map(whole_number, steps)
            places.append(tuple(s if n is None else n for s, n in zip(steps, numbers, strict=True)))
        else:
            places.append(one["loc"])
    return sorted(places, key=lambda loc: [(isinstance(step, str), step) for step in loc], reverse=True)


def _without(document: dict[str, Any], loc: tuple[int | str, ...]) -> str:
    """Takes a field out, or the member of a list that lacks one; says which."""
    here: Any = document
    way: list[tuple[Any, int | str]] = []
    for step in loc:
        there = (isinstance(here, dict) and step in here) or (
            isinstance(here, list) and isinstance(step, int) and step < len(here)
        )
        if there:
            way.append((here, step))
            here = here[step]
        # Any other step is the name of a kind, or of a field that is missing.
    if loc and isinstance(loc[-1], str) and (not way or way[-1][1] != loc[-1]):
        # The field is missing: what needs it goes.
        while way and not isinstance(way[-1][1], int):
            way.pop()
    if not way:
        return ""
    place = path_of(tuple(step for _, step in way))
    holder, last = way[-1]
    del holder[last]
    return place
