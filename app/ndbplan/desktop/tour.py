"""A tour through a sample: brings the panel and the moment that are its point, step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QRect
from PySide6.QtWidgets import QWidget

from ndbplan.describe.tours import Step, tour_of
from ndbplan.desktop.widgets.tour_card import Spotlight, TourCard

if TYPE_CHECKING:
    from ndbplan.desktop.analyses.simulation.page import SimulationPanel
    from ndbplan.desktop.canvas.view import CanvasView
    from ndbplan.desktop.document.document import Document
    from ndbplan.desktop.document.selection import Selection
    from ndbplan.desktop.panels import SidePanels


class Tour(QObject):
    """The steps of one sample over the canvas; ends when it is closed or another plan comes."""

    def __init__(
        self,
        panels: SidePanels,
        canvas: CanvasView,
        document: Document,
        selection: Selection,
        holder: QWidget,
    ) -> None:
        super().__init__(holder)
        self._panels, self._canvas, self._selection = panels, canvas, selection
        self.card = TourCard(canvas, self._hidden)
        self.spot = Spotlight(holder)
        self._steps: tuple[Step, ...] = ()
        self._at = 0
        self._watched: SimulationPanel | None = None
        self._has_helped = False
        self.card.moved.connect(self._go)
        self.card.closed.connect(self.end)
        document.replaced.connect(self.end)

    @property
    def step(self) -> Step | None:
        """The step on show; None: there is no tour."""
        return self._steps[self._at] if self._steps else None

    def start(self, sample: str) -> None:
        """Show the first step of a sample; nothing for one without a tour."""
        self._steps, self._at = tour_of(sample), 0
        self._show()

    def end(self) -> None:
        """Go away."""
        self._steps = ()
        self.card.hide()
        self.spot.show_around(None)

    def _go(self, by: int) -> None:
        if self._at + by >= len(self._steps):
            self.end()
            return
        self._at = max(0, self._at + by)
        self._show()

    def _show(self) -> None:
        step = self.step
        if step is None:
            return
        self.spot.show_around(None)
        self._has_helped = False
        if step.select is not None:
            self._selection.set(step.select)
            self._canvas.bring_into_view(step.select)
        self.card.show_step(self._at, len(self._steps), step.title, step.text)
        if step.tab:
            panel = self._panels.analyses.show_tab(step.tab)
            if step.at_s is not None:
                self._simulated(panel, step)
                return
        self._point()

    def _simulated(self, panel: object, step: Step) -> None:
        from ndbplan.desktop.analyses.simulation.page import SimulationPanel

        # The tour knows one panel with moments.
        assert isinstance(panel, SimulationPanel)
        simulation = panel
        if self._watched is None:
            self._watched = simulation
            simulation.shown.connect(self._point)
        simulation.show_moment(step.workload, step.at_s or 0.0)

    def _point(self) -> None:
        step = self.step
        if step is not None and step.target == "help" and not self._has_helped:
            self._has_helped = True
            self._panels.show_help()
        self.spot.show_around(None if step is None else self._target(step.target))

    def _hidden(self, place: QRect) -> float:
        """How much of hosts and overview that are seen would lie under a place of the canvas, in pixels."""
        scene = self._canvas.canvas_scene
        items = [scene.item_of(host.id) for host in self._canvas.document.plan.hosts]
        seen = [self._canvas.mapFromScene(i.rect_in_scene()).boundingRect() for i in items if i is not None]
        overview = self._canvas.findChild(QWidget, "minimap")
        if overview is not None and not overview.isHidden():
            seen.append(overview.geometry())
        under = [one & place for one in seen]
        return sum(float(one.width() * one.height()) for one in under if one.isValid())

    def _target(self, name: str) -> QWidget | None:
        charts = getattr(self._watched, "charts", None)
        of_simulation: dict[str, Callable[[SimulationPanel], QWidget]] = {
            "summary": lambda panel: panel.summary,
            "foot": lambda panel: panel.foot,
        }
        if name == "panel":
            return self._panels.analyses.stack
        if name in ("inspector", "help"):
            return self._panels.inspector_frame
        if name in of_simulation:
            return None if self._watched is None else of_simulation[name](self._watched)
        chart = getattr(charts, name, None)
        if charts is None or chart not in charts.all:
            return None
        charts.bring(chart)
        return cast(QWidget, chart)
