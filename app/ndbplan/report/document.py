"""A report as plain data: sections of paragraphs, tables and charts, each number with where it comes from.

Writers (`html`, `pdf`, `slides`) turn it into files and compute nothing. What is said stands in
`resources/report/texts.json`; what is a number, or is called by the plan, has the address of an answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of text; with an address it is what an answer says."""

    text: str
    at: str = ""
    """Command and path in what it prints with --json, `restart --kind node: duration_s`; nothing: words."""
    kind: Literal["", "figure", "range", "strong", "code", "soft"] = ""


Line = tuple[Run, ...]
"""Runs one after the other."""


@dataclass(frozen=True)
class Paragraph:
    """Some lines of text that belong together."""

    line: Line
    kind: Literal["", "lead", "note", "item", "quote", "subtitle", "error", "warning", "hint"] = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells; numbers stand to the right."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    words: tuple[int, ...] = (0,)
    """Columns that stand to the left."""


@dataclass(frozen=True)
class Listing:
    """A text in which every blank counts, as a configuration file has it."""

    title: str
    text: str
    at: str = ""


@dataclass(frozen=True)
class Series:
    """One line of a chart. Points that are left out lie between the two extremes of their neighbours."""

    name: str
    at: str
    """Address of the list; each point has its number in it."""
    numbers: tuple[int, ...]
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    kind: Literal["", "area", "limit"] = ""


@dataclass(frozen=True)
class Mark:
    """A moment that a chart points out."""

    x: float
    label: Run


@dataclass(frozen=True)
class LineChart:
    """Numbers over time."""

    title: str
    x_unit: str
    y_unit: str
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()


Level = Literal["", "warn", "over"]
"""How near something is to its limit."""


@dataclass(frozen=True)
class Bar:
    """A length with its range: for work over time it begins at `start`."""

    label: Line
    value: Run
    size: float
    low: float
    high: float
    start: float = 0.0
    level: Level = ""


@dataclass(frozen=True)
class BarChart:
    """Lengths below one another; with `timeline` each begins where the one before ended."""

    title: str
    unit: str
    bars: tuple[Bar, ...]
    timeline: bool = False
    full: float | None = None
    """Where the scale ends, such as 1 for shares."""


HostKind = Literal["data", "sql", "management", "api", "empty"]
"""By what runs on a host first of all."""


@dataclass(frozen=True)
class Gauge:
    """How much of something on a host is used."""

    label: Run
    value: Run
    share: float
    level: Level = ""
    is_marked: bool = False


@dataclass(frozen=True)
class Tile:
    """A host in the picture of the topology; with gauges or a state, in that of a moment."""

    name: Run
    inside: tuple[Run, ...]
    kind: HostKind
    gauges: tuple[Gauge, ...] = ()
    states: tuple[Run, ...] = ()
    """What does not simply run, such as `data node 3 is down`."""
    is_marked: bool = False


@dataclass(frozen=True)
class TileMap:
    """Hosts in their locations."""

    title: str
    groups: tuple[tuple[Run, tuple[Tile, ...]], ...]


Block = Paragraph | Table | Listing | LineChart | BarChart | TileMap
Chart = LineChart | BarChart | TileMap


@dataclass(frozen=True)
class Section:
    """A chapter; `key` is its name for `--sections` and its anchor."""

    key: str
    title: str
    blocks: tuple[Block, ...]
    appendix: bool = False


@dataclass(frozen=True)
class Headline:
    """One figure of the first page."""

    title: str
    value: Run
    span: Line = ()
    about: Line = ()


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: Run
    subtitle: Line
    headlines: tuple[Headline, ...]
    front: tuple[Block, ...]
    """What limits, what is assumed, and notes of whoever made it."""
    sections: tuple[Section, ...]
    about: tuple[Line, ...]
    """What the file is and how it is checked, as its last lines."""
    facts: dict[str, str] = field(default_factory=dict)
    """Customer, date, version: what file properties hold."""


def runs_of(document: Document) -> Iterator[tuple[str, Run]]:
    """Every piece of text with the key of its section, in the order of the document."""
    yield "front", document.title
    yield from (("front", run) for run in document.subtitle)
    for headline in document.headlines:
        yield from (("front", run) for run in (headline.value, *headline.span, *headline.about))
    for block in document.front:
        yield from (("front", run) for run in runs_of_block(block))
    for section in document.sections:
        for block in section.blocks:
            yield from ((section.key, run) for run in runs_of_block(block))


def runs_of_block(block: Block) -> Iterator[Run]:
    """Every piece of text of a block, without the points of its series."""
    if isinstance(block, Paragraph):
        yield from block.line
    elif isinstance(block, Table):
        for row in block.rows:
            for cell in row:
                yield from cell
    elif isinstance(block, Listing):
        yield Run(block.text, block.at, "code")
    elif isinstance(block, LineChart):
        yield from (mark.label for mark in block.marks)
    elif isinstance(block, BarChart):
        for bar in block.bars:
            yield from (*bar.label, bar.value)
    else:
        for name, tiles in block.groups:
            yield name
            for tile in tiles:
                yield from (tile.name, *tile.inside, *tile.states)
                for gauge in tile.gauges:
                    yield from (gauge.label, gauge.value)
