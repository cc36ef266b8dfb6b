"""What to be careful about: problems, assumptions, calibrations, and how good the numbers are."""

from __future__ import annotations

from collections.abc import Iterator

from ndbplan.report.alike import some
from ndbplan.report.document import Block, Line, Listing, Paragraph, Run, Table
from ndbplan.report.places import Place
from ndbplan.report.sources import Answers
from ndbplan.report.texts import say, text, words

_HELD = (
    ("memory", "estimate", "memory"),
    ("load", "estimate", "redo"),
    ("simulation", "simulate", ""),
    ("restarts", "restart --kind node", ""),
    ("backup", "backup", "backup"),
    ("reorganise", "procedure --kind add-nodes", ""),
)
"""Kind of figure, and where it says how near it lies to measured runs."""


def problems(answers: Answers) -> Iterator[Block]:
    """What the checks find, worst first, with what cures it, and what is accepted."""
    found = answers["check"]
    if found is None:
        return
    counts = {
        kind: found["problems"].count(f"where(severity={kind})") for kind in ("error", "warning", "hint")
    }
    yield Paragraph(say("problems.lead", **counts), "lead")
    for problem in found["problems"]:
        severity = problem.value["severity"]
        where = (Run(text(f"problems.{severity}"), "", "strong"), Run(" "), problem["where"].run("strong"))
        yield Paragraph((*where, Run(": "), problem["message"].run()), severity)
        if problem.get("solutions"):
            for way in problem["solutions"]:
                yield Paragraph((way["title"].run(), Run(" — "), way["why"].run()), "item")
        elif problem.get("fix") is not None:
            yield Paragraph((problem["fix"].run(),), "item")
    for waived in found["waived"]:
        yield Paragraph(say("problems.accepted", where=waived["where"].run(), message=waived["message"].run(),
                            reason=waived["reason"].run()), "note")  # fmt: skip


def assumptions(answers: Answers) -> Iterator[Block]:
    """Values nobody stated, by what rests on them; measured rates that replace defaults."""
    found, plan = answers["tighten"], answers["plan with defaults"]
    if found is not None and found["assumptions"]:
        rows = [
            ((one["what"].run(),), (one["assumed"].run(),), (one["share"].run(),), (one["low_bytes"].run(),),
             (one["high_bytes"].run(),))
            for one in found["assumptions"]
        ]  # fmt: skip
        heads = words("assumed", "value", "share_of_memory", "at_least", "at_most")
        yield Table(text("assumptions.title"), heads, tuple(rows))
    assert plan is not None
    yield from _assumed_hardware(plan["hosts"])
    if plan["calibrations"]:
        measured = [
            ((one["constant"].run("code"),), (one["value"].run(),), (one["source"].run(),))
            for one in plan["calibrations"]
        ]
        heads = words("constant", "value", "source")
        yield Table(text("assumptions.calibrations"), heads, tuple(measured), (0, 2))


def _assumed_hardware(hosts: Place) -> Iterator[Block]:
    rows: dict[tuple[str, ...], list[Place]] = {}
    for host in hosts:
        names = [*host.value.get("assumed", ())]
        of_disks = dict.fromkeys(name for disk in host.value["disks"] for name in disk.get("assumed", ()))
        if of_disks:
            names.append(text("assumptions.of_disks").replace("{names}", ", ".join(of_disks)))
        if names:
            rows.setdefault(tuple(name.replace("_", " ") for name in names), []).append(host["hostname"])
    if not rows:
        return
    lines: list[tuple[Line, ...]] = [
        ((*some(places),), (Run(", ".join(names)),)) for names, places in rows.items()
    ]
    yield Table(text("assumptions.hardware"), words("hosts", "assumed"), tuple(lines), (0, 1))


def quality(answers: Answers) -> Iterator[Block]:
    """How near each kind of figure lies to runs that were measured."""
    from ndbplan.ndb.evidence import unheld
    from ndbplan.ndb.version import NdbVersion

    plan = answers["plan"]
    assert plan is not None
    version = answers.asked.plan.ndb_version
    unlike = unheld(NdbVersion.parse(version))
    sentence = (Run(f"{unlike[:1].upper()}{unlike[1:]}."),) if unlike else say(
        "quality.held", version=version)  # fmt: skip
    yield Paragraph(sentence, "lead")
    rows = []
    for kind, command, part in _HELD:
        answer = answers[command]
        there = answer[part] if answer is not None and part else answer
        near = None if there is None else there.get("nearness")
        if near is None:
            continue
        runs: list[Run] = []
        for run in near["nearest"]:
            runs += [Run("; ")] if runs else []
            runs.append(run.run())
        mark = (Run(text(f"quality.marks.{near['mark'].value}")),)
        rows.append(((Run(text(f"quality.kinds.{kind}")),), mark, tuple(runs)))
    if rows:
        yield Table(text("quality.title"), words("figures", "nearness", "runs"), tuple(rows), (0, 1, 2))
        yield Paragraph(say("quality.ranges"), "note")


def configuration(answers: Answers) -> Iterator[Block]:
    """Every parameter that is set with who set it, and config.ini; nothing where no node is planned."""
    if not answers.asked.plan.processes:
        return
    found, exported = answers["parameters"], answers["export --only config"]
    if found is not None and found["parameters"]:
        rows = [
            (
                (one["name"].run("code"),),
                (one["value"].run("code"),),
                (one["where"].run(),),
                (one["why"].run(),),
            )
            for one in found["parameters"]
        ]
        heads = words("parameter", "value", "of", "because")
        yield Table(text("configuration.title"), heads, tuple(rows), (0, 1, 2, 3))
    if exported is not None and exported["config.ini"].value:
        place = exported["config.ini"]
        yield _listing("config.ini", place)


def _listing(title: str, place: Place) -> Listing:
    return Listing(title, str(place.value), place.at)


def runbook(answers: Answers) -> Iterator[Block]:
    """The commands of every operation, as they are exported; nothing where no node is planned."""
    if not answers.asked.plan.processes:
        return
    found = answers["export --only runbook"]
    if found is None or not found["runbook.md"].value:
        return
    yield Paragraph(say("runbook.lead"), "note")
    yield _listing("runbook.md", found["runbook.md"])
