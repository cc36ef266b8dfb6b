"""The plan file (`*.ndbplan`): UTF-8 JSON that diffs and merges, written so that no crash loses it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from ndbplan.base.errors import UserError
from ndbplan.base.files import FileError, read_at_most, write_atomically
from ndbplan.base.once import each_key_once
from ndbplan.base.units import format_bytes
from ndbplan.plan.file_errors import PlanFileError as PlanFileError
from ndbplan.plan.file_errors import short
from ndbplan.plan.newer import understood
from ndbplan.plan.plan import FORMAT_VERSION, Plan
from ndbplan.plan.project import Project
from ndbplan.plan.project_json import from_json, to_json
from ndbplan.plan.turning_signs import STANDS_FOR_A_SIGN, without_signs

SUFFIX = ".ndbplan"
MAX_FILE_BYTES = 200_000_000


def _same(document: dict[str, Any]) -> dict[str, Any]:
    """Format 2 only adds optional fields: a plan of format 1 is one of format 2 that uses none of them."""
    return document


_NAMED = 5
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _same}
"""From format version n to n + 1, by n."""


_ELSEWHERE = "save under another name, on another disk"


def dumps(what: Plan | Project) -> str:
    """The text of a plan file: stable order, defaults left out, two-space indent, one trailing newline."""
    document = to_json(Project.of(what))
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def loads(text: str, *, name: str = "plan") -> Plan:
    """The main plan in a text; see `loads_project`."""
    return loads_project(text, name=name).main


def loads_project(text: str, *, name: str = "plan") -> Project:
    """All variants in a text. Raises PlanFileError; `name` says which file in the message."""
    return from_document(_parse(text, name), name=name)


def from_document(document: Any, *, name: str = "plan") -> Project:
    """The variants in parsed JSON, migrated from older formats. Raises PlanFileError."""
    return _read(document, name).project


def _read(document: Any, name: str) -> Opened:
    if not isinstance(document, dict) or "format_version" not in document:
        raise PlanFileError(
            "this is JSON but no plan: it has no field 'format_version'",
            where=name,
            fix="open a file that ndbplan saved",
        )
    version = document["format_version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise PlanFileError(
            f"format_version is {short(version)}; it must be a whole number from 1 to {FORMAT_VERSION}",
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
                f"format {version} cannot be carried over to {version + 1}: {short(str(error))}",
                where=name,
                fix="open it with the ndbplan that wrote it; the file is left untouched",
            ) from None
        version += 1
    try:
        return Opened(from_json(document, name))
    except PlanFileError:
        healed, turned = without_signs(document)
        if not turned:
            raise
        return Opened(from_json(healed, name), turned=turned)


@dataclass(frozen=True)
class Opened:
    """What was read of a file, and what of it this program does not understand or take."""

    project: Project
    newer_format: int | None = None
    """Format of a file that a newer program wrote: it can be read, and is not written over."""
    not_understood: tuple[str, ...] = ()
    """Where what was left out stands in the file."""
    turned: tuple[str, ...] = ()
    """Where signs stood that turn the direction of a text: an earlier program let them in."""

    @property
    def plan(self) -> Plan:
        """The main plan."""
        return self.project.main

    def notice(self, name: str) -> str:
        """What to say of it in one line; nothing where all of it was taken as it is."""
        said = []
        if self.turned:
            said.append(
                f"{name} held characters that turn the direction of text, in {_first_of(self.turned)}: "
                f"each is shown as {STANDS_FOR_A_SIGN}; rename what they are in. "
                "The file is changed when you save."
            )
        if self.newer_format is not None:
            left_out = _first_of(self.not_understood)
            rest = f"Not understood and left out: {left_out}." if left_out else "All of it is understood."
            said.append(
                f"{name} was written by a newer ndbplan (format {self.newer_format}; this one knows "
                f"{FORMAT_VERSION}). {rest} It is read-only: save under another name."
            )
        return " ".join(said)


def _first_of(ways: tuple[str, ...]) -> str:
    more = len(ways) - _NAMED
    return ", ".join(ways[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def open_file(path: str | os.PathLike[str]) -> Opened:
    """What is in a file, of a newer format too. Raises PlanFileError for whatever else is wrong with it."""
    text = _read_text(Path(path))
    document = _parse(text, str(path))
    version = document.get("format_version") if isinstance(document, dict) else None
    if not isinstance(version, int) or isinstance(version, bool) or version <= FORMAT_VERSION:
        return _read(document, str(path))
    healed, turned = without_signs(document)
    project, left_out = understood(healed, str(path))
    return Opened(project, version, left_out, turned)


def load(path: str | os.PathLike[str]) -> Plan:
    """The main plan in a file; see `load_project`."""
    return load_project(path).main


def load_project(path: str | os.PathLike[str]) -> Project:
    """The variants in a file of a known format. Raises PlanFileError for whatever is wrong with it."""
    return open_known(path).project


def open_known(path: str | os.PathLike[str]) -> Opened:
    """What is in a file of a known format. Raises PlanFileError for whatever is wrong with it."""
    return _read(_parse(_read_text(Path(path)), str(path)), str(path))


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


def save(what: Plan | Project, path: str | os.PathLike[str]) -> None:
    """Write a plan, or all variants, beside its place and swap it in; the file before stays as `NAME~`.

    A file of a newer format is not written over. What was written is read back before it takes the place of
    anything. Raises PlanFileError when it cannot be written, or could not be opened again; the old file is
    then as it was.
    """
    project = Project.of(what)

    def check(written: bytes) -> None:
        if len(written) > MAX_FILE_BYTES:
            raise PlanFileError(
                f"it has {format_bytes(len(written))}; a plan has at most {format_bytes(MAX_FILE_BYTES)}",
                where=str(path),
                fix="split the plan",
            )
        try:
            same = loads_project(written.decode("utf-8")) == project
        except PlanFileError as error:
            raise PlanFileError(
                f"it could not be opened again: {error.what}", where=error.where, fix=f"undo, or {error.fix}"
            ) from None
        if not same:
            raise PlanFileError("what was read back is not what was written", where=str(path), fix=_ELSEWHERE)

    try:
        _refuse_newer(Path(path))
        write_atomically(Path(path), dumps(project).encode("utf-8"), backup=True, check=check)
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
        stated = _FORMAT_FIRST.match(head)
        # Another program may have put the fields into another order.
        version = int(stated[1]) if stated else _format_within(path)
    except (OSError, ValueError):
        return
    if version > FORMAT_VERSION:
        raise PlanFileError(
            f"the file there has format version {version}, and this program writes {FORMAT_VERSION}: "
            "what it does not understand would be lost",
            where=str(path),
            fix="save under another name",
        )


_FORMAT_FIRST = re.compile(rb'\s*\{\s*"format_version"\s*:\s*([0-9]{1,9})\s*[,}]')


def _format_within(path: Path) -> int:
    """The format of a plan file, wherever it states it; 0: it is none. Raises OSError."""
    content = read_at_most(path, MAX_FILE_BYTES)
    if content is None or b'"format_version"' not in content:
        return 0
    try:
        document = _parse(content.decode("utf-8"), str(path))
    except (PlanFileError, UnicodeDecodeError):
        return 0
    version = document.get("format_version") if isinstance(document, dict) else None
    return version if isinstance(version, int) and not isinstance(version, bool) else 0


def _as_words(message: str) -> str:
    """What the reader of JSON says, without the words that its own line and column would follow."""
    return message.removesuffix(" at").removesuffix(" starting")


def _parse(text: str, name: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise PlanFileError(
            f"{constant} stands for a number; a plan holds finite numbers only",
            where=name,
            fix="write a finite number",
        )

    try:
        return json.loads(text.removeprefix("\ufeff"), object_pairs_hook=each_key_once, parse_constant=refuse)
    except PlanFileError:
        raise
    except UserError as error:
        raise PlanFileError(error.what, where=name, fix=error.fix) from None
    except json.JSONDecodeError as error:
        end = "the text ends too early" if error.pos >= len(text.rstrip()) else _as_words(error.msg)
        raise PlanFileError(
            f"no JSON at line {error.lineno}, column {error.colno}: {end}",
            where=name,
            fix=f"open a file that ndbplan saved, or its backup {Path(name).name}~",
        ) from None
    except RecursionError:
        raise PlanFileError(
            "the JSON is nested too deeply; a plan has less than ten levels",
            where=name,
            fix="open a file that ndbplan saved",
        ) from None
    except ValueError as error:
        raise PlanFileError(f"no JSON: {error}", where=name, fix="open a file that ndbplan saved") from None
