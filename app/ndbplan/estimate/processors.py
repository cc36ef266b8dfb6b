"""How much work a core does, against the cores of 2008 on which costs were measured."""

from __future__ import annotations

from ndbplan.base.memo import memo_by_identity
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.quantity import Quantity, Term
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan

CURRENT_CORES_SINCE = (7, 2)
"""A plan for an older version describes a machine of its time."""


@memo_by_identity(size=1024)
def core_speed(plan: Plan, host: Host) -> Quantity:
    """Work of one core of the host as a multiple of a core of 2.33 GHz of 2008.

    By its clock, and for plans of 7.2 and later by what current cores do more for each clock. Fitted from two
    reorganisations that were measured, one on each kind of machine.
    """
    reference = constant_for(plan, "core_reference_ghz")
    clock = host.clock_ghz / reference.value
    stated = Term(f"clock of {host.hostname}", host.clock_ghz, "GHz", "plan")
    if plan.version < CURRENT_CORES_SINCE:
        why = (
            stated,
            term_of(reference),
            Term("processor of the version's time", 1.0, "factor", "assumption"),
        )
        return Quantity(clock, 0.85 * clock, 1.25 * clock, "factor", why)
    gain = constant_for(plan, "core_gain_per_clock")
    why = (stated, term_of(reference), term_of(gain))
    return Quantity(clock * gain.value, clock * gain.low, clock * gain.high, "factor", why)
