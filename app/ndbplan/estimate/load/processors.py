"""How much work a core does, against the cores of 2008 on which costs were measured."""

from __future__ import annotations

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.constants import Constants
from ndbplan.plan.hardware import Host


@kept_by_identity(size=1024)
def core_speed(host: Host, constants: Constants) -> Quantity:
    """Work of one core of the host as a multiple of a core of 2.33 GHz of 2008.

    By its clock and by what it does for each clock: as the plan says of the host, else as current cores do,
    which is fitted from two reorganisations that were measured, one on each kind of machine.
    """
    own = Quantity.stated(f"clock of {host.hostname}", host.clock_ghz, "GHz")
    clock = own / constants["core_reference_ghz"]
    if host.core_gain_per_clock is None:
        return clock * constants["core_gain_per_clock"]
    gain = Quantity.stated(f"work per clock of {host.hostname}", host.core_gain_per_clock, "factor")
    return clock * gain * constants["core_gain_stated"]
