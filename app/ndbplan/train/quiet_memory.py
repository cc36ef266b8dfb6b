"""How long the log of a data node has nothing new to tell of its memory."""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.plan.plan import Plan


class QuietMemory(NamedTuple):
    """Bytes of rows between which no threshold is crossed, as long as the plan and the limit are these."""

    plan: Plan
    limit_bytes: float
    low_bytes: float
    high_bytes: float

    def holds(self, plan: Plan, limit_bytes: float, used_bytes: float) -> bool:
        """Whether nothing needs to be worked out now."""
        is_same = plan is self.plan and limit_bytes == self.limit_bytes
        return is_same and self.low_bytes < used_bytes < self.high_bytes
