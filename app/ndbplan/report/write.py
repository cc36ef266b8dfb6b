"""A report as a file: HTML, PDF or slides by the ending of its name.

content = report(project, Options(customer="Example"), ".html")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ndbplan
from ndbplan.base.errors import UserError
from ndbplan.base.garbage import seldom_collecting
from ndbplan.base.kept import keeping
from ndbplan.exporting.evidence import dumps
from ndbplan.plan.project import Project
from ndbplan.report.compose import Options, compose, with_numbers
from ndbplan.report.document import Document
from ndbplan.report.evidence import CLOSING, OPENING, ask, evidence_of
from ndbplan.report.sources import Answers, Asked


def _html(made: Made) -> bytes:
    from ndbplan.report.html import html_of
    from ndbplan.report.visible import digest_of_page

    def written(evidence: dict[str, Any]) -> str:
        return html_of(made.document, f"{OPENING}{dumps(evidence)}{CLOSING}", made.options.logo)

    if made.evidence["plan"] is None:
        return written({**made.evidence, "text": digest_of_page(written({}))}).encode("utf-8")
    return written(made.evidence).encode("utf-8")


def _pdf(made: Made) -> bytes:
    from ndbplan.report.pdf import digest_of_pages, pdf_of

    def written(evidence: dict[str, Any]) -> bytes:
        return pdf_of(made.document, dumps(evidence), made.options.logo)

    if made.evidence["plan"] is None:
        return written({**made.evidence, "text": digest_of_pages(written({}))})
    return written(made.evidence)


def _slides(made: Made) -> bytes:
    from ndbplan.report.slides import digest_of_slides, slides_of

    def written(evidence: dict[str, Any]) -> bytes:
        return slides_of(made.document, dumps(evidence), made.options.logo)

    if made.evidence["plan"] is None:
        return written({**made.evidence, "text": digest_of_slides(written({}))})
    return written(made.evidence)


@dataclass(frozen=True)
class Made:
    """A report before it is written."""

    document: Document
    options: Options
    evidence: dict[str, Any]


WRITERS: dict[str, Callable[[Made], bytes]] = {".html": _html, ".pdf": _pdf, ".pptx": _slides}
"""By the ending of the file's name."""


def report(
    project: Project, options: Options, suffix: str, cancelled: Callable[[], bool] = lambda: False
) -> bytes:
    """The content of a report. Raises UserError for an ending, variants or sections that there are not."""
    if suffix not in WRITERS:
        raise UserError(
            f"'{suffix}' is not a kind of report", where="report", fix=f"end the name in {', '.join(WRITERS)}"
        )
    with seldom_collecting(), keeping():
        return write(make(ask(project, options), options, cancelled), suffix)


def make(about: Asked, options: Options, cancelled: Callable[[], bool] = lambda: False) -> Made:
    """The document with what travels inside it."""
    return made_of(Answers(about, cancelled), options)


def made_of(answers: Answers, options: Options) -> Made:
    """The same of answers of which some may be known already."""
    document = with_numbers(compose(answers, options, ndbplan.__version__))
    return Made(document, options, evidence_of(options, answers))


def write(made: Made, suffix: str) -> bytes:
    """A document in the form of a file's ending."""
    return WRITERS[suffix](made)
