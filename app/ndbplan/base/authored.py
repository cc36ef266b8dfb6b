"""Files that people write for the program as YAML, such as lessons and demos: read into what they describe.

LESSONS = Kind(Lesson, "lessons", "lesson")
found = LESSONS.read(Path("mine.yaml"))     # AuthoredError names file, line, field, value, limit
found.value, found.fault(("stages", 0), "is not played")
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from ndbplan.base.errors import UserError, readable
from ndbplan.base.files import FileError, read_whole
from ndbplan.base.resources import resource_path

if TYPE_CHECKING:
    from pydantic import BaseModel

MOST_BYTES = 1_000_000
SUFFIX = ".yaml"
Field = tuple[str | int, ...]
"""Names and numbers that lead to a value of a file."""
T = TypeVar("T", bound="BaseModel")


class Fault(NamedTuple):
    """Something wrong in a file."""

    line: int
    """Of the file, from 1; 0: nobody knows."""
    field: str
    """`stages.0.goals.1.when`."""
    what: str
    """The value and what it breaks."""
    fix: str = ""

    @property
    def text(self) -> str:
        """Field and fault."""
        return f"{self.field}: {self.what}" if self.field else self.what


class AuthoredError(FileError):
    """A file that is not what it should be. `problems` has one line for each fault."""

    def __init__(self, path: str, problems: list[Fault]) -> None:
        first = problems[0]
        super().__init__(first.text, where=f"{path}:{first.line}", fix=first.fix)
        self.problems = problems


@dataclass(frozen=True)
class Authored(Generic[T]):
    """What a file holds, and where in it each field stands."""

    value: T
    lines: dict[Field, int]
    source: bytes
    folder: Path | None = None
    """Where the file lies; None: it came from none."""

    def fault(self, field: Field, error: UserError | str, fix: str = "") -> Fault:
        """A fault at a field, or at the nearest place around it."""
        what, more = (error.what, error.fix) if isinstance(error, UserError) else (error, fix)
        return Fault(_line(self.lines, field), _dotted(field), what, more or fix)


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of such files, of which the program has some of its own."""

    model: type[T]
    resources: str
    """Folder in `resources/` of those that the program has."""
    noun: str
    schema_command: str
    """Prints what there may be in one."""

    @property
    def folder(self) -> Path:
        """Where the program's own lie."""
        return resource_path(self.resources)

    def own(self) -> list[Authored[T]]:
        """The program's own."""
        return [self.read(path) for path in sorted(self.folder.glob(f"*{SUFFIX}"))]

    def find(self, name: str) -> Authored[T]:
        """One of the program's own by its name, or a file. Raises UserError."""
        path = Path(name)
        if not name.endswith((SUFFIX, ".yml")) and not path.is_file():
            names = [one.stem for one in sorted(self.folder.glob(f"*{SUFFIX}"))]
            if name not in names:
                raise UserError(
                    f"there is not a {self.noun} '{readable(name, 60)}'",
                    fix=f"a file, or one of {', '.join(names)}",
                )
            path = self.folder / f"{name}{SUFFIX}"
        return self.read(path)

    def read(self, path: Path) -> Authored[T]:
        """What a file holds. Raises AuthoredError, FileError."""
        return self.parse(read_whole(path, MOST_BYTES), str(path), path.absolute().parent)

    def parse(self, source: bytes, name: str, folder: Path | None = None) -> Authored[T]:
        """What a text holds."""
        import yaml
        from pydantic import ValidationError

        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            node = yaml.compose(source.decode("utf-8"), Loader=loader)
            data = yaml.load(source.decode("utf-8"), Loader=loader)
        except UnicodeDecodeError:
            raise AuthoredError(name, [Fault(1, "", "is not UTF-8 text", "save it as UTF-8")]) from None
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            mark = getattr(error, "problem_mark", None)
            line = 1 if mark is None else mark.line + 1
            what = getattr(error, "problem", None) or "cannot be read"
            raise AuthoredError(name, [Fault(line, "", f"is not YAML: {what}", "mend this line")]) from None
        lines = dict(_places(node)) if node is not None else {}
        if not isinstance(data, dict):
            raise AuthoredError(name, [Fault(1, "", f"is not a {self.noun}", "begin with 'format: 1'")])
        try:
            return Authored(self.model.model_validate(data), lines, source, folder)
        except ValidationError as error:
            found = [
                Fault(_line(lines, one["loc"]), _dotted(one["loc"]), said(one), self._mend(one))
                for one in error.errors()
            ]
            raise AuthoredError(name, sorted(found)) from None

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of such a file."""
        found = self.model.model_json_schema(mode="validation", by_alias=True)
        dialect = "https://json-schema.org/draft/2020-12/schema"
        return {"$schema": dialect, **found, "title": f"ndbplan {self.noun}"}

    def _mend(self, error: Any) -> str:
        if error["type"] == "missing":
            return "state it"
        extra = error["type"] == "extra_forbidden"
        return f"take it away, or see '{self.schema_command}' for what there is" if extra else ""


WORD = re.compile(r"\{([a-z_]+)\}")
"""What stands in a text for a value that each plan puts there."""


def worded(value: Any, words: Mapping[str, object]) -> Any:
    """The same with `{word}`s filled in, in every text of it; those that are not known stay."""
    if isinstance(value, str):
        return WORD.sub(lambda found: str(words.get(found[1], found[0])), value)
    if isinstance(value, dict):
        return {key: worded(one, words) for key, one in value.items()}
    return [worded(one, words) for one in value] if isinstance(value, list | tuple) else value


def said(error: Any) -> str:
    """One error of a validation, with the value that it is about."""
    given = error.get("input")
    shown = f"'{readable(str(given), 60)}': " if isinstance(given, str | int | float) else ""
    return f"{shown}{error['msg'].removeprefix('Value error, ')}"


def _places(node: Any, at: Field = ()) -> Iterator[tuple[Field, int]]:
    import yaml

    yield at, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _places(value, (*at, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _places(value, (*at, number))


def _line(lines: dict[Field, int], field: Iterable[str | int]) -> int:
    at = tuple(field)
    while at and at not in lines:
        at = at[:-1]
    return lines.get(at, 1)


def _dotted(field: Iterable[str | int]) -> str:
    return ".".join(str(one) for one in field)
