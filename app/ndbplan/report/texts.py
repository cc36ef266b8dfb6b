"""What reports say: every sentence and title stands in `resources/report/texts.json`.

say("limit.load", rate=place.line())     # a Line: the sentence with the number in it
"""

from __future__ import annotations

import re
from typing import Any

from ndbplan.base.resources import read_json
from ndbplan.report.document import Line, Run

_HOLE = re.compile(r"\{(\w+)\}")


def _texts() -> dict[str, Any]:
    found: dict[str, Any] = read_json("report/texts.json")
    return found


def text(key: str) -> str:
    """A text without numbers. KeyError for one that there is none of."""
    found = _texts()
    for name in key.split("."):
        found = found[name]
    assert isinstance(found, str)
    return found


def has_text(key: str) -> bool:
    """Whether there is such a text."""
    try:
        text(key)
    except KeyError:
        return False
    return True


def say(key: str, **parts: Line | Run | str) -> Line:
    """A sentence with its `{name}`s filled in. KeyError for a name that it does not give."""
    line: list[Run] = []
    pieces = _HOLE.split(text(key))
    for number, piece in enumerate(pieces):
        if number % 2 == 0:
            line += [Run(piece)] if piece else []
            continue
        part = parts[piece]
        line += [part] if isinstance(part, Run) else [Run(part)] if isinstance(part, str) else part
    return tuple(line)


def words(*names: str) -> tuple[str, ...]:
    """Titles of columns."""
    return tuple(text(f"heads.{name}") for name in names)
