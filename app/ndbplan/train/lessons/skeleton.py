"""A lesson from what somebody did: the lines of a transcript become its reference route and its happenings.

skeleton(lines, "my-lesson", "redo-overload")      # text of a lesson file, to be completed
"""

from __future__ import annotations

from collections.abc import Iterable

from ndbplan.base.errors import UserError
from ndbplan.base.units import parse_duration_s
from ndbplan.train import world
from ndbplan.train.consoles import LESSON, WORLD, addressed

BEFALLS = ("kill", "hang", "wake", "fail", "restore", "cut", "heal", "slow", "fill", "free")
"""Deeds that befall the cluster: they happen in the lesson. All others are the trainee's."""


def skeleton(lines: Iterable[str], name: str, sample: str) -> str:
    """What a trainer completes: texts, what is to be seen, and what it is worth."""
    import yaml

    happens, route, at_s = [], list[str](), 0.0
    for raw in lines:
        found = addressed(raw)
        if found is None or found.prompt == LESSON:
            continue
        verb, _, rest = found.text.partition(" ")
        if found.prompt == WORLD and verb in BEFALLS:
            happens.append({"at": f"{at_s:g}s", "do": found.text})
            continue
        if found.prompt == WORLD and verb == "rewind":
            continue
        if found.prompt == WORLD and verb == "wait":
            at_s += _seconds(rest)
            if route and (before := addressed(route[-1])) is not None and before.text.startswith("wait "):
                waited = _seconds(before.text.removeprefix("wait ")) + _seconds(rest)
                route[-1] = f"{WORLD} wait {waited:g}s"
                continue
        route.append(f"{found.prompt} {found.text}")
    looks = [line for line in route if not line.startswith(WORLD)]
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
                    {"name": f"look-{number}", "look": [_words(line)], "says": "What it shows.",
                     "points": 10}
                    for number, line in enumerate(looks[:3], start=1)
                ],
                "goals": [
                    {"name": "well", "when": "refused < 1", "lasts": "60s", "says": "All are served",
                     "points": 90 - 10 * len(looks[:3]), "cures": True}
                ],
                "routes": [route or [f"{WORLD} wait 60s"]],
            }
        ],
    }  # fmt: skip
    return str(yaml.safe_dump(lesson, sort_keys=False, allow_unicode=True, width=100))


def _verb(line: str) -> str:
    found = addressed(line)
    return found.text.partition(" ")[0] if found is not None and found.prompt == WORLD else ""


def _words(line: str) -> str:
    found = addressed(line)
    assert found is not None
    words = found.text.rstrip(";").split()
    return words[0] if found.prompt.endswith("$") or len(words) < 2 else words[-1].rpartition(".")[2]


def _seconds(text: str) -> float:
    try:
        return parse_duration_s(text)
    except UserError:
        return 0.0
