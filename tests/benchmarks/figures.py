"""One timed figure, and how figures are shown: beside their baseline and their limit.

A limit is a ratio to something plain that was timed in the same run, so that it holds on any machine; the
figure itself stands beside it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured figure, the limit it has to keep, and the `baseline` that was measured beside it."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    baseline: str = ""
    """Name of what it is compared with."""
    baseline_value: float | None = None
    most_times: float | None = None
    """At most so many times the baseline."""
    least_times: float | None = None
    """At least so many times the baseline."""

    @property
    def highest(self) -> float | None:
        """What it may be at most."""
        return self.at_most if self.most_times is None else self.most_times * (self.baseline_value or 0.0)

    @property
    def lowest(self) -> float | None:
        """What it has to be at least."""
        return self.at_least if self.least_times is None else self.least_times * (self.baseline_value or 0.0)

    @property
    def kept(self) -> bool:
        """Whether the limits are kept."""
        return (self.highest is None or self.value <= self.highest) and (
            self.lowest is None or self.value >= self.lowest
        )


def show(figures: Iterable[Figure]) -> bool:
    """Print figures as a table; whether all limits were kept."""
    rows = [("figure", "measured", "limit", "baseline", "")]
    kept = True
    for figure in figures:
        limit = ""
        for sign, bound, times in (
            ("≤", figure.highest, figure.most_times),
            ("≥", figure.lowest, figure.least_times),
        ):
            if bound is not None:
                limit = f"{sign} {bound:,.4g} {figure.unit}" + (f" ({times:g} ×)" if times else "")
        baseline = figure.baseline
        if figure.baseline_value is not None:
            baseline += f": {figure.baseline_value:,.4g} {figure.unit}"
            if figure.baseline_value > 0:
                baseline += f" ({figure.value / figure.baseline_value:.2f} ×)"
        kept = kept and figure.kept
        verdict = "" if limit == "" else "kept" if figure.kept else "MISSED"
        rows.append((figure.name, f"{figure.value:,.4g} {figure.unit}", limit, baseline, verdict))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    return kept


def median_ms(work: Callable[[], object], rounds: int = 15) -> float:
    """Median milliseconds of a call, the first one not counted."""
    work()
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)
