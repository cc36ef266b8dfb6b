"""From an estimate to what fills an object: names, numbers, shares of its capacity."""

from __future__ import annotations

from dataclasses import dataclass

from ndbplan.desktop.estimates import Estimate
from ndbplan.estimate.quantity import Quantity


@dataclass(frozen=True)
class Row:
    """One part of what fills the object."""

    name: str
    quantity: Quantity
    fraction: float | None = None
    """Share of the capacity; None: no bar."""
    colour: str = "accent"
    """Token of the bar's colour."""
    detail: str = ""


@dataclass(frozen=True)
class Notice:
    """A framed message under the bars."""

    heading: str
    text: str = ""
    look: str = "error"


@dataclass(frozen=True)
class Breakdown:
    """Why something is as full as it is."""

    heading: str
    about: str
    """Title of the derivation of the total."""
    total: Quantity | None
    rows: tuple[Row, ...]
    callouts: tuple[Notice, ...] = ()


def breakdowns(estimate: Estimate, object_id: str) -> list[Breakdown]:
    """What there is to say about an object; nothing for objects that nothing fills."""
    return []
