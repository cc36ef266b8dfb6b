"""Axes of charts: round steps, values with their unit, times that do not touch."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from ndbplan.base.units import format_bytes_binary, format_duration, format_value, system_in_use

_LOW_PX = 42
"""Height below which three values would touch one another."""
_ENOUGH = 5
"""Pieces into which a round step cuts any span: round steps lie a factor of 2.5 apart at most."""


def shown(value: float, unit: str) -> str:
    """A value as a chart writes it; memory and log sizes are binary, as NDB's parameters are."""
    return format_bytes_binary(value) if unit == "MiB" else format_value(value, unit)


def _in_powers_of_two(unit: str) -> bool:
    """Whether values are shown in KiB and MiB: their round steps are not those of a thousand."""
    system = system_in_use()
    return (unit == "MiB" and system != "decimal") or (unit.startswith("bytes") and system == "binary")


_LARGER = {"": (1e7, 1e6, "M"), "ms": (1e4, 1e3, "s"), "MB/s": (1e4, 1e3, "GB/s")}
"""By unit: from which value on a scale is told in a larger one, how many times as large, and its name."""


def scale_names(values: list[float], unit: str) -> list[str]:
    """What stands beside a scale: all of it in one unit, short enough for the room that there is."""
    least, times, larger = _LARGER.get(unit, (float("inf"), 1.0, unit))
    if max(values, default=0.0) >= least:
        return [format_value(value / times, larger) if value else "0" for value in values]
    return [shown(value, unit) if value else "0" for value in values]


def value_axis(pg: Any, unit: Callable[[], str]) -> Any:
    """An axis of values in a unit that may change."""

    class ValueAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph is untyped
        def tickStrings(self, values: list[float], _scale: float, _spacing: float) -> list[str]:
            return scale_names(values, unit())

        def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
            span, binary = high - low, _in_powers_of_two(unit())
            step = nice_step(span, max(2 if size < _LOW_PX else 3, int(size // 26)), binary=binary)
            if step > high:
                # A scale without any value says nothing: one has room, the highest round one.
                step = nice_step(span, _ENOUGH, binary=binary)
                return [(step, [int(high / step) * step])]
            first = int(low / step)
            return [(step, [i * step for i in range(first, int(high / step) + 1) if i * step >= low])]

    return ValueAxis("left")


def nice_step(span: float, most: int, *, binary: bool = False) -> float:
    """The smallest round step that cuts a span into at most so many pieces."""
    if span <= 0:
        return 1.0
    base = 1024.0 if binary else 1000.0
    scale = 1.0
    while scale * base <= span:
        scale *= base
    factors = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512) if binary else (1, 2, 5, 10, 20, 50, 100, 200, 500)
    steps = [f * s for s in (scale / base / base, scale / base, scale) for f in factors]
    return next((step for step in steps if span / step <= most), scale * base)


_DAY_S = 86400
_TIME_STEPS = (
    *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200),
    *(days * _DAY_S for days in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)),
)


def time_step_s(span_s: float, pixels: float) -> int:
    """Seconds from one time under an axis to the next, so that none touches another."""

    def room(step_s: int) -> float:
        # `90 s` is written 1 min 30 s, `90 min` 1 h 30 min: such names are long.
        long = step_s < 60 < span_s or (step_s % 3600 and span_s > 3600)
        return max(1.0, pixels / (72 if long else 48))

    return next((step for step in _TIME_STEPS if span_s / step <= room(step)), _TIME_STEPS[-1])


def round_values(low: float, high: float, unit: str) -> list[float]:
    """Round values from one end of a scale to the other, six at most; one at least where any lies between."""
    span = high - low
    if unit == "s" and span > _ENOUGH:
        step = float(next((step for step in _TIME_STEPS if span / step <= _ENOUGH), _TIME_STEPS[-1]))
    else:
        step = nice_step(span, _ENOUGH, binary=_in_powers_of_two(unit))
    return [n * step for n in range(ceil(low / step - _NEARLY), int(high / step + _NEARLY) + 1)]


_NEARLY = 1e-9


def time_axis(pg: Any) -> Any:
    """An axis of seconds, written as durations."""

    class TimeAxis(pg.AxisItem):  # type: ignore[misc]  # pyqtgraph is untyped
        def tickStrings(self, values: list[float], _scale: float, _spacing: float) -> list[str]:
            return [format_duration(value) for value in values]

        def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
            span = max(1e-9, high - low)
            step = time_step_s(span, size)
            if span < 2:
                step_s = span / max(1, int(size / 70))
                return [(step_s, 0)]
            return [(float(step), 0)]

    return TimeAxis("bottom")
