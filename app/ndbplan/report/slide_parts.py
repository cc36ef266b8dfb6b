"""What stands on slides: native tables, charts and shapes, in sizes that fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from ndbplan.base.units import MEMORY
from ndbplan.report.document import BarChart, Line, LineChart, Table, Tile, TileMap
from ndbplan.report.texts import text

WIDTH, HEIGHT, MARGIN = 13.333, 7.5, 0.6
_INSIDE = WIDTH - 2 * MARGIN
_MOST_COLUMNS, _MOST_BARS = 9, 14
_PER_INCH, _LINE, _PADDING = 11.5, 0.185, 0.13
"""Letters of a table in an inch, height of a line of them and of what is around it."""
_WORDY = 34
"""Letters from which on a column gets no wider."""
_LETTER = 0.58
"""Width of a letter in its size, rather more than less."""
_INK, _FAINT, _HAIR, _SOFT = "1D2430", "5B6676", "DFE3EA", "F6F7F9"
_SERIES = ("2563C9", "C2630C", "14804A", "8B3FC0")
_LEVELS = {"": _SERIES[0], "warn": "C77700", "over": "C0392B"}
_KINDS = {"data": "E4EDFC", "sql": "E2F3E8", "management": "FBEEDD", "api": "F1E7FA", "empty": "FFFFFF"}
"""As in the report (chart.css)."""
_TIMES = (
    (7200.0, 1 / 3600.0, "h"),
    (180.0, 1 / 60.0, "min"),
    (1.0, 1.0, "s"),
    (1e-3, 1e3, "ms"),
    (0.0, 1e6, "µs"),
)
_MEMORY = (
    (1024.0**4, 1024.0**-4, "TiB"),
    (1024.0**3, 1024.0**-3, "GiB"),
    (1024.0**2, 1024.0**-2, "MiB"),
    (1024.0, 1 / 1024.0, "KiB"),
    (0.0, 1.0, "bytes"),
)
_BYTES = ((1e12, 1e-12, "TB"), (1e9, 1e-9, "GB"), (1e6, 1e-6, "MB"), (1e3, 1e-3, "kB"), (0.0, 1.0, "bytes"))
_STEPS = {"s": _TIMES, MEMORY: _MEMORY, "bytes": _BYTES, "bytes/s": _BYTES}
"""How the numbers of a unit are told on an axis: from which on, times what, called what."""
_CURVES, _ENOUGH = 4.3, 4.5
"""Inches of a chart over time, and of what takes more where there is more, at least."""
_GAP, _NAME = 0.08, 0.32
"""Between tiles, and what the name of a location takes."""
_TILES = ((1.7, 0.55, 11), (1.25, 0.45, 9), (0.92, 0.36, 8), (0.72, 0.3, 7), (0.55, 0.26, 6))
"""Width, height and points of letters, from the largest on: the first that fits is taken."""


class Area(NamedTuple):
    """A part of a slide, in inches."""

    left: float
    top: float
    width: float
    height: float

    @property
    def emu(self) -> tuple[Any, Any, Any, Any]:
        """As pptx wants it."""
        from pptx.util import Inches

        return Inches(self.left), Inches(self.top), Inches(self.width), Inches(self.height)


def below(top: float) -> Area:
    """All that is left of a slide from there on."""
    return Area(MARGIN, top, _INSIDE, HEIGHT - top - 0.65)


def words_of(line: Line) -> str:
    """A line as text."""
    return "".join(run.text for run in line)


def _colour(name: str) -> Any:
    from pptx.dml.color import RGBColor

    made: Any = RGBColor
    return made.from_string(name)


# Tables


def _columns(table: Table) -> list[float]:
    """Inches of each column, by its longest text."""
    count = min(_MOST_COLUMNS, len(table.heads))
    longest = [
        max([len(table.heads[x]), *(len(words_of(row[x])) for row in table.rows)]) for x in range(count)
    ]
    wanted = [min(_WORDY, letters) + 3 for letters in longest]
    return [_INSIDE * one / sum(wanted) for one in wanted]


def _high(cells: Sequence[str], widths: Sequence[float]) -> float:
    """Inches that a row is high."""
    lines = [math.ceil(len(words) / max(1.0, (width - 0.2) * _PER_INCH)) or 1
             for words, width in zip(cells, widths, strict=True)]  # fmt: skip
    return _LINE * max(lines) + _PADDING


def _written(table: Table) -> tuple[list[float], list[list[str]], list[float]]:
    """Widths of the columns, the texts of all rows, and how high each is."""
    widths = _columns(table)
    every = [list(table.heads[: len(widths)])]
    every += [[words_of(cell) for cell in row[: len(widths)]] for row in table.rows]
    return widths, every, [_high(cells, widths) for cells in every]


def inches_of(block: Table | LineChart | BarChart | TileMap) -> float:
    """How high something must be able to be; of a long table some rows are enough."""
    if isinstance(block, Table):
        return min(_ENOUGH, sum(_written(block)[2]))
    if isinstance(block, BarChart):
        return _high_bars(block)
    return _ENOUGH if isinstance(block, TileMap) else _CURVES


def put_table(slide: Any, table: Table, area: Area) -> tuple[int, float]:
    """A native table with as many rows as fit; how many, and how high."""
    from pptx.enum.text import PP_ALIGN
    from pptx.util import Inches, Pt

    widths, every, heights = _written(table)
    fits = 1
    while fits < len(every) and sum(heights[: fits + 1]) <= area.height:
        fits += 1
    rows = every[:fits]
    sized = area._replace(height=sum(heights[:fits]))
    made = slide.shapes.add_table(len(rows), len(widths), *sized.emu).table
    for column, width in zip(made.columns, widths, strict=True):
        column.width = Inches(width)
    for row, height in zip(made.rows, heights, strict=False):
        row.height = Inches(height)
    for y, cells in enumerate(rows):
        for x, words in enumerate(cells):
            cell = made.cell(y, x)
            cell.text = words
            cell.margin_top = cell.margin_bottom = Inches(0.04)
            cell.fill.solid()
            cell.fill.fore_color.rgb = _colour(_SERIES[0] if y == 0 else "FFFFFF" if y % 2 else _SOFT)
            for paragraph in cell.text_frame.paragraphs:
                paragraph.font.size = Pt(11)
                paragraph.font.color.rgb = _colour("FFFFFF" if y == 0 else _INK)
                paragraph.alignment = PP_ALIGN.LEFT if x in table.words else PP_ALIGN.RIGHT
    return len(rows) - 1, sized.height


# Charts


class _Scale(NamedTuple):
    """How numbers of a unit are written on an axis."""

    factor: float
    unit: str
    form: str


def _scale(unit: str, most: float) -> _Scale:
    if unit == "fraction":
        return _Scale(1.0, "", "0%" if most >= 0.08 else "0.0%" if most >= 0.008 else "0.00%")
    steps = _STEPS.get(unit) or ((0.0, 1.0, unit),)
    factor, name = next((factor, name) for least, factor, name in steps if most >= least)
    largest = most * factor
    form = "#,##0" if largest >= 5 or largest == 0 else "0.0" if largest >= 0.5 else "0.00"
    return _Scale(factor, f"{name}/s" if unit == "bytes/s" else name, form)


def _times(values: Sequence[float], scale: _Scale) -> list[float]:
    return [*values] if scale.factor == 1.0 else [float(f"{one * scale.factor:.7g}") for one in values]


def _axis(axis: Any, scale: _Scale, *, from_zero: bool = True, to: float | None = None) -> None:
    from pptx.util import Pt

    axis.tick_labels.number_format, axis.tick_labels.number_format_is_linked = scale.form, False
    axis.tick_labels.font.size = Pt(11)
    axis.tick_labels.font.color.rgb = _colour(_FAINT)
    axis.format.line.color.rgb = _colour(_HAIR)
    if axis.has_major_gridlines:
        axis.major_gridlines.format.line.color.rgb = _colour(_HAIR)
    if from_zero:
        axis.minimum_scale = 0
    if to is not None:
        axis.maximum_scale = to
    axis.has_title = bool(scale.unit)
    if scale.unit:
        axis.axis_title.text_frame.text = scale.unit
        font = axis.axis_title.text_frame.paragraphs[0].font
        font.size, font.bold = Pt(11), False
        font.color.rgb = _colour(_FAINT)


def _made(untyped: Any) -> Any:
    return untyped()


def put_curves(slide: Any, chart: LineChart, area: Area) -> float:
    """Lines over time as a native chart; its numbers are in the units of its axes."""
    from pptx.chart.data import XyChartData
    from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION
    from pptx.util import Pt

    xs = _scale(chart.x_unit, max(x for one in chart.series for x in one.xs))
    ys = _scale(chart.y_unit, max(y for one in chart.series for y in one.ys))
    data: Any = _made(XyChartData)
    for one in chart.series:
        series = data.add_series(one.name)
        for x, y in zip(_times(one.xs, xs), _times(one.ys, ys), strict=True):
            series.add_data_point(x, y)
    made = slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER_LINES_NO_MARKERS, *area.emu, data).chart
    made.has_title = False
    made.has_legend = len(chart.series) > 1
    if made.has_legend:
        made.legend.position, made.legend.include_in_layout = XL_LEGEND_POSITION.TOP, False
        made.legend.font.size = Pt(12)
    for number, drawn in enumerate(made.plots[0].series):
        drawn.smooth = False
        drawn.format.line.color.rgb = _colour(_SERIES[number % len(_SERIES)])
        drawn.format.line.width = Pt(1.75)
    last = max(x for one in chart.series for x in _times(one.xs, xs))
    made.category_axis.has_major_gridlines = False
    _axis(made.category_axis, xs, to=last or None)
    _axis(made.value_axis, ys, from_zero=min(y for one in chart.series for y in one.ys) >= 0)
    return area.height


def _high_bars(chart: BarChart) -> float:
    """Few bars are no thicker than many."""
    return 0.8 + 0.34 * min(_MOST_BARS, len(chart.bars))


def put_bars(slide: Any, chart: BarChart, area: Area) -> float:
    """Bars, or steps one after the other, as a native chart."""
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches, Pt

    bars = chart.bars[:_MOST_BARS][::-1]
    scale = _scale(chart.unit, max(chart.full or 0.0, *(bar.start + bar.size for bar in bars)))
    data: Any = _made(CategoryChartData)
    data.categories = [f"{words_of(bar.label)}  {bar.value.text}" for bar in bars]
    kind = XL_CHART_TYPE.BAR_CLUSTERED
    if chart.timeline:
        # What lies before each step is a bar that is not seen.
        data.add_series("", _times([bar.start for bar in bars], scale))
        kind = XL_CHART_TYPE.BAR_STACKED
    data.add_series(chart.title, _times([bar.size for bar in bars], scale))
    height = min(area.height, _high_bars(chart))
    made = slide.shapes.add_chart(kind, *area.emu[:3], Inches(height), data).chart
    made.has_title = made.has_legend = False
    made.plots[0].gap_width = 60
    if chart.timeline:
        made.plots[0].overlap = 100
        made.plots[0].series[0].format.fill.background()
    seen = made.plots[0].series[-1]
    for number, bar in enumerate(bars):
        fill = seen.points[number].format.fill
        fill.solid()
        fill.fore_color.rgb = _colour(_LEVELS[bar.level])
    full = chart.full if chart.full and all(bar.size <= chart.full for bar in bars) else None
    _axis(made.value_axis, scale, to=full)
    made.category_axis.tick_labels.font.size = Pt(10)
    made.category_axis.format.line.color.rgb = _colour(_HAIR)
    _name_every_bar(made.category_axis)
    return height


def _name_every_bar(axis: Any) -> None:
    """Else a program that finds bars close leaves out the name of every other one."""
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import nsdecls, qn

    last = axis._element.find(qn("c:noMultiLvlLbl"))  # the schema has an order, and this comes after it
    last.addprevious(parse_xml(f'<c:tickLblSkip {nsdecls("c")} val="1"/>'))


# Hosts


def put_tiles(slide: Any, chart: TileMap, area: Area) -> float:
    """Hosts in their locations as shapes; how high, 0 where they are too many for a slide."""
    fits = next((one for one in _TILES if _needs(chart, area, one) <= area.height), None)
    if fits is None:
        return 0.0
    width, height, points = fits
    across, rows = _rows_of(chart, area, width)
    top = area.top
    for (name, tiles), count in zip(chart.groups, rows, strict=True):
        _words(slide, Area(area.left, top, area.width, 0.3), name.text, 12, strong=True)
        top += _NAME
        for number, tile in enumerate(tiles):
            left = area.left + number % across * (width + _GAP)
            _tile(slide, tile, Area(left, top + number // across * (height + _GAP), width, height), points)
        top += count * (height + _GAP) + 0.1
    return top - area.top


def _rows_of(chart: TileMap, area: Area, width: float) -> tuple[int, list[int]]:
    """Tiles in a row, and rows of each location."""
    across = int(area.width // (width + _GAP))
    return across, [math.ceil(len(tiles) / across) for _, tiles in chart.groups]


def _needs(chart: TileMap, area: Area, size: tuple[float, float, int]) -> float:
    """Inches that tiles of this size are high."""
    _, rows = _rows_of(chart, area, size[0])
    return sum(rows) * (size[1] + _GAP) + (_NAME + 0.1) * len(rows)


def _tile(slide: Any, tile: Tile, area: Area, points: int) -> None:
    from pptx.enum.shapes import MSO_SHAPE
    from pptx.util import Pt

    shape = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, *area.emu)
    shape.fill.solid()
    shape.fill.fore_color.rgb = _colour(_KINDS[tile.kind])
    shape.line.color.rgb = _colour("B6BFCC")
    shape.line.width = Pt(0.75)
    shape.shadow.inherit = False
    inside = ", ".join(run.text for run in tile.inside)
    frame = shape.text_frame
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    frame.word_wrap = False
    lines = (_cut(one, area.width, points) for one in (tile.name.text, inside) if one)
    frame.text = "\n".join(lines)
    for paragraph in frame.paragraphs:
        paragraph.font.size = Pt(points)
        paragraph.font.color.rgb = _colour(_INK)


def _cut(words: str, inches: float, points: int) -> str:
    """As many letters as one line of this width holds; the whole name stands in the tables."""
    most = int(inches * 72 / (points * _LETTER))
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _words(slide: Any, area: Area, words: str, points: int, *, strong: bool = False) -> None:
    put_lines(slide, area, [(words, points, strong)])


def put_lines(slide: Any, area: Area, lines: list[tuple[str, int, bool]]) -> None:
    """Lines of text, each with its size in points and whether it is strong."""
    from pptx.util import Pt

    frame = slide.shapes.add_textbox(*area.emu).text_frame
    frame.word_wrap = True
    frame.margin_left = frame.margin_right = 0
    for number, (words, size, strong) in enumerate(lines):
        paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
        paragraph.text = words
        paragraph.font.size, paragraph.font.bold = Pt(size), strong
        paragraph.font.color.rgb = _colour(_INK)


def first_of(shown: int, count: int) -> str:
    """That a table goes on."""
    return text("slides.first").replace("{shown}", str(shown)).replace("{count}", str(count))
