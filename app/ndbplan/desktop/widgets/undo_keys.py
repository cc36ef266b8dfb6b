"""Undo keys in a line of text undo the plan, but while the line holds text that was not taken over."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget


class UndoKeys(QObject):
    """Watches the line that has the focus inside of one window.

    Qt gives undo and redo to every line of text, also to one with nothing to undo, and the window's own
    actions never hear of them.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus)

    def _focus(self, _left: QWidget | None, entered: QWidget | None) -> None:
        if isinstance(entered, QLineEdit) and self._window.isAncestorOf(entered):
            entered.removeEventFilter(self)
            entered.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            event.type() != QEvent.Type.ShortcutOverride
            or not isinstance(event, QKeyEvent)
            or not isinstance(watched, QLineEdit)
        ):
            return False
        undo = event.matches(QKeySequence.StandardKey.Undo) and not watched.isUndoAvailable()
        redo = event.matches(QKeySequence.StandardKey.Redo) and not watched.isRedoAvailable()
        if undo or redo:
            event.ignore()
            return True
        return False
