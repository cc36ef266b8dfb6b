"""The first page: at most ten figures, what limits the cluster, and what is assumed that decides."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ndbplan.estimate.storage.column_bytes import DECIDES
from ndbplan.report.alike import some
from ndbplan.report.document import Block, Headline, Line, Paragraph, Run
from ndbplan.report.places import Place
from ndbplan.report.sections.load import bottleneck, load_name
from ndbplan.report.sections.storage import fullest
from ndbplan.report.sources import MONTHS, Answers
from ndbplan.report.texts import say, text

MOST = 10
_ASKED_FOR_LEAST = ("front.restart_system",)
_ASSUMED = ("fitted", "assumed")
"""Evidence of constants that nobody measured by themselves."""
_OF_HOSTS = {
    "cpu": ("cores", "clock_ghz"),
    "network": ("network_bytes_per_s",),
    "disk": ("disks",),
    "disk reads": ("disks",),
    "redo log": ("disks",),
}
"""What of a host decides where each resource ends."""


def headlines(answers: Answers) -> Iterator[Headline]:
    """The figures of the first page; where they are too many, without those that are asked for least."""
    found = list(_headlines(answers))
    for title in map(text, _ASKED_FOR_LEAST):
        if len(found) > MOST:
            found = [one for one in found if one.title != title]
    yield from found[:MOST]


def _headlines(answers: Answers) -> Iterator[Headline]:
    yield from _load(answers)
    yield from _stored(answers)
    for command in ("restart --kind node", "restart --kind system"):
        found = answers[command]
        if found is not None:
            yield _headline(command, found["duration_s"])
    backup = answers["backup"]
    if backup is not None:
        yield _headline("backup", backup["backup"]["duration_s"])
    failing = answers["survive"]
    if failing is not None:
        stops = failing["failures"].count("where(verdict=stops)")
        yield Headline(text("front.survive"), stops, (), say(
            "front.of_failures", count=failing["failures"].count()))  # fmt: skip
    money = answers["cost"]
    if money is not None:
        yield Headline(text("front.cost"), money["total"].run(), (), say(
            "front.of_months", months=money["months"].run()))  # fmt: skip


def _headline(key: str, place: Place, about: Line = ()) -> Headline:
    return Headline(text(f"front.{key.replace(' --kind ', '_')}"), place.run(), place.span(), about)


def _load(answers: Answers) -> Iterator[Headline]:
    most, run = answers["max-load"], answers["simulate"]
    if most is not None:
        if most.get("takes_s") is not None:
            yield _headline("takes", most["takes_s"])
        elif math.isfinite(most["max_per_s"].number):
            offered = say(
                "front.offered", workload=load_name(answers).run(), rate=most["offered_per_s"].run()
            )
            yield _headline("max_load", most["max_per_s"], offered)
    if run is not None:
        yield _headline("latency", run["latency_mean_s"])
        if run["errors"] and run["errors"][0].get("first_at_s") is not None:
            first = run["errors"][0]
            yield _headline("first_error", first["first_at_s"], say("front.code", code=first["code"].run()))


def _stored(answers: Answers) -> Iterator[Headline]:
    found = answers["estimate"]
    if found is None:
        return
    node = fullest(found["memory"]["nodes"]) if found["memory"]["nodes"] else None
    if node is not None:
        share = node["data_memory_bytes"].over(node["data_memory_limit_bytes"])
        yield _headline("memory", share, say("front.node", node=node["node_id"].run()))
    grown = answers[f"estimate --months {MONTHS}"]
    if grown is not None and grown["growth"].get("months_until_full") is not None:
        yield _headline("full", grown["growth"]["months_until_full"])
    disks = list(found["disk_space"]["disks"])
    if disks:
        disk = max(disks, key=lambda one: one["fill"].number)
        where = (disk["host"].run(), Run(" "), disk["disk"].run())
        yield _headline("disk", disk["fill"], where)


def limits(answers: Answers) -> Iterator[Block]:
    """One sentence on what limits the cluster."""
    most = answers["max-load"]
    if most is not None and most.get("limited_by") is not None:
        limit = bottleneck(most["limited_by"])
        if most["limited_by"]["resource"].value == "none":
            line = say("limit.none", limit=limit)
        elif most.get("next_limit") is not None:
            after = most["next_limit"]
            line = say("limit.two", limit=limit, then=bottleneck(after["limited_by"]),
                       rate=after["max_per_s"].run())  # fmt: skip
        else:
            line = say("limit.one", limit=limit)
        yield Paragraph(line, "lead")
        return
    found = answers["estimate"]
    node = fullest(found["memory"]["nodes"]) if found is not None and found["memory"]["nodes"] else None
    if node is not None:
        share = node["data_memory_bytes"].over(node["data_memory_limit_bytes"])
        yield Paragraph(say("limit.memory", node=node["node_id"].run(), share=share.line()), "lead")
    else:
        yield Paragraph(say("limit.unknown"), "lead")


def assumed(answers: Answers) -> Iterator[Block]:
    """Everything assumed on which more than a fifth of a figure of this page rests."""
    found = [*_about_tables(answers), *_about_hardware(answers), *_about_the_model(answers)]
    yield Paragraph(say("assumed.title" if found else "assumed.nothing"), "subtitle" if found else "note")
    yield from (Paragraph(line, "item") for line in found)


def _about_tables(answers: Answers) -> Iterator[Line]:
    found = answers["tighten"]
    for one in found["assumptions"] if found is not None else ():
        if one["share"].number > DECIDES:
            yield say("assumed.table", what=one["what"].run(), value=one["assumed"].run(),
                      share=one["share"].run())  # fmt: skip


def _about_hardware(answers: Answers) -> Iterator[Line]:
    """What is assumed of hosts and disks: what the highest load ends at, and what moves other figures."""
    most, plan, found = answers["max-load"], answers["plan with defaults"], answers["tighten"]
    if most is not None and plan is not None and most.get("limited_by") is not None:
        for name in _OF_HOSTS.get(most["limited_by"]["resource"].value, ()):
            with_data = {one["host_id"] for one in plan.value["processes"] if one["kind"] == "data"}
            ends_at = most["limited_by"]["where"].value
            hosts = [
                host["hostname"] for host in plan["hosts"] if _is_assumed(host, name)
                and (host.value["id"] in with_data or host.value["hostname"] in ends_at)
            ]  # fmt: skip
            if hosts:
                yield say("assumed.hardware", what=text(f"assumed.fields.{name}"), hosts=some(hosts))
    for one in found["hardware"] if found is not None else ():
        figures: list[Run] = []
        for moved in one["figures"]:
            words = say(
                "assumed.moved", figure=_title_of(moved["figure"].value), halved=moved["halved"].run()
            )
            figures += [Run(", "), *words] if figures else words
        yield say("assumed.halved", what=text(f"assumed.fields.{one['field'].value}"),
                  hosts=some(list(one["hosts"])), figures=tuple(figures))  # fmt: skip


def _is_assumed(host: Place, name: str) -> bool:
    """Of `disks` whether any of what is measured of them is."""
    told: list[str] = list(host.value.get("assumed", ()))
    if name == "disks":
        told = [one for disk in host.value["disks"] for one in disk.get("assumed", ())]
        return any(one in _SPEEDS for one in told)
    return name in told


_SPEEDS = (
    "sequential_read_bytes_per_s", "sequential_write_bytes_per_s", "random_read_iops", "random_write_iops",
    "sync_write_latency_s",
)  # fmt: skip
_TITLES = {
    "disk-space": "disk", "restart": "restart_node", "system-restart": "restart_system", "backup": "backup",
}  # fmt: skip


def _title_of(figure: str) -> str:
    """As the first page calls a headline figure."""
    return text(f"front.{_TITLES[figure]}")


def _about_the_model(answers: Answers) -> Iterator[Line]:
    """Constants of the model that nobody measured, in parts that make more than a fifth of a figure."""
    told: set[str] = set()
    for key, command, *path in _DERIVED:
        figure = answers[f"{command} --why"]
        for name in path:
            figure = figure.get(name) if figure is not None else None
        for step in _deciding(figure, figure.number) if figure is not None else ():
            name = _unsure(answers, step)
            if name and name not in told:
                told.add(name)
                yield say("assumed.model", what=step["term"].run(), value=step["value"].run(),
                          figure=text(f"front.{key}"))  # fmt: skip


def _deciding(part: Place, whole: float) -> Iterator[Place]:
    """The constants below what makes more than a fifth of a figure.

    Parts of a sum that are less decide nothing, nor do bounds that lie a fifth below the one that holds.
    """
    terms = list(part.get("why") or ())
    unit, value = part.value["unit"], part["value"].number
    alike = [term["value"].number for term in terms if term.value["unit"] == unit]
    sums_up = bool(alike) and math.isclose(sum(alike), value, rel_tol=0.01)
    holds = bool(alike) and not sums_up and math.isclose(max(alike), value, rel_tol=0.01)
    for term in terms:
        least = DECIDES * whole if sums_up else (1 - DECIDES) * value if holds else 0.0
        if term.value["unit"] == unit and term["value"].number < least:
            continue
        if term.value["source"].endswith("]"):
            yield term
        yield from _deciding(term, whole)


_DERIVED = (
    ("max_load", "max-load", "max_per_s"),
    ("latency", "simulate", "latency_mean_s"),
    ("restart_node", "restart --kind node", "duration_s"),
    ("restart_system", "restart --kind system", "duration_s"),
    ("backup", "backup", "backup", "duration_s"),
)


def _unsure(answers: Answers, step: Place) -> str:
    """The name of the constant of a step; nothing where it was measured, or is known within a fifth."""
    from ndbplan.estimate.constants import constant_for

    try:
        known = constant_for(answers.asked.plan, step.value["source"].rsplit("[", 1)[1][:-1])
    except KeyError:
        return ""
    is_unsure = known.evidence in _ASSUMED and known.low > 0 and known.high > (1 + DECIDES) * known.low
    return known.name if is_unsure else ""
