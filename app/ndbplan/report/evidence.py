"""What travels inside a report: plan, options, versions and digests, enough to work every figure out again.

    inside = evidence_of(project, options, answers)
    project_of(inside), options_of(inside)

Prices stay out where asked, or the whole plan.
"""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from typing import Any

import ndbplan
from ndbplan.base.errors import UserError
from ndbplan.exporting.evidence import FORMAT, without_prices
from ndbplan.plan.file import from_document
from ndbplan.plan.project import Project
from ndbplan.plan.project_json import to_json
from ndbplan.report.compose import Options, asked
from ndbplan.report.sources import Answers, Asked

OPENING = '<script type="application/json" id="ndbplan-evidence">'
CLOSING = "</script>"
"""What it stands between in an HTML file."""
_COST = "cost"


class EvidenceError(UserError):
    """A file with nothing inside that can be checked or opened."""


def carried(project: Project, options: Options) -> Project:
    """The variants that a report is about, which travel with it; without prices where they stay out."""
    from ndbplan.edits.variants import place_of

    first = options.variant or project.names[0]
    names = [first, *(name for name in options.variants if name != first)]
    found = Project(variants=tuple(project.variants[place_of(project, name)] for name in names))
    return without_prices(found) if options.without == "prices" else found


def ask(project: Project, options: Options) -> Asked:
    """What the report asks: of the plan as it travels, so that the same comes out again.

    Where prices stay out, the sums are those of the plan with them, and travel as an answer.
    """
    about = asked(carried(project, options), replace(options, variant=""))
    if options.without != "prices":
        return about
    sums = Answers(asked(project, options)).json(_COST)
    shown = None if sums is None else {key: value for key, value in sums.items() if key != "parts"}
    return replace(about, given={_COST: shown})


def evidence_of(options: Options, answers: Answers) -> dict[str, Any]:
    """What travels, as JSON."""
    has_plan = options.without != "plan"
    return {
        "format": FORMAT,
        "program": ndbplan.__version__,
        "options": {key: value for key, value in asdict(options).items() if value},
        "given": answers.asked.given,
        "digests": answers.digests() if has_plan else {},
        "plan": to_json(answers.asked.project) if has_plan else None,
    }


def loads(text: str, where: str) -> dict[str, Any]:
    """What a file carries. Raises EvidenceError for what no report has."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("options"), dict) or "plan" not in found:
        raise EvidenceError("what it carries is damaged", where=where, fix="take the file as it was made")
    if found.get("format") != FORMAT:
        raise EvidenceError(
            f"it is of format {str(found.get('format'))[:20]}; this program reads format {FORMAT}",
            where=where, fix="use the version of ndbplan that made it, or a newer one",
        )  # fmt: skip
    return found


def project_of(evidence: dict[str, Any], where: str) -> Project:
    """The plan that a report carries. Raises EvidenceError, or PlanFileError for a damaged one."""
    if evidence["plan"] is None:
        raise EvidenceError(
            "the plan stayed out of this file", where=where, fix="ask who made it for the plan"
        )
    return from_document(evidence["plan"], name=where)


def options_of(evidence: dict[str, Any], where: str) -> Options:
    """How it was asked for, of the project that it carries."""
    known = {one.name: one.type for one in fields(Options)}
    stated = evidence["options"]
    lists = ("variants", "sections")
    if not stated.keys() <= known.keys():
        raise EvidenceError("its options are damaged", where=where, fix="take the file as it was made")
    try:
        values = {key: tuple(map(str, value)) if key in lists else int(value) if key == "seed" else str(value)
                  for key, value in stated.items()}  # fmt: skip
    except (TypeError, ValueError):
        raise EvidenceError(
            "its options are damaged", where=where, fix="take the file as it was made"
        ) from None
    return Options(**values)  # type: ignore[arg-type]  # each was made what its key is, above


def asked_again(evidence: dict[str, Any], where: str) -> Asked:
    """What a report asked, of what it carries.

    Only the sums of prices that stayed out are taken as they are given: all else is worked out.
    """
    options = options_of(evidence, where)
    found = asked(project_of(evidence, where), replace(options, variant=""))
    given = evidence.get("given")
    if options.without != "prices" or not isinstance(given, dict):
        return found
    return replace(found, given={_COST: given.get(_COST)})
