"""Files dropped on a widget: it is marked while they hang over it, and says what a drop does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget


class DropZone(QFrame):
    """Lies over a widget, seen only while files hang over it; a drop hands them on."""

    def __init__(
        self,
        over: QWidget,
        take: Callable[[Iterable[Path]], object],
        in_words: Callable[[list[Path]], str],
    ) -> None:
        """`in_words`: what a drop of these would do, before it is done."""
        super().__init__(over)
        self._over, self._take, self._in_words = over, take, in_words
        self.fragment = ""
        """What stands behind # in the address of the one file that was dropped last: a place inside it."""
        self.setObjectName("fileDrops")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.words = QLabel()
        self.words.setObjectName("fileDropsWords")
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        column = QVBoxLayout(self)
        column.addWidget(self.words, 0, Qt.AlignmentFlag.AlignCenter)
        self.hide()
        over.setAcceptDrops(True)
        over.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QDragEnterEvent):
            return self._entered(event)
        if event.type() == QEvent.Type.DragLeave:
            self.hide()
        elif isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self.hide()
            event.acceptProposedAction()
            urls = event.mimeData().urls()
            self.fragment = urls[0].fragment() if len(urls) == 1 else ""
            self._take(files_in(event.mimeData()))
            return True
        return False

    def _entered(self, event: QDragEnterEvent) -> bool:
        files = files_in(event.mimeData())
        if not files:
            event.ignore()
            return True
        event.acceptProposedAction()
        self.words.setText(self._in_words(files))
        self.setGeometry(self._over.rect())
        self.show()
        self.raise_()
        return True


def files_in(data: QMimeData) -> list[Path]:
    """The local files of a drag."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.toLocalFile()]
