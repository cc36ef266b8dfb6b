"""What many runs accept at each steady rate of a load that goes in steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.base.quantity import Quantity, product_of_independent
from ndbplan.base.shapes import Shape
from ndbplan.plan.workloads import OpenLoad, Workload
from ndbplan.simulate.odds import ErrorOdds, error_odds, spread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_RATES = 100
"""A schedule of more is not a handful of steady rates."""
_ALL = 1.0 - 1e-3
"""Share from which on it is all: transactions under way at its ends belong to another step."""


@dataclass(frozen=True)
class SteadyRate(Shape):
    """A rate that is offered for some time, and what is accepted of it."""

    JSON = "from_s to_s offered_per_s accepted_per_s errors"

    from_s: float
    to_s: float
    offered_per_s: float
    accepted_per_s: Quantity
    """Mean over that time: median of the runs, with their tenth and ninetieth percentile."""
    errors: tuple[ErrorOdds, ...]
    """Moments are counted from `from_s`; an error that goes on from before comes at once."""


def taken_of(values: list[float], offered_per_s: float, law: Quantity) -> Quantity:
    """What runs take of an offer: less certain where it is not all of it, as laws of overload are off too.

    `law`: by how much they are, where all that is drawn is known; all of an offer stays all of it.
    """
    found = spread(values, "tx/s", len(values))
    if found.low >= offered_per_s * _ALL:
        return found
    wide = product_of_independent(found, law)
    return found.between(wide.low, max(found.high, min(wide.high, offered_per_s)))


def steady_rates(
    workload: Workload, bucket_s: float, accepted: Floats, refused: NDArray[np.bool_], law: Quantity
) -> tuple[SteadyRate, ...]:
    """One for each step of an open load that lasts at least one moment of the records.

    `accepted`: transactions a second, by run and moment; `refused`: whether an error came, by run, moment and
    error; `law`: see `taken_of`. None for loads that change all the time.
    """
    import numpy as np

    load = workload.load
    if not isinstance(load, OpenLoad) or load.shape != "step" or load.repeat_s > 0:
        return ()
    end_s = accepted.shape[1] * bucket_s
    points = sorted((point for point in load.points if point.at_s < end_s), key=lambda point: point.at_s)
    if len(points) > MOST_RATES:
        return ()
    rates = []
    for at, point in enumerate(points):
        # Before its first point a load is as there.
        from_s = point.at_s if at else 0.0
        to_s = points[at + 1].at_s if at + 1 < len(points) else end_s
        first, last = round(from_s / bucket_s), round(to_s / bucket_s)
        if last > first:
            means = accepted[:, first:last].mean(axis=1, dtype=float).tolist()
            taken = taken_of(means, point.rate_per_s, law)
            own = refused[:, first:last]
            moments = np.where(own.any(axis=1), own.argmax(axis=1) * bucket_s, np.inf)
            rates.append(SteadyRate(from_s, to_s, point.rate_per_s, taken, error_odds(moments)))
    return tuple(rates)
