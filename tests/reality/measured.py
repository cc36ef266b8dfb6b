"""A figure of a real cluster beside what the planner says of it: what the score counts."""

from __future__ import annotations

from typing import NamedTuple


class Measured(NamedTuple):
    """One measured figure and its prediction."""

    quantity: str
    era: str
    """Version that was measured."""
    run: str
    unit: str
    measured: float
    low: float
    """p10."""
    value: float
    high: float
    """p90."""
    fitted: bool
    """Constants were chosen with this figure in sight."""
