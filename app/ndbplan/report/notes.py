"""Free text for a report, in the part of Markdown that is about words.

    # Memory
    What the customer said about growth.

Headings, paragraphs, quotes, items, numbered lines, tables, fenced listings; **strong**, *emphasis* (strong
too: the fonts of a report have no italics), `code`, links with their address. What follows a heading that is
the title or the name of a section goes there, all else to the first page. HTML is text like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ndbplan.report.document import Block, Line, Listing, Paragraph, Run, Table

_HEADING = re.compile(r"#{1,6} (.*)")
_ITEM = re.compile(r"[-*+] (.*)")
_NUMBERED = re.compile(r"([0-9]{1,9}[.)] .*)")
_FENCE = ("```", "~~~")
_RULE = frozenset(" :|-")
"""What stands between the heads and the rows of a table."""
_MARKED = re.compile(
    r"\\(?P<plain>[!-/:-@[-`{-~])"
    r"|(?P<stars>\*{2,3})(?P<strong>[^*]+)(?P=stars)"
    r"|(?<!\w)__(?P<lines>[^_\s](?:[^_]*[^_\s])?)__(?!\w)"
    r"|`(?P<code>[^`]+)`"
    r"|\*(?P<star>[^*\s](?:[^*]*[^*\s])?)\*"
    r"|(?<!\w)_(?P<line>[^_\s](?:[^_]*[^_\s])?)_(?!\w)"
    r"|!?\[(?P<title>[^][]*)\]\((?P<address>[^()\s]+)\)"
)
FRONT = "front"


def notes_of(text: str, titles: Mapping[str, str]) -> dict[str, tuple[Block, ...]]:
    """What is said of each section, by its name; `titles`: the sections by name."""
    names = {title.casefold(): key for key, title in titles.items()} | {key: key for key in titles}
    found: dict[str, list[Block]] = {}
    key = FRONT
    for block in _blocks(text.splitlines()):
        if isinstance(block, str):
            key = names.get(block.casefold(), FRONT)
            if key == FRONT:
                found.setdefault(FRONT, []).append(Paragraph(_line(block), "subtitle"))
            continue
        found.setdefault(key, []).append(block)
    return {name: tuple(blocks) for name, blocks in found.items()}


def _blocks(lines: list[str]) -> Iterator[Block | str]:
    """Headings as they are; a line that follows an item or a paragraph goes on with it."""
    waiting: list[str] = []
    is_item = is_quoted = False

    def said() -> Iterator[Paragraph]:
        if waiting:
            yield Paragraph(_line(" ".join(waiting)), "item" if is_item else "quote")
            waiting.clear()

    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if line.startswith(">") != is_quoted:
            yield from said()
            is_quoted, is_item = not is_quoted, False
        line = line.removeprefix(">").strip()
        end = _end_of_table(lines, at) if "|" in line else at
        item = _ITEM.match(line) or _NUMBERED.match(line)
        if line.startswith(_FENCE):
            yield from said()
            end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() == line[:3]), len(lines))
            yield Listing("", "\n".join(lines[at + 1 : end]))
            end += 1
        elif end > at:
            yield from said()
            yield _table(lines[at:end])
        elif heading := _HEADING.match(line):
            yield from said()
            yield heading[1].strip(" #")
        elif item or not line:
            yield from said()
            is_item = _NUMBERED.match(line) is None
            waiting += [item[1].strip()] if item else []
        else:
            is_item = is_item and bool(waiting)
            waiting.append(line)
        at = max(at + 1, end)
    yield from said()


def _end_of_table(lines: list[str], at: int) -> int:
    """Behind the last row of a table that begins there; the same place: none does."""
    below = lines[at + 1] if at + 1 < len(lines) else ""
    if "-" not in below or not _RULE.issuperset(below.strip()):
        return at
    return next((n for n in range(at + 2, len(lines)) if "|" not in lines[n]), len(lines))


def _table(lines: list[str]) -> Table:
    heads, *rows = (
        [cell.strip() for cell in line.strip().strip("|").split("|")] for line in (lines[0], *lines[2:])
    )
    wide = len(heads)
    cells = tuple(tuple(map(_line, [*row, *[""] * wide][:wide])) for row in rows)
    return Table("", tuple(heads), cells, tuple(range(wide)))


def _line(words: str) -> Line:
    runs: list[Run] = []
    end = 0
    for found in _MARKED.finditer(words):
        runs.append(Run(words[end : found.start()]))
        strong = found["strong"] or found["lines"] or found["star"] or found["line"]
        if found["plain"]:
            runs.append(Run(found["plain"]))
        elif strong:
            runs.append(Run(strong, "", "strong"))
        elif found["code"]:
            runs.append(Run(found["code"], "", "code"))
        else:
            runs += [
                Run(found["title"]),
                Run(f" ({found['address']})" if found["title"] else found["address"]),
            ]
        end = found.end()
    return tuple(run for run in (*runs, Run(words[end:])) if run.text)
