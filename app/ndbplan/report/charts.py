"""Charts as SVG: one drawing for HTML, where the page colours it, and for paper, with a style of its own.

    svg_of(chart)                      # coloured by the classes of the page
    svg_of(chart, alone=True)          # with its own style, for a PDF

Numbers are rounded before they are laid out, so the same chart is the same text everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from ndbplan.base.resources import resource_path
from ndbplan.base.units import MEMORY, format_value
from ndbplan.report.document import Bar, BarChart, Chart, LineChart, Run, Series
from ndbplan.report.places import shown
from ndbplan.report.svg import WIDTH, words_at
from ndbplan.report.tiles import tiles

_LEFT, _RIGHT, _TOP, _BOTTOM, _HEIGHT = 64, 12, 12, 26, 200
_MOST_LETTERS = 11
"""Of a number left of a chart."""
_LETTER = 6.2
"""Width of a letter of a scale, rather more than less."""
_LABELS, _ROW, _VALUES = 230, 22, 96
_TICKS_MONTHS = (1.0, 2.0, 3.0, 6.0, 12.0)
_TICKS_S = (
    *(round(step * 10.0**power, 9) for power in range(-6, 1) for step in (1, 2, 5)),
    15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10800.0, 21600.0, 43200.0, 86400.0,
    172800.0, 604800.0,
)  # fmt: skip
"""Steps of a scale of time: decimal ones below ten seconds, then those of clocks."""


def svg_of(chart: Chart, *, alone: bool = False) -> str:
    """A chart as SVG; `alone`: with style and namespace, as a picture of its own."""
    if isinstance(chart, LineChart):
        height, parts = _HEIGHT + _TOP + _BOTTOM, list(_lines(chart))
    elif isinstance(chart, BarChart):
        height, parts = _ROW * len(chart.bars) + 30, list(_bars(chart))
    else:
        height, parts = tiles(chart)
    space = ' xmlns="http://www.w3.org/2000/svg"' if alone else ""
    style = f"<style>{resource_path('report/chart.css').read_text(encoding='utf-8')}</style>" if alone else ""
    head = (
        f'<svg{space} class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(spoken(chart), quote=True)}">'
    )
    return f"{head}{style}{''.join(parts)}</svg>"


def spoken(chart: Chart) -> str:
    """A chart in a sentence, for those who do not see it."""
    if isinstance(chart, LineChart):
        ranges = (
            f"{one.name}: {shown(min(one.ys), chart.y_unit)} – {shown(max(one.ys), chart.y_unit)}"
            for one in chart.series
        )
        return f"{chart.title}. {'; '.join(ranges)}"
    if isinstance(chart, BarChart):
        return f"{chart.title}. {'; '.join(f'{_plain(bar.label)}: {bar.value.text}' for bar in chart.bars)}"
    return f"{chart.title}. {'; '.join(name.text for name, _ in chart.groups)}"


def _plain(line: Sequence[Run]) -> str:
    return "".join(run.text for run in line)


def ticks(low: float, high: float, unit: str) -> list[float]:
    """Three to seven round numbers that span a range."""
    span = (high - low) or 1.0
    if unit == "months":
        step = next((one for one in _TICKS_MONTHS if span / one <= 6), 12.0 * math.ceil(span / 12 / 6))
    elif unit == "s":
        step = next((one for one in _TICKS_S if span / one <= 6), 604800.0 * math.ceil(span / 604800 / 6))
    else:
        # Bytes of memory are round in the unit in which they are told.
        whole = 1024.0 ** max(0, math.floor(math.log(span, 1024))) if unit == MEMORY else 1.0
        base = 10.0 ** math.floor(math.log10(span / whole / 4)) * whole
        step = next(base * times for times in (1, 2, 2.5, 5, 10) if span / (base * times) <= 5)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _beside(numbers: Sequence[float], unit: str) -> list[str]:
    """Numbers of a scale in the room there is: what is too long is told in thousands or millions."""
    words = [shown(one, unit) for one in numbers]
    if max(map(len, words), default=0) <= _MOST_LETTERS:
        return words
    size, name = (1e6, "M") if max(numbers) >= 1e6 else (1e3, "k")
    return [f"{one / size:g} {name}" if one else "0" for one in numbers]


def _lines(chart: LineChart) -> Iterator[str]:
    ys = [y for one in chart.series for y in one.ys]
    xs = [x for one in chart.series for x in one.xs]
    low_x, high_x, high_y = min(xs), max(xs), max(ys)
    low_y = 0.0 if min(ys) >= 0 else min(ys)
    if chart.y_unit == "" and low_y > 0.8 * high_y:
        low_y = 0.0
    high_y = high_y * 1.06 if high_y > low_y else low_y + 1.0
    width, height = WIDTH - _LEFT - _RIGHT, _HEIGHT

    def place_x(x: float) -> float:
        return _LEFT + (x - low_x) / ((high_x - low_x) or 1.0) * width

    def place_y(y: float) -> float:
        return _TOP + height - (y - low_y) / (high_y - low_y) * height

    numbers = ticks(low_y, high_y, chart.y_unit)
    for y, words in zip(numbers, _beside(numbers, chart.y_unit), strict=True):
        yield f'<path class="grid" d="M{_LEFT} {place_y(y):.1f}H{WIDTH - _RIGHT}"/>'
        yield words_at(_LEFT - 8, place_y(y) + 3.5, words, "tick end")
    for x in ticks(low_x, high_x, chart.x_unit):
        yield _under(place_x(x), _TOP + height + 18, format_value(x, chart.x_unit))
    for mark in chart.marks:
        if low_x <= mark.x <= high_x:
            x = place_x(mark.x)
            yield f'<line class="mark" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_TOP + height}"/>'
            fits = x + 3 + len(mark.label.text) * _LETTER <= WIDTH
            beside, side = (x + 3, "tick") if fits else (x - 3, "tick end")
            yield words_at(beside, _TOP + 9, mark.label.text, side, mark.label.at)
    for number, one in enumerate(chart.series):
        points = [(place_x(x), place_y(y)) for x, y in zip(one.xs, one.ys, strict=True)]
        yield from _line(one, number, points, chart, place_y(low_y))


def _under(x: float, y: float, words: str) -> str:
    """What stands below a place of a scale: in its middle, at the edge as far in as it must."""
    is_cut = x + len(words) * _LETTER / 2 > WIDTH
    return words_at(WIDTH if is_cut else x, y, words, "tick end" if is_cut else "tick middle")


def _line(
    one: Series, number: int, points: list[tuple[float, float]], chart: LineChart, ground: float
) -> Iterator[str]:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    if one.kind == "area":
        yield (
            f'<polygon class="area s{number}" points="{points[0][0]:.1f},{ground:.1f} {path} '
            f'{points[-1][0]:.1f},{ground:.1f}"/>'
        )
    values = "|".join(
        f"{format_value(x, chart.x_unit)}: {shown(y, chart.y_unit)}"
        for x, y in zip(one.xs, one.ys, strict=True)
    )
    yield (
        f'<polyline class="line s{number}" points="{path}" data-name="{escape(one.name, quote=True)}" '
        f'data-at="{escape(one.at, quote=True)}" data-numbers="{",".join(map(str, one.numbers))}" '
        f'data-values="{escape(values, quote=True)}"><title>{escape(one.name)}</title></polyline>'
    )


def _bars(chart: BarChart) -> Iterator[str]:
    ends = [bar.start + max(bar.size, bar.high) for bar in chart.bars]
    most = max(max(ends, default=0.0), chart.full or 0.0) or 1.0
    width = WIDTH - _LABELS - _VALUES
    bottom = _ROW * len(chart.bars) + 6

    def place(value: float) -> float:
        return _LABELS + value / most * width

    for x in ticks(0.0, most, chart.unit):
        yield f'<path class="grid" d="M{place(x):.1f} 2V{bottom}"/>'
        yield _under(place(x), bottom + 15, format_value(x, chart.unit))
    for number, bar in enumerate(chart.bars):
        yield from _bar(bar, number * _ROW + 6, place)


def _bar(bar: Bar, y: float, place: Callable[[float], float]) -> Iterator[str]:
    name = _plain(bar.label)
    at = next((run.at for run in bar.label if run.at), "")
    words = name if len(name) <= 40 else f"{name[:39]}…"
    x, end, high = place(bar.start), place(bar.start + bar.size), place(bar.start + bar.high)
    low = place(bar.start + bar.low)
    yield words_at(0, y + 13, words, "label", at if words == name and len(bar.label) == 1 else "")
    yield (
        f'<rect class="bar {bar.level}" x="{x:.1f}" y="{y + 4:.1f}" width="{max(1.0, end - x):.1f}" '
        f'height="11" rx="2"><title>{escape(name)}: {escape(bar.value.text)}</title></rect>'
    )
    if high > low:
        middle = y + 9.5
        ends = f"M{low:.1f} {middle - 3:.1f}v6M{high:.1f} {middle - 3:.1f}v6"
        yield f'<path class="span" d="M{low:.1f} {middle:.1f}H{high:.1f}{ends}"/>'
    yield words_at(
        min(max(end, high) + 6, WIDTH - _VALUES + 6), y + 13, bar.value.text, "value", bar.value.at
    )
