"""A demo as one HTML file that replays in a browser: made as reports are, and verified as they are.

content = page(demo, start, project)         # the same plan gives the same bytes
content, document = played_again(evidence, "demo.html")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from pydantic import ValidationError

import ndbplan
from ndbplan.base.kept import keeping
from ndbplan.base.units import format_value
from ndbplan.demo.canvas import picture
from ndbplan.demo.model import Begin, Demo, Scene
from ndbplan.demo.stage import Console, Stage
from ndbplan.exporting.evidence import FORMAT, dumps
from ndbplan.plan.project import Project
from ndbplan.plan.project_json import to_json
from ndbplan.report.compose import with_numbers
from ndbplan.report.document import (
    BarChart,
    Block,
    Document,
    Line,
    LineChart,
    Listing,
    Mark,
    Paragraph,
    Run,
    Section,
    Table,
    TileMap,
)
from ndbplan.report.evidence import CLOSING, OPENING, EvidenceError, project_of
from ndbplan.report.html import html_of
from ndbplan.report.places import shown
from ndbplan.report.sections import checking, deciding, failing, load, storage, work
from ndbplan.report.sources import Answers
from ndbplan.report.texts import say, text, words

_TITLES = {"rates": "rates", "latency": "latency", "buffers": "buffer", "log": "log", "writes": "disks"}
"""Title of the chart that a scene calls so."""
_MOST_BLOCKS = 2
_NEAR = 0.08
"""Share of a chart's time that a label takes."""


def page(demo: Demo, start: Begin, project: Project, cancelled: Callable[[], bool] = lambda: False) -> bytes:
    """The file. Raises UserError for a scene that says what there is not, Cancelled."""
    return _written(demo, start, project, cancelled)[0]


def played_again(evidence: dict[str, Any], name: str) -> tuple[bytes, Document]:
    """The file that what it carries gives. Raises EvidenceError."""
    try:
        demo = Demo.model_validate(evidence["demo"])
        (start,) = demo.starts
    except (ValidationError, ValueError):
        raise EvidenceError("its demo is damaged", where=name, fix="take the file as it was made") from None
    return _written(demo, start, project_of(evidence, name))


def _written(
    demo: Demo, start: Begin, project: Project, cancelled: Callable[[], bool] = lambda: False
) -> tuple[bytes, Document]:
    at = demo.worded(start)
    with keeping():
        document = with_numbers(document_of(at, Stage(at, project, cancelled)))
    # Its words are filled in: what it was made of need not be there when it is verified.
    carried = at.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    evidence = {
        "format": FORMAT, "program": ndbplan.__version__, "options": {}, "digests": {}, "demo": carried,
        "plan": to_json(project),
    }  # fmt: skip
    content = html_of(document, f"{OPENING}{dumps(evidence)}{CLOSING}", kind="demo")
    return content.encode("utf-8"), document


def document_of(demo: Demo, stage: Stage) -> Document:
    """The scenes as sections of a document."""
    (start,) = demo.starts
    facts: list[tuple[Line, ...]] = [
        ((Run(fact.source),), (Run(shown(fact.value, fact.unit), f"fact {name}", "figure"),))
        for name, fact in demo.facts.items()
    ]
    front: list[Block] = [Paragraph((Run(demo.about),), "lead")] if demo.about else []
    front += [Paragraph(say("demo.source", source=demo.source), "note")] if demo.source else []
    front += [Table(text("demo.facts"), words("what", "figure"), tuple(facts))] if facts else []
    sections = tuple(
        Section(f"scene-{place + 1}", scene.title, tuple(_blocks(stage, place)))
        for place, scene in enumerate(demo.scenes)
    )
    return Document(
        title=Run(demo.title),
        subtitle=(Run(start.title),) if start.title else (),
        headlines=(),
        front=tuple(front),
        sections=sections,
        about=(say("demo.made", program=ndbplan.__version__), say("demo.travels")),
        facts={"customer": "", "date": "", "program": ndbplan.__version__},
    )


def _blocks(stage: Stage, place: int) -> Iterator[Block]:
    scene, said = stage.demo.scenes[place], stage.shown(place)
    yield from (Paragraph(line) for line in said.lines)
    canvas = picture(stage.plan_of(scene), scene, stage.answers(scene))
    if canvas is not None:
        yield canvas
    yield from map(_listing, said.consoles)
    if not said.consoles:
        yield from _panel(scene, stage.answers(scene))


def _listing(console: Console) -> Listing:
    return Listing(console.line, console.answer.strip("\n"), f"at the moment: {console.line}")


def _panel(scene: Scene, answers: Answers) -> Iterator[Block]:
    """What the scene's panel shows, as far as it fits beside its text."""
    if scene.panel == "Simulation":
        run = answers["simulate"]
        wanted = text(f"charts.{_TITLES[scene.chart or 'rates']}")
        if run is not None:
            charts = (chart for chart in load.charts(answers, run) if chart.title == wanted)
            yield from (_marked(chart, float(scene.at)) for chart in charts)
    elif scene.panel == "Operations":
        yield from work.timeline(answers, scene.operation or "node")
    elif scene.panel in _SECTIONS:
        blocks = _SECTIONS[scene.panel](answers)
        drawn = (block for block in blocks if isinstance(block, BarChart | Table | TileMap))
        yield from islice(drawn, _MOST_BLOCKS)


def _marked(chart: LineChart, at_s: float) -> LineChart:
    """With the moment of the scene; its label stays away where it would lie on another one."""
    span = max(x for one in chart.series for x in one.xs) * _NEAR
    is_near = any(abs(mark.x - at_s) < span for mark in chart.marks)
    return replace(chart, marks=(*chart.marks, Mark(at_s, Run("" if is_near else format_value(at_s, "s")))))


_SECTIONS: dict[str, Callable[[Answers], Iterator[Block]]] = {
    "Distribution": storage.distribution,
    "Tables": storage.memory,
    "Memory": storage.nodes,
    "Failures": failing.failures,
    "Problems": checking.problems,
    "Compare": deciding.comparison,
    "What matters": load.matters,
    "Export preview": checking.configuration,
}
