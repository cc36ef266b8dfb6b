"""What the distribution panel asks the engine about one table, off the GUI thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ndbplan.base.errors import UserError
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.estimate.grown import ReorganiseEstimate
    from ndbplan.estimate.storage.fragments import TableDistribution
    from ndbplan.estimate.storage.redistribution import Redistribution
    from ndbplan.estimate.storage.skew import SkewReport
    from ndbplan.estimate.times.reorganise import TableReorganise


@dataclass(frozen=True)
class Question:
    """One table; node groups to add to the plan, or a plan from before groups were added to it."""

    plan: Plan
    table_id: str
    groups: int
    baseline: Plan | None
    workload_id: str | None


@dataclass(frozen=True)
class Answer:
    """What the engine says about one table."""

    question: Question
    before: TableDistribution
    moved: Redistribution | None
    estimate: ReorganiseEstimate | None
    skew: SkewReport | None = None
    """Of the partitions as they end up."""
    refusal: str = ""
    """Why the node groups cannot be added."""

    @property
    def of_table(self) -> TableReorganise | None:
        """The reorganisation of this table."""
        tables = self.estimate.tables if self.estimate is not None else ()
        return next((t for t in tables if t.table == self.before.table), None)


def ask(question: Question) -> Answer:
    """Where the rows of the table are, where they go, and why partitions differ."""
    from ndbplan.estimate.storage.skew import skew_report

    answer = _asked(question)
    last = answer.moved.after if answer.moved is not None else answer.before
    return replace(answer, skew=skew_report(last, measured=last.measured))


def _asked(question: Question) -> Answer:
    from ndbplan.configuration.node_groups import node_groups
    from ndbplan.estimate.estimation import Estimation

    plan, table_id, baseline = question.plan, question.table_id, question.baseline
    workload = plan.by_id.get(question.workload_id) if question.workload_id else None
    now = Estimation(plan, workload)
    if question.groups:
        before = now.distribution_of(plan.table(table_id))
        try:
            estimate = now.reorganise(question.groups)
        except UserError as error:
            return Answer(question, before, None, None, refusal=error.line)
        moved = next(t.redistribution for t in estimate.tables if t.table == before.table)
        return Answer(question, before, moved, estimate)
    # A plan that held no row yet has none that could move.
    if baseline is not None and node_groups(baseline) and any(t.id == table_id for t in baseline.tables):
        added = len(node_groups(plan)) - len(node_groups(baseline))
        if added > 0:
            then = now.of(baseline)
            moved = then.redistribution(table_id, now)
            return Answer(question, moved.before, moved, then.reorganise(added))
    return Answer(question, now.distribution_of(plan.table(table_id)), None, None)
