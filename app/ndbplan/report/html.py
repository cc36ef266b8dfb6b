"""A document as one HTML file: no network, prints, light and dark, charts with hover values."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from ndbplan.base.resources import resource_path
from ndbplan.report.charts import svg_of
from ndbplan.report.document import (
    BarChart,
    Block,
    Document,
    Headline,
    Line,
    LineChart,
    Listing,
    Paragraph,
    Run,
    Section,
    Table,
    TileMap,
)
from ndbplan.report.texts import text

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_NARROW = 3
"""Columns of a table that does not fill the page."""
_TAGS = {"strong": "strong", "code": "code"}


def html_of(document: Document, evidence: str, logo: str = "", kind: str = "report") -> str:
    """The file. `evidence`: what travels inside, as an element; `logo`: a picture as a data URL.

    `kind`: `report`, or `demo`, whose sections are shown one after the other.
    """
    more = "" if kind == "report" else kind
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta name="generator" content="ndbplan {escape(document.facts["program"])}">',
        f"<title>{escape(document.title.text)}</title>",
        f"<style>{_resource('chart.css')}{_resource('report.css')}"
        f"{_resource(f'{more}.css') if more else ''}</style></head>"
        f"<body{f' class={more}' if more else ''}>",
        f'<a class="skip" href="#content">{escape(text("report.skip"))}</a>',
        _head(document, logo, kind),
        _contents(document, kind),
        f'<main id="content">{_front(document, kind)}',
        *(_section(section) for section in document.sections),
        "</main>",
        f"<footer>{''.join(f'<p>{_runs(line)}</p>' for line in document.about)}</footer>",
        evidence,
        f"<script>{_resource('report.js')}</script>",
        *((f"<script>{_resource(f'{more}.js')}</script>",) if more else ()),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _resource(name: str) -> str:
    return resource_path(f"report/{name}").read_text(encoding="utf-8").strip()


def _head(document: Document, logo: str, kind: str) -> str:
    picture = (
        f'<img class="logo" src="{escape(logo, quote=True)}" alt="{escape(document.facts["customer"])}">'
    )
    return (
        f"<header>{picture if logo else ''}"
        f'<p class="kicker">{escape(text(f"{kind}.kicker"))}</p><h1>{_run(document.title)}</h1>'
        f'<p class="about">{_runs(document.subtitle)}</p></header>'
    )


def _contents(document: Document, kind: str) -> str:
    if not document.sections:
        return ""
    entries = "".join(
        f'<li><a href="#{section.key}">{escape(section.title)}</a></li>' for section in document.sections
    )
    title = escape(text(f"{kind}.contents"))
    return f'<nav class="contents" aria-label="{title}"><h2>{title}</h2><ol>{entries}</ol></nav>'


def _front(document: Document, kind: str) -> str:
    cards = "".join(map(_headline, document.headlines))
    figures = f'<dl class="headlines">{cards}</dl>' if cards else ""
    title = escape(text(f"{kind}.figures"))
    return f'<section id="front"><h2>{title}</h2>{figures}{_blocks(document.front)}</section>'


def _headline(one: Headline) -> str:
    # The range reads without its brackets here.
    span = "".join(_run(run) for run in one.span[1:-1])
    extra = "".join(f"<dd>{words}</dd>" for words in (span, _runs(one.about)) if words)
    return f'<div><dt>{escape(one.title)}</dt><dd class="big">{_run(one.value)}</dd>{extra}</div>'


def _section(section: Section) -> str:
    return (
        f'<section id="{section.key}" aria-labelledby="{section.key}-title">'
        f'<h2 id="{section.key}-title">{escape(section.title)}</h2>{_blocks(section.blocks)}</section>'
    )


def _blocks(blocks: Iterable[Block]) -> str:
    parts, items = [], []
    for block in blocks:
        if isinstance(block, Paragraph) and block.kind == "item":
            items.append(f"<li>{_runs(block.line)}</li>")
            continue
        if items:
            parts.append(f"<ul>{''.join(items)}</ul>")
            items = []
        parts.append(_block(block))
    if items:
        parts.append(f"<ul>{''.join(items)}</ul>")
    return "\n".join(parts)


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        tag = "h3" if block.kind == "subtitle" else "p"
        kind = f' class="{block.kind}"' if block.kind and tag == "p" else ""
        return f"<{tag}{kind}>{_runs(block.line)}</{tag}>"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Listing):
        at = f' data-at="{escape(block.at, quote=True)}"' if block.at else ""
        title = escape(block.title)
        words = f'<pre tabindex="0"{at}>{escape(block.text)}</pre>'
        return f"<details open><summary>{title}</summary>{words}</details>"
    return _figure(block)


def _figure(chart: LineChart | BarChart | TileMap) -> str:
    legend = ""
    if isinstance(chart, LineChart) and len(chart.series) > 1:
        legend = "".join(
            f'<span class="key"><i class="s{n}"></i>{escape(one.name)}</span>'
            for n, one in enumerate(chart.series)
        )
    caption = f"<figcaption>{escape(chart.title)}{legend}</figcaption>"
    kind = ' class="tiles"' if isinstance(chart, TileMap) else ""
    return f"<figure{kind}>{caption}{svg_of(chart)}</figure>"


def _table(table: Table) -> str:
    left = {*table.words}
    heads = "".join(
        f'<th scope="col"{_side(n in left)}>{escape(head)}</th>' if head else f"<td{_side(n in left)}></td>"
        for n, head in enumerate(table.heads)
    )
    rows = []
    for row in table.rows:
        first = f'<th scope="row">{_runs(row[0])}</th>'
        cells = "".join(f"<td{_side(n in left)}>{_runs(cell)}</td>" for n, cell in enumerate(row) if n)
        rows.append(f"<tr>{first}{cells}</tr>")
    title = escape(table.title)
    narrow = ' class="narrow"' if len(table.heads) <= _NARROW else ""
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{title}">'
        f"<table{narrow}><caption>{title}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _side(is_left: bool) -> str:
    return "" if is_left else ' class="n"'


def _runs(line: Line) -> str:
    """Runs; a range stands in one piece that does not break."""
    return "".join(map(_run, line))


def _run(run: Run) -> str:
    words = escape(run.text)
    if run.kind in _TAGS:
        words = f"<{_TAGS[run.kind]}>{words}</{_TAGS[run.kind]}>"
    if not run.at:
        return words
    kind = {"figure": ' class="f"', "range": ' class="f r"'}.get(run.kind, "")
    return f'<span{kind} data-at="{escape(run.at, quote=True)}">{words}</span>'
