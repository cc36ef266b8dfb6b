"""Runs of other variants, laid over the charts of one: chosen in a menu, simulated in a thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ndbplan.desktop.analyses.simulation.run import Run, simulate
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.look.text import as_it_is

if TYPE_CHECKING:
    from PySide6.QtWidgets import QMenu

    from ndbplan.plan.project import Variant
    from ndbplan.simulate.result import SimulationResult

MOST = 3
"""Variants beside the one shown: more lines than four of a kind are not told apart."""


class VariantOverlay(QObject):
    """Which variants lie over the charts, and what their runs came to."""

    changed = Signal()
    """Other lines are to be drawn, or none."""
    failed = Signal(str)

    def __init__(self, context: Context, menu: QMenu) -> None:
        super().__init__(menu)
        self._context, self._menu = context, menu
        self._chosen: tuple[str, ...] = ()
        self._runs: dict[str, Run] = {}
        self._tasks: dict[str, tuple[Task, tuple[object, ...]]] = {}
        """What is simulated now, and what was asked."""
        self._refused: dict[str, Variant] = {}
        menu.aboutToShow.connect(self._offer)
        context.document.variants_changed.connect(self._variants_changed)
        self._offer()

    def choose(self, name: str, *, on: bool) -> None:
        """Lay a variant over the charts, or take it away; the oldest goes for one too many."""
        rest = tuple(one for one in self._chosen if one != name)
        self._chosen = (*rest, name)[-MOST:] if on else rest
        self._refused.pop(name, None)
        self.changed.emit()

    def beside(self, run: Run) -> tuple[tuple[str, SimulationResult], ...]:
        """What is known of the chosen variants under the load of this run; the rest is simulated now."""
        found = []
        for variant in self._others():
            if variant.name not in self._chosen:
                continue
            known = self._runs.get(variant.name)
            if known is not None and self._is_of(known, variant, run):
                found.append((variant.name, known.result))
            elif self._refused.get(variant.name) is not variant:
                self._simulate(variant, run)
        return tuple(found)

    def _others(self) -> list[Variant]:
        document = self._context.document
        return [one for place, one in enumerate(document.project.variants) if place != document.shown]

    def _is_of(self, known: Run, variant: Variant, run: Run) -> bool:
        same = known.workload_id == run.workload_id and known.result.duration_s == run.result.duration_s
        return same and known.plan is variant.plan

    def _simulate(self, variant: Variant, run: Run) -> None:
        plan, workload_id, duration_s = variant.plan, run.workload_id, run.result.duration_s
        asked = (id(plan), workload_id, duration_s)
        if variant.name in self._tasks:
            task, before = self._tasks[variant.name]
            if before == asked:
                return
            task.cancel()
        task = self._context.tasks.start(
            lambda task: simulate(plan, workload_id, duration_s, 0, task),
            lambda outcome: self._done(variant, outcome),
        )
        self._tasks[variant.name] = task, asked

    def _done(self, variant: Variant, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        del self._tasks[variant.name]
        if outcome.error:
            # Not asked again before it is another plan.
            self._refused[variant.name] = variant
            self.failed.emit(f"{variant.name}: {outcome.error}")
            return
        self._runs[variant.name] = outcome.value
        self.changed.emit()

    def _variants_changed(self) -> None:
        self._offer()
        if self._chosen:
            self.changed.emit()

    def _offer(self) -> None:
        """The variants there are, as the menu has them."""
        names = [one.name for one in self._others()]
        self._chosen = tuple(name for name in self._chosen if name in self._context.document.project.names)
        self._menu.clear()
        self._menu.setEnabled(bool(names))
        for name in names:
            action = self._menu.addAction(as_it_is(name))
            action.setCheckable(True)
            action.setChecked(name in self._chosen)
            action.toggled.connect(lambda on, name=name: self.choose(name, on=on))
