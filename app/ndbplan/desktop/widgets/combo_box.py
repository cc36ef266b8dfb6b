"""A list to choose from whose shown text gives way with … where there is too little room for it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent, QPalette
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QToolTip

_LEAST_LETTERS = 6
_BESIDE_ENTRIES_PX = 12
"""Of a list that is open: its frame and the bar that scrolls."""


class ComboBox(QComboBox):
    """Shows what is chosen as far as there is room; its tip says the whole where it has no other."""

    def __init__(
        self,
        elide: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        shorter: Callable[[str], str] = lambda text: text,
    ) -> None:
        """`elide`: where … stands; before the end of names that differ there.

        `shorter`: what says enough of a text that does not fit.
        """
        super().__init__()
        self._elide, self._shorter = elide, shorter
        self.setMinimumContentsLength(_LEAST_LETTERS)

    def shown(self) -> str:
        """The text as far as there is room for it."""
        return self._shown(self._option())

    def whole_width(self) -> int:
        """How wide it is where no entry is cut."""
        metrics = self.fontMetrics()
        around = self.minimumSizeHint().width() - self.minimumContentsLength() * metrics.horizontalAdvance(
            "X"
        )
        entries = (self.itemText(i) for i in range(self.count()))
        return around + max((metrics.horizontalAdvance(text) for text in entries), default=0)

    def _option(self) -> QStyleOptionComboBox:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return option

    def _shown(self, option: QStyleOptionComboBox) -> str:
        room = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        text = self.currentText() if self.currentIndex() >= 0 else self.placeholderText()
        metrics = self.fontMetrics()
        if metrics.horizontalAdvance(text) > room.width():
            text = self._shorter(text)
        return metrics.elidedText(text, self._elide, room.width())

    def showPopup(self) -> None:
        """Open the list, as wide as its entries where the screen has the room."""
        view = self.view()
        entries = view.sizeHintForColumn(0) + 2 * _BESIDE_ENTRIES_PX
        view.setMinimumWidth(min(max(entries, self.width()), self.screen().availableSize().width()))
        super().showPopup()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and not self.toolTip() and self.shown() != self.currentText():
            QToolTip.showText(event.globalPos(), self.currentText(), self)
            return True
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = self._option()
        if self.currentIndex() < 0:
            option.palette.setBrush(QPalette.ColorRole.ButtonText, option.palette.placeholderText())
        option.currentText = self._shown(option)
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
