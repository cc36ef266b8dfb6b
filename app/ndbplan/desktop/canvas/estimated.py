"""From the estimates to what the canvas paints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndbplan.desktop.canvas.loads import NO_LOADS, Loads
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.desktop.estimates import Estimate


def loads_of(estimate: Estimate) -> Loads:
    """Loads of an estimate of the window."""
    return NO_LOADS


def estimated_loads(plan: Plan) -> Loads:
    """Loads of a plan, computed here and now."""
    return NO_LOADS
