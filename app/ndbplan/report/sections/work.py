"""How long work takes: restarts, backups, and adding nodes, as timelines."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.report.document import Bar, BarChart, Block, Paragraph, Run, Table
from ndbplan.report.places import Place
from ndbplan.report.sources import Answers
from ndbplan.report.texts import say, text, words

_MOST_BARS = 24
_KINDS = ("node", "initial", "system", "rolling")


def operations(answers: Answers) -> Iterator[Block]:
    """Durations in one table, then phase by phase."""
    restarts = {kind: found for kind in _KINDS if (found := answers[f"restart --kind {kind}"]) is not None}
    backup, grown = answers["backup"], answers["procedure --kind add-nodes"]
    rows = [((Run(text(f"operations.{kind}")),), one["duration_s"].line()) for kind, one in restarts.items()]
    if backup is not None:
        rows.append(((Run(text("operations.backup")),), backup["backup"]["duration_s"].line()))
        rows.append(((Run(text("operations.restore")),), backup["restore"]["duration_s"].line()))
    if grown is not None:
        rows.append(((Run(text("operations.add_nodes")),), grown["duration_s"].line()))
    if not rows:
        return
    yield Table(text("operations.title"), words("work", "duration"), tuple(rows))
    for kind, found in restarts.items():
        yield from _timeline(f"operations.{kind}", found["phases"], "name")
        for note in found["notes"]:
            yield Paragraph((note.run(),), "note")
    if backup is not None and len(backup["restore"]["phases"]) > 1:
        yield from _timeline("operations.restore", backup["restore"]["phases"], "name")
    if grown is not None:
        yield from _timeline("operations.add_nodes", grown["steps"], "title")
        yield from _steps(grown)


def timeline(answers: Answers, kind: str) -> Iterator[Block]:
    """One operation step by step: a restart of this kind, or `add_nodes`."""
    command, steps, name = (
        ("procedure --kind add-nodes", "steps", "title") if kind == "add_nodes"
        else (f"restart --kind {kind}", "phases", "name")
    )  # fmt: skip
    found = answers[command]
    if found is not None:
        yield from _timeline(f"operations.{kind}", found[steps], name)


def _timeline(title: str, steps: Place, name: str) -> Iterator[Block]:
    """Each step begins when the one before has ended, by its middle value."""
    if not steps:
        return
    bars, start = [], 0.0
    for number, step in enumerate(steps):
        duration = step["duration_s"]
        low, high = duration.end_numbers
        if number < _MOST_BARS:
            bars.append(Bar((step[name].run(),), duration.run(), duration.number, low, high, start))
        start += duration.number
    yield BarChart(text(title), "s", tuple(bars), timeline=True)
    if len(steps) > _MOST_BARS:
        yield Paragraph(say("operations.more", count=steps.count()), "note")


def _steps(grown: Place) -> Iterator[Block]:
    """What is blocked meanwhile, and the way back of each step."""
    rows = []
    for step in grown["steps"]:
        blocked: list[Run] = []
        for one in step["blocked"]:
            blocked += [Run(", ")] if blocked else []
            blocked.append(one.run())
        rows.append(((step["title"].run(),), step["duration_s"].line(), tuple(blocked),
                     (step["way_back"].run(),)))  # fmt: skip
    heads = words("step", "duration", "blocked", "way_back")
    yield Table(text("operations.steps"), heads, tuple(rows), (0, 2, 3))
    point = grown.get("point_of_no_return")
    if point is not None:
        for step in grown["steps"]:
            if step.value["key"] == point.value:
                yield Paragraph(say("operations.no_way_back", step=step["title"].run()), "note")
