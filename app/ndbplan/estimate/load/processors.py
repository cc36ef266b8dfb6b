"""How much work a core does, against the cores on which costs and times were measured."""

from __future__ import annotations

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity, product_of_independent
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


def against_timed(host: Host, constants: Constants) -> Quantity:
    """Work of a core of the host as a multiple of one of the machines that starts and backups were timed on.

    One object for all hosts with the same cores. Only those machines were measured: the range grows with the
    distance from them, as far as memory and caches decide instead of the clock.
    """
    return _against_timed(host.clock_ghz, host.core_gain_per_clock, constants)


@kept_by_identity(size=256)
def _against_timed(clock_ghz: float, gain: float | None, constants: Constants) -> Quantity:
    ratio = Quantity.stated("clock of a core", clock_ghz, "GHz") / constants["timed_core_ghz"]
    if gain is not None:
        # Constants of old versions were fitted with it as it is: its range is in theirs.
        current = Quantity.stated(
            "work per clock of a current core", constants["core_gain_per_clock"].value, "factor"
        )
        ratio = (
            ratio
            * Quantity.stated("work per clock", gain, "factor")
            * constants["core_gain_stated"]
            / current
        )
    power = constants["core_speed_exponent"]
    ends = [base**exponent for base in (ratio.low, ratio.high) for exponent in (power.low, power.high)]
    why = (*ratio.why, *power.why)
    return Quantity.spanning(ratio.value**power.value, ends, "factor", why)


def on_core(rate: Quantity, core: Quantity) -> Quantity:
    """What a thread does in a second on a core of so much work (`against_timed`)."""
    if core.low == core.high == 1.0:
        return rate
    term = core.as_term("work of a core against those that were timed")
    return product_of_independent(rate, core).in_unit(rate.unit).because(*rate.why, term)
