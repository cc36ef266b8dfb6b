"""Lines with signs, or what belongs there while there are none."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem

from ndbplan.desktop.look import theme

_SIGN = Qt.ItemDataRole.UserRole + 1


class Listing(QListWidget):
    """Lines of text, each with an icon in a colour of the theme."""

    def __init__(self, name: str, hint: str = "") -> None:
        super().__init__()
        self._hint = hint
        self.setAccessibleName(name)
        self.setWordWrap(True)
        # Lines end at the edge: there is nothing to scroll to.
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        theme.theme().changed.connect(self._tint)

    def add(self, text: str, icon: str, colour: str = "muted", data: Any = None) -> QListWidgetItem:
        """One more line; `colour` is a name among the tokens, `data` is what the line stands for."""
        item = QListWidgetItem(text)
        item.setData(Qt.ItemDataRole.UserRole, data)
        item.setData(_SIGN, (icon, colour))
        self.addItem(item)
        self._tint_one(item)
        return item

    def _tint(self) -> None:
        for row in range(self.count()):
            self._tint_one(self.item(row))

    def _tint_one(self, item: QListWidgetItem) -> None:
        icon, colour = item.data(_SIGN)
        item.setIcon(theme.icon(icon, getattr(theme.tokens(), colour)))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._hint and self.count() == 0:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.tokens().muted))
            room = self.viewport().rect().adjusted(24, 24, -24, -24)
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, self._hint)
