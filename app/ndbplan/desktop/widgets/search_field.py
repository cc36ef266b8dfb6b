"""A field to search or filter with."""

from __future__ import annotations

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLineEdit, QWidget

from ndbplan.desktop.look import theme


class SearchField(QLineEdit):
    """It is emptied by a sign at its end, which follows the theme."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setClearButtonEnabled(True)
        self._tint()
        theme.theme().changed.connect(self._tint)

    def _tint(self) -> None:
        for clear in self.findChildren(QAction):
            clear.setIcon(theme.icon("x"))
