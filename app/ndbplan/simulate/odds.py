"""How many of many runs had an error, when it came, and which came first.

error_odds(moments)[0].comes_first      # share of the runs whose first error the earliest one was
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndbplan.base.quantity import Quantity, Term
from ndbplan.base.shapes import Shape
from ndbplan.simulate.world.indices import ERROR_CODES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SOURCE = "simulated runs with constants drawn from their ranges"


@dataclass(frozen=True)
class ErrorOdds(Shape):
    """How likely an error is, and when it comes if it does."""

    JSON = "code probability comes_first first_at_s"

    code: int
    probability: float
    """Share of the runs that had it."""
    comes_first: float
    """Share of the runs whose first error it was; runs where several came at once count for each in part."""
    first_at_s: Quantity


def spread(values: list[float], unit: str, runs: int) -> Quantity:
    """Median with the tenth and the ninetieth percentile as its range."""
    import numpy as np

    low, middle, high = (float(v) for v in np.percentile(values, (10, 50, 90)))
    return Quantity(middle, low, high, unit, (Term("runs", runs, "count", SOURCE),))


def error_odds(moments: Floats) -> tuple[ErrorOdds, ...]:
    """Of each error that came in a run, the earliest one first.

    `moments`: of each run and error of `ERROR_CODES`, infinite where it did not come.
    """
    import numpy as np

    count, found = len(moments), []
    came = np.isfinite(moments)
    is_first = (moments == moments.min(axis=1, keepdims=True)) & came
    first = is_first / np.maximum(1, is_first.sum(axis=1, keepdims=True))
    for i in np.flatnonzero(came.any(axis=0)).tolist():
        at_s = moments[came[:, i], i].tolist()
        odds = ErrorOdds(
            ERROR_CODES[i], len(at_s) / count, float(first[:, i].mean()), spread(at_s, "s", count)
        )
        found.append(odds)
    return tuple(sorted(found, key=lambda one: one.first_at_s.value))
