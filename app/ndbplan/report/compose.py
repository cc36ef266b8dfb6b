"""From answers to a document: which sections, in which order, with whose notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date

from ndbplan.base.errors import UserError
from ndbplan.edits.reading import near
from ndbplan.plan.project import Project, Variant
from ndbplan.report.document import Block, Document, Line, Run, Section
from ndbplan.report.notes import FRONT, notes_of
from ndbplan.report.places import Place
from ndbplan.report.sections import checking, deciding, design, failing, front, load, storage, work
from ndbplan.report.sources import LARGE, Answers, Asked
from ndbplan.report.texts import say, text


@dataclass(frozen=True)
class Kind:
    """A section that a report may have."""

    key: str
    blocks: Callable[[Answers], Iterator[Block]]
    appendix: bool = False
    slow: bool = False
    """Takes minutes, or many pages, of a large cluster."""

    @property
    def title(self) -> str:
        """As the table of contents has it."""
        return text(f"sections.{self.key}")


SECTIONS = (
    Kind("topology", design.topology),
    Kind("hardware", design.hardware),
    Kind("memory", storage.memory),
    Kind("space", storage.space),
    Kind("distribution", storage.distribution),
    Kind("simulation", load.simulation),
    Kind("matters", load.matters, slow=True),
    Kind("failures", failing.failures),
    Kind("operations", work.operations),
    Kind("comparison", deciding.comparison),
    Kind("cost", deciding.cost),
    Kind("problems", checking.problems),
    Kind("assumptions", checking.assumptions),
    Kind("configuration", checking.configuration, appendix=True),
    Kind("runbook", checking.runbook, appendix=True, slow=True),
    Kind("quality", checking.quality, appendix=True),
)
TITLES = {kind.key: kind.title for kind in SECTIONS}


@dataclass(frozen=True)
class Options:
    """What a report holds and for whom it is. Plain values: they travel with it."""

    variant: str = ""
    """Which one is described; nothing: the first."""
    variants: tuple[str, ...] = ()
    """Which stand side by side."""
    sections: tuple[str, ...] = ()
    """Only these; nothing: all that there are answers for."""
    customer: str = ""
    date: str = ""
    notes: str = ""
    """Markdown."""
    logo: str = ""
    """A picture as a data URL."""
    seed: int = 1
    workload: str = ""
    """Name or id of the load that it is about; nothing: the plan's first."""
    without: str = ""
    """What stays out of the file: `prices` or `plan`."""


def is_day(words: str) -> bool:
    """Whether it is a date as a report has it, 2026-05-09, or nothing."""
    try:
        return not words or date.fromisoformat(words).isoformat() == words
    except ValueError:
        return False


def asked(project: Project, options: Options) -> Asked:
    """What a report with these options asks. Raises UserError for variants or sections that are missing."""
    from ndbplan.edits.variants import place_of

    for name in options.sections:
        if name not in TITLES:
            raise UserError(f"there is no section '{name[:60]}'", where="--sections", fix=near(name, TITLES))
    if not is_day(options.date):
        raise UserError(
            f"'{options.date[:40]}' is not a date", where="--date", fix="type for example 2026-05-09"
        )
    for name in options.variants:
        place_of(project, name)
    place = place_of(project, options.variant) if options.variant else 0
    if len(options.variants) == 1:
        only = options.variants[0]
        raise UserError(f"'{only}' stands alone", where="--variants", fix="name two to four of them")
    workload = options.workload or None
    for one in {place, *(place_of(project, name) for name in options.variants)} if workload else ():
        _has_workload(project.variants[one], options.workload)
    return Asked(project, place, options.variants, options.seed, workload)


def _has_workload(variant: Variant, name: str) -> None:
    """Raises UserError where a variant does not have the load that a report is about."""
    try:
        variant.plan.workload(name)
    except KeyError:
        known = ", ".join(f"'{workload.name}'" for workload in variant.plan.workloads[:20])
        raise UserError(
            f"variant '{variant.name}' has no workload '{name[:60]}'",
            where="--workload", fix=f"use one of {known or 'none'}",
        ) from None  # fmt: skip


def compose(answers: Answers, options: Options, program: str) -> Document:
    """The document of a plan. What cannot be answered has no section."""
    plan = answers["plan"]
    assert plan is not None
    notes = notes_of(options.notes, TITLES)
    kinds = tuple(_wanted(answers, options))
    sections = tuple(
        section for kind in kinds if (section := _section(kind, answers, notes.get(kind.key, ()))).blocks
    )
    headlines = tuple(front.headlines(answers))
    assumed = front.assumed(answers) if headlines else ()
    front_blocks = (*front.limits(answers), *assumed, *notes.get(FRONT, ()))
    return Document(
        title=_title(answers, plan),
        subtitle=tuple(_subtitle(answers, plan, options)),
        headlines=headlines,
        front=front_blocks,
        sections=sections,
        about=tuple(_about(answers, options, program)),
        facts={"customer": options.customer, "date": options.date, "program": program},
    )


def _wanted(answers: Answers, options: Options) -> Iterator[Kind]:
    is_large = len(answers.asked.plan.data_nodes) > LARGE
    for kind in SECTIONS:
        if kind.key in options.sections or not (options.sections or (kind.slow and is_large)):
            yield kind


def _section(kind: Kind, answers: Answers, notes: tuple[Block, ...]) -> Section:
    return Section(kind.key, kind.title, (*notes, *kind.blocks(answers)), kind.appendix)


def _title(answers: Answers, plan: Place) -> Run:
    return plan["name"].run() if plan.get("name") else Run(text("report.kicker"))


def _subtitle(answers: Answers, plan: Place, options: Options) -> Iterator[Run]:
    version = answers.asked.plan.ndb_version
    stated = plan.get("ndb_version")
    parts: list[Line] = [say("report.version", version=stated.run() if stated else version)]
    variant = answers.asked.project.variants[answers.asked.place]
    if len(answers.asked.project.variants) > 1:
        parts.append(say("report.variant", name=variant.name))
    parts += [(Run(one),) for one in (options.customer, options.date) if one]
    for number, part in enumerate(parts):
        yield from ((Run(" · "),) if number else ())
        yield from part


def _about(answers: Answers, options: Options, program: str) -> Iterator[Line]:
    yield say("report.ranges")
    if not options.sections and len(answers.asked.plan.data_nodes) > LARGE:
        slow = ", ".join(kind.key for kind in SECTIONS if kind.slow)
        yield say("report.left_out", names=slow)
    yield say("report.made", program=program)
    yield say({"": "report.travels", "prices": "report.no_prices", "plan": "report.no_plan"}[options.without])


def with_numbers(document: Document) -> Document:
    """The same with its sections numbered, appendices by letters."""
    numbered, chapters, letters = [], 0, 0
    for section in document.sections:
        if section.appendix:
            mark = chr(ord("A") + letters)
            letters += 1
        else:
            chapters += 1
            mark = str(chapters)
        numbered.append(replace(section, title=f"{mark}  {section.title}"))
    return replace(document, sections=tuple(numbered))
