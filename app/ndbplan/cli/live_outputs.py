"""What commands about live clusters and what is shown of plans promise to print with --json."""

from __future__ import annotations

from ndbplan.base.shapes import Schema
from ndbplan.cli.schema_words import FILES, INTEGER, NUMBER, OBJECT, STRING, array, closed, record, said


def promises() -> dict[str, Schema]:
    """By command."""
    return {"train": _train(), "lesson": _lesson(), "demo": _demo()}


def _train() -> Schema:
    line = record(line=STRING, answer=STRING, at_s=NUMBER)
    what = "A transcript: each line, what it was answered, and the simulated seconds when that was there."
    return said(closed(record(seed=INTEGER, at_s=NUMBER, lines=array(line))), what)


def _lesson() -> Schema:
    what = "By action: lessons, result (and had), pages, results, refused, sessions, faults, lesson, schema."
    parts = {
        **dict.fromkeys(
            ("lessons", "pages", "results", "refused", "sessions", "faults", "tried"), array(OBJECT)
        ),
        **dict.fromkeys(("result", "had", "schema"), OBJECT),
        **dict.fromkeys(("answer", "session", "line", "lesson"), STRING),
    }
    return said(closed(record(**parts, optional=tuple(parts))), what)


def _demo() -> Schema:
    what = "By action: demos; demo, start and scenes; faults; files; schema."
    parts = {
        **dict.fromkeys(("demos", "scenes", "faults"), array(OBJECT)),
        **dict.fromkeys(("demo", "start"), STRING),
        "files": FILES,
        "schema": OBJECT,
    }
    return said(closed(record(**parts, optional=tuple(parts))), what)
