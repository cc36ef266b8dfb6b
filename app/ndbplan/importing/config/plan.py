"""config.ini into a plan: hosts, processes, parameters; what is unknown is kept and reported.

plan, report = import_config({"config.ini": text})
for finding in report.findings: print(finding.text())
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import load_rules
from ndbplan.estimate.estimation import Estimation
from ndbplan.importing.config.file import ConfigFile, Finding, Line, read_config_file
from ndbplan.importing.config.nodes import NodeImport
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import SERIES, BadVersionError, NdbVersion, release
from ndbplan.plan.plan import Plan

_REPORTED_BY_LINE = ("parameter-value", "data-node-ids")
"""Rules whose findings the reading of the lines reports already."""

SAY_THE_VERSION = "say which version it is for"
"""The fix of the finding that says for which version a file was read."""
_HEAD = re.compile(
    rb"# config\.ini of cluster '[^\n]*' for NDB ([0-9]{1,2}\.[0-9x.]{1,8}), written by ndbplan"
)
_NAMES_SHOWN = 4
_PREFERRED = ("8.4", *(series for series in reversed(SERIES) if series != "8.4"))


@dataclass(frozen=True)
class ImportReport:
    """What an import noticed, and whether a management server would take the file."""

    name: str
    version: str
    """NDB version the file was read for."""
    findings: tuple[Finding, ...]
    """By line."""
    fits: tuple[str, ...] = ()
    """The versions that know as much of the file, oldest first, where nobody said which it is for."""

    @property
    def accepted(self) -> bool:
        """Whether nothing was found that makes ndb_mgmd refuse the file."""
        return not any(finding.refused for finding in self.findings)


def import_config(
    texts: Mapping[str, str | bytes] | str | bytes, version: str | None = None
) -> tuple[Plan, ImportReport]:
    """The plan of a config.ini, and what was noticed.

    `texts` is the content, or contents by file name (the first one counts). Without a version the newest
    series that knows every parameter of the file is taken. Raises ConfigFileError for a file that is no
    config.ini (too large, binary, without sections) and BadVersionError for a version that is unknown.
    """
    name, content = next(iter(texts.items())) if isinstance(texts, Mapping) else ("config.ini", texts)
    raw = content.encode("utf-8") if isinstance(content, str) else content
    config = read_config_file(raw, name)
    if isinstance(texts, Mapping):
        for other in list(texts)[1:]:
            config.find(False, 1, f"{other} is skipped; one config.ini is read at a time")
    chosen, fits = version or _version_of_head(raw), tuple[str, ...]()
    if chosen is None:
        first = _first_lines(config)
        fitting = _fitting_versions(first)
        chosen, fits = fitting[0], tuple(sorted(fitting, key=NdbVersion.parse))
        _say_what_decided(config, first, chosen, list(fits))
    elif version is None:
        config.find(False, 1, f"read for NDB {chosen}: its head says so", SAY_THE_VERSION)
    nodes = NodeImport(config, NdbVersion.parse(chosen), name)
    plan = nodes.plan(chosen)
    _find_refusals(config, plan, nodes.lines)
    findings = sorted(config.findings, key=lambda finding: finding.line)
    return plan, ImportReport(name, chosen, tuple(findings), fits)


def _version_of_head(raw: bytes) -> str | None:
    """The version that the head of a config.ini names which this program wrote; None for other files."""
    match = _HEAD.match(raw)
    with suppress(BadVersionError):
        return str(NdbVersion.parse(match[1].decode())) if match else None
    return None


def _find_refusals(config: ConfigFile, plan: Plan, lines: Mapping[str, int]) -> None:
    """Add what ndb_mgmd refuses in the plan as a whole: node groups, limits between parameters, ports …"""
    load_rules()
    now = Estimation(plan)
    for name, one in RULES.items():
        if not one.refused or name in _REPORTED_BY_LINE:
            continue
        for problem in one.problems(now):
            if problem.severity is Severity.ERROR:
                line = _line_of(config, problem, lines)
                config.find(True, line, f"{problem.where}: {problem.message}", problem.fix or "")


def _line_of(config: ConfigFile, problem: Problem, lines: Mapping[str, int]) -> int:
    """The line a problem is about: of a parameter that it names, else of the last section concerned."""
    words = set(re.findall(r"[A-Za-z_]{4,}", problem.message))
    named = [line.line for section in config.sections for line in section.lines if line.name in words]
    concerned = [lines[object_id] for object_id in problem.object_ids if object_id in lines]
    return max(named or concerned or [config.sections[-1].line])


def _fitting_versions(names: Collection[tuple[str, str]]) -> tuple[str, ...]:
    """The series that know most of these parameters, 8.4 first if it does, then the newest."""
    lacking = {series: len(_lacking(names, series)) for series in _PREFERRED}
    least = min(lacking.values())
    return tuple(series for series in _PREFERRED if lacking[series] == least)


def _lacking(names: Iterable[tuple[str, str]], series: str) -> tuple[str, ...]:
    """Which of these parameters that some version knows this one does not."""
    version = NdbVersion.parse(series)
    return tuple(dict.fromkeys(name for kind, name in names if not catalogue.may_know(kind, name, version)))


def _first_lines(config: ConfigFile) -> dict[tuple[str, str], Line]:
    """The first line of each parameter that some version knows, by section and name."""
    first: dict[tuple[str, str], Line] = {}
    for section in config.sections:
        for line in section.lines:
            first.setdefault((section.kind, line.name), line)
    return {key: line for key, line in first.items() if catalogue.exists(*key)}


def _say_what_decided(
    config: ConfigFile, first: Mapping[tuple[str, str], Line], chosen: str, fits: list[str]
) -> None:
    """Which version a file was read for when nobody named one, and which lines say so."""
    entries = [(catalogue.parameter(*key), line) for key, line in first.items()]
    gone = [(e, line) for e, line in entries if e.removed]
    new = [(e, line) for e, line in entries if e.since != "6.3"]
    newest = max(new, key=lambda one: release(one[0].since), default=None)
    soonest = min(gone, key=lambda one: release(one[0].removed), default=None)
    why = [
        *([f"{newest[0].name} (line {newest[1].line}) came {newest[0].came}"] if newest else []),
        *(
            [f"{soonest[0].name} (line {soonest[1].line}) is gone from {soonest[0].removed} on"]
            if soonest
            else []
        ),
    ]
    decided = "; ".join(why) if why else "no parameter of the file tells versions apart"
    line = newest[1].line if newest else soonest[1].line if soonest else 1
    how = _how_it_fits(config, first, fits)
    config.find(False, line, f"read for NDB {chosen}{how}: {decided}", SAY_THE_VERSION)


def _how_it_fits(config: ConfigFile, names: Collection[tuple[str, str]], fits: list[str]) -> str:
    """Of versions that know most of a file: that they know all of it, or what each lacks."""
    lacking: dict[tuple[str, ...], list[str]] = {}
    for series in fits:
        lacking.setdefault(_lacking(names, series), []).append(series)
    if () in lacking:
        strange = any(not catalogue.exists(s.kind, line.name) for s in config.sections for line in s.lines)
        fit = "know what any version knows of the file" if strange else "fit"
        return f", the preferred one of {_span(fits)}, which all {fit}" if len(fits) > 1 else ""
    lacks = "; ".join(
        f"{_span(series)} {'lack' if len(series) > 1 else 'lacks'} {_listed(names)}"
        for names, series in lacking.items()
    )
    chosen = ", the preferred one of those nearest" if len(fits) > 1 else ", the nearest"
    return f"{chosen}; no version knows every parameter of the file ({lacks})"


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _span(series: list[str]) -> str:
    """`7.4`, `7.4 to 8.0`; with gaps `7.0, 7.4 to 8.0`. `series` in rising order."""
    runs: list[list[str]] = []
    for one in series:
        if runs and SERIES.index(one) == SERIES.index(runs[-1][-1]) + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)
