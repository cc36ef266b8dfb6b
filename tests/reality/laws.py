"""How well the laws of overloaded loads predict runs that none of their constants has seen.

    PYTHONPATH=app:tests .venv/bin/python -m reality.laws           # some minutes

To judge a new law by: constants are drawn together from their ranges, time and again, and every run is
simulated with each draw. A run is predicted by all draws, each with the weight that the other runs give it.
`unfitted` gives all the same weight: what the laws say before any run is looked at.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import mean, median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ndbplan.ndb.constants import constant, era_of
from ndbplan.ndb.version import NdbVersion
from reality.calibrated import constant_as
from reality.fits import fits
from reality.load_runs import runs
from reality.measured_load import outcomes_of

DRAWS, RUNS = 30, 16
_LEAST_SPREAD = 0.06
"""Of the logarithm of a rate: phases of repeated runs differ by no less."""
_ROUNDED = 0.005
"""Ends of a range are meant with what one digit of a measurement says."""
_NEVER = 1e-3
"""Density of what no simulated run comes near: one phase does not rule a draw out."""

Floats = NDArray[np.float64]


class Predicted(NamedTuple):
    """The phases of one version, by draw of the constants."""

    runs: tuple[str, ...]
    """Of each phase; repeats of a run have its name."""
    likelihood: Floats
    """Logarithm, by draw and phase, of the density of what was measured."""
    error: Floats
    """Logarithm of every answer over the measurement, by draw, phase and run."""


class LeftOut(NamedTuple):
    """How far off phases of runs are that were left out, and how likely what was measured was."""

    errors: tuple[float, ...]
    score: float
    """Mean logarithm of the density: larger is better."""
    inside: tuple[bool, ...]
    """Whether each phase lies between p10 and p90 of the answers."""


def likelihood(rates: Sequence[float], measured: float) -> float:
    """Logarithm of the density of a measured rate among simulated ones, of their logarithms."""
    logs = np.log(np.maximum(1.0, rates))
    wide = max(_LEAST_SPREAD, float(logs.std()) * len(logs) ** -0.2)
    z = (logs - math.log(measured)) / wide
    return math.log(float(np.exp(-z * z / 2).mean()) / wide / math.sqrt(2 * math.pi) + _NEVER)


def left_out(found: Predicted, *, fitted: bool = True) -> LeftOut:
    """Each phase from the draws, weighted by the phases of all other runs; not `fitted`: all alike."""
    errors, scores, inside = [], [], []
    for at, run in enumerate(found.runs):
        others = [i for i, other in enumerate(found.runs) if other != run]
        logs = found.likelihood[:, others].sum(axis=1) if fitted else np.zeros(len(found.error))
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        middle, *ends = _quantiles(found.error[:, at], weights)
        errors.append(abs(math.expm1(middle)))
        inside.append(ends[0] - _ROUNDED <= 0.0 <= ends[1] + _ROUNDED)
        scores.append(math.log(float(weights @ np.exp(found.likelihood[:, at]))))
    return LeftOut(tuple(errors), mean(scores), tuple(inside))


def _quantiles(answers: Floats, weights: Floats) -> list[float]:
    """p50, p10 and p90 of the answers of all draws, each with the weight of its draw."""
    flat, heavy = answers.ravel(), np.repeat(weights, answers.shape[1])
    order = np.argsort(flat)
    upto = np.cumsum(heavy[order]) / heavy.sum()
    return [float(flat[order[min(len(flat) - 1, int(np.searchsorted(upto, at)))]]) for at in (0.5, 0.1, 0.9)]


def predicted(version: str, draws: int = DRAWS) -> Predicted:
    """Every overloaded phase of a version; the first draw has the constants as they are."""
    era = era_of(NdbVersion.parse(version))
    names = sorted({one.name for one in fits() if one.quantity == "rows, overloaded"})
    random = np.random.default_rng(5)
    likely, errors, of = [], [], ()
    for number in range(draws):
        shares, chosen = random.random(len(names)), random.random(len(names)) < 0.5
        with ExitStack() as tried:
            for name, share, is_chosen in zip(names, shares, chosen, strict=True):
                known = constant(name, era)
                if number and is_chosen and known.high > known.low:
                    value = known.low + float(share) * (known.high - known.low)
                    tried.enter_context(constant_as(known, value))
            seen = [
                (run.name.rstrip("b"), one.phase.accepted_rows_s, [x.accepted_rows_s for x in one.drawn])
                for run in runs()
                if run.era == version
                for one in outcomes_of.__wrapped__(run, RUNS)
                if one.phase.first is not None
            ]
        of = tuple(name for name, _, _ in seen)
        likely.append([likelihood(rates, measured) for _, measured, rates in seen])
        errors.append([np.log(np.array(rates) / measured) for _, measured, rates in seen])
    return Predicted(of, np.array(likely), np.array(errors))


def main() -> None:
    """Prints a line for each version, with constants fitted to the other runs and not."""
    for version in ("7.4.10", "8.4.8"):
        found = predicted(version)
        for kind in ("left out", "unfitted"):
            one = left_out(found, fitted=kind == "left out")
            near = sum(error <= 0.1 for error in one.errors)
            print(
                f"{version:7} {kind:9} mean {mean(one.errors):6.1%} median {median(one.errors):6.1%}"
                f" within a tenth {near}/{len(one.errors)}, {sum(one.inside)} inside p10 to p90,"
                f" log score {one.score:+.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
