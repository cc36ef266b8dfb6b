"""What is in front in a window: the plan, or what lies over it. Title, status and actions follow it.

front = in_front(document, canvas, live, is_covered)
front.title, front.mark             # "shop.ndbplan", "— edited"; of a live cluster its own, and "— live"
front.covered                       # why nothing can be done to the plan now; "" where it is in front
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.stage import Stage
    from ndbplan.desktop.document.document import Document
    from ndbplan.desktop.live_mode import LiveMode

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


def in_front(document: Document, canvas: Stage, live: LiveMode, *, is_covered: bool) -> InFront:
    """What is in front of a window whose plan is covered by something, or is not."""
    page = live.page
    if page is not None and live.is_shown:
        tip = "A lesson: its cluster, not the plan" if page.source else "As the plan was when it began"
        mark = LESSON if page.source else LIVE
        over = "A live cluster lies over the plan"
        return InFront(page.title, tip, mark, page.canvas.document.plan, page.canvas.zoom, over, True)
    mark = EDITED if document.is_modified else ""
    tip = str(document.path or document.plan.name)
    over = "The samples lie over the plan" if is_covered else ""
    return InFront(document.title, tip, mark, document.plan, canvas.zoom, over, False)
