"""What every analysis shares: it is built when first looked at, and works only while it is."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.widgets.sections import label


class Panel(QWidget):
    """One tab. Subclasses fill `refresh`; it is called while visible, or when it becomes visible again."""

    name: ClassVar[str]
    """Text of the tab."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self._stale = True
        self.setAccessibleName(self.name)
        context.document.changed.connect(lambda _before, _after: self.mark_stale())
        context.estimates.updated.connect(self._estimated)

    def mark_stale(self) -> None:
        """What it shows may be out of date."""
        self._stale = True
        if self.isVisible():
            self._catch_up()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._catch_up()
        if self.context.estimates.latest is not None:
            self.show_estimate(self.context.estimates.latest)

    def refresh(self) -> None:
        """Show what the plan says now."""

    def show_estimate(self, estimate: Estimate) -> None:
        """Show what the engine says; nothing by default."""

    def _catch_up(self) -> None:
        if self._stale:
            self._stale = False
            self.refresh()

    def _estimated(self, estimate: Estimate) -> None:
        if self.isVisible():
            self.show_estimate(estimate)


class Empty(QWidget):
    """Says what to do when there is nothing to show."""

    def __init__(self, heading: str, text: str, action: QWidget | None = None) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setSpacing(6)
        layout.addStretch(1)
        self.heading: QLabel = label(heading, "heading")
        self.text: QLabel = label(text, "muted")
        for line in (self.heading, self.text):
            line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.addWidget(line)
        if action is not None:
            layout.addSpacing(6)
            layout.addWidget(action, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    def say(self, heading: str, text: str) -> None:
        """Say something else."""
        self.heading.setText(heading)
        self.text.setText(text)
