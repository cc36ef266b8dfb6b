"""Files of lessons: read, with the line of whatever is wrong, and checked against their plans.

lesson = LESSONS.read(Path("mine.yaml"))    # AuthoredError names file, line, field, value, limit
problems = checked(lesson)                  # what only shows when it is begun
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic import ValidationError

from ndbplan.base.authored import Authored, Fault, Field, Kind, said
from ndbplan.base.errors import UserError
from ndbplan.base.resources import resource_path
from ndbplan.train import world
from ndbplan.train.conditions import parsed
from ndbplan.train.consoles import LESSON, LESSON_WORDS, WORLD, addressed
from ndbplan.train.lessons.begin import begun, estimation_of
from ndbplan.train.lessons.figures import figure
from ndbplan.train.lessons.model import FULL, Begin, Lesson
from ndbplan.train.live import LiveCluster

Read = Authored[Lesson]
LESSONS = Kind(Lesson, "lessons", "lesson", "ndbplan lesson schema")


def own() -> list[Read]:
    """The product's lessons, in their order."""
    return sorted(LESSONS.own(), key=lambda one: (one.value.order, one.value.name))


# What only shows when it is begun.


def checked(found: Read) -> list[Fault]:
    """Faults of a lesson that reads well: names, points, pages, plans, deeds, conditions, figures, routes."""
    lesson = found.value
    faults = [*_names(found), *_pages(found)]
    if lesson.points() != FULL:
        what = f"the points of evidence, questions, goals and keeps are {lesson.points()} together"
        faults.append(found.fault(("stages",), what, f"make them {FULL}"))
    for number, start in enumerate(lesson.starts):
        try:
            worded = lesson.worded(start)
        except ValidationError as error:
            faults.append(found.fault(("starts", number, "words"), said(error.errors()[0])))
            continue
        faults += _begin(found, worded, start, number)
    return sorted(set(faults))


def _names(found: Read) -> Iterator[Fault]:
    lesson = found.value
    seen: set[str] = set()
    named: list[tuple[Field, str]]
    named = [(("keeps", i), keep.name) for i, keep in enumerate(lesson.keeps)]
    for i, stage in enumerate(lesson.stages):
        for kind in ("evidence", "questions", "goals"):
            named += [(("stages", i, kind, j), one.name) for j, one in enumerate(getattr(stage, kind))]
    for field, name in named:
        if name in seen:
            yield found.fault((*field, "name"), f"'{name}' is there twice", "give each its own name")
        seen.add(name)
    stages: set[str] = set()
    for i, stage in enumerate(lesson.stages):
        if stage.name in stages:
            yield found.fault(
                ("stages", i, "name"), f"'{stage.name}' is there twice", "give each its own name"
            )
        stages.add(stage.name)
    for i, verb in enumerate(lesson.allows):
        if verb not in world.DEEDS:
            fix = f"one of {', '.join(world.DEEDS)}"
            yield found.fault(("allows", i), f"'{verb}' is not a deed", fix)


def _pages(found: Read) -> Iterator[Fault]:
    for i, page in enumerate(found.value.reads):
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
    yield from _lines(found, lesson)
    for i, stage in enumerate(lesson.stages):
        for j, question in enumerate(stage.questions):
            try:
                if question.figure:
                    figure(question.figure, now)
            except UserError as error:
                yield found.fault(("stages", i, "questions", j, "figure"), error)
    for field, text in _texts(lesson):
        left = re.search(r"\{[a-z_]+\}", text)
        if left is not None:
            fix = f"state it in the words of start '{start.name}'"
            yield found.fault(field, f"'{left[0]}' is not a word of this plan", fix)


def _lines(found: Read, lesson: Lesson) -> Iterator[Fault]:
    """Lines of routes and harms that no console takes, or that answer what is not asked."""
    typed: list[tuple[Field, str]] = [(("harms", i), line) for i, line in enumerate(lesson.harms)]
    for i, stage in enumerate(lesson.stages):
        for j, route in enumerate(stage.routes):
            typed += [(("stages", i, "routes", j, k), line) for k, line in enumerate(route)]
    asked = [question.name for stage in lesson.stages for question in stage.questions]
    for field, line in typed:
        one = addressed(line)
        words = one.text.split() if one is not None else []
        verb = words[0].lower() if words else ""
        if one is None:
            fix = "begin it with ndb_mgm>, mysql>, HOST$, ! or lesson>"
            yield found.fault(field, f"'{line}' names no console", fix)
        elif one.prompt == WORLD and verb not in world.VERBS:
            yield found.fault(
                field, f"'{verb}' is nothing that can be done", f"one of {', '.join(world.VERBS)}"
            )
        elif one.prompt == WORLD and verb in world.DEEDS and verb not in lesson.allows:
            yield found.fault(field, f"'{verb}' is not among the deeds that 'allows' names", "name it there")
        elif one.prompt == LESSON and verb not in LESSON_WORDS:
            yield found.fault(field, f"'{verb}' is no word of a lesson", f"one of {', '.join(LESSON_WORDS)}")
        elif one.prompt == LESSON and verb == "answer" and (words[1:2] or [""])[0] not in asked:
            there = ", ".join(asked) or "none"
            yield found.fault(field, f"'{' '.join(words)}' answers no question", f"questions are {there}")


def _texts(lesson: Lesson) -> Iterator[tuple[Field, str]]:
    yield ("story",), lesson.story
    for i, stage in enumerate(lesson.stages):
        yield ("stages", i, "task"), stage.task


def _conditions(found: Read, lesson: Lesson, cluster: LiveCluster) -> Iterator[Fault]:
    wanted: list[tuple[Field, str]] = [
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
