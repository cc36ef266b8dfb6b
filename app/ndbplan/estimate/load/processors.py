"""How much work a core does, against the cores of 2008 on which costs were measured."""

from __future__ import annotations

from ndbplan.base.memo import memo_by_identity
from ndbplan.base.quantity import Quantity, Term
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan

_LEAST, _MOST = 0.85, 1.25
"""What cores of one kind and clock do, against the plan's figure."""


@memo_by_identity(size=1024)
def core_speed(plan: Plan, host: Host) -> Quantity:
    """Work of one core of the host as a multiple of a core of 2.33 GHz of 2008.

    By its clock and by what it does for each clock: as the plan says of the host, else as current cores do,
    which is fitted from two reorganisations that were measured, one on each kind of machine.
    """
    reference = constant_for(plan, "core_reference_ghz")
    clock = host.clock_ghz / reference.value
    stated = Term(f"clock of {host.hostname}", host.clock_ghz, "GHz", "plan")
    if host.core_gain_per_clock is not None:
        whole = clock * host.core_gain_per_clock
        own = Term(f"work per clock of {host.hostname}", host.core_gain_per_clock, "factor", "plan")
        return Quantity(whole, _LEAST * whole, _MOST * whole, "factor", (stated, term_of(reference), own))
    gain = constant_for(plan, "core_gain_per_clock")
    why = (stated, term_of(reference), term_of(gain))
    return Quantity(clock * gain.value, clock * gain.low, clock * gain.high, "factor", why)
