"""How long a local checkpoint rests before the next one: flushes of the log, and the least time of each."""

from __future__ import annotations

from ndbplan.configuration.settings import node_settings
from ndbplan.estimate.constants import constant_for, constants_of
from ndbplan.estimate.load.checkpoint import has_small_files
from ndbplan.plan.plan import Plan


def lcp_stages_s(plan: Plan) -> list[float]:
    """Least time of each flush of the log between two checkpoints: to the cut of the log, and from there."""
    flushes, stage_s = lcp_flushes_after(plan)
    before = [constant_for(plan, "lcp_begin_stage_s").value] * plan.features.lcp_flushes_before
    return [stage_s] * int(flushes) + before


def lcp_flushes_after(plan: Plan) -> tuple[float, float]:
    """(flushes of the log from the end of a checkpoint to the cut of the log, least time of each).

    Small log files make more of them, which take no longer together where the log is not behind.
    """
    flushes = constant_for(plan, "lcp_flushes_after").value
    least_s = flushes * constant_for(plan, "lcp_stage_s").value
    if has_small_files(node_settings(plan), constants_of(plan)):
        flushes += constant_for(plan, "lcp_flushes_small_files").value
    return flushes, least_s / flushes
