"""What every analysis shares: it is built when first looked at, and works only while it is."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.widgets.sections import label
from ndbplan.edits.first_steps import Step, step

VARIANT = "variant"
"""Key of the step that makes another variant; the others are those of `edits.first_steps`."""


class Panel(QWidget):
    """One tab. Subclasses fill `refresh`; it is called while visible, or when it becomes visible again."""

    name: ClassVar[str]
    """Text of the tab."""
    step_wanted = Signal(str)
    """Key of a step on the way to a simulation that a person asks for (see `edits.first_steps`)."""

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

    def bring(self, part: str) -> None:
        """Bring a part of it, by its name, into view as soon as it is there; nothing by default."""

    def show_estimate(self, estimate: Estimate) -> None:
        """Show what the engine says; nothing by default."""

    def _catch_up(self) -> None:
        if self._stale:
            self._stale = False
            self.refresh()

    def _estimated(self, estimate: Estimate) -> None:
        if self.isVisible():
            self.show_estimate(estimate)


def _scroller(widget: QWidget) -> QScrollArea | None:
    """What a widget scrolls in."""
    above = widget.parentWidget()
    while above is not None and not isinstance(above, QScrollArea):
        above = above.parentWidget()
    return above


def bring_into_view(widget: QWidget, y: int, around: int) -> bool:
    """Scroll what a widget lies in to a height of it, with pixels around; whether that is in sight."""
    above = _scroller(widget)
    if above is not None:
        content = above.widget()
        assert content is not None
        above.ensureVisible(0, widget.mapTo(content, QPoint(0, y)).y(), 0, around)
    return widget.visibleRegion().contains(QPoint(0, y))


def seen_height(widget: QWidget) -> int:
    """Pixels from the upper edge of a widget down to where it, or what it scrolls in, ends."""
    above = _scroller(widget)
    if above is None:
        return widget.height()
    port = above.viewport()
    return min(widget.height(), port.height() - widget.mapTo(port, QPoint(0, 0)).y())


class Empty(QWidget):
    """Says what to do when there is nothing to show."""

    step_wanted = Signal(str)
    """Key of the step that its button stands for."""

    def __init__(self, heading: str = "", text: str = "") -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setSpacing(6)
        layout.addStretch(1)
        self.heading: QLabel = label(heading, "heading")
        self.text: QLabel = label(text, "muted")
        for line in (self.heading, self.text):
            line.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            layout.addWidget(line)
        self._key = ""
        self.button = QPushButton()
        self.button.setProperty("kind", "primary")
        self.button.clicked.connect(lambda: self.step_wanted.emit(self._key))
        self.button.hide()
        layout.addSpacing(6)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    def say(self, heading: str, text: str) -> None:
        """Say something else."""
        self.heading.setText(heading)
        self.text.setText(text)
        self.button.hide()

    def say_step(self, step: Step) -> None:
        """Say what is missing, with a button that does it."""
        self.say(step.missing, step.hint)
        self.offer(step.key, step.button)

    def offer(self, key: str, text: str) -> None:
        """Show a button that asks for a step by its key."""
        self._key = key
        self.button.setText(text)
        self.button.show()


class OrStep(QStackedWidget):
    """A part of a panel, or the step that would fill it."""

    def __init__(self, panel: Panel, content: QWidget, key: str) -> None:
        super().__init__()
        self.empty = Empty()
        self.empty.say_step(step(key))
        self.empty.step_wanted.connect(panel.step_wanted)
        for widget in (content, self.empty):
            self.addWidget(widget)

    def show_content(self, on: bool) -> None:
        """Whether there is anything to show."""
        self.setCurrentIndex(int(not on))
