"""The plan file (`*.ndbplan`): UTF-8 JSON that diffs and merges, written so that no crash loses it."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from ndbplan.base.errors import UserError
from ndbplan.base.files import FileError, write_atomically
from ndbplan.base.units import format_bytes, whole_number
from ndbplan.plan.fields import refusal
from ndbplan.plan.plan import FORMAT_VERSION, Plan
from ndbplan.plan.references import BrokenReferenceError

SUFFIX = ".ndbplan"
MAX_FILE_BYTES = 200_000_000


def _same(document: dict[str, Any]) -> dict[str, Any]:
    """Format 2 only adds optional fields: a plan of format 1 is one of format 2 that uses none of them."""
    return document


_NAMED = 5
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
        try:
            document = MIGRATIONS[version](document)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise PlanFileError(
                f"format {version} cannot be carried over to {version + 1}: {_short(str(error))}",
                where=name,
                fix="open it with the ndbplan that wrote it; the file is left untouched",
            ) from None
        version += 1
    try:
        return Plan.model_validate({**document, "format_version": FORMAT_VERSION})
    except ValidationError as error:
        raise _readable(error, name) from None


@dataclass(frozen=True)
class Opened:
    """A plan that was read, and what of its file this program does not understand."""

    plan: Plan
    newer_format: int | None = None
    """Format of a file that a newer program wrote: it can be read, and is not written over."""
    not_understood: tuple[str, ...] = ()
    """Where what was left out stands in the file."""

    def notice(self, name: str) -> str:
        """What to say of it in one line; nothing for a file of a known format."""
        if self.newer_format is None:
            return ""
        shown = ", ".join(self.not_understood[:_NAMED]) or "nothing"
        count = len(self.not_understood) - _NAMED
        more = f" and {count} more" if count > 0 else ""
        return (
            f"{name} was written by a newer ndbplan (format {self.newer_format}; this one knows "
            f"{FORMAT_VERSION}). Not understood and left out: {shown}{more}. "
            "It is read-only: save under another name."
        )


def open_file(path: str | os.PathLike[str]) -> Opened:
    """The plan in a file, of a newer format too. Raises PlanFileError for whatever else is wrong with it."""
    text = _read_text(Path(path))
    document = _parse(text, str(path))
    version = document.get("format_version") if isinstance(document, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version <= FORMAT_VERSION:
        return Opened(from_document(document, name=str(path)))
    return _understood(document, version, str(path))


def load(path: str | os.PathLike[str]) -> Plan:
    """The plan in a file of a known format. Raises PlanFileError for whatever is wrong with it."""
    return loads(_read_text(Path(path)), name=str(path))


def _read_text(file: Path) -> str:
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
    except ValueError as error:
        raise PlanFileError(
            f"no file can have this name ({error})", where=str(file), fix="check it"
        ) from None
    return text


def _understood(document: dict[str, Any], version: int, name: str) -> Opened:
    """What this program knows of a file of a newer format: unknown fields, kinds and values are left out."""
    document = {**copy.deepcopy(document), "format_version": FORMAT_VERSION}
    left_out: list[str] = []
    while True:
        try:
            return Opened(Plan.model_validate(document), version, tuple(left_out))
        except ValidationError as error:
            places = [_without(document, place) for place in _places(error)]
            if not any(places):
                raise _readable(error, name) from None
            left_out += [place for place in places if place]


def _places(error: ValidationError) -> list[tuple[int | str, ...]]:
    """Where the errors are, those behind others in a list first, so that they keep their places."""
    places: list[tuple[int | str, ...]] = []
    for one in error.errors(include_url=False):
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
    place = _path(tuple(step for _, step in way))
    holder, last = way[-1]
    del holder[last]
    return place


def save(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan beside its place and swap it in; the file before stays as one backup, `NAME~`.

    A file of a newer format is not written over. What was written is read back before it takes the place of
    anything. Raises PlanFileError when it cannot be written, or could not be opened again; the old file is
    then as it was.
    """

    def check(written: bytes) -> None:
        if len(written) > MAX_FILE_BYTES:
            raise PlanFileError(
                f"it has {format_bytes(len(written))}; a plan has at most {format_bytes(MAX_FILE_BYTES)}",
                where=str(path),
                fix="split the plan",
            )
        try:
            same = loads(written.decode("utf-8")) == plan
        except PlanFileError as error:
            raise PlanFileError(
                f"it could not be opened again: {error.what}", where=error.where, fix=f"undo, or {error.fix}"
            ) from None
        if not same:
            raise PlanFileError("what was read back is not what was written", where=str(path), fix=_ELSEWHERE)

    try:
        _refuse_newer(Path(path))
        write_atomically(Path(path), dumps(plan).encode("utf-8"), backup=True, check=check)
    except PlanFileError:
        raise
    except FileError as error:
        raise PlanFileError(error.what, where=error.where, fix=error.fix) from None


def _refuse_newer(path: Path) -> None:
    """Raises PlanFileError when there is a file whose format this program does not know."""
    try:
        if not path.is_file():
            return
        with path.open("rb") as source:
            head = source.read(200)
    except (OSError, ValueError):
        return
    stated = re.match(rb'\s*\{\s*"format_version"\s*:\s*([0-9]{1,9})\b', head)
    if stated is not None and int(stated[1]) > FORMAT_VERSION:
        raise PlanFileError(
            f"the file there has format version {int(stated[1])}, and this program writes {FORMAT_VERSION}: "
            "what it does not understand would be lost",
            where=str(path),
            fix="save under another name",
        )


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
