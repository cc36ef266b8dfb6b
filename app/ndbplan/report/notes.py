"""Free text for a report, in a part of Markdown: headings, paragraphs, items, **strong** and `code`.

    # Memory
    What the customer said about growth.

A heading that is the title or the name of a section puts what follows into it; what stands before the first
one, or under another heading, goes to the first page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ndbplan.report.document import Line, Paragraph, Run

_HEADING = re.compile(r"#{1,6} (.*)")
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)]) (.*)")
_MARKED = re.compile(r"\*\*([^*]+)\*\*|`([^`]+)`")
FRONT = "front"


def notes_of(text: str, titles: Mapping[str, str]) -> dict[str, tuple[Paragraph, ...]]:
    """What is said of each section, by its name; `titles`: the sections by name."""
    names = {title.casefold(): key for key, title in titles.items()} | {key: key for key in titles}
    found: dict[str, list[Paragraph]] = {}
    key = FRONT
    for kind, words in _blocks(text):
        if kind == "heading":
            key = names.get(words.casefold(), FRONT)
            if key == FRONT:
                found.setdefault(FRONT, []).append(Paragraph(_line(words), "subtitle"))
            continue
        found.setdefault(key, []).append(Paragraph(_line(words), "item" if kind == "item" else "quote"))
    return {name: tuple(paragraphs) for name, paragraphs in found.items()}


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Headings, items and paragraphs; a line that follows one of the last two goes on with it."""
    kind, words = "", ""
    for raw in text.splitlines():
        line = raw.strip()
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if line and not heading and not item:
            kind, words = (kind or "text"), f"{words} {line}".strip()
            continue
        if words:
            yield kind, words
        kind, words = ("item", item[1].strip()) if item else ("", "")
        if heading:
            yield "heading", heading[1].strip(" #")
    if words:
        yield kind, words


def _line(words: str) -> Line:
    runs: list[Run] = []
    end = 0
    for found in _MARKED.finditer(words):
        runs.append(Run(words[end : found.start()]))
        runs.append(Run(found[1], "", "strong") if found[1] else Run(found[2], "", "code"))
        end = found.end()
    return tuple(run for run in (*runs, Run(words[end:])) if run.text)
