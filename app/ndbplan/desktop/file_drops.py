"""Files dropped anywhere on the window: a plan is opened, what else comes is offered to be imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtWidgets import QWidget

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


def plan_inside(path: Path) -> Project:
    """The plan that travels in a report or a picture. Raises UserError where there is none."""
    from ndbplan.base.files import read_whole
    from ndbplan.report.carriers import inside
    from ndbplan.report.evidence import loads, project_of

    content = read_whole(path, _MOST_BYTES)
    return project_of(loads(inside(content, path.name)[1], path.name), path.name)


def hand_on(dropped: list[Path], files: FileFlow, take_in: Callable[[list[Path]], object]) -> None:
    """Open a plan, or that inside a report; offer to import what else was dropped."""
    if len(dropped) == 1 and dropped[0].suffix == SUFFIX:
        files.open(dropped[0])
    elif len(dropped) == 1 and may_carry(dropped[0]):
        files.start_with(lambda: plan_inside(dropped[0]))
    elif dropped:
        take_in(dropped)


def what_a_drop_does(files: list[Path]) -> str:
    """In words, before it is done."""
    if len(files) == 1:
        if may_carry(files[0]):
            return f"Drop to open the plan inside {files[0].name}"
        return f"Drop to {'open' if files[0].suffix == SUFFIX else 'import'} {files[0].name}"
    return f"Drop to import {len(files)} files"
