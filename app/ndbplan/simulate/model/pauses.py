"""How long a local checkpoint rests before the next one: flushes of the log, and the least time of each.

Source: engine model 15.1, measured; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.constants import constant_for, constants_of
from ndbplan.estimate.load.checkpoint_speed import has_small_files, is_partial
from ndbplan.plan.plan import Plan


class Flushes(NamedTuple):
    """Flushes of the log that a checkpoint waits for, and the least time of each."""

    number: float
    least_s: float


def lcp_stages(plan: Plan) -> list[Flushes]:
    """Each flush of the log between two checkpoints: to the cut of the log, and from there. The last one
    before the cut may be a part of one."""
    after, before = flushes_after(plan), flushes_before(plan)
    whole = math.floor(after.number)
    part = after.number - whole
    stages = [Flushes(1.0, after.least_s)] * whole
    if part > 0.0:
        stages.append(Flushes(part, part * after.least_s))
    return [*stages, *[Flushes(1.0, before.least_s)] * int(before.number)]


def flushes_after(plan: Plan) -> Flushes:
    """From the end of a checkpoint to the cut of the log."""
    count = constant_for(plan, "lcp_flushes_after").value
    return _with_files(plan, count, "lcp_stage_s")


def flushes_before(plan: Plan) -> Flushes:
    """From the cut of the log to the first bytes of the next checkpoint."""
    count = plan.features.lcp_flushes_before
    if small_tables_s(plan) > 0.0:
        return Flushes(count, constant_for(plan, "lcp_begin_stage_s").value)
    return _with_files(plan, count, "lcp_begin_stage_s")


def small_tables_s(plan: Plan) -> float:
    """How long a checkpoint writes its small tables while log keeps the disk busy; 0: it has none."""
    if is_partial(node_settings(plan)):
        return 0.0
    return constant_for(plan, "lcp_small_tables_s").value


def _with_files(plan: Plan, count: float, stage: str) -> Flushes:
    """Small log files make more flushes, which take no longer together where the log is not behind."""
    together_s = count * constant_for(plan, stage).value
    if has_small_files(node_settings(plan), constants_of(plan)):
        count += constant_for(plan, "lcp_flushes_small_files").value
    return Flushes(count, together_s / count)
