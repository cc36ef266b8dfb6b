"""What a load does: the simulated run with its charts and errors, and which changes would matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ndbplan.base.units import MEMORY
from ndbplan.ndb.errors import ndb_error
from ndbplan.report.alike import alike
from ndbplan.report.document import Block, Line, LineChart, Mark, Paragraph, Run, Series, Table
from ndbplan.report.places import Place
from ndbplan.report.sources import Answers
from ndbplan.report.texts import has_text, say, text, words

_POINTS = 240
_BUSIEST = 12
_OF_PART = re.compile(r"node([0-9]+)_part([0-9]+)_")
_BUSY = "_utilisation"


def simulation(answers: Answers) -> Iterator[Block]:
    """Rates, fills and errors of the simulated load."""
    run = answers["simulate"]
    if run is None:
        return
    yield Paragraph(say("simulation.lead", workload=load_name(answers).run(),
                        duration=run["duration_s"].run(), seed=run["seed"].run()), "lead")  # fmt: skip
    names = ("offered_per_s", "accepted_per_s", "latency_mean_s", "latency_max_s", "redo_buffer_fill_max",
             "redo_log_fill_max", "loaded_after_s")  # fmt: skip
    rows = [((Run(text(f"simulation.{name}")),), run[name].line()) for name in names if run.get(name)]
    limit = run.get("bottleneck")
    if limit is not None:
        rows.append(((Run(text("simulation.bottleneck")),), bottleneck(limit)))
    yield Table(text("simulation.title"), words("what", "figure"), tuple(rows))
    yield from _stopped(run)
    yield from _error_rows(run)
    yield from charts(answers, run)
    yield from _disks(run["disks"])


def load_name(answers: Answers) -> Place:
    """The name of the load that the report is about."""
    plan, chosen = answers["plan"], answers.asked.now.workload
    assert plan is not None
    return plan["workloads"][0 if chosen is None else answers.asked.plan.workloads.index(chosen)]["name"]


def bottleneck(limit: Place) -> Line:
    """A resource and where it is, in words."""
    return (limit["text"].run(),)


def _stopped(run: Place) -> Iterator[Block]:
    stop = run.get("cluster_stop")
    if stop is not None:
        yield Paragraph(tuple(stop[key].run() for key in ("text",) if stop.get(key)), "error")


def _error_rows(run: Place) -> Iterator[Block]:
    if not run["errors"]:
        yield Paragraph(say("simulation.no_errors"), "note")
        return
    rows = []
    for error in run["errors"]:
        known = ndb_error(error.value["code"])
        rows.append(((error["code"].run(),), (Run(known.text if known else ""),), (error["count"].run(),),
                     error["first_at_s"].line(), (error["node_id"].run(),)))  # fmt: skip
    heads = words("code", "meaning", "times", "first", "node")
    yield Table(text("simulation.errors"), heads, tuple(rows), (0, 1))


def charts(answers: Answers, run: Place) -> Iterator[LineChart]:
    """The simulated run over time."""
    series = answers["simulate --csv"]
    if series is None or not series["t_s"]:
        return
    marks = tuple(Mark(one["at_s"].number, one["event"].run()) for one in run["events"])
    marks += tuple(
        Mark(one["first_at_s"].number, one["code"].run()) for one in run["errors"] if one.get("first_at_s")
    )

    def chart(title: str, unit: str, names: Sequence[str], kinds: Sequence[str] = ()) -> Iterator[LineChart]:
        there = [name for name in names if name in series.value and any(series.value[name])]
        if there:
            lines = tuple(_line(series, name, named[name], "area" if name in kinds else "") for name in there)
            yield LineChart(text(f"charts.{title}"), "s", unit, lines, marks)

    names = list(series.value)
    named = _labels(run, names)
    yield from chart(
        "rates", "tx/s", ("offered_per_s", "accepted_per_s", "refused_per_s"), ("accepted_per_s",)
    )
    yield from chart("latency", "s", ("latency_s",), ("latency_s",))
    yield from chart("buffer", MEMORY, _largest(series, names, "redo_buffer_max_bytes"))
    yield from chart("log", "bytes", _largest(series, names, "redo_log_bytes"))
    yield from chart("disks", "fraction", _largest(series, names, _BUSY, 3))


def _largest(series: Place, names: list[str], ending: str, most: int = 2) -> list[str]:
    """Of columns with this ending those that go highest."""
    of_kind = [name for name in names if name.endswith(ending)]
    return sorted(of_kind, key=lambda name: -max(series.value[name], default=0.0))[:most]


def _labels(run: Place, names: Sequence[str]) -> dict[str, str]:
    """What a legend calls columns: those of log parts and disks by what they are of."""
    disks = {f"{one['host']}_{one['disk']}".replace(" ", "_"): one for one in run["disks"].value}
    return {name: _label(name, disks) for name in names}


def _label(name: str, disks: dict[str, Any]) -> str:
    if (part := _OF_PART.match(name)) is not None:
        return text("series.part").format(node=part[1], part=part[2])
    disk = disks.get(name.removesuffix(_BUSY))
    if disk is not None:
        return text("series.disk").format(**disk)
    return text(f"series.{name}") if has_text(f"series.{name}") else name


def _line(series: Place, name: str, label: str, kind: str) -> Series:
    values = series.value[name]
    numbers = extremes(values, _POINTS)
    times = series.value["t_s"]
    return Series(
        label, series[name].at, numbers, tuple(times[n] for n in numbers), tuple(values[n] for n in numbers),
        kind,  # type: ignore[arg-type]  # callers give a kind of line
    )  # fmt: skip


def extremes(values: Sequence[float], most: int) -> tuple[int, ...]:
    """Numbers of at most so many entries: lowest and highest of each stretch, so that no spike is lost."""
    if len(values) <= most:
        return tuple(range(len(values)))
    stretches = max(1, most // 2)
    kept: set[int] = {0, len(values) - 1}
    for number in range(stretches):
        first, last = number * len(values) // stretches, (number + 1) * len(values) // stretches
        stretch = range(first, last)
        kept.add(min(stretch, key=values.__getitem__))
        kept.add(max(stretch, key=values.__getitem__))
    return tuple(sorted(kept))


def _disks(disks: Place) -> Iterator[Block]:
    groups = alike(disks, ("disk", "write_bps_mean", "utilisation_mean", "utilisation_max"))
    order = sorted(groups, key=lambda one: -one.first["utilisation_mean"].number)[:_BUSIEST]
    rows = [
        ((*group.names("host"), Run(" "), group.first["disk"].run()), (group.count(),),
         *(group.first[key].line() for key in ("write_bps_mean", "utilisation_mean", "utilisation_max")))
        for group in order
    ]  # fmt: skip
    if rows:
        heads = words("disks", "count", "writes", "busy", "busy_most")
        yield Table(text("simulation.disks"), heads, tuple(rows))


def matters(answers: Answers) -> Iterator[Block]:
    """Single changes that raise the highest load most."""
    found = answers["what-matters"]
    if found is None or found.get("before") is None:
        return
    yield Paragraph(say("matters.lead", before=found["before"].line(), tried=found["tried"].run(),
                        gains=found["legal_gains"].run()), "lead")  # fmt: skip
    rows = []
    for change in found["changes"]:
        cost = change.get("cost")
        rows.append(((change["title"].run(),), change["after"].line() if change.get("after") else (),
                     cost.line() if cost is not None else (Run(text("matters.no_price")),),
                     (change["why"].run(),)))  # fmt: skip
    if rows:
        heads = words("change", "then", "costs", "because")
        yield Table(text("matters.title"), heads, tuple(rows), (0, 3))
