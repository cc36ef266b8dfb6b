"""How far a lesson is, for whoever plays it: the task, what is asked, what came true, what it costs.

progress(play).goals[0].is_reached
"""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.train.lessons.model import FULL, Question, Stage
from ndbplan.train.lessons.play import Play


class Ticked(NamedTuple):
    """Something that is to be so."""

    says: str
    is_reached: bool
    """It came true, within its time, and is so still."""
    is_broken: bool
    """It came too late, or is not so any more."""
    holds: bool
    """It is so at this moment; it may have to last."""


class Asking(NamedTuple):
    """A question of the stage."""

    name: str
    ask: str
    options: tuple[tuple[str, str], ...]
    """Letter and text; none: a number is asked for."""
    is_closed: bool
    is_right: bool
    given: str
    """The last answer."""
    points: float
    """What a right answer is worth now."""
    example: str
    """How an answer may look."""


class Progress(NamedTuple):
    """A lesson at a moment."""

    title: str
    story: str
    reads: tuple[str, ...]
    """Pages of the guide."""
    stages: tuple[str, ...]
    place: int
    """Of the stage under way; behind the last one all is done."""
    task: str
    looks: tuple[int, int]
    """Of what the stage wants looked at: seen, and in all."""
    goals: tuple[Ticked, ...]
    keeps: tuple[Ticked, ...]
    questions: tuple[Asking, ...]
    hints: tuple[str, ...]
    """Those of the stage that were asked for."""
    next_hint_costs: int | None
    """None: there is none left."""
    score: float
    of: int
    left_s: float
    """Simulated time that is left."""
    rewind_costs: int
    is_finished: bool


def progress(play: Play) -> Progress:
    """How far it is now."""
    lesson, stage = play.lesson, play.stage
    taken = [] if stage is None else [i for i in range(len(stage.hints)) if f"{stage.name}/{i}" in play.hints]
    left = [] if stage is None else [h for i, h in enumerate(stage.hints) if i not in taken]
    wanted = [] if stage is None else [one for one in stage.evidence if one.points]
    return Progress(
        lesson.title,
        lesson.story.strip(),
        lesson.reads,
        tuple(one.name for one in lesson.stages),
        play.place,
        "" if stage is None else stage.task.strip(),
        (sum(one.name in play.marks for one in wanted), len(wanted)),
        () if stage is None else _goals(play, stage),
        _keeps(play),
        () if stage is None else tuple(_asking(play, question) for question in stage.questions),
        () if stage is None else tuple(stage.hints[i].text.strip() for i in taken),
        left[0].costs if left else None,
        play.score(),
        FULL,
        max(0.0, lesson.limit - play.cluster.now_s),
        lesson.rewind_costs,
        play.finished,
    )


def _goals(play: Play, stage: Stage) -> tuple[Ticked, ...]:
    sim, lost = play.cluster.session.simulation, set(play.lost())
    return tuple(
        Ticked(
            goal.asks_for,
            goal.name in play.marks and goal.name not in lost and play.marks[goal.name].points > 0,
            goal.name in play.marks and (goal.name in lost or not play.marks[goal.name].points),
            play.referee.holds(goal.name, sim),
        )
        for goal in stage.goals
    )


def _keeps(play: Play) -> tuple[Ticked, ...]:
    broken, all_done = play.broken_keeps(), play.stage is None
    return tuple(
        Ticked(keep.says, all_done and keep.name not in broken, keep.name in broken, keep.name not in broken)
        for keep in play.lesson.keeps
    )


def _asking(play: Play, question: Question) -> Asking:
    state = play.asked.get(question.name)
    return Asking(
        question.name,
        question.ask.strip(),
        tuple((option.name, option.text) for option in question.options),
        state is not None and state.is_closed,
        state is not None and state.is_right,
        state.given[-1] if state is not None and state.given else "",
        question.points if state is None else state.points,
        "" if state is None else state.example,
    )
