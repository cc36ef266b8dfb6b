"""Constants moved to what was measured: all of them at once, each as far as little was known of it before.

    plan, moved = updated(plan, RESTART, phases_of, [Observed("restore_s", 6.0, 0.3)], source="restart_info")

A least-squares update on the scale of factors. Before, a constant lies in its range (p10 to p90), each by
itself, as `Constants.drawn` draws them: what a measurement does not depend on it leaves as it was. What comes
out are values with narrower ranges, and how they are known together: a time that one of them does not explain
another does (`Calibration.shared`). What no constant can explain is named and not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_value
from ndbplan.estimate.constants import constant_for
from ndbplan.importing.measurements import MeasurementError
from ndbplan.plan.plan import Calibration, Plan

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

P90: Final = 1.2816
"""Standard deviations from the middle to an end of a range."""
_REPEATED = 0.03
"""Relative standard deviation of the same operation done again: no range gets narrower."""
_STEP = 0.02
_ROUNDS = 12
_MOST_STEP = 1.5
_LEAST_CHANGE = 0.01
_FASTEST = 1e-4
_MOST_DEVIATIONS = 3
"""Waits are not shorter than so many standard deviations below what they are."""
_FARTHEST, _FAR = 6.0, 1.5
"""A measurement contradicts the plan when constants must be so many standard deviations off to explain it,
and it lies so many times beyond the range of the estimate: not all that is uncertain is a constant."""
_ALONE = 1.05
"""One duration that stays so many times off its measurement is explained by no constant: of several, such as
phases of a start, one may be off."""
_CONTRADICTS = 3.0
"""Two measurements contradict each other so many standard deviations apart: one of 370 does by chance."""
_OF_THE_MODEL = 0.08
"""By how much, as a logarithm, starts that were left out differ from what the others say: median of the
recorded ones (tests/reality)."""
_LEAST_UNKNOWN = 1e-3
"""Of the logarithm: an unknown that moves everything by less is none."""
_ROOM = 0.85
"""Share of the least possible time below which a measurement contradicts the plan."""


class Knob(NamedTuple):
    """Constants that are moved by one factor of time."""

    durations: tuple[str, ...] = ()
    """Grow with it."""
    rates: tuple[str, ...] = ()
    """Fall as it grows."""
    by_processor: bool = False
    """A machine may do it much faster than any that was measured."""
    least: float = 0.0
    """Of the first constant: what it never falls below, as less would change nothing."""

    @property
    def first(self) -> str:
        """The constant whose range says how far it may be off."""
        return (*self.durations, *self.rates)[0]


class Observed(NamedTuple):
    """One measured duration."""

    name: str
    """What took so long."""
    seconds: float
    uncertain_s: float
    """Standard deviation: of what was counted in whole seconds 0.3."""
    differs: float = _OF_THE_MODEL
    """Standard deviation, as a logarithm, of the same operation of other rows against what this one says."""


Predict = Callable[[Plan], Sequence[Quantity]]
"""Each observed duration by a plan."""


@keeping()
def updated(
    plan: Plan, knobs: Sequence[Knob], predict: Predict, observed: Sequence[Observed], source: str
) -> Plan:
    """The plan with the constants of the knobs as the measurements leave them.

    What was measured under the same source before is replaced. Raises MeasurementError for a duration below
    what disks, links and protocols alone take, for one that no likely constants explain, and for one that
    what was measured under other sources rules out.
    """
    import numpy as np

    plan = plan.replace(calibrations=tuple(c for c in plan.calibrations if c.source != source))
    _refuse_the_impossible(plan, knobs, predict, observed)
    before = _covariance(plan, knobs)
    seconds = np.array([one.seconds for one in observed])
    noise = np.hypot(_REPEATED / 2, np.array([one.uncertain_s for one in observed]) / seconds)
    differs = np.array([one.differs for one in observed])
    weight, wanted = np.diag(noise**-2), np.log(seconds)

    def logs(theta: Array) -> Array:
        found = [one.value for one in predict(_moved(plan, knobs, theta.tolist()))]
        logarithms: Array = np.log(np.maximum(1e-9, np.array(found)))
        return logarithms

    def slopes(theta: Array, at: Array) -> Array:
        return np.stack([(logs(theta + _STEP * unit) - at) / _STEP for unit in np.eye(len(knobs))], axis=1)

    least = np.array([_least_log(plan, knob) for knob in knobs])
    theta = np.zeros(len(knobs))
    if plan.calibrations:
        at = logs(theta)
        slope = slopes(theta, at)
        spread = np.sqrt(np.diag(slope @ before @ slope.T) + noise**2 + differs**2)
        _refuse_the_contradicting(
            plan, knobs, predict(plan), observed, ((wanted - at) / spread).tolist(), slope
        )
    known, slope = np.linalg.inv(before), np.zeros((len(observed), len(knobs)))
    for _ in range(_ROUNDS):
        at = logs(theta)
        slope = slopes(theta, at)
        steep = slope.T @ weight
        goal = _lowest(known + steep @ slope, steep @ (wanted - at + slope @ theta), least)
        step = np.clip(goal - theta, -_MOST_STEP, _MOST_STEP)
        theta = theta + step
        if float(np.abs(step).max()) < 1e-6:
            break
    if math.sqrt(float(theta @ known @ theta)) > _FARTHEST:
        _refuse_the_unlikely(plan, knobs, predict(plan), observed, theta.tolist())
    _refuse_what_stays(predict(plan), np.exp(logs(theta)).tolist(), observed)
    # The values explain what was measured; how well they are known is what they say of another operation.
    certain = np.diag(1.0 / (noise**2 + differs**2))
    after = np.linalg.inv(known + slope.T @ certain @ slope)
    widths = np.maximum(_REPEATED, np.sqrt(np.diag(after))), np.sqrt(np.diag(before))
    # What moves none of the durations is told of by its likeness to what does, not together with it.
    rows = [
        row if moves else ()
        for row, moves in zip(_rows(after), np.abs(slope).max(axis=0) > 1e-9, strict=True)
    ]
    learned = zip(theta.tolist(), widths[0].tolist(), widths[1].tolist(), rows, strict=True)
    return _calibrated(plan, knobs, [_Learned(*one) for one in learned], source)


def _least_log(plan: Plan, knob: Knob) -> float:
    """How far a knob may be turned down, as a logarithm: below 0, or 0 where it stands at its least."""
    value = constant_for(plan, knob.first).value
    return min(0.0, math.log(knob.least / value)) if knob.least > 0 else -math.inf


def _lowest(curve: Array, slope: Array, least: Array) -> Array:
    """Where half of x' curve x less slope' x is lowest while no x lies below its least."""
    import numpy as np

    held = np.zeros(len(slope), dtype=bool)
    while True:
        free, at = ~held, np.where(held, least, 0.0)
        at[free] = np.linalg.solve(curve[np.ix_(free, free)], (slope - curve @ at)[free])
        below = at < least
        if not below.any():
            return at
        held |= below


def deviation(plan: Plan, constant: str) -> float:
    """Standard deviation of the logarithm of a constant, by its range."""
    known = constant_for(plan, constant)
    if known.low <= 0 or known.high <= known.low:
        return 1e-6 if known.high <= known.low else 1.0
    return math.log(known.high / known.low) / (2 * P90)


def _covariance(plan: Plan, knobs: Sequence[Knob]) -> Array:
    """What is known of knobs: those of one measurement together, as it left them; the others by ranges."""
    import numpy as np

    widths = np.array([deviation(plan, knob.first) for knob in knobs])
    covariance: Array = np.diag(widths**2)
    known = {one.constant: one for one in plan.calibrations if one.shared}
    for i, knob in enumerate(knobs):
        one = known.get(knob.first)
        if one is None:
            continue
        for j, other in enumerate(knobs):
            with_it = known.get(other.first)
            if i != j and with_it is not None and with_it.source == one.source:
                sign = 1.0 if bool(knob.durations) == bool(other.durations) else -1.0
                covariance[i, j] = covariance[j, i] = sign * float(np.dot(one.shared, with_it.shared))
    return covariance


def _rows(covariance: Array) -> list[tuple[float, ...]]:
    """A factor of a covariance: how each moves with independent unknowns of one standard deviation."""
    import numpy as np

    squares, directions = np.linalg.eigh(covariance)
    large = squares > _LEAST_UNKNOWN**2
    factor = directions[:, large] * np.sqrt(squares[large])
    return [tuple(round(float(one), 6) for one in row) for row in factor]


class _Learned(NamedTuple):
    """What a measurement says of a knob: logarithm of its factor, deviations now and before, its row."""

    log: float
    now: float
    was: float
    row: tuple[float, ...]


_Known = tuple[float, float, float, tuple[float, ...]]
"""Value, ends of its range, and how it is known together with others."""


def _with(plan: Plan, values: dict[str, _Known], source: str) -> Plan:
    kept = tuple(c for c in plan.calibrations if c.constant not in values)
    new = tuple(
        Calibration(constant=name, value=value, low=low, high=high, source=source, shared=shared)
        for name, (value, low, high, shared) in values.items()
    )
    return plan.replace(calibrations=(*kept, *new))


def _moved(plan: Plan, knobs: Sequence[Knob], theta: Sequence[float]) -> Plan:
    """The plan with moved constants, to ask it for values: nothing is known together."""
    values: dict[str, _Known] = {}
    for knob, log in zip(knobs, theta, strict=True):
        for names, factor in ((knob.durations, math.exp(log)), (knob.rates, math.exp(-log))):
            for name in names:
                value = constant_for(plan, name).value * factor
                values[name] = (value, value, value, ())
    alone = tuple(one.model_copy(update={"shared": ()}) if one.shared else one for one in plan.calibrations)
    return _with(plan.replace(calibrations=alone), values, "update")


def _calibrated(plan: Plan, knobs: Sequence[Knob], learned: Sequence[_Learned], source: str) -> Plan:
    """The plan with what has become better known."""
    values: dict[str, _Known] = {}
    for knob, one in zip(knobs, learned, strict=True):
        if abs(one.log) < _LEAST_CHANGE and one.now > (1 - _LEAST_CHANGE) * one.was:
            continue
        for names, sign in ((knob.durations, 1.0), (knob.rates, -1.0)):
            for name in names:
                # Constants of a knob may be known unequally well: each gets better known by as much.
                own = min(1.0, deviation(plan, name) / one.was)
                room = math.exp(P90 * max(_REPEATED, one.now * own))
                value = constant_for(plan, name).value * math.exp(sign * one.log)
                row = tuple(sign * own * part for part in one.row)
                least = knob.least if name == knob.first else 0.0
                values[name] = (value, max(least, value / room), value * room, row)
    return _with(plan, values, source)


def _refuse_the_contradicting(
    plan: Plan,
    knobs: Sequence[Knob],
    expected: Sequence[Quantity],
    observed: Sequence[Observed],
    off: Sequence[float],
    slope: Array,
) -> None:
    """Raises MeasurementError for a duration that what was measured before rules out.

    `off`: how many standard deviations it is off; `slope`: how much each knob moves it.
    """
    measured = {calibration.constant: calibration.source for calibration in plan.calibrations}
    for one, range_, deviations, steep in zip(observed, expected, off, slope, strict=True):
        asked = (
            name
            for knob, moves in zip(knobs, steep, strict=True)
            if abs(moves) > _LEAST_CHANGE
            for name in (*knob.durations, *knob.rates)
        )
        sources = sorted({measured[name] for name in asked if name in measured})
        if sources and abs(deviations) > _CONTRADICTS:
            raise MeasurementError(
                f"{one.name}: {format_value(one.seconds, 's')} contradicts what was measured before "
                f"({', '.join(sources)}), by which it takes {range_}",
                fix="see which of them is right and take out the calibrations of the other; under the same "
                "source the later measurement replaces the earlier one",
            )


def _refuse_the_unlikely(
    plan: Plan,
    knobs: Sequence[Knob],
    expected: Sequence[Quantity],
    observed: Sequence[Observed],
    theta: Sequence[float],
) -> None:
    """Raises MeasurementError for a duration far beyond its range that only unlikely constants explain."""
    off = [log / deviation(plan, knob.first) for knob, log in zip(knobs, theta, strict=True)]
    at = max(range(len(off)), key=lambda i: abs(off[i]))
    name = knobs[at].first
    known = constant_for(plan, name)
    called = f"'{known.meaning}' ({name})" if known.meaning else name
    needed = known.value * math.exp(theta[at] if knobs[at].durations else -theta[at])
    for one, range_ in zip(observed, expected, strict=True):
        if not range_.low / _FAR <= one.seconds <= range_.high * _FAR:
            raise MeasurementError(
                f"{one.name}: {format_value(one.seconds, 's')} contradicts the plan, by which it takes "
                f"{range_}: {called} alone would have to be {format_value(needed, known.unit)} instead of "
                f"{format_value(known.value, known.unit)}, others too",
                fix="see that rows, tables, hardware and load of the plan are those that were measured, and "
                "that nothing else kept it waiting; calibrations of other machines are removed first",
            )


def _refuse_what_stays(
    expected: Sequence[Quantity], found: Sequence[float], observed: Sequence[Observed]
) -> None:
    """Raises MeasurementError for a duration that no constant brings near: far beyond its range, or alone."""
    alone = len(observed) == 1
    for one, range_, seconds in zip(observed, expected, found, strict=True):
        off = (
            max(one.seconds - 2 * one.uncertain_s, 0.0) / seconds,
            seconds / (one.seconds + 2 * one.uncertain_s),
        )
        is_far = not range_.low / _FAR <= one.seconds <= range_.high * _FAR
        if (max(off) > _FAR and is_far) or (alone and max(off) > _ALONE):
            raise MeasurementError(
                f"{one.name}: {format_value(one.seconds, 's')} contradicts the plan, by which it takes "
                f"{range_}, and {format_value(seconds, 's')} with what was measured: no constant explains it",
                fix="see that rows, tables, hardware and load of the plan are those that were measured",
            )


def _refuse_the_impossible(
    plan: Plan, knobs: Sequence[Knob], predict: Predict, observed: Sequence[Observed]
) -> None:
    """Raises MeasurementError for a duration that disks, links and what is not a knob do not allow."""
    logs = [
        math.log(_FASTEST)
        if knob.by_processor
        else max(_least_log(plan, knob), -_MOST_DEVIATIONS * deviation(plan, knob.first))
        for knob in knobs
    ]
    fastest = predict(_moved(plan, knobs, logs))
    room = 1 / _ALONE if len(observed) == 1 else _ROOM
    for one, least in zip(observed, (found.value for found in fastest), strict=True):
        if one.seconds + 2 * one.uncertain_s < room * least:
            raise MeasurementError(
                f"{one.name}: {format_value(one.seconds, 's')} contradicts the plan, by which waits, disks "
                f"and links alone take {format_value(least, 's')}",
                fix="give the tables the rows and the disks the speeds they had when it was measured",
            )
