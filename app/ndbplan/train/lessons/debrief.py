"""Afterwards: a play once more from what was handed in, and what had come of something else.

replayed(found, lesson)                              # the same outcome, or it is not true
had(found, lesson, 190.0, "! set RedoBuffer=64M")    # as it was, and had that been done at 3:10
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_clock, parse_duration_s
from ndbplan.train.at_work import UNDER_WAY
from ndbplan.train.consoles import LESSON, WORLD, Addressed, addressed
from ndbplan.train.lessons.files import Read
from ndbplan.train.lessons.play import WAITS, Play
from ndbplan.train.lessons.records import TRAINEE, TRAINER, Step
from ndbplan.train.lessons.result import outcome


class DebriefError(UserError):
    """Something that cannot be played again."""


class Had(NamedTuple):
    """How it ended, and how it had ended."""

    was: dict[str, Any]
    had: dict[str, Any]
    answer: str
    """What the line was answered."""


def began(found: dict[str, Any], lesson: Read) -> Play:
    """The lesson of a result at its begin. Raises DebriefError for another one."""
    start = lesson.value.start(found["start"])
    if start is None or lesson.value.name != found["lesson"]:
        raise DebriefError(f"is of the lesson '{found['lesson']}'", fix="name that lesson with --lesson")
    play = Play(lesson.value, start, found["trainee"])
    play.cluster.apart = found.get("apart", False)
    return play


def steps_of(found: dict[str, Any]) -> list[Step]:
    """The lines of a result."""
    return [Step(**step) for step in found["steps"]]


def replayed(found: dict[str, Any], lesson: Read) -> dict[str, Any]:
    """The outcome of the same lines at the same moments."""
    play = began(found, lesson)
    _follow(play, steps_of(found), found["ended_s"])
    return outcome(play, lesson.source)


def _follow(play: Play, steps: list[Step], ended_s: float) -> None:
    for step in steps:
        play.again(step)
    play.pass_to(ended_s)


def had(found: dict[str, Any], lesson: Read, at_s: float, line: str) -> Had:
    """As it was, and as it had been with one line more at a moment; all later lines at their own moments.

    Where the trainee went back, only what was left counts. Raises DebriefError for a moment that was not.
    """
    meant = addressed(line)
    if meant is None:
        raise DebriefError(f"'{line[:60]}' names no console", fix="as in '! set RedoBuffer=64M'")
    if not 0.0 <= at_s <= found["ended_s"]:
        raise DebriefError(
            f"{format_clock(at_s)} is not within the lesson", fix=f"until {format_clock(found['ended_s'])}"
        )
    steps = [part for step in path(steps_of(found)) for part in _cut(step, at_s)]
    before = [step for step in steps if step.at_s < at_s - 1e-9]
    after = steps[len(before) :]
    play = began(found, lesson)
    _follow(play, before, 0.0)
    # A line under way at that moment had let time pass beyond it.
    play.pass_to(at_s)
    other = play.branch()
    # What lay in the hands of the trainee at that moment is not asked.
    answer, late = other.answer(line, TRAINER if meant.prompt == WORLD else TRAINEE), _late(other, meant)
    _follow(play, after, found["ended_s"])
    _follow(other, after, found["ended_s"])
    if late and UNDER_WAY in answer:
        answer = answer.replace(UNDER_WAY, late[0])
    return Had(outcome(play, lesson.source), outcome(other, lesson.source), answer)


def _late(play: Play, meant: Addressed) -> list[str]:
    """Answers that come later at the console of a line, as they come."""
    late, before = list[str](), play.consoles.came

    def came(at_s: float, line: str, text: str) -> None:
        if line.startswith(f"{meant.prompt} "):
            late.append(text)
        if before is not None:
            before(at_s, line, text)

    play.consoles.came = came
    return late


def _cut(step: Step, at_s: float) -> Iterator[Step]:
    """Of a wait that was under way at a moment what was before it, and the rest; other lines are whole."""
    found = addressed(step.line)
    waits = found is not None and found.prompt == WORLD and found.text.split(" ")[0] in WAITS
    if waits and step.at_s < at_s < step.ended_s:
        yield step._replace(ended_s=at_s)
        yield step._replace(at_s=at_s)
    else:
        yield step


def compared(found: Had) -> Iterator[tuple[str, str, str]]:
    """What is looked at, how it was, and how it had been."""
    both = (found.was, found.had)
    yield "points", f"{found.was['score']:g}", f"{found.had['score']:g}"
    for key, word in (("noticed_s", "noticed"), ("named_s", "named"), ("cured_s", "cured")):
        times = [one["times"][key] for one in both]
        first, second = ("never" if at_s is None else f"at {format_clock(at_s)}" for at_s in times)
        yield word, first, second
    for before, after in zip(found.was["keeps"], found.had["keeps"], strict=True):
        first, second = ("kept" if one["broken_s"] is None else "not kept" for one in (before, after))
        yield before["says"], first, second


def side_by_side(found: Had, line: str) -> Iterator[str]:
    """Both ends as a table in text."""
    yield f"With '{line}': {found.answer.strip()}"
    for name, first, second in (("", "it was", "would have been"), *compared(found)):
        yield f"  {name:<50} {first:<14} {second}"


def path(steps: list[Step]) -> list[Step]:
    """What is left of the lines where the trainee went back. Raises DebriefError after a skipped stage."""
    left: list[Step] = []
    for step in steps:
        found = addressed(step.line)
        assert found is not None
        if found.prompt == LESSON and found.text.startswith("stage "):
            raise DebriefError("the play went to a stage by the reference route", fix="take another result")
        if found.prompt == WORLD and found.text.startswith("rewind"):
            left = [one for one in left if one.at_s < step.ended_s or addressed(one.line) == found]
            continue
        left.append(step)
    return left


_DAY = re.compile(r"at ([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?[ \t]++(.*)", re.DOTALL)
_CLOCK = re.compile(r"(?:([0-9]{1,4}):)?([0-9]{1,2}):([0-9]{2})[ \t]++(.*)", re.DOTALL)


def asked(text: str, clock: str, clock_begin_s: float = 0.0) -> tuple[float, str]:
    """`8:10 ! set RedoBuffer=64M`: seconds after the begin, and the line.

    Minutes and seconds of the lesson, hours in front; with `clock` (`2026-01-06 03:00`) a time of the day as
    `at 03:10 LINE`. Raises DebriefError.
    """
    if text.startswith("at "):
        day = _DAY.fullmatch(text)
        if day is not None:
            begin_h, begin_m = (int(part) for part in clock.split(" ")[1].split(":"))
            seconds = int(day[1]) * 3600 + int(day[2]) * 60 + int(day[3] or 0)
            return (seconds - begin_h * 3600 - begin_m * 60) % 86400.0 + clock_begin_s, day[4]
    match = _CLOCK.fullmatch(text.strip())
    if match is not None:
        return int(match[1] or 0) * 3600.0 + int(match[2]) * 60.0 + int(match[3]), match[4]
    first, _, line = text.strip().partition(" ")
    try:
        return parse_duration_s(first), line
    except UserError:
        raise DebriefError(
            f"'{text[:60]}' says no moment", fix="as in '8:10 ! set RedoBuffer=64M' or 'at 03:10 ! …'"
        ) from None
