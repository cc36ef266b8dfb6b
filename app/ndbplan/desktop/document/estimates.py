"""Everything the engine says about the plan in the window, computed off the GUI thread after each edit.

A newer edit cancels the computation for an older one; views get one signal, `updated`. What was found for a
variant stays until that variant changes: to show it again costs no computation.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from ndbplan.base.errors import UserError
from ndbplan.describe.overlay import NO_LOADS, Loads
from ndbplan.desktop.document.previews import Previews
from ndbplan.desktop.document.tasks import Outcome, Task, Tasks
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.checks.problem import Problem
    from ndbplan.desktop.document.document import Document
    from ndbplan.estimate.estimation import Estimation

SETTLE_MS = 8
"""Edits that come closer together than this (a drag, typing) are estimated once."""


@dataclass(frozen=True)
class Estimate:
    """What the engine says about one plan under one workload."""

    plan: Plan
    workload_id: str | None
    now: Estimation | None
    """None when the plan is too incomplete to estimate; `error` then says what is missing."""
    problems: tuple[Problem, ...]
    error: str = ""
    elapsed_s: float = 0.0
    loads: Loads = NO_LOADS
    """What it says about each thing on the canvas."""
    written: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Disks that each data node writes to, by process id."""


class Estimates(QObject):
    """Keeps an Estimate of the document's plan fresh."""

    started = Signal()
    """The latest estimate is out of date; a new one is on its way."""
    sweep_wanted = Signal(str)
    """An input that somebody wants to vary, with values to begin with."""
    updated = Signal(object)
    """An Estimate of the plan as it is now."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._workload_id: str | None = None
        self._tasks = Tasks(self)
        self._task: Task | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(SETTLE_MS)
        self._timer.timeout.connect(self._start)
        self._of_variants: list[Estimate] = []
        self._is_in_old_words = False
        self.previews = Previews(lambda: (document.plan, self.workload_id), self)
        """What changes that are offered would do to the plan that is shown."""
        self.latest: Estimate | None = None
        """The last estimate; of an older plan while `is_fresh` is False."""
        document.changed.connect(self._plan_changed)
        self.refresh()

    @property
    def is_fresh(self) -> bool:
        """Whether `latest` speaks of the plan and workload as they are now."""
        return self.latest is not None and self._is_of_now(self.latest) and not self._is_in_old_words

    def _is_of_now(self, one: Estimate) -> bool:
        return one.plan is self._document.plan and one.workload_id == self.workload_id

    @property
    def workload_id(self) -> str | None:
        """The workload the estimates assume: the chosen one, else the plan's first."""
        plan = self._document.plan
        if any(w.id == self._workload_id for w in plan.workloads):
            return self._workload_id
        return plan.workloads[0].id if plan.workloads else None

    def choose_workload(self, workload_id: str | None) -> None:
        """Estimate under another workload from now on."""
        if workload_id != self._workload_id:
            self._workload_id = workload_id
            self.refresh()

    def say_anew(self) -> None:
        """Estimate again what is known too: its words have changed, such as the units of bytes."""
        self._of_variants, self._is_in_old_words = [], True
        self.refresh()

    def refresh(self) -> None:
        """Estimate again, soon, unless it is known; cancels what runs."""
        if self._task is not None:
            self._task.cancel()
        if not self._timer.isActive():
            self.started.emit()
        # Also what is known comes later: views that hear of the plan after this one are out of date first.
        self._timer.start(0 if self._known() is not None else SETTLE_MS)

    def _known(self) -> Estimate | None:
        return next((one for one in self._of_variants if self._is_of_now(one)), None)

    def close(self) -> None:
        """Stop for good and wait for the thread."""
        self._timer.stop()
        self._tasks.close()
        self.previews.close()

    def _plan_changed(self, before: Plan, after: Plan) -> None:
        if before is not after:
            self.refresh()

    def _start(self) -> None:
        known = self._known()
        if known is not None:
            self._tell(known)
            return
        plan, workload_id = self._document.plan, self.workload_id
        self._task = self._tasks.start(lambda task: estimate(plan, workload_id, task), self._done)

    def _done(self, outcome: Outcome) -> None:
        if outcome.cancelled or self._timer.isActive():
            return
        self._task = None
        if outcome.error:
            self._tell(Estimate(self._document.plan, self.workload_id, None, (), outcome.error))
        else:
            self._tell(outcome.value)

    def _tell(self, latest: Estimate) -> None:
        plans = [variant.plan for variant in self._document.project.variants]
        known = [one for one in (*self._of_variants, latest) if any(one.plan is plan for plan in plans)]
        # Of each variant the last workload that was looked at.
        self._of_variants = list({id(one.plan): one for one in known}.values())
        self.latest, self._is_in_old_words = latest, False
        self.updated.emit(latest)


def estimate(plan: Plan, workload_id: str | None, task: Task) -> Estimate:
    """Estimates and problems of a plan; runs in a thread and stops when the task is cancelled."""
    from ndbplan.checks.run import check
    from ndbplan.describe.colouring import disks_written
    from ndbplan.describe.estimated import loads_of
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    began = time.perf_counter()
    now: Estimation | None = None
    error = ""
    try:
        now = Estimation(plan, chosen_workload(plan, workload_id)).work_out(task.cancelled)
    except UserError as refused:
        error = refused.line
    problems = check(plan, task.cancelled)
    loads, written = loads_of(plan, now, problems), disks_written(plan)
    elapsed_s = time.perf_counter() - began
    return Estimate(plan, workload_id, now, tuple(problems), error, elapsed_s, loads, written)
