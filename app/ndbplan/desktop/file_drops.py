"""Files dropped anywhere on the window: it is marked while they hang over it, and says what a drop does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from ndbplan.desktop.document.files import FileFlow
from ndbplan.plan.file import SUFFIX
from ndbplan.plan.project import Project


class FileDrops(QFrame):
    """Lies over a window, seen only while files hang over it; a drop hands them on."""

    def __init__(self, window: QWidget, take: Callable[[Iterable[Path]], object]) -> None:
        super().__init__(window)
        self._window, self._take = window, take
        self.setObjectName("fileDrops")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.words = QLabel()
        self.words.setObjectName("fileDropsWords")
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        column = QVBoxLayout(self)
        column.addWidget(self.words, 0, Qt.AlignmentFlag.AlignCenter)
        self.hide()
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent):
            return self._entered(event)
        if event.type() == QEvent.Type.DragLeave:
            self.hide()
        elif isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self.hide()
            event.acceptProposedAction()
            self._take(files_in(event.mimeData()))
            return True
        return False

    def _entered(self, event: QDragEnterEvent) -> bool:
        files = files_in(event.mimeData())
        if not files:
            event.ignore()
            return True
        event.acceptProposedAction()
        self.words.setText(what_a_drop_does(files))
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()
        return True


def files_in(data: QMimeData) -> list[Path]:
    """The local files of a drag."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.toLocalFile()]


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
