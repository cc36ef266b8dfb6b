"""The end of what scrolls: it fades where more follows, so that half a line there is no fault."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, Qt
from PySide6.QtGui import QColor, QLinearGradient, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from ndbplan.desktop.look import theme

_HEIGHT = 28


class Fade(QWidget):
    """Lies over the lower edge of an area while that is not at its end; the mouse goes through it."""

    def __init__(self, area: QAbstractScrollArea, ground: str = "panel") -> None:
        """`ground`: the name of the colour that the area has."""
        super().__init__(area)
        self._area, self._ground = area, ground
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        bar = area.verticalScrollBar()
        bar.valueChanged.connect(self._follow)
        bar.rangeChanged.connect(self._follow)
        area.viewport().installEventFilter(self)
        theme.theme().changed.connect(self.update)
        self._follow()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._follow()
        return False

    def _follow(self) -> None:
        port, bar = self._area.viewport().geometry(), self._area.verticalScrollBar()
        height = min(_HEIGHT, port.height())
        self.setGeometry(QRect(port.left(), port.bottom() + 1 - height, port.width(), height))
        self.setVisible(bar.value() < bar.maximum())
        self.raise_()

    def paintEvent(self, _event: QPaintEvent) -> None:
        ground = QColor(getattr(theme.tokens(), self._ground))
        clear = QColor(ground)
        clear.setAlpha(0)
        fall = QLinearGradient(0, 0, 0, self.height())
        fall.setColorAt(0.0, clear)
        fall.setColorAt(0.85, ground)
        painter = QPainter(self)
        painter.fillRect(self.rect(), fall)
        painter.end()
