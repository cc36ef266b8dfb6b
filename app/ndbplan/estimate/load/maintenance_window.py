"""The best time of day for a change: when the workload's schedule asks least of the cluster.

best_window(plan.workloads[0], duration_s=1200).start_s

Source: arithmetic on the plan's own schedule, nothing of the product.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from ndbplan.base.shapes import Shape
from ndbplan.plan.workloads import OpenLoad, Workload

_PLACES = 288
"""Starts that are tried beside the points of the schedule: every five minutes of a day."""


@dataclass(frozen=True, slots=True)
class Window(Shape):
    """A stretch of the workload's schedule."""

    JSON = "start_s duration_s highest_per_s mean_per_s peak_per_s"

    start_s: float
    """From the start of the schedule."""
    duration_s: float
    highest_per_s: float
    """Highest rate offered meanwhile."""
    mean_per_s: float
    peak_per_s: float
    """Highest rate of the whole schedule."""

    @property
    def quiet(self) -> float:
        """Highest rate in the window as a share of the peak; 0 when nothing is offered at all."""
        return self.highest_per_s / self.peak_per_s if self.peak_per_s else 0.0


class _Curve:
    """The offered rate over time: steps or lines between points, repeated when the schedule says so."""

    def __init__(self, load: OpenLoad) -> None:
        points = sorted(load.points, key=lambda p: p.at_s)
        self.times = [p.at_s for p in points]
        self.rates = [p.rate_per_s for p in points]
        self.linear = load.shape == "linear"
        self.repeat_s = load.repeat_s
        self.length_s = load.repeat_s or (self.times[-1] + 1)

    def at(self, seconds: float) -> float:
        """Rate at a moment."""
        if self.repeat_s:
            seconds %= self.repeat_s
        i = bisect_right(self.times, seconds) - 1
        if i < 0:
            return self.rates[0]
        if not self.linear or i + 1 >= len(self.times):
            return self.rates[i]
        share = (seconds - self.times[i]) / (self.times[i + 1] - self.times[i])
        return self.rates[i] + share * (self.rates[i + 1] - self.rates[i])

    def corners(self, start_s: float, end_s: float) -> list[float]:
        """Moments inside a stretch at which the rate turns."""
        times = []
        rounds = range(1)
        if self.repeat_s:
            rounds = range(int(start_s // self.repeat_s), int(end_s // self.repeat_s) + 1)
        for i in rounds:
            times += [i * self.repeat_s + t for t in self.times]
            if self.repeat_s:
                times.append(i * self.repeat_s)
        return sorted({t for t in times if start_s < t < end_s})

    def stretch(self, start_s: float, duration_s: float) -> tuple[float, float]:
        """(highest, mean) rate of a stretch."""
        moments = [start_s, *self.corners(start_s, start_s + duration_s), start_s + duration_s]
        highest, area = self.at(start_s), 0.0
        for begin, end in pairwise(moments):
            first, last = self.at(begin), self.at(end - 1e-6 * (end - begin))
            highest = max(highest, first, last)
            area += (first + last) / 2 * (end - begin)
        return highest, area / duration_s if duration_s else highest


def best_window(workload: Workload, duration_s: float) -> Window | None:
    """The stretch of this length with the lowest highest rate, then the lowest mean; the earliest of equals.

    None for a closed load, which has no schedule.
    """
    if not isinstance(workload.load, OpenLoad):
        return None
    curve = _Curve(workload.load)
    starts = {i * curve.length_s / _PLACES for i in range(_PLACES)}
    for time in curve.times:
        # A best window begins where a quiet stretch begins, or ends where it ends.
        starts.update(s for s in (time, time - duration_s) if 0 <= s < curve.length_s)
    scored = []
    for start_s in starts:
        highest, mean = curve.stretch(start_s, duration_s)
        scored.append((round(highest, 6), round(mean, 6), start_s))
    highest, mean, start_s = min(scored)
    return Window(start_s, duration_s, highest, mean, max(curve.rates))
