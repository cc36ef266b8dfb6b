"""How long a local checkpoint rests before the next one: flushes of the log, and the least time of each.

Source: engine model 15.1, measured; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.constants import constant_for, constants_of
from ndbplan.estimate.load.checkpoint_speed import has_small_files
from ndbplan.plan.plan import Plan


class Flushes(NamedTuple):
    """Flushes of the log that a checkpoint waits for, and the least time of each."""

    number: float
    least_s: float


def lcp_stages_s(plan: Plan) -> list[float]:
    """Least time of each flush of the log between two checkpoints: to the cut of the log, and from there."""
    after, before = flushes_after(plan), flushes_before(plan)
    return [after.least_s] * int(after.number) + [before.least_s] * int(before.number)


def flushes_after(plan: Plan) -> Flushes:
    """From the end of a checkpoint to the cut of the log."""
    count = constant_for(plan, "lcp_flushes_after").value
    return _with_files(plan, count, "lcp_stage_s")


def flushes_before(plan: Plan) -> Flushes:
    """From the cut of the log to the first bytes of the next checkpoint."""
    count = plan.features.lcp_flushes_before
    return _with_files(plan, count, "lcp_begin_stage_s")


def _with_files(plan: Plan, count: float, stage: str) -> Flushes:
    """Small log files make more flushes, which take no longer together where the log is not behind."""
    together_s = count * constant_for(plan, stage).value
    if has_small_files(node_settings(plan), constants_of(plan)):
        count += constant_for(plan, "lcp_flushes_small_files").value
    return Flushes(count, together_s / count)
