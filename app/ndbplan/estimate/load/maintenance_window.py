"""The best time of day for a change: when the workload's schedule asks least of the cluster.

    best_window(plan.workloads[0], duration_s=1200).start_s
    window_at(plan.workloads[0], 1200, start_s=3600).highest_per_s
    offered(plan.workloads[0]).length_s

Between its points a schedule is made of straight lines, so the least of a stretch lies where the stretch
begins or ends at a point or at an interval to keep out of, or where two of three lines cross: the rate at its
beginning, that at its end, the highest in between. All of these are looked at: no other start is better.

Source: arithmetic on the plan's own schedule, nothing of the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ndbplan.base.shapes import Shape
from ndbplan.plan.workloads import OpenLoad, Workload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

_NEAR = 1e-9
"""Of the length of a schedule: moments nearer than this are one."""
_DIGITS = 6
"""Behind the point, to which rates are compared."""


@dataclass(frozen=True, slots=True)
class KeptOut(Shape):
    """A stretch of the schedule in which nothing is to be done."""

    JSON = "from_s to_s why"

    from_s: float
    to_s: float
    why: str


@dataclass(frozen=True, slots=True)
class Window(Shape):
    """A stretch of the workload's schedule."""

    JSON = "start_s duration_s highest_per_s mean_per_s peak_per_s keeps_clear"

    start_s: float
    """From the start of the schedule."""
    duration_s: float
    highest_per_s: float
    """Highest rate offered meanwhile."""
    mean_per_s: float
    peak_per_s: float
    """Highest rate of the whole schedule."""
    keeps_clear: bool = True
    """Whether it touches nothing that is to be kept out of."""

    @property
    def quiet(self) -> float:
        """Highest rate in the window as a share of the peak; 0 when nothing is offered at all."""
        return self.highest_per_s / self.peak_per_s if self.peak_per_s else 0.0


class Offered:
    """The offered rate over time: steps or lines between points, repeated when the schedule says so."""

    def __init__(self, load: OpenLoad) -> None:
        import numpy as np

        points = sorted(load.points, key=lambda p: p.at_s)
        self.repeats = load.repeat_s > 0
        self.length_s = load.repeat_s or (points[-1].at_s + 1)
        """Until the schedule starts again; of one that does not, a second behind its last point."""
        inside = [p for p in points if p.at_s < self.length_s] or points[:1]
        times = [min(p.at_s, self.length_s) for p in inside]
        rates = [p.rate_per_s for p in inside]
        begins, first, last = [0.0], [rates[0]], [rates[0]]
        for i, (at_s, rate) in enumerate(zip(times, rates, strict=True)):
            begins.append(at_s)
            first.append(rate)
            is_line = load.shape == "linear" and i + 1 < len(rates)
            last.append(rates[i + 1] if is_line else rate)
        ends = [*begins[1:], self.length_s]
        least_s = _NEAR * self.length_s
        some = [i for i, (begin, end) in enumerate(zip(begins, ends, strict=True)) if end - begin > least_s]
        self._begins = np.asarray(begins)[some]
        self._begins[0] = 0.0
        self._ends = np.append(self._begins[1:], self.length_s)
        self._first, self._last = np.asarray(first)[some], np.asarray(last)[some]
        self.peak_per_s = max(rates)

    def curve(self) -> list[tuple[float, float]]:
        """Corners of the rate over one length: moment and rate, two for each jump."""
        begun = zip(self._begins.tolist(), self._first.tolist(), strict=True)
        ended = zip(self._ends.tolist(), self._last.tolist(), strict=True)
        return [corner for pair in zip(begun, ended, strict=True) for corner in pair]

    def between(self, start_s: float, lasts_s: float, count: int) -> list[tuple[float, float]]:
        """So many rates of a stretch: seconds from its beginning, and transactions per second."""
        import numpy as np

        since = np.linspace(0.0, lasts_s, count)
        at = start_s + since
        at = at % self.length_s if self.repeats else np.minimum(at, self.length_s)
        rates = self.lengthened(0.0).rate(at, "right")
        return list(zip(since.tolist(), rates.tolist(), strict=True))

    def above(self, rate_per_s: float) -> list[tuple[float, float]]:
        """Stretches of one length in which more is offered than this."""
        found: list[tuple[float, float]] = []
        pieces = zip(*(a.tolist() for a in (self._begins, self._ends, self._first, self._last)), strict=True)
        for begin, end, first, last in pieces:
            if first <= rate_per_s and last <= rate_per_s:
                continue
            cross = begin + (end - begin) * (rate_per_s - first) / (last - first) if first != last else begin
            low = cross if first <= rate_per_s else begin
            high = cross if last <= rate_per_s else end
            if found and low - found[-1][1] <= _NEAR * self.length_s:
                found[-1] = (found[-1][0], high)
            else:
                found.append((low, high))
        return found

    def lengthened(self, by_s: float) -> _Pieces:
        """The schedule from its start on until so long behind its end."""
        import numpy as np

        begins, ends, first, last = self._begins, self._ends, self._first, self._last
        if not self.repeats:
            ends = np.append(ends[:-1], ends[-1] + by_s)
            return _Pieces(begins, ends, first, last)
        begins, ends = (np.concatenate((one, one + self.length_s)) for one in (begins, ends))
        return _Pieces(begins, ends, np.tile(first, 2), np.tile(last, 2))


class _Pieces:
    """Straight pieces without gaps, from 0 on."""

    def __init__(self, begins: Floats, ends: Floats, first: Floats, last: Floats) -> None:
        import numpy as np

        self.begins, self._ends, self._first, self._last = begins, ends, first, last
        self._slope = (last - first) / (ends - begins)
        areas = (first + last) / 2 * (ends - begins)
        self._area = np.concatenate(([0.0], np.cumsum(areas)))
        # The higher of both sides of each corner.
        self._corner = np.maximum(first, np.concatenate(([first[0]], last[:-1])))

    def _piece(self, at: Floats, side: Literal["left", "right"]) -> Floats:
        import numpy as np

        place = np.searchsorted(self.begins, at, side=side) - 1
        found: Floats = np.clip(place, 0, len(self.begins) - 1)
        return found

    def rate(self, at: Floats, side: Literal["left", "right"]) -> Floats:
        """Rates at moments, as seen from the `right` or the `left`."""
        i = self._piece(at, side)
        found: Floats = self._first[i] + self._slope[i] * (at - self.begins[i])
        return found

    def area(self, until: Floats) -> Floats:
        """What was offered from 0 until moments."""
        i = self._piece(until, "right")
        into = until - self.begins[i]
        found: Floats = self._area[i] + self._first[i] * into + self._slope[i] * into * into / 2
        return found

    @cached_property
    def _highest_of(self) -> list[Floats]:
        """The highest corner of the next 1, 2, 4, 8 … corners."""
        import numpy as np

        levels = [self._corner]
        while 2 ** len(levels) <= len(self._corner):
            step = 2 ** (len(levels) - 1)
            levels.append(np.maximum(levels[-1][:-step], levels[-1][step:]))
        return levels

    def corners(self, begin: Floats, end: Floats) -> Floats:
        """The highest corner strictly between moments; minus infinity where there is none."""
        import numpy as np

        low = np.searchsorted(self.begins, begin, side="right")
        high = np.searchsorted(self.begins, end, side="left")
        found = np.full(len(begin), -np.inf)
        count = high - low
        for level, highest in enumerate(self._highest_of):
            mine = (count >= 2**level) & (count < 2 ** (level + 1))
            if mine.any():
                found[mine] = np.maximum(highest[low[mine]], highest[high[mine] - 2**level])
        return found


def offered(workload: Workload) -> Offered | None:
    """The schedule of a workload; None for a load that has none."""
    return Offered(workload.load) if isinstance(workload.load, OpenLoad) else None


def best_window(workload: Workload, duration_s: float, kept_out: Sequence[KeptOut] = ()) -> Window | None:
    """The stretch of this length with the lowest highest rate, then the lowest mean; the earliest of equals.

    One that touches nothing of `kept_out`, if there is any. None for a load without a schedule.
    """
    schedule = offered(workload)
    return None if schedule is None else Windows(schedule, duration_s, kept_out).best


def window_at(
    workload: Workload, duration_s: float, start_s: float, kept_out: Sequence[KeptOut] = ()
) -> Window | None:
    """The stretch that begins at a moment; None for a load without a schedule."""
    schedule = offered(workload)
    return None if schedule is None else Windows(schedule, duration_s, kept_out).at(start_s)


class Windows:
    """All stretches of one length."""

    def __init__(self, schedule: Offered, duration_s: float, kept_out: Sequence[KeptOut] = ()) -> None:
        self.schedule, self.duration_s, self.kept_out = schedule, duration_s, tuple(kept_out)
        self._length_s = schedule.length_s
        # Whole rounds of a schedule are the same wherever they begin.
        self._rounds = int(duration_s // self._length_s) if schedule.repeats else 0
        self._rest_s = duration_s - self._rounds * self._length_s
        self._pieces = schedule.lengthened(self._rest_s)
        self._eps = _NEAR * self._length_s
        self._stretches = [(one.from_s, one.to_s) for one in kept_out if one.to_s > one.from_s]

    @cached_property
    def best(self) -> Window:
        """The one that asks least of the cluster."""
        import numpy as np

        starts = self._candidates()
        clear = self._clear(starts)
        if clear.any():
            starts = starts[clear]
        highest, mean = self._stretch(starts)
        first = np.lexsort((starts, np.round(mean, _DIGITS), np.round(highest, _DIGITS)))[0]
        return self._window(starts[first : first + 1])

    def at(self, start_s: float) -> Window:
        """The one that begins at a moment."""
        import numpy as np

        length_s = self._length_s
        start_s = start_s % length_s if self.schedule.repeats else min(max(0.0, start_s), length_s)
        return self._window(np.asarray([start_s]))

    def _window(self, start: Floats) -> Window:
        highest, mean = self._stretch(start)
        return Window(
            float(start[0]), self.duration_s, float(highest[0]), float(mean[0]), self.schedule.peak_per_s,
            bool(self._clear(start)[0]),
        )  # fmt: skip

    def _stretch(self, starts: Floats) -> tuple[Floats, Floats]:
        """(highest, mean) rate of the stretches that begin there."""
        import numpy as np

        pieces, ends = self._pieces, starts + self._rest_s
        highest = pieces.rate(starts + self._eps, "right")
        if self._rest_s > 0:
            highest = np.maximum(highest, pieces.rate(np.maximum(starts, ends - self._eps), "left"))
            highest = np.maximum(highest, pieces.corners(starts + self._eps, ends - self._eps))
        if self._rounds:
            highest = np.full_like(highest, self.schedule.peak_per_s)
        if self.duration_s <= 0:
            return highest, highest
        whole = float(pieces.area(np.asarray([self._length_s]))[0]) * self._rounds
        return highest, (pieces.area(ends) - pieces.area(starts) + whole) / self.duration_s

    def _clear(self, starts: Floats) -> Floats:
        """Which of them touch nothing that is to be kept out of."""
        import numpy as np

        fine = np.ones(len(starts), dtype=bool)
        rounds = (-1, 0, 1, 2) if self.schedule.repeats else (0,)
        for begin, end in self._stretches:
            for again in rounds:
                at = again * self._length_s
                touches = (starts < end + at - self._eps) & (starts + self._rest_s > begin + at + self._eps)
                fine &= ~touches if not self._rounds else False
        return fine

    def _candidates(self) -> Floats:
        """Starts of which one is the best, whatever is to be kept out of."""
        import numpy as np

        length, rest, pieces = self._length_s, self._rest_s, self._pieces
        corners = np.concatenate((pieces.begins, pieces.begins - rest, [0.0]))
        edges = np.asarray([s for begin, end in self._stretches for s in (end, begin - rest)])
        if self.schedule.repeats:
            edges = edges % length if len(edges) else edges
        known = np.unique(np.concatenate((corners, edges)))
        known = known[(known >= 0) & (known < length)]
        begin, end = known, np.append(known[1:], length)
        r0, r1 = pieces.rate(begin, "right"), pieces.rate(end, "left")
        q0, q1 = pieces.rate(begin + rest, "right"), pieces.rate(end + rest, "left")
        between = pieces.corners(end - self._eps, begin + rest + self._eps)
        crossings = [
            _crossing(begin, end, r0 - q0, r1 - q1),
            _crossing(begin, end, r0 - between, r1 - between),
            _crossing(begin, end, q0 - between, q1 - between),
        ]
        found: Floats = np.unique(np.concatenate((known, *crossings)))
        return found


def _crossing(begin: Floats, end: Floats, first: Floats, last: Floats) -> Floats:
    """Where a line from `first` to `last` is 0, of those that are."""
    import numpy as np

    crosses = np.isfinite(first) & np.isfinite(last) & (first * last < 0)
    share = first[crosses] / (first[crosses] - last[crosses])
    found: Floats = begin[crosses] + share * (end[crosses] - begin[crosses])
    return found
