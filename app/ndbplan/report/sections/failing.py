"""What may fail: every single failure, and the smallest sets that stop the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.report.alike import some
from ndbplan.report.document import Block, Paragraph, Run, Table
from ndbplan.report.places import Place
from ndbplan.report.sources import Answers
from ndbplan.report.texts import say, text, words

KINDS = ("node", "host", "disk", "device", "rack", "switch", "link")
_VERDICTS = ("goes on", "asks the arbitrator", "stops")
_MOST_ROWS = 30


def failures(answers: Answers) -> Iterator[Block]:
    """Verdicts by kind of part, failures that stop or ask, the least load left, smallest killers."""
    found = answers["survive"]
    if found is None:
        return
    all_of_them = found["failures"]
    yield Paragraph(say("failures.lead", count=all_of_them.count(),
                        stops=all_of_them.count("where(verdict=stops)"),
                        asks=all_of_them.count("where(verdict=asks the arbitrator)")), "lead")  # fmt: skip
    yield _by_kind(all_of_them)
    yield from _notable(all_of_them)
    yield from _least_left(all_of_them)
    yield from _killers(found["smallest_killers"])
    for note in found["notes"]:
        yield Paragraph((note.run(),), "note")


def _by_kind(failures_: Place) -> Table:
    there = [kind for kind in KINDS if any(one["dead"][0].startswith(f"{kind}:") for one in failures_.value)]
    rows = [
        ((Run(text(f"failures.kinds.{kind}")),),
         *((failures_.count(f"where(dead^{kind}:,verdict={verdict})"),) for verdict in _VERDICTS))
        for kind in there
    ]  # fmt: skip
    return Table(text("failures.title"), words("part", "goes_on", "asks", "stops"), tuple(rows))


def _notable(failures_: Place) -> Iterator[Block]:
    """What does not simply go on, alike ones in one row."""
    groups: dict[tuple[str, str], list[Place]] = {}
    for one in failures_:
        if one.value["verdict"] != _VERDICTS[0]:
            groups.setdefault((one.value["verdict"], one.value["why"]), []).append(one)
    order = sorted(groups.items(), key=lambda pair: _VERDICTS[::-1].index(pair[0][0]))[:_MOST_ROWS]
    rows = []
    for _, alike in order:
        first = alike[0]
        rows.append((some([one["dead"][0] for one in alike]), (first["verdict"].run(),),
                     (first["why"].run(),)))  # fmt: skip
    if rows:
        heads = words("part", "verdict", "because")
        yield Table(text("failures.notable"), heads, tuple(rows), (0, 1, 2))


def _least_left(failures_: Place) -> Iterator[Block]:
    """The loss of a host that leaves least, and what takes longest to be whole again."""
    hosts = [one for one in failures_ if one.value["dead"][0].startswith("host:")]
    with_load = [one for one in hosts if one.get("load_left_per_s")]
    if with_load:
        worst = min(with_load, key=lambda one: one["load_left_per_s"].number)
        yield Paragraph(say("failures.least", part=worst["dead"][0].run(),
                            rate=worst["load_left_per_s"].line()))  # fmt: skip
    timed = [one for one in hosts if one.get("whole_again_s")]
    if timed:
        longest = max(timed, key=lambda one: one["whole_again_s"].number)
        yield Paragraph(say("failures.longest", part=longest["dead"][0].run(),
                            time=longest["whole_again_s"].line()))  # fmt: skip


def _killers(killers: Place) -> Iterator[Block]:
    """The sets that stop the cluster, by the kinds of their parts with an example of each."""
    kinds: dict[tuple[str, ...], Place] = {}
    for killer in killers:
        kinds.setdefault(tuple(part.partition(":")[0] for part in killer.value), killer)
    if not kinds:
        return
    yield Paragraph(say("failures.killers", count=killers.count()), "subtitle")
    for example in list(kinds.values())[:_MOST_ROWS]:
        line: list[Run] = []
        for part in example:
            line += [Run(" + ")] if line else []
            line.append(part.run())
        yield Paragraph(tuple(line), "item")
