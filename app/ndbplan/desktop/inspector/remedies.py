"""The search for what would help: in a thread, one at a time, its answers kept for the plans they are of."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Progress, Task
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.advise.max_load import MaxLoad
    from ndbplan.advise.remedies import Remedies, Remedy

_KEPT = 8
_Asked = tuple[int, str | None, float]
"""A plan (by identity), a workload, and for how long its load is to be sustained."""


@dataclass(frozen=True)
class Answer:
    """What a search found for one plan, workload and duration."""

    plan: Plan
    highest: MaxLoad | None = None
    """The highest load of the plan as it is; None: the search failed."""
    remedies: tuple[Remedy, ...] = ()
    error: str = ""
    missing: str = ""
    """Where nothing helps: what is only assumed of what limits the load."""


class RemedySearch(QObject):
    """Owned by the inspector: pages come and go, an answer stays as long as undo may bring its plan back."""

    changed = Signal()
    """An answer has come, the search has started, moved on or stopped."""

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._answers: OrderedDict[_Asked, Answer] = OrderedDict()
        self._task: Task | None = None
        self._asked: _Asked | None = None
        self._durations_s: dict[str | None, float] = {}
        self.progress = Progress(None)
        context.document.changed.connect(lambda _before, _after: self.cancel())

    def duration_s(self, workload_id: str | None) -> float:
        """How long the load is to be sustained: as chosen, else as long as the workload lasts."""
        if workload_id in self._durations_s:
            return self._durations_s[workload_id]
        part = self._context.plan.by_id.get(workload_id or "")
        return max(1.0, part.duration_s) if isinstance(part, Workload) else 1.0

    def choose_duration(self, workload_id: str | None, duration_s: float | None) -> None:
        """Sustain the load for so long from now on; None: as long as the workload lasts. Stops a search."""
        from ndbplan.advise.max_load import LONGEST_S

        if duration_s is not None and not 1.0 <= duration_s <= LONGEST_S:
            raise UserError(
                f"a load cannot be sustained for {duration_s:g} s", fix="name 1 s to 10 years (87 600 h)"
            )
        self.cancel()
        if duration_s is None:
            self._durations_s.pop(workload_id, None)
        else:
            self._durations_s[workload_id] = duration_s
        self.changed.emit()

    def _key(self, workload_id: str | None) -> _Asked:
        return id(self._context.plan), workload_id, self.duration_s(workload_id)

    def answer(self, workload_id: str | None) -> Answer | None:
        """The answer for the plan as it is and the chosen duration; None: not searched yet."""
        answer = self._answers.get(self._key(workload_id))
        return answer if answer is not None and answer.plan is self._context.plan else None

    def is_searching(self, workload_id: str | None) -> bool:
        """Whether the search for this workload runs."""
        return self._task is not None and self._asked == self._key(workload_id)

    def search(self, workload_id: str | None) -> None:
        """Start, unless it runs already; cancels the search for another workload."""
        if self.is_searching(workload_id):
            return
        self.cancel()
        plan = self._context.plan
        asked = self._asked = self._key(workload_id)
        duration_s = asked[2]
        self.progress = Progress(None, "Trying changes…")
        self._task = self._context.tasks.start(
            lambda task: _search(plan, workload_id, duration_s, task),
            lambda o: self._done(plan, asked, o),
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

    def _done(self, plan: Plan, asked: _Asked, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        if outcome.error:
            answer = Answer(plan, error=outcome.error)
        else:
            remedies = outcome.value
            answer = Answer(plan, remedies.highest, remedies.remedies, missing=remedies.missing)
        self._answers[asked] = answer
        while len(self._answers) > _KEPT:
            self._answers.popitem(last=False)
        self.changed.emit()


def is_ready() -> bool:
    """Whether a search can start without compiling the simulation engine first."""
    from ndbplan.simulate.kernel import ready as kernel

    return kernel.is_prepared()


def _search(plan: Plan, workload_id: str | None, duration_s: float, task: Task) -> Remedies:
    from ndbplan.advise.remedies import find_remedies
    from ndbplan.desktop.document.kernel import prepare_kernel
    from ndbplan.simulate.model.workload import estimation_of

    prepare_kernel(task)
    return find_remedies(
        estimation_of(plan, workload_id),
        duration_s=duration_s,
        cancelled=task.cancelled,
        progress=task.report,
    )
