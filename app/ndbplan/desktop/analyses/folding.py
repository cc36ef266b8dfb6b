"""Two parts, one above the other; where there is room for one, each leads to the other.

    folding = Folding(splitter)
    folding.hold(Titled(folding, "Tables", "Tables", table), Titled(folding, "Growth", "Growth", chart))

Each is made where it will stand: Qt dresses all that is in a widget again whenever that gets another parent.
"""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from ndbplan.desktop.widgets.sections import label, link

_ROOM_FOR_BOTH = 220


class Titled(QWidget):
    """A part under its title, with more beside the title."""

    def __init__(self, parent: QWidget, title: str, short: str, content: QWidget, *beside: QWidget) -> None:
        super().__init__(parent)
        self.short = short
        self.turn = link("", lambda: None)
        """Leads to the other part."""
        top = QHBoxLayout()
        top.setSpacing(6)
        top.addWidget(label(title, "chartTitle", wrap=False), 1)
        for widget in (*beside, self.turn):
            top.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(content, 1)


class Folding(QWidget):
    """The two parts; the second one may have nothing to show."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.parts: tuple[Titled, ...] = ()
        self._has_second = True
        self._chosen = 0
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)

    def hold(self, first: Titled, second: Titled, *, has_second: bool = True) -> None:
        """Show these two, or for now only the first."""
        self.parts = (first, second)
        self._has_second = has_second
        for part, other in ((first, second), (second, first)):
            self._column.addWidget(part, 1)
            part.turn.setText(f"{other.short} ›")
            part.turn.setAccessibleName(f"Show {other.short.lower()} instead")
            part.turn.clicked.connect(self._turn)
        self._share()

    def show_second(self, on: bool) -> None:
        """Whether the second part has something to show."""
        self._has_second = on
        self._chosen = self._chosen if on else 0
        self._share()

    def minimumSizeHint(self) -> QSize:
        hints = [part.minimumSizeHint() for part in self.parts]
        width = max((hint.width() for hint in hints), default=0)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def _turn(self) -> None:
        self._chosen = 1 - self._chosen
        self._share()

    def _share(self) -> None:
        folded = self._has_second and self.height() < _ROOM_FOR_BOTH
        for number, part in enumerate(self.parts):
            part.turn.setVisible(folded)
            part.setVisible(number == self._chosen if folded else number == 0 or self._has_second)
