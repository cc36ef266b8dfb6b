"""The engine's constants as a plan sees them: its calibrations replace what was measured elsewhere.

constants = constants_of(plan)
log * constants["redo_page_overhead"] * constants["device_write_factor"]     # range and derivation follow
"""

from __future__ import annotations

import math
from operator import mul
from typing import TYPE_CHECKING, Final

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.base.quantity import Quantity, Term
from ndbplan.ndb.constants import Constant, all_constants, constant, era_of
from ndbplan.plan.plan import Calibration, Plan

if TYPE_CHECKING:
    from numpy.random import Generator

DEFAULT_CALIBRATION_FACTOR = 1.1
"""A calibration that states no range is taken as right within 10 %."""
_DRAWN = "drawn from its range"


@kept_by_value(512)
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


def constant_for(plan: Plan, name: str) -> Constant:
    """The constant called `name`, calibrated by the plan where it says so. KeyError for an unknown name."""
    return _of(plan.calibrations, name, era_of(plan.version))


def _of(calibrations: tuple[Calibration, ...], name: str, era: str) -> Constant:
    base = constant(name, era)
    for calibration in reversed(calibrations):
        if calibration.constant == name:
            return _calibrated(base, calibration.value, calibration.low, calibration.high, calibration.source)
    return base


def known_together(calibrations: tuple[Calibration, ...]) -> dict[str, Calibration]:
    """Those that count, by constant, of which a measurement told how they are known together."""
    last = {one.constant: one for one in calibrations}
    return {name: one for name, one in last.items() if one.shared}


@kept_by_value(512)
def term_of(known: Constant) -> Term:
    """A constant as a step of a derivation."""
    return Term(
        known.meaning or known.name,
        known.value,
        known.unit,
        f"{known.evidence}: {known.source} [{known.name}]",
    )


def quantity_of(known: Constant) -> Quantity:
    """A constant with its range, derived from where it comes from."""
    return Quantity(known.value, known.low, known.high, known.unit, (term_of(known),))


class Constants:
    """Every constant by its name, as a quantity whose derivation is the constant with its source."""

    def __init__(self, calibrations: tuple[Calibration, ...] = (), era: str = "") -> None:
        self.calibrations: Final = calibrations
        """What replaces values of the data file, the last of a name."""
        self.era: Final = era
        """Since which version they are so."""
        self._known: dict[str, Quantity] = {}

    def __getitem__(self, name: str) -> Quantity:
        """The constant called `name`. KeyError for an unknown name."""
        known = self._known.get(name)
        if known is None:
            known = quantity_of(self.constant(name))
            self._known[name] = known
        return known

    def constant(self, name: str) -> Constant:
        """The same with its evidence and meaning."""
        return _of(self.calibrations, name, self.era)

    def drawn(self, random: Generator) -> Constants:
        """Every constant drawn, in its range four times of five; what is certain stays.

        One world of a Monte-Carlo: `Estimation(plan, workload, constants=constants.drawn(random))`.
        """
        drawn, together = [], known_together(self.calibrations)
        unknown: dict[str, list[float]] = {}
        for name in all_constants():
            one = self[name]
            if one.low < one.high:
                value = one.at(float(random.normal()))
                if name in together:
                    shared, source = together[name].shared, together[name].source
                    drawn_of = unknown.setdefault(source, [])
                    drawn_of += random.normal(size=max(0, len(shared) - len(drawn_of))).tolist()
                    value = one.value * math.exp(sum(map(mul, shared, drawn_of)))
                drawn.append(Calibration(constant=name, value=value, low=value, high=value, source=_DRAWN))
        return Constants((*self.calibrations, *drawn), self.era)

    def is_calibrated(self, name: str) -> bool:
        """Whether the plan measured this one itself."""
        return any(one.constant == name for one in self.calibrations)


@kept_by_identity(48)
def _constants(calibrations: tuple[Calibration, ...], era: str) -> Constants:
    return Constants(calibrations, era)


def constants_of(plan: Plan) -> Constants:
    """The constants as the plan's calibrations leave them."""
    return _constants(plan.calibrations, era_of(plan.version))
