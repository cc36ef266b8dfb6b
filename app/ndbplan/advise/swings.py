"""How far each input of a sweep moves a figure by itself, from cells that are measured already: a tornado.

swings_of(sweep, rows)          # widest first
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ndbplan.advise.sweep import Row, Sweep


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
    """A swing of each input, the widest first; none of an input with a cell that is not measured or has no
    figure.

    Inputs that stay have what the plan has; where that is not among their values, the one in the middle.
    """
    found = {sweep.cells[row.number]: row.figures[measure] for row in rows}
    now = found.get(sweep.middle)
    if now is None:
        return ()
    swings = []
    for at, one in enumerate(sweep.varied):
        figures = [found.get(cell) for cell in sweep.line(at)]
        known = [three[0] for three in figures if three is not None]
        if len(known) == len(figures):
            low, high = min(known), max(known)
            ends = (one.values[known.index(end)] for end in (low, high))
            swings.append(Swing(one.address, low, next(ends), high, next(ends), now[0]))
    return tuple(sorted(swings, key=lambda one: one.low - one.high))
