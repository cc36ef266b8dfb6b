"""What a window shows as a value: kept before a demo and given back after it, or taken as a scene."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPointF, QTimer

from ndbplan.demo.model import Scene
from ndbplan.desktop.analyses.simulation.run import KeptRun, Run

if TYPE_CHECKING:
    from ndbplan.desktop.analyses.simulation.page import SimulationPanel
    from ndbplan.desktop.canvas.view import CanvasView
    from ndbplan.desktop.document.document import Document
    from ndbplan.desktop.document.selection import Selection
    from ndbplan.desktop.panels import SidePanels
    from ndbplan.desktop.workspace import Workspace

CHARTS = ("rates", "latency", "buffers", "log", "writes")


class Kept(NamedTuple):
    """All that a demo changes in a window."""

    variant: int
    selection: tuple[str, ...]
    tab: str
    zoom: float
    centre: QPointF
    is_fitted: bool
    analyses_shown: bool
    sizes: list[int]
    run: KeptRun


class Views:
    """Of one window."""

    def __init__(
        self,
        document: Document,
        selection: Selection,
        canvas: CanvasView,
        panels: SidePanels,
        workspace: Workspace,
    ) -> None:
        self._document, self._selection, self._canvas = document, selection, canvas
        self._panels, self._workspace = panels, workspace

    @property
    def simulation(self) -> SimulationPanel:
        """The panel that replays."""
        from ndbplan.desktop.analyses.simulation.page import SimulationPanel

        panel = self._panels.analyses.panel("Simulation")
        assert isinstance(panel, SimulationPanel)
        return panel

    def keep(self) -> Kept:
        """What is shown now."""
        return Kept(
            self._document.shown, self._selection.ids, self._panels.tab, self._canvas.zoom, self._centre(),
            self._canvas.is_fitted, not self._panels.analyses_frame.isHidden(),
            self._workspace.middle.sizes(), self.simulation.keep(),
        )  # fmt: skip

    def give_back(self, kept: Kept) -> None:
        """Show that again."""
        self._document.show_variant(kept.variant)
        self._selection.set(kept.selection)
        self.simulation.give_back(kept.run)
        self._show_operation("")
        self._panels.analyses.choose_tab(kept.tab)
        self._panels.analyses_frame.setVisible(kept.analyses_shown)
        self._workspace.middle.setSizes(kept.sizes)
        # The end of a presentation fits the canvas in the next turn of the event loop.
        if not kept.is_fitted:
            QTimer.singleShot(0, self._canvas, lambda: self._look(kept.zoom, kept.centre))

    def scene(self, title: str) -> Scene:
        """What is shown now, as a scene."""
        tab = self._panels.tab if not self._panels.analyses_frame.isHidden() else ""
        panel = self.simulation
        has_run = tab == "Simulation" and panel.result is not None
        charts = panel.charts
        alone = next((name for name in CHARTS if charts is not None and charts.alone is getattr(charts, name)
                      and charts.alone is not None), None)  # fmt: skip
        exact = not self._canvas.is_fitted
        centre = self._centre()
        return Scene.model_validate({
            "title": title,
            "variant": self._document.project.names[self._document.shown],
            "select": self._selection.ids,
            "zoom": round(self._canvas.zoom, 4) if exact else None,
            "centre": (round(centre.x(), 1), round(centre.y(), 1)) if exact else None,
            "panel": tab,
            "chart": alone if has_run else None,
            "workload": panel.workload.currentData() or "" if has_run else "",
            "at": round(panel.scrubber.at_s, 2) if has_run else 0.0,
        })  # fmt: skip

    def show(self, scene: Scene, workload: str, run: Run | None) -> None:
        """Show a scene's view; a variant that is not there leaves the one that is.

        `run`: the run that it shows, where that is known already.
        """
        self._document.show_named(scene.variant)
        self._selection.set(name for name in scene.select if name in self._document.plan.by_id)
        self._panels.analyses_frame.setVisible(bool(scene.panel or scene.consoles))
        if scene.replays:
            self._panels.analyses.show_tab("Simulation")
            self._take(run, float(scene.at))
            self.simulation.show_moment(workload, float(scene.at), scene.chart or "")
        elif scene.panel:
            self._panels.analyses.choose_tab(scene.panel)
        self._show_operation(scene.operation or "")
        # Once the panel has its size, the canvas has its.
        QTimer.singleShot(0, self._canvas, lambda: self._look_at(scene))

    def _take(self, run: Run | None, at_s: float) -> None:
        """Show a run, with the one before as ghost where it was of the same load."""
        shown = self.simulation.keep()
        if run is None or (shown.run is not None and shown.run.plan is run.plan
                           and shown.run.workload_id == run.workload_id):  # fmt: skip
            return
        same = shown.run is not None and shown.run.workload_id == run.workload_id
        before = shown.run.result if same and shown.run is not None else None
        self.simulation.give_back(KeptRun(run, before, run.workload_id, at_s, None))

    def _show_operation(self, operation: str) -> None:
        from ndbplan.desktop.analyses.operations import OperationsPanel

        if operation or self._panels.tab == "Operations":
            panel = self._panels.analyses.panel("Operations")
            assert isinstance(panel, OperationsPanel)
            panel.show_only(operation)

    def _look_at(self, scene: Scene) -> None:
        if scene.zoom is not None and scene.centre is not None:
            self._look(scene.zoom, QPointF(*scene.centre))
        elif scene.look == "selection":
            self._canvas.fit_selection()
        else:
            self._canvas.fit()

    def _look(self, zoom: float, centre: QPointF) -> None:
        self._canvas.set_zoom(zoom)
        self._canvas.look_at(centre)

    def _centre(self) -> QPointF:
        return self._canvas.mapToScene(self._canvas.viewport().rect().center())
