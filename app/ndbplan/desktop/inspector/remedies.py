"""The search for what would help: in a thread, one at a time, its answers kept for the plans they are of."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ndbplan.desktop.context import Context
from ndbplan.desktop.tasks import Outcome, Progress, Task
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.advise.help import Remedy

_KEPT = 8


@dataclass(frozen=True)
class Answer:
    """What a search found for one plan and workload."""

    plan: Plan
    remedies: tuple[Remedy, ...] = ()
    error: str = ""


class RemedySearch(QObject):
    """Owned by the inspector: pages come and go, an answer stays as long as undo may bring its plan back."""

    changed = Signal()
    """An answer has come, the search has started, moved on or stopped."""

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._answers: OrderedDict[tuple[int, str | None], Answer] = OrderedDict()
        self._task: Task | None = None
        self._asked: tuple[int, str | None] | None = None
        self.progress = Progress(None)
        context.document.changed.connect(lambda _before, _after: self.cancel())

    def answer(self, workload_id: str | None) -> Answer | None:
        """The answer for the plan as it is; None: not searched yet."""
        found = self._answers.get((id(self._context.plan), workload_id))
        return found if found is not None and found.plan is self._context.plan else None

    def is_searching(self, workload_id: str | None) -> bool:
        """Whether the search for this workload runs."""
        return self._task is not None and self._asked == (id(self._context.plan), workload_id)

    def search(self, workload_id: str | None) -> None:
        """Start, unless it runs already; cancels the search for another workload."""
        if self.is_searching(workload_id):
            return
        self.cancel()
        plan = self._context.plan
        self._asked = (id(plan), workload_id)
        self.progress = Progress(None, "Trying changes…")
        self._task = self._context.tasks.start(
            lambda task: _search(plan, workload_id, task),
            lambda o: self._done(plan, workload_id, o),
            self._moved,
        )
        self.changed.emit()

    def cancel(self) -> None:
        """Stop searching."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            self.changed.emit()

    def _moved(self, progress: Progress) -> None:
        if self._task is not None:
            self.progress = Progress(progress.fraction, progress.text or "Trying changes…")
            self.changed.emit()

    def _done(self, plan: Plan, workload_id: str | None, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        found = Answer(plan, () if outcome.error else outcome.value, outcome.error)
        self._answers[id(plan), workload_id] = found
        while len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        self.changed.emit()


def is_ready() -> bool:
    """Whether a search can start without compiling the simulation engine first."""
    from ndbplan.simulate import kernel

    return kernel.is_prepared()


def _search(plan: Plan, workload_id: str | None, task: Task) -> tuple[Remedy, ...]:
    from ndbplan.advise.help import remedies
    from ndbplan.simulate import kernel

    if not kernel.is_prepared():
        task.report(None, "Preparing the simulation engine (once on this machine)…")
    kernel.prepare()
    return remedies(plan, workload_id, cancelled=task.cancelled, progress=task.report)
