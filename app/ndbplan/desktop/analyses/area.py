"""The bottom of the window: the analyses as tabs, each built when it is first looked at."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from ndbplan.desktop.analyses.panel import Panel
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.document.tasks import Tasks
from ndbplan.desktop.document.turns import next_turn
from ndbplan.desktop.look import theme

if TYPE_CHECKING:
    from ndbplan.desktop.analyses.simulation.page import SimulationPanel

TABS = (
    ("Simulation", "simulation.page", "SimulationPanel"),
    ("Distribution", "distribution", "DistributionPanel"),
    ("Tables", "tables", "TablesPanel"),
    ("Memory", "memory", "MemoryPanel"),
    ("Operations", "operations", "OperationsPanel"),
    ("Failures", "failures", "FailuresPanel"),
    ("Problems", "problems", "ProblemsPanel"),
    ("Compare", "comparison", "ComparePanel"),
    ("What matters", "mattering", "MatteringPanel"),
    ("Export preview", "export_preview", "ExportPanel"),
)
"""Text of each tab, its module in this package and its class."""
_ROOMY, _NARROW, _CLOSE = 970, 890, 790
"""Width from which on all tabs have room: with the usual space around their texts, less, and short texts."""
_SHORT_NAMES = {"Export preview": "Export"}
"""Texts of tabs where there is less room than that."""


class _Stack(QStackedWidget):
    """Pages that are cut off in a small window instead of making the window larger."""

    def minimumSizeHint(self) -> QSize:
        return QSize(420, 110)


def _module(index: int) -> str:
    return f"ndbplan.desktop.analyses.{TABS[index][1]}"


class AnalysisArea(QWidget):
    """Tabs of analyses of the document's plan."""

    moment = Signal(object)
    """Replay of a simulation: a `Moment` to paint on the canvas, or None when there is none."""
    losses = Signal(object)
    """What the loss of each object means, to colour the canvas with; None: nothing to colour."""
    kill_wanted = Signal(object)
    """A `Part` that somebody wants to see fail in the simulation."""
    help_wanted = Signal()
    """What would lift the limit of a run is asked for."""
    step_wanted = Signal(str)
    """Key of a step on the way to a simulation that a person asks for (see `edits.first_steps`)."""

    def __init__(
        self,
        document: Document,
        selection: Selection,
        estimates: Estimates,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAccessibleName("Analyses")
        self.setMinimumHeight(160)
        self.context = Context(document, selection, estimates, Tasks(self, threads=2))
        self._panels: dict[int, Panel] = {}
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Analyses")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(True)
        # Who clicks a tab is in the analyses: keys that act on a part of the window mean this one.
        self.tabs.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.stack = _Stack()
        for text, _, _ in TABS:
            self.tabs.addTab(text)
            self.stack.addWidget(QWidget())
        top = QHBoxLayout()
        top.setContentsMargins(8, 2, 8, 0)
        top.addWidget(self.tabs, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(top)
        layout.addWidget(self.stack, 1)
        self.tabs.currentChanged.connect(self._shown)
        estimates.updated.connect(lambda estimate: self._count_problems(len(estimate.problems)))
        theme.theme().changed.connect(self.update)
        self._bring()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        look = "close" if self.width() < _CLOSE else "tight" if self.width() < _ROOMY else ""
        if self.tabs.property("look") != look:
            self.tabs.setProperty("look", look)
            theme.restyle(self.tabs)
        for index, (name, _, _) in enumerate(TABS):
            if name in _SHORT_NAMES:
                self.tabs.setTabText(index, _SHORT_NAMES[name] if self.width() < _NARROW else name)

    def panel(self, name: str) -> Panel:
        """The panel behind a tab, built if it is not there yet."""
        index = [text for text, _, _ in TABS].index(name)
        self._build(index)
        return self._panels[index]

    @property
    def tab(self) -> str:
        """Name of the tab at the front."""
        return TABS[self.tabs.currentIndex()][0]

    def choose_tab(self, name: str) -> None:
        """Bring a tab to the front if it is known."""
        if name in (text for text, _, _ in TABS):
            self.show_tab(name)

    def show_tab(self, name: str) -> Panel:
        """Bring a tab to the front."""
        self.tabs.setCurrentIndex([text for text, _, _ in TABS].index(name))
        self._bring()
        return self.panel(name)

    def simulate(self) -> None:
        """Bring the simulation to the front and start it."""
        self._simulation().simulate()

    def watch(self, at_s: float) -> None:
        """Simulate anew, and play what happens around this moment."""
        self._simulation().watch(at_s)

    def _simulation(self) -> SimulationPanel:
        from ndbplan.desktop.analyses.simulation.page import SimulationPanel

        panel = self.show_tab("Simulation")
        assert isinstance(panel, SimulationPanel)
        return panel

    def show_anew(self) -> None:
        """Let the panels say the same in other words."""
        for panel in self._panels.values():
            panel.mark_stale()

    @property
    def run_lasts_s(self) -> float | None:
        """How long the run is that is replayed; None: there is none."""
        result = getattr(self._panels.get(0), "result", None)
        return None if result is None else float(result.duration_s)

    def close_tasks(self) -> None:
        """Stop the background work; the window calls this before it goes."""
        self.context.tasks.close()

    def _shown(self, index: int) -> None:
        if index in self._panels:
            self._bring()
            return
        # Loading, making, placing and filling a panel at once would take longer than a hand waits.
        import_module(_module(index))
        next_turn(self, self._build_shown)

    def _build_shown(self) -> None:
        self._made(self.tabs.currentIndex())
        next_turn(self, self._place_shown)

    def _place_shown(self) -> None:
        self._build(self.tabs.currentIndex())
        next_turn(self, self._bring)

    def _bring(self) -> None:
        self._build(self.tabs.currentIndex())
        self.stack.setCurrentIndex(self.tabs.currentIndex())

    def _made(self, index: int) -> Panel:
        """The panel of a tab, which need not stand in its place yet."""
        if index in self._panels:
            return self._panels[index]
        panel: Panel = getattr(import_module(_module(index)), TABS[index][2])(self.context)
        for told in ("moment", "losses", "kill_wanted", "help_wanted"):
            signal = getattr(panel, told, None)
            if signal is not None:
                signal.connect(getattr(self, told))
        panel.step_wanted.connect(self.step_wanted)
        self._panels[index] = panel
        return panel

    def _build(self, index: int) -> None:
        """Let the panel of a tab stand in its place."""
        panel, there = self._made(index), self.stack.widget(index)
        if there is panel:
            return
        self.stack.insertWidget(index, panel)
        if there is not None:
            self.stack.removeWidget(there)
            there.deleteLater()

    def _count_problems(self, count: int) -> None:
        index = [text for text, _, _ in TABS].index("Problems")
        self.tabs.setTabText(index, f"Problems  {count}" if count else "Problems")
