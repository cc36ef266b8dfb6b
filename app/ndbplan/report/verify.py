"""Whether a report still says what its plan comes to: every figure is worked out again.

    found = verify(content, "report.html")
    found.figures, found.differ, found.notes

The plan inside the file is asked once more with the same options; every text, figure and point of a chart
that reads otherwise is listed with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any, ClassVar

import ndbplan
from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.base.shapes import Shape
from ndbplan.exporting.evidence import picture_evidence
from ndbplan.exporting.gantt import PROCEDURE, gantt_carrying, gantt_evidence, procedure_in
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project
from ndbplan.report.carriers import Carrier, inside
from ndbplan.report.document import Document, LineChart, runs_of
from ndbplan.report.evidence import EvidenceError, asked_again, loads, options_of, project_of
from ndbplan.report.pictures import DRAWN
from ndbplan.report.texts import text
from ndbplan.report.visible import Piece
from ndbplan.report.write import make, write


@dataclass(frozen=True)
class Differing(Shape):
    """Something that reads otherwise than it comes out."""

    JSON = "where written computed"

    where: str
    written: str
    """Nothing: it is missing from the file."""
    computed: str
    """Nothing: it comes out nowhere."""


@dataclass(frozen=True)
class Verified(Shape):
    """What a check of a report found."""

    JSON: ClassVar[str] = "figures differ made_by checked_by not_checked notes"

    figures: int
    """How many were worked out again."""
    differ: tuple[Differing, ...]
    made_by: str
    """The version of ndbplan that made the file."""
    checked_by: str
    not_checked: tuple[str, ...]
    """What cannot be worked out again, as its source stayed out of the file."""
    notes: tuple[str, ...]


Play = Callable[[dict[str, Any], str], tuple[bytes, Document]]
"""Makes the file of a demo again, of what it carries."""
Draw = Callable[[Plan, str, str], bytes]
"""Draws the canvas of a plan as a kind of picture, in light or dark, with the plan inside."""


def verify(content: bytes, name: str, draw: Draw | None = None, play: Play | None = None) -> Verified:
    """Work every figure of a report out again; a picture is drawn, a demo played. Raises EvidenceError."""
    carrier, told = inside(content, name)
    evidence = loads(told, name)
    made_by = str(evidence.get("program"))[:40]
    is_picture = "look" in evidence or PROCEDURE in evidence
    if evidence["plan"] is None:
        return _only_whole(carrier.digest(content, is_picture=is_picture), evidence, made_by)
    if is_picture:
        return _of_picture(content, name, carrier, evidence, draw)
    if "demo" in evidence:
        if play is None:
            return Verified(0, (), made_by, ndbplan.__version__, (text("verify.demo"),), ())
        computed, document = play(evidence, name)
        return _compared(content, computed, document, carrier, made_by)
    options = options_of(evidence, name)
    with keeping():
        again = make(asked_again(evidence, name), options)
        computed = write(again, carrier.suffix)
    without = () if options.without != "prices" else (text("verify.prices"),)
    answers = tuple(_of_answers(evidence, again.evidence))
    return _compared(content, computed, again.document, carrier, made_by, answers, without)


def _compared(
    content: bytes,
    computed: bytes,
    document: Document,
    carrier: Carrier,
    made_by: str,
    answers: tuple[Differing, ...] = (),
    without: tuple[str, ...] = (),
) -> Verified:
    """A file against the one that comes out. `answers`: those of commands that changed."""
    same_program = made_by == ndbplan.__version__
    differ: list[Differing] = []
    if content != computed:
        written, now = (_with_sources(carrier.pieces(one), document) for one in (content, computed))
        differ += differing(written, now, everything=same_program)
    differ += answers
    if not differ and same_program and content != computed:
        differ.append(Differing("file", text("verify.other_bytes"), ""))
    notes = () if same_program else (_other_version(made_by),)
    # Words, scripts and drawings of another version may be others.
    unread = () if same_program else (text("verify.words"),)
    return Verified(
        _figures(document),
        tuple(differ),
        made_by,
        ndbplan.__version__,
        (*without, *unread),
        notes,
    )


def _figures(document: Document) -> int:
    """How many a report shows, points of charts with them."""
    charts = (b for s in document.sections for b in s.blocks if isinstance(b, LineChart))
    points = sum(len(one.numbers) for chart in charts for one in chart.series)
    return points + sum(1 for _, run in runs_of(document) if run.at)


def _of_picture(
    content: bytes, name: str, carrier: Carrier, evidence: dict[str, Any], draw: Draw | None
) -> Verified:
    """Of a picture whether its plan is drawn so again, and whether it is the plan that was drawn."""
    made_by = str(evidence.get("program"))[:40]
    project, now = project_of(evidence, name), ndbplan.__version__
    again, draw_again = _drawn_by(evidence, project, carrier.suffix, name, draw)
    differ = list(_of_answers(evidence, again))
    if draw_again is None:
        return Verified(0, tuple(differ), made_by, now, (text("verify.picture"),), ())
    try:
        drawn = carrier.seen(draw_again(), is_picture=True)
    except UserError as error:
        # What came out once does not come out any more: what it carries was altered.
        differ.append(Differing("picture", text("verify.not_drawn"), error.line))
        return Verified(0, tuple(differ), made_by, now, (), ())
    seen = list(differing(carrier.seen(content, is_picture=True), drawn, everything=True))
    told = [one for one in seen if one.where != DRAWN]
    # Where no text or line says what is other, it is a colour, a size or a pixel.
    differ += told or [replace(one, written=text("verify.pixels"), computed="") for one in seen]
    notes = () if made_by == now else (_other_version(made_by),)
    return Verified(len(drawn), tuple(differ), made_by, now, (), notes)


def _drawn_by(
    evidence: dict[str, Any], project: Project, suffix: str, name: str, draw: Draw | None
) -> tuple[dict[str, Any], Callable[[], bytes] | None]:
    """What such a picture carries, and what draws it again; None: nothing here does."""
    plan = project.main
    if PROCEDURE not in evidence:
        look, without = str(evidence["look"]), str(evidence["options"].get("without", ""))
        carried = picture_evidence(project, {"look": look}, {"without": without} if without else {})
        return carried, None if draw is None else lambda: draw(plan, suffix, look)
    asked = procedure_in(evidence)
    if asked is None:
        raise EvidenceError("what it carries is damaged", where=name, fix="take the file as it was made")
    return gantt_evidence(plan, asked), lambda: gantt_carrying(plan, asked).encode()


def _other_version(made_by: str) -> str:
    return text("verify.other_version").replace("{made}", made_by).replace("{now}", ndbplan.__version__)


_BY_TEXT = ("page ", "slides/")
"""Sections of files whose pieces say nothing of their sources."""


def _with_sources(pieces: list[Piece], document: Document) -> list[Piece]:
    """Lines of pages that show a figure of the document get its address; other pieces have one already."""
    figures = [run for _, run in runs_of(document) if run.at and run.text]
    return [
        piece if piece.at or piece.drawn or not piece.section.startswith(_BY_TEXT) else piece._replace(
            at=next((run.at for run in figures if run.text in piece.text), ""))
        for piece in pieces
    ]  # fmt: skip


def _of_answers(evidence: dict[str, Any], again: dict[str, Any]) -> Iterator[Differing]:
    """Digests of answers that changed."""
    before, now = evidence.get("digests"), again["digests"]
    if not isinstance(before, dict):
        yield Differing("digests", "", text("verify.no_digests"))
        return
    for command in sorted({*before, *now}):
        if before.get(command) != now.get(command):
            yield Differing(f"answer of {command}", str(before.get(command, "")), now.get(command, ""))


def differing(written: list[Piece], computed: list[Piece], *, everything: bool) -> Iterator[Differing]:
    """Pieces that read otherwise; of another version only figures: words may have changed."""
    sections = dict.fromkeys(piece.section for piece in (*computed, *written))
    pairs = (
        pair
        for section in sections
        for pair in _side_by_side(*([piece for piece in all_of_them if piece.section == section]
                                    for all_of_them in (written, computed)))
    )  # fmt: skip
    for one, two in pairs:
        if (one and one.text) != (two and two.text) and (
            everything or any(piece is not None and piece.at for piece in (one, two))
        ):
            where = (two or one or Piece("", "", "")).where
            yield Differing(where, "" if one is None else one.text, "" if two is None else two.text)


def _side_by_side(written: list[Piece], computed: list[Piece]) -> Iterator[tuple[Piece | None, Piece | None]]:
    """Pieces of a section; where some are missing or were added only those that are not the same."""
    if len(written) == len(computed):
        yield from zip(written, computed, strict=True)
        return
    matcher = SequenceMatcher(None, written, computed, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        for place in range(max(i_end - i, j_end - j)):
            yield (
                written[i + place] if i + place < i_end else None,
                computed[j + place] if j + place < j_end else None,
            )


def _only_whole(digest: str, evidence: dict[str, Any], made_by: str) -> Verified:
    """Of a file without its plan: whether it reads as it did when it was written."""
    same = evidence.get("text") == digest
    differ = () if same else (Differing("file", text("verify.changed"), ""),)
    return Verified(0, differ, made_by, ndbplan.__version__, (text("verify.no_plan"),), ())
