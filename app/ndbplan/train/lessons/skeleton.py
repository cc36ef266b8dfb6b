"""A lesson from what somebody did: the lines of a transcript become its reference route and its happenings.

skeleton(lines, "my-lesson", "redo-overload")      # text of a lesson file, to be completed
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ndbplan.base.errors import UserError
from ndbplan.base.units import parse_duration_s
from ndbplan.plan.samples import sample_plan
from ndbplan.train import world
from ndbplan.train.consoles import LESSON, MGM, WORLD, Addressed, Consoles, addressed
from ndbplan.train.lessons.looking import has_words, shows_nothing
from ndbplan.train.live import LiveCluster

_MOST_LOOKS = 6
_READS = re.compile(r"\bfrom\s+([\w.$`]+)", re.IGNORECASE)
BEFALLS = ("kill", "hang", "wake", "fail", "restore", "cut", "heal", "slow", "fill", "free")
"""Deeds that befall the cluster: they happen in the lesson. All others are the trainee's."""


def skeleton(lines: Iterable[str], name: str, sample: str) -> str:
    """What a trainer completes: texts, what is to be seen, and what it is worth.

    The lines are played on the sample: how long `! until` or a restart takes is in no transcript.
    """
    import yaml

    done = list(_done(lines, sample))
    at_s = max((one.ended_s for one in done), default=0.0)
    happens, route = [], list[str]()
    for one in done:
        found, (verb, _, rest) = one.line, one.line.text.partition(" ")
        if found.prompt == WORLD and verb in BEFALLS:
            happens.append({"at": f"{one.at_s:g}s", "do": found.text})
            continue
        before = addressed(route[-1]) if route else None
        waits = found.prompt == WORLD and verb == "wait"
        if waits and before is not None and before.text.startswith("wait "):
            waited = _seconds(before.text.removeprefix("wait ")) + _seconds(rest)
            route[-1] = f"{WORLD} wait {waited:g}s"
            continue
        route.append(f"{found.prompt} {found.text}")
    looks = _looks(done)
    each = min(10, 60 // max(1, len(looks)))
    allows = sorted({_verb(line) for line in route} & set(world.DEEDS))
    lesson = {
        "format": 1,
        "name": name,
        "title": "TITLE",
        "about": "What is learned.",
        "reads": ["training.md"],
        "story": "What happened before.\n",
        "starts": [{"name": "today", "sample": sample}],
        "limit": f"{max(600.0, 2.0 * at_s):g}s",
        "happens": happens,
        "shows": ["accepted", "refused"],
        "allows": allows or ["set"],
        "keeps": [{"name": "runs", "when": "stopped = 0", "says": "The cluster never stopped", "points": 10}],
        "stages": [
            {
                "name": "all",
                "task": "What is to be done.",
                "evidence": [
                    {"name": f"look-{number}", "look": [words], "says": "What it shows.", "points": each}
                    for number, words in enumerate(looks, start=1)
                ],
                "goals": [
                    {"name": "well", "when": "refused < 1", "lasts": "60s", "says": "All are served",
                     "points": 90 - each * len(looks), "cures": True}
                ],
                "routes": [route or [f"{WORLD} wait 60s"]],
            }
        ],
    }  # fmt: skip
    return str(yaml.safe_dump(lesson, sort_keys=False, allow_unicode=True, width=100))


class _Done(NamedTuple):
    """A line, and when it was typed and over."""

    line: Addressed
    at_s: float
    ended_s: float
    is_refused: bool


def _done(lines: Iterable[str], sample: str) -> Iterator[_Done]:
    """What was done, in the end: what a rewind leads back over has not happened."""
    consoles, found = Consoles(LiveCluster.begin(sample_plan(sample), hours=24.0)), list[_Done]()
    for raw in lines:
        line = addressed(raw)
        if line is None or line.prompt == LESSON:
            continue
        at_s = round(consoles.cluster.now_s, 3)
        answer = consoles.answer(raw)
        ended_s = round(consoles.cluster.now_s, 3)
        if line.prompt == WORLD and line.text.partition(" ")[0] == "rewind":
            found = [one for one in found if one.at_s < ended_s]
        else:
            found.append(_Done(line, at_s, ended_s, shows_nothing(answer)))
    yield from found


def _verb(line: str) -> str:
    found = addressed(line)
    return found.text.partition(" ")[0] if found is not None and found.prompt == WORLD else ""


def _looks(done: Iterable[_Done]) -> list[str]:
    """Words by which each line that showed something is known, and no other of them."""
    found: list[tuple[str, str]] = []
    for one in done:
        prompt, text = one.line
        if prompt == WORLD or one.is_refused or not text.strip("; "):
            continue
        line, words = f"{prompt} {text}", _words(one.line)
        if not any(has_words(line, known) for known, _ in found):
            found = [(known, of) for known, of in found if not has_words(of, words)]
            found.append((words, line))
    return [words for words, _ in found][:_MOST_LOOKS]


def _words(line: Addressed) -> str:
    """A command of the management client whole, the program of a shell, of a query what it reads."""
    text = line.text.rstrip(";").strip()
    if line.prompt.endswith("$"):
        return f"$ {text.split()[0]}"
    read = _READS.search(text) if line.prompt != MGM else None
    return f"from {read[1]}" if read else f"{line.prompt} {text}"


def _seconds(text: str) -> float:
    try:
        return parse_duration_s(text)
    except UserError:
        return 0.0
