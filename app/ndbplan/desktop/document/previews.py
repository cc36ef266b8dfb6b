"""What a change would do, worked out off the GUI thread while somebody looks at it, and dropped when not.

    previews.ask(edit, show, refused)    # show(seen, all_known) as it comes; the next question ends this one

The plan, its history and its file stay as they are: a preview works on a plan of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.tasks import Outcome, Task, Tasks
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.advise.preview import Line, Preview

Edit = Callable[[Plan], Plan]


class Seen(NamedTuple):
    """What is known of a change so far."""

    changes: tuple[str, ...]
    """The values that it changes, in words."""
    lines: tuple[Line, ...]
    under: str = ""
    """The workload that it is under, where the plan has others."""
    problems: tuple[str, ...] = ()
    """What it settles and brings, in words."""


Show = Callable[[Seen, bool], None]
"""Takes what is known, and whether it is all."""


class Previews(QObject):
    """Answers one question at a time, of the plan and the workload that are shown when it is asked."""

    def __init__(self, asked: Callable[[], tuple[Plan, str | None]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked = asked
        self._tasks = Tasks(self)
        self._task: Task | None = None
        self._last: tuple[Plan, str | None, Preview] | None = None

    def ask(self, edit: Edit, show: Show, refused: Callable[[str], None]) -> None:
        """Show what an edit would do; `refused`: why it cannot be made."""
        self.cancel()
        plan, workload_id = self._asked()
        self._task = self._tasks.start(
            lambda task: self._work(plan, workload_id, edit, task),
            lambda outcome: self._done(outcome, show, refused),
            on_partial_result=lambda seen: show(seen, False),
        )

    def cancel(self) -> None:
        """Nobody looks any more."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    @property
    def is_busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._task is not None

    def close(self) -> None:
        """Stop for good."""
        self._tasks.close()

    def _done(self, outcome: Outcome, show: Show, refused: Callable[[str], None]) -> None:
        if outcome.cancelled:
            return
        self._task = None
        if outcome.error:
            refused(outcome.error)
        else:
            show(outcome.value, True)

    def _work(self, plan: Plan, workload_id: str | None, edit: Edit, task: Task) -> Seen:
        from ndbplan.advise.figures import FIGURES
        from ndbplan.advise.preview import HEADLINES
        from ndbplan.desktop.document.kernel import prepare_kernel
        from ndbplan.edits.changes import value_changes

        after = edit(plan)
        preview = self._preview(plan, workload_id)
        now = preview.now.workload
        under = now.name if now is not None and plan.workloads[1:] else ""
        seen = Seen(tuple(change.line for change in value_changes(plan, after)), (), under)
        formulas = tuple(name for name in HEADLINES if not FIGURES[name].simulated)
        seen = seen._replace(lines=tuple(preview.of(after, task.cancelled, formulas)))
        seen = seen._replace(problems=preview.settles(after, task.cancelled).lines)
        if now is None:
            return seen
        task.show_partial_result(seen)
        prepare_kernel(task)
        simulated = tuple(name for name in HEADLINES if FIGURES[name].simulated)
        for line in preview.of(after, task.cancelled, simulated):
            seen = seen._replace(lines=(*seen.lines, line))
            task.show_partial_result(seen)
        return seen

    def _preview(self, plan: Plan, workload_id: str | None) -> Preview:
        from ndbplan.advise.preview import Preview
        from ndbplan.estimate.estimation import Estimation, chosen_workload

        known = self._last
        if known is None or known[0] is not plan or known[1] != workload_id:
            try:
                workload = chosen_workload(plan, workload_id)
            except UserError:
                workload = None
            # One store for all questions: what a change leaves alone is known from the one before.
            kept = None if known is None else known[2].now.kept
            known = self._last = (plan, workload_id, Preview(Estimation(plan, workload, kept=kept)))
        return known[2]
