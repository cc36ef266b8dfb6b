"""The plan file (`*.ndbplan`): UTF-8 JSON that diffs and merges, written so that no crash loses it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from ndbplan.base.errors import UserError
from ndbplan.base.files import FileError, write_atomically
from ndbplan.base.units import format_bytes
from ndbplan.plan.fields import refusal
from ndbplan.plan.plan import FORMAT_VERSION, Plan
from ndbplan.plan.references import BrokenReferenceError

SUFFIX = ".ndbplan"
MAX_FILE_BYTES = 50_000_000


def _same(document: dict[str, Any]) -> dict[str, Any]:
    """Format 2 only adds optional fields: a plan of format 1 is one of format 2 that uses none of them."""
    return document


MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _same}
"""From format version n to n + 1, by n."""


_ELSEWHERE = "save under another name, on another disk"


class PlanFileError(FileError):
    """A file that is no plan this program can read, or one that cannot be written."""


def dumps(plan: Plan) -> str:
    """The text of a plan file: stable order, defaults left out, two-space indent, one trailing newline."""
    document = {"format_version": FORMAT_VERSION, **plan.model_dump(mode="json", exclude_defaults=True)}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def loads(text: str, *, name: str = "plan") -> Plan:
    """The plan in a text. Raises PlanFileError; `name` says which file in the message."""
    return from_document(_parse(text, name), name=name)


def from_document(document: Any, *, name: str = "plan") -> Plan:
    """The plan in parsed JSON, migrated from older formats. Raises PlanFileError."""
    if not isinstance(document, dict) or "format_version" not in document:
        raise PlanFileError(
            "this is JSON but no plan: it has no field 'format_version'",
            where=name,
            fix="open a file that ndbplan saved",
        )
    version = document["format_version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise PlanFileError(
            f"format_version is {_short(version)}; it must be a whole number from 1 to {FORMAT_VERSION}",
            where=f"{name}: format_version",
            fix="open a file that ndbplan saved",
        )
    if version > FORMAT_VERSION:
        raise PlanFileError(
            f"the file has format version {version}; this program reads up to {FORMAT_VERSION}",
            where=f"{name}: format_version",
            fix="open it with a newer ndbplan; the file is left untouched",
        )
    while version < FORMAT_VERSION:
        document = MIGRATIONS[version](document)
        version += 1
    try:
        return Plan.model_validate({**document, "format_version": FORMAT_VERSION})
    except ValidationError as error:
        raise _readable(error, name) from None


def load(path: str | os.PathLike[str]) -> Plan:
    """The plan in a file. Raises PlanFileError for whatever is wrong with it."""
    file = Path(path)
    try:
        if file.is_dir():
            raise PlanFileError("this is a folder, not a plan file", where=str(file), fix="name a file")
        size = file.stat().st_size
        with file.open("rb") as source:
            # A pipe or device has no size; reading stops behind the limit whatever it is.
            content = source.read(MAX_FILE_BYTES + 1) if size <= MAX_FILE_BYTES else b""
        size = max(size, len(content))
        if size > MAX_FILE_BYTES:
            raise PlanFileError(
                f"it has {format_bytes(size)} or more; a plan has at most {format_bytes(MAX_FILE_BYTES)}",
                where=str(file),
                fix="open a file that ndbplan saved",
            )
        text = content.decode("utf-8")
    except FileNotFoundError:
        raise PlanFileError("there is no such file", where=str(file), fix="check the name") from None
    except UnicodeDecodeError as error:
        raise PlanFileError(
            f"byte {error.start} is not UTF-8 text", where=str(file), fix="open a file that ndbplan saved"
        ) from None
    except OSError as error:
        raise PlanFileError(
            f"cannot be read ({error.strerror})", where=str(file), fix="check the permissions"
        ) from None
    return loads(text, name=str(file))


def save(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan beside its place and swap it in; the file before stays as one backup, `NAME~`.

    What was written is read back before it takes the place of anything. Raises PlanFileError when it cannot
    be written, or could not be opened again; the old file is then as it was.
    """

    def check(written: bytes) -> None:
        try:
            same = loads(written.decode("utf-8")) == plan
        except PlanFileError as error:
            raise PlanFileError(
                f"it could not be opened again: {error.what}", where=error.where, fix=f"undo, or {error.fix}"
            ) from None
        if not same:
            raise PlanFileError("what was read back is not what was written", where=str(path), fix=_ELSEWHERE)

    try:
        write_atomically(Path(path), dumps(plan).encode("utf-8"), backup=True, check=check)
    except PlanFileError:
        raise
    except FileError as error:
        raise PlanFileError(error.what, where=error.where, fix=error.fix) from None


def _short(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _parse(text: str, name: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise PlanFileError(
            f"{constant} stands for a number; a plan holds finite numbers only",
            where=name,
            fix="write a finite number",
        )

    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=refuse)
    except json.JSONDecodeError as error:
        end = "the text ends too early" if error.pos >= len(text.rstrip()) else error.msg
        raise PlanFileError(
            f"no JSON at line {error.lineno}, column {error.colno}: {end}",
            where=name,
            fix="open a file that ndbplan saved, or its backup NAME~",
        ) from None
    except RecursionError:
        raise PlanFileError(
            "the JSON is nested too deeply; a plan has less than ten levels",
            where=name,
            fix="open a file that ndbplan saved",
        ) from None
    except ValueError as error:
        raise PlanFileError(f"no JSON: {error}", where=name, fix="open a file that ndbplan saved") from None


def _readable(error: ValidationError, name: str) -> PlanFileError:
    first = error.errors(include_url=False)[0]
    cause = (first.get("ctx") or {}).get("error")
    place = _path(first["loc"])
    if isinstance(cause, BrokenReferenceError):
        return PlanFileError(cause.what, where=f"{name}: {cause.where}", fix=cause.fix)
    if isinstance(cause, UserError):
        return PlanFileError(cause.what, where=f"{name}: {place or cause.where}", fix=cause.fix)
    more = error.error_count() - 1
    tail = f" (and {more} more)" if more else ""
    if first["type"] == "extra_forbidden":
        what = f"this format has no such field{tail}"
        fix = "remove it, or open the file with the ndbplan that wrote it"
    elif first["type"] == "missing":
        what, fix = f"the field is missing{tail}", "add it"
    else:
        what = f"{_short(first['input'])} is refused: {refusal(first)}{tail}"
        fix = "correct the value"
    return PlanFileError(what, where=f"{name}: {place}", fix=fix)


def _path(loc: tuple[int | str, ...]) -> str:
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part not in ("management", "data", "sql", "api", "open", "closed"):
            text += f".{part}" if text else part
    return text
