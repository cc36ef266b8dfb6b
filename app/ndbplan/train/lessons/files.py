"""Files of lessons: read, with the line of whatever is wrong, and checked against their plans.

lesson = read(Path("mine.yaml"))        # LessonFileError names file, line, field, value, limit
problems = checked(lesson)              # what only shows when it is begun
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from ndbplan.base.errors import UserError, readable
from ndbplan.base.files import FileError, read_at_most
from ndbplan.base.resources import resource_path
from ndbplan.train import world
from ndbplan.train.conditions import parsed
from ndbplan.train.consoles import addressed
from ndbplan.train.lessons.begin import begun, estimation_of
from ndbplan.train.lessons.figures import figure
from ndbplan.train.lessons.model import FULL, Begin, Lesson
from ndbplan.train.live import LiveCluster

MOST_BYTES = 1_000_000
SUFFIX = ".yaml"


class LessonFileError(FileError):
    """A file that is not a lesson. `problems` has one line for each fault."""

    def __init__(self, path: str, problems: list[Fault]) -> None:
        first = problems[0]
        super().__init__(first.text, where=f"{path}:{first.line}", fix=first.fix)
        self.problems = problems


class Fault(NamedTuple):
    """Something wrong in a lesson."""

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


class Read(NamedTuple):
    """A lesson and where in its file each field stands."""

    lesson: Lesson
    lines: dict[tuple[str | int, ...], int]
    source: bytes

    def fault(self, field: tuple[str | int, ...], error: UserError | str, fix: str = "") -> Fault:
        """A fault at a field, or at the nearest place around it."""
        what, more = (error.what, error.fix) if isinstance(error, UserError) else (error, fix)
        return Fault(_line(self.lines, field), _dotted(field), what, more or fix)


def folder() -> Path:
    """Where the product's own lessons lie."""
    return resource_path("lessons")


def own() -> list[Read]:
    """The product's lessons, in their order."""
    found = [read(path) for path in folder().glob(f"*{SUFFIX}")]
    return sorted(found, key=lambda one: (one.lesson.order, one.lesson.name))


def find(name: str) -> Read:
    """A lesson of the product by its name, or a file. Raises UserError."""
    path = Path(name)
    if not name.endswith((SUFFIX, ".yml")) and not path.is_file():
        names = [one.stem for one in sorted(folder().glob(f"*{SUFFIX}"))]
        if name not in names:
            raise UserError(
                f"there is not a lesson '{readable(name, 60)}'", fix=f"a file, or one of {', '.join(names)}"
            )
        path = folder() / f"{name}{SUFFIX}"
    return read(path)


def read(path: Path) -> Read:
    """A lesson from a file. Raises LessonFileError, FileError."""
    try:
        source = read_at_most(path, MOST_BYTES)
    except OSError as error:
        raise FileError(
            f"cannot be read ({error.strerror})", where=str(path), fix="name a lesson file"
        ) from None
    if source is None:
        raise FileError(
            f"is larger than {MOST_BYTES} bytes", where=str(path), fix="a lesson is a text of a few pages"
        )
    return parse(source, str(path))


def parse(source: bytes, name: str) -> Read:
    """A lesson from a text."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node = yaml.compose(source.decode("utf-8"), Loader=loader)
        data = yaml.load(source.decode("utf-8"), Loader=loader)
    except UnicodeDecodeError:
        raise LessonFileError(name, [Fault(1, "", "is not UTF-8 text", "save it as UTF-8")]) from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        what = getattr(error, "problem", None) or "cannot be read"
        raise LessonFileError(name, [Fault(line, "", f"is not YAML: {what}", "mend this line")]) from None
    lines = dict(_places(node)) if node is not None else {}
    if not isinstance(data, dict):
        raise LessonFileError(name, [Fault(1, "", "is not a lesson", "begin with 'format: 1'")])
    try:
        return Read(Lesson.model_validate(data), lines, source)
    except ValidationError as error:
        found = [
            Fault(_line(lines, one["loc"]), _dotted(one["loc"]), _said(one), _mend(one))
            for one in error.errors()
        ]
        raise LessonFileError(name, sorted(found)) from None


def _said(error: Any) -> str:
    given = error.get("input")
    shown = f"'{readable(str(given), 60)}': " if isinstance(given, str | int | float) else ""
    return f"{shown}{error['msg'].removeprefix('Value error, ')}"


def _mend(error: Any) -> str:
    kind = error["type"]
    if kind == "missing":
        return "state it"
    return (
        "take it away, or see 'ndbplan lesson schema' for what there is" if kind == "extra_forbidden" else ""
    )


def _places(node: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], int]]:
    import yaml

    yield at, node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _places(value, (*at, str(key.value)))
    elif isinstance(node, yaml.SequenceNode):
        for number, value in enumerate(node.value):
            yield from _places(value, (*at, number))


def _line(lines: dict[tuple[str | int, ...], int], field: Iterable[str | int]) -> int:
    at = tuple(field)
    while at and at not in lines:
        at = at[:-1]
    return lines.get(at, 1)


def _dotted(field: Iterable[str | int]) -> str:
    return ".".join(str(one) for one in field)


# What only shows when it is begun.


def checked(found: Read) -> list[Fault]:
    """Faults of a lesson that reads well: names, points, pages, plans, deeds, conditions, figures, routes."""
    lesson = found.lesson
    faults = [*_names(found), *_pages(found)]
    if lesson.points() != FULL:
        what = f"the points of evidence, questions, goals and keeps are {lesson.points()} together"
        faults.append(found.fault(("stages",), what, f"make them {FULL}"))
    for number, start in enumerate(lesson.starts):
        try:
            worded = lesson.worded(start)
        except ValidationError as error:
            faults.append(found.fault(("starts", number, "words"), _said(error.errors()[0])))
            continue
        faults += _begin(found, worded, start, number)
    return sorted(set(faults))


def _names(found: Read) -> Iterator[Fault]:
    lesson = found.lesson
    seen: set[str] = set()
    named: list[tuple[tuple[str | int, ...], str]]
    named = [(("keeps", i), keep.name) for i, keep in enumerate(lesson.keeps)]
    for i, stage in enumerate(lesson.stages):
        for kind in ("evidence", "questions", "goals"):
            named += [(("stages", i, kind, j), one.name) for j, one in enumerate(getattr(stage, kind))]
    for field, name in named:
        if name in seen:
            yield found.fault((*field, "name"), f"'{name}' is there twice", "give each its own name")
        seen.add(name)
    for i, verb in enumerate(lesson.allows):
        if verb not in world.DEEDS:
            fix = f"one of {', '.join(world.DEEDS)}"
            yield found.fault(("allows", i), f"'{verb}' is not a deed", fix)


def _pages(found: Read) -> Iterator[Fault]:
    for i, page in enumerate(found.lesson.reads):
        if not (resource_path("guide") / page).is_file():
            there = ", ".join(sorted(one.name for one in resource_path("guide").glob("*.md")))
            yield found.fault(("reads", i), f"the guide has no page '{page}'", f"one of {there}")


def _begin(found: Read, lesson: Lesson, start: Begin, number: int) -> Iterator[Fault]:
    try:
        now = estimation_of(start)
        cluster = begun(lesson, start, bare=True)
    except UserError as error:
        yield found.fault(("starts", number), error)
        return
    for i, one in enumerate(lesson.happens):
        try:
            world.deed(one.do, cluster)
        except UserError as error:
            yield found.fault(("happens", i, "do"), error)
        if one.at > lesson.limit:
            yield found.fault(("happens", i, "at"), f"{one.at:g} s is behind the limit of {lesson.limit:g} s")
    yield from _conditions(found, lesson, cluster)
    for i, stage in enumerate(lesson.stages):
        for j, question in enumerate(stage.questions):
            try:
                if question.figure:
                    figure(question.figure, now)
            except UserError as error:
                yield found.fault(("stages", i, "questions", j, "figure"), error)
        for j, route in enumerate(stage.routes):
            for k, line in enumerate(route):
                if addressed(line) is None:
                    fix = "begin it with ndb_mgm>, mysql>, HOST$, ! or lesson>"
                    yield found.fault(("stages", i, "routes", j, k), f"'{line}' names no console", fix)
    for field, text in _texts(lesson):
        left = re.search(r"\{[a-z_]+\}", text)
        if left is not None:
            fix = f"state it in the words of start '{start.name}'"
            yield found.fault(field, f"'{left[0]}' is not a word of this plan", fix)


def _texts(lesson: Lesson) -> Iterator[tuple[tuple[str | int, ...], str]]:
    yield ("story",), lesson.story
    for i, stage in enumerate(lesson.stages):
        yield ("stages", i, "task"), stage.task


def _conditions(found: Read, lesson: Lesson, cluster: LiveCluster) -> Iterator[Fault]:
    wanted: list[tuple[tuple[str | int, ...], str]] = [
        (("keeps", i, "when"), keep.when) for i, keep in enumerate(lesson.keeps)
    ]
    wanted += [(("trouble",), lesson.trouble)] if lesson.trouble else []
    wanted += [(("shows", i), name) for i, name in enumerate(lesson.shows)]
    for i, stage in enumerate(lesson.stages):
        wanted += [(("stages", i, "goals", j, "when"), goal.when) for j, goal in enumerate(stage.goals)]
        wanted += [
            (("stages", i, "evidence", j, "while"), one.while_)
            for j, one in enumerate(stage.evidence)
            if one.while_
        ]
    for field, text in wanted:
        try:
            parsed(text if field[0] != "shows" else f"{text} 0").found(cluster.session.simulation)
        except UserError as error:
            yield found.fault(field, error)
