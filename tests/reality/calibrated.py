"""Constants of the engine with other values for a while, in every plan of a measured run.

with constant_as(constant("lcp_stage_s"), 0.6):
    rows = measured_times()
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from ndbplan.ndb.constants import Constant
from ndbplan.plan.plan import Calibration, Plan

_now: ContextVar[tuple[Calibration, ...]] = ContextVar("_now", default=())


@contextmanager
def constant_as(known: Constant, value: float) -> Iterator[None]:
    """Plans that `with_constants` sees have this value meanwhile, its range as wide as it was.

    So what is drawn is drawn alike, and what differs comes from the value.
    """
    low, high = (value * end / known.value if known.value else value for end in (known.low, known.high))
    tried = Calibration(constant=known.name, value=value, low=low, high=high, source="tried")
    token = _now.set((*_now.get(), tried))
    try:
        yield
    finally:
        _now.reset(token)


def with_constants(plan: Plan) -> Plan:
    """The plan with the constants that are tried; itself while none are."""
    return plan.replace(calibrations=_now.get()) if _now.get() else plan
