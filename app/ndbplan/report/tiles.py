"""Hosts as tiles in their locations, as SVG: what runs on them, and how they are at a moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap

from ndbplan.report.document import Gauge, Tile, TileMap
from ndbplan.report.svg import WIDTH, words_at
from ndbplan.report.texts import text

_HIGH, _GAP, _LINE, _GAUGE = 36, 6, 14, 20
_LETTER = 6.2
"""Pixels that a letter takes at most."""
_TWO_IDS = 8
"""Letters of two node ids: a tile is as wide as they are, and more stand below them."""
_MANY = 12
"""Tiles of a location from which on they are as narrow as their names."""
_WITH_GAUGES = 168


def tiles(chart: TileMap) -> tuple[int, list[str]]:
    """Height and elements: locations below one another, their hosts in rows."""
    width = _width(chart)
    across = max(1, (WIDTH - 20) // (width + _GAP))
    parts: list[str] = []
    y = 0
    for name, inside in chart.groups:
        rows = [inside[at : at + across] for at in range(0, len(inside), across)]
        heights = [max(_height(tile, width) for tile in row) + _GAP for row in rows]
        parts.append(
            f'<rect class="place" x="0.5" y="{y + 0.5}" width="{WIDTH - 1}" '
            f'height="{sum(heights) + 30}" rx="6"/>'
        )
        parts.append(words_at(12, y + 18, name.text, "label strong", name.at))
        top = y + 26
        for row, height in zip(rows, heights, strict=True):
            for number, tile in enumerate(row):
                parts += _tile(tile, 12 + number * (width + _GAP), top, width, height - _GAP)
            top += height
        y += sum(heights) + 40
    return y + 18, [*parts, *_legend(chart, y)]


def _width(chart: TileMap) -> int:
    """What names need; gauges want more where there is room."""
    every = [tile for _, inside in chart.groups for tile in inside]
    count = max(len(inside) for _, inside in chart.groups)
    told = (max(len(tile.name.text), min(_TWO_IDS, 5 * len(tile.inside) - 2)) for tile in every)
    longest = max(told, default=_TWO_IDS)
    least = 58 if count > _MANY else 104
    if any(tile.gauges for tile in every):
        least = 104 if count > _MANY else _WITH_GAUGES
    return min(220, max(least, round(longest * _LETTER) + 16))


def _height(tile: Tile, width: float) -> int:
    more = len(_inside(tile, width)) - 1 + len(tile.states)
    return _HIGH + _LINE * more + _GAUGE * len(tile.gauges)


def _inside(tile: Tile, width: float) -> list[str]:
    """The node ids of a host, on as many lines as they need."""
    return wrap(", ".join(run.text for run in tile.inside), _letters(width)) or [""]


def _letters(width: float) -> int:
    return max(4, int((width - 12) / 6))


def _legend(chart: TileMap, y: int) -> Iterator[str]:
    there = {tile.kind for _, inside in chart.groups for tile in inside}
    x = 0.0
    for kind in ("data", "sql", "management", "api", "empty"):
        if kind not in there:
            continue
        words = text(f"topology.kinds.{kind}")
        yield f'<rect class="tile {kind}" x="{x + 0.5:.1f}" y="{y + 1.5}" width="11" height="11" rx="2"/>'
        yield words_at(x + 17, y + 11, words, "tick")
        x += 17 + len(words) * 6.0 + 18


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _tile(tile: Tile, x: float, y: float, width: float, height: int) -> Iterator[str]:
    most, lines = _letters(width), _inside(tile, width)
    inside = ", ".join(run.text for run in tile.inside)
    told = f"<title>{escape(tile.name.text)}: {escape(inside)}</title>"
    marked = " marked" if tile.is_marked else ""
    yield (
        f'<rect class="tile {tile.kind}{marked}" x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" '
        f'width="{width - 1:.0f}" height="{height - 1}" rx="4">{told}</rect>'
    )
    yield words_at(x + 7, y + 15, _cut(tile.name.text, most), "label small", tile.name.at)
    at = tile.inside[0].at if len(tile.inside) == 1 else ""
    y += 28
    for line in lines:
        yield words_at(x + 7, y, line, "tick", at)
        y += _LINE
    for state in tile.states:
        yield words_at(x + 7, y, _cut(state.text, most), "tick wrong", state.at)
        y += _LINE
    yield from _gauges(tile.gauges, x + 7, y - _LINE, width - 14)


def _gauges(gauges: Sequence[Gauge], x: float, y: float, width: float) -> Iterator[str]:
    """Label and value, and below them how far it is."""
    for number, one in enumerate(gauges):
        line = y + _GAUGE * (number + 1) - 5
        most = max(4, int((width - len(one.value.text) * _LETTER - 6) / 5.6))
        kind = " strong" if one.is_marked else ""
        yield words_at(x, line, _cut(one.label.text, most), f"tick{kind}", one.label.at)
        yield words_at(x + width, line, one.value.text, f"tick end{kind}", one.value.at)
        long = min(1.0, max(0.0, one.share)) * width
        yield f'<rect class="groove" x="{x:.1f}" y="{line + 4:.1f}" width="{width:.1f}" height="3" rx="1.5"/>'
        if long >= 1.0:
            yield (
                f'<rect class="bar {one.level}" x="{x:.1f}" y="{line + 4:.1f}" width="{long:.1f}" '
                'height="3" rx="1.5"/>'
            )
