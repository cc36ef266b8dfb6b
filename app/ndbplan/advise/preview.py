"""What a change would do to the headline figures, shown before it is made.

    shown = Preview(estimation_of(plan))
    for line in shown.of(edit(plan)):
        line.figure.title, line.before, line.after, line.judged

Each number is the one that the figure gives of the plan without and with the change. Formulas come first,
what a simulation answers last. What the figures are before a change is worked out once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.advise.compare import Judgement, judge, judge_cost
from ndbplan.advise.figures import FIGURES, Figure, settled_between
from ndbplan.advise.max_load import max_load
from ndbplan.advise.searched import Searched
from ndbplan.base.errors import Cancelled, UserError
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.checks.settled import Settled
    from ndbplan.plan.workloads import Workload

HEADLINES = ("memory", "disk-space", "redo-time", "restart", "cost", "survive", "first-error", "max-load")
"""Figures that a preview shows, in the order in which they are worked out."""


@dataclass(frozen=True)
class Line:
    """One headline figure before and after a change."""

    figure: Figure
    before: Quantity | None
    after: Quantity | None
    judged: Judgement | None
    """None: neither way is better, or it cannot be told."""
    error: str = ""
    """Why there is no number after it."""

    @property
    def is_same(self) -> bool:
        """Whether the change leaves number and range as they are."""
        if self.error or self.before is None or self.after is None:
            return not self.error and self.before is self.after
        one, two = self.before, self.after
        return (one.value, one.low, one.high) == (two.value, two.low, two.high)


class Preview:
    """Previews of changes of one plan under one workload."""

    def __init__(self, now: Estimation) -> None:
        self.now = now
        self._before: dict[str, Quantity | None] = {}
        self._unknown: set[str] = set()
        """Figures that the plan is too incomplete for before a change."""
        self._searched = Searched()

    def of(
        self,
        after: Plan,
        cancelled: Callable[[], bool] = lambda: False,
        names: tuple[str, ...] = HEADLINES,
    ) -> Iterator[Line]:
        """The figures of a changed plan, each as soon as it is known. Raises Cancelled when told to stop."""
        workload = self.now.workload
        then = Estimation(after, None if workload is None else _same(after, workload), kept=self.now.kept)
        for name in names:
            if cancelled():
                raise Cancelled
            with keeping(self.now.kept):
                line = self._line(FIGURES[name], then, cancelled)
            yield line

    def settles(self, after: Plan, cancelled: Callable[[], bool] = lambda: False) -> Settled:
        """The problems that a changed plan has no more, and those that it has besides."""
        with keeping(self.now.kept):
            found = settled_between(self.now, self.now.of(after))
        if cancelled():
            raise Cancelled
        return found

    def _line(self, figure: Figure, then: Estimation, cancelled: Callable[[], bool]) -> Line:
        try:
            if figure.name not in self._before:
                self._before[figure.name] = self._number(figure, self.now, cancelled)
        except UserError:
            self._before[figure.name] = None
            self._unknown.add(figure.name)
        before = self._before[figure.name]
        try:
            after = self._number(figure, then, cancelled)
        except UserError as error:
            return Line(figure, before, None, None, error.what)
        if figure.name in self._unknown:
            return Line(figure, before, after, None)
        is_money = figure.name == "cost"
        judged = judge_cost(self.now.plan, then.plan) if is_money else judge(figure, before, after)
        return Line(figure, before, after, judged)

    def _number(self, figure: Figure, now: Estimation, cancelled: Callable[[], bool]) -> Quantity | None:
        if figure.name == "max-load" and now.workload is not None:
            return max_load(now, cancelled=cancelled, with_next=False, searched=self._searched).max_per_s
        return figure.of(now)


def _same(plan: Plan, workload: Workload) -> Workload | None:
    """The workload of the changed plan; None: the change takes it away."""
    return next((one for one in plan.workloads if one.id == workload.id), None)
