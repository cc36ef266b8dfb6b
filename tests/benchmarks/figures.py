"""One timed figure, and how figures are shown: beside their baseline and their limit."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured figure; `at_most` is the limit it has to keep, `baseline` what was measured beside it."""

    name: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    baseline: str = ""
    """Name of what it is compared with."""
    baseline_value: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the limits are kept."""
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )


def show(figures: Iterable[Figure]) -> bool:
    """Print figures as a table; whether all limits were kept."""
    rows = [("figure", "measured", "limit", "baseline", "")]
    kept = True
    for figure in figures:
        limit = ""
        if figure.at_most is not None:
            limit = f"≤ {figure.at_most:,.4g} {figure.unit}"
        if figure.at_least is not None:
            limit = f"≥ {figure.at_least:,.4g} {figure.unit}"
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
