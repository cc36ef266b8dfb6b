"""How the figures before and after a change are told: `14 min -> 9.2 min`, with the sign of `compare`."""

from __future__ import annotations

from ndbplan.advise.preview import Line
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_value
from ndbplan.describe.comparison import MARKS, range_text

_MISSING = {"cost": "not stated"}


def number(line: Line, value: Quantity | None) -> str:
    """One of its two numbers; what it means that there is none."""
    if value is not None:
        return format_value(value.value, value.unit)
    if line.error and value is line.after:
        return "—"
    return "none" if line.figure.none_is_best else _MISSING.get(line.figure.name, "—")


def sign(line: Line) -> str:
    """Better, worse, within the uncertainty or the same; nothing where it cannot be told."""
    if line.is_same:
        return "="
    return "" if line.judged is None else MARKS[line.judged]


def span(line: Line) -> str:
    """What the number after the change may be, or why there is none."""
    return line.error or range_text(line.after)
