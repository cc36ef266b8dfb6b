"""How the mysql client prints what a statement found."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.numbers import BYTES, TEXT, Kind, written

_ROOM_FOR_NULL = 4
"""A column that may be NULL is as wide as the word."""


def printed(result: Result, *, vertical: bool = False, lasted_s: float = 0.0) -> str:
    """A table with its number of rows, as the interactive client prints it."""
    lasted = f"{lasted_s:.2f} sec"
    count = len(result.rows)
    warned = f", {len(result.warnings)} warning{'s' * (len(result.warnings) > 1)}" if result.warnings else ""
    if not count:
        return f"Empty set{warned} ({lasted})\n\n"
    cells = [
        [written(value, kind) for value, kind in zip(row, result.kinds, strict=True)] for row in result.rows
    ]
    note = f"ndbplan: {result.note}\n" if result.note else ""
    end = f"{count} row{'s' * (count > 1)} in set{warned} ({lasted})\n{note}\n"
    if vertical:
        return _vertical(result.headings, cells) + end
    nullable = result.nullable or (False,) * len(result.headings)
    widths = [
        _width(heading, [row[i] for row in cells], nullable[i], result.kinds[i])
        for i, heading in enumerate(result.headings)
    ]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"
    text = rule + _row(result.headings, widths, (TEXT,) * len(widths)) + rule
    text += "".join(_row(row, widths, result.kinds) for row in cells)
    return text + rule + end


def _width(heading: str, cells: Sequence[str], nullable: bool, kind: Kind) -> int:
    """Letters that a column has room for; bytes have two each, those of the heading too (mysql.cc)."""
    least = max(_ROOM_FOR_NULL * nullable, _bytes(heading))
    if kind is not BYTES:
        return max(least, *map(_bytes, cells))
    return 2 + 2 * max(least, *((len(one) - 2) // 2 for one in cells if one.startswith("0x")), 0)


def _row(values: Sequence[str], widths: Sequence[int], kinds: Sequence[Kind]) -> str:
    cells = (
        " " * (width - _columns(value)) + value if kind.is_number else value + " " * (width - _columns(value))
        for value, width, kind in zip(values, widths, kinds, strict=True)
    )
    return "| " + " | ".join(cells) + " |\n"


def _bytes(text: str) -> int:
    """What a cell takes by the count of the client, which is of bytes [8.4.8]."""
    return len(text) if text.isascii() else len(text.encode())


def _columns(text: str) -> int:
    """What it takes on the screen."""
    return len(text) if text.isascii() else sum(1 + (east_asian_width(sign) in "WF") for sign in text)


def _vertical(headings: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    width, text = max(len(heading) for heading in headings), ""
    for number, row in enumerate(cells, start=1):
        text += f"{'*' * 27} {number}. row {'*' * 27}\n"
        text += "".join(
            f"{heading:>{width}}: {value}\n" for heading, value in zip(headings, row, strict=True)
        )
    return text
