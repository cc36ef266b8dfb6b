"""A list to choose from whose shown text ends in … where there is too little room for it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent, QPalette
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter


class ComboBox(QComboBox):
    """Shows what is chosen as far as there is room; its tip says the whole where it has no other."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        style = self.style()
        room = style.subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        text = self.currentText()
        if self.currentIndex() < 0:
            text = self.placeholderText()
            option.palette.setBrush(QPalette.ColorRole.ButtonText, option.palette.placeholderText())
        option.currentText = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
