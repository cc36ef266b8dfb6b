"""Files dropped anywhere on the window: a plan is opened, what else comes is offered to be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtWidgets import QWidget

from ndbplan.base.units import whole_number
from ndbplan.desktop.document.files import FileFlow
from ndbplan.desktop.widgets.drop_zone import DropZone
from ndbplan.plan.file import SUFFIX
from ndbplan.plan.project import Project


class FileDrops(DropZone):
    """Over a whole window."""

    def __init__(self, window: QWidget, take: Callable[[Iterable[Path]], object]) -> None:
        super().__init__(window, take, what_a_drop_does)


_CARRIERS = (".html", ".htm", ".pdf", ".png", ".svg", ".pptx")
_MOST_BYTES = 100_000_000


def may_carry(path: Path) -> bool:
    """Whether it is a file of those kinds in which a plan travels."""
    return path.suffix.lower() in _CARRIERS


class Inside(NamedTuple):
    """What travels in a report, a demo or a picture."""

    project: Project
    tab: str = ""
    """The analysis that it was dropped at, or is about; nothing: the canvas."""
    variant: str = ""


_TABS = {
    "memory": "Memory", "space": "Memory", "distribution": "Distribution", "simulation": "Simulation",
    "matters": "What matters", "failures": "Failures", "operations": "Operations", "comparison": "Compare",
    "problems": "Problems", "assumptions": "Memory", "configuration": "Export preview",
    "runbook": "Export preview",
}  # fmt: skip
"""Where the window shows what a section of a report is about."""


def plan_inside(path: Path, fragment: str = "") -> Inside:
    """The plan that travels in a file, and where to look. Raises UserError where there is none.

    `fragment`: the section that it was dropped at; without one that of a report with one section alone.
    """
    from ndbplan.base.files import read_whole
    from ndbplan.report.carriers import inside
    from ndbplan.report.evidence import loads, options_of, project_of

    content = read_whole(path, _MOST_BYTES)
    evidence = loads(inside(content, path.name)[1], path.name)
    project = project_of(evidence, path.name)
    if "demo" in evidence:
        return Inside(project, *_of_scene(evidence, fragment))
    sections = options_of(evidence, path.name).sections
    only = sections[0] if len(sections) == 1 else ""
    return Inside(project, _TABS.get(fragment or only, ""))


def _of_scene(evidence: dict[str, Any], fragment: str) -> tuple[str, str]:
    from pydantic import ValidationError

    from ndbplan.demo.model import Demo

    number = whole_number(fragment.removeprefix("scene-"))
    with suppress(ValidationError, IndexError):
        if number:
            scene = Demo.model_validate(evidence["demo"]).scenes[number - 1]
            return scene.panel, scene.variant
    return "", ""


def hand_on(
    dropped: list[Path],
    fragment: str,
    files: FileFlow,
    take_in: Callable[[list[Path]], object],
    look: Callable[[str, str], object],
) -> None:
    """Open a plan, or that inside a report at its section; offer to import what else was dropped."""
    if len(dropped) == 1 and dropped[0].suffix == SUFFIX:
        files.open(dropped[0])
    elif len(dropped) == 1 and may_carry(dropped[0]):
        found: list[Inside] = []

        def make() -> Project:
            found.append(plan_inside(dropped[0], fragment))
            return found[0].project

        if files.start_with(make):
            look(found[0].variant, found[0].tab)
    elif dropped:
        take_in(dropped)


def what_a_drop_does(files: list[Path]) -> str:
    """In words, before it is done."""
    if len(files) == 1:
        if may_carry(files[0]):
            return f"Drop to open the plan inside {files[0].name}"
        return f"Drop to {'open' if files[0].suffix == SUFFIX else 'import'} {files[0].name}"
    return f"Drop to import {len(files)} files"
