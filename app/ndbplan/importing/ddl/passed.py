"""Statements of a text that tell a plan nothing: named by what they do, with their lines."""

from __future__ import annotations

import re

from ndbplan.importing.ddl.tokens import COMMENTS, DdlProblem, Places

_MOST_PLACES = 20
"""Places of statements of one kind that are named."""
VERB = re.compile(
    rf"{COMMENTS}((?:(?:ALTER|ANALYZE|CHANGE|CREATE|DROP|FLUSH|LOAD|LOCK|OPTIMIZE|START|UNLOCK)\s++)?+[A-Z]\w*+"
    r"|(?!--|/\*|#)[^\sA-Z]\S{0,30}+)",
    re.I,
)
"""What a statement does, in one or two words; how it begins where that is none."""


def what_is_passed(verb: str, found: list[tuple[int, int]], places: Places) -> DdlProblem:
    """What is said of statements: how many there are, and on which lines; `found`: numbers and offsets."""
    runs: list[tuple[int, int, int]] = []
    for number, offset in found:
        line = places.of(offset)[0]
        if runs and runs[-1][2] + 1 == number:
            runs[-1] = (runs[-1][0], line, number)
        else:
            runs.append((line, line, number))
    shown = [str(first) if first == last else f"{first} to {last}" for first, last, _ in runs]
    more = f" and {len(shown) - _MOST_PLACES} more places" if len(shown) > _MOST_PLACES else ""
    where = f"{len(found)} statements, lines {', '.join(shown[:_MOST_PLACES])}{more}"
    what = f"{verb} ({where})" if len(found) > 1 else verb
    return DdlProblem(*places.of(found[0][1]), f"{what}: passed over; a plan holds nothing of it")
