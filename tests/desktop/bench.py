"""What panels under test stand on: a document with a sample, a selection, estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ndbplan.desktop import theme
from ndbplan.desktop.document import Document
from ndbplan.desktop.estimates import Estimates
from ndbplan.desktop.selection import Selection
from ndbplan.plan.plan import Plan


@dataclass
class Bench:
    """The objects that views share."""

    qtbot: QtBot
    document: Document
    selection: Selection
    estimates: Estimates

    @property
    def plan(self) -> Plan:
        """The plan as it is now."""
        return self.document.plan

    def show(self, widget: QWidget, width: int = 320, height: int = 900) -> None:
        """Show a widget and have it deleted after the test."""
        self.qtbot.addWidget(widget)
        widget.resize(width, height)
        widget.show()

    def until(self, true: Callable[[], bool], timeout_ms: int = 20_000) -> None:
        """Wait for something that a thread brings about."""
        self.qtbot.waitUntil(true, timeout=timeout_ms)

    def until_fresh(self) -> None:
        """Wait until the estimates speak of the plan as it is."""
        self.until(lambda: self.estimates.is_fresh)


def bench(qtbot: QtBot, plan: Plan) -> Bench:
    """A bench with a plan on it; close its estimates after the test."""
    theme.load_fonts()
    document = Document(plan)
    return Bench(qtbot, document, Selection(document), Estimates(document))
