"""How far each input of a sweep moves a figure by itself, from cells that are measured already.

swings_of(sweep, rows)          # widest first
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ndbplan.advise.sweep import Row, Sweep, Varied
from ndbplan.edits.assign import assign
from ndbplan.edits.changes import value_changes
from ndbplan.plan.plan import Plan


class Swing(NamedTuple):
    """The least and the most of a figure over the values of one input, the others as they are."""

    address: str
    low: float
    at_low: str
    high: float
    at_high: str
    now: float
    """Where no input moves."""


def swings_of(sweep: Sweep, rows: Iterable[Row], measure: int = 0) -> tuple[Swing, ...]:
    """A swing of each input, the widest first; none where a cell of them is not measured or has no figure.

    Inputs that stay have what the plan has; where that is not among their values, the one in the middle.
    """
    found = {sweep.cells[row.number]: row.figures[measure] for row in rows}
    middle = tuple(_as_it_is(sweep.plan, one) for one in sweep.varied)
    swings = []
    for at, one in enumerate(sweep.varied):
        line = []
        for value in one.values:
            three = found.get((*middle[:at], value, *middle[at + 1 :]))
            if three is None:
                return ()
            line.append((three[0], value))
        (low, at_low), (high, at_high) = min(line, key=_figure), max(line, key=_figure)
        now = next(figure for figure, value in line if value == middle[at])
        swings.append(Swing(one.address, low, at_low, high, at_high, now))
    return tuple(sorted(swings, key=lambda one: one.low - one.high))


def _figure(cell: tuple[float, str]) -> float:
    return cell[0]


def _as_it_is(plan: Plan, one: Varied) -> str:
    same = (v for v in one.values if not value_changes(plan, assign(plan, f"{one.address}={v}")[0]))
    return next(same, one.values[len(one.values) // 2])
