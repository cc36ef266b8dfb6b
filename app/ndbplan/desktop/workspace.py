"""The workspace: palette and outline at the side, canvas over analyses, inspector on the right."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QMargins, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSplitter, QVBoxLayout, QWidget

_NARROW, _LOW = 1200, 640
"""Width below which the inspector begins with less, and height below which the canvas does."""
_ROOMY_SIDES, _NARROW_SIDES = (216, 344), (216, 296)
"""Widths of palette and inspector."""
_ROOMY_ROWS, _LOW_ROWS = (500, 370), (430, 570)
"""Shares of canvas and analyses."""


class Workspace(QSplitter):
    """Splitters around the canvas."""

    def __init__(self, canvas: QWidget, analyses: QWidget, inspector: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._has_begun = False
        self.side = QSplitter(Qt.Orientation.Vertical)
        self.side.setObjectName("side")
        self.side.setMinimumWidth(180)
        self.middle = QSplitter(Qt.Orientation.Vertical)
        self.middle.addWidget(canvas)
        self.middle.addWidget(analyses)
        self.middle.setStretchFactor(0, 3)
        self.middle.setStretchFactor(1, 2)
        self.middle.setCollapsible(0, False)
        for part in (self.side, self.middle, inspector):
            self.addWidget(part)
        self.setStretchFactor(1, 1)
        self.setSizes([_ROOMY_SIDES[0], 10_000, _ROOMY_SIDES[1]])
        self.setCollapsible(1, False)
        self.middle.setSizes([*_ROOMY_ROWS])

    def restoreState(self, state: QByteArray | bytes | bytearray | memoryview) -> bool:
        """Stand as somebody left it."""
        self._has_begun = super().restoreState(state)
        return self._has_begun

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_begun:
            self._has_begun = True
            if self.width() < _NARROW:
                self.setSizes([_NARROW_SIDES[0], 10_000, _NARROW_SIDES[1]])
            if self.height() < _LOW:
                self.middle.setSizes([*_LOW_ROWS])

    def fill_side(self, palette: QWidget, outline: QWidget) -> None:
        """Put palette and outline into the side."""
        self.side.addWidget(_titled("PALETTE", palette, QMargins(0, 12, 0, 0), 12))
        self.side.addWidget(_titled("OUTLINE", outline, QMargins(8, 10, 4, 4), 4))
        self.side.setSizes([600, 260])


def _titled(text: str, content: QWidget, margins: QMargins, indent: int) -> QWidget:
    panel = QWidget()
    panel.setObjectName("panel")
    column = QVBoxLayout(panel)
    column.setContentsMargins(margins)
    column.setSpacing(4)
    label = QLabel(text)
    label.setProperty("role", "heading")
    # Not a margin of the label: a style sheet takes that away.
    head = QHBoxLayout()
    head.setContentsMargins(indent, 0, 0, 0)
    head.addWidget(label)
    column.addLayout(head)
    column.addWidget(content, 1)
    return panel
