"""A lesson's plan, and the cluster that it begins with."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ndbplan.base.errors import UserError
from ndbplan.edits.assign import assign
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.events import Event
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_names, sample_plan
from ndbplan.simulate.events.handlers import Order
from ndbplan.simulate.model.workload import workload_of
from ndbplan.train import world
from ndbplan.train.lessons.model import Begin, Lesson
from ndbplan.train.lessons.referee import Referee
from ndbplan.train.live import LiveCluster


class LessonError(UserError):
    """A lesson that cannot be played."""


def plan_of(start: Begin) -> Plan:
    """The plan that a lesson begins with. Raises UserError that names the sample or the change."""
    if start.sample not in sample_names():
        raise LessonError(
            f"'{start.sample}' is not a sample",
            where="starts.sample",
            fix=f"one of {', '.join(sample_names())}",
        )
    plan = sample_plan(start.sample)
    for change in start.changes:
        plan = assign(plan, change)[0]
    return plan


def estimation_of(start: Begin) -> Estimation:
    """What is estimated of that plan under its load."""
    plan = plan_of(start)
    return Estimation(plan, workload_of(plan, start.workload or None))


def begun(lesson: Lesson, start: Begin, *, bare: bool = False) -> LiveCluster:
    """The cluster at the begin of a lesson, with all that is to happen to it. Raises UserError.

    `bare`: nothing happens to it, and nobody watches goals.
    """

    def script(cluster: LiveCluster) -> Iterator[tuple[float, Event | Order]]:
        for one in lesson.happens:
            for act in world.deed(one.do, cluster).acts:
                yield one.at, act

    return LiveCluster.begin(
        plan_of(start),
        start.workload or None,
        hours=lesson.limit / 3600.0,
        seed=lesson.seed,
        begin=datetime.strptime(lesson.clock, "%Y-%m-%d %H:%M"),
        step_s=lesson.step,
        reserved=start.reserved,
        script=None if bare else script,
        observer=None if bare else Referee.of(lesson),
    )
