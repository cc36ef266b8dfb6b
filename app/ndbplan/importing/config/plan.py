"""config.ini into a plan: hosts, processes, parameters; what is unknown is kept and reported.

plan, report = import_config({"config.ini": text})
for finding in report.findings: print(finding.text())
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ndbplan.checks.problem import Problem, Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import load_rules
from ndbplan.estimate.estimation import Estimation
from ndbplan.importing.config.file import ConfigFile, Finding, read_config_file
from ndbplan.importing.config.nodes import NodeImport
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import SERIES, NdbVersion
from ndbplan.plan.plan import Plan

_REPORTED_BY_LINE = ("parameter-value",)
"""Rules whose findings the reading of the lines reports already."""

_PREFERRED = ("8.4", *(series for series in reversed(SERIES) if series != "8.4"))


@dataclass(frozen=True)
class ImportReport:
    """What an import noticed, and whether a management server would take the file."""

    name: str
    version: str
    """NDB version the file was read for."""
    findings: tuple[Finding, ...]
    """By line."""

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
    chosen = version or guess_version(config)
    nodes = NodeImport(config, NdbVersion.parse(chosen))
    plan = nodes.plan(chosen, name)
    _find_refusals(config, plan, nodes.lines)
    findings = sorted(config.findings, key=lambda finding: finding.line)
    return plan, ImportReport(name, chosen, tuple(findings))


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


def guess_version(config: ConfigFile) -> str:
    """The newest series, 8.4 first, that knows most parameters of a file."""
    stated = {(s.kind, line.name) for s in config.sections for line in s.lines}
    names = [(kind, name) for kind, name in stated if catalogue.exists(kind, name)]

    def unknown(series: str) -> int:
        version = NdbVersion.parse(series)
        return sum(not catalogue.knows(kind, name, version) for kind, name in names)

    return min(_PREFERRED, key=unknown)
