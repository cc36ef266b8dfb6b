"""Texts of scenes: their numbers are looked up in what the plan comes to, when they are shown.

{simulate: accepted_per_s}          a number of what a command prints with --json
{simulate: accepted_per_s ±}        with its range
{More groups | simulate: …}         of another variant
{now redo_buffer}                   a quantity of the simulated cluster at the scene's moment
{fact measured}                     a number that the demo states with its source
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ndbplan.base.errors import UserError
from ndbplan.report.document import Line, Run

_HOLE = re.compile(r"\{([^{}]+)\}")
_WITH_RANGE = " ±"
NOW, FACT = "now ", "fact "


class TextError(UserError):
    """A text with a number that there is none of."""


def paragraphs(text: str, number: Callable[[str], Line]) -> tuple[Line, ...]:
    """The paragraphs of a text, with what `number` gives for each of its `{…}`."""
    return tuple(tuple(_filled(block, number)) for block in _blocks(text))


def in_lines(text: str) -> str:
    """A text with one line for each paragraph, however its file breaks it, and an empty one between them."""
    return "\n\n".join(_blocks(text))


def _blocks(text: str) -> Iterator[str]:
    blocks = "\n".join(line.strip() for line in text.splitlines()).split("\n\n")
    return (" ".join(block.split()) for block in blocks if block.strip())


def _filled(text: str, number: Callable[[str], Line]) -> Iterator[Run]:
    for place, piece in enumerate(_HOLE.split(text)):
        if place % 2:
            yield from number(piece)
        elif piece:
            yield Run(piece)


def address(inside: str, variant: str) -> tuple[str, str, bool]:
    """Variant, address and whether the range is wanted, of what stands in `{…}`."""
    plain = inside.removesuffix(_WITH_RANGE)
    named, bar, rest = plain.partition(" | ")
    return (named, rest, plain != inside) if bar else (variant, plain, plain != inside)


def plain(line: Line) -> str:
    """A line as text."""
    return "".join(run.text for run in line)
