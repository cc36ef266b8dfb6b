"""The engine's constants as a plan sees them: its calibrations replace what was measured elsewhere."""

from __future__ import annotations

from functools import lru_cache

from ndbplan.base.quantity import Term
from ndbplan.ndb.constants import Constant, constant
from ndbplan.plan.plan import Calibration, Plan

DEFAULT_CALIBRATION_FACTOR = 1.1
"""A calibration that states no range is taken as right within 10 %."""


@lru_cache(maxsize=512)
def _calibrated(base: Constant, value: float, low: float | None, high: float | None, source: str) -> Constant:
    return Constant(
        name=base.name,
        value=value,
        low=min(value, value / DEFAULT_CALIBRATION_FACTOR if low is None else low),
        high=max(value, value * DEFAULT_CALIBRATION_FACTOR if high is None else high),
        unit=base.unit,
        source=source,
        evidence="calibration",
        meaning=base.meaning,
    )


def calibration_of(plan: Plan, name: str) -> Calibration | None:
    """The plan's last calibration of a constant, or None."""
    for calibration in reversed(plan.calibrations):
        if calibration.constant == name:
            return calibration
    return None


def constant_for(plan: Plan, name: str) -> Constant:
    """The constant called `name`, calibrated by the plan where it says so. KeyError for an unknown name."""
    found = calibration_of(plan, name) if plan.calibrations else None
    base = constant(name)
    if found is None:
        return base
    return _calibrated(base, found.value, found.low, found.high, found.source)


@lru_cache(maxsize=512)
def term_of(found: Constant) -> Term:
    """A constant as a step of a derivation."""
    return Term(
        found.meaning or found.name,
        found.value,
        found.unit,
        f"{found.evidence}: {found.source} [{found.name}]",
    )
