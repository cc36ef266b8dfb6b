"""What a chart over time shows: lines, marks, shades, and the time they are about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Series:
    """One line of a chart: an array of values for each moment."""

    name: str
    colour: str
    """#rrggbb."""
    values: Any
    """NaN: nothing is known of this moment; the line has a gap."""
    low: Any = None
    high: Any = None
    """Extremes of each moment, drawn as a band so that no spike is lost."""
    area: bool = False
    """Filled down to zero, without a line."""
    ghost: bool = False
    """What was before: thin and faint behind all other lines."""
    dash: int = 0
    """0: an unbroken line; 1 and more: dashes that tell lines apart without their colours."""


@dataclass(frozen=True)
class Mark:
    """A moment worth seeing."""

    at_s: float
    text: str
    colour: str
    number: int = -1
    """Of what can be dragged to another moment; -1: it stays."""


@dataclass(frozen=True)
class Shade:
    """A span of time in a colour, with a word at its begin."""

    from_s: float
    to_s: float
    text: str
    colour: str


@dataclass(frozen=True)
class Content:
    """All that one chart shows."""

    times_s: Any
    bucket_s: float
    unit: str
    series: Sequence[Series] = ()
    limit: float | None = None
    """A dashed line: capacity, or what is offered at most."""
    limit_name: str = ""
    least_top: float = 0.0
    """The scale goes up to here at least: less is so little that it need not fill the chart."""
    marks: Sequence[Mark] = ()
    scales: dict[str, tuple[float, str]] = field(default_factory=dict)
    """Series drawn on another scale: name to (factor to divide by, unit)."""
    shades: Sequence[Shade] = ()
    """Spans of time in which something holds, behind the lines."""
    length_s: float | None = None
    """Time that the chart is wide; None: as long as the series. A run that is not over leaves room."""

    @property
    def width_s(self) -> float:
        """Time that the chart is wide."""
        return self.length_s or len(self.times_s) * self.bucket_s

    def bucket_at(self, at_s: float) -> int:
        """Place of a moment in the series."""
        return max(0, min(len(self.times_s) - 1, int(at_s / self.bucket_s)))


def most(values: Any, at_least: float = math.nan) -> float:
    """The greatest of the values that are known; `at_least` when that is less, or none is known."""
    import numpy as np

    return float(np.fmax.reduce(values, initial=at_least))
