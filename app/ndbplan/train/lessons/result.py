"""What is handed in: one page with the outcome of a lesson, and a checksum over all of it.

    content = page(outcome(play, source))
    read_page(content, "ann.html")          # the outcome; ResultError when one byte of it is another one

The checksum shows damage and careless changes. That the score follows from the lines shows only playing them
again (`debrief.replayed`): whoever can compute a checksum can state one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from html import escape
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_clock, how_many
from ndbplan.train.lessons.model import FULL, Question
from ndbplan.train.lessons.play import Play
from ndbplan.train.lessons.records import TRAINER

FORMAT = 1
_SEAL = b"<!-- sha256 "
_END = b" -->\n"
_OPEN, _CLOSE = b'<script type="application/json" id="outcome">', b"</script>"


class ResultError(UserError):
    """A page that is no result, or not as it was handed in."""


def outcome(play: Play, source: bytes) -> dict[str, Any]:
    """What came of a play; `source` is the file of its lesson."""
    lesson, referee = play.lesson, play.referee
    broken = play.broken_keeps()
    lost = set(play.lost())
    items = [
        {
            "name": item.name,
            "says": item.ask if isinstance(item, Question) else item.says,
            "stage": stage.name,
            "points": item.points,
            **_got(play, item.name, lost),
            **(_answered(play, item.name) if isinstance(item, Question) else {}),
        }
        for stage in lesson.stages
        for item in stage.items()
    ]
    keeps = [
        {"name": keep.name, "says": keep.says, "points": keep.points, "broken_s": broken.get(keep.name)}
        for keep in lesson.keeps
    ]
    return {
        "format": FORMAT,
        "lesson": lesson.name,
        "title": lesson.title,
        "lesson_sha256": hashlib.sha256(source).hexdigest(),
        "start": play.start.name,
        "trainee": play.trainee,
        "apart": play.cluster.apart,
        "score": play.score(),
        "of": FULL,
        "all_done": play.stage is None,
        "ended_s": play.cluster.now_s,
        "times": _times(play, referee.trouble_s),
        "items": items,
        "keeps": keeps,
        "hints": list(play.hints),
        "wrong": {name: one.wrong for name, one in play.asked.items() if one.wrong},
        "rewinds": play.rewinds,
        "skipped": sorted(play.skipped),
        "missed": _missed(play),
        "looks": [look._asdict() for look in play.looks],
        "steps": [step._asdict() for step in play.steps],
    }


def _got(play: Play, name: str, lost: set[str]) -> dict[str, Any]:
    mark = play.marks.get(name)
    if mark is None:
        return {"at_s": None, "got": 0.0}
    return {"at_s": mark.at_s, "got": 0.0 if name in lost else mark.points}


def _answered(play: Play, name: str) -> dict[str, Any]:
    """What was answered to a question and what is right; nothing where nobody tried."""
    state = play.asked.get(name)
    return {"answers": state.given, "right": state.truth} if state is not None and state.given else {}


def _times(play: Play, trouble_s: float | None) -> dict[str, float | None]:
    """Seconds of the lesson when there was something to notice, and when it was noticed, named and cured."""
    lesson = play.lesson
    if trouble_s is None and not lesson.trouble and lesson.happens:
        first_s = min(one.at for one in lesson.happens)
        trouble_s = first_s if first_s <= play.cluster.now_s else None
    begin_s = trouble_s or 0.0
    seen = (look.at_s for look in play.looks if look.shows and look.at_s >= begin_s - 1e-9)
    asked = [q.name for stage in lesson.stages for q in stage.questions if q.names]
    goals = [goal.name for stage in lesson.stages for goal in stage.goals if goal.cures]
    lost = set(play.lost())
    named = (play.marks[name].at_s for name in asked if name in play.marks)
    cured = (play.marks[name].at_s for name in goals if name in play.marks and name not in lost)
    return {
        "trouble_s": trouble_s,
        "noticed_s": min(seen, default=None) if trouble_s is not None else None,
        "named_s": min(named, default=None),
        "cured_s": min(cured, default=None),
    }


def _missed(play: Play) -> list[dict[str, str]]:
    """What would have shown something and was not looked at."""
    seen = {look.shows for look in play.looks}
    return [
        {"name": one.name, "says": one.says}
        for stage in play.lesson.stages
        for one in stage.evidence
        if one.name not in seen
    ]


# The page.


def page(found: dict[str, Any]) -> bytes:
    """A page for people, with all of it for machines inside, and the checksum at its end."""
    data = json.dumps(found, ensure_ascii=False, sort_keys=True, allow_nan=False).replace("<", "\\u003c")
    body = "".join(_body(found))
    title = f"{escape(found['title'])} · {escape(found['trainee'] or 'nobody')}"
    head = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title>\n<style>body{{font:15px/1.5 sans-serif;max-width:60em;margin:auto}}"
        "body{padding:2em}"
        "table{border-collapse:collapse}td,th{border:1px solid #bbb;padding:.2em .6em;text-align:left}"
        "pre{background:#f4f4f4;padding:.5em;overflow:auto}</style></head><body>\n"
    )
    content = f"{head}{body}".encode() + _OPEN + data.encode() + _CLOSE + b"\n</body></html>\n"
    return content + _SEAL + hashlib.sha256(content).hexdigest().encode() + _END


def read_page(content: bytes, name: str) -> dict[str, Any]:
    """The outcome on a page. Raises ResultError when it is none, or not as it was handed in."""
    body, seal, rest = content.rpartition(_SEAL)
    if not seal or _OPEN not in body:
        raise ResultError("is not a result of a lesson", where=name, fix="name a page that a lesson wrote")
    if rest != hashlib.sha256(body).hexdigest().encode() + _END:
        raise ResultError(
            "was changed after it was handed in: its checksum is another one", where=name,
            fix="ask for the page as it was written",
        )  # fmt: skip
    data = body.partition(_OPEN)[2].rpartition(_CLOSE)[0]
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ResultError("is of another format", where=name, fix="play the lesson with this version")
    return found


def lines(found: dict[str, Any]) -> Iterator[str]:
    """The debriefing as text."""
    who = found["trainee"] or "nobody"
    yield f"{found['title']} ({found['start']}), {who}: {found['score']:g} of {found['of']} points"
    yield from (f"  {text}" for text in _spans(found["times"]))
    yield "What was done"
    said = {item["name"]: item["says"] for item in found["items"]}
    for item in found["items"]:
        at = "not done" if item["at_s"] is None else f"at {format_clock(item['at_s'])}"
        points = f"{item['got']:g} of {item['points']:g}" if item["points"] else "no points"
        behind = " —" if item["says"].endswith("?") else ","
        yield f"  {points}  {item['stage']}: {item['says']}{behind} {at}"
        if item.get("answers"):
            yield f"  {item['stage']}: answered {', '.join(item['answers'])}; right is {item['right']}"
    less = sum(item["got"] for item in found["items"]) - found["score"]
    for keep in found["keeps"]:
        kept = "kept" if keep["broken_s"] is None else f"not so from {format_clock(keep['broken_s'])} on"
        if keep["broken_s"] is None and not found["all_done"]:
            kept += ", which counts once all stages are done"
        got = keep["points"] if keep["broken_s"] is None and found["all_done"] else 0
        less = round(less + got, 1)
        yield f"  {got:g} of {keep['points']:g}  all the time: {keep['says']}: {kept}"
    if found["hints"] or found["wrong"] or found["rewinds"] or found["skipped"]:
        wrong = sum(found["wrong"].values())
        yield (
            f"  {how_many(len(found['hints']), 'hint')}, {how_many(wrong, 'wrong answer')}, "
            f"{how_many(found['rewinds'], 'time')} back, {how_many(len(found['skipped']), 'stage')} skipped"
            + (f"; {less:g} points less for hints and going back" if less > 0 else "")
        )
    deeds = [step for step in found["steps"] if step["by"] == TRAINER]
    if deeds:
        yield "What the trainer did"
        yield from (f"  {format_clock(step['at_s'])} {step['line']}" for step in deeds)
    yield "What was looked at, and what was true then"
    for look in found["looks"]:
        truth = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in look["truth"].items())
        shows = f" — shows: {said[look['shows']]}" if look["shows"] else ""
        yield f"  {format_clock(look['at_s'])} {look['line'].rstrip(';')}: {truth}{shows}"
    if found["missed"]:
        yield "What was not looked at and would have shown it"
        yield from (f"  {one['says']}" for one in found["missed"])


def _spans(times: dict[str, float | None]) -> Iterator[str]:
    begin_s = times["trouble_s"]
    if begin_s is None:
        yield "No trouble began."
        return
    yield f"The trouble began at {format_clock(begin_s)}."
    for key, word in (("noticed_s", "noticed"), ("named_s", "named"), ("cured_s", "cured")):
        at_s = times[key]
        if at_s is None:
            yield f"It was not {word}."
        else:
            yield f"It was {word} after {format_clock(max(0.0, at_s - begin_s))}."


def _body(found: dict[str, Any]) -> Iterator[str]:
    text = list(lines(found))
    yield f"<h1>{escape(text[0])}</h1>\n<ul>\n"
    for line in text[1:]:
        if line.startswith("  "):
            yield f"<li>{escape(line.strip())}</li>\n"
        else:
            yield f"</ul>\n<h2>{escape(line)}</h2>\n<ul>\n"
    yield "</ul>\n<h2>What the consoles showed</h2>\n"
    for look in found["looks"]:
        yield f"<p>{format_clock(look['at_s'])} <code>{escape(look['line'])}</code></p>"
        yield f"<pre>{escape(look['answer'])}</pre>\n"
