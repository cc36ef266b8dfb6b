"""Whether a lesson tells right from nearly right: its routes reach all points, near misses do not.

trial(lesson, start)        # one Tried for each route and each near miss
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ndbplan.train import world
from ndbplan.train.consoles import LESSON, WORLD, addressed
from ndbplan.train.lessons.model import FULL, Begin, Lesson
from ndbplan.train.lessons.play import Play, lines_of_route
from ndbplan.train.lessons.questions import asked

ROUTES = 3
MISSES = 10
"""So many of each a lesson of the product has."""
TYPING = "8s"
"""Who takes so long for each line is no less right."""

_REFUSES = "ndbplan: "
ORDERS = frozenset(
    ("START", "STOP", "RESTART", "CREATE", "DROP", "ENTER", "EXIT", "ABORT", "SHUTDOWN", "ALTER", "NDBMTD",
     "NDBD", "NDB_MGMD")
)  # fmt: skip
"""Words at consoles that change the cluster."""


class Tried(NamedTuple):
    """Lines that were played, and the points they got."""

    name: str
    lines: tuple[str, ...]
    score: float
    is_route: bool
    why: str = ""
    """What a route left undone, and what its first refused line was answered."""

    @property
    def is_right(self) -> bool:
        """Routes reach all points, near misses do not."""
        return (self.score >= FULL) is self.is_route


class Miss(NamedTuple):
    """Lines that are nearly a route, and why they are none."""

    name: str
    lines: list[str]


def trial(lesson: Lesson, start: Begin, misses: int = MISSES) -> Iterator[Tried]:
    """Every route, also typed slowly, and so many near misses of the first one. Raises UserError."""
    first = Play(lesson, start)
    routes = [lines_of_route(first, number) for number in range(ROUTES)]
    for number, lines in enumerate(routes):
        refused: list[str] = []
        play = _played(first.branch(), lines, refused)
        why = "" if play.score() >= FULL else _why(play, refused)
        yield Tried(f"route {number + 1}", tuple(lines), play.score(), True, why)
        typed = [part for line in lines for part in (f"{WORLD} wait {TYPING}", line)]
        slow = _played(first.branch(), typed, refused := list[str]())
        why = "" if slow.score() >= FULL else _why(slow, refused)
        yield Tried(f"route {number + 1}, {TYPING} before each line", tuple(typed), slow.score(), True, why)
    moments = [first]
    for line in routes[0]:
        here = moments[-1].branch()
        here.answer(line)
        moments.append(here)
    for miss in _spread(near_misses(first, routes[0]), misses):
        same = next(
            (i for i, line in enumerate(routes[0]) if miss.lines[i : i + 1] != [line]), len(routes[0])
        )
        play = _played(moments[same].branch(), miss.lines[same:])
        yield Tried(miss.name, tuple(miss.lines), play.score(), False)


def _why(play: Play, refused: Sequence[str]) -> str:
    items = (item for stage in play.lesson.stages for item in stage.items())
    lost = set(play.lost())
    undone = [one.name for one in items if one.points and (one.name not in play.marks or one.name in lost)]
    undone += list(play.broken_keeps())
    left = [f"not done: {', '.join(undone)}"] if undone else []
    return "; ".join([*left, *refused[:1]])


def _played(play: Play, lines: Sequence[str], refused: list[str] | None = None) -> Play:
    """The lines of a play, and its end; `refused` gets those that were refused, with the answers."""
    for line in lines:
        said = play.answer(line)
        if refused is not None and said.startswith(_REFUSES):
            refused.append(f"'{line}': {said.removeprefix(_REFUSES).splitlines()[0]}")
    if not play.finished:
        play.answer(f"{LESSON} finish")
    return play


def _kind(line: str) -> str:
    """What a line of a route is: time, a deed of `!`, an order at a console, an answer, or a look."""
    found = addressed(line)
    if found is None:
        return ""
    verb = found.text.split(" ", 1)[0].lower()
    if found.prompt == WORLD:
        return "time" if verb in world.OF_TIME else "deed"
    if found.prompt == LESSON:
        return "answer"
    return "order" if ORDERS & set(found.text.upper().split()[:2]) else "look"


def near_misses(play: Play, lines: Sequence[str]) -> list[list[Miss]]:
    """By kind: nothing done or no cure, a line dropped, two swapped, a harm for a cure, a wrong answer."""
    kinds = [_kind(line) for line in lines]
    acts = [i for i, kind in enumerate(kinds) if kind != "time"]
    dropped = [Miss(f"without '{lines[i]}'", [*lines[:i], *lines[i + 1 :]]) for i in acts]
    stage_of = [number for number, stage in enumerate(play.lesson.stages) for _ in stage.routes[0]]
    swapped = []
    for i, j in pairwise(acts):
        # Within a stage only an answer has to wait, for what is to be looked at.
        guesses = kinds[i] == "look" and kinds[j] == "answer"
        # What is ordered at a console may be ordered before it is asked for.
        early = {kinds[i], kinds[j]} == {"answer", "order"}
        differs = kinds[i] != kinds[j] or kinds[i] in ("deed", "order")
        if guesses or (stage_of[i] != stage_of[j] and differs and not early):
            other = list(lines)
            other[i], other[j] = other[j], other[i]
            swapped.append(Miss(f"'{lines[j]}' before '{lines[i]}'", other))
    last = len(play.lesson.stages[-1].routes[0])
    cure = len(lines) - last
    deeds = [i for i in acts if i >= cure and kinds[i] in ("deed", "order", "look")]
    harmed = [
        Miss(f"'{harm}' in place of the cure", [harm if i == deeds[0] else line
                                                for i, line in enumerate(lines) if i not in deeds[1:]])
        for harm in play.lesson.harms if deeds
    ]  # fmt: skip
    # Some goals might come by themselves when the trouble is over.
    to_the_end = f"{WORLD} wait {play.lesson.limit:g}s"
    waited = [Miss("the cure is left to time", [*lines[:at], to_the_end]) for at in deeds[:1]]
    wrong = [
        Miss(f"a wrong answer before '{lines[i]}'", [*lines[:i], _wrong(play, lines[i]), *lines[i:]])
        for i in acts
        if kinds[i] == "answer"
    ]
    return [
        [Miss("nothing is done", [to_the_end]), *waited],
        dropped,
        swapped,
        harmed,
        wrong,
    ]


def _wrong(play: Play, line: str) -> str:
    words = line.split(" ")
    question = next(q for stage in play.lesson.stages for q in stage.questions if q.name == words[2])
    expected = asked(question, play.now, 0.0).expected
    number = "0" if expected is None else f"{expected.low / 1000:.6g}"
    wrong = next((option.name for option in question.options if not option.right), number)
    return " ".join([*words[:3], wrong])


def _spread(kinds: list[list[Miss]], most: int) -> Iterator[Miss]:
    """Some of each kind, in turn."""
    left = [list(kind) for kind in kinds]
    while most > 0 and any(left):
        for kind in left:
            if kind and most > 0:
                most -= 1
                yield kind.pop(0)
