"""Files dropped anywhere on the window: it is marked while they hang over it, and says what a drop does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from ndbplan.plan.file import SUFFIX


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


def what_a_drop_does(files: list[Path]) -> str:
    """In words, before it is done."""
    if len(files) == 1:
        return f"Drop to {'open' if files[0].suffix == SUFFIX else 'import'} {files[0].name}"
    return f"Drop to import {len(files)} files"
