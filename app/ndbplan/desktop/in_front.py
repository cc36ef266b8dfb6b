"""What is in front in a window: the plan, or what lies over it. Title, status and actions follow it.

front = in_front(document, canvas, live, is_covered)
front.title, front.mark             # "shop.ndbplan", "— edited"; of a live cluster its own, and "— live"
front.covered                       # why nothing can be done to the plan now; "" where it is in front
"""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.plan.plan import Plan

EDITED, LIVE, LESSON = "— edited", "— live", "— lesson"


class InFront(NamedTuple):
    """What somebody sees in the middle of the window."""

    title: str
    tip: str
    mark: str
    """What stands behind the title: `EDITED`, `LIVE`, `LESSON` or nothing."""
    plan: Plan
    zoom: float
    covered: str
    """What lies over the plan of the window, in words; "": nothing."""
    is_live: bool

    @property
    def window_title(self) -> str:
        """What the window manager shows."""
        mark = "*" if self.mark == EDITED else f" {self.mark}" if self.mark else ""
        return f"{self.title}{mark} — ndbplan"
