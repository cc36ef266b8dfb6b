"""What the canvas is coloured by: chosen in its legend, or lent by a panel as long as that is on show."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject

from ndbplan.describe.colouring import NOTHING, WAYS, Colouring, Known, colour_by
from ndbplan.describe.overlay import Loss
from ndbplan.desktop.canvas.legend import Legend
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.document.estimates import Estimate, Estimates
from ndbplan.desktop.document.tasks import Outcome, Task, Tasks
from ndbplan.plan.plan import Plan


class Colours(QObject):
    """Of one window. Loads are shown as they are on the canvas, also while a run is replayed."""

    def __init__(self, canvas: Stage, estimates: Estimates) -> None:
        super().__init__(canvas)
        self._canvas, self._estimates = canvas, estimates
        self._tasks = Tasks(self)
        self._task: Task | None = None
        self._lent = ""
        self._losses: tuple[Plan, Mapping[str, Loss]] | None = None
        self.name = ""
        """The way that was chosen; nothing: none."""
        self.against = ""
        """Name of the variant that changes are told against; nothing: the first other one."""
        self.legend = Legend(canvas)
        self.legend.chosen.connect(self.choose)
        canvas.loaded.connect(self._follow_loads)
        estimates.updated.connect(lambda _latest: self._follow_plan())
        canvas.document.variants_changed.connect(self._follow_plan)

    def close(self) -> None:
        """Stop what computes."""
        self._tasks.close()

    def ask(self) -> None:
        """Offer all ways to colour."""
        self.legend.ask()

    def choose(self, name: str, against: str = "") -> None:
        """Colour by one of the WAYS from now on; nothing: by none."""
        self.name, self.against, self._lent = name, against, ""
        self._colour()

    def lend(self, losses: Mapping[str, Loss] | None) -> None:
        """Colour by what losses mean as long as a panel tells them; None: as before."""
        if losses is not None:
            self._losses = (self._canvas.document.plan, losses)
        if losses is None and not self._lent:
            return
        self._lent = "loss" if losses is not None else ""
        self._colour()

    @property
    def _way(self) -> str:
        return self._lent or self.name

    def _follow_loads(self) -> None:
        if self._way and WAYS[self._way].of_loads:
            self._colour()

    def _follow_plan(self) -> None:
        if self._way and not WAYS[self._way].of_loads:
            self._colour()

    def _colour(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        name, plan, latest = self._way, self._canvas.document.plan, self._estimates.latest
        if not name:
            self._canvas.show_colouring(NOTHING)
        elif WAYS[name].of_loads:
            loads = self._canvas.canvas_scene.look.loads
            written = latest.written if latest is not None and latest.plan is plan else {}
            self._canvas.show_colouring(colour_by(name, Known(plan, loads, written=written)))
        elif latest is not None and latest.plan is plan:
            known = self._known(latest)
            if self._canvas.canvas_scene.look.colouring.name != name:
                self._canvas.show_colouring(Colouring(name, WAYS[name].title, note="Working it out…"))
            self._task = self._tasks.start(
                lambda task: found_in_thread(name, known, latest, task), self._done
            )

    def _known(self, latest: Estimate) -> Known:
        losses = self._losses[1] if self._losses is not None and self._losses[0] is latest.plan else {}
        other = self._other_variant()
        return Known(latest.plan, latest.loads, latest.problems, losses, latest.written, other)

    def _other_variant(self) -> tuple[str, Plan] | None:
        """The variant that was chosen; else the main one, of the main one the next."""
        document = self._canvas.document
        others = [v for place, v in enumerate(document.project.variants) if place != document.shown]
        found = next((v for v in others if v.name == self.against), others[0] if others else None)
        return None if found is None else (found.name, found.plan)

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        way = self._way
        failed = Colouring(way, WAYS[way].title, note=outcome.error) if way else NOTHING
        self._canvas.show_colouring(outcome.value if not outcome.error else failed)


def found_in_thread(name: str, known: Known, latest: Estimate, task: Task) -> Colouring:
    """A colouring that takes more than the loads; runs in a thread."""
    from ndbplan.describe.estimated import with_searched

    return colour_by(name, with_searched(name, known, latest.now, task.cancelled))
