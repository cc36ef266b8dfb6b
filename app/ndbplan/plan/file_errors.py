"""What is wrong with a plan file, in one line that names the path inside it."""

from __future__ import annotations

import json

from pydantic import ValidationError

from ndbplan.base.errors import UserError
from ndbplan.base.files import FileError
from ndbplan.plan.fields import correction, refusal
from ndbplan.plan.references import BrokenReferenceError


class PlanFileError(FileError):
    """A file that is not a plan this program can read, or one that cannot be written."""


def short(value: object) -> str:
    """A value as it stands in a message."""
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def readable(error: ValidationError, name: str, inside: str = "") -> PlanFileError:
    """The first of the errors of validation; `inside` is where in the file the plan stands."""
    first = error.errors()[0]
    cause = (first.get("ctx") or {}).get("error")
    place = path_of(first["loc"])
    if isinstance(cause, BrokenReferenceError):
        return PlanFileError(cause.what, where=f"{name}: {inside}{cause.where}", fix=cause.fix)
    if isinstance(cause, UserError):
        return PlanFileError(cause.what, where=f"{name}: {inside}{place or cause.where}", fix=cause.fix)
    # A list whose only value is refused is no empty list.
    more = sum(one["loc"] != first["loc"][: len(one["loc"])] for one in error.errors())
    tail = f" (and {more} more)" if more else ""
    if first["type"] == "extra_forbidden":
        what = f"this format has no such field{tail}"
        fix = "remove it, or open the file with the ndbplan that wrote it"
    elif first["type"] == "missing":
        what, fix = f"the field is missing{tail}", "add it"
    else:
        what = f"{short(first['input'])} is refused: {refusal(first)}{tail}"
        fix = correction(first)
    return PlanFileError(what, where=f"{name}: {inside}{place}", fix=fix)


def path_of(loc: tuple[int | str, ...]) -> str:
    """The way to a field as people write it: `hosts[1].cores`."""
    text = ""
    before: int | str = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not (part in _KINDS and (isinstance(before, int) or before == "load")):
            text += f".{part}" if text else part
        before = part
    return text


_KINDS = ("management", "data", "sql", "api", "open", "closed")
"""Kinds of parts, which stand behind their place: `processes[2]` is a data node; also names of fields."""
